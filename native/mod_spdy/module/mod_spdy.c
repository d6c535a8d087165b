/* mod_spdy: SPDY/2, /3 and /3.1 for Apache httpd 2.4.
 *
 *   client --- c1 -- mspdy_connection: does it speak SPDY?
 *              |
 *              |                mspdy_mpm: what the MPM can wait for, and has left
 *              mspdy_loop (the MPM's thread): a session's turns
 *               |  mspdy_wait     for the client, or a worker
 *               |  mspdy_wire     bytes through c1's filters, a mspdy_batch at once
 *               |  mspdy_gather   TLS's records of a batch
 *               |  mspdy_incoming what came   \  core/: frames, headers, states,
 *               |  mspdy_outgoing what goes   /  windows, who is next
 *               |  mspdy_push     what goes unasked
 *               |  mspdy_stream   begins and ends
 *              mspdy_workers (threads of the process)
 *               |  mspdy_job      what they get of a stream: its request, a connection c2
 *               |  mspdy_exchange what both threads touch, and its lock
 *               |  mspdy_request  the job as httpd's request
 *               |  mspdy_filters, mspdy_body, mspdy_response: what comes and goes on c2
 *               |  mspdy_held     what of a response is left when its worker has gone
 *              httpd's handlers, filters and logs */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"
#include "mod_status.h"
#include "mpm_common.h"

#include "mspdy_accounting.h"
#include "mspdy_config.h"
#include "mspdy_connection.h"
#include "mspdy_filters.h"
#include "mspdy_gather.h"
#include "mspdy_mpm.h"
#include "mspdy_request.h"
#include "mspdy_workers.h"

static int after_config(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary, server_rec *s)
{
    mspdy_mpm_ask();
    return mspdy_config_check(pool, log_pool, temporary, s);
}

static void register_hooks(apr_pool_t *pool)
{
    (void)pool;
    static const char *const after_logio[] = {"mod_logio.c", "mod_log_config.c", NULL};
    static const char *const before_ssl[] = {"mod_ssl.c", NULL};
    mspdy_filters_register();
    mspdy_gather_register();
    mspdy_connection_hooks();
    ap_hook_post_config(after_config, NULL, before_ssl, APR_HOOK_MIDDLE);
    ap_hook_child_init(mspdy_workers_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_stopping(mspdy_workers_stopping, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_optional_fn_retrieve(mspdy_accounting_find_logio, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(mspdy_request_environment, NULL, NULL, APR_HOOK_REALLY_FIRST);
    APR_OPTIONAL_HOOK(ap, status_hook, mspdy_workers_status, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(mspdy_request_logged, after_logio, NULL, APR_HOOK_REALLY_LAST);
}

AP_DECLARE_MODULE(spdy) = {
    STANDARD20_MODULE_STUFF,
    NULL, /* nothing per directory */
    NULL,
    mspdy_config_create,
    mspdy_config_merge,
    mspdy_config_directives,
    register_hooks,
    AP_MODULE_FLAG_NONE,
};
