/* The state table against the drafts' rules, each state and input. */
#include "check.h"
#include "peer.h"
#include "state.h"

#include <string.h>

/* What is expected, written again from the drafts: a letter per state that
 * follows, '.' passed over, a digit a RST_STREAM of that status (P, U, C:
 * PROTOCOL_ERROR, STREAM_IN_USE, STREAM_ALREADY_CLOSED), '-' refused to us. */
static const char letters[SPDY_STATES + 1] = "NKkGgOpwXC"; /* NONE asKed asking.. Open peer-done we-done over(X) Cut */
static const char *const inputs[SPDY_INPUTS] = {
    "in open",         "in open fin",  "in open one way",  "in open one way fin", "in reply",   "in reply fin",
    "in headers",      "in headers fin", "in data",        "in data fin",         "in reset",   "in window",
    "out open",        "out open fin", "out open one way", "out open one way fin", "out reply", "out reply fin",
    "out headers",     "out headers fin", "out data",      "out data fin",        "out reset",
};
/*                                           opens reply hdrs data rst win  opens reply hdrs data rst */
static const char *const expected[SPDY_STATES] = {
    [SPDY_STATE_NONE] =         "KkwX" "22" "22" "22" "." "2"    "GgpX" "--" "--" "--" "-",
    [SPDY_STATE_ASKED] =        "PPPP" "PP" "Kk" "Kk" "X" "K"    "----" "Ow" "--" "--" "C",
    [SPDY_STATE_ASKED_WHOLE] =  "PPPP" "PP" "AA" "AA" "X" "k"    "----" "pX" "--" "--" "C",
    [SPDY_STATE_ASKING] =       "PPPP" "Op" "PP" "PP" "X" "G"    "----" "--" "Gg" "Gg" "C",
    [SPDY_STATE_ASKING_WHOLE] = "PPPP" "wX" "PP" "PP" "X" "."    "----" "--" "--" "--" "C",
    [SPDY_STATE_OPEN] =         "PPPP" "UU" "Op" "Op" "X" "O"    "----" "--" "Ow" "Ow" "C",
    [SPDY_STATE_PEER_DONE] =    "PPPP" "AA" "AA" "AA" "X" "p"    "----" "--" "pX" "pX" "C",
    [SPDY_STATE_WE_DONE] =      "PPPP" "UU" "wX" "wX" "X" "."    "----" "--" "--" "--" "C",
    [SPDY_STATE_OVER] =         "PPPP" "PP" "PP" "PP" "." "."    "----" "--" "--" "--" "-",
    [SPDY_STATE_CUT] =          "PPPP" ".." ".." ".." "." "."    "----" "--" "--" "--" "-",
};

static void check_step(spdy_state state, spdy_input input)
{
    spdy_step step = spdy_state_step(state, input);
    char should_be = expected[state][input];

    check_case("state %d, %s, expecting '%c'", state, inputs[input], should_be);
    if (should_be == '-') {
        CHECK_EQUAL(step.action, SPDY_ACTION_NONE);
    } else if (should_be == '.') {
        CHECK_EQUAL(step.action, SPDY_ACTION_PASS_OVER);
        CHECK_EQUAL(step.next, state);
    } else if (strchr("P2UA", should_be)) {
        CHECK_EQUAL(step.action, SPDY_ACTION_RESET);
        CHECK_EQUAL(step.status, should_be == 'P'   ? SPDY_STATUS_PROTOCOL_ERROR
                                 : should_be == '2' ? SPDY_STATUS_INVALID_STREAM
                                 : should_be == 'U' ? SPDY_STATUS_STREAM_IN_USE
                                                    : SPDY_STATUS_STREAM_ALREADY_CLOSED);
        CHECK_EQUAL(step.next, SPDY_STATE_CUT);
    } else {
        CHECK_EQUAL(step.action, SPDY_ACTION_DO);
        CHECK_EQUAL(letters[step.next], should_be);
    }
}

TEST(every_state_with_every_input)
{
    int state, input;

    for (state = 0; state < SPDY_STATES; state++) {
        CHECK_EQUAL(strlen(expected[state]), SPDY_INPUTS);
        for (input = 0; input < SPDY_INPUTS; input++)
            check_step(state, input);
    }
}

