#include "match.h"

#include <string.h>

enum { SHA1_LENGTH = 20, MOST_PARAMETERS = 128 };

const char *replay_kind_name(replay_kind kind)
{
    static const char *const names[] = {"exact", "stripped", "nearest", "none"};
    return names[kind];
}

static bool same(replay_text one, replay_text other)
{
    return one.length == other.length && (!one.length || !memcmp(one.bytes, other.bytes, one.length));
}

static replay_text path_of(replay_text target)
{
    const char *mark = target.length ? memchr(target.bytes, '?', target.length) : NULL;
    replay_text path = {target.bytes, mark ? (size_t)(mark - target.bytes) : target.length};
    return path;
}

static replay_text query_of(replay_text target)
{
    size_t before = path_of(target).length;
    replay_text query = {target.bytes + target.length, 0};
    if (before < target.length) {
        query.bytes = target.bytes + before + 1;
        query.length = target.length - before - 1;
    }
    return query;
}

/* The next parameter, without its "&"; `rest` becomes what follows. */
static replay_text next_parameter(replay_text *rest)
{
    const char *mark = memchr(rest->bytes, '&', rest->length);
    replay_text parameter = {rest->bytes, mark ? (size_t)(mark - rest->bytes) : rest->length};
    size_t taken = parameter.length + (mark != NULL);
    rest->bytes += taken;
    rest->length -= taken;
    return parameter;
}

/* ---- what only keeps caches from answering ---- */

static size_t digits_at(replay_text text, size_t from)
{
    size_t count = 0;
    while (from + count < text.length && text.bytes[from + count] >= '0' && text.bytes[from + count] <= '9')
        count++;
    return count;
}

/* Seconds or milliseconds since 1970, of 2001 to 2033; a fraction may follow the milliseconds. */
static bool is_time(replay_text value)
{
    size_t digits = digits_at(value, 0);
    if (!value.length || value.bytes[0] != '1' || (digits != 10 && digits != 13))
        return false;
    if (digits == value.length)
        return true;
    return digits == 13 && value.bytes[13] == '.' && value.length > 14 && digits_at(value, 14) == value.length - 14;
}

/* What Math.random() gives. */
static bool is_random(replay_text value)
{
    return value.length >= 10 && value.bytes[0] == '0' && value.bytes[1] == '.' &&
           digits_at(value, 2) == value.length - 2;
}

static bool is_named(replay_text name, const char *wanted)
{
    if (strlen(wanted) != name.length)
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != wanted[i])
            return false;
    }
    return true;
}

static bool is_cache_buster(replay_text parameter)
{
    static const char *const names[] = {"_",        "_t",       "_ts",     "cb",        "cachebuster", "cachebust",
                                        "cache_buster", "nocache", "no_cache", "uncache", "rand",     "random",
                                        "rnd",      "ts",       "timestamp", "ord",     "correlator",  "dc_rnd"};
    const char *mark = parameter.length ? memchr(parameter.bytes, '=', parameter.length) : NULL;
    replay_text value = parameter;
    if (mark) {
        replay_text name = {parameter.bytes, (size_t)(mark - parameter.bytes)};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (is_named(name, names[i]))
                return true;
        value.bytes = mark + 1;
        value.length = parameter.length - name.length - 1;
    }
    return is_time(value) || is_random(value);
}

size_t replay_strip(replay_text target, char *room)
{
    size_t length = path_of(target).length;
    replay_text rest = query_of(target);
    char before = '?';

    memmove(room, target.bytes, length);
    while (rest.length) {
        replay_text parameter = next_parameter(&rest);
        if (!parameter.length || is_cache_buster(parameter))
            continue;
        room[length++] = before;
        memmove(room + length, parameter.bytes, parameter.length);
        length += parameter.length;
        before = '&';
    }
    return length;
}

/* ---- keys ---- */

size_t replay_room(const replay_request *request)
{
    return sizeof "EGET " + request->method.length + request->host.length + request->target.length;
}

static size_t append(char *room, size_t at, replay_text text)
{
    if (text.length)
        memcpy(room + at, text.bytes, text.length);
    return at + text.length;
}

