/* What a session's thread waits for, and whether it listens to its client. */
#ifndef MSPDY_WAIT_H
#define MSPDY_WAIT_H

#include <stdbool.h>

#include "mspdy_session.h"

/* May more of the client's bytes be taken now? */
bool mspdy_wait_may_read(mspdy_session *session);

/* Until the client has sent something that may be read, or takes what is left to
 * be written, or a worker wakes the session, or the time is over. */
void mspdy_wait(mspdy_session *session, int timeout_ms, bool *readable, bool *writable);

#endif
