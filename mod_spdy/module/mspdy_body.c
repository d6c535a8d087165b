/* The request's body, for whoever reads r->input_filters: bytes as they are,
 * with or without a content-length. */
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"

#include "mspdy_filters.h"
#include "mspdy_session.h"

APLOG_USE_MODULE(spdy);

enum { PIECE_BYTES = 8000 };

typedef struct body_reader {
    apr_bucket_brigade *waiting; /* taken from the stream, not yet asked for */
    apr_bucket_brigade *rest;    /* while a part of it is given */
    apr_off_t got;
    apr_off_t promised; /* content-length, -1: none */
    apr_off_t limit;    /* LimitRequestBody, 0: none */
    bool ended;
    apr_interval_time_t waited; /* for the client, in all */
} body_reader;

static body_reader *reader_of(ap_filter_t *f)
{
    if (f->ctx == NULL) {
        body_reader *reader = apr_pcalloc(f->r->pool, sizeof(*reader));
        const char *length = apr_table_get(f->r->headers_in, "Content-Length");
        reader->waiting = apr_brigade_create(f->r->pool, f->c->bucket_alloc);
        reader->rest = apr_brigade_create(f->r->pool, f->c->bucket_alloc);
        if (length == NULL || !ap_parse_strict_length(&reader->promised, length))
            reader->promised = -1;
        reader->limit = f->r->proxyreq == PROXYREQ_NONE ? ap_get_limit_req_body(f->r) : 0;
        f->ctx = reader;
    }
    return f->ctx;
}

/* Bytes of the stream; 0 at the body's end. */
static apr_status_t take(mspdy_stream *stream, char *to, size_t most, bool may_wait, apr_interval_time_t timeout,
                         size_t *taken)
{
    mspdy_session *session = stream->session;
    apr_status_t rv = APR_SUCCESS;
    *taken = 0;
    apr_thread_mutex_lock(session->lock);
    while (stream->body.bytes == 0 && !stream->body_ended && rv == APR_SUCCESS) {
        if (stream->aborted)
            rv = APR_ECONNABORTED;
        else if (stream->sent)
            rv = APR_EOF;
        else if (!may_wait)
            rv = APR_EAGAIN;
        else {
            session->readers++;
            if (session->version == SPDY_VERSION_2)
                mspdy_session_wake(session); /* it may have stopped reading */
            rv = apr_thread_cond_timedwait(stream->changed, session->lock, timeout);
            session->readers--;
        }
    }
    if (stream->body.bytes > 0) {
        rv = APR_SUCCESS;
        *taken = mspdy_pipe_take(&stream->body, to, most);
        stream->body_consumed += *taken;
        mspdy_stream_flag(stream);
    }
    apr_thread_mutex_unlock(session->lock);
    return rv;
}

static apr_status_t check(ap_filter_t *f, const body_reader *reader)
{
    if (reader->promised >= 0 &&
        (reader->got > reader->promised || (reader->ended && reader->got < reader->promised))) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, f->r,
                      "the request's body has %s bytes than its content-length, %" APR_OFF_T_FMT,
                      reader->ended ? "fewer" : "more", reader->promised);
        return APR_EGENERAL;
    }
    if (reader->limit > 0 && reader->got > reader->limit) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, f->r,
                      "the request's body has more bytes than LimitRequestBody allows, %" APR_OFF_T_FMT,
                      reader->limit);
        return APR_ENOSPC;
    }
    return APR_SUCCESS;
}

/* How long the client may be waited for now: Timeout, and no longer in all
 * than Timeout and what the least rate grants to the bytes that have come. */
static apr_interval_time_t patience(const ap_filter_t *f, const body_reader *reader)
{
    apr_interval_time_t timeout = f->r->server->timeout;
    int rate = mspdy_stream_of(f->c)->session->config->min_body_rate;
    if (rate == 0)
        return timeout;
    apr_interval_time_t left = timeout + apr_time_from_sec(reader->got / rate) - reader->waited;
    return left < 0 ? 0 : left < timeout ? left : timeout;
}

