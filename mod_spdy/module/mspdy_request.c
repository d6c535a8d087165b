#include "mspdy_request.h"

#include "ap_mpm.h"
#include "apr_strings.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_main.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mod_core.h"

#include "mspdy_accounting.h"
#include "mspdy_filters.h"
#include "mspdy_session.h"

APLOG_USE_MODULE(spdy);

/* Unlike those of any other connection at this moment: mod_cgid and
 * mod_unique_id tell connections apart by it. The MPM's are below. */
static long connection_id(const conn_rec *c1, int thread_number)
{
    int daemons = 1, threads = 1, workers;
    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &daemons);
    ap_mpm_query(AP_MPMQ_HARD_LIMIT_THREADS, &threads);
    workers = mspdy_config_of(ap_server_conf)->max_threads;
    return (long)daemons * threads + (c1->id / threads) * workers + thread_number;
}

static void open_connection(mspdy_stream *stream, apr_thread_t *thread, int thread_number)
{
    conn_rec *c2 = stream->c2;
    c2->id = connection_id(c2->master, thread_number);
    c2->current_thread = thread;
    ap_pre_connection(c2, ap_get_conn_socket(c2->master));
    /* httpd notes there how far a request is: the client's connection has its
     * own. mpm_event gives c2 one in its hook, by that it still is c1's. */
    if (c2->cs != NULL && c2->cs == c2->master->cs)
        c2->cs = apr_pcalloc(c2->pool, sizeof(*c2->cs));
    mspdy_filters_of_connection(stream);
}

/* The limits that httpd's own reader of requests keeps to. */
static int check_limits(request_rec *r)
{
    const apr_array_header_t *fields = apr_table_elts(r->headers_in);
    const apr_table_entry_t *field = (const apr_table_entry_t *)fields->elts;
    if (strlen(r->the_request) > (size_t)r->server->limit_req_line) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "the request's line is longer than LimitRequestLine (%d)",
                      r->server->limit_req_line);
        return HTTP_REQUEST_URI_TOO_LARGE;
    }
    if (r->server->limit_req_fields > 0 && fields->nelts > r->server->limit_req_fields) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "%d request headers are more than LimitRequestFields (%d)",
                      fields->nelts, r->server->limit_req_fields);
        return HTTP_BAD_REQUEST;
    }
    for (int i = 0; i < fields->nelts; i++)
        if (strlen(field[i].key) + strlen(field[i].val) > (size_t)r->server->limit_req_fieldsize) {
            ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "request header %s is longer than LimitRequestFieldSize (%d)",
                          ap_escape_logitem(r->pool, field[i].key), r->server->limit_req_fieldsize);
            return HTTP_BAD_REQUEST;
        }
    return HTTP_OK;
}

/* httpd learns that a body follows from one of two headers; SPDY needs neither. */
static int check_body(request_rec *r, const mspdy_stream *stream)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");
    apr_off_t bytes;
    if (length != NULL && (!ap_parse_strict_length(&bytes, length) || (!stream->has_body && bytes > 0))) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "content-length \"%s\" is no length, or no body follows",
                      ap_escape_logitem(r->pool, length));
        return HTTP_BAD_REQUEST;
    }
    if (length == NULL && stream->has_body)
        apr_table_setn(r->headers_in, "Transfer-Encoding", "chunked");
    return HTTP_OK;
}

static int check_request(request_rec *r, const mspdy_stream *stream)
{
    int status;
    if (!ap_parse_request_line(r))
        return r->status != HTTP_OK ? r->status : HTTP_BAD_REQUEST;
    r->per_dir_config = r->server->lookup_defaults;
    if ((status = check_limits(r)) != HTTP_OK || (status = check_body(r, stream)) != HTTP_OK)
        return status;
    if (r->method_number == M_CONNECT)
        return HTTP_NOT_IMPLEMENTED; /* a tunnel would be given the socket that all streams share */
    if (!ap_check_request_header(r))
        return r->status != HTTP_OK ? r->status : HTTP_BAD_REQUEST;
    r->per_dir_config = r->server->lookup_defaults;
    return HTTP_OK;
}

