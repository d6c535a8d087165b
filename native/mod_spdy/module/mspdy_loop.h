/* A session's thread: reads, looks, writes and waits, until the session is over. */
#ifndef MSPDY_LOOP_H
#define MSPDY_LOOP_H

#include "mspdy_session.h"

/* NULL: no memory or no descriptor; told in the error log. */
mspdy_session *mspdy_loop_begin(conn_rec *c1, server_rec *server, spdy_version version);

typedef enum mspdy_outcome {
    MSPDY_IDLE,  /* nothing is going on: call again when the client has sent something */
    MSPDY_WAITS, /* the client has to send something: likewise */
    MSPDY_OVER   /* close the connection */
} mspdy_outcome;

/* Serves the session until it is over, or the MPM can wait for the client instead. */
mspdy_outcome mspdy_loop_run(mspdy_session *session);

/* The MPM closes a connection that it waits for: ends what is left, and says goodbye. */
void mspdy_loop_goodbye(mspdy_session *session);

#endif
