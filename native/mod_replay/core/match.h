/* Which recorded answer a request gets. docs/reference/replay.md describes the same for users. */
#ifndef REPLAY_MATCH_H
#define REPLAY_MATCH_H

#include "pack.h"

typedef enum { REPLAY_EXACT, REPLAY_STRIPPED, REPLAY_NEAREST, REPLAY_NONE } replay_kind;

typedef struct {
    replay_text method;
    replay_text host;
    replay_text target; /* path and query */
    bool https;
} replay_request;

typedef struct {
    replay_kind kind;
    replay_group candidates;
} replay_found;

typedef struct {
    replay_kind kind;
    uint32_t object; /* where the kind is not REPLAY_NONE */
} replay_chosen;

/* As the access log has it. */
const char *replay_kind_name(replay_kind kind);

/* Room that replay_find needs for its keys. */
size_t replay_room(const replay_request *request);
replay_found replay_find(const replay_pack *pack, const replay_request *request, char *room);

/* Whether the request's body decides among the candidates: then replay_choose wants its SHA-1. */
bool replay_wants_body(const replay_pack *pack, const replay_found *found);

/* `sha1`: 20 bytes, or NULL where it is not known. */
replay_chosen replay_choose(const replay_pack *pack, const replay_found *found, const replay_request *request,
                            const uint8_t *sha1);

/* The target without parameters that only keep caches from answering; returns its length. `room`: as long as the
 * target. */
size_t replay_strip(replay_text target, char *room);

/* How many of the parameters of one query are in the other one too. */
unsigned replay_equal_parameters(replay_text one, replay_text other);

#endif
