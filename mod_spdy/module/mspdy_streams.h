/* A session's streams: how they begin and end. The session's thread. */
#ifndef MSPDY_STREAMS_H
#define MSPDY_STREAMS_H

#include "mspdy_session.h"

/* The client opens a stream. */
void mspdy_streams_open(mspdy_session *session, const spdy_event *event, uint64_t wire_bytes);
/* The client sends a piece of a request's body. */
void mspdy_streams_body(mspdy_stream *stream, const spdy_event *event);
/* The stream's worker has read some of it. */
void mspdy_streams_consumed(mspdy_stream *stream);

/* Gives a stream, whose request is complete, to the workers. False: it was
 * refused, and is no more. */
bool mspdy_streams_submit(mspdy_stream *stream);

/* The response is sent to its end. */
void mspdy_streams_sent_all(mspdy_stream *stream);
/* The stream is over before that: by us, or (closed) by the client. */
void mspdy_streams_reset(mspdy_stream *stream, spdy_status status);
void mspdy_streams_closed(mspdy_stream *stream);

void mspdy_streams_input_ended(mspdy_session *session);
/* The client goes away: what we pushed and it has not taken is over. */
void mspdy_streams_goaway(mspdy_session *session);

/* To be called last, after any of these: the stream may be gone afterwards. */
void mspdy_streams_settle(mspdy_stream *stream);
/* Frees what is finished. Logs each as complete only if `sent`. */
void mspdy_streams_bury(mspdy_session *session, bool sent);

/* Those that have waited for the client's window for longer than Timeout. */
void mspdy_streams_reset_stalled(mspdy_session *session);
/* The session ends: waits for the workers, and frees all. */
void mspdy_streams_end_all(mspdy_session *session);

#endif
