/*
 * A machine that has slept for ten seconds, as soon as the working directory has a file `slept`.
 * Only CLOCK_BOOTTIME goes on while a machine sleeps (clock_gettime(2)).
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_BOOTTIME && access("slept", F_OK) == 0) time->tv_sec += 10;
    return result;
}
