/* The peer's bytes as they are, in one piece and again in small pieces: the
 * same events and the same output have to come of both. */
#include "fuzzers.h"
#include "spdy_session.h"

#include <stdlib.h>
#include <string.h>

/* A sum over all that came of the bytes. */
static uint64_t add(uint64_t sum, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    for (; length; length--)
        sum = (sum ^ *from++) * 0x100000001b3u;
    return sum;
}

static uint64_t add_event(uint64_t sum, const spdy_event *event)
{
    const uint32_t numbers[] = {event->type, event->stream_id, event->status, event->associated_id, event->priority,
                                event->fin};
    size_t i;

    for (i = 0; i < event->header_count; i++) {
        sum = add(sum, event->headers[i].name.bytes, event->headers[i].name.length);
        sum = add(sum, event->headers[i].value.bytes, event->headers[i].value.length);
    }
    if (event->type != SPDY_EVENT_DATA) /* which comes in other pieces */
        sum = add(sum, numbers, sizeof numbers);
    return add(sum, event->data.bytes, event->data.length);
}

static uint64_t run(spdy_role role, spdy_version version, size_t piece, const uint8_t *bytes, size_t length)
{
    spdy_session *session = spdy_session_new(role, version, NULL);
    uint64_t sum = 0;
    const uint8_t *output;
    size_t output_length;

    if (!session)
        abort();
    for (;;) {
        spdy_event event;
        size_t given = length < piece ? length : piece;
        size_t taken = spdy_session_receive(session, bytes, given, &event);

        if (taken > given)
            abort();
        bytes += taken;
        length -= taken;
        if (event.type != SPDY_EVENT_NONE)
            sum = add_event(sum, &event);
        if (event.type == SPDY_EVENT_NONE && !length)
            break;
    }
    if (spdy_session_output(session, &output, &output_length))
        sum = add(sum, output, output_length);
    spdy_session_free(session);
    return sum;
}

int spdy_fuzz_session(const uint8_t *bytes, size_t length)
{
    spdy_version version;
    spdy_role role;
    size_t piece;

    if (!length)
        return 0;
    version = bytes[0] % 3;
    role = bytes[0] & 0x80 ? SPDY_ROLE_CLIENT : SPDY_ROLE_SERVER;
    piece = 1 + (bytes[0] >> 2) % 16;
    if (run(role, version, SIZE_MAX, bytes + 1, length - 1) != run(role, version, piece, bytes + 1, length - 1))
        abort();
    return 0;
}

FUZZ_ALONE_WITH(spdy_fuzz_session)