TEST(fin_is_the_next_input)
{
    CHECK_EQUAL(spdy_input_with_fin(SPDY_IN_DATA, true), SPDY_IN_DATA_FIN);
    CHECK_EQUAL(spdy_input_with_fin(SPDY_OUT_OPEN_ONE_WAY, true), SPDY_OUT_OPEN_ONE_WAY_FIN);
    CHECK_EQUAL(spdy_input_with_fin(SPDY_OUT_REPLY, false), SPDY_OUT_REPLY);
}

/* ---- the same on the wire: a session in each state, given each frame ---- */

static uint32_t open_ours(peer *at, bool unidirectional, bool fin)
{
    spdy_opening opening = {.unidirectional = unidirectional, .fin = fin};
    uint32_t id;

    CHECK_EQUAL(spdy_stream_open(at->session, &opening, NULL, 0, &id), SPDY_OK);
    return id;
}

/* The stream's number in a session of its own; parity says who opened it. */
static uint32_t bring_into(peer *at, spdy_state state)
{
    size_t count;
    const spdy_header *headers = small_headers(&count);

    switch (state) {
    case SPDY_STATE_NONE:
        return 1;
    case SPDY_STATE_ASKED:
        peer_open(at, 1, 0, 0);
        return 1;
    case SPDY_STATE_ASKED_WHOLE:
        peer_open(at, 1, 0, SPDY_FLAG_FIN);
        return 1;
    case SPDY_STATE_ASKING:
        return open_ours(at, false, false);
    case SPDY_STATE_ASKING_WHOLE:
        return open_ours(at, false, true);
    case SPDY_STATE_OPEN:
        peer_open(at, 1, 0, 0);
        CHECK_EQUAL(reply(at->session, 1, false), SPDY_OK);
        return 1;
    case SPDY_STATE_PEER_DONE:
        peer_open(at, 1, 0, SPDY_FLAG_FIN);
        CHECK_EQUAL(reply(at->session, 1, false), SPDY_OK);
        return 1;
    case SPDY_STATE_WE_DONE:
        peer_open(at, 1, 0, 0);
        CHECK_EQUAL(spdy_stream_reply(at->session, 1, headers, count, true), SPDY_OK);
        return 1;
    case SPDY_STATE_OVER:
        peer_open(at, 1, 0, SPDY_FLAG_FIN);
        CHECK_EQUAL(reply(at->session, 1, true), SPDY_OK);
        return 1;
    case SPDY_STATE_CUT:
        peer_open(at, 1, 0, 0);
        CHECK_EQUAL(spdy_stream_reset(at->session, 1, SPDY_STATUS_CANCEL), SPDY_OK);
        return 1;
    case SPDY_STATES:
        break;
    }
    return 0;
}

static void send_input(peer *at, spdy_input input, uint32_t id)
{
    bool fin = input % 2; /* the inputs come in pairs, the second with FIN */
    size_t count;
    const spdy_header *headers = small_headers(&count);

    if (input <= SPDY_IN_OPEN_ONE_WAY_FIN)
        peer_open(at, id, 0, fin | (input >= SPDY_IN_OPEN_ONE_WAY ? SPDY_FLAG_UNIDIRECTIONAL : 0));
    else if (input <= SPDY_IN_REPLY_FIN)
        peer_send_headers(at, SPDY_FRAME_SYN_REPLY, id, fin, headers, count);
    else if (input <= SPDY_IN_HEADERS_FIN)
        peer_send_headers(at, SPDY_FRAME_HEADERS, id, fin, headers, count);
    else if (input <= SPDY_IN_DATA_FIN)
        peer_send_data(at, id, fin, "data", 4);
    else if (input == SPDY_IN_RESET)
        peer_reset(at, id, SPDY_STATUS_CANCEL);
    else
        peer_window(at, id, 100);
}

static spdy_event_type event_of(spdy_input input)
{
    if (input <= SPDY_IN_OPEN_ONE_WAY_FIN)
        return SPDY_EVENT_OPENED;
    if (input <= SPDY_IN_REPLY_FIN)
        return SPDY_EVENT_REPLY;
    if (input <= SPDY_IN_HEADERS_FIN)
        return SPDY_EVENT_HEADERS;
    if (input <= SPDY_IN_DATA_FIN)
        return SPDY_EVENT_DATA;
    return input == SPDY_IN_RESET ? SPDY_EVENT_RESET : SPDY_EVENT_NONE;
}

