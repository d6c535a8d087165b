/* Push, GOAWAY, and memory that runs out. */
#include "check.h"
#include "memory.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static spdy_result push(peer *at, uint32_t associated_id, uint32_t *id)
{
    const spdy_header headers[] = {header(":path", "/pushed")};
    const spdy_opening opening = {.priority = 9, .associated_id = associated_id, .unidirectional = true};

    return spdy_stream_open(at->session, &opening, headers, 1, id);
}

TEST(a_server_pushes_beside_an_open_stream)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);
    uint32_t id;
    frame opening;

    peer_open(at, 1, 0, SPDY_FLAG_FIN);
    peer_forget(at);
    CHECK_EQUAL(push(at, 3, &id), SPDY_NO_SUCH_STREAM);
    CHECK_EQUAL(push(at, 1, &id), SPDY_OK);
    CHECK_EQUAL(id, 2);
    opening = peer_expect(at, SPDY_FRAME_SYN_STREAM);
    CHECK_EQUAL(opening.head.flags, SPDY_FLAG_UNIDIRECTIONAL);
    CHECK_EQUAL(opening.id, 2);
    CHECK_EQUAL(opening.word, 1);
    CHECK_EQUAL(opening.payload[8], 7 << 5); /* 9 is lower than the lowest */
    CHECK_EQUAL(spdy_stream_headers(at->session, id, NULL, 0, false), SPDY_OK);
    CHECK_EQUAL(peer_data(at, id, "x", 1, true), SPDY_OK);
    CHECK(!spdy_stream_is_open(at->session, id));
    CHECK_EQUAL(push(at, 1, &id), SPDY_OK);
    CHECK_EQUAL(id, 4);
    peer_reset(at, 4, SPDY_STATUS_CANCEL);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_RESET);
    CHECK_EQUAL(peer_data(at, id, "x", 1, true), SPDY_NO_SUCH_STREAM);
    peer_free(at);
}

TEST(no_more_is_pushed_than_the_client_allows)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3_1, NULL);
    uint32_t id;

    peer_open(at, 1, 0, 0);
    peer_setting(at, SPDY_SETTING_MAX_CONCURRENT_STREAMS, 1);
    CHECK_EQUAL(push(at, 1, &id), SPDY_OK);
    CHECK_EQUAL(push(at, 1, &id), SPDY_TOO_MANY);
    CHECK_EQUAL(spdy_stream_reset(at->session, id, SPDY_STATUS_CANCEL), SPDY_OK);
    CHECK_EQUAL(push(at, 1, &id), SPDY_OK);
    peer_free(at);
}

TEST(headers_that_cannot_be_sent_open_no_stream)
{
    const spdy_header bad = header("no token", "");
    const spdy_opening opening = {.fin = true};
    peer *at = peer_new(SPDY_ROLE_CLIENT, SPDY_VERSION_3, NULL);
    uint32_t id;

    peer_forget(at);
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, &bad, 1, &id), SPDY_BAD_HEADERS);
    CHECK_EQUAL(spdy_session_streams(at->session), 0);
    peer_expect_silence(at);
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    CHECK_EQUAL(id, 1);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_SYN_STREAM).id, 1);
    peer_free(at);
}

TEST(a_client_takes_pushes_beside_its_streams_only)
{
    const spdy_opening opening = {.fin = true};
    peer *at = peer_new(SPDY_ROLE_CLIENT, SPDY_VERSION_3, NULL);
    uint32_t id;
    seen event;

    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    peer_forget(at);
    peer_open_beside(at, 2, 99, SPDY_FLAG_UNIDIRECTIONAL);
    peer_expect_reset(at, 2, SPDY_STATUS_INVALID_STREAM);
    peer_open_beside(at, 4, 1, SPDY_FLAG_UNIDIRECTIONAL);
    event = peer_event(at);
    CHECK_EQUAL(event.event.type, SPDY_EVENT_OPENED);
    CHECK_EQUAL(event.event.associated_id, 1);
    CHECK(event.event.unidirectional);
    peer_send_data(at, 4, SPDY_FLAG_FIN, "pushed", 6);
    event = peer_event(at);
    CHECK_EQUAL(event.event.type, SPDY_EVENT_DATA);
    CHECK(event.event.ended);
    peer_free(at);
}

TEST(after_our_goaway_open_streams_go_on_and_new_ones_are_passed_over)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);

    peer_open(at, 1, 0, 0);
    peer_forget(at);
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_OK), SPDY_OK);
    peer_expect_goaway(at, 1, SPDY_GOAWAY_OK);
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_OK), SPDY_OK);
    peer_expect_silence(at); /* once is enough */
    peer_open(at, 3, 0, SPDY_FLAG_FIN);
    peer_send_data(at, 3, 0, "x", 1);
    peer_expect_silence(at);
    peer_send_data(at, 1, SPDY_FLAG_FIN, "x", 1);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_DATA);
    CHECK(!spdy_session_over(at->session));
    CHECK_EQUAL(reply(at->session, 1, true), SPDY_OK);
    CHECK(spdy_session_over(at->session));
    peer_free(at);
}

TEST(ending_by_our_own_error)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);

    peer_open(at, 1, 0, 0);
    peer_forget(at);
    CHECK_EQUAL(spdy_session_goaway(at->session, SPDY_GOAWAY_INTERNAL_ERROR), SPDY_OK);
    peer_expect_goaway(at, 1, SPDY_GOAWAY_INTERNAL_ERROR);
    CHECK(spdy_session_over(at->session));
    CHECK(!spdy_stream_is_open(at->session, 1));
    peer_send_data(at, 1, 0, "x", 1);
    peer_expect_silence(at);
    peer_free(at);
}

