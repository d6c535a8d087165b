/* Peers that mean no good. */
#include "block.h"
#include "check.h"
#include "memory.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static peer *strict(spdy_version version)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.concurrent_streams = 2;
    limits.header_compressed_bytes = 2000;
    limits.header_expanded_bytes = 3000;
    limits.header_hard_bytes = 10000;
    limits.headers = 5;
    limits.settings_entries = 3;
    limits.period_pings = 3;
    limits.period_resets = 3;
    limits.period_faults = 3;
    limits.period_settings = 3;
    limits.period_empty = 3;
    limits.period_headers = 3;
    limits.period_refused = 3;
    at = peer_new(SPDY_ROLE_SERVER, version, &limits);
    peer_forget(at);
    return at;
}

TEST(streams_beyond_the_limit_are_refused)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *at = strict(all_versions[version]);

        peer_open(at, 1, 0, 0);
        peer_open(at, 3, 0, 0);
        peer_forget(at);
        peer_open(at, 5, 0, 0);
        peer_expect_reset(at, 5, SPDY_STATUS_REFUSED_STREAM);
        peer_send_data(at, 5, SPDY_FLAG_FIN, "late", 4); /* sent before it knew */
        peer_expect_silence(at);
        CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
        peer_open(at, 7, 0, 0);
        CHECK_EQUAL(peer_event(at).event.stream_id, 7);
        peer_free(at);
    }
}

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
    peer *at = strict(SPDY_VERSION_3);
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
        peer *at = strict(all_versions[version]);

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
    peer *at = strict(SPDY_VERSION_3);

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
    peer *at = strict(SPDY_VERSION_3);

    peer_send_headers(at, SPDY_FRAME_SYN_STREAM, 1, 0, six, 6);
    peer_expect_reset(at, 1, SPDY_STATUS_FRAME_TOO_LARGE);
    peer_send_headers(at, SPDY_FRAME_SYN_STREAM, 3, 0, six, 5);
    CHECK_EQUAL(peer_event(at).event.header_count, 5);
    peer_free(at);
}

TEST(blocks_against_the_rules_end_their_stream)
{
    peer *at = strict(SPDY_VERSION_3);

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
        peer *at = strict(all_versions[version]);
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

typedef void nuisance(peer *at, unsigned turn);

static void ping(peer *at, unsigned turn)
{
    (void)turn;
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\1", 4);
}

static void rapid_reset(peer *at, unsigned turn)
{
    peer_open(at, 2 * turn + 1, 0, SPDY_FLAG_FIN);
    peer_reset(at, 2 * turn + 1, SPDY_STATUS_CANCEL);
}

static void fault(peer *at, unsigned turn)
{
    peer_send_data(at, 2 * turn + 101, 0, "x", 1);
}

static void settings(peer *at, unsigned turn)
{
    peer_setting(at, SPDY_SETTING_ROUND_TRIP_TIME, turn);
}

static void noop(peer *at, unsigned turn)
{
    (void)turn;
    peer_send_control(at, SPDY_FRAME_NOOP, 0, NULL, 0);
}

static void empty_data(peer *at, unsigned turn)
{
    if (!turn)
        peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, NULL, 0);
}

static void more_headers(peer *at, unsigned turn)
{
    size_t count;
    const spdy_header *headers = small_headers(&count);

    if (!turn)
        peer_open(at, 1, 0, 0);
    peer_send_headers(at, SPDY_FRAME_HEADERS, 1, 0, headers, count);
}

static void refused(peer *at, unsigned turn)
{
    if (!turn) {
        peer_open(at, 1, 0, 0);
        peer_open(at, 3, 0, 0);
    }
    peer_open(at, 2 * turn + 5, 0, 0);
}

