/* The name/value block of SYN_STREAM, SYN_REPLY and HEADERS, expanded. */
#ifndef SPDY_BLOCK_H
#define SPDY_BLOCK_H

#include "buffer.h"
#include "spdy.h"

typedef struct spdy_header_list {
    spdy_header *headers;
    size_t count;
    size_t capacity;
} spdy_header_list;

typedef enum spdy_block_fault {
    SPDY_BLOCK_FINE,
    SPDY_BLOCK_CUT_SHORT,
    SPDY_BLOCK_LEFT_OVER,
    SPDY_BLOCK_EMPTY_NAME,
    SPDY_BLOCK_BAD_NAME,
    SPDY_BLOCK_SAME_NAME,
    SPDY_BLOCK_BAD_VALUE,
    SPDY_BLOCK_TOO_MANY,
    SPDY_BLOCK_NO_MEMORY
} spdy_block_fault;

const char *spdy_block_fault_text(spdy_block_fault fault);

/* Fills the list, one entry per value; its texts point into the block. */
spdy_block_fault spdy_block_read(spdy_version version, const uint8_t *block, size_t length, size_t most_headers,
                                 spdy_header_list *list);
void spdy_header_list_free(spdy_header_list *list);

/* Appends the block of these headers: names in lower case and in their order, values of one name joined. */
spdy_result spdy_block_write(spdy_version version, const spdy_header *headers, size_t count, spdy_buffer *out);

/* Same name, whatever the case of ASCII letters? */
bool spdy_same_name(spdy_text one, spdy_text other);
/* A token of HTTP, or one after ":". */
bool spdy_is_name(spdy_text name);

#endif
