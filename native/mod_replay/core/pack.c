#include "pack.h"

#include <string.h>
#include <zlib.h>

enum {
    VERSION = 1,
    HEADER_SIZE = 24 + 7 * 16,
    SLOT_SIZE = 4,
    GROUP_SIZE = 24,
    MEMBER_SIZE = 4,
    OBJECT_SIZE = 72,
    RECORDED_HEADER_SIZE = 8,
    SHA1_OFFSET = 48,
    DELAY_OFFSET = 68,
    LOWEST_STATUS = 200,
    HIGHEST_STATUS = 999
};
enum { HTTPS = 1, PLAIN = 2, HAS_SHA1 = 4, GZIP = 8, BROTLI = 16, HEAD = 32, ALL_FLAGS = 63 };

static const char magic[8] = {'L', 'L', 'R', 'E', 'P', 'L', 'A', 'Y'};

static uint32_t number32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t number64(const uint8_t *at)
{
    return number32(at) | (uint64_t)number32(at + 4) << 32;
}

/* ---- opening ---- */

/* One of the header's pairs of offset and count. */
static bool bounds(const uint8_t *bytes, size_t length, unsigned which, size_t size, const uint8_t **begin, uint64_t *count)
{
    uint64_t offset = number64(bytes + 24 + which * 16);
    *count = number64(bytes + 24 + which * 16 + 8);
    if (offset < HEADER_SIZE || offset > length || *count > (length - offset) / size)
        return false;
    *begin = bytes + offset;
    return true;
}

static bool section(const uint8_t *bytes, size_t length, unsigned which, size_t size, replay_section *made)
{
    uint64_t count;
    if (!bounds(bytes, length, which, size, &made->bytes, &count) || count > UINT32_MAX)
        return false;
    made->count = (uint32_t)count;
    return true;
}

static const char *check_slots(const replay_pack *pack)
{
    if (!pack->slots.count || (pack->slots.count & (pack->slots.count - 1)))
        return "the size of its table is no power of two";
    for (uint32_t i = 0; i < pack->slots.count; i++)
        if (number32(pack->slots.bytes + (size_t)i * SLOT_SIZE) > pack->groups.count)
            return "its table leads outside";
    return NULL;
}

static const char *check_groups(const replay_pack *pack)
{
    for (uint32_t i = 0; i < pack->groups.count; i++) {
        const uint8_t *at = pack->groups.bytes + (size_t)i * GROUP_SIZE;
        uint32_t key = number32(at + 4), key_length = number32(at + 8);
        uint32_t first = number32(at + 12), count = number32(at + 16);
        if (key > pack->strings_length || key_length > pack->strings_length - key)
            return "a key is outside of its strings";
        if (!count || first > pack->members.count || count > pack->members.count - first)
            return "a key leads to no object";
    }
    for (uint32_t i = 0; i < pack->members.count; i++)
        if (number32(pack->members.bytes + (size_t)i * MEMBER_SIZE) >= pack->objects.count)
            return "a key leads to an object that is not there";
    return NULL;
}

static const char *check_headers(const replay_pack *pack)
{
    for (uint32_t i = 0; i < pack->headers.count; i++) {
        const uint8_t *at = pack->headers.bytes + (size_t)i * RECORDED_HEADER_SIZE;
        if (number32(at) >= pack->strings_length || number32(at + 4) >= pack->strings_length)
            return "a header is outside of its strings";
    }
    return NULL;
}

/* "200 OK": three digits and a space, as Apache wants it. */
static bool is_status_line(const char *line, uint32_t status)
{
    const char digits[3] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10)};
    return !strncmp(line, digits, sizeof digits) && line[3] == ' ';
}

static const char *check_object(const replay_pack *pack, const uint8_t *at)
{
    uint64_t body = number64(at), body_length = number64(at + 8);
    uint32_t status = number32(at + 16), line = number32(at + 20), type = number32(at + 24), flags = number32(at + 28);
    uint32_t first = number32(at + 32), count = number32(at + 36), query = number32(at + 40), length = number32(at + 44);
    if (body > pack->bodies_length || body_length > pack->bodies_length - body)
        return "a body is outside of it";
    if (line >= pack->strings_length || type >= pack->strings_length || query > pack->strings_length ||
        length > pack->strings_length - query)
        return "an object's text is outside of its strings";
    if (first > pack->headers.count || count > pack->headers.count - first)
        return "an object's headers are not there";
    if (flags & ~(uint32_t)ALL_FLAGS || (flags & GZIP && flags & BROTLI))
        return "an object has unknown flags";
    if (status < LOWEST_STATUS || status > HIGHEST_STATUS || !is_status_line(pack->strings + line, status))
        return "an object has no valid status";
    return NULL;
}