/* Three times in a period are borne, the fourth is too much. */
static void check_nuisance(nuisance *does)
{
    peer *at = strict(SPDY_VERSION_2);
    unsigned turn;

    for (turn = 0; turn < 9; turn++) {
        if (turn % 3 == 0)
            spdy_session_clock(at->session, turn / 3 * 10000u);
        does(at, turn);
        CHECK(!spdy_session_over(at->session));
    }
    spdy_session_clock(at->session, 29999);
    does(at, turn);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(nuisances_are_borne_so_often_in_a_period)
{
    check_nuisance(ping);
    check_nuisance(rapid_reset);
    check_nuisance(fault);
    check_nuisance(settings);
    check_nuisance(noop);
    check_nuisance(empty_data);
    check_nuisance(more_headers);
    check_nuisance(refused);
}

TEST(refused_streams_are_counted_apart_from_faults)
{
    spdy_limits limits;
    peer *at;
    uint32_t id;

    spdy_limits_default(&limits);
    limits.concurrent_streams = 0;
    limits.period_faults = 1;
    limits.period_refused = 10;
    at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, &limits);
    for (id = 1; id < 21; id += 2)
        peer_open(at, id, 0, 0);
    CHECK(!spdy_session_over(at->session));
    peer_forget(at);
    peer_open(at, id, 0, 0);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(late_frames_for_ended_streams_are_no_nuisance)
{
    peer *at = strict(SPDY_VERSION_3);
    unsigned i;

    peer_open(at, 1, 0, SPDY_FLAG_FIN);
    CHECK_EQUAL(reply(at->session, 1, true), SPDY_OK);
    peer_open(at, 3, 0, 0);
    CHECK_EQUAL(spdy_stream_reset(at->session, 3, SPDY_STATUS_CANCEL), SPDY_OK);
    peer_forget(at);
    for (i = 0; i < 100; i++) {
        peer_window(at, 1, 1000);
        peer_reset(at, 1, SPDY_STATUS_CANCEL);
        peer_send_data(at, 3, 0, "x", 1);
    }
    peer_expect_silence(at);
    CHECK(!spdy_session_over(at->session));
    peer_free(at);
}

TEST(a_peer_that_does_not_read_is_given_up)
{
    spdy_limits limits;
    spdy_session *session;
    spdy_event event;
    unsigned sent = 0;

    spdy_limits_default(&limits);
    limits.output_bytes = 1000;
    limits.period_pings = 1000000;
    session = spdy_session_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, &limits);
    do {
        spdy_session_receive(session, "\x80\3\0\6\0\0\0\4\0\0\0\1", 12, &event);
        CHECK(++sent < 200);
    } while (event.type == SPDY_EVENT_NONE);
    CHECK_EQUAL(event.type, SPDY_EVENT_SESSION_ERROR);
    CHECK(sent > 50);
    spdy_session_free(session);
}

TEST(many_entries_in_settings_end_the_session)
{
    peer *at = strict(SPDY_VERSION_3);
    uint8_t payload[36] = {0, 0, 0, 4};

    peer_send_control(at, SPDY_FRAME_SETTINGS, 0, payload, sizeof payload);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(of_several_values_of_one_setting_the_first_counts)
{
    static const uint8_t payload[] = {0, 0, 0, 3, 1, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 8, 2, 0, 0, 77, 0, 0, 0, 1};
    peer *at = strict(SPDY_VERSION_3);

    peer_send_control(at, SPDY_FRAME_SETTINGS, SPDY_FLAG_FIN, payload, sizeof payload);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_SETTINGS);
    CHECK_EQUAL(spdy_session_peer_streams(at->session), 9);
    peer_setting(at, SPDY_SETTING_MAX_CONCURRENT_STREAMS, 7); /* of several frames the last */
    CHECK_EQUAL(spdy_session_peer_streams(at->session), 7);
    peer_free(at);
}

TEST(client_certificates_are_not_supported)
{
    static const uint8_t fixed[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    peer *at = strict(SPDY_VERSION_3);

    peer_send_control(at, SPDY_FRAME_SYN_STREAM, 0, fixed, sizeof fixed);
    peer_expect_reset(at, 1, SPDY_STATUS_INVALID_CREDENTIALS);
    peer_free(at);
    at = strict(SPDY_VERSION_3_1); /* which knows no slots */
    peer_send_control(at, SPDY_FRAME_SYN_STREAM, 0, fixed, sizeof fixed);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_OPENED);
    peer_free(at);
}

TEST(data_of_spdy_2_may_not_be_compressed)
{
    peer *at = strict(SPDY_VERSION_2);

    peer_open(at, 1, 0, 0);
    peer_forget(at);
    peer_send_data(at, 1, SPDY_FLAG_COMPRESSED, "zlib", 4);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_STREAM_FAILED);
    peer_expect_reset(at, 1, SPDY_STATUS_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(limits_the_protocol_forbids_are_moved_to_what_it_allows)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.stream_window_bytes = 0;
    limits.session_window_bytes = 1;
    limits.data_frame_bytes = UINT32_MAX;
    at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3_1, &limits);
    CHECK_EQUAL(spdy_get_32(peer_expect(at, SPDY_FRAME_SETTINGS).payload + 16), 1);
    peer_expect_silence(at); /* the session's window is the draft's */
    peer_free(at);
}

static void check_blame_ends(spdy_blame blame)
{
    static const char data[40000];
    peer *at = strict(SPDY_VERSION_3_1);
    unsigned i;

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, data, sizeof data);
    peer_forget(at);
    for (i = 0; i < 3; i++)
        spdy_session_blame(at->session, blame);
    CHECK(!spdy_session_over(at->session));
    spdy_session_blame(at->session, blame);
    spdy_session_blame(at->session, blame); /* over already: nothing more */
    spdy_stream_consumed(at->session, 1, sizeof data);
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_SESSION_OVER);
    peer_send(at, "", 0);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(what_the_caller_had_to_refuse_counts)
{
    check_blame_ends(SPDY_BLAME_FAULT);
    check_blame_ends(SPDY_BLAME_REFUSED);
}
