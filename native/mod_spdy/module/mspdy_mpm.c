#include "mspdy_mpm.h"

#include "ap_mpm.h"
#include "scoreboard.h"

/* Of the threads of a process, one of so many is to be idle. */
enum { IDLE_ONE_OF = 4 };

static int is_async, can_wait;

void mspdy_mpm_ask(void)
{
    if (ap_mpm_query(AP_MPMQ_IS_ASYNC, &is_async) != APR_SUCCESS)
        is_async = 0;
#ifdef AP_MPMQ_CAN_WAITIO
    if (ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can_wait) != APR_SUCCESS)
        can_wait = 0;
#endif
}

bool mspdy_mpm_can_keep(const conn_rec *c)
{
    return is_async && c->cs != NULL && !c->clogging_input_filters;
}

bool mspdy_mpm_can_wait(const conn_rec *c)
{
    return can_wait && c->cs != NULL && !c->clogging_input_filters;
}

void mspdy_mpm_wait(conn_rec *c)
{
#ifdef AP_MPMQ_CAN_WAITIO
    c->cs->state = CONN_STATE_ASYNC_WAITIO;
    c->cs->sense = CONN_SENSE_WANT_READ;
#else
    (void)c;
#endif
}

/* The scoreboard has a slot for each thread, and an id of a connection names the one that serves it. */
bool mspdy_mpm_is_short(const conn_rec *c)
{
    int threads = 0, limit = 1, idle = 0;
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &limit);
    for (int i = 0; i < threads; i++) {
        const worker_score *slot = ap_get_scoreboard_worker_from_indexes((int)(c->id / limit), i);
        idle += slot != NULL && slot->status == SERVER_READY ? 1 : 0;
    }
    return idle * IDLE_ONE_OF < threads;
}
