/* DATA of the peer: passed on in the pieces in which it comes. */
#include "session.h"

/* Its payload goes nowhere, but the session's window must not shrink by it. */
static void skip_data(spdy_session *session)
{
    session->reader.phase = SPDY_PHASE_SKIP;
    spdy_flow_credit_session(session, session->reader.left);
}

/* Says why the frame may not be, else NULL. */
static const char *fault_of(spdy_session *session, spdy_stream *stream, spdy_status *status)
{
    const spdy_head *head = &session->reader.head;

    if (session->version == SPDY_VERSION_2 && head->flags & SPDY_FLAG_COMPRESSED) {
        *status = SPDY_STATUS_PROTOCOL_ERROR;
        return "compressed DATA";
    }
    if (!spdy_flow_take(session, stream, head->length)) {
        *status = SPDY_STATUS_FLOW_CONTROL_ERROR;
        return "more DATA than the stream's window";
    }
    return NULL;
}

void spdy_begin_data(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    bool fin = reader->head.flags & SPDY_FLAG_FIN;
    spdy_stream *stream = spdy_streams_find(&session->streams, reader->head.stream_id);
    spdy_status status = SPDY_STATUS_PROTOCOL_ERROR;
    const char *fault = NULL;
    spdy_step step;

    if (!reader->head.stream_id) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "DATA for stream 0");
        return;
    }
    if (!spdy_flow_take_session(session, reader->head.length)) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "more DATA than the session's window");
        return;
    }
    if (!reader->head.length && !fin && !spdy_count_habit(session, SPDY_HABIT_EMPTY))
        return;
    step = spdy_state_step(spdy_state_of(session, reader->head.stream_id), spdy_input_with_fin(SPDY_IN_DATA, fin));
    if (step.action == SPDY_ACTION_RESET) {
        fault = "DATA out of order";
        status = step.status;
    } else if (step.action == SPDY_ACTION_DO) {
        fault = fault_of(session, stream, &status);
    }
    if (fault)
        spdy_fail_stream(session, reader->head.stream_id, status, fault, event);
    if (fault || step.action != SPDY_ACTION_DO) {
        skip_data(session);
        return;
    }
    reader->phase = reader->left || fin ? SPDY_PHASE_DATA : SPDY_PHASE_SKIP;
}

/* Bytes that nobody takes count as consumed. */
static void drop(spdy_session *session, spdy_stream *stream, uint32_t bytes)
{
    if (stream)
        spdy_flow_credit_stream(session, stream, bytes);
    spdy_flow_credit_session(session, bytes);
}

size_t spdy_receive_data(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    size_t taken = length < reader->left ? length : reader->left;
    /* Looked up for each piece: the caller may have reset the stream in between. */
    spdy_stream *stream = spdy_streams_find(&session->streams, reader->head.stream_id);
    bool pass_on = stream && !stream->discard;
    bool fin;

    reader->left -= (uint32_t)taken;
    fin = !reader->left && reader->head.flags & SPDY_FLAG_FIN;
    if (!reader->left)
        spdy_next_frame(session);
    if (!pass_on)
        drop(session, stream, (uint32_t)taken);
    if (session->over || !stream || (!pass_on && !fin))
        return taken;
    *event = (spdy_event){.type = SPDY_EVENT_DATA,
                          .stream_id = stream->id,
                          .context = stream->context,
                          .fin = fin,
                          .data = {(const char *)bytes, pass_on ? taken : 0}};
    if (pass_on && spdy_has_stream_windows(session))
        stream->unused_bytes += (uint32_t)taken;
    if (fin)
        event->ended = spdy_enter(session, stream, spdy_state_step(stream->state, SPDY_IN_DATA_FIN).next);
    return taken;
}
