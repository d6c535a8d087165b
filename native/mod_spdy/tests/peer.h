/* What tests of sessions share: a session with the raw frames of a peer at its
 * other end, or two sessions that talk. */
#ifndef PEER_H
#define PEER_H

#include "check.h"
#include "compression.h"
#include "frame.h"
#include "spdy_session.h"

extern const spdy_version all_versions[3];

/* An event with copies of all it points at. */
typedef struct seen {
    spdy_event event;
    char names[32][64];
    char values[32][128];
    char data[256]; /* the first bytes */
} seen;

typedef struct peer {
    spdy_session *session; /* the one under test */
    spdy_version version;
    spdy_compressor compressor; /* of the raw peer */
    spdy_expander expander;
    spdy_buffer expanded;
    seen *events;
    size_t event_count, event_capacity;
    spdy_buffer output; /* of the session, not yet read by read_frame */
} peer;

peer *peer_new(spdy_role role, spdy_version version, const spdy_limits *limits);
peer *peer_strict(spdy_version version); /* bears next to nothing */
peer *peer_with_windows(spdy_version version, uint32_t stream_bytes, uint32_t session_bytes);
void peer_free(peer *at);

/* Gives bytes to the session, collects events and output. */
void peer_send(peer *at, const void *bytes, size_t length);
void peer_collect_output(peer *at);
void peer_send_control(peer *at, spdy_frame_type type, unsigned flags, const void *payload, size_t length);
void peer_send_data(peer *at, uint32_t id, unsigned flags, const void *bytes, size_t length);
/* Compresses the block and sends the frame; for SYN_STREAM also priority and associated stream. */
void peer_send_block(peer *at, spdy_frame_type type, uint32_t id, unsigned flags, const void *block, size_t length);
void peer_send_headers(peer *at, spdy_frame_type type, uint32_t id, unsigned flags, const spdy_header *headers,
                       size_t count);
void peer_open(peer *at, uint32_t id, unsigned priority, unsigned flags); /* with a small request */
void peer_open_beside(peer *at, uint32_t id, uint32_t associated_id, unsigned flags);
void peer_reset(peer *at, uint32_t id, spdy_status status);
void peer_window(peer *at, uint32_t id, uint32_t delta);
void peer_setting(peer *at, uint32_t id, uint32_t value);

/* DATA of the session under test. */
spdy_result peer_data(peer *at, uint32_t id, const void *bytes, size_t length, bool fin);

/* The next event, or one of type NONE. */
seen peer_event(peer *at);
spdy_event_type peer_event_type(peer *at);
void peer_forget(peer *at); /* events and output so far */

/* A frame the session wrote. */
typedef struct frame {
    spdy_head head;
    uint8_t payload[512]; /* its first bytes */
    uint32_t id;          /* of streams, 0 if it has none */
    uint32_t word;        /* the payload's second 32 bits: status, delta */
} frame;
bool peer_frame(peer *at, frame *read); /* the next one; false when there is none */
/* Is the next frame of this control type? Checks it. */
frame peer_expect(peer *at, spdy_frame_type type);
frame peer_expect_data(peer *at, uint32_t id, size_t length, bool fin);
void peer_expect_reset(peer *at, uint32_t id, spdy_status status);
void peer_expect_goaway(peer *at, uint32_t last_good_id, spdy_goaway_status status);
void peer_expect_silence(peer *at);
/* A session error: event, GOAWAY, and nothing works any more. */
void peer_expect_end(peer *at, spdy_goaway_status status);

spdy_text text(const char *string);
spdy_header header(const char *name, const char *value);
/* A reply of two headers. */
spdy_result reply(spdy_session *session, uint32_t id, bool fin);
const spdy_header *small_headers(size_t *count);

#endif
