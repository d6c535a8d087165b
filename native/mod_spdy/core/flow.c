#include "session.h"

/* A peer may send the draft's window before it has seen our SETTINGS. */
static int64_t slack(uint32_t announced)
{
    return announced < SPDY_DRAFT_WINDOW_BYTES ? SPDY_DRAFT_WINDOW_BYTES - (int64_t)announced : 0;
}

/* Small credits wait for more: a WINDOW_UPDATE for each read would be mostly overhead. */
static bool worth_telling(uint32_t credit, uint32_t window)
{
    return credit && credit >= window / 2;
}

bool spdy_flow_take_session(spdy_session *session, uint32_t bytes)
{
    if (!spdy_has_session_window(session))
        return true;
    session->receive_window -= bytes;
    return session->receive_window >= 0;
}

bool spdy_flow_take(spdy_session *session, spdy_stream *stream, uint32_t bytes)
{
    if (!spdy_has_stream_windows(session))
        return true;
    stream->receive_window -= bytes;
    return stream->receive_window >= -slack(session->limits.stream_window_bytes);
}

void spdy_flow_credit_session(spdy_session *session, uint32_t bytes)
{
    if (!spdy_has_session_window(session) || session->over)
        return;
    session->credit_bytes += bytes;
    if (!worth_telling(session->credit_bytes, session->limits.session_window_bytes))
        return;
    bytes = session->credit_bytes;
    session->credit_bytes = 0;
    session->receive_window += bytes;
    spdy_write_window_update(session, 0, bytes);
}

static bool peer_may_send(spdy_state state)
{
    return state == SPDY_STATE_ASKED || state == SPDY_STATE_ASKING || state == SPDY_STATE_ASKING_WHOLE ||
           state == SPDY_STATE_OPEN || state == SPDY_STATE_WE_DONE;
}

void spdy_flow_credit_stream(spdy_session *session, spdy_stream *stream, uint32_t bytes)
{
    if (!spdy_has_stream_windows(session) || !peer_may_send(stream->state))
        return; /* after its last frame the peer needs no window */
    stream->credit_bytes += bytes;
    if (!worth_telling(stream->credit_bytes, session->limits.stream_window_bytes))
        return;
    bytes = stream->credit_bytes;
    stream->credit_bytes = 0;
    stream->receive_window += bytes;
    spdy_write_window_update(session, stream->id, bytes);
}

static uint32_t at_most(size_t bytes, uint32_t most)
{
    return bytes < most ? (uint32_t)bytes : most;
}

void spdy_stream_stored(spdy_session *session, uint32_t stream_id, size_t bytes)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    uint32_t stored;

    if (!stream)
        return;
    stored = at_most(bytes, stream->unused_bytes - stream->stored_bytes);
    stream->stored_bytes += stored;
    spdy_flow_credit_session(session, stored);
}

void spdy_stream_consumed(spdy_session *session, uint32_t stream_id, size_t bytes)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    uint32_t used, stored;

    if (!stream || !bytes)
        return;
    used = at_most(bytes, stream->unused_bytes);
    stored = at_most(used, stream->stored_bytes);
    stream->unused_bytes -= used;
    stream->stored_bytes -= stored;
    spdy_flow_credit_stream(session, stream, used);
    spdy_flow_credit_session(session, used - stored);
}

void spdy_stream_discard(spdy_session *session, uint32_t stream_id)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    if (!stream)
        return;
    stream->discard = true;
    spdy_stream_consumed(session, stream_id, stream->unused_bytes);
}

static void session_window_update(spdy_session *session, uint32_t delta)
{
    if (!spdy_has_session_window(session))
        spdy_count_habit(session, SPDY_HABIT_EMPTY);
    else if (!delta)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "WINDOW_UPDATE of the session by 0");
    else if (session->send_window + delta > SPDY_MOST_WINDOW_BYTES)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "WINDOW_UPDATE makes the session's window larger than 2^31");
    else
        session->send_window += delta;
}

void spdy_flow_window_update(spdy_session *session, spdy_event *event)
{
    uint32_t stream_id = spdy_get_32(session->reader.bytes) & SPDY_ID_MASK;
    uint32_t delta = spdy_get_32(session->reader.bytes + 4) & SPDY_ID_MASK;
    spdy_step step = spdy_state_step(spdy_state_of(session, stream_id), SPDY_IN_WINDOW);
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    if (!stream_id) {
        session_window_update(session, delta);
        return;
    }
    if (step.action == SPDY_ACTION_RESET) {
        spdy_fail_stream(session, stream_id, step.status, "WINDOW_UPDATE for a stream that was never opened", event);
    } else if (step.action == SPDY_ACTION_PASS_OVER || !stream) {
        return; /* late, as it has to be: the peer took data after our last frame */
    } else if (!delta) {
        spdy_fail_stream(session, stream_id, SPDY_STATUS_PROTOCOL_ERROR, "WINDOW_UPDATE by 0", event);
    } else if (stream->send_window + delta > SPDY_MOST_WINDOW_BYTES) {
        spdy_fail_stream(session, stream_id, SPDY_STATUS_FLOW_CONTROL_ERROR,
                         "WINDOW_UPDATE makes the window larger than 2^31", event);
    } else {
        stream->send_window += delta;
        spdy_schedule_update(&session->schedule, stream);
    }
}

bool spdy_flow_initial_window(spdy_session *session, uint32_t bytes)
{
    int64_t change = (int64_t)bytes - session->peer_initial_window;
    size_t i;

    session->peer_initial_window = bytes;
    for (i = 0; i < SPDY_STREAM_CHAINS; i++) {
        spdy_stream *stream;

        for (stream = session->streams.chains[i]; stream; stream = stream->chain) {
            stream->send_window += change;
            if (stream->send_window > SPDY_MOST_WINDOW_BYTES)
                return false;
            spdy_schedule_update(&session->schedule, stream);
        }
    }
    return true;
}
