/* Peers that mean no good. */
#include "check.h"
#include "peer.h"

TEST(streams_beyond_the_limit_are_refused)
{
    size_t version;

    for (version = 0; version < 3; version++) {
        peer *at = peer_strict(all_versions[version]);

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
    peer *at = peer_strict(SPDY_VERSION_2);
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
    peer *at = peer_strict(SPDY_VERSION_3);
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
    peer *at = peer_strict(SPDY_VERSION_3);
    uint8_t payload[36] = {0, 0, 0, 4};

    peer_send_control(at, SPDY_FRAME_SETTINGS, 0, payload, sizeof payload);
    peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR);
    peer_free(at);
}

TEST(of_several_values_of_one_setting_the_first_counts)
{
    static const uint8_t payload[] = {0, 0, 0, 3, 1, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 8, 2, 0, 0, 77, 0, 0, 0, 1};
    peer *at = peer_strict(SPDY_VERSION_3);

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
    peer *at = peer_strict(SPDY_VERSION_3);

    peer_send_control(at, SPDY_FRAME_SYN_STREAM, 0, fixed, sizeof fixed);
    peer_expect_reset(at, 1, SPDY_STATUS_INVALID_CREDENTIALS);
    peer_free(at);
    at = peer_strict(SPDY_VERSION_3_1); /* which knows no slots */
    peer_send_control(at, SPDY_FRAME_SYN_STREAM, 0, fixed, sizeof fixed);
    CHECK_EQUAL(peer_event_type(at), SPDY_EVENT_OPENED);
    peer_free(at);
}

TEST(data_of_spdy_2_may_not_be_compressed)
{
    peer *at = peer_strict(SPDY_VERSION_2);

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
    peer *at = peer_strict(SPDY_VERSION_3_1);
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
