/* What streams have to send: heads of responses, bytes of bodies, ends. */
#ifndef MSPDY_OUTGOING_H
#define MSPDY_OUTGOING_H

#include "mspdy_stream.h"

/* What is to be pushed before the response that names it; NULL: nothing. */
const char *mspdy_outgoing_associated(const mspdy_stream *stream, const mspdy_view *view);

/* A worker has left something, or is done: what the stream offers now. May end
 * the stream. */
void mspdy_outgoing_look(mspdy_stream *stream, const mspdy_view *view);

/* The next DATA frame of whichever stream's turn it is, at most `room` bytes.
 * 0: none may or can send now. */
size_t mspdy_outgoing_frame(mspdy_session *session, char *to, size_t room);

#endif
