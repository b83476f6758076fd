/*
 * A simulated full disk. LD_PRELOAD puts it between PostgreSQL and the kernel: while the file
 * $FULL_DISK exists, no file of a table or an index can grow.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns whether there is no space for the file to grow to that offset. */
static int is_full(int file, off_t end) {
    const char *full = getenv("FULL_DISK");
    char link[64], target[PATH_MAX];
    struct stat status;
    if (!full || access(full, F_OK) || fstat(file, &status) || end <= status.st_size) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return strstr(target, "/base/") != NULL;
}

static ssize_t fail(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    static ssize_t (*write_at)(int, const void *, size_t, off_t);
    if (!write_at) write_at = dlsym(RTLD_NEXT, "pwrite");
    return is_full(file, offset + count) ? fail() : write_at(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    return pwrite(file, bytes, count, offset);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    static ssize_t (*write_at)(int, const struct iovec *, int, off_t);
    if (!write_at) write_at = dlsym(RTLD_NEXT, "pwritev");
    off_t end = offset;
    for (int part = 0; part < count; part++) end += parts[part].iov_len;
    return is_full(file, end) ? fail() : write_at(file, parts, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t offset) {
    return pwritev(file, parts, count, offset);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    static int (*allocate)(int, off_t, off_t);
    if (!allocate) allocate = dlsym(RTLD_NEXT, "posix_fallocate");
    return is_full(file, offset + length) ? ENOSPC : allocate(file, offset, length);
}

int posix_fallocate64(int file, off_t offset, off_t length) {
    return posix_fallocate(file, offset, length);
}
