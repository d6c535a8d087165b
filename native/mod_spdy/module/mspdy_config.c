#include "mspdy_config.h"

#include <stdlib.h>

#include "ap_mpm.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"

APLOG_USE_MODULE(spdy);

enum { UNSET = -1, DEFAULT_MIN_THREADS = 2, LEAST_DEFAULT_MAX_THREADS = 8 };

/* A directive that takes a whole number: where it goes and what it may be. */
typedef struct number_rule {
    size_t offset;
    int lowest;
    int highest;
    int when_unset;
    const char *unit;
} number_rule;

#define RULE(field, lowest, highest, when_unset, unit) \
    { APR_OFFSETOF(mspdy_config, field), lowest, highest, when_unset, unit }
static const number_rule rule_max_streams = RULE(max_streams, 1, 10000, 100, "streams");
static const number_rule rule_stream_window = RULE(stream_window_bytes, 1024, 1 << 30, 65536, "bytes");
static const number_rule rule_session_window = RULE(session_window_bytes, 65536, 1 << 30, 262144, "bytes");
static const number_rule rule_data_frame = RULE(data_frame_bytes, 512, 1 << 20, 16384, "bytes");
static const number_rule rule_buffer = RULE(buffer_bytes, 4096, 1 << 26, 65536, "bytes");
static const number_rule rule_unsent = RULE(unsent_bytes, 0, 1 << 26, 65536, "bytes");
static const number_rule rule_write = RULE(write_bytes, 1024, MSPDY_MOST_WRITE_BYTES, MSPDY_MOST_WRITE_BYTES, "bytes");
static const number_rule rule_max_header = RULE(max_header_bytes, 1024, 1 << 20, 65536, "bytes");
static const number_rule rule_min_body_rate = RULE(min_body_rate, 0, 1 << 30, 500, "bytes per second");
static const number_rule rule_min_response_rate = RULE(min_response_rate, 0, 1 << 30, 500, "bytes per second");
static const number_rule rule_header_compression = RULE(header_compression, 0, 9, 9, "levels of zlib");
static const number_rule rule_min_threads = RULE(min_threads, 1, 10000, DEFAULT_MIN_THREADS, "threads");
static const number_rule rule_max_threads = RULE(max_threads, 1, 10000, UNSET, "threads");

static const number_rule rule_max_session_threads = RULE(max_session_threads, 1, 10000, UNSET, "threads");

static const number_rule *const rules[] = {
    &rule_max_streams,         &rule_stream_window,      &rule_session_window, &rule_data_frame,
    &rule_buffer,              &rule_unsent,             &rule_max_header,     &rule_min_body_rate,
    &rule_min_response_rate,   &rule_header_compression, &rule_min_threads,    &rule_max_threads,
    &rule_max_session_threads, &rule_write,
};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

static int *number_of(mspdy_config *config, const number_rule *rule)
{
    return (int *)((char *)config + rule->offset);
}

const mspdy_config *mspdy_config_of(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &spdy_module);
}

bool mspdy_config_offers(const server_rec *s, spdy_version version)
{
    const mspdy_config *config = mspdy_config_of(s);
    if (config->enabled != 1)
        return false;
    for (int i = 0; i < config->version_count; i++)
        if (config->versions[i] == version)
            return true;
    return false;
}

void mspdy_config_limits(const server_rec *s, spdy_limits *limits)
{
    const mspdy_config *config = mspdy_config_of(s);
    spdy_limits_default(limits);
    limits->concurrent_streams = (uint32_t)config->max_streams;
    limits->stream_window_bytes = (uint32_t)config->stream_window_bytes;
    limits->session_window_bytes = (uint32_t)config->session_window_bytes;
    limits->data_frame_bytes = (uint32_t)config->data_frame_bytes;
    limits->scheduling = (spdy_scheduling)config->scheduling;
    limits->header_compression = (uint32_t)config->header_compression;
    limits->header_expanded_bytes = (uint32_t)config->max_header_bytes;
    limits->header_compressed_bytes = (uint32_t)config->max_header_bytes;
    if (limits->header_hard_bytes < 2 * limits->header_expanded_bytes)
        limits->header_hard_bytes = 2 * limits->header_expanded_bytes;
    /* A page of many small things is asked for, and may be given up, at once. */
    if (limits->period_resets < 4 * limits->concurrent_streams)
        limits->period_resets = 4 * limits->concurrent_streams;
    if (limits->period_refused < 4 * limits->concurrent_streams)
        limits->period_refused = 4 * limits->concurrent_streams;
}

