#include "mspdy_source.h"

#include <string.h>

#include "http_log.h"

#include "mspdy_filters.h"
#include "mspdy_push.h"
#include "mspdy_streams.h"

APLOG_USE_MODULE(spdy);

/* A frame with less payload than this is not worth the rest of a batch. */
enum { LEAST_ROOM_BYTES = 256 };

typedef struct offer {
    bool data;  /* there are bytes */
    bool whole; /* and none will follow them */
    bool failed;
} offer;

static offer offer_of(mspdy_stream *stream)
{
    offer o;
    apr_thread_mutex_lock(stream->session->lock);
    bool done = stream->worker_done;
    o.data = stream->output.bytes > 0;
    o.whole = stream->output_ended;
    apr_thread_mutex_unlock(stream->session->lock);
    o.failed = false;
    if (done) { /* now the rest may be looked at, too */
        bool held = mspdy_held_has_data(stream);
        o.whole = stream->eos_seen && !stream->broken && !held;
        o.failed = !o.data && !held && !o.whole;
        o.data = o.data || held;
    }
    return o;
}

static void send_offer(mspdy_stream *stream, offer o)
{
    spdy_offer kind = o.data ? SPDY_OFFER_DATA : o.whole ? SPDY_OFFER_FIN : SPDY_OFFER_NOTHING;
    spdy_stream_offer(stream->session->core, stream->id, kind);
    if (kind != SPDY_OFFER_DATA || !stream->offers_data)
        stream->progress_at = apr_time_now();
    stream->offers_data = kind == SPDY_OFFER_DATA;
}

static void count_sent(mspdy_stream *stream, uint64_t wire_bytes)
{
    apr_thread_mutex_lock(stream->session->lock);
    stream->wire_bytes_out += wire_bytes;
    apr_thread_mutex_unlock(stream->session->lock);
    stream->progress_at = apr_time_now();
}

/* What stands before the compressed block in SYN_REPLY and HEADERS. */
static unsigned reply_head_bytes(spdy_version version)
{
    return SPDY_FRAME_HEAD_BYTES + (version == SPDY_VERSION_2 ? 6 : 4);
}

static uint64_t header_bytes(const mspdy_session *session)
{
    return spdy_session_totals(session->core).sent_header_wire_bytes;
}

/* SYN_REPLY; of a pushed stream, which began with our own SYN_STREAM, HEADERS.
 * The worker may still be at it: the stream's pool is not ours to allocate from. */
static spdy_result send_head(mspdy_stream *stream, const mspdy_response *response)
{
    mspdy_session *session = stream->session;
    size_t count = SPDY_HTTP_REPLY_HEADERS + response->field_count;
    spdy_header *headers = apr_palloc(session->event_pool, count * sizeof(*headers));
    spdy_text protocol = {"HTTP/1.1", 8};
    uint64_t before = header_bytes(session);
    spdy_http_reply_write(session->version, response->status, protocol, headers);
    memcpy(headers + SPDY_HTTP_REPLY_HEADERS, response->fields, response->field_count * sizeof(*headers));
    spdy_result result = stream->pushed ? spdy_stream_headers(session->core, stream->id, headers, count,
                                                              response->no_body)
                                        : spdy_stream_reply(session->core, stream->id, headers, count,
                                                            response->no_body);
    apr_pool_clear(session->event_pool);
    count_sent(stream, header_bytes(session) - before + reply_head_bytes(session->version));
    stream->replied = true;
    return result;
}

void mspdy_source_look(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    const mspdy_response *response = stream->response;
    bool done = stream->worker_done;
    apr_thread_mutex_unlock(session->lock);

    if (!stream->closed && !stream->replied && response != NULL) {
        if (response->associated != NULL)
            mspdy_push_associated(stream, response->associated);
        spdy_result result = send_head(stream, response);
        if (result != SPDY_OK) {
            ap_log_cerror(APLOG_MARK, APLOG_INFO, 0, session->c1, "stream %u: its response cannot be sent: %s",
                          (unsigned)stream->id, spdy_result_text(result));
            mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        }
        else if (response->no_body)
            mspdy_streams_sent_all(stream);
    }
    if (!stream->closed && stream->replied) {
        offer o = offer_of(stream);
        if (o.failed)
            mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        else
            send_offer(stream, o);
    }
    else if (!stream->closed && done) /* it ended without a word */
        mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
    mspdy_streams_settle(stream);
}

/* The stream's next bytes, from where they are now. */
static size_t take(mspdy_stream *stream, char *to, size_t most, bool *failed)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    size_t taken = mspdy_pipe_take(&stream->output, to, most);
    bool done = stream->worker_done;
    if (taken > 0 && !done)
        apr_thread_cond_signal(stream->changed);
    apr_thread_mutex_unlock(session->lock);
    *failed = false;
    if (done && taken < most)
        taken += mspdy_held_take(stream, to + taken, most - taken, failed);
    return taken;
}

static size_t send_frame(mspdy_stream *stream, char *to, size_t most)
{
    mspdy_session *session = stream->session;
    uint8_t head[SPDY_FRAME_HEAD_BYTES];
    bool failed;
    size_t taken = take(stream, to + SPDY_FRAME_HEAD_BYTES, most, &failed);
    offer o = offer_of(stream);
    bool fin = o.whole && !o.data;
    if (failed || (o.failed && taken == 0)) {
        ap_log_cerror(APLOG_MARK, failed ? APLOG_ERR : APLOG_DEBUG, 0, session->c1,
                      "stream %u: the rest of its response cannot be %s", (unsigned)stream->id,
                      failed ? "read" : "made");
        mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        return 0;
    }
    if (taken == 0 && !fin) {
        send_offer(stream, o);
        return 0;
    }
    spdy_result result = spdy_stream_data_head(session->core, stream->id, taken, fin, head);
    if (result != SPDY_OK) {
        ap_log_cerror(APLOG_MARK, APLOG_ERR, 0, session->c1, "stream %u: %u bytes cannot be sent: %s",
                      (unsigned)stream->id, (unsigned)taken, spdy_result_text(result));
        mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        return 0;
    }
    memcpy(to, head, sizeof(head));
    count_sent(stream, SPDY_FRAME_HEAD_BYTES + taken);
    if (taken > 0)
        session->data_sent_at = stream->progress_at;
    if (fin)
        mspdy_streams_sent_all(stream);
    else if (o.failed)
        mspdy_streams_reset(stream, SPDY_STATUS_INTERNAL_ERROR); /* behind these last bytes */
    else
        send_offer(stream, o);
    return SPDY_FRAME_HEAD_BYTES + taken;
}

size_t mspdy_source_frame(mspdy_session *session, char *to, size_t room)
{
    spdy_slot slot;
    if (room < SPDY_FRAME_HEAD_BYTES + LEAST_ROOM_BYTES)
        return 0;
    while (spdy_session_next(session->core, &slot)) {
        mspdy_stream *stream = slot.context;
        size_t most = slot.most_bytes < room - SPDY_FRAME_HEAD_BYTES ? slot.most_bytes : room - SPDY_FRAME_HEAD_BYTES;
        size_t n = send_frame(stream, to, most);
        mspdy_streams_settle(stream);
        const uint8_t *bytes;
        size_t length;
        if (n > 0 || spdy_session_output(session->core, &bytes, &length))
            return n; /* a reset waits in the output: it goes first */
    }
    return 0;
}
