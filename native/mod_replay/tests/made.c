#include "made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SLOTS = 16, STRINGS_AT = 2048, BODIES_AT = 6144 };

void put32(unsigned char *at, unsigned long value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

void put64(unsigned char *at, unsigned long long value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

typedef struct {
    made_pack *pack;
    size_t strings;
    size_t bodies;
} maker;

static unsigned add_string(maker *m, const char *text)
{
    size_t place = m->strings;
    memcpy(m->pack->bytes + STRINGS_AT + place, text, strlen(text) + 1);
    m->strings += strlen(text) + 1;
    return (unsigned)place;
}

static void add_object(maker *m, const made_object *object, unsigned number)
{
    unsigned char *at = m->pack->bytes + m->pack->objects + (size_t)number * 72;
    unsigned char *header = m->pack->bytes + m->pack->headers + (size_t)number * 8;
    char text[16];
    put64(at, m->bodies);
    put64(at + 8, strlen(object->body));
    memcpy(m->pack->bytes + BODIES_AT + m->bodies, object->body, strlen(object->body));
    m->bodies += strlen(object->body);
    put32(at + 16, strtoul(object->status_line, NULL, 10));
    put32(at + 20, add_string(m, object->status_line));
    put32(at + 24, add_string(m, "text/plain"));
    put32(at + 28, object->flags);
    put32(at + 32, number);
    put32(at + 36, 1);
    put32(at + 40, add_string(m, object->query));
    put32(at + 44, strlen(object->query));
    memset(at + 48, object->sha1, 20);
    snprintf(text, sizeof text, "%u", number);
    put32(header, add_string(m, "X-Number"));
    put32(header + 4, add_string(m, text));
}

static unsigned add_group(maker *m, const made_group *group, unsigned number, unsigned first)
{
    unsigned char *at = m->pack->bytes + m->pack->groups + (size_t)number * 24;
    unsigned long hash = crc32(0, (const unsigned char *)group->key, (unsigned)strlen(group->key));
    unsigned slot = hash % SLOTS;
    put32(at, hash);
    put32(at + 4, add_string(m, group->key));
    put32(at + 8, strlen(group->key));
    put32(at + 12, first);
    put32(at + 16, group->count);
    for (unsigned i = 0; i < group->count; i++)
        put32(m->pack->bytes + m->pack->members + 4 * (size_t)(first + i), group->members[i]);
    while (m->pack->bytes[m->pack->slots + 4 * (size_t)slot])
        slot = (slot + 1) % SLOTS;
    put32(m->pack->bytes + m->pack->slots + 4 * (size_t)slot, number + 1);
    return first + group->count;
}

made_pack make_pack(const made_object *objects, unsigned object_count, const made_group *groups, unsigned group_count)
{
    made_pack pack = {.slots = 144, .groups = 256, .members = 640, .objects = 768, .headers = 1920};
    maker m = {&pack, 1, 0};
    unsigned members = 0;

    pack.strings = STRINGS_AT;
    for (unsigned i = 0; i < object_count; i++)
        add_object(&m, &objects[i], i);
    for (unsigned i = 0; i < group_count; i++)
        members = add_group(&m, &groups[i], i, members);
    pack.length = BODIES_AT + m.bodies;
    memcpy(pack.bytes, "LLREPLAY", 8);
    put32(pack.bytes + 8, 1);
    put64(pack.bytes + 16, pack.length);
    const unsigned long long parts[7][2] = {{pack.slots, SLOTS},        {pack.groups, group_count},
                                            {pack.members, members},    {pack.objects, object_count},
                                            {pack.headers, object_count}, {STRINGS_AT, m.strings},
                                            {BODIES_AT, m.bodies}};
    for (int i = 0; i < 7; i++) {
        put64(pack.bytes + 24 + 16 * i, parts[i][0]);
        put64(pack.bytes + 32 + 16 * i, parts[i][1]);
    }
    return pack;
}
