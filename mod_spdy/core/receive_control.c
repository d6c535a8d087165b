/* Control frames of the peer that carry no header block. */
#include "session.h"

static bool has_header_block(unsigned type)
{
    return type == SPDY_FRAME_SYN_STREAM || type == SPDY_FRAME_SYN_REPLY || type == SPDY_FRAME_HEADERS;
}

/* How much payload a frame has to have: its fixed part, and whether anything may follow. False: unknown type. */
static bool shape(const spdy_session *session, size_t *fixed_bytes, bool *more)
{
    const spdy_head *head = &session->reader.head;

    *more = has_header_block(head->type) || head->type == SPDY_FRAME_SETTINGS;
    switch (head->type) {
    case SPDY_FRAME_SYN_STREAM:
    case SPDY_FRAME_SYN_REPLY:
    case SPDY_FRAME_HEADERS:
        *fixed_bytes = spdy_fixed_bytes(session->version, head->type);
        return true;
    case SPDY_FRAME_RST_STREAM:
        *fixed_bytes = 8;
        return true;
    case SPDY_FRAME_SETTINGS:
    case SPDY_FRAME_PING:
        *fixed_bytes = 4;
        return true;
    case SPDY_FRAME_GOAWAY:
        /* SPDY/2 has no status; some of its peers send SPDY/3's all the same. */
        *fixed_bytes = session->version == SPDY_VERSION_2 && head->length == 4 ? 4 : 8;
        return true;
    case SPDY_FRAME_WINDOW_UPDATE:
        *fixed_bytes = 8;
        return spdy_has_stream_windows(session);
    default:
        return false;
    }
}

static void pass_frame_over(spdy_session *session)
{
    if (!spdy_count_habit(session, SPDY_HABIT_EMPTY))
        return;
    session->reader.phase = SPDY_PHASE_SKIP;
    if (!session->reader.left)
        spdy_next_frame(session);
}

void spdy_begin_control(spdy_session *session)
{
    spdy_reader *reader = &session->reader;
    size_t fixed_bytes;
    bool more;

    if (!shape(session, &fixed_bytes, &more)) {
        pass_frame_over(session);
    } else if (reader->left < fixed_bytes || (reader->left > fixed_bytes && !more)) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "control frame of a wrong length");
    } else {
        reader->phase = SPDY_PHASE_FIXED;
        reader->need = fixed_bytes;
    }
}

static void receive_reset(spdy_session *session, spdy_event *event)
{
    uint32_t id = spdy_get_32(session->reader.bytes) & SPDY_ID_MASK;
    uint32_t status = spdy_get_32(session->reader.bytes + 4);
    spdy_stream *stream = spdy_streams_find(&session->streams, id);

    if (!id) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "RST_STREAM for stream 0");
        return;
    }
    /* Never answered, not even for a stream that was never opened; and not
     * counted, since some peers send one for each late DATA of a stream they cancelled. */
    if (!stream || !spdy_count_habit(session, SPDY_HABIT_RESET))
        return;
    *event = (spdy_event){.type = SPDY_EVENT_RESET,
                          .stream_id = id,
                          .context = stream->context,
                          .status = status,
                          .ended = true};
    spdy_enter(session, stream, spdy_state_step(stream->state, SPDY_IN_RESET).next);
}

static void receive_ping(spdy_session *session, spdy_event *event)
{
    uint32_t id = spdy_get_32(session->reader.bytes);

    if (!spdy_count_habit(session, SPDY_HABIT_PING))
        return;
    if (!spdy_is_own_id(session, id))
        spdy_write_control(session, SPDY_FRAME_PING, 0, session->reader.bytes, 4);
    else if (id && id < session->next_ping_id) /* one that we did not send is passed over */
        *event = (spdy_event){.type = SPDY_EVENT_PING_ANSWERED, .ping_id = id};
}

static void end_streams_after(spdy_session *session, uint32_t last_good_id)
{
    size_t i;

    for (i = 0; i < SPDY_STREAM_CHAINS; i++) {
        spdy_stream *stream = session->streams.chains[i];

        while (stream) {
            spdy_stream *next = stream->chain;

            if (stream->ours && stream->id > last_good_id)
                spdy_enter(session, stream, SPDY_STATE_OVER);
            if (session->over)
                return;
            stream = next;
        }
    }
}

static void receive_goaway(spdy_session *session, spdy_event *event)
{
    uint32_t last_good_id = spdy_get_32(session->reader.bytes) & SPDY_ID_MASK;
    uint32_t status = session->reader.need < 8 ? 0 : spdy_get_32(session->reader.bytes + 4);

    if (session->goaway_received && !spdy_count_habit(session, SPDY_HABIT_EMPTY))
        return;
    session->goaway_received = true;
    *event = (spdy_event){.type = SPDY_EVENT_GOAWAY, .stream_id = last_good_id, .status = status};
    end_streams_after(session, last_good_id);
}

static void begin_settings(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;

    if (!spdy_count_habit(session, SPDY_HABIT_SETTINGS))
        return;
    reader->entries_left = spdy_get_32(reader->bytes);
    reader->seen_ids = 0;
    if (reader->entries_left > session->limits.settings_entries) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "too many entries in SETTINGS");
    } else if (reader->left != 8 * reader->entries_left) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "SETTINGS of another length than its entries have");
    } else if (!reader->entries_left) {
        spdy_next_frame(session);
        *event = (spdy_event){.type = SPDY_EVENT_SETTINGS};
    } else {
        reader->phase = SPDY_PHASE_SETTINGS;
        reader->have = 0;
        reader->need = 8;
    }
}

static void apply_setting(spdy_session *session, uint32_t id, uint32_t value)
{
    if (id == SPDY_SETTING_MAX_CONCURRENT_STREAMS) {
        session->peer_most_streams = value;
    } else if (id == SPDY_SETTING_INITIAL_WINDOW_SIZE && spdy_has_stream_windows(session)) {
        if (value > INT32_MAX || !spdy_flow_initial_window(session, value))
            spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "INITIAL_WINDOW_SIZE makes a window larger than 2^31");
    }
}

/* Flags of persistence are a client's affair; a server has to ignore them. */
void spdy_receive_setting(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    uint32_t id = spdy_setting_read_id(session->version, reader->bytes);
    uint32_t bit = id < 32 ? (uint32_t)1 << id : 0;

    if (!(reader->seen_ids & bit))
        apply_setting(session, id, spdy_get_32(reader->bytes + 4));
    reader->seen_ids |= bit;
    reader->have = 0;
    if (session->over || --reader->entries_left)
        return;
    spdy_next_frame(session);
    *event = (spdy_event){.type = SPDY_EVENT_SETTINGS};
}

void spdy_receive_fixed(spdy_session *session, spdy_event *event)
{
    unsigned type = session->reader.head.type;
    const uint8_t *bytes = session->reader.bytes;

    if (has_header_block(type)) {
        spdy_begin_block(session);
        return;
    }
    if (type == SPDY_FRAME_SETTINGS) {
        begin_settings(session, event);
        return;
    }
    if (type == SPDY_FRAME_RST_STREAM)
        receive_reset(session, event);
    else if (type == SPDY_FRAME_PING)
        receive_ping(session, event);
    else if (type == SPDY_FRAME_GOAWAY)
        receive_goaway(session, event);
    else
        spdy_flow_window_update(session, spdy_get_32(bytes) & SPDY_ID_MASK, spdy_get_32(bytes + 4) & SPDY_ID_MASK, event);
    spdy_next_frame(session);
}