static bool lives(spdy_state state)
{
    return state != SPDY_STATE_NONE && state != SPDY_STATE_OVER && state != SPDY_STATE_CUT;
}

static void check_on_wire(spdy_version version, spdy_state state, spdy_input input)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, version, NULL);
    uint32_t id = bring_into(at, state);
    spdy_step step = spdy_state_step(state, input);
    seen got;

    check_case("SPDY/%s, state %d, %s", spdy_version_name(version), state, inputs[input]);
    peer_forget(at);
    if (version == SPDY_VERSION_2 && input == SPDY_IN_WINDOW)
        step = (spdy_step){SPDY_ACTION_PASS_OVER, 0, state}; /* no such frame: of unknown type */
    if (input <= SPDY_IN_OPEN_ONE_WAY_FIN && id % 2 == 0) {
        send_input(at, input, id);
        peer_expect_end(at, SPDY_GOAWAY_PROTOCOL_ERROR); /* the number is ours to give */
        peer_free(at);
        return;
    }
    send_input(at, input, id);
    got = peer_event(at);
    if (step.action == SPDY_ACTION_RESET) {
        CHECK_EQUAL(got.event.type, lives(state) ? SPDY_EVENT_STREAM_FAILED : SPDY_EVENT_NONE);
        peer_expect_reset(at, id, step.status);
        CHECK(!spdy_stream_is_open(at->session, id));
    } else if (step.action == SPDY_ACTION_PASS_OVER) {
        CHECK_EQUAL(got.event.type, SPDY_EVENT_NONE);
        CHECK_EQUAL(spdy_stream_is_open(at->session, id), lives(state));
    } else {
        CHECK_EQUAL(got.event.type, event_of(input));
        CHECK_EQUAL(spdy_stream_is_open(at->session, id), lives(step.next));
        CHECK_EQUAL(got.event.ended, !lives(step.next));
    }
    peer_expect_silence(at);
    CHECK(!spdy_session_over(at->session));
    peer_free(at);
}

TEST(every_state_with_every_frame_on_the_wire)
{
    int version, state, input;

    for (version = 0; version < 3; version++)
        for (state = 0; state < SPDY_STATES; state++)
            for (input = 0; input <= SPDY_IN_WINDOW; input++)
                check_on_wire(all_versions[version], state, input);
}

static spdy_result call(peer *at, spdy_input input, uint32_t id)
{
    bool fin = input % 2;
    size_t count;
    const spdy_header *headers = small_headers(&count);

    if (input <= SPDY_OUT_REPLY_FIN)
        return spdy_stream_reply(at->session, id, headers, count, fin);
    if (input <= SPDY_OUT_HEADERS_FIN)
        return spdy_stream_headers(at->session, id, headers, count, fin);
    if (input <= SPDY_OUT_DATA_FIN)
        return peer_data(at, id, "data", 4, fin);
    return spdy_stream_reset(at->session, id, SPDY_STATUS_CANCEL);
}

static void check_call(spdy_version version, spdy_state state, spdy_input input)
{
    peer *at = peer_new(SPDY_ROLE_SERVER, version, NULL);
    uint32_t id = bring_into(at, state);
    spdy_step step = spdy_state_step(state, input);
    spdy_result should_be = !lives(state) ? SPDY_NO_SUCH_STREAM
                            : step.action == SPDY_ACTION_DO ? SPDY_OK
                                                            : SPDY_WRONG_STATE;

    check_case("SPDY/%s, state %d, %s", spdy_version_name(version), state, inputs[input]);
    peer_forget(at);
    CHECK_EQUAL(call(at, input, id), should_be);
    if (should_be != SPDY_OK) {
        peer_expect_silence(at);
        CHECK_EQUAL(spdy_stream_is_open(at->session, id), lives(state));
    } else {
        frame sent;

        CHECK(peer_frame(at, &sent));
        CHECK_EQUAL(sent.id, id);
        CHECK_EQUAL(spdy_stream_is_open(at->session, id), lives(step.next));
    }
    peer_free(at);
}

TEST(every_state_with_every_call)
{
    int version, state, input;

    for (version = 0; version < 3; version++)
        for (state = 0; state < SPDY_STATES; state++)
            for (input = SPDY_OUT_REPLY; input < SPDY_INPUTS; input++)
                check_call(all_versions[version], state, input);
}
