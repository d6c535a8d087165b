#include "mspdy_connection.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "http_ssl.h"

#include "mspdy_loop.h"
#include "mspdy_mpm.h"

APLOG_USE_MODULE(spdy);

enum { PEEK_BYTES = 8 };

/* How long the rest of SPDY's first bytes may take after their first ones. */
#define BEGINNING_TAKES apr_time_from_sec(2)

/* What a client's connection is to mod_spdy, kept in its configuration. Streams'
 * connections have their jobs there. */
typedef struct agreement {
    mspdy_session *session; /* NULL: not begun yet */
    server_rec *server;     /* these two: what was agreed upon */
    spdy_version version;
} agreement;

/* NULL: the connection is not a client's with SPDY. */
static agreement *agreement_of(const conn_rec *c)
{
    return c->master == NULL ? ap_get_module_config(c->conn_config, &spdy_module) : NULL;
}

/* ---- which protocol ---- */

static int propose(conn_rec *c, request_rec *r, server_rec *s, const apr_array_header_t *offers,
                   apr_array_header_t *proposals)
{
    const mspdy_config *config = mspdy_config_of(s);
    if (r != NULL || c->master != NULL || config->enabled != 1 || !ap_ssl_conn_is_ssl(c))
        return DECLINED; /* no upgrade from HTTP/1.1: the drafts know of none */
    for (int i = 0; i < config->version_count; i++) {
        const char *name = spdy_version_alpn(config->versions[i]);
        if (offers == NULL || ap_array_str_contains(offers, name))
            APR_ARRAY_PUSH(proposals, const char *) = name;
    }
    return DECLINED;
}

static int take_protocol(conn_rec *c, request_rec *r, server_rec *s, const char *protocol)
{
    spdy_version version;
    if (r != NULL || c->master != NULL || strncmp(protocol, "spdy/", 5) || !spdy_version_parse(protocol, &version))
        return DECLINED;
    agreement *new = apr_pcalloc(c->pool, sizeof(*new));
    new->server = s;
    new->version = version;
    ap_set_module_config(c->conn_config, &spdy_module, new);
    return OK;
}

static const char *protocol_of(const conn_rec *c)
{
    const mspdy_job *job = mspdy_job_of(c);
    const agreement *client = agreement_of(c);
    if (job == NULL && client == NULL)
        return NULL;
    return spdy_version_alpn(job != NULL ? job->version : client->version);
}

/* httpd tells clients of HTTP/1.1 of all protocols that come before it, as
 * something to upgrade to; SPDY is not. */
static void remove_from_upgrades(request_rec *r)
{
    const char *upgrade = apr_table_get(r->headers_out, "Upgrade");
    apr_array_header_t *others;
    char *name, *state;
    if (upgrade == NULL || ap_strstr_c(upgrade, "spdy/") == NULL)
        return;
    others = apr_array_make(r->pool, 4, sizeof(const char *));
    for (name = apr_strtok(apr_pstrdup(r->pool, upgrade), ", ", &state); name; name = apr_strtok(NULL, ", ", &state))
        if (strncmp(name, "spdy/", 5))
            APR_ARRAY_PUSH(others, const char *) = name;
    if (others->nelts > 0)
        apr_table_setn(r->headers_out, "Upgrade", apr_array_pstrcat(r->pool, others, ','));
    else {
        apr_table_unset(r->headers_out, "Upgrade");
        apr_table_unset(r->headers_out, "Connection");
    }
}

static int clean_upgrades(request_rec *r)
{
    remove_from_upgrades(r);
    return DECLINED;
}

/* ---- in clear ---- */

/* The first bytes, without taking them. APR_EAGAIN: they have not come. */
static apr_status_t peek(conn_rec *c, apr_bucket_brigade *brigade, apr_read_type_e block, char *bytes,
                         apr_size_t *length)
{
    apr_status_t rv = ap_get_brigade(c->input_filters, brigade, AP_MODE_SPECULATIVE, block, PEEK_BYTES);
    *length = PEEK_BYTES;
    if (rv == APR_SUCCESS)
        rv = apr_brigade_flatten(brigade, bytes, length);
    if (rv == APR_SUCCESS && *length == 0)
        rv = APR_EAGAIN;
    apr_brigade_cleanup(brigade);
    return rv;
}

typedef enum beginning { BEGINS_SPDY, BEGINS_OTHERWISE, BEGINS_LATER } beginning;

