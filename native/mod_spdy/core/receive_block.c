/* SYN_STREAM, SYN_REPLY and HEADERS of the peer.
 *
 * Their header blocks are always expanded, even where the stream is refused or
 * long gone: the compression of all later blocks builds on them. */
#include "session.h"

#include <string.h>

/* The fixed part is complete: reader->bytes. */
void spdy_begin_block(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    const uint8_t *fixed = reader->bytes;

    (void)event; /* follows when the block is whole */
    reader->stream_id = spdy_get_32(fixed) & SPDY_ID_MASK;
    reader->associated_id = 0;
    reader->priority = 0;
    reader->slot = 0;
    if (reader->head.type == SPDY_FRAME_SYN_STREAM) {
        reader->associated_id = spdy_get_32(fixed + 4) & SPDY_ID_MASK;
        reader->priority = session->version == SPDY_VERSION_2 ? fixed[8] >> 6 : fixed[8] >> 5;
        reader->slot = session->version == SPDY_VERSION_3 ? fixed[9] : 0;
    }
    if (!reader->stream_id) {
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "stream with the number 0");
        return;
    }
    reader->too_large = reader->left > session->limits.header_compressed_bytes;
    reader->expanded_bytes = 0;
    session->totals.received_header_wire_bytes += reader->left;
    spdy_buffer_clear(&session->expanded);
    reader->phase = SPDY_PHASE_BLOCK;
}

static spdy_event headers_event(const spdy_session *session, spdy_event_type type, const spdy_stream *stream)
{
    return (spdy_event){.type = type,
                        .stream_id = stream->id,
                        .context = stream->context,
                        .fin = session->reader.head.flags & SPDY_FLAG_FIN,
                        .headers = session->headers.headers,
                        .header_count = session->headers.count};
}

/* Is this SYN_STREAM's number one that the peer may use? Ends the session if not. */
static bool id_in_order(spdy_session *session, uint32_t stream_id)
{
    if (spdy_is_own_id(session, stream_id))
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "SYN_STREAM with a number that is ours to give");
    else if (stream_id < session->last_peer_id && !spdy_streams_find(&session->streams, stream_id))
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "SYN_STREAM with a number lower than one before");
    return !session->over;
}

static spdy_input opening_input(const spdy_head *head)
{
    spdy_input input = head->flags & SPDY_FLAG_UNIDIRECTIONAL ? SPDY_IN_OPEN_ONE_WAY : SPDY_IN_OPEN;

    return spdy_input_with_fin(input, head->flags & SPDY_FLAG_FIN);
}

/* What forbids a stream that is in order by its number and block; 0 if nothing. */
static spdy_status objection(const spdy_session *session, const char **reason)
{
    const spdy_reader *reader = &session->reader;

    if (reader->slot) {
        *reason = "client certificates are not supported";
        return SPDY_STATUS_INVALID_CREDENTIALS;
    }
    if (session->role == SPDY_ROLE_CLIENT && !spdy_streams_find(&session->streams, reader->associated_id)) {
        *reason = "pushed stream without an open stream it belongs to";
        return SPDY_STATUS_INVALID_STREAM;
    }
    if (session->streams.theirs >= session->limits.concurrent_streams) {
        *reason = "more streams than SETTINGS allow";
        return SPDY_STATUS_REFUSED_STREAM;
    }
    return 0;
}

static void accept_stream(spdy_session *session, spdy_state state, spdy_event *event)
{
    const spdy_reader *reader = &session->reader;
    spdy_stream *stream = spdy_streams_add(&session->streams, reader->stream_id, false);

    if (!stream) {
        spdy_no_memory(session);
        return;
    }
    stream->priority = reader->priority;
    stream->send_window = session->peer_initial_window;
    stream->receive_window = session->limits.stream_window_bytes;
    session->last_good_id = stream->id;
    *event = headers_event(session, SPDY_EVENT_OPENED, stream);
    event->priority = reader->priority;
    event->associated_id = reader->associated_id;
    event->unidirectional = reader->head.flags & SPDY_FLAG_UNIDIRECTIONAL;
    event->ended = spdy_enter(session, stream, state);
}

static void receive_syn_stream(spdy_session *session, const char *fault, spdy_status fault_status, spdy_event *event)
{
    const spdy_reader *reader = &session->reader;
    uint32_t id = reader->stream_id;
    spdy_step step;

    if (!id_in_order(session, id))
        return;
    step = spdy_state_step(spdy_state_of(session, id), opening_input(&reader->head));
    if (step.action != SPDY_ACTION_DO) {
        spdy_fail_stream(session, id, step.status, "second SYN_STREAM for a stream", event);
        return;
    }
    session->last_peer_id = id;
    if (session->goaway_sent) {
        spdy_streams_note(&session->streams, id, SPDY_STATE_CUT);
        spdy_count_habit(session, SPDY_HABIT_REFUSED);
        return;
    }
    if (!fault)
        fault_status = objection(session, &fault);
    if (fault)
        spdy_fail_stream(session, id, fault_status, fault, event);
    else
        accept_stream(session, step.next, event);
}

