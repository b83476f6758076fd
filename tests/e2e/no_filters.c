/* A system that refuses packet filters, as a sandbox may; with -DREFUSED=SO_DETACH_FILTER, one that
   refuses only to detach them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

#ifndef REFUSED
#define REFUSED SO_ATTACH_FILTER
#endif

int setsockopt(int socket, int level, int name, const void *value, socklen_t size)
{
    int (*real)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
    if (level == SOL_SOCKET && name == REFUSED) {
        errno = EPERM;
        return -1;
    }
    return real(socket, level, name, value, size);
}