/* Some of SPDY's first bytes and no more: they come within one segment as a
 * rule. Bytes that are there would wake the MPM at once, so a thread waits. */
static beginning look_for_beginning(conn_rec *c, spdy_version version)
{
    apr_bucket_brigade *brigade = apr_brigade_create(c->pool, c->bucket_alloc);
    char bytes[PEEK_BYTES];
    apr_size_t length, before = 0;
    apr_time_t until = 0;
    for (;;) {
        apr_status_t rv = peek(c, brigade, APR_NONBLOCK_READ, bytes, &length);
        if (APR_STATUS_IS_EAGAIN(rv)) {
            if (mspdy_mpm_can_wait(c)) {
                mspdy_mpm_wait(c);
                return BEGINS_LATER;
            }
            rv = peek(c, brigade, APR_BLOCK_READ, bytes, &length);
        }
        if (rv != APR_SUCCESS)
            return BEGINS_OTHERWISE;
        switch (spdy_guess_client(version, bytes, length)) {
        case SPDY_GUESS_YES:
            return BEGINS_SPDY;
        case SPDY_GUESS_NO:
            return BEGINS_OTHERWISE;
        case SPDY_GUESS_MORE:
            break;
        }
        if (until == 0)
            until = apr_time_now() + BEGINNING_TAKES;
        else if (apr_time_now() > until)
            return BEGINS_OTHERWISE;
        if (length == before)
            apr_sleep(apr_time_from_msec(2));
        before = length;
    }
}

/* ---- the connection's turn ---- */

static int serve(conn_rec *c, agreement *client)
{
    if (client->session == NULL) {
        client->session = mspdy_loop_begin(c, client->server, client->version);
        if (client->session == NULL) {
            c->aborted = 1;
            return DONE;
        }
    }
    mspdy_outcome outcome = mspdy_loop_run(client->session);
    c->keepalive = outcome == MSPDY_OVER ? AP_CONN_CLOSE : AP_CONN_KEEPALIVE;
    c->data_in_input_filters = 0;
    switch (outcome) {
    case MSPDY_OVER:
        if (c->cs != NULL)
            c->cs->state = CONN_STATE_LINGER;
        break;
    case MSPDY_IDLE:
        /* As between two requests of HTTP/1.1: httpd waits for KeepAliveTimeout,
         * or until it stops. */
        c->cs->state = CONN_STATE_WRITE_COMPLETION;
        c->cs->sense = CONN_SENSE_DEFAULT;
        break;
    case MSPDY_WAITS:
        mspdy_mpm_wait(c);
        break;
    }
    return DONE;
}

static int process(conn_rec *c)
{
    agreement *client = agreement_of(c);
    if (client == NULL && c->master == NULL && c->keepalives == 0) {
        const mspdy_config *config = mspdy_config_of(c->base_server);
        if (config->cleartext != 1 || ap_ssl_conn_is_ssl(c))
            return DECLINED;
        switch (look_for_beginning(c, config->cleartext_version)) {
        case BEGINS_LATER:
            return OK;
        case BEGINS_OTHERWISE:
            return DECLINED;
        case BEGINS_SPDY:
            if (ap_switch_protocol(c, NULL, c->base_server, spdy_version_alpn(config->cleartext_version)))
                return DECLINED;
        }
        client = agreement_of(c);
    }
    return client == NULL ? DECLINED : serve(c, client);
}

/* The MPM gives up a connection that it waits for. */
static int before_close(conn_rec *c)
{
    const agreement *client = agreement_of(c);
    if (client != NULL && client->session != NULL)
        mspdy_loop_goodbye(client->session);
    return OK;
}

void mspdy_connection_hooks(void)
{
    static const char *const after_ssl[] = {"mod_ssl.c", NULL};
    static const char *const before_h2[] = {"mod_http2.c", NULL};
    static const char *const after_core[] = {"core.c", NULL};
    ap_hook_protocol_propose(propose, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_protocol_switch(take_protocol, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_protocol_get(protocol_of, NULL, NULL, APR_HOOK_MIDDLE);
    /* mod_ssl's hook does the handshake, in which the protocol is agreed upon. */
    ap_hook_process_connection(process, after_ssl, before_h2, APR_HOOK_MIDDLE);
    ap_hook_pre_close_connection(before_close, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_map_to_storage(clean_upgrades, after_core, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(clean_upgrades, after_core, NULL, APR_HOOK_REALLY_FIRST);
}
