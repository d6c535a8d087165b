#include "peer.h"

#include "block.h"

#include <stdlib.h>
#include <string.h>

const spdy_version all_versions[3] = {SPDY_VERSION_2, SPDY_VERSION_3, SPDY_VERSION_3_1};

spdy_text text(const char *string)
{
    return (spdy_text){string, strlen(string)};
}

spdy_header header(const char *name, const char *value)
{
    return (spdy_header){text(name), text(value)};
}

const spdy_header *small_headers(size_t *count)
{
    static spdy_header headers[2];

    headers[0] = header("one", "1");
    headers[1] = header("two", "2");
    *count = 2;
    return headers;
}

spdy_result reply(spdy_session *session, uint32_t id, bool fin)
{
    size_t count;
    const spdy_header *headers = small_headers(&count);

    return spdy_stream_reply(session, id, headers, count, fin);
}

peer *peer_new(spdy_role role, spdy_version version, const spdy_limits *limits)
{
    peer *made = calloc(1, sizeof *made);

    made->version = version;
    made->session = spdy_session_new(role, version, limits);
    CHECK(made->session);
    CHECK(spdy_compressor_start(&made->compressor, version, 9));
    CHECK(spdy_expander_start(&made->expander, version));
    return made;
}

void peer_free(peer *at)
{
    spdy_session_free(at->session);
    spdy_compressor_end(&at->compressor);
    spdy_expander_end(&at->expander);
    spdy_buffer_free(&at->expanded);
    spdy_buffer_free(&at->output);
    free(at->events);
    free(at);
}

static void copy_text(char *to, size_t room, spdy_text from)
{
    size_t length = from.length < room - 1 ? from.length : room - 1;

    if (length)
        memcpy(to, from.bytes, length);
    to[length] = 0;
}

static void keep_event(peer *at, const spdy_event *event)
{
    seen *kept;
    size_t i;

    if (at->event_count == at->event_capacity) {
        at->event_capacity = at->event_capacity ? 2 * at->event_capacity : 4;
        at->events = realloc(at->events, at->event_capacity * sizeof *at->events);
    }
    kept = &at->events[at->event_count++];
    kept->event = *event;
    for (i = 0; i < event->header_count && i < 32; i++) {
        copy_text(kept->names[i], sizeof kept->names[i], event->headers[i].name);
        copy_text(kept->values[i], sizeof kept->values[i], event->headers[i].value);
    }
    copy_text(kept->data, sizeof kept->data, event->data);
}

void peer_collect_output(peer *at)
{
    const uint8_t *bytes;
    size_t length;

    while (spdy_session_output(at->session, &bytes, &length)) {
        CHECK(spdy_buffer_append(&at->output, bytes, length));
        spdy_session_output_sent(at->session, length);
    }
}

void peer_send(peer *at, const void *bytes, size_t length)
{
    const char *from = bytes;
    spdy_event event;

    do {
        size_t taken = spdy_session_receive(at->session, from, length, &event);

        CHECK(taken <= length);
        from += taken;
        length -= taken;
        if (event.type != SPDY_EVENT_NONE)
            keep_event(at, &event);
    } while (event.type != SPDY_EVENT_NONE);
    CHECK_EQUAL(length, 0);
    peer_collect_output(at);
}

void peer_send_control(peer *at, spdy_frame_type type, unsigned flags, const void *payload, size_t length)
{
    uint8_t *bytes = malloc(SPDY_HEAD_BYTES + length);

    spdy_head_write_control(at->version, type, flags, (uint32_t)length, bytes);
    if (length)
        memcpy(bytes + SPDY_HEAD_BYTES, payload, length);
    peer_send(at, bytes, SPDY_HEAD_BYTES + length);
    free(bytes);
}

void peer_send_data(peer *at, uint32_t id, unsigned flags, const void *bytes, size_t length)
{
    uint8_t *whole = malloc(SPDY_HEAD_BYTES + length);

    spdy_head_write_data(id, flags, (uint32_t)length, whole);
    if (length)
        memcpy(whole + SPDY_HEAD_BYTES, bytes, length);
    peer_send(at, whole, SPDY_HEAD_BYTES + length);
    free(whole);
}

