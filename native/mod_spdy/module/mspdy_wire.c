#include "mspdy_wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "apr_portable.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_ssl.h"
#include "util_filter.h"

#include "mspdy_batch.h"
#include "mspdy_gather.h"
#include "mspdy_incoming.h"
#include "mspdy_outgoing.h"

APLOG_USE_MODULE(spdy);

enum {
    READ_BYTES = 16 * 1024,
    /* A line that takes a stretch in so little time has taken a larger batch within 2 ms: nothing urgent waits for it.
     * Smaller than what httpd's network filter takes without waiting (65535). */
    STRETCH_BYTES = 1024 * 1024,
    FAST_WITHIN_MS = 25,
    FAST_WRITE_BYTES = 60 * 1024
};

/* mod_ssl holds small pieces back until something follows that is not data,
 * and a flush would make httpd wait for the socket: this is neither. */
static apr_status_t mark_read(apr_bucket *b, const char **bytes, apr_size_t *length, apr_read_type_e block)
{
    (void)b;
    (void)block;
    *bytes = "";
    *length = 0;
    return APR_SUCCESS;
}

static const apr_bucket_type_t mark_type = {
    "SPDY_MARK", 5,         APR_BUCKET_METADATA, apr_bucket_destroy_noop, mark_read, apr_bucket_setaside_noop,
    apr_bucket_split_notimpl, apr_bucket_simple_copy,
};

static apr_bucket *mark_create(apr_bucket_alloc_t *alloc)
{
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), alloc);
    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = alloc;
    b->type = &mark_type;
    b->length = 0;
    b->start = 0;
    b->data = NULL;
    return b;
}

/* mod_reqtimeout takes a connection that stays for one slow request. See
 * SpdyMinBodyRate for what takes its place. */
static void remove_request_timeouts(conn_rec *c1)
{
    ap_filter_t *next;
    for (ap_filter_t *f = c1->input_filters; f != NULL; f = next) {
        next = f->next;
        if (!ap_cstr_casecmp(f->frec->name, "reqtimeout"))
            ap_remove_input_filter(f);
    }
    for (ap_filter_t *f = c1->output_filters; f != NULL; f = next) {
        next = f->next;
        if (!ap_cstr_casecmp(f->frec->name, "reqtimeout"))
            ap_remove_output_filter(f);
    }
}

/* The last of a connection's output filters. */
static ap_filter_t *network_filter(const conn_rec *c1)
{
    ap_filter_t *last = c1->output_filters;
    while (last != NULL && last->next != NULL)
        last = last->next;
    return last;
}

bool mspdy_wire_prepare(mspdy_session *session)
{
    conn_rec *c1 = session->c1;
    apr_socket_t *socket = ap_get_conn_socket(c1);
    const ap_filter_t *last = network_filter(c1);
    if (last == NULL || last->frec != ap_core_output_filter_handle) {
        ap_log_cerror(APLOG_MARK, APLOG_ERR, 0, c1,
                      "SPDY session could not begin: the connection's last output filter is %s, and mod_spdy knows only "
                      "httpd's own to write without waiting; the module that has put it there does not go with SPDY",
                      last != NULL ? last->frec->name : "none");
        return false;
    }
    remove_request_timeouts(c1);
    if (ap_ssl_conn_is_ssl(c1))
        session->gather = mspdy_gather_add(c1);
    apr_socket_timeout_set(socket, session->server->timeout);
#ifdef TCP_NOTSENT_LOWAT
    apr_os_sock_t fd;
    int unsent_bytes = session->config->unsent_bytes;
    if (unsent_bytes > 0 && apr_os_sock_get(&fd, socket) == APR_SUCCESS)
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof(unsent_bytes));
#endif
    return true;
}

bool mspdy_wire_blocked(const mspdy_session *session)
{
    return session->c1->data_in_output_filters != 0;
}

/* ---- reading ---- */

/* A client that has only ended its side still reads; one whose connection is broken does not. */
static mspdy_wire input_ended(mspdy_session *session, apr_status_t why)
{
    if (!APR_STATUS_IS_EOF(why))
        session->c1->aborted = 1;
    ap_log_cerror(APLOG_MARK, APLOG_DEBUG, why, session->c1, "SPDY session: the client sends no more");
    return MSPDY_WIRE_ENDED;
}

static mspdy_wire take_bucket(mspdy_session *session, apr_bucket *bucket)
{
    const char *bytes;
    apr_size_t length;
    if (APR_BUCKET_IS_EOS(bucket))
        return input_ended(session, APR_EOF);
    if (APR_BUCKET_IS_METADATA(bucket))
        return MSPDY_WIRE_NOTHING;
    apr_status_t rv = apr_bucket_read(bucket, &bytes, &length, APR_NONBLOCK_READ);
    if (rv != APR_SUCCESS)
        return input_ended(session, rv);
    if (length == 0)
        return MSPDY_WIRE_NOTHING;
    mspdy_incoming_receive(session, bytes, length);
    return MSPDY_WIRE_PROGRESS;
}

