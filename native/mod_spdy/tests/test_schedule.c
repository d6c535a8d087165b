/* What is sent next. */
#include "check.h"
#include "peer.h"

#include <string.h>

static peer *server(spdy_version version)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.data_frame_bytes = 10;
    at = peer_new(SPDY_ROLE_SERVER, version, &limits);
    peer_forget(at);
    return at;
}

static void offering(peer *at, uint32_t id, unsigned priority)
{
    peer_open(at, id, priority, SPDY_FLAG_FIN);
    CHECK_EQUAL(reply(at->session, id, false), SPDY_OK);
    CHECK_EQUAL(spdy_stream_offer(at->session, id, SPDY_OFFER_DATA), SPDY_OK);
}

/* Sends one frame; its stream, 0 if none. */
static uint32_t send_one(peer *at, bool fin)
{
    uint8_t head[SPDY_FRAME_HEAD_BYTES];
    spdy_slot slot;

    peer_forget(at);
    if (!spdy_session_next(at->session, &slot))
        return 0;
    CHECK_EQUAL(slot.most_bytes, 10);
    CHECK_EQUAL(spdy_stream_data_head(at->session, slot.stream_id, 10, fin, head), SPDY_OK);
    CHECK_EQUAL(spdy_head_read(head).stream_id, slot.stream_id);
    CHECK_EQUAL(spdy_head_read(head).length, 10);
    return slot.stream_id;
}

TEST(the_more_urgent_go_first_in_each_version)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        unsigned lowest = spdy_lowest_priority(all_versions[version]);
        peer *at = server(all_versions[version]);
        unsigned priority;

        for (priority = 0; priority <= lowest; priority++)
            offering(at, 2 * priority + 1, lowest - priority);
        for (priority = 0; priority <= lowest; priority++) {
            CHECK_EQUAL(send_one(at, false), 2 * (lowest - priority) + 1);
            CHECK_EQUAL(send_one(at, true), 2 * (lowest - priority) + 1);
        }
        CHECK_EQUAL(send_one(at, false), 0);
        peer_free(at);
    }
}

static peer *server_that(spdy_scheduling scheduling)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.data_frame_bytes = 10;
    limits.scheduling = scheduling;
    at = peer_new(SPDY_ROLE_SERVER, SPDY_VERSION_3, &limits);
    peer_forget(at);
    return at;
}

TEST(fifo_sends_the_oldest_whatever_its_priority)
{
    peer *at = server_that(SPDY_FIFO);

    offering(at, 1, 7);
    offering(at, 3, 0);
    offering(at, 5, 3);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_NOTHING), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(spdy_stream_offer(at->session, 3, SPDY_OFFER_NOTHING), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 5);
    CHECK_EQUAL(spdy_stream_offer(at->session, 3, SPDY_OFFER_DATA), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_DATA), SPDY_OK);
    CHECK_EQUAL(send_one(at, true), 1);
    CHECK_EQUAL(send_one(at, true), 3);
    CHECK_EQUAL(send_one(at, true), 5);
    CHECK_EQUAL(send_one(at, false), 0);
    peer_free(at);
}

TEST(round_robin_lets_all_take_turns_whatever_their_priorities)
{
    peer *at = server_that(SPDY_ROUND_ROBIN);

    offering(at, 1, 7);
    offering(at, 3, 0);
    offering(at, 5, 3);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, false), 5);
    CHECK_EQUAL(send_one(at, true), 1);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, true), 5);
    CHECK_EQUAL(send_one(at, true), 3);
    CHECK_EQUAL(send_one(at, false), 0);
    peer_free(at);
}

TEST(equals_take_turns)
{
    peer *at = server(SPDY_VERSION_3);

    offering(at, 1, 4);
    offering(at, 3, 4);
    offering(at, 5, 4);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, false), 5);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, true), 3);
    CHECK_EQUAL(send_one(at, false), 5);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 5);
    peer_free(at);
}

