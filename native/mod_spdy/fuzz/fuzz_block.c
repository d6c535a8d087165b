/* Header blocks as they are after expansion; what was read is written and read again. */
#include "block.h"
#include "fuzzers.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool what)
{
    if (!what)
        abort();
}

static void check_again(spdy_version version, const spdy_header_list *list)
{
    spdy_buffer block = {0};
    spdy_header_list again = {0};
    spdy_result result = spdy_block_write(version, list->headers, list->count, &block);

    /* What a peer may write, names that are no tokens, we do not write. */
    if (result == SPDY_OK) {
        demand(spdy_block_read(version, spdy_buffer_bytes(&block), spdy_buffer_length(&block), 1000, &again) ==
               SPDY_BLOCK_FINE);
        demand(again.count == list->count);
    } else {
        demand(result == SPDY_BAD_HEADERS);
    }
    spdy_header_list_free(&again);
    spdy_buffer_free(&block);
}

int spdy_fuzz_block(const uint8_t *bytes, size_t length)
{
    spdy_version version;
    spdy_header_list list = {0};

    if (!length)
        return 0;
    version = bytes[0] % 3;
    if (spdy_block_read(version, bytes + 1, length - 1, 64, &list) == SPDY_BLOCK_FINE) {
        demand(list.count <= 64);
        check_again(version, &list);
    }
    spdy_header_list_free(&list);
    return 0;
}

FUZZ_ALONE_WITH(spdy_fuzz_block)
