#include "mspdy_gather.h"

#include <stdbool.h>

#include "util_filter.h"

#include "mspdy_batch.h"

/* A batch in TLS. With 65536 httpd's network filter would wait for the socket. */
enum { MOST_BYTES = 63 * 1024 };

/* Nothing is left there when the thread goes on: httpd's network filter copies what it cannot write. */
static _Thread_local char block[MOST_BYTES + MSPDY_BATCH_SPARE_BYTES];

struct mspdy_gather {
    ap_filter_t *filter;
    bool gathers;
    char *bytes;
    apr_size_t length;
    apr_bucket_brigade *brigade;
};

static ap_filter_rec_t *gather_output;

/* What was gathered, and what follows. */
static apr_status_t pass(mspdy_gather *gather, apr_bucket_brigade *brigade)
{
    if (gather->length > 0)
        APR_BRIGADE_INSERT_HEAD(
            brigade, apr_bucket_transient_create(gather->bytes, gather->length, brigade->bucket_alloc));
    gather->length = 0;
    return APR_BRIGADE_EMPTY(brigade) ? APR_SUCCESS : ap_pass_brigade(gather->filter->next, brigade);
}

/* False: it is no data, or there is no room for it. */
static bool take(mspdy_gather *gather, apr_bucket *bucket)
{
    const char *bytes;
    apr_size_t length;
    if (APR_BUCKET_IS_METADATA(bucket) || apr_bucket_read(bucket, &bytes, &length, APR_NONBLOCK_READ) != APR_SUCCESS ||
        length > MOST_BYTES - gather->length)
        return false;
    if (gather->length == 0)
        gather->bytes = mspdy_batch_start(block, bytes);
    memcpy(gather->bytes + gather->length, bytes, length);
    gather->length += length;
    return true;
}

static apr_status_t gather_write(ap_filter_t *f, apr_bucket_brigade *brigade)
{
    mspdy_gather *gather = f->ctx;
    while (gather->gathers && !APR_BRIGADE_EMPTY(brigade) && take(gather, APR_BRIGADE_FIRST(brigade)))
        apr_bucket_delete(APR_BRIGADE_FIRST(brigade));
    return gather->gathers && APR_BRIGADE_EMPTY(brigade) ? APR_SUCCESS : pass(gather, brigade);
}

void mspdy_gather_register(void)
{
    gather_output = ap_register_output_filter("SPDY_GATHER", gather_write, NULL, AP_FTYPE_NETWORK - 1);
}

mspdy_gather *mspdy_gather_add(conn_rec *c1)
{
    mspdy_gather *gather = apr_pcalloc(c1->pool, sizeof(*gather));
    gather->brigade = apr_brigade_create(c1->pool, c1->bucket_alloc);
    gather->filter = ap_add_output_filter_handle(gather_output, gather, NULL, c1);
    return gather;
}

void mspdy_gather_begin(mspdy_gather *gather)
{
    gather->gathers = true;
}

apr_status_t mspdy_gather_end(mspdy_gather *gather)
{
    gather->gathers = false;
    apr_status_t rv = pass(gather, gather->brigade);
    apr_brigade_cleanup(gather->brigade);
    return rv;
}
