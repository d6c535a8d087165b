/* Our frames. */
#include "session.h"

#include <string.h>

spdy_result spdy_write_control(spdy_session *session, spdy_frame_type type, unsigned flags, const void *payload,
                               size_t length)
{
    uint8_t head[SPDY_HEAD_BYTES];
    size_t before = spdy_buffer_length(&session->output);

    if (session->over && type != SPDY_FRAME_GOAWAY)
        return SPDY_SESSION_OVER; /* GOAWAY is the last */
    spdy_head_write_control(session->version, type, flags, (uint32_t)length, head);
    if (spdy_buffer_append(&session->output, head, sizeof head) &&
        spdy_buffer_append(&session->output, payload, length))
        return SPDY_OK;
    session->output.end = session->output.start + before; /* no half frames */
    return spdy_no_memory(session);
}

spdy_result spdy_write_goaway(spdy_session *session, spdy_goaway_status status)
{
    uint8_t payload[8];

    spdy_put_32(payload, session->last_good_id);
    spdy_put_32(payload + 4, status);
    session->goaway_sent = true;
    return spdy_write_control(session, SPDY_FRAME_GOAWAY, 0, payload, session->version == SPDY_VERSION_2 ? 4 : 8);
}

/* SPDY/2 knows no status beyond FLOW_CONTROL_ERROR. */
static spdy_status known_status(spdy_version version, spdy_status status)
{
    return version == SPDY_VERSION_2 && status > SPDY_STATUS_FLOW_CONTROL_ERROR ? SPDY_STATUS_PROTOCOL_ERROR : status;
}

spdy_result spdy_write_reset(spdy_session *session, uint32_t stream_id, spdy_status status)
{
    uint8_t payload[8];

    spdy_put_32(payload, stream_id);
    spdy_put_32(payload + 4, known_status(session->version, status));
    return spdy_write_control(session, SPDY_FRAME_RST_STREAM, 0, payload, sizeof payload);
}

spdy_result spdy_write_window_update(spdy_session *session, uint32_t stream_id, uint32_t delta)
{
    uint8_t payload[8];

    spdy_put_32(payload, stream_id);
    spdy_put_32(payload + 4, delta);
    return spdy_write_control(session, SPDY_FRAME_WINDOW_UPDATE, 0, payload, sizeof payload);
}

static size_t add_setting(const spdy_session *session, uint32_t id, uint32_t value, uint8_t *payload, size_t at)
{
    spdy_setting_write_id(session->version, id, 0, payload + at);
    spdy_put_32(payload + at + 4, value);
    return at + 8;
}

spdy_result spdy_write_settings(spdy_session *session)
{
    uint8_t payload[20];
    size_t length = 4;
    spdy_result result;

    length = add_setting(session, SPDY_SETTING_MAX_CONCURRENT_STREAMS, session->limits.concurrent_streams, payload,
                         length);
    if (spdy_has_stream_windows(session))
        length = add_setting(session, SPDY_SETTING_INITIAL_WINDOW_SIZE, session->limits.stream_window_bytes, payload,
                             length);
    spdy_put_32(payload, (uint32_t)(length / 8));
    result = spdy_write_control(session, SPDY_FRAME_SETTINGS, 0, payload, length);
    if (result != SPDY_OK || !spdy_has_session_window(session) ||
        session->limits.session_window_bytes == SPDY_DRAFT_WINDOW_BYTES)
        return result;
    return spdy_write_window_update(session, 0, session->limits.session_window_bytes - SPDY_DRAFT_WINDOW_BYTES);
}

/* Writes a frame whose header block follows `fixed`. */
static spdy_result write_block(spdy_session *session, spdy_frame_type type, unsigned flags, const uint8_t *fixed,
                               const spdy_header *headers, size_t count)
{
    size_t start = spdy_buffer_length(&session->output);
    size_t fixed_bytes = spdy_fixed_bytes(session->version, type);
    size_t length;
    spdy_result result;

    spdy_buffer_clear(&session->block);
    result = spdy_block_write(session->version, headers, count, &session->block);
    if (result == SPDY_NO_MEMORY)
        return spdy_no_memory(session);
    if (result == SPDY_OK)
        result = spdy_write_control(session, type, flags, fixed, fixed_bytes);
    if (result != SPDY_OK)
        return result;
    length = spdy_buffer_length(&session->block);
    if (!spdy_compressor_add(&session->compressor, spdy_buffer_bytes(&session->block), length, &session->output)) {
        session->output.end = session->output.start + start;
        return spdy_no_memory(session);
    }
    session->totals.sent_header_bytes += length;
    spdy_buffer_clear(&session->block);
    length = spdy_buffer_length(&session->output) - start - SPDY_HEAD_BYTES;
    session->totals.sent_header_wire_bytes += length - fixed_bytes;
    spdy_put_24(spdy_buffer_bytes(&session->output) + start + 5, (uint32_t)length);
    return SPDY_OK;
}

