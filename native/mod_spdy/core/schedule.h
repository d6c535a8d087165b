/* Whose turn it is to send: strictly by priority and in turn among equals, or as the policy says. */
#ifndef SPDY_SCHEDULE_H
#define SPDY_SCHEDULE_H

#include "stream.h"

enum { SPDY_PRIORITIES = 8 };

/* Per priority a ring of the streams that could send if the session's window
 * let them; first[] has the turn. Where priorities do not count there is one ring. */
typedef struct spdy_schedule {
    spdy_scheduling policy;
    spdy_stream *first[SPDY_PRIORITIES];
} spdy_schedule;

/* Puts the stream in or takes it out, after its offer, window or state changed. */
void spdy_schedule_update(spdy_schedule *schedule, spdy_stream *stream);
void spdy_schedule_remove(spdy_schedule *schedule, spdy_stream *stream);
/* The stream has sent: the next of its ring has the turn, but with SPDY_FIFO. */
void spdy_schedule_sent(spdy_schedule *schedule, const spdy_stream *stream);
/* NULL when nobody may send. Without session window only those that offer their FIN. */
spdy_stream *spdy_schedule_next(const spdy_schedule *schedule, bool session_window);

#endif
