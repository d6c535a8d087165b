/* The threads of this process that work on streams: a bounded pool, shared by
 * all sessions in turn, and within a session by priority, then by age. */
#ifndef MSPDY_WORKERS_H
#define MSPDY_WORKERS_H

#include <stdbool.h>

#include "httpd.h"

#include "mspdy_job.h"

/* child_init: no thread begins before there is work. */
void mspdy_workers_init(apr_pool_t *child_pool, server_rec *main_server);

/* A session in this process begins and ends: those that exist are woken when
 * the process is to stop. */
typedef struct mspdy_share mspdy_share;
mspdy_share *mspdy_workers_join(apr_pool_t *pool, mspdy_desk *desk);
/* All its jobs are back. */
void mspdy_workers_leave(mspdy_share *share);

/* False: there is no thread and none could be made. */
bool mspdy_workers_submit(mspdy_job *job);
/* Takes a job back; false when a worker has it already. */
bool mspdy_workers_withdraw(mspdy_job *job);

/* child_stopping: lets every session know. */
void mspdy_workers_stopping(apr_pool_t *child_pool, int graceful);

/* mod_status asks: what mod_spdy has in this process. */
int mspdy_workers_status(request_rec *r, int flags);

#endif