static void send_block(peer *at, spdy_frame_type type, const uint8_t *fixed, unsigned flags, const void *block,
                       size_t length)
{
    spdy_buffer payload = {0};

    CHECK(spdy_buffer_append(&payload, fixed, spdy_fixed_bytes(at->version, type)));
    CHECK(spdy_compressor_add(&at->compressor, block, length, &payload));
    peer_send_control(at, type, flags, spdy_buffer_bytes(&payload), spdy_buffer_length(&payload));
    spdy_buffer_free(&payload);
}

void peer_send_block(peer *at, spdy_frame_type type, uint32_t id, unsigned flags, const void *block, size_t length)
{
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};

    spdy_put_32(fixed, id);
    send_block(at, type, fixed, flags, block, length);
}

void peer_send_headers(peer *at, spdy_frame_type type, uint32_t id, unsigned flags, const spdy_header *headers,
                       size_t count)
{
    spdy_buffer block = {0};

    CHECK_EQUAL(spdy_block_write(at->version, headers, count, &block), SPDY_OK);
    peer_send_block(at, type, id, flags, spdy_buffer_bytes(&block), spdy_buffer_length(&block));
    spdy_buffer_free(&block);
}

static void open_stream(peer *at, const uint8_t *fixed, unsigned flags)
{
    spdy_buffer block = {0};
    size_t count;
    const spdy_header *headers = small_headers(&count);

    CHECK_EQUAL(spdy_block_write(at->version, headers, count, &block), SPDY_OK);
    send_block(at, SPDY_FRAME_SYN_STREAM, fixed, flags, spdy_buffer_bytes(&block), spdy_buffer_length(&block));
    spdy_buffer_free(&block);
}

void peer_open(peer *at, uint32_t id, unsigned priority, unsigned flags)
{
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};

    spdy_put_32(fixed, id);
    fixed[8] = (uint8_t)(priority << (at->version == SPDY_VERSION_2 ? 6 : 5));
    open_stream(at, fixed, flags);
}

void peer_open_beside(peer *at, uint32_t id, uint32_t associated_id, unsigned flags)
{
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};

    spdy_put_32(fixed, id);
    spdy_put_32(fixed + 4, associated_id);
    open_stream(at, fixed, flags);
}

static void send_pair(peer *at, spdy_frame_type type, uint32_t id, uint32_t word)
{
    uint8_t payload[8];

    spdy_put_32(payload, id);
    spdy_put_32(payload + 4, word);
    peer_send_control(at, type, 0, payload, sizeof payload);
}

void peer_reset(peer *at, uint32_t id, spdy_status status)
{
    send_pair(at, SPDY_FRAME_RST_STREAM, id, status);
}

void peer_window(peer *at, uint32_t id, uint32_t delta)
{
    send_pair(at, SPDY_FRAME_WINDOW_UPDATE, id, delta);
}

void peer_setting(peer *at, uint32_t id, uint32_t value)
{
    uint8_t payload[12];

    spdy_put_32(payload, 1);
    spdy_setting_write_id(at->version, id, 0, payload + 4);
    spdy_put_32(payload + 8, value);
    peer_send_control(at, SPDY_FRAME_SETTINGS, 0, payload, sizeof payload);
}

spdy_result peer_data(peer *at, uint32_t id, const void *bytes, size_t length, bool fin)
{
    uint8_t head[SPDY_FRAME_HEAD_BYTES];
    spdy_result result;

    peer_collect_output(at);
    result = spdy_stream_data_head(at->session, id, length, fin, head);
    if (result == SPDY_OK)
        CHECK(spdy_buffer_append(&at->output, head, sizeof head) && spdy_buffer_append(&at->output, bytes, length));
    return result;
}

seen peer_event(peer *at)
{
    seen first = {0};

    if (!at->event_count)
        return first;
    first = at->events[0];
    at->event_count--;
    memmove(at->events, at->events + 1, at->event_count * sizeof *at->events);
    return first;
}

spdy_event_type peer_event_type(peer *at)
{
    return peer_event(at).event.type;
}

