#include "mspdy_accounting.h"

#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "mod_status.h"
#include "scoreboard.h"

#include "mspdy_session.h"
#include "mspdy_workers.h"

APLOG_USE_MODULE(spdy);

/* mod_logio offers these two; they are declared only in its source and in httpd's core. */
APR_DECLARE_OPTIONAL_FN(void, ap_logio_add_bytes_in, (conn_rec *, apr_off_t));
APR_DECLARE_OPTIONAL_FN(void, ap_logio_add_bytes_out, (conn_rec *, apr_off_t));

static APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_in) *add_bytes_in;
static APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_out) *add_bytes_out;

void mspdy_accounting_find_logio(void)
{
    add_bytes_in = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_in);
    add_bytes_out = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_out);
}

void mspdy_accounting_bytes(mspdy_stream *stream)
{
    /* mod_logio knows the connection only once its pre_connection hook has run. */
    if (!stream->eor_seen)
        return;
    apr_thread_mutex_lock(stream->session->lock);
    apr_off_t in = (apr_off_t)stream->wire_bytes_in, out = (apr_off_t)stream->wire_bytes_out;
    apr_thread_mutex_unlock(stream->session->lock);
    if (add_bytes_in != NULL)
        add_bytes_in(stream->c2, in);
    if (add_bytes_out != NULL)
        add_bytes_out(stream->c2, out);
}

/* Several threads would write into the slot of the one connection: it is
 * written with the session's lock held, and c2 has no slot of its own. */
void mspdy_accounting_begins(mspdy_stream *stream, request_rec *r)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    ap_update_child_status(session->c1->sbh, SERVER_BUSY_WRITE, r);
    apr_thread_mutex_unlock(session->lock);
}

int mspdy_accounting_log(request_rec *r)
{
    mspdy_stream *stream = mspdy_stream_of(r->connection);
    if (stream != NULL && ap_extended_status) {
        mspdy_session *session = stream->session;
        apr_thread_mutex_lock(session->lock);
        ap_increment_counts(session->c1->sbh, r);
        apr_thread_mutex_unlock(session->lock);
    }
    return OK;
}

int mspdy_accounting_status(request_rec *r, int flags)
{
    mspdy_workers_counts counts = mspdy_workers_count();
    if (flags & AP_STATUS_SHORT)
        ap_rprintf(r, "SpdySessions: %d\nSpdyThreads: %d\nSpdyIdleThreads: %d\nSpdyMaxThreads: %d\n",
                   counts.sessions, counts.threads, counts.idle, counts.most);
    else
        ap_rprintf(r,
                   "<hr />\n<h2>SPDY in process %" APR_PID_T_FMT "</h2>\n"
                   "<p>%d sessions; %d threads for streams, %d of them idle, %d at most</p>\n",
                   getpid(), counts.sessions, counts.threads, counts.idle, counts.most);
    return OK;
}
