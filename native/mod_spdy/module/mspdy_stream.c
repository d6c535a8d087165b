#include "mspdy_stream.h"

#include <stdlib.h>

#include "http_log.h"

#include "mspdy_held.h"
#include "mspdy_workers.h"

APLOG_USE_MODULE(spdy);

#define LOOK_EVERY apr_time_from_sec(1)

bool mspdy_stream_is_over(const mspdy_stream *stream)
{
    return stream->life >= MSPDY_WHOLE;
}

/* ---- beginning ---- */

static void answer_bad_request(mspdy_session *session, const spdy_event *event, spdy_http_fault fault)
{
    spdy_header headers[SPDY_HTTP_REPLY_HEADERS];
    spdy_text status = {"400 Bad Request", 15}, protocol = {"HTTP/1.1", 8};
    ap_log_cerror(APLOG_MARK, APLOG_INFO, 0, session->c1, "stream %u: 400 Bad Request: %s",
                  (unsigned)event->stream_id, spdy_http_fault_text(fault));
    spdy_http_reply_write(session->version, status, protocol, headers);
    spdy_stream_reply(session->core, event->stream_id, headers, SPDY_HTTP_REPLY_HEADERS, true);
    if (!event->fin)
        spdy_stream_discard(session->core, event->stream_id);
    spdy_session_blame(session->core, SPDY_BLAME_FAULT);
}

/* The limits that httpd's own reader of requests keeps to, before anything is
 * copied: each part of a field counts as one, as it would in HTTP/1.1. 0: kept to. */
static int limit_status(const mspdy_session *session, const spdy_http_request *request)
{
    const server_rec *server = session->server;
    size_t parts = 1, longest = strlen("host") + request->host.length;
    for (size_t i = 0; i < request->field_count; i++) {
        const spdy_http_field *field = &request->fields[i];
        size_t length = field->name.length + field->length;
        parts += field->value_count;
        longest = length > longest ? length : longest;
    }
    if (request->method.length + request->target.length + request->protocol.length + 2 >
        (size_t)server->limit_req_line)
        return HTTP_REQUEST_URI_TOO_LARGE;
    return longest > (size_t)server->limit_req_fieldsize ||
                   (server->limit_req_fields > 0 && parts > (size_t)server->limit_req_fields)
               ? HTTP_BAD_REQUEST : 0;
}

static void refuse(mspdy_session *session, uint32_t id)
{
    spdy_stream_reset(session->core, id, SPDY_STATUS_REFUSED_STREAM);
    spdy_session_blame(session->core, SPDY_BLAME_REFUSED);
}

/* Streams that were reset go on to occupy a worker until it notices: a client
 * that opens and resets must not get more of them than one that waits. What we
 * pushed is not its doing. */
static bool too_many(const mspdy_session *session)
{
    return session->stream_count - session->push_count >= 2 * session->config->max_streams;
}

/* False: no memory or no thread; the stream was reset. */
static bool begin(mspdy_session *session, const mspdy_job_origin *origin, const spdy_http_request *request,
                  uint64_t wire_bytes)
{
    mspdy_stream *stream = calloc(1, sizeof(*stream));
    mspdy_job *job = stream != NULL ? mspdy_job_new(&session->kit, stream, origin, request) : NULL;
    if (job == NULL) {
        spdy_stream_reset(session->core, origin->id, SPDY_STATUS_REFUSED_STREAM);
        free(stream);
        return false;
    }
    *(origin->pushed ? &job->wire_bytes_out : &job->wire_bytes_in) = MSPDY_SYN_STREAM_HEAD_BYTES + wire_bytes;
    stream->session = session;
    stream->job = job;
    stream->body_ended = !origin->has_body;
    stream->lent_at = -1;
    stream->patience.left = session->server->timeout;
    stream->next = session->first_stream;
    if (stream->next != NULL)
        stream->next->previous = stream;
    session->first_stream = stream;
    session->stream_count++;
    session->push_count += origin->pushed ? 1 : 0;
    spdy_stream_set_context(session->core, origin->id, stream);
    if (mspdy_workers_submit(job))
        return true;
    mspdy_exchange_withdraw(job->exchange);
    mspdy_stream_reset(stream, SPDY_STATUS_REFUSED_STREAM);
    mspdy_stream_settle(stream);
    return false;
}

void mspdy_stream_open(mspdy_session *session, const spdy_event *event, uint64_t wire_bytes)
{
    mspdy_job_origin origin = {event->stream_id, event->priority, false, !event->fin, 0};
    spdy_http_request request;
    if (event->unidirectional) { /* a request that may not be answered */
        refuse(session, event->stream_id);
        return;
    }
    spdy_http_field *fields = apr_palloc(session->event_pool, sizeof(*fields) * (event->header_count + 1));
    spdy_http_fault fault = spdy_http_request_read(session->version, event->headers, event->header_count, fields,
                                                   &request);
    if (fault != SPDY_HTTP_FINE)
        answer_bad_request(session, event, fault);
    else if (too_many(session))
        refuse(session, event->stream_id);
    else {
        origin.refused = limit_status(session, &request);
        begin(session, &origin, &request, wire_bytes);
    }
    apr_pool_clear(session->event_pool);
}

