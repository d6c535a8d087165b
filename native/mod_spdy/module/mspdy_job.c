#include "mspdy_job.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_core.h"
#include "http_request.h"

/* What a job's allocator keeps for the next job of the session. */
enum { ALLOCATOR_KEEPS_BYTES = 64 * 1024, MOST_KEEPALIVES = 32000, REFUSED_TEXT_BYTES = 200 };

static apr_pool_t *pool_new(mspdy_job_kit *kit)
{
    if (kit->spare_count > 0)
        return kit->spare_pools[--kit->spare_count];
    apr_allocator_t *allocator;
    apr_pool_t *pool;
    if (apr_allocator_create(&allocator) != APR_SUCCESS)
        return NULL;
    apr_allocator_max_free_set(allocator, ALLOCATOR_KEEPS_BYTES);
    if (apr_pool_create_ex(&pool, kit->c1->pool, NULL, allocator) != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return NULL;
    }
    apr_allocator_owner_set(allocator, pool);
    return pool;
}

static void pool_done(mspdy_job_kit *kit, apr_pool_t *pool)
{
    if (kit->spare_count < MSPDY_SPARE_POOLS) {
        apr_pool_clear(pool);
        kit->spare_pools[kit->spare_count++] = pool;
    }
    else
        apr_pool_destroy(pool);
}

/* Addresses are copied: looking up a host's name writes into them. */
static void copy_addresses(conn_rec *c2, const conn_rec *c1)
{
    if (apr_sockaddr_info_copy(&c2->client_addr, c1->client_addr, c2->pool) != APR_SUCCESS)
        c2->client_addr = c1->client_addr;
    if (apr_sockaddr_info_copy(&c2->local_addr, c1->local_addr, c2->pool) != APR_SUCCESS)
        c2->local_addr = c1->local_addr;
    c2->client_ip = apr_pstrdup(c2->pool, c1->client_ip);
    c2->local_ip = apr_pstrdup(c2->pool, c1->local_ip);
}

/* A connection like the client's, whose bytes are the stream's. What hooks of
 * pre_connection add is added on the worker's thread. */
static conn_rec *secondary_connection(mspdy_job *job, conn_rec *c1)
{
    conn_rec *c2 = apr_pmemdup(job->pool, c1, sizeof(*c1));
    c2->pool = job->pool;
    c2->master = c1;
    c2->bucket_alloc = apr_bucket_alloc_create(job->pool);
    c2->conn_config = ap_create_conn_config(job->pool);
    c2->notes = apr_table_make(job->pool, 5);
    c2->input_filters = NULL;
    c2->output_filters = NULL;
    c2->data_in_input_filters = 0;
    c2->data_in_output_filters = 0;
    c2->clogging_input_filters = 0;
    c2->aborted = 0;
    c2->remote_host = c2->remote_logname = c2->local_host = NULL;
    c2->double_reverse = 0;
    c2->log_id = NULL;
    c2->sbh = NULL; /* see mspdy_accounting */
    c2->current_thread = NULL;
    c2->keepalive = AP_CONN_KEEPALIVE;
    copy_addresses(c2, c1);
    ap_set_module_config(c2->conn_config, &spdy_module, job);
    /* Modules ask this socket for its timeout; none of them reads or writes it. */
    ap_set_core_module_config(c2->conn_config, ap_get_conn_socket(c1));
    return c2;
}

/* Of a refused request no more than a log needs. */
static const char *text_copy(const mspdy_job *job, spdy_text text)
{
    bool cut = job->refused && text.length > REFUSED_TEXT_BYTES;
    return apr_pstrmemdup(job->pool, text.bytes, cut ? REFUSED_TEXT_BYTES : text.length);
}

static void copy_request(mspdy_job *job, const spdy_http_request *request)
{
    apr_pool_t *pool = job->pool;
    job->method = text_copy(job, request->method);
    job->target = text_copy(job, request->target);
    job->protocol = text_copy(job, request->protocol);
    job->scheme = text_copy(job, request->scheme);
    job->headers = apr_table_make(pool, (int)request->field_count + 2);
    apr_table_addn(job->headers, "Host", text_copy(job, request->host));
    for (size_t i = 0; i < request->field_count && !job->refused; i++) {
        char *value = apr_palloc(pool, request->fields[i].length + 1);
        spdy_http_field_join(&request->fields[i], value);
        apr_table_addn(job->headers, text_copy(job, request->fields[i].name), value);
    }
}

mspdy_job *mspdy_job_new(mspdy_job_kit *kit, void *owner, const mspdy_job_origin *origin,
                         const spdy_http_request *request)
{
    apr_pool_t *pool = pool_new(kit);
    if (pool == NULL)
        return NULL;
    apr_pool_tag(pool, "mod_spdy_job");
    mspdy_job *job = apr_pcalloc(pool, sizeof(*job));
    job->exchange = mspdy_exchange_new(kit->desk, pool, owner, !origin->has_body);
    if (job->exchange == NULL) {
        pool_done(kit, pool);
        return NULL;
    }
    job->pool = pool;
    job->id = origin->id;
    job->priority = origin->priority;
    job->pushed = origin->pushed;
    job->has_body = origin->has_body;
    job->refused = origin->refused;
    job->version = kit->version;
    job->config = kit->config;
    job->share = kit->share;
    job->slot = kit->slot;
    copy_request(job, request);
    job->c2 = secondary_connection(job, kit->c1);
    kit->made += kit->made < MOST_KEEPALIVES ? 1 : 0;
    job->c2->keepalives = (int)kit->made;
    job->held = apr_brigade_create(pool, job->c2->bucket_alloc);
    return job;
}

/* Dropping the EOR bucket, the last of them, logs the request and ends its pool. */
void mspdy_job_end_request(mspdy_job *job, bool whole, ap_conn_keepalive_e keepalive)
{
    /* mod_logio knows the connection only once its pre_connection hook has run. */
    if (!APR_BRIGADE_EMPTY(job->held) && AP_BUCKET_IS_EOR(APR_BRIGADE_LAST(job->held)))
        mspdy_accounting_bytes(job->c2, job->wire_bytes_in, job->wire_bytes_out);
    job->c2->aborted = whole ? 0 : 1;
    job->c2->keepalive = keepalive;
    apr_brigade_cleanup(job->held);
}

void mspdy_job_free(mspdy_job_kit *kit, mspdy_job *job)
{
    pool_done(kit, job->pool);
}

void mspdy_job_kit_idle(mspdy_job_kit *kit)
{
    while (kit->spare_count > MSPDY_IDLE_SPARE_POOLS)
        apr_pool_destroy(kit->spare_pools[--kit->spare_count]);
}

mspdy_job *mspdy_job_of(const conn_rec *c)
{
    return c->master != NULL ? ap_get_module_config(c->conn_config, &spdy_module) : NULL;
}
