#include "mspdy_filters.h"

#include "http_connection.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mod_core.h"

#include "mspdy_session.h"

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

/* ---- output: buckets into the stream's queue, and back-pressure ---- */

static void show(mspdy_stream *stream)
{
    apr_thread_mutex_lock(stream->session->lock);
    mspdy_stream_flag(stream);
    apr_thread_mutex_unlock(stream->session->lock);
}

/* Waits, if it may, until there is room in the queue, or nobody wants the
 * response. How long that may take the session knows: others may be more urgent. */
static apr_status_t put(mspdy_stream *stream, const char *bytes, size_t length, bool may_wait, size_t *done)
{
    mspdy_session *session = stream->session;
    size_t room_bytes = (size_t)session->config->buffer_bytes;
    apr_status_t rv = APR_SUCCESS;
    *done = 0;
    apr_thread_mutex_lock(session->lock);
    while (*done < length && rv == APR_SUCCESS) {
        if (stream->aborted)
            rv = APR_ECONNABORTED;
        else if (stream->output.bytes < room_bytes) {
            size_t n = room_bytes - stream->output.bytes;
            if (n > length - *done)
                n = length - *done;
            if (!mspdy_pipe_put(&stream->output, bytes + *done, n))
                rv = APR_ENOMEM;
            else
                *done += n;
        }
        else if (!may_wait)
            break;
        else {
            mspdy_stream_flag(stream);
            rv = apr_thread_cond_wait(stream->changed, session->lock);
        }
    }
    apr_thread_mutex_unlock(session->lock);
    return rv;
}

/* Pipes of scripts and backends have no length until read: they cannot wait in
 * a brigade. Files can, at no cost; memory can up to the limit. */
static bool must_not_hold(mspdy_stream *stream, apr_bucket_brigade *brigade)
{
    apr_size_t memory_bytes = 0;
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (b->length == (apr_size_t)-1 || APR_BUCKET_IS_FLUSH(b))
            return true;
        if (!APR_BUCKET_IS_FILE(b) && !APR_BUCKET_IS_MMAP(b))
            memory_bytes += b->length;
    }
    return memory_bytes > (apr_size_t)stream->session->config->buffer_bytes;
}

/* Moves the first data bucket on. *stopped: there was no room, and it may stay. */
static apr_status_t move_data(mspdy_stream *stream, apr_bucket_brigade *brigade, bool *stopped)
{
    apr_bucket *bucket = APR_BRIGADE_FIRST(brigade);
    const char *bytes;
    apr_size_t length;
    size_t done;
    if (bucket->length == (apr_size_t)-1)
        show(stream); /* the read may wait: what is there goes out before */
    apr_status_t rv = apr_bucket_read(bucket, &bytes, &length, APR_BLOCK_READ);
    if (rv != APR_SUCCESS)
        return rv;
    rv = put(stream, bytes, length, must_not_hold(stream, brigade), &done);
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
static apr_status_t move_on(mspdy_stream *stream, apr_bucket_brigade *brigade)
{
    bool stopped = false;
    apr_status_t rv = APR_SUCCESS;
    while (!stopped && rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(brigade)) {
        apr_bucket *bucket = APR_BRIGADE_FIRST(brigade);
        if (AP_BUCKET_IS_EOR(bucket))
            break; /* stays: with it the session logs the request when all is sent */
        if (!APR_BUCKET_IS_METADATA(bucket))
            rv = move_data(stream, brigade, &stopped);
        else
            apr_bucket_delete(bucket);
    }
    return rv;
}

/* Empties a brigade of all but the EOR bucket, which is always kept. */
static void drop_data(apr_bucket_brigade *brigade)
{
    apr_bucket *next;
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (!AP_BUCKET_IS_EOR(b))
            apr_bucket_delete(b);
    }
}

static void look_at(mspdy_stream *stream, apr_bucket_brigade *brigade)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_EOR(b))
            stream->eor_seen = true;
        else if (APR_BUCKET_IS_EOS(b))
            stream->eos_seen = true;
        else if (AP_BUCKET_IS_EOC(b) || (AP_BUCKET_IS_ERROR(b) && stream->head_given))
            stream->broken = true; /* e.g. a backend that ended in the middle */
    }
}

static void tell_session(mspdy_stream *stream)
{
    apr_thread_mutex_lock(stream->session->lock);
    stream->output_ended = stream->eos_seen && !stream->broken && !mspdy_held_has_data(stream);
    mspdy_stream_flag(stream);
    apr_thread_mutex_unlock(stream->session->lock);
}

static apr_status_t connection_write(ap_filter_t *f, apr_bucket_brigade *brigade)
{
    mspdy_stream *stream = f->ctx;
    apr_status_t rv = APR_SUCCESS;
    if (stream->eor_seen)
        return APR_SUCCESS; /* a flush behind the request's end */
    look_at(stream, brigade);
    APR_BRIGADE_PREPEND(brigade, stream->held);
    if (!stream->head_given)
        drop_data(brigade); /* interim responses in HTTP/1.1's words: SPDY has none */
    if (!stream->broken)
        rv = move_on(stream, brigade);
    if (rv != APR_SUCCESS) {
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, rv, f->c, "stream %u: its response ends early",
                      (unsigned)stream->id);
        stream->broken = true;
        f->c->aborted = 1;
    }
    if (stream->broken)
        drop_data(brigade);
    if (ap_save_brigade(f, &stream->held, &brigade, stream->pool) != APR_SUCCESS)
        stream->broken = true;
    if (stream->head_given || stream->broken)
        tell_session(stream);
    return rv;
}

/* ---- after the worker ---- */

bool mspdy_held_has_data(mspdy_stream *stream)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(stream->held); b != APR_BRIGADE_SENTINEL(stream->held);
         b = APR_BUCKET_NEXT(b))
        if (!APR_BUCKET_IS_METADATA(b) && b->length != 0)
            return true;
    return false;
}

size_t mspdy_held_take(mspdy_stream *stream, char *to, size_t most, bool *failed)
{
    size_t taken = 0;
    *failed = false;
    while (taken < most && !APR_BRIGADE_EMPTY(stream->held)) {
        apr_bucket *bucket = APR_BRIGADE_FIRST(stream->held);
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

/* ---- who is where ---- */

void mspdy_filters_register(void)
{
    connection_input = ap_register_input_filter("SPDY_NO_INPUT", no_input, NULL, AP_FTYPE_NETWORK);
    connection_output = ap_register_output_filter("SPDY_STREAM_OUT", connection_write, NULL, AP_FTYPE_NETWORK);
    body_input = ap_register_input_filter("SPDY_BODY", mspdy_body_read, NULL, AP_FTYPE_PROTOCOL);
    response_output = ap_register_output_filter("SPDY_RESPONSE", mspdy_response_write, NULL, AP_FTYPE_PROTOCOL);
}

void mspdy_filters_of_connection(mspdy_stream *stream)
{
    ap_add_input_filter_handle(connection_input, stream, NULL, stream->c2);
    ap_add_output_filter_handle(connection_output, stream, NULL, stream->c2);
}

void mspdy_filters_of_request(mspdy_stream *stream, request_rec *r)
{
    for (ap_filter_t *f = r->output_filters; f != NULL; f = f->next)
        if (f->frec == ap_http_header_filter_handle) {
            ap_remove_output_filter(f);
            break;
        }
    ap_add_output_filter_handle(response_output, stream, r, r->connection);
    ap_add_input_filter_handle(body_input, NULL, r, r->connection);
}
