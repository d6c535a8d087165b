/* A SPDY session on a connection of httpd's (c1 throughout: the client's
 * connection; c2: a stream's). All of it is its thread's alone; what workers
 * share with it is behind `desk`, `slot` and `share`. */
#ifndef MSPDY_SESSION_H
#define MSPDY_SESSION_H

#include <stdbool.h>

#include "httpd.h"

#include "mspdy_config.h"
#include "mspdy_job.h"
#include "spdy_session.h"

/* How long a client is waited for: Timeout at first and at most. Waiting takes
 * from it, and each byte sent adds what SpdyMinResponseRate gives it. */
typedef struct mspdy_patience {
    apr_interval_time_t left;
    bool waited; /* at the last look */
} mspdy_patience;

typedef struct mspdy_session {
    conn_rec *c1;
    server_rec *server;        /* whose configuration counts: the handshake's */
    const mspdy_config *config;
    spdy_version version;
    spdy_session *core;
    mspdy_desk *desk;
    mspdy_slot *slot;
    mspdy_job_kit kit;

    struct mspdy_stream *first_stream;
    struct mspdy_stream *first_finished; /* freed once what they sent has gone */
    int stream_count;          /* all, with those that only wait for their worker */
    int push_count;            /* those of them that we opened */
    size_t body_bytes;         /* of requests, held for workers; looked at for SPDY/2 */
    bool input_ended;
    bool failed;               /* what remains is to send the output and close */
    bool going_away;
    apr_pool_t *event_pool;    /* while an event is handled */
    apr_bucket_brigade *in_brigade;
    apr_bucket_brigade *out_brigade;
    struct mspdy_gather *gather; /* NULL: the connection has no TLS */
    apr_time_t idle_since;     /* when the last stream ended, or the session began */
    apr_time_t batch_at;       /* when the connection was last given something, */
    size_t batch_bytes;        /* and how much */
    apr_time_t stretch_at;     /* when the stretch began by which the line's speed is judged, */
    size_t stretch_bytes;      /* and how much has gone since */
    bool line_is_fast;
    apr_time_t written_at;     /* when it last took something */
    mspdy_patience patience;   /* while the session's window is closed */
    apr_time_t looked_at;      /* for whom there is patience left */
    bool left;                 /* to the MPM since, with all of its streams waiting for window */
} mspdy_session;

#endif
