/* Sets the wall clock ahead, for Python alone: by as many nanoseconds as the file says that LANELAB_CLOCK names. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long ahead_ns(void)
{
    const char *name = getenv("LANELAB_CLOCK");
    char text[32] = "";
    int saved = errno;
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0) {
            text[0] = 0;
        }
        close(fd);
    }
    errno = saved;
    return atol(text);
}

static int is_python(void)
{
    return strncmp(program_invocation_short_name, "python", 6) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int done = (int)syscall(SYS_clock_gettime, clock, now);

    if (done == 0 && clock == CLOCK_REALTIME && is_python()) {
        long long total = now->tv_nsec + ahead_ns();
        now->tv_sec += total / 1000000000;
        now->tv_nsec = total % 1000000000;
    }
    return done;
}

/* For what OpenSSL thinks of certificates. */
time_t time(time_t *kept)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) {
        *kept = now.tv_sec;
    }
    return now.tv_sec;
}
