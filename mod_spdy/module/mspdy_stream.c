#include "mspdy_stream.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "scoreboard.h"

#include "mspdy_accounting.h"
#include "mspdy_link.h"
#include "mspdy_session.h"

APLOG_USE_MODULE(spdy);

/* What a stream's allocator keeps for the next stream of the session. */
enum { ALLOCATOR_KEEPS_BYTES = 64 * 1024 };

static apr_pool_t *pool_new(mspdy_session *session)
{
    if (session->spare_count > 0)
        return session->spare_pools[--session->spare_count];
    apr_allocator_t *allocator;
    apr_pool_t *pool;
    if (apr_allocator_create(&allocator) != APR_SUCCESS)
        return NULL;
    apr_allocator_max_free_set(allocator, ALLOCATOR_KEEPS_BYTES);
    if (apr_pool_create_ex(&pool, session->c1->pool, NULL, allocator) != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return NULL;
    }
    apr_allocator_owner_set(allocator, pool);
    return pool;
}

static void pool_done(mspdy_session *session, apr_pool_t *pool)
{
    if (session->spare_count < MSPDY_SPARE_POOLS) {
        apr_pool_clear(pool);
        session->spare_pools[session->spare_count++] = pool;
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
static conn_rec *secondary_connection(mspdy_stream *stream, conn_rec *c1)
{
    conn_rec *c2 = apr_pmemdup(stream->pool, c1, sizeof(*c1));
    c2->pool = stream->pool;
    c2->master = c1;
    c2->bucket_alloc = apr_bucket_alloc_create(stream->pool);
    c2->conn_config = ap_create_conn_config(stream->pool);
    c2->notes = apr_table_make(stream->pool, 5);
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
    mspdy_link_set(c2, stream->session, stream);
    /* Modules ask this socket for its timeout; none of them reads or writes it. */
    ap_set_core_module_config(c2->conn_config, ap_get_conn_socket(c1));
    return c2;
}

static const char *text_copy(apr_pool_t *pool, spdy_text text)
{
    return apr_pstrmemdup(pool, text.bytes, text.length);
}

static void copy_request(mspdy_stream *stream, const spdy_http_request *request)
{
    apr_pool_t *pool = stream->pool;
    stream->method = text_copy(pool, request->method);
    stream->target = text_copy(pool, request->target);
    stream->protocol = text_copy(pool, request->protocol);
    stream->scheme = text_copy(pool, request->scheme);
    stream->headers = apr_table_make(pool, (int)request->field_count + 2);
    apr_table_addn(stream->headers, "Host", text_copy(pool, request->host));
    for (size_t i = 0; i < request->field_count; i++) {
        char *value = apr_palloc(pool, request->fields[i].length + 1);
        spdy_http_field_join(&request->fields[i], value);
        apr_table_addn(stream->headers, text_copy(pool, request->fields[i].name), value);
    }
}

mspdy_stream *mspdy_stream_new(mspdy_session *session, uint32_t id, unsigned priority,
                               const spdy_http_request *request)
{
    apr_pool_t *pool = pool_new(session);
    if (pool == NULL)
        return NULL;
    apr_pool_tag(pool, "mod_spdy_stream");
    mspdy_stream *stream = apr_pcalloc(pool, sizeof(*stream));
    stream->pool = pool;
    if (apr_thread_cond_create(&stream->changed, pool) != APR_SUCCESS) {
        pool_done(session, pool);
        return NULL;
    }
    stream->session = session;
    stream->id = id;
    stream->priority = priority;
    stream->progress_at = apr_time_now();
    copy_request(stream, request);
    stream->c2 = secondary_connection(stream, session->c1);
    stream->held = apr_brigade_create(pool, stream->c2->bucket_alloc);
    stream->next = session->first_stream;
    if (stream->next != NULL)
        stream->next->previous = stream;
    session->first_stream = stream;
    session->stream_count++;
    return stream;
}

/* Dropping the EOR bucket logs the request and ends its pool. */
void mspdy_stream_end_request(mspdy_stream *stream, bool whole, ap_conn_keepalive_e keepalive)
{
    mspdy_accounting_bytes(stream);
    stream->c2->aborted = whole ? 0 : 1;
    stream->c2->keepalive = keepalive;
    apr_brigade_cleanup(stream->held);
    stream->eor_seen = false;
}

void mspdy_stream_free(mspdy_stream *stream)
{
    mspdy_session *session = stream->session;
    mspdy_stream_end_request(stream, stream->fin_sent, session->going_away ? AP_CONN_CLOSE : AP_CONN_KEEPALIVE);
    if (stream->previous != NULL)
        stream->previous->next = stream->next;
    else
        session->first_stream = stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    session->stream_count--;
    session->push_count -= stream->pushed ? 1 : 0;
    session->idle_since = apr_time_now();
    session->body_bytes -= stream->body.bytes + stream->body_consumed;
    mspdy_pipe_clear(&stream->body);
    mspdy_pipe_clear(&stream->output);
    pool_done(session, stream->pool);
}

mspdy_stream *mspdy_stream_of(const conn_rec *c)
{
    const mspdy_link *link = mspdy_link_of(c);
    return link != NULL ? link->stream : NULL;
}

void mspdy_stream_flag(mspdy_stream *stream)
{
    if (!stream->flagged) {
        stream->flagged = true;
        stream->next_flagged = stream->session->first_flagged;
        stream->session->first_flagged = stream;
    }
    mspdy_session_wake(stream->session);
}
