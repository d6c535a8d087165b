/* One SPDY session: bytes of the peer in, events out; requests of ours in,
 * bytes to send out. No I/O, no clock, no threads.
 *
 *   peer's bytes --> spdy_session_receive --> events
 *   spdy_stream_reply, _headers, _push, _reset, ... --> spdy_session_output --> peer
 *   spdy_stream_offer, spdy_session_next, spdy_stream_data ------------------^
 *
 * Sending: control frames wait in the session's output, in the order they were
 * asked for. DATA never waits there: while the output is empty, ask
 * spdy_session_next which stream may send how much *now*, fetch that much from
 * the stream's source, and send it. So a more urgent stream that becomes ready
 * later overtakes between two frames. The loop of a connection:
 *
 *   for (;;) {
 *       if (spdy_session_output(s, &bytes, &length)) { n = write(...); spdy_session_output_sent(s, n); continue; }
 *       if (!spdy_session_next(s, &slot)) break;           // nothing may be sent now
 *       n = read_source(slot.context, buffer, slot.most_bytes, &last);
 *       spdy_stream_data_head(s, slot.stream_id, n, last, head); write(head, 8); write(buffer, n);
 *       spdy_stream_offer(s, slot.stream_id, more_is_there ? SPDY_OFFER_DATA : SPDY_OFFER_NOTHING);
 *   }
 *
 * Receiving: data count against the window we gave the peer until
 * spdy_stream_consumed says that they were used; only then the peer gets more. */
#ifndef SPDY_SESSION_H
#define SPDY_SESSION_H

#include "spdy.h"

typedef struct spdy_session spdy_session;

/* Which of the streams that can send does so. */
typedef enum spdy_scheduling {
    SPDY_BY_PRIORITY, /* the most urgent; equal ones in turn */
    SPDY_FIFO,        /* the one that was opened first */
    SPDY_ROUND_ROBIN  /* all in turn */
} spdy_scheduling;

/* What we let the peer do, and how we send. spdy_limits_default fills in sound values. */
typedef struct spdy_limits {
    uint32_t concurrent_streams;      /* of the peer; more are REFUSED_STREAM (100) */
    uint32_t stream_window_bytes;     /* SPDY/3+: what the peer may send ahead on a stream (65536) */
    uint32_t session_window_bytes;    /* SPDY/3.1: on all together; at least 65536, the draft's start (262144) */
    uint32_t data_frame_bytes;        /* largest DATA we send: how long an urgent stream waits (8192) */
    spdy_scheduling scheduling;       /* (SPDY_BY_PRIORITY) */
    uint32_t header_compression;      /* zlib's level for header blocks that we send, 0 to 9 (9) */
    uint32_t header_compressed_bytes; /* larger header blocks end the stream, FRAME_TOO_LARGE (65536) */
    uint32_t header_expanded_bytes;   /* the same, after expansion (65536) */
    uint32_t header_hard_bytes;       /* expanded beyond this the session ends: a bomb (262144) */
    uint32_t headers;                 /* name-value pairs in a block (200) */
    uint32_t settings_entries;        /* in one SETTINGS frame (64) */
    uint32_t output_bytes;            /* control frames waiting for a peer that does not read (1048576) */
    /* What a peer may do in one period; a period is period_ms of the clock that
     * spdy_session_clock tells. Beyond them the session ends, PROTOCOL_ERROR. */
    uint32_t period_ms;        /* 10000 */
    uint32_t period_pings;     /* 200 */
    uint32_t period_resets;    /* open streams that the peer resets: rapid reset (400) */
    uint32_t period_faults;    /* stream errors that we answered (400) */
    uint32_t period_settings;  /* 50 */
    uint32_t period_empty;     /* frames that carry nothing: DATA of 0 bytes without FIN, NOOP, unknown types (1000) */
    uint32_t period_headers;   /* HEADERS that do not end the peer's side of a stream (200) */
    uint32_t period_refused;   /* streams over concurrent_streams (400) */
} spdy_limits;

void spdy_limits_default(spdy_limits *limits);

