/* A scoreboard's places are known to headers, and its sizes to the httpd that runs. Sizes are asked of httpd, so that
 * a newer httpd, whose slots are longer than in the headers that this was built with, is told of as it is. */

#include "mreplay_scoreboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "ap_mpm.h"
#include "apr_file_io.h"
#include "apr_strings.h"
#include "http_config.h"
#include "http_log.h"

APLOG_USE_MODULE(replay);

static const char file_name[] = "scoreboard";

static int asked(int what)
{
    int value = 0;

    return ap_mpm_query(what, &value) == APR_SUCCESS ? value : 0;
}

static long between(const void *from, const void *to)
{
    return (long)((const char *)to - (const char *)from);
}

static const void *slot(int process, int thread)
{
    return ap_get_scoreboard_worker_from_indexes(process, thread);
}

/* Bytes of one worker's slot. */
static long slot_bytes(const global_score *global)
{
    if (global->thread_limit > 1)
        return between(slot(0, 0), slot(0, 1));
    return global->server_limit > 1 ? between(slot(0, 0), slot(1, 0)) : (long)sizeof(worker_score);
}

static long process_bytes(const global_score *global)
{
    if (global->server_limit > 1)
        return between(ap_get_scoreboard_process(0), ap_get_scoreboard_process(1));
    return (long)sizeof(process_score);
}

/* Slots are one table: of each process its threads, one after the other. */
static bool is_one_table(const global_score *global, long bytes)
{
    for (int process = 0; process < global->server_limit; process++)
        if (between(slot(0, 0), slot(process, 0)) != bytes * process * global->thread_limit)
            return false;
    return true;
}

static const char *told(apr_pool_t *pool)
{
    const global_score *global = ap_get_scoreboard_global();
    long bytes = slot_bytes(global);

    if (bytes <= (long)offsetof(worker_score, status) || !is_one_table(global, bytes))
        return "{\"fault\": \"its slots are not one table\"}\n";
    return apr_psprintf(
        pool,
        "{\"pid\": %ld, \"address\": %lu, \"server_limit\": %d, \"thread_limit\": %d, \"most_workers\": %d,\n"
        " \"processes_at\": %ld, \"process_bytes\": %ld, \"pid_at\": %lu, \"quiescing_at\": %lu,\n"
        " \"slots_at\": %ld, \"slot_bytes\": %ld, \"status_at\": %lu, \"statuses\": %d}\n",
        (long)getpid(), (unsigned long)global, global->server_limit, global->thread_limit,
        asked(AP_MPMQ_MAX_DAEMONS) * asked(AP_MPMQ_MAX_THREADS), between(global, ap_get_scoreboard_process(0)),
        process_bytes(global), (unsigned long)offsetof(process_score, pid),
        (unsigned long)offsetof(process_score, quiescing), between(global, slot(0, 0)), bytes,
        (unsigned long)offsetof(worker_score, status), SERVER_NUM_STATUS);
}

int mreplay_tell_scoreboard(apr_pool_t *pool, ap_scoreboard_e kind)
{
    const char *path = ap_server_root_relative(pool, file_name);
    const char *text;
    apr_file_t *file = NULL;
    apr_status_t status;

    if (kind != SB_SHARED || !ap_exists_scoreboard_image())
        return OK;
    text = told(pool);
    status = apr_file_open(&file, path, APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_TRUNCATE,
                           APR_FPROT_UREAD | APR_FPROT_UWRITE, pool);
    if (status == APR_SUCCESS) {
        status = apr_file_write_full(file, text, strlen(text), NULL);
        apr_file_close(file);
    }
    if (status != APR_SUCCESS)
        ap_log_error(APLOG_MARK, APLOG_ERR, status, NULL, "mod_replay cannot write %s", path);
    return OK;
}