void *mspdy_config_create(apr_pool_t *pool, server_rec *s)
{
    (void)s;
    mspdy_config *config = apr_pcalloc(pool, sizeof(*config));
    config->enabled = config->cleartext = config->push = config->scheduling = UNSET;
    for (int i = 0; i < RULES; i++)
        *number_of(config, rules[i]) = UNSET;
    return config;
}

void *mspdy_config_merge(apr_pool_t *pool, void *base_config, void *added_config)
{
    const mspdy_config *base = base_config;
    const mspdy_config *added = added_config;
    mspdy_config *merged = apr_pmemdup(pool, base, sizeof(*base));
    if (added->enabled != UNSET)
        merged->enabled = added->enabled;
    if (added->push != UNSET)
        merged->push = added->push;
    if (added->scheduling != UNSET)
        merged->scheduling = added->scheduling;
    if (added->cleartext != UNSET) {
        merged->cleartext = added->cleartext;
        merged->cleartext_version = added->cleartext_version;
    }
    if (added->version_count > 0) {
        memcpy(merged->versions, added->versions, sizeof(merged->versions));
        merged->version_count = added->version_count;
    }
    for (int i = 0; i < RULES; i++) {
        int value = *number_of((mspdy_config *)added, rules[i]);
        if (value != UNSET)
            *number_of(merged, rules[i]) = value;
    }
    return merged;
}

/* ---- directives ---- */

static mspdy_config *config_of_command(cmd_parms *cmd)
{
    return ap_get_module_config(cmd->server->module_config, &spdy_module);
}

static const char *set_enabled(cmd_parms *cmd, void *unused, int on)
{
    (void)unused;
    config_of_command(cmd)->enabled = on;
    return NULL;
}

static const char *set_push(cmd_parms *cmd, void *unused, int on)
{
    (void)unused;
    config_of_command(cmd)->push = on;
    return NULL;
}

static const char *set_versions(cmd_parms *cmd, void *unused, int argc, char *const argv[])
{
    (void)unused;
    mspdy_config *config = config_of_command(cmd);
    config->version_count = 0;
    if (argc == 0)
        return "SpdyVersions needs at least one version: any of 3.1, 3 and 2, the most wanted first";
    for (int i = 0; i < argc; i++) {
        spdy_version version;
        if (!spdy_version_parse(argv[i], &version))
            return apr_psprintf(cmd->pool, "SpdyVersions: \"%s\" is no version of SPDY; it may be 3.1, 3 or 2",
                                argv[i]);
        for (int j = 0; j < config->version_count; j++)
            if (config->versions[j] == version)
                return apr_psprintf(cmd->pool, "SpdyVersions names %s twice", argv[i]);
        config->versions[config->version_count++] = version;
    }
    return NULL;
}

static const char *set_cleartext(cmd_parms *cmd, void *unused, const char *value)
{
    (void)unused;
    mspdy_config *config = config_of_command(cmd);
    config->cleartext = 0;
    if (!ap_cstr_casecmp(value, "off"))
        return NULL;
    if (!spdy_version_parse(value, &config->cleartext_version))
        return apr_psprintf(cmd->pool, "SpdyCleartext: \"%s\" is neither off nor a version of SPDY (3.1, 3 or 2)",
                            value);
    config->cleartext = 1;
    return NULL;
}

