#include "mspdy_workers.h"

#include <pthread.h>
#include <signal.h>

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"
#include "apr_thread_proc.h"
#include "http_log.h"
#include "http_protocol.h"
#include "mod_status.h"
#include "mpm_common.h"

#include "mspdy_request.h"

APLOG_USE_MODULE(spdy);

/* An idle thread beyond SpdyMinThreadsPerProcess ends after this. */
#define IDLE_ENDS_AFTER apr_time_from_sec(10)

typedef struct worker {
    struct worker *next; /* of those that have ended and are to be joined */
    apr_pool_t *pool;
    apr_thread_t *thread;
    int number;
    mspdy_job *job; /* NULL: it has none */
} worker;

static struct {
    apr_pool_t *pool;
    server_rec *server;
    apr_thread_mutex_t *mutex;
    apr_thread_cond_t *work; /* there is something to do, or to stop for */
    apr_thread_cond_t *gone; /* a thread has ended */
    mspdy_share *first_queued, *last_queued;
    mspdy_share *first_joined;
    worker *ended;
    worker **numbered; /* by the number of the thread, which connections' ids are made of; NULL: it is free */
    int threads, idle, running, queued, sessions;
    int least, most, most_of_session;
    int kept; /* of the threads, for sessions that have none */
    bool stopping;
} all;

/* ---- the queue: sessions in turn, each with its jobs by priority ---- */

/* A session as the pool knows it. */
struct mspdy_share {
    mspdy_desk *desk;
    mspdy_job *first_queued;
    int running; /* how many threads have a job of it */
    mspdy_share *next_queued, *previous_queued; /* sessions with queued jobs */
    mspdy_share *next_joined, *previous_joined;
};

static void share_append(mspdy_share *share)
{
    share->next_queued = NULL;
    share->previous_queued = all.last_queued;
    *(all.last_queued != NULL ? &all.last_queued->next_queued : &all.first_queued) = share;
    all.last_queued = share;
}

static void share_remove(mspdy_share *share)
{
    *(share->previous_queued != NULL ? &share->previous_queued->next_queued : &all.first_queued) = share->next_queued;
    *(share->next_queued != NULL ? &share->next_queued->previous_queued : &all.last_queued) = share->previous_queued;
}

/* A session may have as many threads as are left for others, and of the last
 * ones no more than one: a few that keep their threads do not keep all. */
static bool may_run_more(const mspdy_share *share)
{
    int left = all.most - all.running;
    if (share->running == 0)
        return true;
    return share->running < all.most_of_session && share->running < left && left > all.kept;
}

static void queue_put(mspdy_job *job)
{
    mspdy_job **place = &job->share->first_queued;
    if (*place == NULL)
        share_append(job->share);
    /* Without priorities by age: the same config, since jobs of a share are of one session. */
    bool by_priority = job->config->scheduling == SPDY_BY_PRIORITY;
    while (*place != NULL && (!by_priority || (*place)->priority <= job->priority))
        place = &(*place)->next_queued;
    job->next_queued = *place;
    *place = job;
    all.queued++;
}

static mspdy_job *queue_take(void)
{
    mspdy_share *share = all.first_queued;
    while (share != NULL && !may_run_more(share))
        share = share->next_queued;
    if (share == NULL)
        return NULL;
    mspdy_job *job = share->first_queued;
    share->first_queued = job->next_queued;
    share->running++;
    all.running++;
    share_remove(share);
    if (share->first_queued != NULL)
        share_append(share);
    all.queued--;
    return job;
}

bool mspdy_workers_withdraw(mspdy_job *job)
{
    mspdy_share *share = job->share;
    apr_thread_mutex_lock(all.mutex);
    mspdy_job **place = &share->first_queued;
    while (*place != NULL && *place != job)
        place = &(*place)->next_queued;
    bool found = *place != NULL;
    if (found) {
        *place = job->next_queued;
        if (share->first_queued == NULL)
            share_remove(share);
        all.queued--;
    }
    apr_thread_mutex_unlock(all.mutex);
    return found;
}

/* ---- threads ---- */

/* With the mutex held, which is let go while it waits. */
static mspdy_job *next_job(void)
{
    bool waited_enough = false;
    for (;;) {
        mspdy_job *job = all.stopping ? NULL : queue_take();
        if (job != NULL || all.stopping || (waited_enough && all.threads > all.least))
            return job;
        all.idle++;
        waited_enough = APR_STATUS_IS_TIMEUP(apr_thread_cond_timedwait(all.work, all.mutex, IDLE_ENDS_AFTER));
        all.idle--;
    }
}

