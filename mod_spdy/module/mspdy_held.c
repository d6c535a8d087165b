#include "mspdy_held.h"

#include "http_request.h"

bool mspdy_held_has_data(apr_bucket_brigade *held)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(held); b != APR_BRIGADE_SENTINEL(held); b = APR_BUCKET_NEXT(b))
        if (!APR_BUCKET_IS_METADATA(b) && b->length != 0)
            return true;
    return false;
}

size_t mspdy_held_take(apr_bucket_brigade *held, char *to, size_t most, bool *failed)
{
    size_t taken = 0;
    *failed = false;
    while (taken < most && !APR_BRIGADE_EMPTY(held)) {
        apr_bucket *bucket = APR_BRIGADE_FIRST(held);
        const char *bytes;
        apr_size_t length;
        if (AP_BUCKET_IS_EOR(bucket))
            break;
        if (!APR_BUCKET_IS_METADATA(bucket)) {
            if (apr_bucket_read(bucket, &bytes, &length, APR_BLOCK_READ) != APR_SUCCESS) {
                *failed = true;
                return taken;
            }
            size_t n = length < most - taken ? length : most - taken;
            memcpy(to + taken, bytes, n);
            taken += n;
            if (n < length)
                apr_bucket_split(bucket, n);
        }
        apr_bucket_delete(bucket);
    }
    return taken;
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
