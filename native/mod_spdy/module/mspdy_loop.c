#include "mspdy_loop.h"

#include <errno.h>

#include "ap_mpm.h"
#include "http_core.h"
#include "http_log.h"
#include "scoreboard.h"

#include "mspdy_mpm.h"
#include "mspdy_outgoing.h"
#include "mspdy_push.h"
#include "mspdy_wait.h"
#include "mspdy_wire.h"
#include "mspdy_workers.h"

APLOG_USE_MODULE(spdy);

enum {
    READS_PER_TURN = 16,    /* then what is there to be sent has its turn, */
    BYTES_PER_TURN = 128 * 1024, /* and after these what has come */
    LINGER_MS = 5,          /* before a session that waits for its client gives its thread back */
    STALL_CHECK_MS = 1000
};

/* ---- beginning and end ---- */

static apr_status_t session_destroy(void *data)
{
    mspdy_session *session = data;
    mspdy_streams_end_all(session);
    mspdy_workers_leave(session->kit.share);
    mspdy_desk_close(session->desk);
    spdy_session_free(session->core);
    return APR_SUCCESS;
}

static bool session_open(mspdy_session *session)
{
    apr_pool_t *pool = session->c1->pool;
    spdy_limits limits;
    mspdy_config_limits(session->server, &limits);
    session->core = spdy_session_new(SPDY_ROLE_SERVER, session->version, &limits);
    session->slot = mspdy_slot_new(session->c1);
    if (session->core == NULL || session->slot == NULL ||
        apr_pool_create(&session->event_pool, pool) != APR_SUCCESS)
        return false;
    session->desk = mspdy_desk_new(pool, (size_t)session->config->buffer_bytes, session->version == SPDY_VERSION_2);
    return session->desk != NULL;
}

mspdy_session *mspdy_loop_begin(conn_rec *c1, server_rec *server, spdy_version version)
{
    mspdy_session *session = apr_pcalloc(c1->pool, sizeof(*session));
    session->c1 = c1;
    session->server = server;
    session->config = mspdy_config_of(server);
    session->version = version;
    session->in_brigade = apr_brigade_create(c1->pool, c1->bucket_alloc);
    session->out_brigade = apr_brigade_create(c1->pool, c1->bucket_alloc);
    if (!session_open(session)) {
        ap_log_cerror(APLOG_MARK, APLOG_ERR, errno, c1,
                      "SPDY session could not begin: the system has no memory, mutex or descriptor for it");
        spdy_session_free(session->core);
        return NULL;
    }
    mspdy_job_kit kit = {.c1 = c1, .version = version, .config = session->config, .desk = session->desk,
                         .slot = session->slot, .share = mspdy_workers_join(c1->pool, session->desk)};
    session->kit = kit;
    apr_pool_pre_cleanup_register(c1->pool, session, session_destroy);
    session->idle_since = session->batch_at = session->written_at = apr_time_now();
    session->patience.left = server->timeout;
    return mspdy_wire_prepare(session) ? session : NULL;
}

/* ---- one turn ---- */

static void look_at_streams(mspdy_session *session)
{
    mspdy_stream *stream;
    mspdy_view view;
    mspdy_desk_silence(session->desk);
    while ((stream = mspdy_desk_next(session->desk, &view)) != NULL) {
        const char *associated = mspdy_outgoing_associated(stream, &view);
        mspdy_stream_body_used(stream, view.body_used);
        if (associated != NULL)
            mspdy_push_associated(stream, associated);
        mspdy_outgoing_look(stream, &view);
    }
    if (session->input_ended)
        mspdy_streams_cut_waiting(session);
}

static void look_at_server(mspdy_session *session)
{
    int state = AP_MPMQ_RUNNING;
    if (!session->going_away && ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS &&
        state == AP_MPMQ_STOPPING) {
        session->going_away = true;
        spdy_session_goaway(session->core, SPDY_GOAWAY_OK);
    }
}

/* False: nothing more has come. */
static bool read_some(mspdy_session *session)
{
    for (int i = 0; i < READS_PER_TURN && mspdy_wait_may_read(session); i++)
        switch (mspdy_wire_read(session)) {
        case MSPDY_WIRE_NOTHING:
            return false;
        case MSPDY_WIRE_ENDED:
            session->input_ended = true;
            mspdy_streams_input_ended(session);
            return !session->c1->aborted;
        case MSPDY_WIRE_PROGRESS:
            break;
        }
    return true;
}

/* After half a close by the client what was asked for is still sent, as long as
 * that does not need the client's word. */
static bool nothing_can_follow(mspdy_session *session)
{
    spdy_slot slot;
    if (!session->input_ended)
        return false;
    return mspdy_desk_quiet(session->desk) && !spdy_session_next(session->core, &slot);
}

static bool has_output(mspdy_session *session)
{
    const uint8_t *bytes;
    size_t length;
    return mspdy_wire_blocked(session) || spdy_session_output(session->core, &bytes, &length);
}