bool mspdy_stream_push(mspdy_session *session, uint32_t id, unsigned priority, const spdy_http_request *request,
                       uint64_t wire_bytes)
{
    mspdy_job_origin origin = {id, priority, true, false, 0};
    return begin(session, &origin, request, wire_bytes);
}

/* ---- the request's body ---- */

void mspdy_stream_body(mspdy_stream *stream, const spdy_event *event)
{
    mspdy_session *session = stream->session;
    bool queued;
    stream->job->wire_bytes_in += SPDY_FRAME_HEAD_BYTES + event->data.length;
    stream->body_ended = stream->body_ended || event->fin;
    if (!mspdy_exchange_put_body(stream->job->exchange, event->data.bytes, event->data.length, event->fin, &queued)) {
        mspdy_stream_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        mspdy_stream_settle(stream);
        return;
    }
    session->body_bytes += event->data.length;
    if (queued) /* or those that have a worker could not get their bodies, and it a worker */
        spdy_stream_stored(session->core, event->stream_id, event->data.length);
}

void mspdy_stream_body_used(mspdy_stream *stream, size_t bytes)
{
    stream->session->body_bytes -= bytes;
    if (bytes > 0)
        spdy_stream_consumed(stream->session->core, stream->job->id, bytes);
}

/* ---- a response on a slow disk ---- */

bool mspdy_stream_lend(mspdy_stream *stream)
{
    apr_off_t at = mspdy_held_offset(stream->job->held);
    if (at == stream->lent_at)
        return false; /* that did not help: there is little memory */
    stream->lent_at = at;
    mspdy_exchange_lend(stream->job->exchange);
    if (mspdy_workers_submit(stream->job))
        return true;
    mspdy_exchange_withdraw(stream->job->exchange);
    return false;
}

/* ---- ending ---- */

void mspdy_stream_sent_all(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    stream->life = MSPDY_WHOLE;
    spdy_stream_set_context(session->core, stream->job->id, NULL);
    spdy_stream_discard(session->core, stream->job->id);
    mspdy_exchange_set_want(stream->job->exchange, MSPDY_ANSWERED);
}

/* From the workers' queue, or the worker is told. */
static void give_up(mspdy_stream *stream)
{
    mspdy_exchange *exchange = stream->job->exchange;
    if (mspdy_workers_withdraw(stream->job))
        mspdy_exchange_withdraw(exchange);
    else
        mspdy_exchange_set_want(exchange, MSPDY_UNWANTED);
}

void mspdy_stream_cut(mspdy_stream *stream)
{
    if (mspdy_stream_is_over(stream))
        return;
    stream->life = MSPDY_CUT;
    give_up(stream);
}

void mspdy_stream_reset(mspdy_stream *stream, spdy_status status)
{
    if (mspdy_stream_is_over(stream))
        return;
    spdy_stream_set_context(stream->session->core, stream->job->id, NULL);
    spdy_stream_reset(stream->session->core, stream->job->id, status);
    mspdy_stream_cut(stream);
}

void mspdy_stream_settle(mspdy_stream *stream)
{
    if (stream->finished || !mspdy_stream_is_over(stream) ||
        mspdy_exchange_stage(stream->job->exchange) != MSPDY_BACK)
        return;
    stream->finished = true;
    stream->next_finished = stream->session->first_finished;
    stream->session->first_finished = stream;
}

static void stream_free(mspdy_stream *stream, bool sent)
{
    mspdy_session *session = stream->session;
    mspdy_job_end_request(stream->job, stream->life == MSPDY_WHOLE && sent,
                          session->going_away ? AP_CONN_CLOSE : AP_CONN_KEEPALIVE);
    if (stream->previous != NULL)
        stream->previous->next = stream->next;
    else
        session->first_stream = stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    session->stream_count--;
    session->push_count -= stream->job->pushed ? 1 : 0;
    session->idle_since = apr_time_now();
    session->body_bytes -= mspdy_exchange_free(stream->job->exchange);
    mspdy_job_free(&session->kit, stream->job);
    free(stream);
}

/* ---- all of them ---- */

void mspdy_streams_goaway(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        if (stream->job->pushed && !spdy_stream_is_open(session->core, stream->job->id)) {
            mspdy_stream_cut(stream);
            mspdy_stream_settle(stream);
        }
}

