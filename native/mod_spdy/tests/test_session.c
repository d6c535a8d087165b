/* Two sessions that talk, in each version: what one sends the other sees, however the bytes are cut. */
#include "check.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

/* Moves what `from` writes to `to`, in pieces. */
static void carry(peer *from, peer *to, size_t piece)
{
    const uint8_t *bytes;
    size_t length;

    peer_collect_output(from);
    bytes = spdy_buffer_bytes(&from->output);
    length = spdy_buffer_length(&from->output);
    while (length) {
        size_t part = length < piece ? length : piece;

        peer_send(to, bytes, part);
        bytes += part;
        length -= part;
    }
    spdy_buffer_clear(&from->output);
}

static void check_seen_header(const seen *event, size_t index, const char *name, const char *value)
{
    CHECK(index < event->event.header_count);
    CHECK_BYTES(event->names[index], strlen(event->names[index]), name, strlen(name));
    CHECK_BYTES(event->values[index], strlen(event->values[index]), value, strlen(value));
}

/* Data of a stream until its FIN, however many events they came in. */
static size_t gather(peer *at, char *data, bool *fin)
{
    size_t length = 0;

    *fin = false;
    while (!*fin && at->event_count && at->events[0].event.type == SPDY_EVENT_DATA) {
        seen event = peer_event(at);

        memcpy(data + length, event.data, event.event.data.length);
        length += event.event.data.length;
        *fin = event.event.fin;
    }
    return length;
}

static void check_data(peer *at, const char *should_be)
{
    char data[256];
    bool fin;
    size_t length = gather(at, data, &fin);

    CHECK_BYTES(data, length, should_be, strlen(should_be));
    CHECK(fin);
}

static void request(peer *client, uint32_t *id)
{
    const spdy_header headers[] = {header(":method", "POST"), header("cookie", "a=1"), header("cookie", "b=2")};
    spdy_opening opening = {.priority = 2};

    CHECK_EQUAL(spdy_stream_open(client->session, &opening, headers, 3, id), SPDY_OK);
    CHECK_EQUAL(peer_data(client, *id, "question", 8, false), SPDY_OK);
    CHECK_EQUAL(peer_data(client, *id, "!", 1, true), SPDY_OK);
}

static void check_request(peer *server, uint32_t id)
{
    seen event = peer_event(server);

    CHECK_EQUAL(event.event.type, SPDY_EVENT_OPENED);
    CHECK_EQUAL(event.event.stream_id, id);
    CHECK_EQUAL(event.event.priority, 2);
    CHECK_EQUAL(event.event.fin, false);
    check_seen_header(&event, 0, ":method", "POST");
    check_seen_header(&event, 1, "cookie", "a=1");
    check_seen_header(&event, 2, "cookie", "b=2");
    check_data(server, "question!");
}

static void answer(peer *server, uint32_t id)
{
    const spdy_header status = header("status", "200"), trailer = header("sum", "42");

    CHECK_EQUAL(spdy_stream_reply(server->session, id, &status, 1, false), SPDY_OK);
    CHECK_EQUAL(spdy_stream_headers(server->session, id, &trailer, 1, false), SPDY_OK);
    CHECK_EQUAL(peer_data(server, id, "answer", 6, true), SPDY_OK);
    CHECK(!spdy_stream_is_open(server->session, id));
}

static void check_answer(peer *client, uint32_t id)
{
    seen event = peer_event(client);

    CHECK_EQUAL(event.event.type, SPDY_EVENT_REPLY);
    CHECK_EQUAL(event.event.stream_id, id);
    check_seen_header(&event, 0, "status", "200");
    event = peer_event(client);
    CHECK_EQUAL(event.event.type, SPDY_EVENT_HEADERS);
    check_seen_header(&event, 0, "sum", "42");
    check_data(client, "answer");
    CHECK(!spdy_stream_is_open(client->session, id));
}

static void talk(spdy_version version, size_t piece)
{
    peer *client = peer_new(SPDY_ROLE_CLIENT, version, NULL);
    peer *server = peer_new(SPDY_ROLE_SERVER, version, NULL);
    uint32_t id;
    unsigned round;

    check_case("SPDY/%s in pieces of %zu bytes", spdy_version_name(version), piece);
    carry(client, server, piece);
    CHECK_EQUAL(peer_event_type(server), SPDY_EVENT_SETTINGS);
    carry(server, client, piece);
    CHECK_EQUAL(peer_event_type(client), SPDY_EVENT_SETTINGS);
    CHECK_EQUAL(spdy_session_peer_streams(client->session), 100);
    for (round = 0; round < 3; round++) {
        request(client, &id);
        CHECK_EQUAL(id, 2 * round + 1);
        carry(client, server, piece);
        check_request(server, id);
        answer(server, id);
        carry(server, client, piece);
        check_answer(client, id);
    }
    CHECK_EQUAL(spdy_session_totals(client->session).sent_header_bytes,
                spdy_session_totals(server->session).received_header_bytes);
    CHECK_EQUAL(spdy_session_totals(server->session).sent_header_wire_bytes,
                spdy_session_totals(client->session).received_header_wire_bytes);
    peer_free(client);
    peer_free(server);
}

