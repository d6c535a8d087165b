/* A SPDY session on a connection of httpd's (c1 throughout: the client's
 * connection; c2: a stream's). */
#ifndef MSPDY_SESSION_H
#define MSPDY_SESSION_H

#include <stdbool.h>

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"
#include "httpd.h"

#include "mspdy_config.h"
#include "mspdy_stream.h"
#include "spdy_session.h"

enum { MSPDY_SPARE_POOLS = 8 };

typedef struct mspdy_session {
    conn_rec *c1;
    server_rec *server;        /* whose configuration counts: the handshake's */
    const mspdy_config *config;
    spdy_version version;
    spdy_session *core;
    uint64_t served;           /* streams so far */

    /* The workers' pool: guarded by its mutex. */
    mspdy_stream *first_queued;
    struct mspdy_session *next_waiting; /* sessions with queued streams */
    bool waiting;
    struct mspdy_session *next_joined, *previous_joined;

    apr_thread_mutex_t *lock;
    /* Guarded by it: */
    mspdy_stream *first_flagged;
    bool woken;
    int busy;                  /* streams that were submitted and have not come back */
    int readers;               /* workers that wait for more of a request's body */
    apr_thread_cond_t *came_back;

    int wake_fd;               /* eventfd, -1: none */

    /* The session's thread alone: */
    mspdy_stream *first_stream;
    mspdy_stream *first_finished; /* freed once what they sent has gone */
    int stream_count;          /* all, with those that only wait for their worker */
    int push_count;            /* those of them that we opened */
    size_t body_bytes;         /* of requests, held for workers; looked at for SPDY/2 */
    bool input_ended;
    bool failed;               /* what remains is to send the output and close */
    bool going_away;
    apr_pool_t *event_pool;       /* while an event is handled */
    apr_bucket_brigade *in_brigade;
    apr_bucket_brigade *out_brigade;
    apr_time_t idle_since;     /* when the last stream ended, or the session began */
    apr_time_t written_at;     /* when the connection last took something */
    apr_time_t data_sent_at;   /* when any stream last sent some of a body */
    apr_time_t stalls_checked_at;
    apr_pool_t *spare_pools[MSPDY_SPARE_POOLS];
    int spare_count;
} mspdy_session;

/* NULL: no memory or no descriptor; told in the error log. */
mspdy_session *mspdy_session_new(conn_rec *c1, server_rec *server, spdy_version version);

typedef enum mspdy_outcome {
    MSPDY_IDLE,  /* nothing is going on: whoever can wait for input may call again */
    MSPDY_OVER   /* close the connection */
} mspdy_outcome;

/* Serves the session until it is over, or, with may_pause, idle. */
mspdy_outcome mspdy_session_run(mspdy_session *session, bool may_pause);

/* The MPM closes an idle connection: says goodbye. */
void mspdy_session_goodbye(mspdy_session *session);

/* Wakes the session's thread. With the session's lock held. */
void mspdy_session_wake(mspdy_session *session);

/* The session of a client's connection; NULL: it speaks something else. */
mspdy_session *mspdy_session_of(const conn_rec *c);

#endif