mspdy_wire mspdy_wire_read(mspdy_session *session)
{
    conn_rec *c1 = session->c1;
    apr_bucket_brigade *brigade = session->in_brigade;
    mspdy_wire outcome = MSPDY_WIRE_NOTHING;
    apr_status_t rv = ap_get_brigade(c1->input_filters, brigade, AP_MODE_READBYTES, APR_NONBLOCK_READ, READ_BYTES);
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv))
        outcome = input_ended(session, rv);
    while (outcome != MSPDY_WIRE_ENDED && !APR_BRIGADE_EMPTY(brigade)) {
        apr_bucket *bucket = APR_BRIGADE_FIRST(brigade);
        mspdy_wire of_bucket = take_bucket(session, bucket);
        if (of_bucket != MSPDY_WIRE_NOTHING)
            outcome = of_bucket;
        apr_bucket_delete(bucket);
    }
    apr_brigade_cleanup(brigade);
    return outcome;
}

/* ---- writing ---- */

size_t mspdy_wire_batch_bytes(const mspdy_session *session)
{
    size_t usual = (size_t)session->config->write_bytes;
    return usual == MSPDY_MOST_WRITE_BYTES && session->line_is_fast ? FAST_WRITE_BYTES : usual;
}

static void judge_line(mspdy_session *session)
{
    session->stretch_bytes += session->batch_bytes;
    if (session->stretch_bytes < STRETCH_BYTES)
        return;
    apr_interval_time_t took = session->batch_at - session->stretch_at;
    session->line_is_fast = took >= 0 && took < apr_time_from_msec(FAST_WITHIN_MS);
    session->stretch_at = session->batch_at;
    session->stretch_bytes = 0;
}

static size_t copy_control(mspdy_session *session, char *to, size_t room)
{
    const uint8_t *bytes;
    size_t length;
    if (room == 0 || !spdy_session_output(session->core, &bytes, &length))
        return 0;
    if (length > room)
        length = room;
    memcpy(to, bytes, length);
    spdy_session_output_sent(session->core, length);
    return length;
}

/* Frames, the most urgent first, up to a batch. */
static void collect(mspdy_session *session, mspdy_batch *batch)
{
    for (;;) {
        const uint8_t *bytes;
        size_t length;
        size_t n = copy_control(session, batch->bytes + batch->length, batch->room - batch->length);
        batch->length += n;
        if (n > 0)
            continue;
        if (spdy_session_output(session->core, &bytes, &length))
            break; /* full */
        n = mspdy_outgoing_frame(session, batch->bytes + batch->length, batch->room - batch->length);
        batch->length += n;
        if (n == 0 && !spdy_session_output(session->core, &bytes, &length))
            break; /* else it was a reset, which goes along */
    }
}

/* httpd's network filter, called with nothing, writes what it holds and does not wait. */
static apr_status_t write_held(conn_rec *c1)
{
    ap_filter_t *last = network_filter(c1);
    return last->frec->filter_func.out_func(last, NULL);
}

static apr_status_t pass(mspdy_session *session, mspdy_batch *batch)
{
    conn_rec *c1 = session->c1;
    apr_bucket_brigade *brigade = session->out_brigade;
    APR_BRIGADE_INSERT_TAIL(brigade, mspdy_batch_bucket(batch, c1->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(brigade, mark_create(c1->bucket_alloc));
    if (session->gather != NULL)
        mspdy_gather_begin(session->gather);
    apr_status_t rv = ap_pass_brigade(c1->output_filters, brigade);
    if (session->gather != NULL) {
        apr_status_t gathered = mspdy_gather_end(session->gather);
        rv = rv == APR_SUCCESS ? gathered : rv;
    }
    apr_brigade_cleanup(brigade);
    return rv == APR_SUCCESS ? write_held(c1) : rv;
}

static bool has_frames(mspdy_session *session)
{
    const uint8_t *bytes;
    size_t length;
    spdy_slot slot;
    return spdy_session_output(session->core, &bytes, &length) || spdy_session_next(session->core, &slot);
}

static mspdy_wire write_batch(mspdy_session *session)
{
    if (!has_frames(session))
        return MSPDY_WIRE_NOTHING;
    mspdy_batch batch;
    if (!mspdy_batch_new(&batch, mspdy_wire_batch_bytes(session))) {
        ap_log_cerror(APLOG_MARK, APLOG_ERR, APR_ENOMEM, session->c1, "SPDY session: no memory to send from");
        return MSPDY_WIRE_ENDED;
    }
    collect(session, &batch);
    size_t length = batch.length;
    if (length == 0) {
        mspdy_batch_drop(&batch);
        return MSPDY_WIRE_NOTHING;
    }
    apr_status_t rv = pass(session, &batch);
    if (rv != APR_SUCCESS || session->c1->aborted) {
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, rv, session->c1, "SPDY session: the client takes no more");
        session->c1->aborted = 1;
        return MSPDY_WIRE_ENDED;
    }
    session->batch_at = session->written_at = apr_time_now();
    session->batch_bytes = length;
    judge_line(session);
    return MSPDY_WIRE_PROGRESS;
}

mspdy_wire mspdy_wire_write(mspdy_session *session)
{
    conn_rec *c1 = session->c1;
    if (mspdy_wire_blocked(session)) {
        if (write_held(c1) != APR_SUCCESS || c1->aborted)
            return MSPDY_WIRE_ENDED;
        if (mspdy_wire_blocked(session))
            return MSPDY_WIRE_NOTHING;
    }
    return write_batch(session);
}