TEST(requests_and_answers_in_pieces_of_every_size)
{
    size_t version, piece;

    for (version = 0; version < 3; version++) {
        for (piece = 1; piece < 200; piece++)
            talk(all_versions[version], piece);
        talk(all_versions[version], 1000000);
    }
}

/* Frames as they stand in the drafts, byte for byte. */
static void check_output(peer *at, const char *should_be, size_t length)
{
    peer_collect_output(at);
    CHECK_BYTES(spdy_buffer_bytes(&at->output), spdy_buffer_length(&at->output), should_be, length);
    spdy_buffer_clear(&at->output);
}
#define CHECK_OUTPUT(at, bytes) check_output(at, bytes, sizeof bytes - 1)

TEST(frames_of_spdy_2_byte_for_byte)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_2, NULL);

    CHECK_OUTPUT(at, "\x80\2\0\4\0\0\0\xc\0\0\0\1\4\0\0\0\0\0\0\x64");
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\3", 4);
    CHECK_OUTPUT(at, "\x80\2\0\6\0\0\0\4\0\0\0\3");
    peer_open(at, 1, 3, 0);
    CHECK_EQUAL(peer_event(at).event.priority, 3);
    CHECK_EQUAL(spdy_stream_reply(at->session, 1, NULL, 0, false), SPDY_OK);
    CHECK_EQUAL(peer_data(at, 1, "abc", 3, true), SPDY_OK);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_SYN_REPLY).payload[5], 0);
    CHECK_OUTPUT(at, "\0\0\0\1\1\0\0\3" "abc");
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
    CHECK_OUTPUT(at, "\x80\2\0\3\0\0\0\x8\0\0\0\1\0\0\0\5");
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_OK), SPDY_OK);
    CHECK_OUTPUT(at, "\x80\2\0\7\0\0\0\4\0\0\0\1");
    CHECK(spdy_session_over(at->session));
    peer_free(at);
}

TEST(frames_of_spdy_3_1_byte_for_byte)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.stream_window_bytes = 0x12345;
    limits.session_window_bytes = 0x20000;
    at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3_1, &limits);
    CHECK_OUTPUT(at, "\x80\3\0\4\0\0\0\x14\0\0\0\2\0\0\0\4\0\0\0\x64\0\0\0\7\0\1\x23\x45"
                     "\x80\3\0\x9\0\0\0\x8\0\0\0\0\0\1\0\0");
    peer_open(at, 1, 7, 0);
    CHECK_EQUAL(peer_event(at).event.priority, 7);
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_OK), SPDY_OK);
    CHECK_OUTPUT(at, "\x80\3\0\7\0\0\0\x8\0\0\0\1\0\0\0\0");
    CHECK(!spdy_session_over(at->session));
    peer_free(at);
}

/* A session ends with one error event whatever the broken bytes; here each of the rules. */
static void check_fatal(spdy_version version, const char *bytes, size_t length)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, version, NULL);

    check_case("SPDY/%s, %zu bytes %02x %02x %02x %02x %02x", spdy_version_name(version), length, bytes[0] & 255,
               bytes[1] & 255, bytes[2] & 255, bytes[3] & 255, bytes[4] & 255);
    peer_forget(at);
    peer_send(at, bytes, length);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}
#define FATAL(version, bytes) check_fatal(version, bytes, sizeof bytes - 1)

