/* What passes between a session's thread and the workers that serve its
 * streams. Both structures are closed: whatever is in them is guarded by the one
 * lock in them, and all locking is in mspdy_exchange.c. */
#ifndef MSPDY_EXCHANGE_H
#define MSPDY_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "apr_pools.h"

/* Of a session: its lock, a bell that wakes its thread, and which exchanges it
 * is to look at. */
typedef struct mspdy_desk mspdy_desk;
/* Of a stream: its two bodies, its response's head, and who has it. */
typedef struct mspdy_exchange mspdy_exchange;

struct mspdy_response;

/* Who has the stream's job: QUEUED, then RUNNING, then BACK; or, never begun,
 * QUEUED, then BACK. Of what is BACK all is the session's, which may lend it to
 * the workers once more: QUEUED again. */
typedef enum mspdy_stage { MSPDY_QUEUED, MSPDY_RUNNING, MSPDY_BACK } mspdy_stage;

/* What the session still wants of the worker: first WANTED, then one of the
 * others for good. */
typedef enum mspdy_want {
    MSPDY_WANTED,
    MSPDY_ANSWERED, /* the response was sent: of the request's body nothing more is passed on */
    MSPDY_UNWANTED  /* nobody wants the response any more */
} mspdy_want;

/* What the session finds when it looks at an exchange. */
typedef struct mspdy_view {
    mspdy_stage stage;
    const struct mspdy_response *response; /* NULL: not given yet */
    bool has_output;
    bool output_ended;  /* nothing follows what is in the output */
    size_t body_used;   /* of the request, by the worker, since the last look */
} mspdy_view;

/* ---- the session's ---- */

/* `room_bytes`: of one response, waiting. `unread`: the client may not be read
 * because of bodies, so that who waits for one rings the bell. NULL: the system
 * has no lock or descriptor for it. */
mspdy_desk *mspdy_desk_new(apr_pool_t *pool, size_t room_bytes, bool unread);
void mspdy_desk_close(mspdy_desk *desk);
/* Readable once the bell was rung. */
int mspdy_desk_fd(const mspdy_desk *desk);
void mspdy_desk_ring(mspdy_desk *desk);
void mspdy_desk_silence(mspdy_desk *desk);
/* The owner of the next exchange in which something has changed; NULL: no more. */
void *mspdy_desk_next(mspdy_desk *desk, mspdy_view *view);
/* Does a worker wait for more of a body? */
bool mspdy_desk_hungry(mspdy_desk *desk);
/* Are all back, and all changes seen? */
bool mspdy_desk_quiet(mspdy_desk *desk);
/* Waits until all are back. */
void mspdy_desk_wait(mspdy_desk *desk);

/* QUEUED, and WANTED. NULL: no memory. */
mspdy_exchange *mspdy_exchange_new(mspdy_desk *desk, apr_pool_t *pool, void *owner, bool body_ended);
/* Of one that is BACK. Returns how much of the request's body was in it. */
size_t mspdy_exchange_free(mspdy_exchange *exchange);
/* False: no memory. *queued: no worker has begun on it. */
bool mspdy_exchange_put_body(mspdy_exchange *exchange, const char *bytes, size_t length, bool end, bool *queued);
/* The response's next bytes, and what is there behind them. */
size_t mspdy_exchange_take(mspdy_exchange *exchange, char *to, size_t most, mspdy_view *view);
mspdy_stage mspdy_exchange_stage(mspdy_exchange *exchange);
/* BACK becomes QUEUED. */
void mspdy_exchange_lend(mspdy_exchange *exchange);
/* No worker got it, or will: QUEUED becomes BACK. */
void mspdy_exchange_withdraw(mspdy_exchange *exchange);
void mspdy_exchange_set_want(mspdy_exchange *exchange, mspdy_want want);

/* ---- the worker's ---- */

void mspdy_exchange_begin(mspdy_exchange *exchange);
mspdy_want mspdy_exchange_wanted(mspdy_exchange *exchange);
/* Waits, if it may, until there is room, or nobody wants the response. How long
 * that may take the session knows: others may be more urgent. */
apr_status_t mspdy_exchange_put(mspdy_exchange *exchange, const char *bytes, size_t length, bool may_wait,
                                size_t *done);
/* Bytes of the request's body; none at its end. */
apr_status_t mspdy_exchange_take_body(mspdy_exchange *exchange, char *to, size_t most, bool may_wait,
                                      apr_interval_time_t timeout, size_t *taken);
/* The session sees it with the next mspdy_exchange_show. */
void mspdy_exchange_give_head(mspdy_exchange *exchange, const struct mspdy_response *response);
/* What was put is to be sent. `end`: it was all. */
void mspdy_exchange_show(mspdy_exchange *exchange, bool end);
/* RUNNING becomes BACK. */
void mspdy_exchange_done(mspdy_exchange *exchange);

#endif
