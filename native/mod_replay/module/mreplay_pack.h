/* The one pack that a server answers from. */
#ifndef MREPLAY_PACK_H
#define MREPLAY_PACK_H

#include "httpd.h"
#include "http_config.h"

#include "pack.h"

/* The one name that httpd looks for. */
extern module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) replay_module;

/* NULL: the configuration names none. */
const replay_pack *mreplay_pack(void);

/* The pack as a file of the pool's own, and where in it the body of an object is. Its own: who reads a file moves its
 * place in it. */
apr_status_t mreplay_pack_file(const replay_object *object, apr_pool_t *pool, apr_file_t **file, apr_off_t *at);

/* The directive ReplayPack, and the hooks before and after the configuration is read. */
const char *mreplay_set_pack(cmd_parms *command, void *config, const char *path);
int mreplay_forget_pack(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary);
int mreplay_map_pack(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary, server_rec *s);

#endif
