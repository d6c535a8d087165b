#include "mspdy_exchange.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"

#include "mspdy_pipe.h"

struct mspdy_desk {
    apr_thread_mutex_t *lock;
    apr_thread_cond_t *came_back;
    int bell; /* an eventfd */
    bool rung;
    bool unread;
    size_t room_bytes;
    mspdy_exchange *first_changed;
    int away;    /* exchanges that are not BACK */
    int hungry;  /* workers that wait for more of a body */
};

struct mspdy_exchange {
    mspdy_desk *desk;
    void *owner;
    apr_thread_cond_t *moved; /* tells the worker: room, data, or no longer wanted */
    bool listed;              /* among the desk's changed ones */
    mspdy_exchange *next_changed;
    mspdy_stage stage;
    mspdy_want want;
    mspdy_pipe body;
    bool body_ended;
    size_t body_used;
    mspdy_pipe output;
    bool output_ended;
    const struct mspdy_response *response;
};

static void lock(mspdy_desk *desk)
{
    apr_thread_mutex_lock(desk->lock);
}

static void unlock(mspdy_desk *desk)
{
    apr_thread_mutex_unlock(desk->lock);
}

/* ---- the desk ---- */

mspdy_desk *mspdy_desk_new(apr_pool_t *pool, size_t room_bytes, bool unread)
{
    mspdy_desk *desk = apr_pcalloc(pool, sizeof(*desk));
    desk->room_bytes = room_bytes;
    desk->unread = unread;
    if (apr_thread_mutex_create(&desk->lock, APR_THREAD_MUTEX_DEFAULT, pool) != APR_SUCCESS ||
        apr_thread_cond_create(&desk->came_back, pool) != APR_SUCCESS)
        return NULL;
    desk->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return desk->bell < 0 ? NULL : desk;
}

void mspdy_desk_close(mspdy_desk *desk)
{
    close(desk->bell);
}

int mspdy_desk_fd(const mspdy_desk *desk)
{
    return desk->bell;
}

/* These four with the lock held. An eventfd that counts to one takes every write. */

static void ring(mspdy_desk *desk)
{
    uint64_t one = 1;
    if (!desk->rung)
        desk->rung = write(desk->bell, &one, sizeof(one)) == sizeof(one);
}

static void changed(mspdy_exchange *exchange)
{
    if (!exchange->listed) {
        exchange->listed = true;
        exchange->next_changed = exchange->desk->first_changed;
        exchange->desk->first_changed = exchange;
    }
    ring(exchange->desk);
}

static void view_of(mspdy_exchange *exchange, mspdy_view *view)
{
    view->stage = exchange->stage;
    view->response = exchange->response;
    view->has_output = exchange->output.bytes > 0;
    view->output_ended = exchange->output_ended;
    view->body_used = exchange->body_used;
    exchange->body_used = 0;
}

static void back(mspdy_exchange *exchange)
{
    exchange->stage = MSPDY_BACK;
    exchange->desk->away--;
    apr_thread_cond_signal(exchange->desk->came_back);
}

void mspdy_desk_ring(mspdy_desk *desk)
{
    lock(desk);
    ring(desk);
    unlock(desk);
}

void mspdy_desk_silence(mspdy_desk *desk)
{
    uint64_t count;
    lock(desk);
    if (desk->rung)
        desk->rung = read(desk->bell, &count, sizeof(count)) < 0;
    unlock(desk);
}

void *mspdy_desk_next(mspdy_desk *desk, mspdy_view *view)
{
    void *owner = NULL;
    lock(desk);
    mspdy_exchange *first = desk->first_changed;
    if (first != NULL) {
        desk->first_changed = first->next_changed;
        first->listed = false;
        owner = first->owner;
        view_of(first, view);
    }
    unlock(desk);
    return owner;
}

bool mspdy_desk_hungry(mspdy_desk *desk)
{
    lock(desk);
    bool hungry = desk->hungry > 0;
    unlock(desk);
    return hungry;
}

bool mspdy_desk_quiet(mspdy_desk *desk)
{
    lock(desk);
    bool quiet = desk->away == 0 && desk->first_changed == NULL;
    unlock(desk);
    return quiet;
}

void mspdy_desk_wait(mspdy_desk *desk)
{
    lock(desk);
    while (desk->away > 0)
        apr_thread_cond_wait(desk->came_back, desk->lock);
    unlock(desk);
}

/* ---- an exchange, from the session's side ---- */

mspdy_exchange *mspdy_exchange_new(mspdy_desk *desk, apr_pool_t *pool, void *owner, bool body_ended)
{
    mspdy_exchange *exchange = apr_pcalloc(pool, sizeof(*exchange));
    if (apr_thread_cond_create(&exchange->moved, pool) != APR_SUCCESS)
        return NULL;
    exchange->desk = desk;
    exchange->owner = owner;
    exchange->body_ended = body_ended;
    lock(desk);
    desk->away++;
    unlock(desk);
    return exchange;
}