static const char *set_scheduling(cmd_parms *cmd, void *unused, const char *value)
{
    static const char *const names[] = {"priority", "fifo", "round-robin"}; /* as spdy_scheduling */
    (void)unused;
    for (int i = 0; i < 3; i++)
        if (!ap_cstr_casecmp(value, names[i])) {
            config_of_command(cmd)->scheduling = i;
            return NULL;
        }
    return apr_psprintf(cmd->pool, "SpdyScheduling: \"%s\" is none of priority, fifo and round-robin", value);
}

static const char *set_number(cmd_parms *cmd, void *unused, const char *value)
{
    (void)unused;
    const number_rule *rule = cmd->info;
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < rule->lowest || number > rule->highest)
        return apr_psprintf(cmd->pool, "%s: \"%s\" is not a whole number of %s from %d to %d", cmd->cmd->name, value,
                            rule->unit, rule->lowest, rule->highest);
    *number_of(config_of_command(cmd), rule) = (int)number;
    return NULL;
}

static const char *set_threads(cmd_parms *cmd, void *unused, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    return error ? error : set_number(cmd, unused, value);
}

#define NUMBER(name, setter, rule, help) \
    AP_INIT_TAKE1(name, setter, (void *)(uintptr_t)&(rule), RSRC_CONF, help)

const command_rec mspdy_config_directives[] = {
    AP_INIT_FLAG("SpdyEnabled", set_enabled, NULL, RSRC_CONF, "on: offer SPDY over TLS, by ALPN"),
    AP_INIT_TAKE_ARGV("SpdyVersions", set_versions, NULL, RSRC_CONF,
                      "the versions that ALPN offers, the most wanted first: 3.1 3 2"),
    AP_INIT_TAKE1("SpdyCleartext", set_cleartext, NULL, RSRC_CONF,
                  "off, or the version that clients without TLS may begin with: 3.1, 3 or 2"),
    AP_INIT_FLAG("SpdyPush", set_push, NULL, RSRC_CONF, "on: push what X-Associated-Content names (SPDY/3 and 3.1)"),
    AP_INIT_TAKE1("SpdyScheduling", set_scheduling, NULL, RSRC_CONF,
                  "which stream sends first: priority, fifo or round-robin"),
    NUMBER("SpdyMaxStreamsPerConnection", set_number, rule_max_streams, "how many streams a client may have open"),
    NUMBER("SpdyStreamWindow", set_number, rule_stream_window, "bytes that a client may send ahead on a stream"),
    NUMBER("SpdySessionWindow", set_number, rule_session_window, "bytes that a client may send ahead in all (3.1)"),
    NUMBER("SpdyDataFrameBytes", set_number, rule_data_frame, "the largest DATA frame that is sent"),
    NUMBER("SpdyBufferBytes", set_number, rule_buffer, "bytes of one response that wait in memory at most"),
    NUMBER("SpdyUnsentBytes", set_number, rule_unsent, "bytes that wait unsent in the kernel; 0: as it likes"),
    NUMBER("SpdyWriteBytes", set_number, rule_write, "bytes that are given to TLS, or to the network, at once"),
    NUMBER("SpdyMaxHeaderBytes", set_number, rule_max_header, "largest block of request headers, expanded"),
    NUMBER("SpdyMinBodyRate", set_number, rule_min_body_rate, "bytes per second that a request's body has to bring"),
    NUMBER("SpdyMinResponseRate", set_number, rule_min_response_rate,
           "bytes per second that a client has to take of a response"),
    NUMBER("SpdyHeaderCompression", set_number, rule_header_compression, "0 to 9: zlib's level for sent headers"),
    NUMBER("SpdyMinThreadsPerProcess", set_threads, rule_min_threads, "threads for streams that are kept when idle"),
    NUMBER("SpdyMaxThreadsPerProcess", set_threads, rule_max_threads, "threads for streams at most"),
    NUMBER("SpdyMaxThreadsPerSession", set_threads, rule_max_session_threads, "of those, for one session at most"),
    {.name = NULL},
};

