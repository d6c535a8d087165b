/* To be preloaded: once the file CLOCK_SET_BACK exists, the clock is an hour behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    static int (*real)(struct timeval *, void *);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    if (access(getenv("CLOCK_SET_BACK"), F_OK) == 0)
        now->tv_sec -= 3600;
    return result;
}
