/* A stream: one request of the client (or one pushed response), its secondary
 * connection, and the bytes that pass between the session and the worker.
 *
 * Who may touch it: the session's thread makes and ends it. While its stage is
 * MSPDY_RUNNING the pool, the connection and the request are the worker's
 * alone; what both need is in the part that the session's lock guards. When the
 * worker is done everything is the session's again, which then also reads what
 * is left of the response (a file, as a rule) and logs the request when its
 * last byte has gone. */
#ifndef MSPDY_STREAM_H
#define MSPDY_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "apr_thread_cond.h"
#include "httpd.h"

#include "mspdy_pipe.h"
#include "spdy_http.h"

struct mspdy_session;

/* What stands before the compressed block in SYN_STREAM. */
enum { MSPDY_SYN_STREAM_HEAD_BYTES = 18 };

typedef enum mspdy_stage {
    MSPDY_QUEUED,  /* waits for a worker */
    MSPDY_RUNNING, /* a worker has it */
    MSPDY_DONE     /* the worker has given it back */
} mspdy_stage;

/* The response's head, as the worker leaves it. Lives in the stream's pool. */
typedef struct mspdy_response {
    spdy_text status; /* "200 OK" */
    spdy_header *fields;
    size_t field_count;
    bool no_body;          /* nothing follows: HEAD, 204, 304, or simply empty */
    const char *associated; /* X-Associated-Content, if there was one and push is on */
} mspdy_response;

typedef struct mspdy_stream {
    struct mspdy_session *session;
    struct mspdy_stream *next, *previous; /* of the session */
    uint32_t id;
    unsigned priority;
    bool pushed;
    apr_pool_t *pool; /* with an allocator of its own */
    conn_rec *c2;

    /* The request, written before a worker has the stream. */
    const char *method;
    const char *target;
    const char *protocol;
    const char *scheme;
    apr_table_t *headers;
    bool has_body;

    /* Guarded by the workers' mutex. */
    mspdy_stage stage;
    struct mspdy_stream *next_queued;

    /* Guarded by the session's lock. */
    apr_thread_cond_t *changed;  /* tells the worker: room, data, or aborted */
    bool aborted;                /* nobody wants the response any more */
    bool flagged;                /* in the session's list of streams to look at */
    bool started;                /* a worker has taken it */
    bool sent;                   /* the response; of the request's body nothing more is passed on */
    bool worker_done;
    struct mspdy_stream *next_flagged;
    mspdy_pipe body;             /* of the request */
    bool body_ended;
    size_t body_consumed;        /* the session has to give the client window for these */
    mspdy_pipe output;           /* of the response */
    mspdy_response *response;
    bool output_ended;           /* the response is whole in output */
    uint64_t wire_bytes_in;
    uint64_t wire_bytes_out;

    /* The worker's, and after it the session's. */
    apr_bucket_brigade *held;    /* buckets that did not fit into output; last the EOR */
    bool head_given;             /* response was set */
    bool eos_seen;
    bool broken;                 /* the response cannot be completed */
    bool eor_seen;

    /* The session's alone. */
    bool closed;                 /* nothing is sent any more; what remains is the worker's */
    bool returned;               /* no worker has it, or will have it */
    bool finished;               /* in the session's list of streams to free */
    struct mspdy_stream *next_finished;
    bool replied;
    bool fin_sent;
    bool offers_data;            /* has bytes that the client has to give window for */
    apr_time_t progress_at;      /* when it last sent something, or had nothing to send */
} mspdy_stream;

/* NULL when httpd has no memory for it. `request` and its fields are copied. */
mspdy_stream *mspdy_stream_new(struct mspdy_session *session, uint32_t id, unsigned priority,
                               const spdy_http_request *request);

/* Logs its request and ends that, unless it has been done. For whoever has the
 * stream: its worker, or after that the session. `whole`: the response was sent. */
void mspdy_stream_end_request(mspdy_stream *stream, bool whole, ap_conn_keepalive_e keepalive);

/* Ends it, with its request if that is still to be done. No worker has it. */
void mspdy_stream_free(mspdy_stream *stream);

/* The stream of a secondary connection; NULL for any other. */
mspdy_stream *mspdy_stream_of(const conn_rec *c);

/* Puts the stream on the session's list of those to look at, and wakes the
 * session. With the session's lock held. */
void mspdy_stream_flag(mspdy_stream *stream);

#endif