static const char *check_objects(const replay_pack *pack)
{
    const char *wrong = NULL;
    for (uint32_t i = 0; i < pack->objects.count && !wrong; i++)
        wrong = check_object(pack, pack->objects.bytes + (size_t)i * OBJECT_SIZE);
    return wrong;
}

const char *replay_pack_open(const void *begin, size_t length, replay_pack *pack)
{
    const uint8_t *bytes = begin, *strings;
    uint64_t strings_length, bodies_length;
    const char *wrong;

    if (length < HEADER_SIZE || memcmp(bytes, magic, sizeof magic))
        return "it is no pack";
    if (number32(bytes + 8) != VERSION)
        return "it is a pack of another version";
    if (number64(bytes + 16) != length)
        return "it is not whole";
    if (!section(bytes, length, 0, SLOT_SIZE, &pack->slots) || !section(bytes, length, 1, GROUP_SIZE, &pack->groups) ||
        !section(bytes, length, 2, MEMBER_SIZE, &pack->members) ||
        !section(bytes, length, 3, OBJECT_SIZE, &pack->objects) ||
        !section(bytes, length, 4, RECORDED_HEADER_SIZE, &pack->headers) ||
        !bounds(bytes, length, 5, 1, &strings, &strings_length) ||
        !bounds(bytes, length, 6, 1, &pack->bodies, &bodies_length))
        return "a part of it is outside of it";
    pack->strings = (const char *)strings;
    pack->strings_length = strings_length;
    pack->bodies_length = bodies_length;
    if (!strings_length || strings[strings_length - 1] != 0)
        return "its strings have no end"; /* with it, each of them has one */
    wrong = check_slots(pack);
    wrong = wrong ? wrong : check_groups(pack);
    wrong = wrong ? wrong : check_headers(pack);
    return wrong ? wrong : check_objects(pack);
}

/* ---- reading ---- */

static replay_compression compression_of(uint32_t flags)
{
    if (flags & GZIP)
        return REPLAY_GZIP;
    return flags & BROTLI ? REPLAY_BROTLI : REPLAY_AS_STORED;
}

replay_object replay_pack_object(const replay_pack *pack, uint32_t index)
{
    const uint8_t *at = pack->objects.bytes + (size_t)index * OBJECT_SIZE;
    uint32_t flags = number32(at + 28);
    replay_object object = {
        .body = pack->bodies + number64(at),
        .body_length = number64(at + 8),
        .status = number32(at + 16),
        .status_line = pack->strings + number32(at + 20),
        .type = pack->strings + number32(at + 24),
        .first_header = number32(at + 32),
        .header_count = number32(at + 36),
        .query = {pack->strings + number32(at + 40), number32(at + 44)},
        .delay_ms = number32(at + DELAY_OFFSET),
        .request_sha1 = flags & HAS_SHA1 ? at + SHA1_OFFSET : NULL,
        .compression = compression_of(flags),
        .https = flags & HTTPS,
        .plain = flags & PLAIN,
        .head = flags & HEAD,
    };
    return object;
}

replay_header replay_pack_header(const replay_pack *pack, uint32_t index)
{
    const uint8_t *at = pack->headers.bytes + (size_t)index * RECORDED_HEADER_SIZE;
    replay_header header = {pack->strings + number32(at), pack->strings + number32(at + 4)};
    return header;
}

replay_group replay_pack_group(const replay_pack *pack, replay_text key)
{
    replay_group none = {key, NULL, 0};
    uint32_t hash = (uint32_t)crc32_z(0, (const unsigned char *)key.bytes, key.length);
    for (uint32_t step = 0; step < pack->slots.count; step++) { /* a table without an empty slot has an end too */
        uint32_t slot = (hash + step) & (pack->slots.count - 1);
        uint32_t number = number32(pack->slots.bytes + (size_t)slot * SLOT_SIZE);
        const uint8_t *at;
        if (!number)
            break;
        at = pack->groups.bytes + (size_t)(number - 1) * GROUP_SIZE;
        if (number32(at) == hash && number32(at + 8) == key.length &&
            !memcmp(pack->strings + number32(at + 4), key.bytes, key.length)) {
            replay_group found = {key, pack->members.bytes + (size_t)number32(at + 12) * MEMBER_SIZE,
                                  number32(at + 16)};
            return found;
        }
    }
    return none;
}

uint32_t replay_group_member(const replay_group *group, uint32_t number)
{
    return number32(group->members + (size_t)number * MEMBER_SIZE);
}

bool replay_pack_compresses(const replay_pack *pack, replay_compression how)
{
    for (uint32_t i = 0; i < pack->objects.count; i++)
        if (replay_pack_object(pack, i).compression == how)
            return true;
    return false;
}
