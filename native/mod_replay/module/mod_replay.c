/* mod_replay: recorded answers for Apache httpd 2.4, from one pack that is mapped into memory.
 *
 *   mod_replay.c          the hooks: which request gets which answer
 *   mreplay_pack.c        maps the pack
 *   mreplay_answer.c      sends an answer
 *   mreplay_scoreboard.c  tells where the scoreboard is, for those who read it from outside
 *   core/                 reads packs, finds answers; knows nothing of Apache
 *
 * A request is looked up by its bytes, as it came: httpd neither unescapes nor cleans its path, and never asks the
 * file system. */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"

#include "apr_lib.h"
#include "apr_sha1.h"
#include "apr_strings.h"

#include "match.h"
#include "mreplay_answer.h"
#include "mreplay_pack.h"
#include "mreplay_scoreboard.h"

static const char match_note[] = "replay-match"; /* the log of requests has it: %{replay-match}n */
static const char head[] = "HEAD";

static replay_text text_of(const char *string)
{
    replay_text text = {string, strlen(string)};
    return text;
}

/* Path and query as they were asked for, also where a whole URL was. */
static const char *target_of(const request_rec *r)
{
    const char *target = r->unparsed_uri ? r->unparsed_uri : "";
    const char *host = *target == '/' ? NULL : ap_strstr_c(target, "://");
    if (host == NULL)
        return target;
    target = host + 3 + strcspn(host + 3, "/?");
    return *target ? target : "/";
}

static replay_request request_of(request_rec *r)
{
    replay_request request = {
        .method = text_of(r->header_only ? head : r->method),
        .host = text_of(r->hostname ? r->hostname : ""),
        .target = text_of(target_of(r)),
        .https = !strcmp(ap_http_scheme(r), "https"),
    };
    return request;
}

/* Reads the request's body to its end, on every kind of connection. (ap_discard_request_body leaves that of HTTP/2 where
 * it is, and clients see a stream that was reset.) `sha1`: NULL where nobody wants to know. */
static int read_body(request_rec *r, unsigned char *sha1)
{
    char room[HUGE_STRING_LEN];
    apr_sha1_ctx_t hash;
    long got = 0;
    int status = ap_setup_client_block(r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK)
        return status;
    apr_sha1_init(&hash);
    if (ap_should_client_block(r))
        while ((got = ap_get_client_block(r, room, sizeof room)) > 0)
            if (sha1 != NULL)
                apr_sha1_update_binary(&hash, (const unsigned char *)room, (unsigned int)got);
    if (sha1 != NULL)
        apr_sha1_final(sha1, &hash);
    return got < 0 ? HTTP_BAD_REQUEST : OK;
}

static int answer(request_rec *r)
{
    const replay_pack *pack = mreplay_pack();
    unsigned char sha1[APR_SHA1_DIGESTSIZE];
    replay_request request;
    replay_found found;
    replay_chosen chosen;
    bool wants_body;
    int status;

    /* A handler that the configuration names goes first: server-status, for example. */
    if (pack == NULL || (r->handler != NULL && strcmp(r->handler, AP_DEFAULT_HANDLER_NAME) != 0))
        return DECLINED;
    request = request_of(r);
    found = replay_find(pack, &request, apr_palloc(r->pool, replay_room(&request)));
    wants_body = replay_wants_body(pack, &found);
    status = read_body(r, wants_body ? sha1 : NULL);
    if (status != OK)
        return status;
    chosen = replay_choose(pack, &found, &request, wants_body ? sha1 : NULL);
    apr_table_setn(r->notes, match_note, replay_kind_name(chosen.kind));
    if (chosen.kind == REPLAY_NONE)
        return mreplay_answer_missing(r);
    replay_object object = replay_pack_object(pack, chosen.object);
    return mreplay_answer(r, pack, &object);
}

static bool is_escape(const char *at)
{
    return apr_isxdigit(at[1]) && apr_isxdigit(at[2]);
}

/* httpd refuses paths with a % that is no escape; browsers ask for such. The lookup takes the request's own bytes. */
static int accept_escapes(request_rec *r)
{
    const char *at = mreplay_pack() ? r->parsed_uri.path : NULL;
    while (at != NULL && (at = ap_strchr_c(at, '%')) != NULL && is_escape(at))
        at++;
    if (at != NULL)
        r->parsed_uri.path = r->uri = apr_pstrdup(r->pool, "/");
    return DECLINED;
}

/* DONE: the path stays as it was asked for. */
static int keep_path(request_rec *r)
{
    (void)r;
    return mreplay_pack() ? DONE : DECLINED;
}

/* No file belongs to a request. Redirects and the like of the configuration come before. */
static int no_file(request_rec *r)
{
    (void)r;
    return mreplay_pack() ? OK : DECLINED;
}

static const command_rec directives[] = {
    AP_INIT_TAKE1("ReplayPack", mreplay_set_pack, NULL, RSRC_CONF, "the file with the recorded answers"),
    {NULL},
};

static void register_hooks(apr_pool_t *pool)
{
    (void)pool;
    ap_hook_pre_config(mreplay_forget_pack, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(mreplay_map_pack, NULL, NULL, APR_HOOK_MIDDLE);
    /* After the core, which makes the scoreboard then. */
    ap_hook_pre_mpm(mreplay_tell_scoreboard, NULL, NULL, APR_HOOK_LAST);
    ap_hook_post_read_request(accept_escapes, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_pre_translate_name(keep_path, NULL, NULL, APR_HOOK_LAST);
    ap_hook_translate_name(no_file, NULL, NULL, APR_HOOK_LAST);
    ap_hook_map_to_storage(no_file, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_handler(answer, NULL, NULL, APR_HOOK_FIRST);
}

AP_DECLARE_MODULE(replay) = {
    STANDARD20_MODULE_STUFF,
    NULL, /* nothing per directory */
    NULL,
    NULL, /* nothing per server */
    NULL,
    directives,
    register_hooks,
    AP_MODULE_FLAG_NONE,
};
