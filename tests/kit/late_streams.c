// An Apache module that makes every thread of mod_http2 end late: 200 ms after its answer is handed over. A busy
// machine does that to one in some hundred. Built by tests/kit/late_streams.py.
#include <httpd.h>

#include <apr_time.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_request.h>
#include <util_filter.h>

#define LATE_MS 200

module AP_MODULE_DECLARE_DATA late_streams_module;

static apr_status_t late_filter(ap_filter_t *filter, apr_bucket_brigade *brigade)
{
    int ends = 0;
    for (apr_bucket *each = APR_BRIGADE_FIRST(brigade); each != APR_BRIGADE_SENTINEL(brigade); each = APR_BUCKET_NEXT(each))
        ends |= AP_BUCKET_IS_EOR(each);
    const apr_status_t status = ap_pass_brigade(filter->next, brigade);
    if (ends)
        apr_sleep(apr_time_from_msec(LATE_MS));
    return status;
}

static int late_connection(conn_rec *connection, void *socket)
{
    (void)socket;
    if (connection->master)
        ap_add_output_filter("LANELAB_LATE", NULL, NULL, connection);
    return OK;
}

static void late_hooks(apr_pool_t *pool)
{
    (void)pool;
    ap_register_output_filter("LANELAB_LATE", late_filter, NULL, AP_FTYPE_CONNECTION);
    ap_hook_pre_connection(late_connection, NULL, NULL, APR_HOOK_FIRST);
}

module AP_MODULE_DECLARE_DATA late_streams_module = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, late_hooks, 0};
