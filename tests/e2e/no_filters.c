/* A system that refuses packet filters, as a sandbox may. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

int setsockopt(int socket, int level, int name, const void *value, socklen_t size)
{
    int (*real)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
    if (level == SOL_SOCKET && name == SO_ATTACH_FILTER) {
        errno = EPERM;
        return -1;
    }
    return real(socket, level, name, value, size);
}
