/* The streams of a session that live, found by number, and the memory of those that ended lately. */
#ifndef SPDY_STREAM_H
#define SPDY_STREAM_H

#include "spdy_session.h"
#include "state.h"

typedef struct spdy_stream {
    uint32_t id;
    spdy_state state;
    unsigned priority;
    bool ours; /* we opened it */
    bool discard;
    void *context;
    int64_t send_window;    /* what the peer lets us send; may be negative */
    int64_t receive_window; /* what the peer may send by our account */
    uint32_t unused_bytes;  /* received, not consumed yet */
    uint32_t stored_bytes;  /* those of them that the session has its window back for */
    uint32_t credit_bytes;  /* consumed, the peer not told yet */
    spdy_offer offer;
    uint64_t opened; /* its place in the order in which streams were opened */
    bool queued; /* in the schedule */
    struct spdy_stream *before, *after; /* there */
    struct spdy_stream *chain;          /* next with the same hash */
} spdy_stream;

enum { SPDY_STREAM_CHAINS = 64, SPDY_STREAM_ENDED = 128 };

typedef struct spdy_ended {
    uint32_t id;
    spdy_state state; /* OVER or CUT */
} spdy_ended;

typedef struct spdy_streams {
    spdy_stream *chains[SPDY_STREAM_CHAINS];
    size_t ours, theirs;
    uint64_t opened; /* so many, ever */
    spdy_ended ended[SPDY_STREAM_ENDED]; /* a ring */
    size_t next_ended;
} spdy_streams;

spdy_stream *spdy_streams_find(const spdy_streams *streams, uint32_t id);
/* NULL without memory. */
spdy_stream *spdy_streams_add(spdy_streams *streams, uint32_t id, bool ours);
/* Forgets the stream and remembers how it ended. */
void spdy_streams_end(spdy_streams *streams, spdy_stream *stream, spdy_state how);
/* The same for a stream that never lived here (refused, or over at once). */
void spdy_streams_note(spdy_streams *streams, uint32_t id, spdy_state how);
/* How a stream that was opened and is not alive ended; CUT when that is too long
 * ago: its frames are passed over, since some may be late. */
spdy_state spdy_streams_how_ended(const spdy_streams *streams, uint32_t id);
void spdy_streams_free(spdy_streams *streams);

#endif