/* SYN_REPLY and HEADERS. */
static spdy_result send_headers(spdy_session *session, spdy_input input, uint32_t stream_id, const spdy_header *headers,
                                size_t count, bool fin)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    spdy_frame_type type = input == SPDY_OUT_REPLY ? SPDY_FRAME_SYN_REPLY : SPDY_FRAME_HEADERS;
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};
    spdy_step step;
    spdy_result result;

    if (session->over)
        return SPDY_SESSION_OVER;
    if (!stream)
        return SPDY_NO_SUCH_STREAM;
    step = spdy_state_step(stream->state, spdy_input_with_fin(input, fin));
    if (step.action != SPDY_ACTION_DO)
        return SPDY_WRONG_STATE;
    spdy_put_32(fixed, stream_id);
    result = write_block(session, type, fin ? SPDY_FLAG_FIN : 0, fixed, headers, count);
    if (result != SPDY_OK)
        return result;
    if (fin) {
        stream->offer = SPDY_OFFER_NOTHING;
        spdy_schedule_update(&session->schedule, stream);
    }
    spdy_enter(session, stream, step.next);
    return SPDY_OK;
}

spdy_result spdy_stream_reply(spdy_session *session, uint32_t stream_id, const spdy_header *headers, size_t count,
                              bool fin)
{
    return send_headers(session, SPDY_OUT_REPLY, stream_id, headers, count, fin);
}

spdy_result spdy_stream_headers(spdy_session *session, uint32_t stream_id, const spdy_header *headers, size_t count,
                                bool fin)
{
    return send_headers(session, SPDY_OUT_HEADERS, stream_id, headers, count, fin);
}

spdy_result spdy_stream_reset(spdy_session *session, uint32_t stream_id, spdy_status status)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    spdy_result result;

    if (session->over)
        return SPDY_SESSION_OVER;
    if (!stream)
        return SPDY_NO_SUCH_STREAM;
    result = spdy_write_reset(session, stream_id, status);
    spdy_enter(session, stream, spdy_state_step(stream->state, SPDY_OUT_RESET).next);
    return result;
}

/* May a stream of ours be opened now? */
static spdy_result may_open(const spdy_session *session, const spdy_opening *opening)
{
    if (session->over || session->goaway_received)
        return SPDY_SESSION_OVER;
    if (opening->associated_id && !spdy_streams_find(&session->streams, opening->associated_id))
        return SPDY_NO_SUCH_STREAM;
    if (session->streams.ours >= session->peer_most_streams || session->last_own_id >= SPDY_ID_MASK - 2)
        return SPDY_TOO_MANY;
    return SPDY_OK;
}

static uint32_t next_own_id(const spdy_session *session)
{
    if (!session->last_own_id)
        return session->role == SPDY_ROLE_CLIENT ? 1 : 2;
    return session->last_own_id + 2;
}

static spdy_stream *add_own_stream(spdy_session *session, const spdy_opening *opening, uint32_t stream_id)
{
    spdy_stream *stream = spdy_streams_add(&session->streams, stream_id, true);
    unsigned lowest = spdy_lowest_priority(session->version);

    if (!stream)
        return NULL;
    stream->priority = opening->priority < lowest ? opening->priority : lowest;
    stream->send_window = session->peer_initial_window;
    stream->receive_window = session->limits.stream_window_bytes;
    return stream;
}

spdy_result spdy_stream_open(spdy_session *session, const spdy_opening *opening, const spdy_header *headers,
                             size_t count, uint32_t *stream_id)
{
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};
    unsigned flags = (opening->fin ? SPDY_FLAG_FIN : 0) | (opening->unidirectional ? SPDY_FLAG_UNIDIRECTIONAL : 0);
    spdy_input input = opening->unidirectional ? SPDY_OUT_OPEN_ONE_WAY : SPDY_OUT_OPEN;
    spdy_result result = may_open(session, opening);
    spdy_stream *stream;
    uint32_t id = next_own_id(session);

    if (result != SPDY_OK)
        return result;
    stream = add_own_stream(session, opening, id);
    if (!stream)
        return spdy_no_memory(session);
    spdy_put_32(fixed, id);
    spdy_put_32(fixed + 4, opening->associated_id);
    fixed[8] = (uint8_t)(stream->priority << (session->version == SPDY_VERSION_2 ? 6 : 5));
    result = write_block(session, SPDY_FRAME_SYN_STREAM, flags, fixed, headers, count);
    if (result != SPDY_OK) {
        spdy_streams_end(&session->streams, stream, SPDY_STATE_CUT);
        return result;
    }
    session->last_own_id = id;
    *stream_id = id;
    spdy_enter(session, stream, spdy_state_step(SPDY_STATE_NONE, spdy_input_with_fin(input, opening->fin)).next);
    return SPDY_OK;
}

spdy_result spdy_session_goaway(spdy_session *session, spdy_goaway_status status)
{
    if (session->over)
        return SPDY_SESSION_OVER;
    if (status != SPDY_GOAWAY_OK) {
        spdy_end_session(session, status, "ended on this side");
        session->told = true;
        spdy_forget_streams(session);
        return SPDY_OK;
    }
    return session->goaway_sent ? SPDY_OK : spdy_write_goaway(session, status);
}
