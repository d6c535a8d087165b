/* Windows: of streams since SPDY/3, of the session in SPDY/3.1. */
#include "check.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static char zeroes[200000];

/* A stream that wants to send, with its reply written. */
static void open_sending(peer *at, uint32_t id, unsigned priority)
{
    peer_open(at, id, priority, SPDY_FLAG_FIN);
    CHECK_EQUAL(reply(at->session, id, false), SPDY_OK);
    CHECK_EQUAL(spdy_stream_offer(at->session, id, SPDY_OFFER_DATA), SPDY_OK);
    peer_forget(at);
}

static size_t next_bytes(peer *at)
{
    spdy_slot slot;

    return spdy_session_next(at->session, &slot) ? slot.most_bytes : 0;
}

TEST(sending_stops_where_the_stream_window_ends)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 65536, 65536);

    open_sending(at, 1, 0);
    CHECK_EQUAL(next_bytes(at), 65536);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 65537, false), SPDY_TOO_LARGE);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 65536, false), SPDY_OK);
    CHECK_EQUAL(next_bytes(at), 0);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 1, false), SPDY_TOO_LARGE);
    peer_window(at, 1, 10);
    CHECK_EQUAL(next_bytes(at), 10);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 10, true), SPDY_OK);
    CHECK_EQUAL(next_bytes(at), 0);
    peer_free(at);
}

TEST(an_end_without_data_needs_no_window)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    spdy_slot slot;

    open_sending(at, 1, 0);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 65536, false), SPDY_OK);
    CHECK(!spdy_session_next(at->session, &slot));
    CHECK_EQUAL(spdy_stream_offer(at->session, 1, SPDY_OFFER_FIN), SPDY_OK);
    CHECK(spdy_session_next(at->session, &slot));
    CHECK_EQUAL(slot.stream_id, 1);
    CHECK_EQUAL(slot.most_bytes, 0);
    CHECK_EQUAL(peer_data(at, 1, NULL, 0, true), SPDY_OK);
    CHECK(!spdy_stream_is_open(at->session, 1));
    peer_free(at);
}

TEST(spdy_2_has_no_windows)
{
    peer *at = peer_with_windows(SPDY_VERSION_2, 65536, 65536);
    unsigned i;

    open_sending(at, 1, 0);
    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 1);
    for (i = 0; i < 10; i++) {
        CHECK_EQUAL(next_bytes(at), 100000);
        CHECK_EQUAL(peer_data(at, 1, zeroes, 100000, false), SPDY_OK);
    }
    peer_open(at, 3, 0, 0);
    peer_forget(at);
    for (i = 0; i < 10; i++)
        peer_send_data(at, 3, 0, zeroes, 100000);
    spdy_stream_consumed(at->session, 3, 1000000);
    CHECK_EQUAL(spdy_session_streams(at->session), 2);
    CHECK(spdy_stream_is_open(at->session, 3));
    peer_free(at);
}

TEST(the_session_window_holds_all_streams)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    spdy_slot slot;

    open_sending(at, 1, 0);
    open_sending(at, 3, 0);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 60000, false), SPDY_OK);
    CHECK(spdy_session_next(at->session, &slot));
    CHECK_EQUAL(slot.stream_id, 3);
    CHECK_EQUAL(slot.most_bytes, 5536);
    CHECK_EQUAL(peer_data(at, 3, zeroes, 5536, false), SPDY_OK);
    CHECK(!spdy_session_next(at->session, &slot));
    CHECK_EQUAL(spdy_session_send_window(at->session), 0);
    peer_window(at, 1, 1000); /* the stream's does not help */
    CHECK(!spdy_session_next(at->session, &slot));
    peer_window(at, 0, 7);
    CHECK_EQUAL(next_bytes(at), 7);
    peer_free(at);
}

TEST(spdy_3_knows_no_session_window)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 65536, 65536);

    peer_forget(at);
    peer_window(at, 0, 7);
    peer_expect_silence(at); /* passed over: a RST_STREAM for stream 0 would be an error of ours */
    CHECK_EQUAL(spdy_session_send_window(at->session), INT32_MAX);
    CHECK(!spdy_session_over(at->session));
    peer_free(at);
}

