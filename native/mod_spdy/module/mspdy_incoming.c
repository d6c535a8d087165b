#include "mspdy_incoming.h"

#include "http_log.h"

#include "mspdy_stream.h"

APLOG_USE_MODULE(spdy);

static uint64_t received_header_bytes(const mspdy_session *session)
{
    return spdy_session_totals(session->core).received_header_wire_bytes;
}

static void stream_ended(mspdy_session *session, const spdy_event *event)
{
    mspdy_stream *stream = event->context;
    ap_log_cerror(APLOG_MARK, APLOG_DEBUG, 0, session->c1, "stream %u: %s %s%s%s", (unsigned)event->stream_id,
                  event->type == SPDY_EVENT_RESET ? "the client reset it," : "reset after a fault,",
                  spdy_status_name(event->status), event->reason ? ": " : "", event->reason ? event->reason : "");
    if (stream != NULL) {
        mspdy_stream_cut(stream);
        mspdy_stream_settle(stream);
    }
}

/* Trailers of a request end its body; httpd has no place for them here. */
static void further_headers(const spdy_event *event)
{
    spdy_event end = *event;
    end.data.bytes = "";
    end.data.length = 0;
    if (event->context != NULL && event->fin)
        mspdy_stream_body(event->context, &end);
}

static void session_failed(mspdy_session *session, const spdy_event *event)
{
    ap_log_cerror(APLOG_MARK, APLOG_INFO, 0, session->c1, "SPDY session ends: %s",
                  event->reason ? event->reason : "the client broke the protocol");
    session->failed = true;
    mspdy_streams_cut_all(session);
}

static void handle(mspdy_session *session, const spdy_event *event, uint64_t header_bytes)
{
    switch (event->type) {
    case SPDY_EVENT_OPENED:
        mspdy_stream_open(session, event, header_bytes);
        break;
    case SPDY_EVENT_DATA:
        if (event->context != NULL)
            mspdy_stream_body(event->context, event);
        break;
    case SPDY_EVENT_HEADERS:
        further_headers(event);
        break;
    case SPDY_EVENT_RESET:
    case SPDY_EVENT_STREAM_FAILED:
        stream_ended(session, event);
        break;
    case SPDY_EVENT_SESSION_ERROR:
        session_failed(session, event);
        break;
    case SPDY_EVENT_GOAWAY:
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, 0, session->c1, "SPDY session: the client goes away");
        mspdy_streams_goaway(session);
        break;
    case SPDY_EVENT_NONE:
    case SPDY_EVENT_REPLY:
    case SPDY_EVENT_SETTINGS:
        break;
    }
}

void mspdy_incoming_receive(mspdy_session *session, const char *bytes, size_t length)
{
    spdy_event event;
    size_t taken = 0;
    spdy_session_clock(session->core, (uint64_t)apr_time_as_msec(apr_time_now()));
    do {
        uint64_t before = received_header_bytes(session);
        taken += spdy_session_receive(session->core, bytes + taken, length - taken, &event);
        handle(session, &event, received_header_bytes(session) - before);
    } while (event.type != SPDY_EVENT_NONE && event.type != SPDY_EVENT_SESSION_ERROR);
}
