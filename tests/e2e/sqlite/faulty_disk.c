/*
 * A simulated disk that fails on command, and loses unsynced writes in a power cut. LD_PRELOAD puts
 * it between a process and the kernel. It handles the store's file and its WAL.
 *
 * The folder $FAULTY_DISK contains the state of the disk. FILE is the name of the store's file or
 * of its WAL:
 *   sync-fails.FILE, write-fails.FILE   created by the test: the call fails
 *   sync-fails.folder                   the same for the process's working directory
 *   sync-hangs.FILE, write-hangs.FILE, read-hangs.FILE
 *                                       created by the test: the call hangs until this is removed
 *   hangs.FILE                          tells the test that a call hangs
 *   sync-takes.FILE                     written by the test: the delay of a sync in milliseconds
 *   sync-kills.FILE, write-kills.FILE   written by the test: SIGKILL in place of that many-th call
 *   failed.FILE                         tells the test that a sync has failed
 *   unsynced.FILE                       offset and length of each write that was not synced
 *   synced.FILE                         the bytes that survive a power cut
 *
 * A failed sync discards the list of unsynced writes, as Linux marks pages clean that it could not
 * write. There is no real sync: what survives a power cut is in synced.FILE, and a real sync may
 * take seconds. The lists have a lock, because a command may sync what a server writes. A file that
 * was removed while it is open counts as put back, by the test or by the server.
 *
 * With $FAULTY_DISK_OF_A_COMMAND, the reads of the process never hang, and failed.FILE does not
 * tell of its syncs.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the path of a state file of an open file. Returns 0 if the file is not the store's. */
static int state_path(int file, const char *what, char path[PATH_MAX]) {
    const char *disk = getenv("FAULTY_DISK");
    char link[64], target[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (!disk || length < 0) return 0;
    target[length] = 0;
    /* The kernel's mark of an open file that was removed. */
    char *mark = strstr(target, " (deleted)");
    if (mark) *mark = 0;
    char folder[PATH_MAX];
    const char *name = strrchr(target, '/');
    if (!name || !getcwd(folder, sizeof folder)) return 0;
    if (!strcmp(target, folder)) name = "/folder";
    else if (strcmp(name, "/plant-store.db") && strcmp(name, "/plant-store.db-wal")) return 0;
    return snprintf(path, PATH_MAX, "%s/%s.%s", disk, what, name + 1) < PATH_MAX;
}

static int marker_exists(int file, const char *what) {
    char path[PATH_MAX];
    return state_path(file, what, path) && access(path, F_OK) == 0;
}

static void hang(int file, const char *what) {
    char path[PATH_MAX];
    if (!marker_exists(file, what) || !state_path(file, "hangs", path)) return;
    fclose(fopen(path, "w"));
    while (marker_exists(file, what)) usleep(1000);
    unlink(path);
}

/* Kills the process if this is the call that the test has chosen. */
static void count_down(int file, const char *what) {
    char path[PATH_MAX];
    FILE *calls = state_path(file, what, path) ? fopen(path, "r+") : NULL;
    int left = 0;
    if (!calls) return;
    if (fscanf(calls, "%d", &left) == 1 && left <= 1) {
        unlink(path);
        kill(getpid(), SIGKILL);
    }
    rewind(calls);
    fprintf(calls, "%d \n", left - 1);
    fclose(calls);
}

/* Takes the lock of the lists of a file. Closing the returned descriptor releases it. */
static int lock(int file) {
    char path[PATH_MAX];
    int lists = state_path(file, "lock", path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (lists >= 0) flock(lists, LOCK_EX);
    return lists;
}

static void unlock(int lists) {
    if (lists >= 0) close(lists);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    static ssize_t (*read_at)(int, void *, size_t, off64_t);
    if (!read_at) read_at = dlsym(RTLD_NEXT, "pread64");
    if (!getenv("FAULTY_DISK_OF_A_COMMAND")) hang(file, "read-hangs");
    return read_at(file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    return pread64(file, bytes, count, offset);
}

/* On a full disk each write accepts half of its bytes. When half is zero, the write fails. */
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*write_at)(int, const void *, size_t, off64_t);
    if (!write_at) write_at = dlsym(RTLD_NEXT, "pwrite64");
    count_down(file, "write-kills");
    hang(file, "write-hangs");
    if (marker_exists(file, "write-fails") && (count /= 2) == 0) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t written = write_at(file, bytes, count, offset);
    char path[PATH_MAX];
    if (written > 0 && state_path(file, "unsynced", path)) {
        int lists = lock(file);
        FILE *unsynced = fopen(path, "a");
        if (!unsynced) abort();
        fprintf(unsynced, "%lld %zd\n", (long long)offset, written);
        fclose(unsynced);
        unlock(lists);
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

/* Clears the list of the file's unsynced writes. If `on_disk`, those writes survive a power cut. */
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
    /* A sync also makes a truncation durable. */
    if (on_disk && lseek(synced, 0, SEEK_END) > now.st_size) {
        if (ftruncate(synced, now.st_size) != 0) abort();
    }
    if (on_disk) close(synced);
    if (unsynced) fclose(unsynced);
}

static void delay(int file) {
    char path[PATH_MAX];
    FILE *time = state_path(file, "sync-takes", path) ? fopen(path, "r") : NULL;
    if (!time) return;
    int milliseconds = 0;
    if (fscanf(time, "%d", &milliseconds) == 1) usleep(1000 * milliseconds);
    fclose(time);
}

static int sync_file(int file) {
    delay(file);
    count_down(file, "sync-kills");
    hang(file, "sync-hangs");
    int fails = marker_exists(file, "sync-fails");
    char path[PATH_MAX];
    if (fails && !getenv("FAULTY_DISK_OF_A_COMMAND") && state_path(file, "failed", path)) {
        fclose(fopen(path, "w"));
    }
    int lists = lock(file);
    forget_unsynced(file, !fails);
    unlock(lists);
    if (!fails) return 0;
    errno = EIO;
    return -1;
}

int fsync(int file) { return sync_file(file); }

int fdatasync(int file) { return sync_file(file); }