/* One piece more into `waiting`, or the end's bucket. */
static apr_status_t fetch(ap_filter_t *f, body_reader *reader, apr_read_type_e block)
{
    mspdy_stream *stream = mspdy_stream_of(f->c);
    apr_bucket_alloc_t *alloc = f->c->bucket_alloc;
    size_t taken = 0;
    if (reader->limit > 0 && reader->promised > reader->limit)
        return APR_ENOSPC;
    char *piece = apr_bucket_alloc(PIECE_BYTES, alloc);
    apr_time_t began = apr_time_now();
    apr_status_t rv = take(stream, piece, PIECE_BYTES, block == APR_BLOCK_READ, patience(f, reader), &taken);
    reader->waited += apr_time_now() - began;
    if (rv != APR_SUCCESS || taken == 0)
        apr_bucket_free(piece);
    if (APR_STATUS_IS_ECONNABORTED(rv))
        f->c->aborted = 1;
    if (rv != APR_SUCCESS)
        return rv;
    if (taken > 0)
        APR_BRIGADE_INSERT_TAIL(reader->waiting, apr_bucket_heap_create(piece, taken, apr_bucket_free, alloc));
    else {
        reader->ended = true;
        APR_BRIGADE_INSERT_TAIL(reader->waiting, apr_bucket_eos_create(alloc));
    }
    reader->got += (apr_off_t)taken;
    return check(f, reader);
}

static apr_status_t copy_waiting(apr_bucket_brigade *from, apr_bucket_brigade *to, apr_bucket *end)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(from); b != end; b = APR_BUCKET_NEXT(b)) {
        apr_bucket *copy;
        apr_status_t rv = apr_bucket_copy(b, &copy);
        if (rv != APR_SUCCESS)
            return rv;
        APR_BRIGADE_INSERT_TAIL(to, copy);
    }
    return APR_SUCCESS;
}

/* `waiting` up to `most` bytes, given or only shown. */
static apr_status_t give(body_reader *reader, apr_bucket_brigade *to, ap_input_mode_t mode, apr_off_t most)
{
    apr_bucket *end;
    apr_status_t rv = apr_brigade_partition(reader->waiting, most, &end);
    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE)
        return rv;
    if (rv == APR_INCOMPLETE)
        end = APR_BRIGADE_SENTINEL(reader->waiting);
    else if (end != APR_BRIGADE_SENTINEL(reader->waiting) && APR_BUCKET_IS_EOS(end))
        end = APR_BUCKET_NEXT(end);
    if (mode == AP_MODE_SPECULATIVE)
        return copy_waiting(reader->waiting, to, end);
    apr_brigade_split_ex(reader->waiting, end, reader->rest);
    APR_BRIGADE_CONCAT(to, reader->waiting);
    APR_BRIGADE_CONCAT(reader->waiting, reader->rest);
    return APR_SUCCESS;
}

apr_status_t mspdy_body_read(ap_filter_t *f, apr_bucket_brigade *brigade, ap_input_mode_t mode, apr_read_type_e block,
                             apr_off_t most)
{
    body_reader *reader = reader_of(f);
    apr_status_t rv;
    switch (mode) {
    case AP_MODE_READBYTES:
    case AP_MODE_SPECULATIVE:
        if (APR_BRIGADE_EMPTY(reader->waiting)) {
            if (reader->ended) {
                APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(f->c->bucket_alloc));
                return APR_SUCCESS;
            }
            if ((rv = fetch(f, reader, block)) != APR_SUCCESS)
                return rv;
        }
        return give(reader, brigade, mode, most);
    case AP_MODE_GETLINE:
        while (!reader->ended) {
            rv = apr_brigade_split_line(brigade, reader->waiting, APR_NONBLOCK_READ, HUGE_STRING_LEN);
            if (rv != APR_SUCCESS || !APR_BRIGADE_EMPTY(brigade))
                return rv;
            if ((rv = fetch(f, reader, block)) != APR_SUCCESS)
                return rv;
        }
        return give(reader, brigade, AP_MODE_READBYTES, HUGE_STRING_LEN);
    case AP_MODE_INIT:
        return APR_SUCCESS;
    default:
        return APR_ENOTIMPL;
    }
}
