#include "mspdy_streams.h"

#include "http_log.h"

#include "mspdy_workers.h"

APLOG_USE_MODULE(spdy);

#define STALLS_EVERY apr_time_from_sec(1)

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

static void refuse(mspdy_session *session, const spdy_event *event)
{
    spdy_stream_reset(session->core, event->stream_id, SPDY_STATUS_REFUSED_STREAM);
    spdy_session_blame(session->core, SPDY_BLAME_REFUSED);
}

/* Streams that were reset go on to occupy a worker until it notices: a client
 * that opens and resets must not get more of them than one that waits. What we
 * pushed is not its doing. */
static bool too_many(const mspdy_session *session)
{
    return session->stream_count - session->push_count >= 2 * session->config->max_streams;
}

static mspdy_stream *stream_of_event(mspdy_session *session, const spdy_event *event)
{
    apr_pool_t *pool = session->event_pool;
    spdy_http_request request;
    spdy_http_field *fields = apr_palloc(pool, sizeof(*fields) * (event->header_count + 1));
    spdy_http_fault fault = spdy_http_request_read(session->version, event->headers, event->header_count, fields,
                                                   &request);
    if (fault != SPDY_HTTP_FINE) {
        answer_bad_request(session, event, fault);
        return NULL;
    }
    if (too_many(session)) {
        refuse(session, event);
        return NULL;
    }
    mspdy_stream *stream = mspdy_stream_new(session, event->stream_id, event->priority, &request);
    if (stream == NULL)
        spdy_stream_reset(session->core, event->stream_id, SPDY_STATUS_REFUSED_STREAM);
    return stream;
}

void mspdy_streams_open(mspdy_session *session, const spdy_event *event, uint64_t wire_bytes)
{
    if (event->unidirectional) { /* a request that may not be answered */
        refuse(session, event);
        return;
    }
    mspdy_stream *stream = stream_of_event(session, event);
    apr_pool_clear(session->event_pool);
    if (stream == NULL)
        return;
    stream->wire_bytes_in = MSPDY_SYN_STREAM_HEAD_BYTES + wire_bytes;
    stream->has_body = !event->fin;
    stream->body_ended = event->fin;
    spdy_stream_set_context(session->core, stream->id, stream);
    mspdy_streams_submit(stream);
}

bool mspdy_streams_submit(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    session->served++;
    stream->c2->keepalives = (int)(session->served > 32000 ? 32000 : session->served);
    apr_thread_mutex_lock(session->lock);
    session->busy++;
    apr_thread_mutex_unlock(session->lock);
    if (mspdy_workers_submit(stream))
        return true;
    stream->returned = true;
    apr_thread_mutex_lock(session->lock);
    session->busy--;
    apr_thread_mutex_unlock(session->lock);
    mspdy_streams_reset(stream, SPDY_STATUS_REFUSED_STREAM);
    mspdy_streams_settle(stream);
    return false;
}

/* ---- the request's body ---- */

void mspdy_streams_body(mspdy_stream *stream, const spdy_event *event)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    stream->wire_bytes_in += SPDY_FRAME_HEAD_BYTES + event->data.length;
    bool queued = !stream->started;
    bool fine = mspdy_pipe_put(&stream->body, event->data.bytes, event->data.length);
    stream->body_ended = stream->body_ended || event->fin;
    apr_thread_cond_signal(stream->changed);
    apr_thread_mutex_unlock(session->lock);
    if (!fine) {
        mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        mspdy_streams_settle(stream);
        return;
    }
    session->body_bytes += event->data.length;
    if (queued) /* or those that have a worker could not get their bodies, and it a worker */
        spdy_stream_stored(session->core, stream->id, event->data.length);
}

void mspdy_streams_consumed(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    size_t bytes = stream->body_consumed;
    stream->body_consumed = 0;
    apr_thread_mutex_unlock(session->lock);
    session->body_bytes -= bytes;
    if (bytes > 0)
        spdy_stream_consumed(session->core, stream->id, bytes);
}

/* ---- ending ---- */

void mspdy_streams_goaway(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        if (stream->pushed && !stream->closed && !spdy_stream_is_open(session->core, stream->id)) {
            mspdy_streams_closed(stream);
            mspdy_streams_settle(stream);
        }
}

/* The client sends no more: bodies that are not complete never will be. */
void mspdy_streams_input_ended(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        if (!stream->closed && !stream->body_ended) {
            mspdy_streams_reset(stream, SPDY_STATUS_CANCEL);
            mspdy_streams_settle(stream);
        }
}

