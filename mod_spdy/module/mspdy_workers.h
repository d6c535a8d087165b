/* The threads of this process that work on streams: a bounded pool, shared by
 * all sessions in turn, and within a session by priority, then by age. */
#ifndef MSPDY_WORKERS_H
#define MSPDY_WORKERS_H

#include <stdbool.h>

#include "httpd.h"

struct mspdy_session;
struct mspdy_stream;

/* child_init: no thread begins before there is work. */
void mspdy_workers_init(apr_pool_t *child_pool, server_rec *main_server);

/* A session in this process begins and ends: those that exist are woken when
 * the process is to stop. */
void mspdy_workers_join(struct mspdy_session *session);
void mspdy_workers_leave(struct mspdy_session *session);

/* False: there is no thread and none could be made. */
bool mspdy_workers_submit(struct mspdy_stream *stream);
/* Takes a stream back; false when a worker has it already. */
bool mspdy_workers_withdraw(struct mspdy_stream *stream);

/* child_stopping: lets every session know. */
void mspdy_workers_stopping(apr_pool_t *child_pool, int graceful);

/* For mod_status. */
typedef struct mspdy_workers_counts {
    int threads, idle, most, sessions;
} mspdy_workers_counts;
mspdy_workers_counts mspdy_workers_count(void);

#endif
