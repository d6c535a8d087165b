/* A job: what a worker is given of a stream, and gives back. The session's
 * thread makes and ends it. While a worker runs it the pool, the connection and
 * all below "the worker's" are that worker's alone; when it is BACK (see
 * mspdy_exchange.h) all of it is the session's, which then also reads what is
 * left of the response (a file, as a rule) and logs the request when its last
 * byte has gone. */
#ifndef MSPDY_JOB_H
#define MSPDY_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "httpd.h"
#include "util_filter.h"

#include "mspdy_accounting.h"
#include "mspdy_config.h"
#include "mspdy_exchange.h"
#include "spdy_http.h"

/* How far a response is, from one to the next; any but COMPLETE may break. */
typedef enum mspdy_progress {
    MSPDY_HEADLESS,
    MSPDY_UNDER_WAY, /* its head was given */
    MSPDY_COMPLETE,  /* so was its end */
    MSPDY_BROKEN     /* it cannot be completed */
} mspdy_progress;

typedef struct mspdy_job {
    /* Not changed once it is made. */
    uint32_t id; /* of the stream */
    unsigned priority;
    bool pushed;
    bool has_body;
    int refused; /* it went beyond a limit: answer this status; 0: it did not */
    spdy_version version;
    const mspdy_config *config;
    struct mspdy_share *share; /* the session's, of the workers */
    mspdy_slot *slot;
    mspdy_exchange *exchange;
    const char *method;
    const char *target;
    const char *protocol;
    const char *scheme;
    apr_table_t *headers;

    struct mspdy_job *next_queued; /* mspdy_workers' */
    _Atomic uint64_t wire_bytes_in, wire_bytes_out;

    /* The worker's. */
    apr_pool_t *pool; /* with an allocator of its own */
    conn_rec *c2;
    mspdy_progress progress;
    apr_bucket_brigade *held; /* buckets that did not fit into the exchange; last the EOR */
} mspdy_job;

/* As many as a client may have streams by default; when the session idles, one. */
enum { MSPDY_SPARE_POOLS = 100, MSPDY_IDLE_SPARE_POOLS = 1 };

/* What all jobs of a session have in common; its thread's alone. */
typedef struct mspdy_job_kit {
    conn_rec *c1;
    spdy_version version;
    const mspdy_config *config;
    mspdy_desk *desk;
    mspdy_slot *slot;
    struct mspdy_share *share;
    uint64_t made;
    apr_pool_t *spare_pools[MSPDY_SPARE_POOLS];
    int spare_count;
} mspdy_job_kit;

typedef struct mspdy_job_origin {
    uint32_t id;
    unsigned priority;
    bool pushed;
    bool has_body;
    int refused; /* a status of HTTP, 0: none. Then of the request little is copied */
} mspdy_job_origin;

/* NULL when httpd has no memory for it. `request` and its fields are copied. */
mspdy_job *mspdy_job_new(mspdy_job_kit *kit, void *owner, const mspdy_job_origin *origin,
                         const spdy_http_request *request);

/* Logs its request and ends that, unless it has been done. For whoever has the
 * job. `whole`: the response was sent. */
void mspdy_job_end_request(mspdy_job *job, bool whole, ap_conn_keepalive_e keepalive);

/* The job is BACK, its request ended. */
void mspdy_job_free(mspdy_job_kit *kit, mspdy_job *job);

/* Gives back most of what is kept for further jobs. */
void mspdy_job_kit_idle(mspdy_job_kit *kit);

/* The job of a secondary connection; NULL for any other. */
mspdy_job *mspdy_job_of(const conn_rec *c);

#endif
