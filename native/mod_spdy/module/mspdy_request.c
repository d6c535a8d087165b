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
#include "scoreboard.h"

#include "mspdy_filters.h"
#include "mspdy_held.h"

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

static void open_connection(mspdy_job *job, apr_thread_t *thread, int thread_number)
{
    conn_rec *c2 = job->c2;
    c2->id = connection_id(c2->master, thread_number);
    c2->current_thread = thread;
    ap_pre_connection(c2, ap_get_conn_socket(c2->master));
    /* httpd notes there how far a request is: the client's connection has its
     * own. mpm_event gives c2 one in its hook, by that it still is c1's. */
    if (c2->cs != NULL && c2->cs == c2->master->cs)
        c2->cs = apr_pcalloc(c2->pool, sizeof(*c2->cs));
    mspdy_filters_of_connection(job);
}

/* httpd learns that a body follows from one of two headers; SPDY needs neither. */
static int check_body(request_rec *r, const mspdy_job *job)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");
    apr_off_t bytes;
    if (length != NULL && (!ap_parse_strict_length(&bytes, length) || (!job->has_body && bytes > 0))) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "content-length \"%s\" is no length, or no body follows",
                      ap_escape_logitem(r->pool, length));
        return HTTP_BAD_REQUEST;
    }
    if (length == NULL && job->has_body)
        apr_table_setn(r->headers_in, "Transfer-Encoding", "chunked");
    return HTTP_OK;
}

static int check_request(request_rec *r, const mspdy_job *job)
{
    int status;
    if (!ap_parse_request_line(r))
        return r->status != HTTP_OK ? r->status : HTTP_BAD_REQUEST;
    r->per_dir_config = r->server->lookup_defaults;
    if (job->refused) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, "the request goes beyond LimitRequestLine (%d), "
                      "LimitRequestFields (%d) or LimitRequestFieldSize (%d)", r->server->limit_req_line,
                      r->server->limit_req_fields, r->server->limit_req_fieldsize);
        return job->refused;
    }
    if ((status = check_body(r, job)) != HTTP_OK)
        return status;
    if (r->method_number == M_CONNECT)
        return HTTP_NOT_IMPLEMENTED; /* a tunnel would be given the socket that all streams share */
    if (!ap_check_request_header(r))
        return r->status != HTTP_OK ? r->status : HTTP_BAD_REQUEST;
    r->per_dir_config = r->server->lookup_defaults;
    return HTTP_OK;
}

static request_rec *create_request(mspdy_job *job)
{
    conn_rec *c2 = job->c2;
    request_rec *r = ap_create_request(c2);
    c2->keepalive = AP_CONN_UNKNOWN;
    ap_run_pre_read_request(r, c2);
    r->request_time = apr_time_now();
    r->headers_in = apr_table_copy(r->pool, job->headers);
    /* There are no interim responses in SPDY. */
    const char *expect = apr_table_get(r->headers_in, "Expect");
    if (expect != NULL && !ap_cstr_casecmp(expect, "100-continue"))
        apr_table_unset(r->headers_in, "Expect");
    r->the_request = apr_pstrcat(r->pool, job->method, " ", job->target, " ", job->protocol, NULL);
    mspdy_filters_of_request(job, r);
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

static void serve(mspdy_job *job)
{
    request_rec *r = create_request(job);
    int status = check_request(r, job);
    if (status == HTTP_OK) {
        mspdy_slot_begins(job->slot, r);
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
static void end_if_in_vain(mspdy_job *job)
{
    mspdy_want want = mspdy_exchange_wanted(job->exchange);
    if (want == MSPDY_UNWANTED || job->progress == MSPDY_BROKEN)
        mspdy_job_end_request(job, want == MSPDY_ANSWERED, AP_CONN_CLOSE);
}

void mspdy_request_serve(mspdy_job *job, apr_thread_t *thread, int thread_number)
{
    mspdy_exchange_begin(job->exchange);
    if (job->progress != MSPDY_HEADLESS) { /* it was served before */
        mspdy_held_warm(job->held);
        return;
    }
    open_connection(job, thread, thread_number);
    serve(job);
    end_if_in_vain(job);
    job->c2->current_thread = NULL;
}

int mspdy_request_environment(request_rec *r)
{
    const mspdy_job *job = mspdy_job_of(r->connection);
    if (job != NULL) {
        apr_table_setn(r->subprocess_env, "SPDY_VERSION", spdy_version_name(job->version));
        apr_table_setn(r->subprocess_env, "SPDY_STREAM_ID", apr_psprintf(r->pool, "%u", (unsigned)job->id));
        apr_table_setn(r->subprocess_env, "SPDY_PRIORITY", apr_psprintf(r->pool, "%u", job->priority));
        if (job->pushed)
            apr_table_setn(r->subprocess_env, "SPDY_PUSHED", "1");
    }
    return DECLINED;
}

int mspdy_request_logged(request_rec *r)
{
    const mspdy_job *job = mspdy_job_of(r->connection);
    if (job != NULL && ap_extended_status)
        mspdy_slot_count(job->slot, r);
    return OK;
}
