#include "mspdy_pipe.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 16 * 1024 };

struct mspdy_chunk {
    mspdy_chunk *next;
    size_t begin;
    size_t end;
    size_t room;
    char bytes[];
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Small writes share a chunk; a large one gets a chunk of its size. */
static mspdy_chunk *chunk_new(size_t wanted)
{
    size_t room = wanted < 1024 ? 1024 : least(wanted, CHUNK_BYTES);
    mspdy_chunk *chunk = malloc(sizeof(*chunk) + room);
    if (chunk != NULL) {
        chunk->next = NULL;
        chunk->begin = chunk->end = 0;
        chunk->room = room;
    }
    return chunk;
}

static void chunks_free(mspdy_chunk *chunk)
{
    while (chunk != NULL) {
        mspdy_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

static size_t chunk_fill(mspdy_chunk *chunk, const char *bytes, size_t length)
{
    size_t n = least(length, chunk->room - chunk->end);
    memcpy(chunk->bytes + chunk->end, bytes, n);
    chunk->end += n;
    return n;
}

bool mspdy_pipe_put(mspdy_pipe *pipe, const void *bytes, size_t length)
{
    const char *from = bytes;
    size_t left = length;
    size_t in_last = pipe->last ? least(left, pipe->last->room - pipe->last->end) : 0;
    mspdy_chunk *first_new = NULL, *last_new = NULL;
    for (size_t done = in_last; done < left;) {
        mspdy_chunk *chunk = chunk_new(left - done);
        if (chunk == NULL) {
            chunks_free(first_new);
            return false;
        }
        done += chunk_fill(chunk, from + done, left - done);
        if (last_new != NULL)
            last_new->next = chunk;
        else
            first_new = chunk;
        last_new = chunk;
    }
    if (in_last > 0)
        chunk_fill(pipe->last, from, in_last);
    if (first_new != NULL) {
        if (pipe->last != NULL)
            pipe->last->next = first_new;
        else
            pipe->first = first_new;
        pipe->last = last_new;
    }
    pipe->bytes += length;
    return true;
}

size_t mspdy_pipe_take(mspdy_pipe *pipe, void *to, size_t most)
{
    size_t taken = 0;
    while (taken < most && pipe->first != NULL) {
        mspdy_chunk *chunk = pipe->first;
        size_t n = least(most - taken, chunk->end - chunk->begin);
        memcpy((char *)to + taken, chunk->bytes + chunk->begin, n);
        chunk->begin += n;
        taken += n;
        if (chunk->begin == chunk->end) {
            pipe->first = chunk->next;
            if (pipe->first == NULL)
                pipe->last = NULL;
            free(chunk);
        }
    }
    pipe->bytes -= taken;
    return taken;
}

void mspdy_pipe_clear(mspdy_pipe *pipe)
{
    chunks_free(pipe->first);
    pipe->first = pipe->last = NULL;
    pipe->bytes = 0;
}
