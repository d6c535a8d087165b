#include "mspdy_workers.h"

#include <pthread.h>
#include <signal.h>

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"
#include "apr_thread_proc.h"
#include "http_log.h"
#include "mpm_common.h"

#include "mspdy_request.h"
#include "mspdy_session.h"

APLOG_USE_MODULE(spdy);

/* An idle thread beyond SpdyMinThreadsPerProcess ends after this. */
#define IDLE_ENDS_AFTER apr_time_from_sec(10)

typedef struct worker {
    struct worker *next; /* of those that have ended and are to be joined */
    apr_pool_t *pool;
    apr_thread_t *thread;
    int number;
} worker;

static struct {
    apr_pool_t *pool;
    server_rec *server;
    apr_thread_mutex_t *mutex;
    apr_thread_cond_t *work; /* there is something to do, or to stop for */
    apr_thread_cond_t *gone; /* a thread has ended */
    mspdy_session *first_waiting, *last_waiting;
    mspdy_session *first_joined;
    worker *ended;
    char *number_used; /* numbers of threads, which connections' ids are made of */
    int threads, idle, queued, sessions;
    int least, most;
    bool stopping;
} all;

/* ---- the queue: sessions in turn, each with its streams by priority ---- */

static void session_append(mspdy_session *session)
{
    session->waiting = true;
    session->next_waiting = NULL;
    if (all.last_waiting != NULL)
        all.last_waiting->next_waiting = session;
    else
        all.first_waiting = session;
    all.last_waiting = session;
}

static void session_remove(mspdy_session *session)
{
    mspdy_session *before = NULL;
    for (mspdy_session *s = all.first_waiting; s != session; s = s->next_waiting)
        before = s;
    if (before != NULL)
        before->next_waiting = session->next_waiting;
    else
        all.first_waiting = session->next_waiting;
    if (all.last_waiting == session)
        all.last_waiting = before;
    session->waiting = false;
}

static void queue_put(mspdy_stream *stream)
{
    mspdy_stream **place = &stream->session->first_queued;
    while (*place != NULL && (*place)->priority <= stream->priority)
        place = &(*place)->next_queued;
    stream->next_queued = *place;
    *place = stream;
    if (!stream->session->waiting)
        session_append(stream->session);
    all.queued++;
}

static mspdy_stream *queue_take(void)
{
    mspdy_session *session = all.first_waiting;
    if (session == NULL)
        return NULL;
    mspdy_stream *stream = session->first_queued;
    session->first_queued = stream->next_queued;
    session_remove(session);
    if (session->first_queued != NULL)
        session_append(session);
    all.queued--;
    return stream;
}

bool mspdy_workers_withdraw(mspdy_stream *stream)
{
    bool found = false;
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(all.mutex);
    for (mspdy_stream **place = &session->first_queued; *place != NULL; place = &(*place)->next_queued)
        if (*place == stream) {
            *place = stream->next_queued;
            if (session->first_queued == NULL)
                session_remove(session);
            all.queued--;
            stream->stage = MSPDY_DONE;
            found = true;
            break;
        }
    apr_thread_mutex_unlock(all.mutex);
    return found;
}

/* ---- threads ---- */

/* With the mutex held, which is let go while it waits. */
static mspdy_stream *next_stream(void)
{
    for (;;) {
        mspdy_stream *stream = queue_take();
        if (stream != NULL) {
            stream->stage = MSPDY_RUNNING;
            return stream;
        }
        if (all.stopping)
            return NULL;
        all.idle++;
        apr_status_t rv = apr_thread_cond_timedwait(all.work, all.mutex, IDLE_ENDS_AFTER);
        all.idle--;
        if (APR_STATUS_IS_TIMEUP(rv) && all.first_waiting == NULL && all.threads > all.least)
            return NULL;
    }
}

static void *APR_THREAD_FUNC worker_main(apr_thread_t *thread, void *context)
{
    worker *self = context;
    apr_thread_mutex_lock(all.mutex);
    for (mspdy_stream *stream; (stream = next_stream()) != NULL;) {
        apr_thread_mutex_unlock(all.mutex);
        mspdy_request_serve(stream, thread, self->number);
        apr_thread_mutex_lock(all.mutex);
    }
    all.threads--;
    all.number_used[self->number] = 0;
    self->next = all.ended;
    all.ended = self;
    apr_thread_cond_signal(all.gone);
    apr_thread_mutex_unlock(all.mutex);
    return NULL;
}

/* Threads that ended leave their pools for others to destroy. */
static void join_ended(void)
{
    while (all.ended != NULL) {
        worker *ended = all.ended;
        apr_status_t rv;
        all.ended = ended->next;
        apr_thread_join(&rv, ended->thread);
        apr_pool_destroy(ended->pool);
    }
}

