/* To be preloaded: whatever is read of files whose names end with ".slow" comes
 * from a disk that turns only once the file SLOW_DISK_GO exists. What was read
 * then is in the cache. Made for a test: nothing waits longer than a minute. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_cold(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    return length > 5 && memcmp(path + length - 5, ".slow", 5) == 0 && access(getenv("SLOW_DISK_GO"), F_OK) != 0;
}

static void wait_for_disk(int fd)
{
    for (int tenths = 0; is_cold(fd) && tenths < 600; tenths++)
        usleep(100 * 1000);
}

ssize_t read(int fd, void *to, size_t most)
{
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "read");
    wait_for_disk(fd);
    return real(fd, to, most);
}

ssize_t pread(int fd, void *to, size_t most, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "pread");
    wait_for_disk(fd);
    return real(fd, to, most, at);
}

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    static ssize_t (*real)(int, const struct iovec *, int, off_t, int);
    if (real == NULL)
        real = dlsym(RTLD_NEXT, "preadv2");
    if ((flags & RWF_NOWAIT) && is_cold(fd)) {
        errno = EAGAIN;
        return -1;
    }
    wait_for_disk(fd);
    return real(fd, parts, count, at, flags);
}
