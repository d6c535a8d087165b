#include "block.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static int compare_names(spdy_text one, spdy_text other)
{
    size_t both = one.length < other.length ? one.length : other.length;
    size_t i;

    for (i = 0; i < both && one.bytes != other.bytes; i++) /* parts of one value share their name */
        if (lower(one.bytes[i]) != lower(other.bytes[i]))
            return lower(one.bytes[i]) < lower(other.bytes[i]) ? -1 : 1;
    return (one.length > other.length) - (one.length < other.length);
}

bool spdy_same_name(spdy_text one, spdy_text other)
{
    return one.length == other.length && !compare_names(one, other);
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

/* By name; values of one name stay as they came. */
static int compare(const void *one, const void *other)
{
    const spdy_header *const *first = one, *const *second = other;
    int names = compare_names((*first)->name, (*second)->name);

    return names ? names : (*first > *second) - (*first < *second);
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

/* The joined values of the headers, all of one name. Empty ones have no place among others. */
static bool write_values(spdy_version version, const spdy_header *const *headers, size_t count, spdy_buffer *out)
{
    size_t length = 0;
    size_t i;

    for (i = 0; i < count; i++)
        if (headers[i]->value.length)
            length += headers[i]->value.length + (length > 0);
    if (!write_count(version, length, out))
        return false;
    for (i = 0, length = 0; i < count; i++) {
        spdy_text value = headers[i]->value;

        if (!value.length)
            continue;
        if ((length && !spdy_buffer_append(out, "", 1)) || !spdy_buffer_append(out, value.bytes, value.length))
            return false;
        length += value.length;
    }
    return true;
}

/* A frame's length has 24 bits, and compression makes what it cannot compress larger, by a 25th at most. */
enum { MOST_BLOCK_BYTES = 15 << 20 };

/* SPDY/2 counts with 16 bits, each text that comes of these headers too. */
static spdy_result check(spdy_version version, const spdy_header *const *headers, size_t count)
{
    size_t most = version == SPDY_VERSION_2 ? 0xffff : MOST_BLOCK_BYTES;
    size_t total = 0, values = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        spdy_text name = headers[i]->name, value = headers[i]->value;
        bool more = i && !compare_names(name, headers[i - 1]->name);

        if ((!more && !spdy_is_name(name)) || (value.length && memchr(value.bytes, 0, value.length)))
            return SPDY_BAD_HEADERS;
        total += name.length + value.length + 8;
        values = more ? values + 1 + value.length : value.length;
        if (name.length > most || values > most || total > MOST_BLOCK_BYTES)
            return SPDY_TOO_LARGE;
    }
    return count > most ? SPDY_TOO_LARGE : SPDY_OK;
}

static spdy_result write_sorted(spdy_version version, const spdy_header *const *headers, size_t count,
                                spdy_buffer *out)
{
    size_t names = 0, from, to;

    for (from = 0; from < count; from++)
        names += !from || compare_names(headers[from]->name, headers[from - 1]->name);
    if (!write_count(version, names, out))
        return SPDY_NO_MEMORY;
    for (from = 0; from < count; from = to) {
        for (to = from + 1; to < count && !compare_names(headers[to]->name, headers[from]->name); to++)
            ;
        if (!write_name(version, headers[from]->name, out) || !write_values(version, headers + from, to - from, out))
            return SPDY_NO_MEMORY;
    }
    return SPDY_OK;
}

spdy_result spdy_block_write(spdy_version version, const spdy_header *headers, size_t count, spdy_buffer *out)
{
    const spdy_header **sorted = spdy_memory_get((count + 1) * sizeof *sorted);
    spdy_result result;
    size_t i;

    if (!sorted)
        return SPDY_NO_MEMORY;
    for (i = 0; i < count; i++)
        sorted[i] = &headers[i];
    qsort(sorted, count, sizeof *sorted, compare);
    result = check(version, sorted, count);
    if (result == SPDY_OK)
        result = write_sorted(version, sorted, count, out);
    spdy_memory_give_back(sorted);
    return result;
}
