#include "mspdy_body.h"

#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"

#include "mspdy_job.h"

APLOG_USE_MODULE(spdy);

enum { PIECE_BYTES = 8000 };

typedef struct body_reader {
    apr_bucket_brigade *waiting; /* taken from the exchange, not yet asked for */
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
    int rate = mspdy_job_of(f->c)->config->min_body_rate;
    if (rate == 0)
        return timeout;
    apr_interval_time_t left = timeout + apr_time_from_sec(reader->got / rate) - reader->waited;
    return left < 0 ? 0 : left < timeout ? left : timeout;
}

/* One piece more into `waiting`, or the end's bucket. */
static apr_status_t fetch(ap_filter_t *f, body_reader *reader, apr_read_type_e block)
{
    apr_bucket_alloc_t *alloc = f->c->bucket_alloc;
    size_t taken = 0;
    if (reader->limit > 0 && reader->promised > reader->limit)
        return APR_ENOSPC;
    char *piece = apr_bucket_alloc(PIECE_BYTES, alloc);
    apr_time_t began = apr_time_now();
    apr_status_t rv = mspdy_exchange_take_body(mspdy_job_of(f->c)->exchange, piece, PIECE_BYTES,
                                               block == APR_BLOCK_READ, patience(f, reader), &taken);
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
