/* What the client's bytes mean for the session. */
#ifndef MSPDY_INCOMING_H
#define MSPDY_INCOMING_H

#include "mspdy_session.h"

void mspdy_incoming_receive(mspdy_session *session, const char *bytes, size_t length);

#endif
