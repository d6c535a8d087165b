/* What may happen to a stream, seen from this side: one table of
 * (state, input) -> (action, status, next state). What the table lacks is an error. */
#ifndef SPDY_STATE_H
#define SPDY_STATE_H

#include "spdy.h"

typedef enum spdy_state {
    SPDY_STATE_NONE,         /* never opened */
    SPDY_STATE_ASKED,        /* the peer opened it; our reply is due; both may send */
    SPDY_STATE_ASKED_WHOLE,  /* the same, and the peer has finished */
    SPDY_STATE_ASKING,       /* we opened it; the peer's reply is due */
    SPDY_STATE_ASKING_WHOLE, /* the same, and we have finished */
    SPDY_STATE_OPEN,         /* replied; both may send */
    SPDY_STATE_PEER_DONE,    /* the peer has finished: only we may send */
    SPDY_STATE_WE_DONE,      /* we have finished: only the peer may send */
    SPDY_STATE_OVER,         /* both have finished, or the peer has reset it */
    SPDY_STATE_CUT,          /* we have reset it: the peer may not know yet */
    SPDY_STATES
} spdy_state;

typedef enum spdy_input {
    SPDY_IN_OPEN, /* the peer's frames */
    SPDY_IN_OPEN_FIN,
    SPDY_IN_OPEN_ONE_WAY,
    SPDY_IN_OPEN_ONE_WAY_FIN,
    SPDY_IN_REPLY,
    SPDY_IN_REPLY_FIN,
    SPDY_IN_HEADERS,
    SPDY_IN_HEADERS_FIN,
    SPDY_IN_DATA,
    SPDY_IN_DATA_FIN,
    SPDY_IN_RESET,
    SPDY_IN_WINDOW,
    SPDY_OUT_OPEN, /* ours */
    SPDY_OUT_OPEN_FIN,
    SPDY_OUT_OPEN_ONE_WAY,
    SPDY_OUT_OPEN_ONE_WAY_FIN,
    SPDY_OUT_REPLY,
    SPDY_OUT_REPLY_FIN,
    SPDY_OUT_HEADERS,
    SPDY_OUT_HEADERS_FIN,
    SPDY_OUT_DATA,
    SPDY_OUT_DATA_FIN,
    SPDY_OUT_RESET,
    SPDY_INPUTS
} spdy_input;

typedef enum spdy_action {
    SPDY_ACTION_NONE,      /* not in the table: our call is refused; the peer's frame gets RST_STREAM PROTOCOL_ERROR */
    SPDY_ACTION_DO,        /* in order; the stream goes to `next` */
    SPDY_ACTION_PASS_OVER, /* late or without effect */
    SPDY_ACTION_RESET      /* RST_STREAM with `status`; a stream that lives ends */
} spdy_action;

typedef struct spdy_step {
    spdy_action action;
    spdy_status status; /* of RESET */
    spdy_state next;
} spdy_step;

/* The peer's inputs come back as DO, PASS_OVER or RESET, ours as DO or NONE. */
spdy_step spdy_state_step(spdy_state state, spdy_input input);

/* The input as it is when its frame carries FIN. */
spdy_input spdy_input_with_fin(spdy_input input, bool fin);

#endif