static void *APR_THREAD_FUNC worker_main(apr_thread_t *thread, void *context)
{
    worker *self = context;
    apr_thread_mutex_lock(all.mutex);
    for (mspdy_job *job; (job = next_job()) != NULL;) {
        self->job = job;
        apr_thread_mutex_unlock(all.mutex);
        mspdy_request_serve(job, thread, self->number);
        apr_thread_mutex_lock(all.mutex);
        self->job = NULL;
        job->share->running--;
        all.running--;
        mspdy_exchange_done(job->exchange); /* now all of it may vanish, and its session */
    }
    all.threads--;
    all.numbered[self->number] = NULL;
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
    while (all.numbered[self->number] != NULL)
        self->number++;
    apr_status_t rv = thread_create(self);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, all.server,
                     "mod_spdy could not start a thread for streams; %d are running, SpdyMaxThreadsPerProcess is %d",
                     all.threads, all.most);
        apr_pool_destroy(pool);
        return false;
    }
    all.numbered[self->number] = self;
    all.threads++;
    return true;
}

bool mspdy_workers_submit(mspdy_job *job)
{
    bool fine = true;
    apr_thread_mutex_lock(all.mutex);
    queue_put(job);
    if (all.queued > all.idle && all.threads < all.most && !worker_new() && all.threads == 0)
        fine = false;
    else if (all.idle > 0)
        apr_thread_cond_signal(all.work);
    apr_thread_mutex_unlock(all.mutex);
    if (!fine && !mspdy_workers_withdraw(job))
        fine = true; /* another session's submit has made a thread meanwhile, and that has it */
    return fine;
}

/* Sessions that the MPM waits for have no thread any more that could say so. */
static void want_nothing(void)
{
    for (int i = 0; i < all.most; i++)
        if (all.numbered[i] != NULL && all.numbered[i]->job != NULL)
            mspdy_exchange_set_want(all.numbered[i]->job->exchange, MSPDY_UNWANTED);
}

static apr_status_t stop(void *unused)
{
    (void)unused;
    apr_thread_mutex_lock(all.mutex);
    all.stopping = true;
    want_nothing();
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
    all.most_of_session = config->max_session_threads > 0 ? config->max_session_threads : all.most;
    all.kept = all.most / 3;
    all.numbered = apr_pcalloc(all.pool, (apr_size_t)all.most * sizeof(worker *));
    if (apr_thread_mutex_create(&all.mutex, APR_THREAD_MUTEX_DEFAULT, all.pool) != APR_SUCCESS ||
        apr_thread_cond_create(&all.work, all.pool) != APR_SUCCESS ||
        apr_thread_cond_create(&all.gone, all.pool) != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, main_server, "mod_spdy got no mutex for its threads from the system");
    apr_pool_pre_cleanup_register(child_pool, NULL, stop);
}

/* ---- sessions ---- */

mspdy_share *mspdy_workers_join(apr_pool_t *pool, mspdy_desk *desk)
{
    mspdy_share *share = apr_pcalloc(pool, sizeof(*share));
    share->desk = desk;
    apr_thread_mutex_lock(all.mutex);
    share->next_joined = all.first_joined;
    if (all.first_joined != NULL)
        all.first_joined->previous_joined = share;
    all.first_joined = share;
    all.sessions++;
    apr_thread_mutex_unlock(all.mutex);
    return share;
}

void mspdy_workers_leave(mspdy_share *share)
{
    apr_thread_mutex_lock(all.mutex);
    if (share->previous_joined != NULL)
        share->previous_joined->next_joined = share->next_joined;
    else
        all.first_joined = share->next_joined;
    if (share->next_joined != NULL)
        share->next_joined->previous_joined = share->previous_joined;
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
    for (mspdy_share *share = all.first_joined; share != NULL; share = share->next_joined)
        mspdy_desk_ring(share->desk);
    apr_thread_mutex_unlock(all.mutex);
}

int mspdy_workers_status(request_rec *r, int flags)
{
    int sessions = 0, threads = 0, idle = 0;
    if (all.mutex != NULL) {
        apr_thread_mutex_lock(all.mutex);
        sessions = all.sessions;
        threads = all.threads;
        idle = all.idle;
        apr_thread_mutex_unlock(all.mutex);
    }
    if (flags & AP_STATUS_SHORT)
        ap_rprintf(r, "SpdySessions: %d\nSpdyThreads: %d\nSpdyIdleThreads: %d\nSpdyMaxThreads: %d\n", sessions,
                   threads, idle, all.most);
    else
        ap_rprintf(r,
                   "<hr />\n<h2>SPDY in process %" APR_PID_T_FMT "</h2>\n"
                   "<p>%d sessions; %d threads for streams, %d of them idle, %d at most</p>\n",
                   getpid(), sessions, threads, idle, all.most);
    return OK;
}
