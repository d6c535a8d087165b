/* How many bytes httpd's process has from the C library at this moment. What is free goes back to the system first. */
#include <malloc.h>

#include "httpd.h"
#include "http_config.h"
#include "http_protocol.h"

static int answer(request_rec *r)
{
    struct mallinfo2 now;

    if (r->handler == NULL || strcmp(r->handler, "live-bytes") != 0)
        return DECLINED;
    malloc_trim(0);
    now = mallinfo2();
    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "%" APR_SIZE_T_FMT, now.uordblks + now.hblkhd);
    return OK;
}

static void add_hooks(apr_pool_t *pool)
{
    (void)pool;
    ap_hook_handler(answer, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA live_bytes_module = {
    .version = MODULE_MAGIC_NUMBER_MAJOR, .minor_version = MODULE_MAGIC_NUMBER_MINOR, .module_index = -1,
    .name = "mod_live_bytes.c", .magic = MODULE_MAGIC_COOKIE, .register_hooks = add_hooks,
};