size_t mspdy_exchange_free(mspdy_exchange *exchange)
{
    mspdy_desk *desk = exchange->desk;
    size_t left = exchange->body.bytes + exchange->body_used;
    lock(desk);
    if (exchange->listed) {
        mspdy_exchange **place = &desk->first_changed;
        while (*place != exchange)
            place = &(*place)->next_changed;
        *place = exchange->next_changed;
    }
    unlock(desk);
    mspdy_pipe_clear(&exchange->body);
    mspdy_pipe_clear(&exchange->output);
    return left;
}

bool mspdy_exchange_put_body(mspdy_exchange *exchange, const char *bytes, size_t length, bool end, bool *queued)
{
    lock(exchange->desk);
    bool fine = mspdy_pipe_put(&exchange->body, bytes, length);
    exchange->body_ended = exchange->body_ended || end;
    *queued = exchange->stage == MSPDY_QUEUED;
    apr_thread_cond_signal(exchange->moved);
    unlock(exchange->desk);
    return fine;
}

size_t mspdy_exchange_take(mspdy_exchange *exchange, char *to, size_t most, mspdy_view *view)
{
    lock(exchange->desk);
    size_t used = exchange->body_used; /* stays for whoever looks next */
    size_t taken = mspdy_pipe_take(&exchange->output, to, most);
    if (taken > 0 && exchange->stage == MSPDY_RUNNING)
        apr_thread_cond_signal(exchange->moved);
    view_of(exchange, view);
    exchange->body_used = used;
    unlock(exchange->desk);
    return taken;
}

mspdy_stage mspdy_exchange_stage(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    mspdy_stage stage = exchange->stage;
    unlock(exchange->desk);
    return stage;
}

void mspdy_exchange_lend(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    exchange->stage = MSPDY_QUEUED;
    exchange->desk->away++;
    unlock(exchange->desk);
}

void mspdy_exchange_withdraw(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    back(exchange);
    unlock(exchange->desk);
}

void mspdy_exchange_set_want(mspdy_exchange *exchange, mspdy_want want)
{
    lock(exchange->desk);
    if (exchange->want == MSPDY_WANTED)
        exchange->want = want;
    apr_thread_cond_signal(exchange->moved);
    unlock(exchange->desk);
}

/* ---- from the worker's side ---- */

void mspdy_exchange_begin(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    exchange->stage = MSPDY_RUNNING;
    unlock(exchange->desk);
}

mspdy_want mspdy_exchange_wanted(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    mspdy_want want = exchange->want;
    unlock(exchange->desk);
    return want;
}

apr_status_t mspdy_exchange_put(mspdy_exchange *exchange, const char *bytes, size_t length, bool may_wait,
                                size_t *done)
{
    mspdy_desk *desk = exchange->desk;
    apr_status_t rv = APR_SUCCESS;
    *done = 0;
    lock(desk);
    while (*done < length && rv == APR_SUCCESS) {
        size_t n = desk->room_bytes - exchange->output.bytes;
        if (n > length - *done)
            n = length - *done;
        if (exchange->want == MSPDY_UNWANTED)
            rv = APR_ECONNABORTED;
        else if (exchange->want == MSPDY_ANSWERED)
            *done = length; /* behind the response's end: there is nowhere for it */
        else if (n > 0 && !mspdy_pipe_put(&exchange->output, bytes + *done, n))
            rv = APR_ENOMEM;
        else if (n > 0)
            *done += n;
        else if (!may_wait)
            break;
        else {
            changed(exchange);
            rv = apr_thread_cond_wait(exchange->moved, desk->lock);
        }
    }
    unlock(desk);
    return rv;
}

apr_status_t mspdy_exchange_take_body(mspdy_exchange *exchange, char *to, size_t most, bool may_wait,
                                      apr_interval_time_t timeout, size_t *taken)
{
    mspdy_desk *desk = exchange->desk;
    apr_status_t rv = APR_SUCCESS;
    *taken = 0;
    lock(desk);
    while (exchange->body.bytes == 0 && !exchange->body_ended && rv == APR_SUCCESS) {
        if (exchange->want != MSPDY_WANTED)
            rv = exchange->want == MSPDY_ANSWERED ? APR_EOF : APR_ECONNABORTED;
        else if (!may_wait)
            rv = APR_EAGAIN;
        else {
            desk->hungry++;
            if (desk->unread)
                ring(desk);
            rv = apr_thread_cond_timedwait(exchange->moved, desk->lock, timeout);
            desk->hungry--;
        }
    }
    if (exchange->body.bytes > 0) {
        rv = APR_SUCCESS;
        *taken = mspdy_pipe_take(&exchange->body, to, most);
        exchange->body_used += *taken;
        changed(exchange);
    }
    unlock(desk);
    return rv;
}

void mspdy_exchange_give_head(mspdy_exchange *exchange, const struct mspdy_response *response)
{
    lock(exchange->desk);
    exchange->response = response;
    unlock(exchange->desk);
}

void mspdy_exchange_show(mspdy_exchange *exchange, bool end)
{
    lock(exchange->desk);
    exchange->output_ended = end;
    changed(exchange);
    unlock(exchange->desk);
}

void mspdy_exchange_done(mspdy_exchange *exchange)
{
    lock(exchange->desk);
    back(exchange);
    changed(exchange);
    unlock(exchange->desk);
}