/* NULL when there is no memory. The session's first output is its SETTINGS
 * (and in SPDY/3.1 the WINDOW_UPDATE that raises the session's window). */
spdy_session *spdy_session_new(spdy_role role, spdy_version version, const spdy_limits *limits);
void spdy_session_free(spdy_session *session);

/* ---- receiving ---- */

typedef enum spdy_event_type {
    SPDY_EVENT_NONE,          /* all bytes are taken, nothing to tell */
    SPDY_EVENT_OPENED,        /* peer's SYN_STREAM: priority, associated_id, unidirectional, headers, fin */
    SPDY_EVENT_REPLY,         /* peer's SYN_REPLY to a stream of ours: headers, fin */
    SPDY_EVENT_HEADERS,       /* further headers: headers, fin */
    SPDY_EVENT_DATA,          /* data, fin (data.length may be 0 with fin) */
    SPDY_EVENT_RESET,         /* peer's RST_STREAM: status; the stream has ended */
    SPDY_EVENT_STREAM_FAILED, /* peer broke a rule on this stream: our RST_STREAM is in the output, the stream
                                 has ended; status, reason. Only for streams that an event has opened. */
    SPDY_EVENT_SETTINGS,      /* peer's SETTINGS have taken effect (stored values are spdy_session_peer_*) */
    SPDY_EVENT_GOAWAY,        /* peer takes no streams of ours after stream_id: status (spdy_goaway_status).
                                 Streams of ours with higher numbers have ended: it did nothing for them. */
    SPDY_EVENT_SESSION_ERROR  /* the session is over: status (spdy_goaway_status), reason; send the output
                                 (it ends with GOAWAY) and close. All streams have ended. */
} spdy_event_type;

/* What pointers point at stays until the next call of spdy_session_receive;
 * data may point into the bytes given to it. */
typedef struct spdy_event {
    spdy_event_type type;
    uint32_t stream_id;
    void *context;          /* of the stream, as spdy_stream_set_context left it */
    bool fin;               /* the peer sends no more on this stream */
    bool ended;             /* with this event the stream is over; its number and context are forgotten */
    bool unidirectional;
    unsigned priority;
    uint32_t associated_id;
    uint32_t status;
    const char *reason;     /* why the peer's doing was an error, for the log */
    const spdy_header *headers;
    size_t header_count;
    spdy_text data;
} spdy_event;

/* Takes bytes up to and including those of the next event. Returns how many;
 * call again with the rest until all are taken and the event is NONE (an event
 * may come of bytes taken earlier: go on also with length 0 while events come). */
size_t spdy_session_receive(spdy_session *session, const void *bytes, size_t length, spdy_event *event);

/* The peer's data that were used: gives it new window. Of streams that have ended: nothing happens. */
void spdy_stream_consumed(spdy_session *session, uint32_t stream_id, size_t bytes);

/* The peer's data that wait for reasons of ours, and not because its request is
 * slow to use them: the session's window is given back now, that other streams
 * may go on; the stream's when they are consumed. */
void spdy_stream_stored(spdy_session *session, uint32_t stream_id, size_t bytes);

/* Nobody reads this stream's data any more: they are taken and dropped from now
 * on, without DATA events (a FIN still comes as one, with no data). For a
 * response that ended before its request. */
void spdy_stream_discard(spdy_session *session, uint32_t stream_id);

/* ---- sending ---- */

/* Sends SYN_REPLY. fin: no data follow. */
spdy_result spdy_stream_reply(spdy_session *session, uint32_t stream_id, const spdy_header *headers, size_t count,
                              bool fin);
/* Further headers (trailers, or a pushed stream's response headers). */
spdy_result spdy_stream_headers(spdy_session *session, uint32_t stream_id, const spdy_header *headers, size_t count,
                                bool fin);
/* Ends the stream at once. The peer's frames that still come for it are passed over. */
spdy_result spdy_stream_reset(spdy_session *session, uint32_t stream_id, spdy_status status);

