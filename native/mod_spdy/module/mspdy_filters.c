#include "mspdy_filters.h"

#include "http_connection.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mod_core.h"

#include "mspdy_body.h"
#include "mspdy_held.h"
#include "mspdy_response.h"

APLOG_USE_MODULE(spdy);

static ap_filter_rec_t *connection_input, *connection_output, *body_input, *response_output;

/* A stream's connection has no bytes but its request's body, which the request's
 * own filter reads: whoever looks for a next request here finds the end. */
static apr_status_t no_input(ap_filter_t *f, apr_bucket_brigade *brigade, ap_input_mode_t mode,
                             apr_read_type_e block, apr_off_t most)
{
    (void)f;
    (void)brigade;
    (void)mode;
    (void)block;
    (void)most;
    return APR_EOF;
}

/* ---- output: buckets into the stream's exchange, and back-pressure ---- */

/* Pipes of scripts and backends have no length until read: they cannot wait in
 * a brigade. Files can, and what httpd has in memory anyway, at no cost; other
 * memory can up to the limit. */
static bool must_not_hold(mspdy_job *job, apr_bucket_brigade *brigade)
{
    apr_size_t memory_bytes = 0;
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (b->length == (apr_size_t)-1 || APR_BUCKET_IS_FLUSH(b))
            return true;
        if (!APR_BUCKET_IS_FILE(b) && !APR_BUCKET_IS_MMAP(b) && !APR_BUCKET_IS_IMMORTAL(b))
            memory_bytes += b->length;
    }
    return memory_bytes > (apr_size_t)job->config->buffer_bytes;
}

/* Moves the first data bucket on. *stopped: there was no room, and it may stay. */
static apr_status_t move_data(mspdy_job *job, apr_bucket_brigade *brigade, bool *stopped)
{
    apr_bucket *bucket = APR_BRIGADE_FIRST(brigade);
    const char *bytes;
    apr_size_t length;
    size_t done;
    if (bucket->length == (apr_size_t)-1)
        mspdy_exchange_show(job->exchange, false); /* the read may wait: what is there goes out before */
    /* What is left of it is the session's, which must not wait for a disk, nor end with a file that becomes shorter. */
    if (APR_BUCKET_IS_FILE(bucket))
        apr_bucket_file_enable_mmap(bucket, 0);
    apr_status_t rv = apr_bucket_read(bucket, &bytes, &length, APR_BLOCK_READ);
    if (rv != APR_SUCCESS)
        return rv;
    rv = mspdy_exchange_put(job->exchange, bytes, length, must_not_hold(job, brigade), &done);
    if (rv == APR_SUCCESS && done < length) {
        *stopped = true;
        if (done == 0)
            return rv;
        apr_bucket_split(bucket, done);
    }
    if (rv == APR_SUCCESS)
        apr_bucket_delete(bucket);
    return rv;
}

/* Moves on what can be; what has to wait stays in the brigade. */
static apr_status_t move_on(mspdy_job *job, apr_bucket_brigade *brigade)
{
    bool stopped = false;
    apr_status_t rv = APR_SUCCESS;
    while (!stopped && rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(brigade)) {
        apr_bucket *bucket = APR_BRIGADE_FIRST(brigade);
        if (AP_BUCKET_IS_EOR(bucket))
            break; /* stays */
        if (!APR_BUCKET_IS_METADATA(bucket))
            rv = move_data(job, brigade, &stopped);
        else
            apr_bucket_delete(bucket);
    }
    return rv;
}

static void look_at(mspdy_job *job, apr_bucket_brigade *brigade)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_EOS(b) && job->progress == MSPDY_UNDER_WAY)
            job->progress = MSPDY_COMPLETE;
        else if (AP_BUCKET_IS_EOC(b) || (AP_BUCKET_IS_ERROR(b) && job->progress != MSPDY_HEADLESS))
            job->progress = MSPDY_BROKEN; /* e.g. a backend that ended in the middle */
    }
}

/* With it the session logs the request when all is sent. */
static bool has_eor(apr_bucket_brigade *held)
{
    return !APR_BRIGADE_EMPTY(held) && AP_BUCKET_IS_EOR(APR_BRIGADE_LAST(held));
}

static apr_status_t connection_write(ap_filter_t *f, apr_bucket_brigade *brigade)
{
    mspdy_job *job = f->ctx;
    apr_status_t rv = APR_SUCCESS;
    bool stays;
    if (has_eor(job->held))
        return APR_SUCCESS; /* a flush behind the request's end */
    look_at(job, brigade);
    APR_BRIGADE_PREPEND(brigade, job->held);
    if (job->progress == MSPDY_HEADLESS)
        mspdy_held_drop_data(brigade); /* interim responses in HTTP/1.1's words: SPDY has none */
    /* What is whole and may be held the session takes from where it is, as soon as
     * the worker is done: one copy less, and one waking. */
    stays = job->progress == MSPDY_COMPLETE && !must_not_hold(job, brigade);
    if (!stays && job->progress != MSPDY_BROKEN)
        rv = move_on(job, brigade);
    if (rv != APR_SUCCESS) {
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, rv, f->c, "stream %u: its response ends early", (unsigned)job->id);
        job->progress = MSPDY_BROKEN;
        f->c->aborted = 1;
    }
    if (job->progress == MSPDY_BROKEN)
        mspdy_held_drop_data(brigade);
    if (ap_save_brigade(f, &job->held, &brigade, job->pool) != APR_SUCCESS)
        job->progress = MSPDY_BROKEN;
    if (job->progress != MSPDY_HEADLESS && !stays)
        mspdy_exchange_show(job->exchange, job->progress == MSPDY_COMPLETE && !mspdy_held_has_data(job->held));
    return rv;
}

/* ---- who is where ---- */

void mspdy_filters_register(void)
{
    connection_input = ap_register_input_filter("SPDY_NO_INPUT", no_input, NULL, AP_FTYPE_NETWORK);
    connection_output = ap_register_output_filter("SPDY_STREAM_OUT", connection_write, NULL, AP_FTYPE_NETWORK);
    body_input = ap_register_input_filter("SPDY_BODY", mspdy_body_read, NULL, AP_FTYPE_PROTOCOL);
    response_output = ap_register_output_filter("SPDY_RESPONSE", mspdy_response_write, NULL, AP_FTYPE_PROTOCOL);
}

void mspdy_filters_of_connection(mspdy_job *job)
{
    ap_add_input_filter_handle(connection_input, job, NULL, job->c2);
    ap_add_output_filter_handle(connection_output, job, NULL, job->c2);
}

void mspdy_filters_of_request(mspdy_job *job, request_rec *r)
{
    for (ap_filter_t *f = r->output_filters; f != NULL; f = f->next)
        if (f->frec == ap_http_header_filter_handle) {
            ap_remove_output_filter(f);
            break;
        }
    ap_add_output_filter_handle(response_output, job, r, r->connection);
    ap_add_input_filter_handle(body_input, NULL, r, r->connection);
}
