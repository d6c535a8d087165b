/* The peer's bytes, in pieces of any size, to frames. */
#include "session.h"

#include <string.h>

void spdy_next_frame(spdy_session *session)
{
    session->reader.phase = SPDY_PHASE_HEAD;
    session->reader.have = 0;
    session->reader.need = SPDY_HEAD_BYTES;
}

static void begin_frame(spdy_session *session, spdy_event *event)
{
    spdy_reader *reader = &session->reader;

    reader->head = spdy_head_read(reader->bytes);
    reader->left = reader->head.length;
    reader->have = 0;
    if (!reader->head.control) {
        spdy_begin_data(session, event);
    } else if (reader->head.version != spdy_wire_version(session->version)) {
        /* Its header block might need a compression that is not ours: there is no way on. */
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "control frame of another SPDY version");
    } else {
        spdy_begin_control(session);
    }
}

/* Collects the few bytes that a phase needs together. */
static size_t collect(spdy_reader *reader, const uint8_t *bytes, size_t length)
{
    size_t wanted = reader->need - reader->have;
    size_t taken = length < wanted ? length : wanted;

    if (taken)
        memcpy(reader->bytes + reader->have, bytes, taken);
    reader->have += taken;
    return taken;
}

static size_t receive_collected(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event)
{
    spdy_reader *reader = &session->reader;
    spdy_phase phase = reader->phase;
    size_t taken = collect(reader, bytes, length);

    if (phase != SPDY_PHASE_HEAD)
        reader->left -= (uint32_t)taken;
    if (reader->have < reader->need)
        return taken;
    if (phase == SPDY_PHASE_HEAD)
        begin_frame(session, event);
    else if (phase == SPDY_PHASE_FIXED)
        spdy_receive_fixed(session, event);
    else
        spdy_receive_setting(session, event);
    return taken;
}

static size_t skip(spdy_session *session, size_t length)
{
    spdy_reader *reader = &session->reader;
    size_t taken = length < reader->left ? length : reader->left;

    reader->left -= (uint32_t)taken;
    if (!reader->left)
        spdy_next_frame(session);
    return taken;
}

static size_t receive_step(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event)
{
    if (session->reader.phase == SPDY_PHASE_BLOCK)
        return spdy_receive_block(session, bytes, length, event);
    if (session->reader.phase == SPDY_PHASE_DATA)
        return spdy_receive_data(session, bytes, length, event);
    return session->reader.phase == SPDY_PHASE_SKIP ? skip(session, length)
                                                    : receive_collected(session, bytes, length, event);
}

/* Can the phase go on without further bytes? */
static bool waits_for_bytes(const spdy_reader *reader)
{
    return reader->phase <= SPDY_PHASE_SETTINGS ? reader->have < reader->need : reader->left > 0;
}

size_t spdy_session_receive(spdy_session *session, const void *bytes, size_t length, spdy_event *event)
{
    const uint8_t *from = bytes;
    size_t taken = 0;

    *event = (spdy_event){.type = SPDY_EVENT_NONE};
    if (session->reader.phase != SPDY_PHASE_BLOCK)
        spdy_buffer_clear(&session->expanded); /* what the last event pointed at */
    while (!session->over && event->type == SPDY_EVENT_NONE) {
        if (taken == length && waits_for_bytes(&session->reader))
            break;
        taken += receive_step(session, length ? from + taken : NULL, length - taken, event);
    }
    if (!session->over || event->type != SPDY_EVENT_NONE)
        return taken;
    if (!session->told)
        spdy_tell_session_error(session, event);
    return length; /* nothing of it matters any more */
}