typedef struct spdy_opening {
    unsigned priority;
    uint32_t associated_id; /* 0: none */
    bool unidirectional;    /* the peer cannot answer on it */
    bool fin;
} spdy_opening;
/* SYN_STREAM of ours: a client's request, or a server's push (unidirectional,
 * with the associated stream of the peer). */
spdy_result spdy_stream_open(spdy_session *session, const spdy_opening *opening, const spdy_header *headers,
                             size_t count, uint32_t *stream_id);

typedef enum spdy_offer {
    SPDY_OFFER_NOTHING, /* wait: has nothing to send at the moment */
    SPDY_OFFER_DATA,    /* has bytes, needs window */
    SPDY_OFFER_FIN      /* has only its end left, needs no window */
} spdy_offer;
/* Tells the scheduler. A stream offers NOTHING at first and keeps its offer until told anew or ended. */
spdy_result spdy_stream_offer(spdy_session *session, uint32_t stream_id, spdy_offer offer);

typedef struct spdy_slot {
    uint32_t stream_id;
    void *context;
    size_t most_bytes; /* 0 for SPDY_OFFER_FIN without window: send the empty last frame */
} spdy_slot;
/* Which stream sends next, of those that offer and have window: as the limits'
 * scheduling says (a turn passes with spdy_stream_data_head). False: none may. */
bool spdy_session_next(spdy_session *session, spdy_slot *slot);

enum { SPDY_FRAME_HEAD_BYTES = 8 };
/* Books `bytes` of DATA, and writes the frame's head; the caller sends it and
 * then exactly that many bytes. Only while the output is empty
 * (SPDY_OUTPUT_WAITING), and at most the slot's most_bytes (SPDY_TOO_LARGE). */
spdy_result spdy_stream_data_head(spdy_session *session, uint32_t stream_id, size_t bytes, bool fin,
                                  uint8_t head[SPDY_FRAME_HEAD_BYTES]);

/* Bytes to be written now; false when there are none. They stay valid until any
 * other call with this session except spdy_session_output_sent. */
bool spdy_session_output(spdy_session *session, const uint8_t **bytes, size_t *length);
void spdy_session_output_sent(spdy_session *session, size_t length);

/* Tells the peer that no further stream of it will be served; those that are
 * open go on. Streams that it opens afterwards are passed over. With a status
 * other than OK the session ends at once. */
spdy_result spdy_session_goaway(spdy_session *session, spdy_goaway_status status);

/* What the caller answered or refused in the core's stead counts as if the core
 * had: beyond period_faults or period_refused the session ends, which the next
 * spdy_session_receive tells. */
typedef enum spdy_blame { SPDY_BLAME_FAULT, SPDY_BLAME_REFUSED } spdy_blame;
void spdy_session_blame(spdy_session *session, spdy_blame blame);

/* ---- asking ---- */

size_t spdy_session_streams(const spdy_session *session); /* open ones, of both sides */
bool spdy_session_over(const spdy_session *session); /* after an error, or GOAWAY of either side and no stream left */
uint32_t spdy_session_peer_streams(const spdy_session *session); /* how many of ours it allows (MAX_CONCURRENT_STREAMS) */
int64_t spdy_session_send_window(const spdy_session *session);   /* SPDY/3.1; else INT32_MAX */
int64_t spdy_stream_send_window(const spdy_session *session, uint32_t stream_id); /* may be negative; SPDY/2: INT32_MAX */
bool spdy_stream_is_open(const spdy_session *session, uint32_t stream_id);
void spdy_stream_set_context(spdy_session *session, uint32_t stream_id, void *context);

/* The caller's monotonic clock, for the limits per period; without it they are per session. */
void spdy_session_clock(spdy_session *session, uint64_t now_ms);

/* Compressed and expanded bytes of header blocks so far, for logs. */
typedef struct spdy_totals {
    uint64_t sent_header_bytes, sent_header_wire_bytes;
    uint64_t received_header_bytes, received_header_wire_bytes;
} spdy_totals;
spdy_totals spdy_session_totals(const spdy_session *session);

#endif