static replay_text key_of(replay_kind kind, replay_text method, const replay_request *request, char *room)
{
    static const char letters[] = "ESP";
    size_t at = 0;
    room[at++] = letters[kind];
    at = append(room, at, method);
    room[at++] = ' ';
    at = append(room, at, request->host);
    if (kind == REPLAY_EXACT)
        at = append(room, at, request->target);
    else if (kind == REPLAY_STRIPPED)
        at += replay_strip(request->target, room + at);
    else
        at = append(room, at, path_of(request->target));
    replay_text key = {room, at};
    return key;
}

replay_found replay_find(const replay_pack *pack, const replay_request *request, char *room)
{
    static const replay_text get = {"GET", 3}, head = {"HEAD", 4};
    replay_found found = {REPLAY_NONE, {{NULL, 0}, NULL, 0}};
    bool is_head = same(request->method, head);

    for (replay_kind kind = REPLAY_EXACT; kind < REPLAY_NONE; kind++)
        for (int as_get = 0; as_get <= is_head; as_get++) {
            replay_text key = key_of(kind, as_get ? get : request->method, request, room);
            found.candidates = replay_pack_group(pack, key);
            if (found.candidates.count) {
                found.kind = kind;
                return found;
            }
        }
    return found;
}

/* ---- choosing among candidates ---- */

bool replay_wants_body(const replay_pack *pack, const replay_found *found)
{
    if (found->kind == REPLAY_NONE || found->candidates.count < 2)
        return false;
    for (uint32_t i = 0; i < found->candidates.count; i++)
        if (replay_pack_object(pack, replay_group_member(&found->candidates, i)).request_sha1)
            return true;
    return false;
}

unsigned replay_equal_parameters(replay_text one, replay_text other)
{
    bool used[MOST_PARAMETERS] = {false};
    unsigned equal = 0, tried = 0;

    while (one.length && tried++ < MOST_PARAMETERS) {
        replay_text parameter = next_parameter(&one), rest = other;
        if (!parameter.length)
            continue;
        for (unsigned i = 0; rest.length && i < MOST_PARAMETERS; i++)
            if (same(next_parameter(&rest), parameter) && !used[i]) {
                used[i] = true;
                equal++;
                break;
            }
    }
    return equal;
}

static bool same_body(const replay_object *object, const uint8_t *sha1)
{
    return sha1 && object->request_sha1 && !memcmp(object->request_sha1, sha1, SHA1_LENGTH);
}

/* The scheme comes before parameters, and these before the request's body. */
static uint64_t rank(const replay_object *object, const replay_found *found, const replay_request *request,
                     const uint8_t *sha1)
{
    uint64_t equal = 0;
    if (found->kind == REPLAY_NEAREST)
        equal = replay_equal_parameters(query_of(request->target), object->query);
    return (uint64_t)(object->https == request->https) << 32 | equal << 1 | (uint64_t)same_body(object, sha1);
}

/* Whether another candidate of the same scheme would have been another answer. */
static bool differs(const replay_pack *pack, const replay_found *found, const replay_object *chosen)
{
    for (uint32_t i = 0; i < found->candidates.count; i++) {
        replay_object other = replay_pack_object(pack, replay_group_member(&found->candidates, i));
        if (other.https == chosen->https && (other.status != chosen->status || other.body != chosen->body ||
                                             other.body_length != chosen->body_length))
            return true;
    }
    return false;
}

replay_chosen replay_choose(const replay_pack *pack, const replay_found *found, const replay_request *request,
                            const uint8_t *sha1)
{
    replay_chosen chosen = {found->kind, 0};
    replay_object best = {0};
    uint64_t best_rank = 0;

    if (found->kind == REPLAY_NONE)
        return chosen;
    for (uint32_t i = 0; i < found->candidates.count; i++) {
        uint32_t index = replay_group_member(&found->candidates, i);
        replay_object object = replay_pack_object(pack, index);
        uint64_t its_rank = rank(&object, found, request, sha1);
        if (i == 0 || its_rank > best_rank) {
            chosen.object = index;
            best = object;
            best_rank = its_rank;
        }
    }
    if (chosen.kind == REPLAY_EXACT && sha1 && !same_body(&best, sha1) && differs(pack, found, &best))
        chosen.kind = REPLAY_NEAREST;
    return chosen;
}
