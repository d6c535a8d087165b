#include "state.h"

#define DO(state) {SPDY_ACTION_DO, 0, SPDY_STATE_##state}
#define PASS_OVER(state) {SPDY_ACTION_PASS_OVER, 0, SPDY_STATE_##state}
#define RESET(code) {SPDY_ACTION_RESET, SPDY_STATUS_##code, SPDY_STATE_CUT}

/* clang-format off */
static const spdy_step table[SPDY_STATES][SPDY_INPUTS] = {
    [SPDY_STATE_NONE] = {
        [SPDY_IN_OPEN]              = DO(ASKED),
        [SPDY_IN_OPEN_FIN]          = DO(ASKED_WHOLE),
        [SPDY_IN_OPEN_ONE_WAY]      = DO(WE_DONE),
        [SPDY_IN_OPEN_ONE_WAY_FIN]  = DO(OVER),
        [SPDY_IN_REPLY]             = RESET(INVALID_STREAM),
        [SPDY_IN_REPLY_FIN]         = RESET(INVALID_STREAM),
        [SPDY_IN_HEADERS]           = RESET(INVALID_STREAM),
        [SPDY_IN_HEADERS_FIN]       = RESET(INVALID_STREAM),
        [SPDY_IN_DATA]              = RESET(INVALID_STREAM),
        [SPDY_IN_DATA_FIN]          = RESET(INVALID_STREAM),
        [SPDY_IN_RESET]             = PASS_OVER(NONE), /* RST_STREAM is never answered by one */
        [SPDY_IN_WINDOW]            = RESET(INVALID_STREAM),
        [SPDY_OUT_OPEN]             = DO(ASKING),
        [SPDY_OUT_OPEN_FIN]         = DO(ASKING_WHOLE),
        [SPDY_OUT_OPEN_ONE_WAY]     = DO(PEER_DONE),
        [SPDY_OUT_OPEN_ONE_WAY_FIN] = DO(OVER),
    },
    [SPDY_STATE_ASKED] = {
        [SPDY_IN_HEADERS]           = DO(ASKED),
        [SPDY_IN_HEADERS_FIN]       = DO(ASKED_WHOLE),
        [SPDY_IN_DATA]              = DO(ASKED),
        [SPDY_IN_DATA_FIN]          = DO(ASKED_WHOLE),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = DO(ASKED),
        [SPDY_OUT_REPLY]            = DO(OPEN),
        [SPDY_OUT_REPLY_FIN]        = DO(WE_DONE),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_ASKED_WHOLE] = {
        [SPDY_IN_HEADERS]           = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_HEADERS_FIN]       = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_DATA]              = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_DATA_FIN]          = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = DO(ASKED_WHOLE),
        [SPDY_OUT_REPLY]            = DO(PEER_DONE),
        [SPDY_OUT_REPLY_FIN]        = DO(OVER),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_ASKING] = {
        [SPDY_IN_REPLY]             = DO(OPEN),
        [SPDY_IN_REPLY_FIN]         = DO(PEER_DONE),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = DO(ASKING),
        [SPDY_OUT_HEADERS]          = DO(ASKING),
        [SPDY_OUT_HEADERS_FIN]      = DO(ASKING_WHOLE),
        [SPDY_OUT_DATA]             = DO(ASKING),
        [SPDY_OUT_DATA_FIN]         = DO(ASKING_WHOLE),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_ASKING_WHOLE] = {
        [SPDY_IN_REPLY]             = DO(WE_DONE),
        [SPDY_IN_REPLY_FIN]         = DO(OVER),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = PASS_OVER(ASKING_WHOLE),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_OPEN] = {
        [SPDY_IN_REPLY]             = RESET(STREAM_IN_USE),
        [SPDY_IN_REPLY_FIN]         = RESET(STREAM_IN_USE),
        [SPDY_IN_HEADERS]           = DO(OPEN),
        [SPDY_IN_HEADERS_FIN]       = DO(PEER_DONE),
        [SPDY_IN_DATA]              = DO(OPEN),
        [SPDY_IN_DATA_FIN]          = DO(PEER_DONE),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = DO(OPEN),
        [SPDY_OUT_HEADERS]          = DO(OPEN),
        [SPDY_OUT_HEADERS_FIN]      = DO(WE_DONE),
        [SPDY_OUT_DATA]             = DO(OPEN),
        [SPDY_OUT_DATA_FIN]         = DO(WE_DONE),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_PEER_DONE] = {
        [SPDY_IN_REPLY]             = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_REPLY_FIN]         = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_HEADERS]           = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_HEADERS_FIN]       = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_DATA]              = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_DATA_FIN]          = RESET(STREAM_ALREADY_CLOSED),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = DO(PEER_DONE),
        [SPDY_OUT_HEADERS]          = DO(PEER_DONE),
        [SPDY_OUT_HEADERS_FIN]      = DO(OVER),
        [SPDY_OUT_DATA]             = DO(PEER_DONE),
        [SPDY_OUT_DATA_FIN]         = DO(OVER),
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_WE_DONE] = {
        [SPDY_IN_REPLY]             = RESET(STREAM_IN_USE),
        [SPDY_IN_REPLY_FIN]         = RESET(STREAM_IN_USE),
        [SPDY_IN_HEADERS]           = DO(WE_DONE),
        [SPDY_IN_HEADERS_FIN]       = DO(OVER),
        [SPDY_IN_DATA]              = DO(WE_DONE),
        [SPDY_IN_DATA_FIN]          = DO(OVER),
        [SPDY_IN_RESET]             = DO(OVER),
        [SPDY_IN_WINDOW]            = PASS_OVER(WE_DONE), /* after our last frame, says the draft */
        [SPDY_OUT_RESET]            = DO(CUT),
    },
    [SPDY_STATE_OVER] = { /* what is not here is a PROTOCOL_ERROR on the stream, as for data after the close */
        [SPDY_IN_RESET]             = PASS_OVER(OVER),
        [SPDY_IN_WINDOW]            = PASS_OVER(OVER),
    },
    [SPDY_STATE_CUT] = { /* the peer wrote these before our RST_STREAM reached it */
        [SPDY_IN_REPLY]             = PASS_OVER(CUT),
        [SPDY_IN_REPLY_FIN]         = PASS_OVER(CUT),
        [SPDY_IN_HEADERS]           = PASS_OVER(CUT),
        [SPDY_IN_HEADERS_FIN]       = PASS_OVER(CUT),
        [SPDY_IN_DATA]              = PASS_OVER(CUT),
        [SPDY_IN_DATA_FIN]          = PASS_OVER(CUT),
        [SPDY_IN_RESET]             = PASS_OVER(CUT),
        [SPDY_IN_WINDOW]            = PASS_OVER(CUT),
    },
};
/* clang-format on */

spdy_step spdy_state_step(spdy_state state, spdy_input input)
{
    static const spdy_step out_of_order = RESET(PROTOCOL_ERROR);
    spdy_step step = table[state][input];

    return step.action == SPDY_ACTION_NONE && input < SPDY_OUT_OPEN ? out_of_order : step;
}

spdy_input spdy_input_with_fin(spdy_input input, bool fin)
{
    return fin ? input + 1 : input; /* each input that can carry FIN stands before its twin */
}