static request_rec *create_request(mspdy_stream *stream)
{
    conn_rec *c2 = stream->c2;
    request_rec *r = ap_create_request(c2);
    c2->keepalive = AP_CONN_UNKNOWN;
    ap_run_pre_read_request(r, c2);
    r->request_time = apr_time_now();
    r->headers_in = apr_table_copy(r->pool, stream->headers);
    /* There are no interim responses in SPDY. */
    const char *expect = apr_table_get(r->headers_in, "Expect");
    if (expect != NULL && !ap_cstr_casecmp(expect, "100-continue"))
        apr_table_unset(r->headers_in, "Expect");
    r->the_request = apr_pstrcat(r->pool, stream->method, " ", stream->target, " ", stream->protocol, NULL);
    mspdy_filters_of_request(stream, r);
    return r;
}

/* What httpd does when it could not make sense of a request: answer and log. */
static void refuse(request_rec *r, int status)
{
    conn_rec *c2 = r->connection;
    r->status = HTTP_OK;
    ap_die(status, r);
    apr_bucket_brigade *brigade = apr_brigade_create(c2->pool, c2->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(brigade, ap_bucket_eor_create(c2->bucket_alloc, r));
    ap_pass_brigade(c2->output_filters, brigade);
    apr_brigade_cleanup(brigade);
}

static void serve(mspdy_stream *stream)
{
    request_rec *r = create_request(stream);
    int status = check_request(r, stream);
    if (status == HTTP_OK) {
        mspdy_accounting_begins(stream, r);
        status = ap_post_read_request(r);
        if (status == OK && r->status == HTTP_OK) {
            ap_process_request(r);
            return;
        }
    }
    else
        mspdy_request_environment(r);
    refuse(r, status != OK ? status : r->status);
}

/* A request whose response nobody wants to its end is over. Its end may take
 * seconds, while a script is made to stop: the session's thread has other streams. */
static void end_if_in_vain(mspdy_stream *stream)
{
    apr_thread_mutex_lock(stream->session->lock);
    bool sent = stream->sent, in_vain = stream->aborted || stream->broken;
    apr_thread_mutex_unlock(stream->session->lock);
    if (in_vain)
        mspdy_stream_end_request(stream, sent, AP_CONN_CLOSE);
}

void mspdy_request_serve(mspdy_stream *stream, apr_thread_t *thread, int thread_number)
{
    mspdy_session *session = stream->session;
    apr_thread_mutex_lock(session->lock);
    stream->started = true;
    apr_thread_mutex_unlock(session->lock);
    open_connection(stream, thread, thread_number);
    serve(stream);
    end_if_in_vain(stream);
    stream->c2->current_thread = NULL;

    apr_thread_mutex_lock(session->lock);
    stream->stage = MSPDY_DONE;
    stream->worker_done = true;
    session->busy--;
    mspdy_stream_flag(stream);
    apr_thread_cond_signal(session->came_back);
    apr_thread_mutex_unlock(session->lock);
}

int mspdy_request_environment(request_rec *r)
{
    const mspdy_stream *stream = mspdy_stream_of(r->connection);
    if (stream != NULL) {
        apr_table_setn(r->subprocess_env, "SPDY_VERSION", spdy_version_name(stream->session->version));
        apr_table_setn(r->subprocess_env, "SPDY_STREAM_ID", apr_psprintf(r->pool, "%u", (unsigned)stream->id));
        apr_table_setn(r->subprocess_env, "SPDY_PRIORITY", apr_psprintf(r->pool, "%u", stream->priority));
        if (stream->pushed)
            apr_table_setn(r->subprocess_env, "SPDY_PUSHED", "1");
    }
    return DECLINED;
}
