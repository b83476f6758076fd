/*
 * A simulated disk that fails on command and loses what was never synced. LD_PRELOAD puts it
 * between one process and the kernel, for the store's file, its WAL, and a file that becomes a
 * store.
 *
 * The folder $FAULTY_DISK holds its state, for each of these files (`new` is a file that becomes a
 * store):
 *   sync-fails.FILE, write-fails.FILE   created by the test: that call fails
 *   sync-fails.folder                   the same, for the process's working directory
 *   sync-hangs.FILE, read-hangs.FILE    created by the test: that call waits until it is removed
 *   hangs.FILE                          tells the test that a call waits
 *   sync-takes.FILE                     written by the test: how many milliseconds a sync takes
 *   unsynced.FILE                       offset and length of each write that was not synced
 *   synced.FILE                         the bytes that survive a power cut
 *
 * After a sync that fails nothing counts as unsynced: Linux marks pages clean that it could not
 * write. One thread at a time writes a file, so nothing here is locked.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of that part of an open file's state; returns 0 for a file that is not the store's. */
static int state_path(int file, const char *what, char path[PATH_MAX]) {
    const char *disk = getenv("FAULTY_DISK");
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (!disk || length < 0) return 0;
    target[length] = 0;
    char folder[PATH_MAX];
    const char *name = strrchr(target, '/');
    if (!name || !getcwd(folder, sizeof folder)) return 0;
    if (!strcmp(target, folder)) name = "/folder";
    else if (strcmp(name, "/plant-store.db") && strcmp(name, "/plant-store.db-wal")) return 0;
    return snprintf(path, PATH_MAX, "%s/%s.%s", disk, what, name + 1) < PATH_MAX;
}

static int is_to_fail(int file, const char *what) {
    char path[PATH_MAX];
    return state_path(file, what, path) && access(path, F_OK) == 0;
}

static void hang(int file, const char *what) {
    char path[PATH_MAX];
    if (!is_to_fail(file, what) || !state_path(file, "hangs", path)) return;
    fclose(fopen(path, "w"));
    while (is_to_fail(file, what)) usleep(1000);
    unlink(path);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    static ssize_t (*read_at)(int, void *, size_t, off64_t);
    if (!read_at) read_at = dlsym(RTLD_NEXT, "pread64");
    hang(file, "read-hangs");
    return read_at(file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    return pread64(file, bytes, count, offset);
}

/* On a full disk each write takes half of its bytes. When half is nothing, it fails. */
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*write_at)(int, const void *, size_t, off64_t);
    if (!write_at) write_at = dlsym(RTLD_NEXT, "pwrite64");
    if (is_to_fail(file, "write-fails") && (count /= 2) == 0) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t written = write_at(file, bytes, count, offset);
    char path[PATH_MAX];
    if (written > 0 && state_path(file, "unsynced", path)) {
        FILE *unsynced = fopen(path, "a");
        if (!unsynced) abort();
        fprintf(unsynced, "%lld %zd\n", (long long)offset, written);
        fclose(unsynced);
    }
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return pwrite64(file, bytes, count, offset);
}

static void copy(int from, int to, off_t offset, ssize_t length) {
    char *bytes = malloc(length);
    if (!bytes) abort();
    /* The file may have been truncated since the write. */
    length = pread(from, bytes, length, offset);
    if (length > 0 && lseek(to, offset, SEEK_SET) >= 0 && write(to, bytes, length) != length) {
        abort();
    }
    free(bytes);
}

/* Forgets the unsynced writes of the file. Those that are on the disk now survive a power cut. */
static void forget_unsynced(int file, int on_disk) {
    char path[PATH_MAX];
    struct stat now;
    if (fstat(file, &now) != 0 || !S_ISREG(now.st_mode)) return;
    if (!state_path(file, "unsynced", path)) return;
    FILE *unsynced = fopen(path, "r");
    unlink(path);
    state_path(file, "synced", path);
    int synced = on_disk ? open(path, O_WRONLY | O_CREAT, 0600) : -1;
    long long offset;
    ssize_t length;
    while (on_disk && unsynced && fscanf(unsynced, "%lld %zd\n", &offset, &length) == 2) {
        copy(file, synced, offset, length);
    }
    /* A sync also makes durable that the file was truncated. */
    if (on_disk && lseek(synced, 0, SEEK_END) > now.st_size) {
        if (ftruncate(synced, now.st_size) != 0) abort();
    }
    if (on_disk) close(synced);
    if (unsynced) fclose(unsynced);
}

static void be_slow(int file) {
    char path[PATH_MAX];
    FILE *time = state_path(file, "sync-takes", path) ? fopen(path, "r") : NULL;
    if (!time) return;
    int milliseconds = 0;
    if (fscanf(time, "%d", &milliseconds) == 1) usleep(1000 * milliseconds);
    fclose(time);
}

static int sync_with(const char *call, int file) {
    int (*sync)(int) = dlsym(RTLD_NEXT, call);
    be_slow(file);
    hang(file, "sync-hangs");
    int result = is_to_fail(file, "sync-fails") ? -1 : sync(file);
    forget_unsynced(file, result == 0);
    if (result != 0) errno = EIO;
    return result;
}

int fsync(int file) { return sync_with("fsync", file); }

int fdatasync(int file) { return sync_with("fdatasync", file); }
