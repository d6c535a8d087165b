#include "mspdy_held.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "apr_portable.h"
#include "http_request.h"

enum { READ_BYTES = 16 * 1024, WARM_BYTES = 16 * READ_BYTES };

bool mspdy_held_has_data(apr_bucket_brigade *held)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(held); b != APR_BRIGADE_SENTINEL(held); b = APR_BUCKET_NEXT(b))
        if (!APR_BUCKET_IS_METADATA(b) && b->length != 0)
            return true;
    return false;
}

/* NULL: there is none, or only the EOR. */
static apr_bucket *first_data(apr_bucket_brigade *held)
{
    apr_bucket *bucket;
    while (!APR_BRIGADE_EMPTY(held) && APR_BUCKET_IS_METADATA(bucket = APR_BRIGADE_FIRST(held))) {
        if (AP_BUCKET_IS_EOR(bucket))
            return NULL;
        apr_bucket_delete(bucket);
    }
    return APR_BRIGADE_EMPTY(held) ? NULL : APR_BRIGADE_FIRST(held);
}

static bool file_of(const apr_bucket *bucket, int *fd)
{
    return APR_BUCKET_IS_FILE(bucket) && apr_os_file_get(fd, ((apr_bucket_file *)bucket->data)->fd) == APR_SUCCESS;
}

/* File systems that do not know how not to wait (in memory, for the most part) are read anyway. */
static ssize_t read_file(const apr_bucket *bucket, int fd, char *to, size_t most, bool may_wait)
{
    struct iovec part = {to, most < bucket->length ? most : bucket->length};
    ssize_t n;
    do
        n = preadv2(fd, &part, 1, bucket->start, may_wait ? 0 : RWF_NOWAIT);
    while (n < 0 && errno == EINTR);
    return n < 0 && !may_wait && (errno == EOPNOTSUPP || errno == ENOSYS) ? read_file(bucket, fd, to, most, true) : n;
}

static size_t take_file(apr_bucket *bucket, int fd, char *to, size_t most, bool may_wait, mspdy_taking *taking)
{
    ssize_t n = read_file(bucket, fd, to, most, may_wait);
    if (n <= 0) {
        *taking = n < 0 && errno == EAGAIN ? MSPDY_COLD : MSPDY_FAILED; /* or it became shorter */
        return 0;
    }
    bucket->start += n;
    bucket->length -= (apr_size_t)n;
    return (size_t)n;
}

static size_t take_other(apr_bucket *bucket, char *to, size_t most, mspdy_taking *taking)
{
    const char *bytes;
    apr_size_t length;
    if (apr_bucket_read(bucket, &bytes, &length, APR_BLOCK_READ) != APR_SUCCESS) {
        *taking = MSPDY_FAILED;
        return 0;
    }
    size_t n = length < most ? length : most;
    memcpy(to, bytes, n);
    bucket->start += (apr_off_t)n;
    bucket->length -= n;
    return n;
}

size_t mspdy_held_take(apr_bucket_brigade *held, char *to, size_t most, bool may_wait, mspdy_taking *taking)
{
    size_t taken = 0;
    apr_bucket *bucket;
    *taking = MSPDY_TAKES;
    while (taken < most && *taking == MSPDY_TAKES && (bucket = first_data(held)) != NULL) {
        int fd;
        if (bucket->length == 0)
            apr_bucket_delete(bucket);
        else if (file_of(bucket, &fd))
            taken += take_file(bucket, fd, to + taken, most - taken, may_wait, taking);
        else
            taken += take_other(bucket, to + taken, most - taken, taking);
    }
    return taken;
}

void mspdy_held_warm(apr_bucket_brigade *held)
{
    char unused[READ_BYTES];
    const apr_bucket *bucket = first_data(held);
    int fd;
    if (bucket == NULL || !file_of(bucket, &fd))
        return;
    for (apr_size_t done = 0; done < bucket->length && done < WARM_BYTES; done += READ_BYTES)
        if (pread(fd, unused, READ_BYTES, bucket->start + (apr_off_t)done) <= 0)
            return;
}

apr_off_t mspdy_held_offset(apr_bucket_brigade *held)
{
    const apr_bucket *bucket = first_data(held);
    return bucket != NULL ? bucket->start : 0;
}

void mspdy_held_drop_data(apr_bucket_brigade *held)
{
    apr_bucket *next;
    for (apr_bucket *b = APR_BRIGADE_FIRST(held); b != APR_BRIGADE_SENTINEL(held); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (!AP_BUCKET_IS_EOR(b))
            apr_bucket_delete(b);
    }
}
