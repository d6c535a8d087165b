#include "mreplay_pack.h"

#include "apr_file_io.h"
#include "apr_mmap.h"
#include "apr_portable.h"
#include "apr_strings.h"
#include "http_config.h"
#include "http_core.h"
#include "http_log.h"

#include "mreplay_answer.h"

APLOG_USE_MODULE(replay);

static const char *pack_path;
static replay_pack pack;
static bool have_pack;
static const uint8_t *mapped;
static const char *name_of_open; /* another name of the file that is mapped, whatever becomes of its path */

const replay_pack *mreplay_pack(void)
{
    return have_pack ? &pack : NULL;
}

apr_status_t mreplay_pack_file(const replay_object *object, apr_pool_t *pool, apr_file_t **file, apr_off_t *at)
{
    *at = object->body - mapped;
    return apr_file_open(file, name_of_open, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, pool);
}

int mreplay_forget_pack(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary)
{
    (void)pool;
    (void)log_pool;
    (void)temporary;
    pack_path = NULL;
    have_pack = false;
    return OK;
}

const char *mreplay_set_pack(cmd_parms *command, void *config, const char *path)
{
    const char *wrong = ap_check_cmd_context(command, GLOBAL_ONLY);
    (void)config;
    if (wrong == NULL)
        pack_path = ap_server_root_relative(command->pool, path);
    return wrong;
}

static int refuse(server_rec *s, apr_status_t why, const char *what)
{
    ap_log_error(APLOG_MARK, APLOG_CRIT, why, s, "the pack %s cannot be used: %s", pack_path, what);
    return HTTP_INTERNAL_SERVER_ERROR;
}

/* It stays mapped for as long as this configuration lives; children inherit it. */
int mreplay_map_pack(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary, server_rec *s)
{
    apr_file_t *file;
    apr_os_file_t descriptor;
    apr_finfo_t facts;
    apr_mmap_t *map;
    const char *wrong;
    apr_status_t status;

    (void)log_pool;
    (void)temporary;
    if (pack_path == NULL || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
        return OK;
    status = apr_file_open(&file, pack_path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, pool);
    if (status != APR_SUCCESS)
        return refuse(s, status, "it cannot be opened");
    status = apr_file_info_get(&facts, APR_FINFO_SIZE | APR_FINFO_TYPE, file);
    if (status != APR_SUCCESS || facts.filetype != APR_REG || facts.size <= 0)
        return refuse(s, status, "it is empty, or no file");
    status = apr_mmap_create(&map, file, 0, (apr_size_t)facts.size, APR_MMAP_READ, pool);
    if (status != APR_SUCCESS)
        return refuse(s, status, "it cannot be mapped");
    apr_os_file_get(&descriptor, file); /* it stays open */
    name_of_open = apr_psprintf(pool, "/proc/self/fd/%d", descriptor);
    mapped = map->mm;
    wrong = replay_pack_open(map->mm, map->size, &pack);
    if (wrong != NULL)
        return refuse(s, 0, wrong);
    wrong = mreplay_missing_filter(&pack);
    if (wrong != NULL)
        return refuse(s, 0, wrong);
    have_pack = true;
    return OK;
}