TEST(one_that_pauses_comes_back_behind_its_equals)
{
    peer *at = server(SPDY_VERSION_3);

    offering(at, 1, 4);
    offering(at, 3, 4);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_NOTHING), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_DATA), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, false), 1);
    peer_free(at);
}

TEST(an_urgent_stream_overtakes_between_two_frames)
{
    peer *at = server(SPDY_VERSION_3_1);

    offering(at, 1, 7);
    CHECK_EQUAL(send_one(at, false), 1);
    offering(at, 3, 0);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, true), 3);
    CHECK_EQUAL(send_one(at, false), 1);
    peer_free(at);
}

TEST(a_stream_without_window_lets_others_pass)
{
    peer *at = server(SPDY_VERSION_3);

    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 10);
    offering(at, 1, 0);
    offering(at, 3, 7);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(send_one(at, false), 0);
    peer_window(at, 3, 10);
    CHECK_EQUAL(send_one(at, false), 3);
    peer_window(at, 3, 10);
    peer_window(at, 1, 10);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(send_one(at, false), 3);
    peer_free(at);
}

TEST(control_frames_go_before_data)
{
    peer *at = server(SPDY_VERSION_3);
    uint8_t head[SPDY_FRAME_HEAD_BYTES];

    offering(at, 1, 0);
    peer_forget(at);
    peer_send_control(at, SPDY_FRAME_PING, 0, "\0\0\0\1", 4);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_PING).id, 1);
    CHECK_EQUAL(reply(at->session, 1, false), SPDY_WRONG_STATE);
    CHECK_EQUAL(spdy_stream_headers(at->session, 1, NULL, 0, false), SPDY_OK);
    CHECK_EQUAL(spdy_stream_data_head(at->session, 1, 5, false, head), SPDY_OUTPUT_WAITING);
    peer_forget(at);
    CHECK_EQUAL(spdy_stream_data_head(at->session, 1, 5, false, head), SPDY_OK);
    peer_free(at);
}

TEST(streams_that_end_leave_the_turn_to_others)
{
    peer *at = server(SPDY_VERSION_3);

    offering(at, 1, 1);
    offering(at, 3, 1);
    offering(at, 5, 1);
    peer_reset(at, 1, SPDY_STATUS_CANCEL);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(spdy_stream_reset(at->session, 5, SPDY_STATUS_CANCEL), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 3);
    CHECK_EQUAL(spdy_stream_headers(at->session, 3, NULL, 0, true), SPDY_OK); /* ends with trailers */
    CHECK_EQUAL(send_one(at, false), 0);
    peer_free(at);
}

TEST(only_a_stream_that_may_send_offers)
{
    peer *at = server(SPDY_VERSION_3);

    peer_open(at, 1, 0, 0);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_DATA), SPDY_WRONG_STATE);
    CHECK_EQUAL(spdy_stream_offer(at->session, 3, SPDY_OFFER_DATA), SPDY_NO_SUCH_STREAM);
    CHECK_EQUAL(reply(at->session, 1, true), SPDY_OK);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_FIN), SPDY_WRONG_STATE);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_NOTHING), SPDY_OK);
    peer_free(at);
}

TEST(headers_leave_the_offer_and_an_end_by_headers_takes_it_back)
{
    peer *at = server(SPDY_VERSION_3);

    peer_open(at, 1, 0, 0); /* the peer has not finished: the stream lives on after our end */
    CHECK_EQUAL(reply(at->session, 1, false), SPDY_OK);
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_DATA), SPDY_OK);
    CHECK_EQUAL(spdy_stream_headers(at->session, 1, NULL, 0, false), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 1);
    CHECK_EQUAL(spdy_stream_headers(at->session, 1, NULL, 0, true), SPDY_OK);
    CHECK_EQUAL(send_one(at, false), 0);
    CHECK(spdy_stream_is_open(at->session, 1));
    peer_free(at);
}
