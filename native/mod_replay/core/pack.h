/* A pack: every recorded answer of a site in one file, and the table that finds them. driver/arm/servers/apache/pack.py
 * writes it, docs/reference/replay.md describes it. Nothing here does I/O or allocates; all numbers are little-endian. */
#ifndef REPLAY_PACK_H
#define REPLAY_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *bytes;
    size_t length;
} replay_text;

typedef struct {
    const uint8_t *bytes;
    uint32_t count;
} replay_section;

typedef struct {
    replay_section slots, groups, members, objects, headers;
    const char *strings;
    size_t strings_length;
    const uint8_t *bodies;
    size_t bodies_length;
} replay_pack;

typedef enum { REPLAY_AS_STORED, REPLAY_GZIP, REPLAY_BROTLI } replay_compression;

typedef struct {
    unsigned status;
    const char *status_line; /* "200 OK" */
    const char *type;        /* empty: the answer has no Content-Type */
    const uint8_t *body;
    size_t body_length;
    uint32_t first_header;
    uint32_t header_count;
    replay_text query;
    uint32_t delay_ms;           /* how long the answer waits */
    const uint8_t *request_sha1; /* 20 bytes; NULL: the request had no body */
    replay_compression compression;
    bool https;
    bool plain; /* no headers were recorded: it is sent as a static file is */
    bool head;  /* the answer to a HEAD: its Content-Length is of a body that is not there */
} replay_object;

typedef struct {
    const char *name;
    const char *value;
} replay_header;

typedef struct {
    replay_text key;
    const uint8_t *members; /* indexes of objects, in the order in which they were recorded */
    uint32_t count;
} replay_group;

/* Look through all of it. NULL: `pack` can be used, and nothing that is read from it later is outside of `bytes`.
 * Otherwise what is wrong with it. */
const char *replay_pack_open(const void *bytes, size_t length, replay_pack *pack);

replay_object replay_pack_object(const replay_pack *pack, uint32_t index);
replay_header replay_pack_header(const replay_pack *pack, uint32_t index);

/* The group with this key; its count is 0 where there is none. */
replay_group replay_pack_group(const replay_pack *pack, replay_text key);
uint32_t replay_group_member(const replay_group *group, uint32_t number);

/* Whether any object wants to be compressed so. */
bool replay_pack_compresses(const replay_pack *pack, replay_compression how);

#endif
