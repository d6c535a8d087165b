/* Packs of a few objects, made by hand: what driver/arm/servers/apache/pack.py writes has a test of its own. */
#ifndef MADE_H
#define MADE_H

#include "match.h"

typedef struct {
    const char *key; /* "EGET a.test/x" */
    unsigned members[4];
    unsigned count;
} made_group;

typedef struct {
    const char *body;
    const char *status_line;
    const char *query;
    unsigned flags;
    unsigned char sha1; /* all of its bytes are this one */
} made_object;

typedef struct {
    unsigned char bytes[8192];
    size_t length;
    size_t slots, groups, members, objects, headers, strings; /* where they begin */
} made_pack;

enum { MADE_HTTPS = 1, MADE_PLAIN = 2, MADE_SHA1 = 4, MADE_GZIP = 8, MADE_BROTLI = 16, MADE_HEAD = 32 };

/* Each object has one header, "X-Number: its number". */
made_pack make_pack(const made_object *objects, unsigned object_count, const made_group *groups, unsigned group_count);
void put32(unsigned char *at, unsigned long value);
void put64(unsigned char *at, unsigned long long value);

#endif