/* httpd's signals are for its main thread. */
static apr_status_t thread_create(worker *self)
{
    sigset_t none, before;
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    apr_status_t rv = apr_thread_create(&self->thread, NULL, worker_main, self, self->pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv;
}

static bool worker_new(void)
{
    apr_pool_t *pool;
    join_ended();
    if (apr_pool_create(&pool, all.pool) != APR_SUCCESS)
        return false;
    apr_pool_tag(pool, "mod_spdy_worker");
    worker *self = apr_pcalloc(pool, sizeof(*self));
    self->pool = pool;
    while (all.number_used[self->number])
        self->number++;
    apr_status_t rv = thread_create(self);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, all.server,
                     "mod_spdy could not start a thread for streams; %d are running, SpdyMaxThreadsPerProcess is %d",
                     all.threads, all.most);
        apr_pool_destroy(pool);
        return false;
    }
    all.number_used[self->number] = 1;
    all.threads++;
    return true;
}

bool mspdy_workers_submit(mspdy_stream *stream)
{
    bool fine = true;
    apr_thread_mutex_lock(all.mutex);
    queue_put(stream);
    if (all.queued > all.idle && all.threads < all.most && !worker_new() && all.threads == 0)
        fine = false;
    else if (all.idle > 0)
        apr_thread_cond_signal(all.work);
    apr_thread_mutex_unlock(all.mutex);
    if (!fine && !mspdy_workers_withdraw(stream))
        fine = true; /* another session's submit has made a thread meanwhile, and that has it */
    return fine;
}

static apr_status_t stop(void *unused)
{
    (void)unused;
    apr_thread_mutex_lock(all.mutex);
    all.stopping = true;
    apr_thread_cond_broadcast(all.work);
    while (all.threads > 0)
        apr_thread_cond_wait(all.gone, all.mutex);
    join_ended();
    apr_thread_mutex_unlock(all.mutex);
    return APR_SUCCESS;
}

void mspdy_workers_init(apr_pool_t *child_pool, server_rec *main_server)
{
    const mspdy_config *config = mspdy_config_of(main_server);
    memset(&all, 0, sizeof(all));
    apr_pool_create(&all.pool, child_pool);
    apr_pool_tag(all.pool, "mod_spdy_workers");
    all.server = main_server;
    all.least = config->min_threads;
    all.most = config->max_threads > 0 ? config->max_threads : 1;
    all.number_used = apr_pcalloc(all.pool, (apr_size_t)all.most);
    if (apr_thread_mutex_create(&all.mutex, APR_THREAD_MUTEX_DEFAULT, all.pool) != APR_SUCCESS ||
        apr_thread_cond_create(&all.work, all.pool) != APR_SUCCESS ||
        apr_thread_cond_create(&all.gone, all.pool) != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "mod_spdy got no mutex for its threads from the system");
    apr_pool_pre_cleanup_register(child_pool, NULL, stop);
}

/* ---- sessions ---- */

void mspdy_workers_join(mspdy_session *session)
{
    apr_thread_mutex_lock(all.mutex);
    session->previous_joined = NULL;
    session->next_joined = all.first_joined;
    if (all.first_joined != NULL)
        all.first_joined->previous_joined = session;
    all.first_joined = session;
    all.sessions++;
    apr_thread_mutex_unlock(all.mutex);
}

void mspdy_workers_leave(mspdy_session *session)
{
    apr_thread_mutex_lock(all.mutex);
    if (session->previous_joined != NULL)
        session->previous_joined->next_joined = session->next_joined;
    else
        all.first_joined = session->next_joined;
    if (session->next_joined != NULL)
        session->next_joined->previous_joined = session->previous_joined;
    all.sessions--;
    apr_thread_mutex_unlock(all.mutex);
}

void mspdy_workers_stopping(apr_pool_t *child_pool, int graceful)
{
    (void)child_pool;
    (void)graceful;
    if (all.mutex == NULL)
        return;
    apr_thread_mutex_lock(all.mutex);
    for (mspdy_session *session = all.first_joined; session != NULL; session = session->next_joined) {
        apr_thread_mutex_lock(session->lock);
        mspdy_session_wake(session);
        apr_thread_mutex_unlock(session->lock);
    }
    apr_thread_mutex_unlock(all.mutex);
}

mspdy_workers_counts mspdy_workers_count(void)
{
    mspdy_workers_counts counts = {0, 0, all.most, 0};
    if (all.mutex == NULL)
        return counts;
    apr_thread_mutex_lock(all.mutex);
    counts.threads = all.threads;
    counts.idle = all.idle;
    counts.sessions = all.sessions;
    apr_thread_mutex_unlock(all.mutex);
    return counts;
}