static void receive_more_headers(spdy_session *session, const char *fault, spdy_status fault_status, spdy_event *event)
{
    const spdy_reader *reader = &session->reader;
    bool reply = reader->head.type == SPDY_FRAME_SYN_REPLY;
    bool fin = reader->head.flags & SPDY_FLAG_FIN;
    spdy_input input = spdy_input_with_fin(reply ? SPDY_IN_REPLY : SPDY_IN_HEADERS, fin);
    spdy_step step = spdy_state_step(spdy_state_of(session, reader->stream_id), input);
    spdy_stream *stream = spdy_streams_find(&session->streams, reader->stream_id);

    if (!reply && !fin && !spdy_count_habit(session, SPDY_HABIT_HEADERS))
        return;
    if (step.action == SPDY_ACTION_RESET) {
        spdy_fail_stream(session, reader->stream_id, step.status,
                         reply ? "SYN_REPLY out of order" : "HEADERS out of order", event);
    } else if (step.action == SPDY_ACTION_PASS_OVER || !stream) {
        spdy_count_habit(session, SPDY_HABIT_EMPTY);
    } else if (fault) {
        spdy_fail_stream(session, reader->stream_id, fault_status, fault, event);
    } else {
        *event = headers_event(session, reply ? SPDY_EVENT_REPLY : SPDY_EVENT_HEADERS, stream);
        event->ended = spdy_enter(session, stream, step.next);
    }
}

/* Reads the expanded block into session->headers; says what is wrong with it, else NULL. */
static const char *read_block(spdy_session *session, spdy_status *status)
{
    spdy_block_fault fault;

    session->totals.received_header_bytes += session->reader.expanded_bytes;
    session->headers.count = 0;
    *status = SPDY_STATUS_FRAME_TOO_LARGE;
    if (session->reader.too_large)
        return "header block larger than the limit";
    if (session->reader.head.length == spdy_fixed_bytes(session->version, session->reader.head.type))
        return NULL; /* the draft lets the block lack when it would say that there are no headers */
    fault = spdy_block_read(session->version, spdy_buffer_bytes(&session->expanded), session->reader.expanded_bytes,
                            session->limits.headers, &session->headers);
    if (fault == SPDY_BLOCK_FINE)
        return NULL;
    if (fault == SPDY_BLOCK_NO_MEMORY)
        spdy_no_memory(session);
    if (fault != SPDY_BLOCK_TOO_MANY)
        *status = SPDY_STATUS_PROTOCOL_ERROR;
    return spdy_block_fault_text(fault);
}

/* The whole block is here. */
static void finish_block(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    spdy_status status;
    const char *fault = read_block(session, &status);

    if (session->over)
        return;
    spdy_next_frame(session);
    if (reader->head.type == SPDY_FRAME_SYN_STREAM)
        receive_syn_stream(session, fault, status, event);
    else
        receive_more_headers(session, fault, status, event);
}

/* Expands the bytes; false when the session has ended over them. Of a block that
 * is too large only its size still matters: an idle peer must not hold memory. */
static bool expand(spdy_session *session, const uint8_t *bytes, size_t length)
{
    spdy_reader *reader = &session->reader;
    spdy_expansion result;

    do {
        size_t used, before;

        if (reader->too_large)
            spdy_buffer_clear(&session->expanded);
        before = spdy_buffer_length(&session->expanded);
        result = spdy_expander_add(&session->expander, bytes, length, (size_t)session->limits.header_expanded_bytes + 1,
                                   &session->expanded, &used);
        bytes += used;
        length -= used;
        reader->expanded_bytes += spdy_buffer_length(&session->expanded) - before;
        reader->too_large = reader->too_large || result == SPDY_EXPANSION_FULL;
        if (reader->expanded_bytes > session->limits.header_hard_bytes)
            spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "header block expands beyond all limits");
    } while (result == SPDY_EXPANSION_FULL && !session->over);
    if (result == SPDY_EXPANSION_BROKEN)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "header block cannot be expanded");
    else if (result == SPDY_EXPANSION_NO_MEMORY)
        spdy_no_memory(session);
    return !session->over;
}

size_t spdy_receive_block(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    size_t taken = length < reader->left ? length : reader->left;

    if (taken && !expand(session, bytes, taken))
        return taken;
    reader->left -= (uint32_t)taken;
    if (!reader->left)
        finish_block(session, event);
    return taken;
}