/* ---- how long ---- */

static int ms_until(apr_time_t when)
{
    apr_time_t left = when - apr_time_now();
    return left <= 0 ? 0 : (int)apr_time_as_msec(left) + 1;
}

static apr_time_t idle_ends(const mspdy_session *session)
{
    return session->idle_since + session->server->keep_alive_timeout;
}

/* A client may be slow, but something has to be taken within Timeout, and a
 * batch in a time that its length justifies. */
static apr_time_t write_ends(const mspdy_session *session)
{
    apr_interval_time_t timeout = session->server->timeout;
    int rate = session->config->min_response_rate;
    apr_time_t something = session->written_at + timeout;
    if (rate == 0)
        return something;
    apr_time_t all = session->batch_at + timeout + apr_time_from_sec((apr_time_t)session->batch_bytes) / rate;
    return all < something ? all : something;
}

static bool is_idle(mspdy_session *session)
{
    return session->stream_count == 0 && !has_output(session);
}

/* Is it over? And if not, how long may it wait? */
static bool is_over(mspdy_session *session, int *wait_ms)
{
    if (session->c1->aborted || (mspdy_wire_blocked(session) && apr_time_now() > write_ends(session)))
        return true;
    *wait_ms = STALL_CHECK_MS;
    if (has_output(session))
        return false;
    if (session->failed || spdy_session_over(session->core) || nothing_can_follow(session))
        return true;
    if (session->stream_count > 0)
        return false;
    if (session->going_away || session->input_ended)
        return true;
    *wait_ms = ms_until(idle_ends(session));
    return *wait_ms == 0;
}

static void say_goodbye(mspdy_session *session)
{
    if (session->c1->aborted)
        return;
    if (!spdy_session_over(session->core))
        spdy_session_goaway(session->core, SPDY_GOAWAY_OK);
    while (mspdy_wire_write(session) == MSPDY_WIRE_PROGRESS)
        ;
}

static mspdy_outcome finish(mspdy_session *session)
{
    mspdy_streams_end_all(session);
    say_goodbye(session);
    return MSPDY_OVER;
}

void mspdy_loop_goodbye(mspdy_session *session)
{
    session->going_away = true;
    finish(session);
}

/* Reads and writes until neither goes on. A client that takes all as fast as it
 * is sent must still be heard: it may ask for something urgent, or give up. */
static bool work(mspdy_session *session)
{
    bool more_to_read, more_to_write;
    do {
        mspdy_wire written;
        size_t bytes = 0;
        mspdy_streams_reset_stalled(session);
        more_to_read = read_some(session);
        look_at_server(session);
        do {
            look_at_streams(session);
            written = mspdy_wire_write(session);
            more_to_write = written == MSPDY_WIRE_PROGRESS && !mspdy_wire_blocked(session);
            bytes += session->batch_bytes;
        } while (more_to_write && bytes + mspdy_wire_batch_bytes(session) <= BYTES_PER_TURN);
        mspdy_streams_bury(session, written != MSPDY_WIRE_ENDED);
        if (written == MSPDY_WIRE_ENDED)
            return false;
    } while (more_to_write || (more_to_read && mspdy_wait_may_read(session)));
    return true;
}

/* Nothing goes on before the client gives some window, and others need this thread. */
static bool should_leave(mspdy_session *session)
{
    return mspdy_mpm_can_wait(session->c1) && !has_output(session) && !session->input_ended && !session->going_away &&
           mspdy_wait_may_read(session) && mspdy_streams_wait_for_window(session) && mspdy_mpm_is_short(session->c1);
}

static bool may_leave(mspdy_session *session, mspdy_outcome *how)
{
    bool idle = is_idle(session);
    *how = idle ? MSPDY_IDLE : MSPDY_WAITS;
    return idle ? mspdy_mpm_can_keep(session->c1) : should_leave(session);
}

static mspdy_outcome leave(mspdy_session *session, mspdy_outcome how)
{
    if (how == MSPDY_IDLE)
        mspdy_job_kit_idle(&session->kit);
    else
        mspdy_streams_leave(session);
    mspdy_slot_leave(session->slot);
    return how;
}

mspdy_outcome mspdy_loop_run(mspdy_session *session)
{
    bool lingered = false;
    int wait_ms;
    mspdy_slot_enter(session->slot);
    mspdy_slot_set_status(session->slot, SERVER_BUSY_READ);
    for (;;) {
        bool readable, writable;
        if (!work(session) || is_over(session, &wait_ms))
            return finish(session);
        mspdy_outcome how;
        bool may = may_leave(session, &how);
        if (may && lingered)
            return leave(session, how);
        if (may)
            wait_ms = LINGER_MS;
        else if (is_idle(session)) {
            mspdy_job_kit_idle(&session->kit);
            mspdy_slot_set_status(session->slot, SERVER_BUSY_KEEPALIVE);
        }
        mspdy_wait(session, wait_ms, &readable, &writable);
        lingered = may && !readable;
    }
}
