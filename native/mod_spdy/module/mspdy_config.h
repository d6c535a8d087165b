/* What the configuration says: the directives of mod_spdy. */
#ifndef MSPDY_CONFIG_H
#define MSPDY_CONFIG_H

#include <stdbool.h>

#include "httpd.h"
#include "http_config.h"

#include "spdy_session.h"

/* All that httpd has to find in the module's file. */
extern module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) spdy_module;

enum {
    MSPDY_VERSIONS = 3,
    /* Under httpd's limit above which its network filter waits (65535), and
     * little enough that something urgent need not wait long behind it. Whole
     * records of TLS, whose cost is for the most part by the record. */
    MSPDY_MOST_WRITE_BYTES = 2 * 16 * 1024
};

typedef struct mspdy_config {
    int enabled;                          /* SpdyEnabled */
    spdy_version versions[MSPDY_VERSIONS]; /* SpdyVersions, most wanted first */
    int version_count;
    int cleartext;                        /* SpdyCleartext: is there a version? */
    spdy_version cleartext_version;
    int max_streams;
    int stream_window_bytes;
    int session_window_bytes;
    int data_frame_bytes;
    int buffer_bytes;                     /* of a response, waiting in memory */
    int unsent_bytes;                     /* waiting in the kernel; 0: as the kernel likes */
    int write_bytes;                      /* given to TLS, or the network, at once */
    int max_header_bytes;
    int min_body_rate;                    /* of a request that is waited for, in bytes per second; 0: none */
    int min_response_rate;                /* of a response that waits for its client; likewise */
    int header_compression;               /* zlib's level */
    int push;
    int scheduling;                       /* spdy_scheduling */
    int min_threads;                      /* these two: of the whole process */
    int max_threads;
    int max_session_threads;              /* of those, for one session; -1: as many as are left for others */
} mspdy_config;

const mspdy_config *mspdy_config_of(const server_rec *s);

/* May a session over TLS begin on this virtual host? */
bool mspdy_config_offers(const server_rec *s, spdy_version version);

/* What a session's protocol core is to keep to on this virtual host. */
void mspdy_config_limits(const server_rec *s, spdy_limits *limits);

void *mspdy_config_create(apr_pool_t *pool, server_rec *s);
void *mspdy_config_merge(apr_pool_t *pool, void *base, void *added);
extern const command_rec mspdy_config_directives[];

/* post_config: refuses what cannot work, and lets httpd know the protocols' names. */
int mspdy_config_check(apr_pool_t *pool, apr_pool_t *log_pool, apr_pool_t *temporary, server_rec *main_server);

#endif
