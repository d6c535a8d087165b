#include "mspdy_batch.h"

#include <stdint.h>
#include <stdlib.h>

/* Processors that copy by one instruction do so at a twentieth of their speed where the target is up to 31 bytes ahead
 * of the source, by their places in a page: docs/reference/mod-spdy.md has figures. malloc places blocks of the same
 * sizes so again and again. The room behind a batch keeps it apart from the block that TLS copies it to. */
enum { PAGE_BYTES = 4096, APART_BYTES = MSPDY_BATCH_SPARE_BYTES / 4 };

static bool is_apart(const char *target, const char *source)
{
    size_t ahead = ((uintptr_t)target - (uintptr_t)source) % PAGE_BYTES;
    return ahead >= APART_BYTES && ahead <= PAGE_BYTES - APART_BYTES;
}

char *mspdy_batch_start(char *block, const char *source)
{
    char *start = block + APART_BYTES;
    return is_apart(start, source) ? start : start + 2 * APART_BYTES;
}

bool mspdy_batch_new(mspdy_batch *batch, size_t room)
{
    batch->block = malloc(room + MSPDY_BATCH_SPARE_BYTES);
    if (batch->block == NULL)
        return false;
    batch->bytes = mspdy_batch_start(batch->block, NULL); /* in files pages begin as here */
    batch->room = room;
    batch->length = 0;
    return true;
}

void mspdy_batch_drop(mspdy_batch *batch)
{
    free(batch->block);
    batch->block = NULL;
}

apr_bucket *mspdy_batch_bucket(mspdy_batch *batch, apr_bucket_alloc_t *alloc)
{
    size_t start = (size_t)(batch->bytes - batch->block);
    apr_bucket *bucket = apr_bucket_heap_create(batch->block, start + batch->length, free, alloc);
    bucket->start = (apr_off_t)start;
    bucket->length = batch->length;
    batch->block = NULL;
    return bucket;
}
