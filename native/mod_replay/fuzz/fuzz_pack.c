/* Any bytes as a pack. One that is accepted is read whole, and asked for its own keys and for others. */
#include "fuzzers.h"
#include "match.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ASKED = 64 };

static volatile unsigned seen;

static void demand(bool what)
{
    if (!what)
        abort();
}

static void look(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < length; i++)
        seen += at[i];
}

static void read_object(const replay_pack *pack, uint32_t index)
{
    replay_object object = replay_pack_object(pack, index);
    look(object.body, object.body_length < 4096 ? object.body_length : 4096);
    look(object.status_line, strlen(object.status_line));
    look(object.type, strlen(object.type));
    look(object.query.bytes, object.query.length);
    if (object.request_sha1)
        look(object.request_sha1, 20);
    for (uint32_t i = 0; i < object.header_count && i < MOST_ASKED; i++) {
        replay_header header = replay_pack_header(pack, object.first_header + i);
        look(header.name, strlen(header.name));
        look(header.value, strlen(header.value));
    }
}

static void ask(const replay_pack *pack, replay_text method, replay_text host, replay_text target)
{
    static const uint8_t sha1[20] = {1, 2, 3};
    replay_request request = {method, host, target, method.length & 1};
    char *room = malloc(replay_room(&request));
    replay_found found = replay_find(pack, &request, room);
    bool wants_body = replay_wants_body(pack, &found);
    replay_chosen chosen = replay_choose(pack, &found, &request, wants_body ? sha1 : NULL);

    demand((chosen.kind == REPLAY_NONE) == (found.candidates.count == 0));
    demand(chosen.kind == REPLAY_NONE || chosen.object < pack->objects.count);
    free(room);
}

static replay_text text_of(const char *string)
{
    replay_text text = {string, strlen(string)};
    return text;
}

int replay_fuzz_pack(const uint8_t *bytes, size_t length)
{
    replay_pack pack;

    if (replay_pack_open(bytes, length, &pack))
        return 0;
    for (uint32_t i = 0; i < pack.objects.count && i < MOST_ASKED; i++)
        read_object(&pack, i);
    for (size_t at = 0, i = 0; at < pack.strings_length && i < MOST_ASKED; i++) {
        replay_text some = text_of(pack.strings + at);
        const char *space = memchr(some.bytes, ' ', some.length);
        replay_text rest = space ? text_of(space + 1) : some;
        size_t host = strcspn(rest.bytes, "/");
        replay_text name = {rest.bytes, host}, target = {rest.bytes + host, rest.length - host};
        ask(&pack, text_of("GET"), name, target);
        ask(&pack, text_of("HEAD"), name, target);
        ask(&pack, text_of("POST"), name, target);
        at += some.length + 1;
    }
    demand(replay_pack_compresses(&pack, REPLAY_AS_STORED) || pack.objects.count == 0 ||
           replay_pack_compresses(&pack, REPLAY_GZIP) || replay_pack_compresses(&pack, REPLAY_BROTLI));
    return 0;
}

#ifdef FUZZ_ALONE
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    return replay_fuzz_pack(bytes, length);
}
#endif