/* ---- once all is read ---- */

static void set_defaults(mspdy_config *config)
{
    if (config->enabled == UNSET)
        config->enabled = 0;
    if (config->push == UNSET)
        config->push = 0;
    if (config->scheduling == UNSET)
        config->scheduling = SPDY_BY_PRIORITY;
    if (config->cleartext == UNSET)
        config->cleartext = 0;
    if (config->version_count == 0) {
        static const spdy_version all[MSPDY_VERSIONS] = {SPDY_VERSION_3_1, SPDY_VERSION_3, SPDY_VERSION_2};
        memcpy(config->versions, all, sizeof(all));
        config->version_count = MSPDY_VERSIONS;
    }
    for (int i = 0; i < RULES; i++)
        if (*number_of(config, rules[i]) == UNSET)
            *number_of(config, rules[i]) = rules[i]->when_unset;
}

/* httpd accepts only what a virtual host's Protocols name. Names that the
 * administrator has not placed go before http/1.1, behind newer ones. */
static void add_protocols(apr_pool_t *pool, server_rec *s, const mspdy_config *config)
{
    core_server_config *core = ap_get_core_module_config(s->module_config);
    apr_array_header_t *protocols = apr_array_make(pool, core->protocols->nelts + MSPDY_VERSIONS + 1,
                                                   sizeof(const char *));
    bool added = false;
    for (int i = 0; i <= core->protocols->nelts; i++) {
        const char *name = i < core->protocols->nelts ? APR_ARRAY_IDX(core->protocols, i, const char *) : NULL;
        if (!added && (name == NULL || !strcmp(name, AP_PROTOCOL_HTTP1))) {
            for (int j = 0; j < config->version_count; j++) {
                const char *alpn = spdy_version_alpn(config->versions[j]);
                if (!ap_array_str_contains(core->protocols, alpn))
                    APR_ARRAY_PUSH(protocols, const char *) = alpn;
            }
            added = true;
        }
        if (name != NULL)
            APR_ARRAY_PUSH(protocols, const char *) = name;
    }
    if (core->protocols->nelts == 0)
        APR_ARRAY_PUSH(protocols, const char *) = AP_PROTOCOL_HTTP1;
    core->protocols = protocols;
}

static int check_threads(server_rec *main_server, mspdy_config *config)
{
    int per_child = 0;
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &per_child);
    if (config->max_threads == UNSET) {
        config->max_threads = per_child > LEAST_DEFAULT_MAX_THREADS ? per_child : LEAST_DEFAULT_MAX_THREADS;
        if (config->max_threads < config->min_threads)
            config->max_threads = config->min_threads;
    }
    if (config->min_threads > config->max_threads) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_CRIT, 0, main_server,
                     "SpdyMinThreadsPerProcess (%d) is more than SpdyMaxThreadsPerProcess (%d): lower the first or "
                     "raise the second",
                     config->min_threads, config->max_threads);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

int mspdy_config_check(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary, server_rec *main_server)
{
    (void)log_pool;
    (void)temporary;
    int threaded = AP_MPMQ_NOT_SUPPORTED;
    bool used = false;
    for (server_rec *s = main_server; s != NULL; s = s->next) {
        mspdy_config *config = ap_get_module_config(s->module_config, &spdy_module);
        set_defaults(config);
        used = used || config->enabled || config->cleartext;
        if (config->enabled)
            add_protocols(pool, s, config);
    }
    if (!used)
        return OK;
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threaded);
    if (threaded == AP_MPMQ_NOT_SUPPORTED) {
        ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_CRIT, 0, main_server,
                     "mod_spdy serves the streams of a connection on several threads, and the MPM \"%s\" has none: "
                     "load mpm_event or mpm_worker instead, or switch SpdyEnabled and SpdyCleartext off",
                     ap_show_mpm());
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return check_threads(main_server, ap_get_module_config(main_server->module_config, &spdy_module));
}