static void take_from_workers(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    if (!stream->returned && mspdy_workers_withdraw(stream)) {
        stream->returned = true;
        apr_thread_mutex_lock(session->lock);
        session->busy--;
        apr_thread_mutex_unlock(session->lock);
    }
    if (stream->returned)
        return;
    apr_thread_mutex_lock(session->lock);
    stream->aborted = true;
    apr_thread_cond_signal(stream->changed);
    apr_thread_mutex_unlock(session->lock);
}

void mspdy_streams_sent_all(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    stream->closed = true;
    stream->fin_sent = true;
    spdy_stream_set_context(session->core, stream->id, NULL);
    spdy_stream_discard(session->core, stream->id);
    apr_thread_mutex_lock(session->lock);
    stream->sent = true;
    apr_thread_cond_signal(stream->changed); /* its worker may still wait for a body, which is now dropped */
    apr_thread_mutex_unlock(session->lock);
}

void mspdy_streams_closed(mspdy_stream *stream)
{
    if (stream->closed)
        return;
    stream->closed = true;
    take_from_workers(stream);
}

void mspdy_streams_reset(mspdy_stream *stream, spdy_status status)
{
    if (stream->closed)
        return;
    spdy_stream_set_context(stream->session->core, stream->id, NULL);
    spdy_stream_reset(stream->session->core, stream->id, status);
    mspdy_streams_closed(stream);
}

void mspdy_streams_settle(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    if (!stream->returned) {
        apr_thread_mutex_lock(session->lock);
        stream->returned = stream->worker_done;
        apr_thread_mutex_unlock(session->lock);
    }
    if (stream->closed && stream->returned && !stream->finished) {
        stream->finished = true;
        stream->next_finished = session->first_finished;
        session->first_finished = stream;
    }
}

static void remove_flag(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    if (stream->flagged) {
        mspdy_stream **place = &session->first_flagged;
        while (*place != stream)
            place = &(*place)->next_flagged;
        *place = stream->next_flagged;
    }
    apr_thread_mutex_unlock(session->lock);
}

void mspdy_streams_bury(mspdy_session *session, bool sent)
{
    while (session->first_finished != NULL) {
        mspdy_stream *stream = session->first_finished;
        session->first_finished = stream->next_finished;
        stream->fin_sent = stream->fin_sent && sent;
        remove_flag(stream);
        mspdy_stream_free(stream);
    }
}

/* Has it waited for window since then? While the session's window goes to
 * streams that are more urgent, others are only outrun. */
static bool is_stalled(mspdy_stream *stream, apr_time_t since)
{
    mspdy_session *session = stream->session;
    if (stream->closed || !stream->offers_data || stream->progress_at > since)
        return false;
    return spdy_stream_send_window(session->core, stream->id) <= 0 ||
           (spdy_session_send_window(session->core) <= 0 && session->data_sent_at <= since);
}

void mspdy_streams_reset_stalled(mspdy_session *session)
{
    apr_time_t now = apr_time_now(), limit = now - session->server->timeout;
    mspdy_stream *next;
    if (now < session->stalls_checked_at + STALLS_EVERY)
        return;
    session->stalls_checked_at = now;
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = next) {
        next = stream->next;
        if (!is_stalled(stream, limit))
            continue;
        ap_log_cerror(APLOG_MARK, APLOG_INFO, APR_TIMEUP, session->c1,
                      "stream %u: the client gives no window for its response", (unsigned)stream->id);
        mspdy_streams_reset(stream, SPDY_STATUS_CANCEL);
        mspdy_streams_settle(stream);
    }
}

void mspdy_streams_end_all(mspdy_session *session)
{
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        mspdy_streams_reset(stream, SPDY_STATUS_CANCEL);
        take_from_workers(stream); /* also those that are closed, and whose handlers run on */
    }
    apr_thread_mutex_lock(session->lock);
    while (session->busy > 0)
        apr_thread_cond_wait(session->came_back, session->lock);
    session->first_flagged = NULL;
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next)
        stream->flagged = false;
    apr_thread_mutex_unlock(session->lock);
    for (mspdy_stream *stream = session->first_stream; stream != NULL; stream = stream->next) {
        stream->returned = true;
        mspdy_streams_settle(stream);
    }
    mspdy_streams_bury(session, true);
}