TEST(after_the_peers_goaway_nothing_new_is_opened)
{
    const spdy_opening opening = {.fin = true};
    peer *at = peer_new(SPDY_ROLE_CLIENT, SPDY_VERSION_3, NULL);
    uint32_t id;
    seen event;

    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    peer_forget(at);
    peer_send_control(at, SPDY_FRAME_GOAWAY, 0, "\0\0\0\1\0\0\0\2", 8);
    event = peer_event(at);
    CHECK_EQUAL(event.event.type, SPDY_EVENT_GOAWAY);
    CHECK_EQUAL(event.event.stream_id, 1);
    CHECK_EQUAL(event.event.status, 2);
    CHECK(spdy_stream_is_open(at->session, 1));
    CHECK(!spdy_stream_is_open(at->session, 3)); /* never done by the peer */
    CHECK(!spdy_stream_is_open(at->session, 5));
    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_SESSION_OVER);
    CHECK(!spdy_session_over(at->session));
    peer_reset(at, 1, SPDY_STATUS_CANCEL);
    CHECK(spdy_session_over(at->session));
    peer_free(at);
}

TEST(goaway_of_spdy_2_with_and_without_status)
{
    peer *at = peer_new(SPDY_ROLE_CLIENT, SPDY_VERSION_2, NULL);

    peer_forget(at);
    peer_send_control(at, SPDY_FRAME_GOAWAY, 0, "\0\0\0\0", 4);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_GOAWAY);
    peer_send_control(at, SPDY_FRAME_GOAWAY, 0, "\0\0\0\0\0\0\0\0", 8);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_GOAWAY);
    peer_free(at);
}

TEST(resets_remembered_for_long_do_not_grow)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, NULL);
    uint32_t id;

    for (id = 1; id < 2001; id += 2) {
        peer_open(at, id, 0, 0);
        CHECK_EQUAL(spdy_stream_reset(at->session, id, SPDY_STATUS_CANCEL), SPDY_OK);
        peer_forget(at);
    }
    peer_send_data(at, 1, 0, "late", 4);    /* forgotten: passed over */
    peer_send_data(at, 1999, 0, "late", 4); /* remembered: passed over */
    peer_expect_silence(at);
    CHECK_EQUAL(spdy_session_streams(at->session), 0);
    peer_free(at);
}

/* ---- memory ---- */

static long left;

static void *scarce(void *old, size_t bytes)
{
    return left-- > 0 ? realloc(old, bytes) : NULL;
}

/* A conversation that needs memory of all kinds; true when it went to its end. */
static bool converse(peer *raw, spdy_session *session)
{
    static char value[3000]; /* twenty of them are just within what SPDY/2 can count */
    spdy_header headers[20];
    spdy_opening opening = {.associated_id = 1, .unidirectional = true};
    spdy_buffer frames = raw->output;
    const uint8_t *bytes = spdy_buffer_bytes(&frames);
    size_t length = spdy_buffer_length(&frames);
    uint32_t id, i;
    spdy_event event;

    memset(value, 'v', sizeof value - 1);
    for (i = 0; i < 20; i++)
        headers[i] = header("name", value);
    do {
        size_t taken = spdy_session_receive(session, bytes, length, &event);

        bytes += taken;
        length -= taken;
        if (event.type == SPDY_EVENT_SESSION_ERROR)
            return false;
    } while (event.type != SPDY_EVENT_NONE);
    return spdy_stream_reply(session, 1, headers, 20, false) == SPDY_OK &&
           spdy_stream_open(session, &opening, headers, 20, &id) == SPDY_OK;
}

/* What a client writes for it. */
static peer *prepared(spdy_version version)
{
    static char value[3000];
    peer *client = peer_new(SPDY_ROLE_CLIENT, version, NULL);
    const spdy_opening opening = {0};
    spdy_header headers[40];
    char names[40][8] = {{0}};
    uint32_t id, i;

    memset(value, 'v', sizeof value - 1);
    for (i = 0; i < 40; i++) {
        names[i][0] = 'n';
        names[i][1] = (char)('a' + i / 10);
        names[i][2] = (char)('a' + i % 10);
        headers[i] = header(names[i], i ? "x" : value);
    }
    CHECK_EQUAL(spdy_stream_open(client->session, &opening, headers, 40, &id), SPDY_OK);
    CHECK_EQUAL(peer_data(client, id, value, sizeof value, true), SPDY_OK);
    peer_collect_output(client);
    return client;
}

TEST(memory_that_runs_out_ends_the_session_and_no_more)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *client = prepared(all_versions[version]);
        bool whole = false;
        long allowed;

        for (allowed = 0; !whole; allowed++) {
            spdy_session *session;
            spdy_event event;

            check_case("SPDY/%s with %ld allocations", spdy_version_name(all_versions[version]), allowed);
            CHECK(allowed < 200);
            left = allowed;
            spdy_memory_source = scarce;
            session = spdy_session_new(SPDY_ROLE_SERVER, all_versions[version], NULL);
            whole = session && converse(client, session);
            if (session && !whole) {
                CHECK(spdy_session_over(session));
                spdy_session_receive(session, "x", 1, &event); /* tells it once, or has told it */
                spdy_session_receive(session, "x", 1, &event);
                CHECK_EQUAL(event.type, SPDY_EVENT_NONE);
            }
            spdy_session_free(session);
            spdy_memory_source = realloc;
        }
        CHECK(allowed > 10);
        peer_free(client);
    }
}
