/* What the client's bytes mean for the session. */
#ifndef MSPDY_EVENTS_H
#define MSPDY_EVENTS_H

#include "mspdy_session.h"

void mspdy_events_receive(mspdy_session *session, const char *bytes, size_t length);

#endif
