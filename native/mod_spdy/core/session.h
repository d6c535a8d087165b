/* The inside of a session, for the files that work on it:
 *
 *   session.c         its life, and what may be asked of it
 *   receive.c         the peer's bytes -> frames
 *   receive_block.c   SYN_STREAM, SYN_REPLY, HEADERS
 *   receive_data.c    DATA
 *   receive_control.c how each type of control frame looks, and those without a block
 *   send.c            our frames -> output
 *   flow.c            windows
 *   send_data.c       our DATA, and whose turn it is
 *   fault.c           what errors do, and limits of frequency
 */
#ifndef SPDY_SESSION_INSIDE_H
#define SPDY_SESSION_INSIDE_H

#include "block.h"
#include "compression.h"
#include "frame.h"
#include "schedule.h"
#include "spdy_session.h"
#include "stream.h"

enum { SPDY_DRAFT_WINDOW_BYTES = 65536 }; /* what both sides start with */
#define SPDY_MOST_WINDOW_BYTES ((int64_t)1 << 31)

typedef enum spdy_phase {
    SPDY_PHASE_HEAD,     /* of any frame: `need` bytes are collected, as in the next two */
    SPDY_PHASE_FIXED,    /* of a control frame */
    SPDY_PHASE_SETTINGS, /* one entry after the other */
    SPDY_PHASE_BLOCK,    /* header block */
    SPDY_PHASE_DATA,
    SPDY_PHASE_SKIP      /* the rest of the frame is of no interest */
} spdy_phase;

/* The frame that is being received. */
typedef struct spdy_reader {
    spdy_phase phase;
    uint8_t bytes[16]; /* head, fixed part, or one entry of SETTINGS */
    size_t have, need;
    spdy_head head;
    uint32_t left; /* of the payload */
    /* of frames with a header block */
    uint32_t stream_id, associated_id;
    unsigned priority, slot;
    bool too_large;
    size_t expanded_bytes;
    /* of SETTINGS */
    uint32_t entries_left;
    uint32_t seen_ids; /* bit per known ID: of several values the first counts */
} spdy_reader;

/* What the peer has done in this period. */
typedef enum spdy_habit {
    SPDY_HABIT_PING,
    SPDY_HABIT_RESET,
    SPDY_HABIT_FAULT,
    SPDY_HABIT_SETTINGS,
    SPDY_HABIT_EMPTY,
    SPDY_HABIT_HEADERS,
    SPDY_HABIT_REFUSED,
    SPDY_HABITS
} spdy_habit;

struct spdy_session {
    spdy_role role;
    spdy_version version;
    spdy_limits limits;

    bool over, told; /* by an error; and the caller knows */
    spdy_goaway_status over_status;
    const char *over_reason;
    bool goaway_sent, goaway_received;

    spdy_reader reader;
    spdy_expander expander;
    spdy_compressor compressor;
    spdy_buffer expanded; /* the header block being received */
    spdy_buffer block;    /* the header block being sent, before compression */
    spdy_header_list headers;
    spdy_buffer output;

    spdy_streams streams;
    spdy_schedule schedule;
    uint32_t last_peer_id, last_good_id, last_own_id;

    int64_t send_window, receive_window; /* SPDY/3.1: of the session */
    uint32_t credit_bytes;
    uint32_t peer_initial_window; /* by its SETTINGS */
    uint32_t peer_most_streams;

    uint64_t period_began_ms;
    uint32_t habits[SPDY_HABITS];
    spdy_totals totals;
};

static inline bool spdy_has_stream_windows(const spdy_session *session)
{
    return session->version != SPDY_VERSION_2;
}

static inline bool spdy_has_session_window(const spdy_session *session)
{
    return session->version == SPDY_VERSION_3_1;
}

/* ---- fault.c ---- */
/* Ends the session: GOAWAY goes to the output, nothing else is done any more. Its
 * streams stay in memory until the caller is told: whoever ends it may hold them. */
void spdy_end_session(spdy_session *session, spdy_goaway_status status, const char *reason);
/* All that lacks memory ends the session here. Returns SPDY_NO_MEMORY. */
spdy_result spdy_no_memory(spdy_session *session);
void spdy_forget_streams(spdy_session *session);
void spdy_tell_session_error(spdy_session *session, spdy_event *event);
/* RST_STREAM for a peer's mistake; ends the stream if it lives, and tells that by the event. */
void spdy_fail_stream(spdy_session *session, uint32_t stream_id, spdy_status status, const char *reason,
                      spdy_event *event);
/* Counts; beyond the limit the session ends, false. */
bool spdy_count_habit(spdy_session *session, spdy_habit habit);
/* How a stream stands, whether it lives or not. */
spdy_state spdy_state_of(const spdy_session *session, uint32_t stream_id);
/* Puts the stream into the state, ends it when that is an end. True: it ended. */
bool spdy_enter(spdy_session *session, spdy_stream *stream, spdy_state state);
bool spdy_is_own_id(const spdy_session *session, uint32_t stream_id);

/* ---- receive_*.c: each takes what it can and says how much; sets the phase for what comes next ---- */
void spdy_next_frame(spdy_session *session);
size_t spdy_receive_block(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event);
void spdy_begin_block(spdy_session *session, spdy_event *event);
void spdy_begin_data(spdy_session *session, spdy_event *event);
size_t spdy_receive_data(spdy_session *session, const uint8_t *bytes, size_t length, spdy_event *event);
void spdy_begin_control(spdy_session *session);
void spdy_receive_fixed(spdy_session *session, spdy_event *event);
void spdy_receive_setting(spdy_session *session, spdy_event *event);

/* ---- flow.c ---- */
/* Books received DATA; false: more than the window, with slack for a peer that has not seen our SETTINGS. */
bool spdy_flow_take(spdy_session *session, spdy_stream *stream, uint32_t bytes);
bool spdy_flow_take_session(spdy_session *session, uint32_t bytes);
/* Gives the peer window for bytes of the session, of the stream. */
void spdy_flow_credit_session(spdy_session *session, uint32_t bytes);
void spdy_flow_credit_stream(spdy_session *session, spdy_stream *stream, uint32_t bytes);
void spdy_flow_window_update(spdy_session *session, spdy_event *event);
/* The peer's INITIAL_WINDOW_SIZE: shifts all windows; false when one would overflow. */
bool spdy_flow_initial_window(spdy_session *session, uint32_t bytes);

/* ---- send.c ---- */
/* Writes a control frame with this payload. Like all of these, SPDY_OK, SPDY_NO_MEMORY or SPDY_SESSION_OVER. */
spdy_result spdy_write_control(spdy_session *session, spdy_frame_type type, unsigned flags, const void *payload,
                               size_t length);
spdy_result spdy_write_goaway(spdy_session *session, spdy_goaway_status status);
spdy_result spdy_write_reset(spdy_session *session, uint32_t stream_id, spdy_status status);
spdy_result spdy_write_window_update(spdy_session *session, uint32_t stream_id, uint32_t delta);
spdy_result spdy_write_settings(spdy_session *session);

#endif