void peer_forget(peer *at)
{
    peer_collect_output(at);
    at->event_count = 0;
    spdy_buffer_clear(&at->output);
}

bool peer_frame(peer *at, frame *read)
{
    const uint8_t *bytes;
    size_t kept;

    peer_collect_output(at);
    if (spdy_buffer_length(&at->output) < SPDY_HEAD_BYTES) {
        CHECK_EQUAL(spdy_buffer_length(&at->output), 0);
        return false;
    }
    bytes = spdy_buffer_bytes(&at->output);
    memset(read, 0, sizeof *read);
    read->head = spdy_head_read(bytes);
    CHECK(spdy_buffer_length(&at->output) >= SPDY_HEAD_BYTES + read->head.length);
    kept = read->head.length < sizeof read->payload ? read->head.length : sizeof read->payload;
    memcpy(read->payload, bytes + SPDY_HEAD_BYTES, kept);
    read->id = read->head.control ? spdy_get_32(read->payload) : read->head.stream_id;
    read->word = spdy_get_32(read->payload + 4);
    spdy_buffer_take(&at->output, SPDY_HEAD_BYTES + read->head.length);
    return true;
}

frame peer_expect(peer *at, spdy_frame_type type)
{
    frame read;

    CHECK(peer_frame(at, &read));
    CHECK(read.head.control);
    CHECK_EQUAL(read.head.type, type);
    CHECK_EQUAL(read.head.version, spdy_wire_version(at->version));
    return read;
}

frame peer_expect_data(peer *at, uint32_t id, size_t length, bool fin)
{
    frame read;

    CHECK(peer_frame(at, &read));
    CHECK(!read.head.control);
    CHECK_EQUAL(read.id, id);
    CHECK_EQUAL(read.head.length, length);
    CHECK_EQUAL(read.head.flags, fin ? SPDY_FLAG_FIN : 0);
    return read;
}

void peer_expect_reset(peer *at, uint32_t id, spdy_status status)
{
    frame read = peer_expect(at, SPDY_FRAME_RST_STREAM);

    CHECK_EQUAL(read.head.length, 8);
    CHECK_EQUAL(read.id, id);
    if (at->version == SPDY_VERSION_2 && status > SPDY_STATUS_FLOW_CONTROL_ERROR)
        status = SPDY_STATUS_PROTOCOL_ERROR;
    CHECK_EQUAL(read.word, status);
}

void peer_expect_goaway(peer *at, uint32_t last_good_id, spdy_goaway_status status)
{
    frame read = peer_expect(at, SPDY_FRAME_GOAWAY);

    CHECK_EQUAL(read.id, last_good_id);
    CHECK_EQUAL(read.head.length, at->version == SPDY_VERSION_2 ? 4 : 8);
    if (at->version != SPDY_VERSION_2)
        CHECK_EQUAL(read.word, status);
}

void peer_expect_silence(peer *at)
{
    frame read;

    CHECK(!peer_frame(at, &read));
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_NONE);
}

void peer_expect_end(peer *at, spdy_goaway_status status)
{
    seen last = {0};
    frame read = {0};
    spdy_opening opening = {0};
    uint32_t id;

    while (at->event_count)
        last = peer_event(at);
    CHECK_EQUAL(last.event.type, SPDY_EVENT_SESSION_ERROR);
    CHECK_EQUAL(last.event.status, status);
    CHECK(last.event.reason);
    CHECK(last.event.ended);
    while (peer_frame(at, &read))
        ;
    CHECK_EQUAL(read.head.type, SPDY_FRAME_GOAWAY);
    if (at->version != SPDY_VERSION_2)
        CHECK_EQUAL(read.word, status);
    CHECK(spdy_session_over(at->session));
    CHECK_EQUAL(spdy_session_streams(at->session), 0);
    CHECK_EQUAL(reply(at->session, 1, false), SPDY_SESSION_OVER);
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_OK), SPDY_SESSION_OVER);
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_SESSION_OVER);
    peer_send_data(at, 1, 0, "more", 4);
    peer_expect_silence(at);
}
