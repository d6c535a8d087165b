#include "session.h"

#include "memory.h"

#include <string.h>

void spdy_limits_default(spdy_limits *limits)
{
    *limits = (spdy_limits){
        .concurrent_streams = 100,
        .stream_window_bytes = SPDY_DRAFT_WINDOW_BYTES,
        .session_window_bytes = 4 * SPDY_DRAFT_WINDOW_BYTES,
        .data_frame_bytes = 8192,
        .scheduling = SPDY_BY_PRIORITY,
        .header_compression = 9,
        .header_compressed_bytes = 65536,
        .header_expanded_bytes = 65536,
        .header_hard_bytes = 262144,
        .headers = 200,
        .settings_entries = 64,
        .output_bytes = 1048576,
        .period_ms = 10000,
        .period_pings = 200,
        .period_resets = 400,
        .period_faults = 400,
        .period_settings = 50,
        .period_empty = 1000,
        .period_headers = 200,
        .period_refused = 400,
    };
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* What the protocol itself does not allow is moved to what it does. */
static spdy_limits sound(const spdy_limits *wanted)
{
    spdy_limits limits;

    spdy_limits_default(&limits);
    if (wanted)
        limits = *wanted;
    limits.stream_window_bytes = within(limits.stream_window_bytes, 1, INT32_MAX);
    limits.session_window_bytes = within(limits.session_window_bytes, SPDY_DRAFT_WINDOW_BYTES, INT32_MAX);
    limits.data_frame_bytes = within(limits.data_frame_bytes, 1, SPDY_MOST_PAYLOAD_BYTES);
    limits.header_compression = within(limits.header_compression, 0, 9);
    limits.header_hard_bytes = within(limits.header_hard_bytes, limits.header_expanded_bytes, UINT32_MAX);
    return limits;
}

static bool start(spdy_session *session)
{
    return spdy_expander_start(&session->expander, session->version) &&
           spdy_compressor_start(&session->compressor, session->version, (int)session->limits.header_compression) &&
           spdy_write_settings(session) == SPDY_OK;
}

spdy_session *spdy_session_new(spdy_role role, spdy_version version, const spdy_limits *limits)
{
    spdy_session *session = spdy_memory_get(sizeof *session);

    if (!session)
        return NULL;
    session->role = role;
    session->version = version;
    session->limits = sound(limits);
    session->schedule.policy = session->limits.scheduling;
    session->send_window = SPDY_DRAFT_WINDOW_BYTES;
    session->receive_window = session->limits.session_window_bytes;
    session->peer_initial_window = version == SPDY_VERSION_2 ? INT32_MAX : SPDY_DRAFT_WINDOW_BYTES;
    session->peer_most_streams = UINT32_MAX;
    spdy_next_frame(session);
    if (!start(session)) {
        spdy_session_free(session);
        return NULL;
    }
    return session;
}

void spdy_session_free(spdy_session *session)
{
    if (!session)
        return;
    spdy_expander_end(&session->expander);
    spdy_compressor_end(&session->compressor);
    spdy_streams_free(&session->streams);
    spdy_header_list_free(&session->headers);
    spdy_buffer_free(&session->expanded);
    spdy_buffer_free(&session->block);
    spdy_buffer_free(&session->output);
    spdy_memory_give_back(session);
}

size_t spdy_session_streams(const spdy_session *session)
{
    return session->streams.ours + session->streams.theirs;
}

bool spdy_session_over(const spdy_session *session)
{
    return session->over ||
           ((session->goaway_sent || session->goaway_received) && !spdy_session_streams(session));
}

uint32_t spdy_session_peer_streams(const spdy_session *session)
{
    return session->peer_most_streams;
}

int64_t spdy_session_send_window(const spdy_session *session)
{
    return spdy_has_session_window(session) ? session->send_window : INT32_MAX;
}

int64_t spdy_stream_send_window(const spdy_session *session, uint32_t stream_id)
{
    const spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    return stream ? stream->send_window : 0;
}

bool spdy_stream_is_open(const spdy_session *session, uint32_t stream_id)
{
    return spdy_streams_find(&session->streams, stream_id) != NULL;
}

void spdy_stream_set_context(spdy_session *session, uint32_t stream_id, void *context)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);

    if (stream)
        stream->context = context;
}

void spdy_session_clock(spdy_session *session, uint64_t now_ms)
{
    if (now_ms - session->period_began_ms < session->limits.period_ms)
        return;
    session->period_began_ms = now_ms;
    memset(session->habits, 0, sizeof session->habits);
}

spdy_totals spdy_session_totals(const spdy_session *session)
{
    return session->totals;
}
