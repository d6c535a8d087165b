/* DATA of ours, and whose turn it is. */
#include "session.h"

static bool may_send(const spdy_stream *stream)
{
    return spdy_state_step(stream->state, SPDY_OUT_DATA).action == SPDY_ACTION_DO;
}

spdy_result spdy_stream_offer(spdy_session *session, uint32_t stream_id, spdy_offer offer)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    if (session->over)
        return SPDY_SESSION_OVER;
    if (!stream)
        return SPDY_NO_SUCH_STREAM;
    if (offer != SPDY_OFFER_NOTHING && !may_send(stream))
        return SPDY_WRONG_STATE;
    stream->offer = offer;
    spdy_schedule_update(&session->schedule, stream);
    return SPDY_OK;
}

static size_t most_bytes(const spdy_session *session, const spdy_stream *stream)
{
    int64_t most = session->limits.data_frame_bytes;

    if (spdy_has_stream_windows(session) && stream->send_window < most)
        most = stream->send_window;
    if (spdy_has_session_window(session) && session->send_window < most)
        most = session->send_window;
    return most > 0 ? (size_t)most : 0;
}

bool spdy_session_next(spdy_session *session, spdy_slot *slot)
{
    bool window = !spdy_has_session_window(session) || session->send_window > 0;
    const spdy_stream *stream = spdy_schedule_next(&session->schedule, window);

    if (!stream || session->over)
        return false;
    slot->stream_id = stream->id;
    slot->context = stream->context;
    slot->most_bytes = stream->offer == SPDY_OFFER_FIN ? 0 : most_bytes(session, stream);
    return true;
}

static void book(spdy_session *session, spdy_stream *stream, size_t bytes, bool fin)
{
    if (spdy_has_stream_windows(session))
        stream->send_window -= (int64_t)bytes;
    if (spdy_has_session_window(session))
        session->send_window -= (int64_t)bytes;
    if (fin)
        stream->offer = SPDY_OFFER_NOTHING;
    spdy_schedule_sent(&session->schedule, stream);
    spdy_schedule_update(&session->schedule, stream);
    spdy_enter(session, stream, spdy_state_step(stream->state, spdy_input_with_fin(SPDY_OUT_DATA, fin)).next);
}

spdy_result spdy_stream_data_head(spdy_session *session, uint32_t stream_id, size_t bytes, bool fin,
                                  uint8_t head[SPDY_FRAME_HEAD_BYTES])
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    if (session->over)
        return SPDY_SESSION_OVER;
    if (!stream)
        return SPDY_NO_SUCH_STREAM;
    if (!may_send(stream))
        return SPDY_WRONG_STATE;
    if (bytes > most_bytes(session, stream))
        return SPDY_TOO_LARGE;
    if (spdy_buffer_length(&session->output))
        return SPDY_OUTPUT_WAITING;
    spdy_head_write_data(stream_id, fin ? SPDY_FLAG_FIN : 0, (uint32_t)bytes, head);
    book(session, stream, bytes, fin);
    return SPDY_OK;
}

bool spdy_session_output(spdy_session *session, const uint8_t **bytes, size_t *length)
{
    *length = spdy_buffer_length(&session->output);
    *bytes = *length ? spdy_buffer_bytes(&session->output) : NULL;
    return *length > 0;
}

void spdy_session_output_sent(spdy_session *session, size_t length)
{
    spdy_buffer_take(&session->output, length);
}
