/* Header compression: one zlib stream per direction for the session's whole
 * life, primed with the version's dictionary. Each block ends with a sync flush. */
#ifndef SPDY_COMPRESSION_H
#define SPDY_COMPRESSION_H

#include "buffer.h"
#include "spdy.h"

#include <zlib.h>

typedef struct spdy_compressor {
    z_stream zlib;
    bool ready;
} spdy_compressor;

typedef struct spdy_expander {
    z_stream zlib;
    spdy_version version;
    bool ready;
} spdy_expander;

typedef enum spdy_expansion {
    SPDY_EXPANDED,          /* all input used; what it gave is in the buffer */
    SPDY_EXPANSION_FULL,    /* the limit is reached; input may be left */
    SPDY_EXPANSION_BROKEN,  /* no zlib data, or of another dictionary */
    SPDY_EXPANSION_NO_MEMORY
} spdy_expansion;

/* Level 0 (stored as it is) to 9. Whatever the level, only a peer that has the dictionary can expand it. */
bool spdy_compressor_start(spdy_compressor *compressor, spdy_version version, int level);
/* Appends the block compressed. False: no memory; the stream is of no use any more. */
bool spdy_compressor_add(spdy_compressor *compressor, const void *block, size_t length, spdy_buffer *out);
void spdy_compressor_end(spdy_compressor *compressor);

bool spdy_expander_start(spdy_expander *expander, spdy_version version);
/* Appends what the bytes expand to, until the buffer holds `limit` bytes. `used` tells how much input was taken. */
spdy_expansion spdy_expander_add(spdy_expander *expander, const void *bytes, size_t length, size_t limit,
                                 spdy_buffer *out, size_t *used);
void spdy_expander_end(spdy_expander *expander);

#endif
