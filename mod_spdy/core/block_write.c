#include "block.h"

#include <string.h>

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

bool spdy_same_name(spdy_text one, spdy_text other)
{
    size_t i;

    if (one.length != other.length)
        return false;
    if (one.bytes == other.bytes) /* parts of one value share their name */
        return true;
    for (i = 0; i < one.length; i++)
        if (lower(one.bytes[i]) != lower(other.bytes[i]))
            return false;
    return true;
}

static bool is_token_letter(char letter)
{
    return (letter >= '0' && letter <= '9') || (lower(letter) >= 'a' && lower(letter) <= 'z') ||
           (letter && strchr("!#$%&'*+-.^_`|~", letter));
}

bool spdy_is_name(spdy_text name)
{
    size_t from = name.length > 1 && name.bytes[0] == ':';
    size_t i;

    for (i = from; i < name.length; i++)
        if (!is_token_letter(name.bytes[i]))
            return false;
    return name.length > 0;
}

static bool write_count(spdy_version version, size_t count, spdy_buffer *out)
{
    uint8_t bytes[4];

    if (version == SPDY_VERSION_2) {
        spdy_put_16(bytes, (uint32_t)count);
        return spdy_buffer_append(out, bytes, 2);
    }
    spdy_put_32(bytes, (uint32_t)count);
    return spdy_buffer_append(out, bytes, 4);
}

static bool came_before(const spdy_header *headers, size_t index)
{
    size_t i;

    for (i = 0; i < index; i++)
        if (spdy_same_name(headers[i].name, headers[index].name))
            return true;
    return false;
}

/* How long the joined values of one name are. Empty ones have no place among others. */
static size_t joined_length(const spdy_header *headers, size_t count, size_t index)
{
    size_t length = 0;
    size_t i;

    for (i = index; i < count; i++)
        if (headers[i].value.length && spdy_same_name(headers[i].name, headers[index].name))
            length += headers[i].value.length + (length > 0);
    return length;
}

static bool write_name(spdy_version version, spdy_text name, spdy_buffer *out)
{
    uint8_t *room;
    size_t i;

    if (!write_count(version, name.length, out))
        return false;
    room = spdy_buffer_room(out, name.length);
    if (!room)
        return false;
    for (i = 0; i < name.length; i++)
        room[i] = (uint8_t)lower(name.bytes[i]);
    spdy_buffer_added(out, name.length);
    return true;
}

static bool write_values(spdy_version version, const spdy_header *headers, size_t count, size_t index, spdy_buffer *out)
{
    bool first = true;
    size_t i;

    if (!write_count(version, joined_length(headers, count, index), out))
        return false;
    for (i = index; i < count; i++) {
        spdy_text value = headers[i].value;

        if (!value.length || !spdy_same_name(headers[i].name, headers[index].name))
            continue;
        if ((!first && !spdy_buffer_append(out, "", 1)) || !spdy_buffer_append(out, value.bytes, value.length))
            return false;
        first = false;
    }
    return true;
}

/* SPDY/2 counts with 16 bits; a frame has 24. */
static spdy_result check(spdy_version version, const spdy_header *headers, size_t count, size_t *names)
{
    size_t most = version == SPDY_VERSION_2 ? 0xffff : 0xffffff;
    size_t total = 0;
    size_t i;

    *names = 0;
    for (i = 0; i < count; i++) {
        spdy_text name = headers[i].name, value = headers[i].value;

        if (!spdy_is_name(name) || (value.length && memchr(value.bytes, 0, value.length)))
            return SPDY_BAD_HEADERS;
        total += name.length + value.length + 8;
        if (name.length > most || total > 0xffffff || joined_length(headers, count, i) > most)
            return SPDY_TOO_LARGE;
        *names += !came_before(headers, i);
    }
    return *names > most ? SPDY_TOO_LARGE : SPDY_OK;
}

spdy_result spdy_block_write(spdy_version version, const spdy_header *headers, size_t count, spdy_buffer *out)
{
    size_t names;
    size_t i;
    spdy_result result = check(version, headers, count, &names);

    if (result != SPDY_OK)
        return result;
    if (!write_count(version, names, out))
        return SPDY_NO_MEMORY;
    for (i = 0; i < count; i++) {
        if (came_before(headers, i))
            continue;
        if (!write_name(version, headers[i].name, out) || !write_values(version, headers, count, i, out))
            return SPDY_NO_MEMORY;
    }
    return SPDY_OK;
}
