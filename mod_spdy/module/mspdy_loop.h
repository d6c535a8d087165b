/* A session's thread: reads, looks, writes and waits, until the session is over. */
#ifndef MSPDY_LOOP_H
#define MSPDY_LOOP_H

#include "mspdy_session.h"

/* NULL: no memory or no descriptor; told in the error log. */
mspdy_session *mspdy_loop_begin(conn_rec *c1, server_rec *server, spdy_version version);

typedef enum mspdy_outcome {
    MSPDY_IDLE,  /* nothing is going on: whoever can wait for input may call again */
    MSPDY_OVER   /* close the connection */
} mspdy_outcome;

/* Serves the session until it is over, or, with may_pause, idle. */
mspdy_outcome mspdy_loop_run(mspdy_session *session, bool may_pause);

/* The MPM closes an idle connection: says goodbye. */
void mspdy_loop_goodbye(mspdy_session *session);

#endif
