#include "mspdy_outgoing.h"

#include <string.h>

#include "http_log.h"

#include "mspdy_held.h"
#include "mspdy_response.h"

APLOG_USE_MODULE(spdy);

/* A frame with less payload than this is not worth the rest of a batch. */
enum { LEAST_ROOM_BYTES = 256 };

typedef struct offer {
    bool data;  /* there are bytes */
    bool whole; /* and none will follow them */
    bool failed;
} offer;

static offer offer_of(mspdy_stream *stream, const mspdy_view *view)
{
    offer o = {view->has_output, view->output_ended, false};
    if (view->stage == MSPDY_BACK) { /* now the rest may be looked at, too */
        bool held = mspdy_held_has_data(stream->job->held);
        o.whole = stream->job->progress == MSPDY_COMPLETE && !held;
        o.failed = !o.data && !held && !o.whole;
        o.data = o.data || held;
    }
    return o;
}

static void send_offer(mspdy_stream *stream, offer o)
{
    spdy_offer kind = o.data ? SPDY_OFFER_DATA : o.whole ? SPDY_OFFER_FIN : SPDY_OFFER_NOTHING;
    spdy_stream_offer(stream->session->core, stream->job->id, kind);
    stream->offers_data = kind == SPDY_OFFER_DATA;
}

static void count_sent(mspdy_stream *stream, uint64_t wire_bytes)
{
    stream->job->wire_bytes_out += wire_bytes;
    mspdy_stream_progress(stream, wire_bytes);
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
 * The worker may still be at it: the job's pool is not ours to allocate from. */
static spdy_result send_head(mspdy_stream *stream, const mspdy_response *response)
{
    mspdy_session *session = stream->session;
    size_t count = SPDY_HTTP_REPLY_HEADERS + response->field_count;
    spdy_header *headers = apr_palloc(session->event_pool, count * sizeof(*headers));
    spdy_text protocol = {"HTTP/1.1", 8};
    uint64_t before = header_bytes(session);
    spdy_http_reply_write(session->version, response->status, protocol, headers);
    memcpy(headers + SPDY_HTTP_REPLY_HEADERS, response->fields, response->field_count * sizeof(*headers));
    spdy_result (*send)(spdy_session *, uint32_t, const spdy_header *, size_t, bool) =
        stream->job->pushed ? spdy_stream_headers : spdy_stream_reply;
    spdy_result result = send(session->core, stream->job->id, headers, count, response->no_body);
    apr_pool_clear(session->event_pool);
    count_sent(stream, header_bytes(session) - before + reply_head_bytes(session->version));
    stream->life = MSPDY_REPLIED;
    return result;
}

static void cannot(mspdy_stream *stream, int level, const char *what, const char *why)
{
    ap_log_cerror(APLOG_MARK, level, 0, stream->session->c1, "stream %u: %s: %s", (unsigned)stream->job->id, what,
                  why);
    mspdy_stream_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
}

const char *mspdy_outgoing_associated(const mspdy_stream *stream, const mspdy_view *view)
{
    return stream->life == MSPDY_OPEN && view->response != NULL ? view->response->associated : NULL;
}

void mspdy_outgoing_look(mspdy_stream *stream, const mspdy_view *view)
{
    const mspdy_response *response = view->response;
    if (stream->life == MSPDY_OPEN && response != NULL) {
        spdy_result result = send_head(stream, response);
        if (result != SPDY_OK)
            cannot(stream, APLOG_INFO, "its response cannot be sent", spdy_result_text(result));
        else if (response->no_body)
            mspdy_stream_sent_all(stream);
    }
    if (stream->life == MSPDY_REPLIED) {
        offer o = offer_of(stream, view);
        if (o.failed)
            mspdy_stream_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
        else
            send_offer(stream, o);
    }
    else if (view->stage == MSPDY_BACK) /* it ended without a word, if it is not over already */
        mspdy_stream_reset(stream, SPDY_STATUS_INTERNAL_ERROR);
    mspdy_stream_settle(stream);
}

static size_t send_frame(mspdy_stream *stream, char *to, size_t most)
{
    mspdy_session *session = stream->session;
    uint8_t head[SPDY_FRAME_HEAD_BYTES];
    mspdy_taking taking = MSPDY_TAKES;
    mspdy_view view;
    char *body = to + SPDY_FRAME_HEAD_BYTES;
    size_t taken = mspdy_exchange_take(stream->job->exchange, body, most, &view);
    if (view.stage == MSPDY_BACK && taken < most)
        taken += mspdy_held_take(stream->job->held, body + taken, most - taken, false, &taking);
    if (taking == MSPDY_COLD && taken == 0) {
        if (mspdy_stream_lend(stream)) {
            offer nothing = {false, false, false};
            send_offer(stream, nothing);
            return 0;
        }
        taken = mspdy_held_take(stream->job->held, body, most, true, &taking);
    }
    bool failed = taking == MSPDY_FAILED;
    offer o = offer_of(stream, &view);
    bool fin = o.whole && !o.data;
    if (failed || (o.failed && taken == 0)) {
        cannot(stream, failed ? APLOG_ERR : APLOG_DEBUG, "its response ends early",
               failed ? "the rest of its response cannot be read" : "nothing follows");
        return 0;
    }
    if (taken == 0 && !fin) {
        send_offer(stream, o);
        return 0;
    }
    spdy_result result = spdy_stream_data_head(session->core, stream->job->id, taken, fin, head);
    if (result != SPDY_OK) {
        cannot(stream, APLOG_ERR, "its bytes cannot be sent", spdy_result_text(result));
        return 0;
    }
    memcpy(to, head, sizeof(head));
    count_sent(stream, SPDY_FRAME_HEAD_BYTES + taken);
    if (fin)
        mspdy_stream_sent_all(stream);
    else if (o.failed)
        mspdy_stream_reset(stream, SPDY_STATUS_INTERNAL_ERROR); /* behind these last bytes */
    else
        send_offer(stream, o);
    return SPDY_FRAME_HEAD_BYTES + taken;
}

size_t mspdy_outgoing_frame(mspdy_session *session, char *to, size_t room)
{
    spdy_slot slot;
    if (room < SPDY_FRAME_HEAD_BYTES + LEAST_ROOM_BYTES)
        return 0;
    while (spdy_session_next(session->core, &slot)) {
        mspdy_stream *stream = slot.context;
        size_t most = slot.most_bytes < room - SPDY_FRAME_HEAD_BYTES ? slot.most_bytes : room - SPDY_FRAME_HEAD_BYTES;
        size_t n = send_frame(stream, to, most);
        mspdy_stream_settle(stream);
        const uint8_t *bytes;
        size_t length;
        if (n > 0 || spdy_session_output(session->core, &bytes, &length))
            return n; /* a reset waits in the output: it goes first */
    }
    return 0;
}
