#include "compression.h"

#include "dictionary.h"
#include "memory.h"

#include <string.h>

/* As Chromium and the first mod_spdy compressed: 2 KiB of history, which the
 * dictionaries just fit in, and a small hash. Less than a quarter of the memory
 * that 8 KiB of history take, for each session. */
enum { WINDOW_BITS = 11, MEMORY_LEVEL = 1, STEP_BYTES = 2048 };

static const unsigned char *dictionary(spdy_version version, uInt *length)
{
    *length = version == SPDY_VERSION_2 ? SPDY_DICTIONARY_2_BYTES : SPDY_DICTIONARY_3_BYTES;
    return version == SPDY_VERSION_2 ? spdy_dictionary_2 : spdy_dictionary_3;
}

static voidpf zlib_get(voidpf with, uInt items, uInt size)
{
    (void)with;
    return size && items > SIZE_MAX / size ? NULL : spdy_memory_get((size_t)items * size);
}

static void zlib_give_back(voidpf with, voidpf memory)
{
    (void)with;
    spdy_memory_give_back(memory);
}

static void zlib_prepare(z_stream *zlib)
{
    memset(zlib, 0, sizeof *zlib);
    zlib->zalloc = zlib_get;
    zlib->zfree = zlib_give_back;
}

bool spdy_compressor_start(spdy_compressor *compressor, spdy_version version, int level)
{
    uInt length;
    const unsigned char *words = dictionary(version, &length);

    zlib_prepare(&compressor->zlib);
    if (deflateInit2(&compressor->zlib, level, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    compressor->ready = true;
    return deflateSetDictionary(&compressor->zlib, words, length) == Z_OK;
}

bool spdy_compressor_add(spdy_compressor *compressor, const void *block, size_t length, spdy_buffer *out)
{
    z_stream *zlib = &compressor->zlib;

    /* zlib takes no const; it does not write there. */
    zlib->next_in = (Bytef *)(uintptr_t)block;
    zlib->avail_in = (uInt)length;
    do {
        uint8_t *room = spdy_buffer_room(out, STEP_BYTES);

        if (!room)
            return false;
        zlib->next_out = room;
        zlib->avail_out = STEP_BYTES;
        if (deflate(zlib, Z_SYNC_FLUSH) == Z_STREAM_ERROR)
            return false;
        spdy_buffer_added(out, STEP_BYTES - zlib->avail_out);
    } while (zlib->avail_out == 0);
    return true;
}

void spdy_compressor_end(spdy_compressor *compressor)
{
    if (compressor->ready)
        deflateEnd(&compressor->zlib);
    compressor->ready = false;
}

bool spdy_expander_start(spdy_expander *expander, spdy_version version)
{
    zlib_prepare(&expander->zlib);
    expander->version = version;
    /* 0: as much history as the peer's first bytes say that it uses. */
    expander->ready = inflateInit2(&expander->zlib, 0) == Z_OK;
    return expander->ready;
}

static int inflate_step(spdy_expander *expander)
{
    uInt length;
    const unsigned char *words = dictionary(expander->version, &length);
    int result = inflate(&expander->zlib, Z_SYNC_FLUSH);

    if (result != Z_NEED_DICT)
        return result;
    if (inflateSetDictionary(&expander->zlib, words, length) != Z_OK)
        return Z_DATA_ERROR;
    return inflate(&expander->zlib, Z_SYNC_FLUSH);
}

spdy_expansion spdy_expander_add(spdy_expander *expander, const void *bytes, size_t length, size_t limit,
                                 spdy_buffer *out, size_t *used)
{
    z_stream *zlib = &expander->zlib;
    spdy_expansion expansion = SPDY_EXPANDED;

    zlib->next_in = (Bytef *)(uintptr_t)bytes;
    zlib->avail_in = (uInt)length;
    for (;;) {
        size_t left = limit - spdy_buffer_length(out);
        uInt step = left < STEP_BYTES ? (uInt)left : STEP_BYTES;
        uint8_t *room = spdy_buffer_room(out, STEP_BYTES);
        int result;

        if (!room) {
            expansion = SPDY_EXPANSION_NO_MEMORY;
            break;
        }
        zlib->next_out = room;
        zlib->avail_out = step;
        result = inflate_step(expander);
        spdy_buffer_added(out, step - zlib->avail_out);
        if (result == Z_MEM_ERROR) {
            expansion = SPDY_EXPANSION_NO_MEMORY;
            break;
        }
        /* A stream that ends is broken too: it must last as long as the session. */
        if (result != Z_OK && result != Z_BUF_ERROR) {
            expansion = SPDY_EXPANSION_BROKEN;
            break;
        }
        if (zlib->avail_out == 0 && spdy_buffer_length(out) >= limit) {
            expansion = SPDY_EXPANSION_FULL;
            break;
        }
        if (zlib->avail_out != 0)
            break; /* room left: zlib has nothing more to give */
    }
    *used = length - zlib->avail_in;
    return expansion;
}

void spdy_expander_end(spdy_expander *expander)
{
    if (expander->ready)
        inflateEnd(&expander->zlib);
    expander->ready = false;
}
