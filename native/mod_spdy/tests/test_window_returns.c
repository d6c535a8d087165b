/* Windows that the session gives back: of what was consumed, and of what nobody will consume. */
#include "check.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static char zeroes[200000];

TEST(window_comes_with_what_was_consumed_and_not_before)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 131072);

    peer_open(at, 1, 0, 0);
    peer_forget(at);
    peer_send_data(at, 1, 0, zeroes, 65536);
    peer_forget(at);
    peer_expect_silence(at);
    spdy_stream_consumed(at->session, 1, 32767);
    peer_expect_silence(at); /* less than half a window */
    spdy_stream_consumed(at->session, 1, 1);
    {
        frame update = peer_expect(at, SPDY_FRAME_WINDOW_UPDATE);

        CHECK_EQUAL(update.id, 1);
        CHECK_EQUAL(update.word, 32768);
    }
    peer_expect_silence(at);
    spdy_stream_consumed(at->session, 1, 1000000); /* more than there is: all of the rest */
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_WINDOW_UPDATE).word, 32768);
    {
        frame update = peer_expect(at, SPDY_FRAME_WINDOW_UPDATE);

        CHECK_EQUAL(update.id, 0);
        CHECK_EQUAL(update.word, 65536);
    }
    spdy_stream_consumed(at->session, 1, 1000000);
    peer_expect_silence(at);
    peer_free(at);
}

TEST(after_the_last_frame_only_the_session_gets_window)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, SPDY_FLAG_FIN, zeroes, 65536);
    peer_forget(at);
    spdy_stream_consumed(at->session, 1, 65536);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_WINDOW_UPDATE).id, 0);
    peer_expect_silence(at);
    peer_free(at);
}

/* What nobody consumed any more goes back to the session: else it would dry up. */
static void check_session_gets_back(void (*end)(peer *))
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    frame update;

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 60000);
    peer_forget(at);
    end(at);
    do
        CHECK(peer_frame(at, &update));
    while (update.head.type != SPDY_FRAME_WINDOW_UPDATE || update.id != 0);
    CHECK_EQUAL(update.word, 60000);
    peer_free(at);
}

static void end_by_us(peer *at)
{
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
}

static void end_by_peer(peer *at)
{
    peer_reset(at, 1, SPDY_STATUS_CANCEL);
}

static void end_by_fault(peer *at)
{
    peer_window(at, 1, 0);
}

static void end_by_discard(peer *at)
{
    spdy_stream_discard(at->session, 1);
}

TEST(what_ended_streams_held_goes_back_to_the_session)
{
    check_session_gets_back(end_by_us);
    check_session_gets_back(end_by_peer);
    check_session_gets_back(end_by_fault);
    check_session_gets_back(end_by_discard);
}

TEST(data_for_ended_streams_do_not_use_up_the_session)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    unsigned i;

    peer_open(at, 1, 0, 0);
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
    for (i = 0; i < 50; i++)
        peer_send_data(at, 1, 0, zeroes, 50000);
    CHECK(!spdy_session_over(at->session));
    peer_free(at);
}

TEST(discarded_data_are_not_told_but_the_end_is)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    seen event;
    unsigned i;

    peer_open(at, 1, 0, 0);
    CHECK_EQUAL(reply(at->session, 1, true), SPDY_OK); /* answered before the request was whole */
    spdy_stream_discard(at->session, 1);
    peer_forget(at);
    for (i = 0; i < 10; i++)
        peer_send_data(at, 1, 0, zeroes, 40000);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_NONE);
    peer_send_data(at, 1, SPDY_FLAG_FIN, zeroes, 5);
    event = peer_event(at);
    CHECK_EQUAL(event.event.type, SPDY_EVENT_DATA);
    CHECK_EQUAL(event.event.data.length, 0);
    CHECK(event.event.fin && event.event.ended);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_NONE);
    peer_free(at);
}

TEST(a_stream_reset_between_two_pieces_of_its_data)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);

    peer_open(at, 1, 0, 0);
    peer_forget(at);
    peer_send(at, "\0\0\0\1\1\0\0\6abc", 11);
    CHECK_EQUAL(peer_event(at).event.data.length, 3);
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
    peer_send(at, "def", 3);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_NONE);
    peer_open(at, 3, 0, 0);
    CHECK_EQUAL(peer_event(at).event.stream_id, 3);
    peer_free(at);
}

TEST(what_is_stored_gives_the_session_its_window_back_but_not_the_stream)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);
    frame update;

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 60000);
    peer_forget(at);
    spdy_stream_stored(at->session, 1, 60000);
    update = peer_expect(at, SPDY_FRAME_WINDOW_UPDATE);
    CHECK_EQUAL(update.id, 0);
    CHECK_EQUAL(update.word, 60000);
    spdy_stream_stored(at->session, 1, 60000); /* there is no more */
    peer_expect_silence(at);
    spdy_stream_consumed(at->session, 1, 60000);
    update = peer_expect(at, SPDY_FRAME_WINDOW_UPDATE);
    CHECK_EQUAL(update.id, 1);
    CHECK_EQUAL(update.word, 60000);
    peer_expect_silence(at); /* the session has it already */
    peer_free(at);
}

TEST(the_end_of_a_stream_gives_nothing_back_twice)
{
    peer *at = peer_with_windows(SPDY_VERSION_3_1, 65536, 65536);

    peer_open(at, 1, 0, 0);
    peer_send_data(at, 1, 0, zeroes, 60000);
    spdy_stream_stored(at->session, 1, 40000);
    peer_forget(at);
    CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
    peer_expect_reset(at, 1, SPDY_STATUS_CANCEL);
    peer_expect_silence(at); /* 20000 are too few to tell */
    peer_open(at, 3, 0, 0);
    peer_send_data(at, 3, 0, zeroes, 12768);
    peer_forget(at);
    spdy_stream_stored(at->session, 3, 12768);
    CHECK_EQUAL(peer_expect(at, SPDY_FRAME_WINDOW_UPDATE).word, 32768);
    peer_free(at);
}
