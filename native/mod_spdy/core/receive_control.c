/* Control frames of the peer: how each type looks, and those without a header block. */
#include "session.h"

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

/* One with a number of ours would answer one of ours: we send none. */
static void receive_ping(spdy_session *session, spdy_event *event)
{
    (void)event;
    if (spdy_count_habit(session, SPDY_HABIT_PING) && !spdy_is_own_id(session, spdy_get_32(session->reader.bytes)))
        spdy_write_control(session, SPDY_FRAME_PING, 0, session->reader.bytes, 4);
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
            stream = next;
        }
    }
}

static void receive_goaway(spdy_session *session, spdy_event *event)
{
    uint32_t last_good_id = spdy_get_32(session->reader.bytes) & SPDY_ID_MASK;
    uint32_t status = session->version == SPDY_VERSION_2 ? 0 : spdy_get_32(session->reader.bytes + 4);

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

/* What follows the fixed part is the business of `receive`, which is called when that has come; else it is skipped. */
static const struct frame_kind {
    size_t fixed_bytes[2]; /* in SPDY/2, and since SPDY/3 */
    size_t most_bytes;     /* of the whole payload */
    spdy_version since;
    void (*receive)(spdy_session *session, spdy_event *event);
} kinds[] = {
    [SPDY_FRAME_SYN_STREAM] = {{10, 10}, SPDY_MOST_PAYLOAD_BYTES, SPDY_VERSION_2, spdy_begin_block},
    [SPDY_FRAME_SYN_REPLY] = {{6, 4}, SPDY_MOST_PAYLOAD_BYTES, SPDY_VERSION_2, spdy_begin_block},
    [SPDY_FRAME_RST_STREAM] = {{8, 8}, 8, SPDY_VERSION_2, receive_reset},
    [SPDY_FRAME_SETTINGS] = {{4, 4}, SPDY_MOST_PAYLOAD_BYTES, SPDY_VERSION_2, begin_settings},
    [SPDY_FRAME_PING] = {{4, 4}, 4, SPDY_VERSION_2, receive_ping},
    /* SPDY/2 has no status; some of its peers send SPDY/3's all the same. */
    [SPDY_FRAME_GOAWAY] = {{4, 8}, 8, SPDY_VERSION_2, receive_goaway},
    [SPDY_FRAME_HEADERS] = {{6, 4}, SPDY_MOST_PAYLOAD_BYTES, SPDY_VERSION_2, spdy_begin_block},
    [SPDY_FRAME_WINDOW_UPDATE] = {{8, 8}, 8, SPDY_VERSION_3, spdy_flow_window_update},
};

size_t spdy_fixed_bytes(spdy_version version, spdy_frame_type type)
{
    return kinds[type].fixed_bytes[version != SPDY_VERSION_2];
}

static bool is_known(const spdy_session *session, unsigned type)
{
    return type < sizeof kinds / sizeof kinds[0] && kinds[type].receive && session->version >= kinds[type].since;
}

void spdy_begin_control(spdy_session *session)
{
    spdy_reader *reader = &session->reader;
    unsigned type = reader->head.type;

    reader->phase = SPDY_PHASE_SKIP;
    if (!is_known(session, type)) {
        spdy_count_habit(session, SPDY_HABIT_EMPTY);
        return;
    }
    reader->phase = SPDY_PHASE_FIXED;
    reader->need = spdy_fixed_bytes(session->version, type);
    if (reader->left < reader->need || reader->left > kinds[type].most_bytes)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "control frame of a wrong length");
}

void spdy_receive_fixed(spdy_session *session, spdy_event *event)
{
    session->reader.phase = SPDY_PHASE_SKIP;
    kinds[session->reader.head.type].receive(session, event);
}
