/* What streams have to send: heads of responses, bytes of bodies, ends. */
#ifndef MSPDY_SOURCE_H
#define MSPDY_SOURCE_H

#include "mspdy_session.h"

/* A worker has left something, or is done: what the stream offers now. May end
 * the stream. */
void mspdy_source_look(mspdy_stream *stream);

/* The next DATA frame of whichever stream's turn it is, at most `room` bytes.
 * 0: none may or can send now. */
size_t mspdy_source_frame(mspdy_session *session, char *to, size_t room);

#endif