TEST(framing_errors_end_the_session)
{
    FATAL(SPDY_VERSION_3, "\x80\2\0\6\0\0\0\4\0\0\0\1");                     /* another version */
    FATAL(SPDY_VERSION_2, "\x80\3\0\6\0\0\0\4\0\0\0\1");
    FATAL(SPDY_VERSION_3, "\x80\3\0\6\0\0\0\5\0\0\0\1");                     /* PING of 5 bytes */
    FATAL(SPDY_VERSION_3, "\x80\3\0\3\0\0\0\7\0\0\0\1");                     /* RST_STREAM of 7 */
    FATAL(SPDY_VERSION_3, "\x80\3\0\3\0\0\0\x8\0\0\0\0\0\0\0\5");            /* for stream 0 */
    FATAL(SPDY_VERSION_3, "\x80\3\0\x9\0\0\0\x9");                           /* WINDOW_UPDATE of 9 */
    FATAL(SPDY_VERSION_3, "\x80\3\0\1\0\0\0\x9");                            /* SYN_STREAM too short */
    FATAL(SPDY_VERSION_3, "\x80\3\0\2\0\0\0\3");                             /* SYN_REPLY too short */
    FATAL(SPDY_VERSION_2, "\x80\2\0\x8\0\0\0\5");                            /* HEADERS too short */
    FATAL(SPDY_VERSION_3, "\x80\3\0\7\0\0\0\4");                             /* GOAWAY without status */
    FATAL(SPDY_VERSION_3, "\x80\3\0\4\0\0\0\x8\0\0\0\2\0\0\0\4");            /* SETTINGS lacks entries */
    FATAL(SPDY_VERSION_3, "\x80\3\0\4\0\0\0\5\0\0\0\0\0");                   /* SETTINGS with more */
    FATAL(SPDY_VERSION_3, "\x80\3\0\4\0\0\0\4\0\0\0\x65");                   /* SETTINGS of 101 entries */
    FATAL(SPDY_VERSION_3, "\x80\3\0\4\0\0\0\xc\0\0\0\1\0\0\0\7\x80\0\0\0");  /* window of 2^31 */
    FATAL(SPDY_VERSION_3, "\0\0\0\0\0\0\0\1");                               /* DATA for stream 0 */
    FATAL(SPDY_VERSION_3, "\x80\3\0\1\0\0\0\xa\0\0\0\0\0\0\0\0\0\0");        /* stream 0 */
    FATAL(SPDY_VERSION_3, "\x80\3\0\1\0\0\0\xa\0\0\0\2\0\0\0\0\0\0");        /* stream that is ours */
    FATAL(SPDY_VERSION_3, "\x80\3\0\1\0\0\0\xe\0\0\0\1\0\0\0\0\0\0zlib");    /* no zlib */
    FATAL(SPDY_VERSION_3_1, "\x80\3\0\x9\0\0\0\x8\0\0\0\0\0\0\0\0");         /* session's window by 0 */
    FATAL(SPDY_VERSION_3_1, "\x80\3\0\x9\0\0\0\x8\0\0\0\0\x7f\xff\xff\xff"); /* beyond 2^31 */
}

TEST(numbers_of_streams_only_grow)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);

    peer_open(at, 5, 0, SPDY_FLAG_FIN);
    peer_open(at, 7, 0, SPDY_FLAG_FIN);
    peer_forget(at);
    peer_open(at, 5, 0, SPDY_FLAG_FIN); /* lives: an error of this stream alone */
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_STREAM_FAILED);
    peer_expect_reset(at, 5, SPDY_STATUS_PROTOCOL_ERROR);
    CHECK(spdy_stream_is_open(at->session, 7));
    peer_open(at, 3, 0, SPDY_FLAG_FIN);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(unknown_frames_and_noop_are_passed_over)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *at = peer_new(SPDY_ROLE_SERVER, all_versions[version], NULL);

        peer_forget(at);
        peer_send_control(at, SPDY_FRAME_NOOP, 0, NULL, 0);
        peer_send_control(at, 1000, 0xff, "something", 9);
        peer_send_control(at, 10, 0, "CREDENTIAL", 10);
        peer_expect_silence(at);
        peer_open(at, 1, 0, 0);
        CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_OPENED);
        peer_free(at);
    }
}

TEST(pings_of_the_peer_are_answered_and_others_passed_over)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);

    peer_forget(at);
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\7", 4);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_PING).id, 7);
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\2", 4); /* even, but not sent by us */
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\0", 4);
    peer_expect_silence(at);
    peer_free(at);
}

TEST(contexts_are_kept_with_their_streams)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);
    int mine;

    peer_open(at, 1, 5, 0);
    spdy_stream_set_context(at->session, 1, &mine);
    peer_forget(at);
    peer_send_data(at, 1, 0, "x", 1);
    CHECK(peer_event(at).event.context == &mine);
    peer_reset(at, 1, SPDY_STATUS_CANCEL);
    CHECK(peer_event(at).event.context == &mine);
    peer_free(at);
}

TEST(output_may_be_taken_in_parts)
{
    spdy_session *session = spdy_session_new(SPDY_ROLE_SERVER, SPDY_VERSION_2, NULL);
    uint8_t taken[4096];
    const uint8_t *bytes;
    size_t length, have = 0;
    uint8_t ping[] = {0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0};
    spdy_event event;
    uint8_t round;

    for (round = 0; round < 100; round++) {
        ping[11] = 2 * round + 1;
        CHECK_EQUAL(spdy_session_receive(session, ping, sizeof ping, &event), sizeof ping);
        CHECK(spdy_session_output(session, &bytes, &length));
        length = length < 11 ? length : 11; /* a little less than comes in each round */
        memcpy(taken + have, bytes, length);
        have += length;
        spdy_session_output_sent(session, length);
    }
    CHECK(spdy_session_output(session, &bytes, &length));
    CHECK_EQUAL(have + length, 20 + 100 * 12);
    memcpy(taken + have, bytes, length);
    for (round = 0; round < 100; round++)
        CHECK_EQUAL(spdy_get_32(taken + 20 + 12 * round + 8), 2u * round + 1);
    spdy_session_free(session);
}
