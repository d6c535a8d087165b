/* Header blocks that are too large, or against the rules. */
#include "block.h"
#include "check.h"
#include "memory.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

/* One that cannot be compressed becomes more by it. */
static char *new_value(size_t length, bool compressible)
{
    char *value = malloc(length + 1);
    uint32_t random = 1;
    size_t i;

    for (i = 0; i < length; i++) {
        random = random * 1664525 + 1013904223;
        value[i] = compressible ? 'x' : (char)(random >> 24 | 1);
    }
    value[length] = 0;
    return value;
}

static spdy_result reply_with_value(peer *at, size_t length)
{
    char *value = new_value(length, false);
    spdy_header header = {{"a", 1}, {value, length}};
    spdy_result result = spdy_stream_reply(at->session, 1, &header, 1, true);

    free(value);
    return result;
}

TEST(a_header_block_that_compression_makes_larger_fits_into_its_frame)
{
    peer *at = peer_strict(SPDY_VERSION_3);
    const uint8_t *bytes;
    size_t length;

    peer_open(at, 1, 0, SPDY_FLAG_FIN);
    peer_forget(at);
    CHECK_EQUAL(reply_with_value(at, 0xffff00), SPDY_TOO_LARGE);
    CHECK_EQUAL(reply_with_value(at, 0xefff00), SPDY_OK);
    CHECK(spdy_session_output(at->session, &bytes, &length));
    CHECK(length > 0xf00000);
    CHECK_EQUAL(spdy_get_24(bytes + 5) + SPDY_HEAD_BYTES, length);
    peer_free(at);
}

static void open_with_value(peer *at, uint32_t id, size_t length, bool compressible)
{
    char *value = new_value(length, compressible);
    spdy_header large = header("large", value);

    large.value.length = length;
    peer_send_headers(at, SPDY_FRAME_SYN_STREAM, id, SPDY_FLAG_FIN, &large, 1);
    free(value);
}

/* peer_send_headers writes SYN_STREAM's number alone; the other fixed bytes are zero. */
TEST(header_blocks_beyond_the_limits_end_only_their_stream)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *at = peer_strict(all_versions[version]);

        open_with_value(at, 1, 4000, true); /* too large expanded */
        peer_expect_reset(at, 1, SPDY_STATUS_FRAME_TOO_LARGE);
        open_with_value(at, 3, 2500, false); /* too large as it comes */
        peer_expect_reset(at, 3, SPDY_STATUS_FRAME_TOO_LARGE);
        peer_expect_silence(at);
        open_with_value(at, 5, 1000, true); /* the compression has kept in step */
        CHECK_EQUAL(peer_event(at).event.header_count, 1);
        peer_free(at);
    }
}

TEST(a_block_that_expands_beyond_all_limits_ends_the_session)
{
    peer *at = peer_strict(SPDY_VERSION_3);

    open_with_value(at, 1, 20000, true);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

static size_t largest;

static void *watched(void *old, size_t bytes)
{
    largest = bytes > largest ? bytes : largest;
    return realloc(old, bytes);
}

/* Few bytes on the wire must not make an idle connection hold many. */
TEST(a_block_that_is_too_large_takes_no_more_memory_than_one_that_is_not)
{
    static char value[250000];
    static const uint8_t fixed[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    const spdy_header large = {text("large"), {value, sizeof value}};
    spdy_buffer block = {0}, payload = {0};
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);

    memset(value, 'x', sizeof value);
    peer_forget(at);
    CHECK_EQUAL(spdy_block_write(at->version, &large, 1, &block), SPDY_OK);
    CHECK(spdy_buffer_append(&payload, fixed, sizeof fixed));
    CHECK(spdy_compressor_add(&at->compressor, spdy_buffer_bytes(&block), spdy_buffer_length(&block), &payload));
    spdy_memory_source = watched;
    peer_send_control(at, SPDY_FRAME_SYN_STREAM, 0, spdy_buffer_bytes(&payload), spdy_buffer_length(&payload));
    spdy_memory_source = realloc;
    peer_expect_reset(at, 1, SPDY_STATUS_FRAME_TOO_LARGE);
    CHECK(largest <= 2 * 65536);
    peer_open(at, 3, 0, 0); /* the compression has kept in step */
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_OPENED);
    spdy_buffer_free(&block);
    spdy_buffer_free(&payload);
    peer_free(at);
}

TEST(too_many_headers_are_too_large)
{
    const spdy_header six[] = {header("a", ""), header("b", ""), header("c", ""),
                               header("d", ""), header("e", ""), header("f", "")};
    peer *at = peer_strict(SPDY_VERSION_3);

    peer_send_headers(at, SPDY_FRAME_SYN_STREAM, 1, 0, six, 6);
    peer_expect_reset(at, 1, SPDY_STATUS_FRAME_TOO_LARGE);
    peer_send_headers(at, SPDY_FRAME_SYN_STREAM, 3, 0, six, 5);
    CHECK_EQUAL(peer_event(at).event.header_count, 5);
    peer_free(at);
}

TEST(blocks_against_the_rules_end_their_stream)
{
    peer *at = peer_strict(SPDY_VERSION_3);

    peer_send_block(at, SPDY_FRAME_SYN_STREAM, 1, 0, "\0\0\0\1\0\0\0\1A\0\0\0\1b", 14);
    peer_expect_reset(at, 1, SPDY_STATUS_PROTOCOL_ERROR);
    peer_expect_silence(at);
    peer_open(at, 3, 0, 0);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_OPENED);
    peer_send_block(at, SPDY_FRAME_HEADERS, 3, 0, "\0\0\0\1\0\0\0\0\0\0\0\1b", 13);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_STREAM_FAILED);
    peer_expect_reset(at, 3, SPDY_STATUS_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(headers_without_a_block_are_no_headers)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *at = peer_strict(all_versions[version]);
        seen event;

        peer_open(at, 1, 0, 0);
        peer_forget(at);
        peer_send_control(at, SPDY_FRAME_HEADERS, SPDY_FLAG_FIN, "\0\0\0\1\0\0",
                          spdy_fixed_bytes(at->version, SPDY_FRAME_HEADERS));
        event = peer_event(at);
        CHECK_EQUAL(event.event.type, SPDY_EVENT_HEADERS);
        CHECK_EQUAL(event.event.header_count, 0);
        CHECK(event.event.fin);
        peer_free(at);
    }
}