/* The client sends no more: bodies that are not complete never will be. */
void mspdy_streams_input_ended(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        if (!stream->body_ended) {
            mspdy_stream_reset(stream, SPDY_STATUS_CANCEL);
            mspdy_stream_settle(stream);
        }
}

void mspdy_streams_cut_all(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        mspdy_stream_cut(stream);
        mspdy_stream_settle(stream);
    }
}

/* ---- patience ---- */

static void earn(const mspdy_session *session, mspdy_patience *patience, size_t bytes)
{
    int rate = session->config->min_response_rate;
    apr_interval_time_t most = session->server->timeout;
    apr_interval_time_t earned = rate > 0 ? apr_time_from_sec((apr_interval_time_t)bytes) / rate : most;
    patience->left = patience->left + earned < most ? patience->left + earned : most;
}

void mspdy_stream_progress(mspdy_stream *stream, size_t bytes)
{
    earn(stream->session, &stream->patience, bytes);
    earn(stream->session, &stream->session->patience, bytes);
}

/* What waits now and did so at the last look has waited in between: a client
 * that gives a byte of window from time to time waits at nearly all of them. */
static bool runs_out(mspdy_patience *patience, bool waits, apr_interval_time_t passed)
{
    if (waits && patience->waited)
        patience->left -= passed;
    patience->waited = waits;
    return waits && patience->left <= 0;
}

static bool wants_window(const mspdy_stream *stream)
{
    return !mspdy_stream_is_over(stream) && stream->offers_data;
}

static bool own_window_is_closed(const mspdy_stream *stream)
{
    return spdy_stream_send_window(stream->session->core, stream->job->id) <= 0;
}

/* While the session's window goes to streams that are more urgent, others are
 * only outrun: its bytes are everybody's patience. */
static bool session_runs_out(mspdy_session *session, apr_interval_time_t passed)
{
    bool waits = false;
    if (spdy_session_send_window(session->core) <= 0)
        for (mspdy_stream *stream = session->first_stream; stream != NULL && !waits; stream = stream->next)
            waits = wants_window(stream) && !own_window_is_closed(stream);
    return runs_out(&session->patience, waits, passed);
}

static void look(mspdy_session *session, apr_interval_time_t passed)
{
    bool all = session_runs_out(session, passed);
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        bool closed = wants_window(stream) && own_window_is_closed(stream);
        if (!runs_out(&stream->patience, closed, passed) && !(all && wants_window(stream)))
            continue;
        ap_log_cerror(APLOG_MARK, APLOG_INFO, APR_TIMEUP, session->c1,
                      "stream %u: the client gives too little window for its response", (unsigned)stream->job->id);
        mspdy_stream_reset(stream, SPDY_STATUS_CANCEL);
        mspdy_stream_settle(stream);
    }
}

void mspdy_streams_reset_stalled(mspdy_session *session)
{
    apr_time_t now = apr_time_now();
    apr_interval_time_t passed = now - session->looked_at;
    if (passed >= 0 && passed < LOOK_EVERY && !session->left)
        return;
    if (passed < 0 || (passed > 2 * LOOK_EVERY && !session->left))
        passed = 2 * LOOK_EVERY; /* the clock was set, or this thread held up: not the client */
    session->looked_at = now;
    session->left = false;
    look(session, passed);
}

void mspdy_streams_leave(mspdy_session *session)
{
    session->looked_at = apr_time_now();
    session->left = true;
    look(session, 0); /* now all that wait are known to */
}

/* Those that have a worker, or go without, must have something to send; those
 * that wait for a worker could not send it either. */
bool mspdy_streams_wait_for_window(mspdy_session *session)
{
    bool all = spdy_session_send_window(session->core) <= 0, any = false;
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        if (mspdy_stream_is_over(stream))
            continue;
        if (!all && !own_window_is_closed(stream))
            return false;
        if (wants_window(stream))
            any = true;
        else if (mspdy_exchange_stage(stream->job->exchange) != MSPDY_QUEUED)
            return false;
    }
    return any;
}

void mspdy_streams_cut_waiting(mspdy_session *session)
{
    bool all = spdy_session_send_window(session->core) <= 0;
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        if (wants_window(stream) && (all || own_window_is_closed(stream))) {
            mspdy_stream_reset(stream, SPDY_STATUS_CANCEL);
            mspdy_stream_settle(stream);
        }
}

void mspdy_streams_bury(mspdy_session *session, bool sent)
{
    while (session->first_finished != NULL) {
        mspdy_stream *stream = session->first_finished;
        session->first_finished = stream->next_finished;
        stream_free(stream, sent);
    }
}

void mspdy_streams_end_all(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        mspdy_stream_reset(stream, SPDY_STATUS_CANCEL);
        give_up(stream); /* also one that was sent */
    }
    mspdy_desk_wait(session->desk);
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        mspdy_stream_settle(stream);
    mspdy_streams_bury(session, true);
}
