#include "block.h"

#include "memory.h"

#include <string.h>

/* What is left of the block. */
typedef struct reader {
    const uint8_t *bytes;
    size_t length;
    unsigned count_bytes; /* of each length: 2 in SPDY/2, 4 since */
} reader;

const char *spdy_block_fault_text(spdy_block_fault fault)
{
    static const char *const texts[] = {
        [SPDY_BLOCK_FINE] = "no fault",
        [SPDY_BLOCK_CUT_SHORT] = "header block ends before its last header",
        [SPDY_BLOCK_LEFT_OVER] = "header block goes on after its last header",
        [SPDY_BLOCK_EMPTY_NAME] = "header without a name",
        [SPDY_BLOCK_BAD_NAME] = "header name with an upper case letter or NUL",
        [SPDY_BLOCK_SAME_NAME] = "header name comes twice in a block",
        [SPDY_BLOCK_BAD_VALUE] = "header value with an empty part",
        [SPDY_BLOCK_TOO_MANY] = "too many headers in a block",
        [SPDY_BLOCK_NO_MEMORY] = "no memory for a header block",
    };

    return texts[fault];
}

static bool read_count(reader *from, size_t *count)
{
    if (from->length < from->count_bytes)
        return false;
    *count = from->count_bytes == 2 ? spdy_get_16(from->bytes) : spdy_get_32(from->bytes);
    from->bytes += from->count_bytes;
    from->length -= from->count_bytes;
    return true;
}

static bool read_text(reader *from, spdy_text *text)
{
    size_t length;

    if (!read_count(from, &length) || from->length < length)
        return false;
    text->bytes = (const char *)from->bytes;
    text->length = length;
    from->bytes += length;
    from->length -= length;
    return true;
}

static spdy_block_fault add(spdy_header_list *list, size_t most, spdy_text name, spdy_text value)
{
    if (list->count >= most)
        return SPDY_BLOCK_TOO_MANY;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        spdy_header *headers = spdy_memory_resize(list->headers, capacity * sizeof *headers);

        if (!headers)
            return SPDY_BLOCK_NO_MEMORY;
        list->headers = headers;
        list->capacity = capacity;
    }
    list->headers[list->count].name = name;
    list->headers[list->count].value = value;
    list->count++;
    return SPDY_BLOCK_FINE;
}

static spdy_block_fault check_name(const spdy_header_list *list, spdy_text name)
{
    const char *other_name = NULL;
    size_t i;

    if (!name.length)
        return SPDY_BLOCK_EMPTY_NAME;
    for (i = 0; i < name.length; i++)
        if (!name.bytes[i] || (name.bytes[i] >= 'A' && name.bytes[i] <= 'Z'))
            return SPDY_BLOCK_BAD_NAME;
    for (i = 0; i < list->count; i++) {
        const spdy_text *other = &list->headers[i].name;

        if (other->bytes == other_name) /* of the same value: once is enough */
            continue;
        other_name = other->bytes;
        if (other->length == name.length && !memcmp(other->bytes, name.bytes, name.length))
            return SPDY_BLOCK_SAME_NAME;
    }
    return SPDY_BLOCK_FINE;
}

/* Several values are separated by NUL and none of them is empty; a single one may be. */
static spdy_block_fault add_values(spdy_header_list *list, size_t most, spdy_text name, spdy_text values)
{
    const char *end = values.bytes + values.length;
    const char *from = values.bytes;

    if (!values.length)
        return add(list, most, name, values);
    for (;;) {
        const char *nul = from < end ? memchr(from, 0, (size_t)(end - from)) : NULL;
        spdy_text value = {from, (size_t)((nul ? nul : end) - from)};
        spdy_block_fault fault = value.length ? add(list, most, name, value) : SPDY_BLOCK_BAD_VALUE;

        if (fault != SPDY_BLOCK_FINE || !nul)
            return fault;
        from = nul + 1;
    }
}

spdy_block_fault spdy_block_read(spdy_version version, const uint8_t *block, size_t length, size_t most_headers,
                                 spdy_header_list *list)
{
    reader from = {block, length, version == SPDY_VERSION_2 ? 2 : 4};
    size_t pairs;

    list->count = 0;
    if (!read_count(&from, &pairs))
        return SPDY_BLOCK_CUT_SHORT;
    if (pairs > most_headers)
        return SPDY_BLOCK_TOO_MANY;
    for (; pairs; pairs--) {
        spdy_text name, values;
        spdy_block_fault fault;

        if (!read_text(&from, &name) || !read_text(&from, &values))
            return SPDY_BLOCK_CUT_SHORT;
        fault = check_name(list, name);
        if (fault == SPDY_BLOCK_FINE)
            fault = add_values(list, most_headers, name, values);
        if (fault != SPDY_BLOCK_FINE)
            return fault;
    }
    return from.length ? SPDY_BLOCK_LEFT_OVER : SPDY_BLOCK_FINE;
}

void spdy_header_list_free(spdy_header_list *list)
{
    spdy_memory_give_back(list->headers);
    memset(list, 0, sizeof *list);
}