TEST(a_smaller_initial_window_makes_windows_negative)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 65536, 65536);

    open_sending(at, 1, 0);
    CHECK_EQUAL(peer_data(at, 1, zeroes, 65536, false), SPDY_OK);
    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 16384);
    CHECK_EQUAL(spdy_stream_send_window(at->session, 1), -49152);
    peer_window(at, 1, 49152);
    CHECK_EQUAL(next_bytes(at), 0);
    peer_window(at, 1, 1);
    CHECK_EQUAL(next_bytes(at), 1);
    open_sending(at, 3, 0);
    CHECK_EQUAL(spdy_stream_send_window(at->session, 3), 16384);
    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 65536);
    CHECK_EQUAL(spdy_stream_send_window(at->session, 1), 49153);
    CHECK_EQUAL(spdy_stream_send_window(at->session, 3), 65536);
    peer_free(at);
}

TEST(windows_beyond_2_31_are_errors)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 65536, 65536);

    peer_open(at, 1, 0, SPDY_FLAG_FIN);
    peer_open(at, 3, 0, SPDY_FLAG_FIN);
    peer_forget(at);
    peer_window(at, 1, INT32_MAX);
    CHECK_EQUAL(peer_event(at).event.status, SPDY_STATUS_FLOW_CONTROL_ERROR);
    peer_expect_reset(at, 1, SPDY_STATUS_FLOW_CONTROL_ERROR);
    peer_window(at, 3, 0);
    CHECK_EQUAL(peer_event(at).event.status, SPDY_STATUS_PROTOCOL_ERROR);
    peer_expect_reset(at, 3, SPDY_STATUS_PROTOCOL_ERROR);
    peer_open(at, 5, 0, SPDY_FLAG_FIN);
    peer_window(at, 5, INT32_MAX - 65536);
    CHECK(spdy_stream_is_open(at->session, 5));
    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 65538); /* shifts it to 2^31 + 1 */
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(a_peer_that_overdraws_a_stream_window_loses_the_stream)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 100000, 65536);

    peer_open(at, 1, 0, 0);
    peer_open(at, 3, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 100000);
    peer_forget(at);
    peer_send_data(at, 1, 0, zeroes, 1);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_STREAM_FAILED);
    peer_expect_reset(at, 1, SPDY_STATUS_FLOW_CONTROL_ERROR);
    peer_send_data(at, 1, 0, zeroes, 1000); /* on its way already: passed over */
    peer_expect_silence(at);
    CHECK(spdy_stream_is_open(at->session, 3));
    peer_free(at);
}

TEST(a_peer_that_overdraws_the_session_window_loses_the_session)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 1000000, 100000);

    peer_open(at, 1, 0, 0);
    peer_open(at, 3, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 60000);
    peer_send_data(at, 3, 0, zeroes, 40000);
    CHECK(!spdy_session_over(at->session));
    peer_send_data(at, 3, 0, zeroes, 1);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(a_peer_may_send_the_drafts_window_before_it_knows_ours)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 1000, 65536);

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 65536);
    CHECK(spdy_stream_is_open(at->session, 1));
    peer_forget(at);
    spdy_stream_consumed(at->session, 1, 65536); /* all of it is told, as its own account is negative by it */
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_WINDOW_UPDATE).word, 65536);
    peer_send_data(at, 1, 0, zeroes, 65537);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_STREAM_FAILED);
    peer_free(at);
}

TEST(windows_of_one_byte_work)
{
    peer *at = peer_with_windows(SPDY_VERSION_3, 1, 65536);
    unsigned i;

    peer_open(at, 1, 0, 0);
    open_sending(at, 3, 0);
    peer_setting(at, SPDY_SETTING_INITIAL_WINDOW_SIZE, 1);
    for (i = 0; i < 100; i++) {
        CHECK_EQUAL(next_bytes(at), 1);
        CHECK_EQUAL(peer_data(at, 3, "x", 1, false), SPDY_OK);
        CHECK_EQUAL(next_bytes(at), 0);
        peer_window(at, 3, 1);
        peer_forget(at);
        peer_send_data(at, 1, 0, "y", 1);
        spdy_stream_consumed(at->session, 1, 1);
        CHECK_EQUAL(peer_expect(at, SPDY_FRAME_WINDOW_UPDATE).word, 1);
    }
    peer_free(at);
}
