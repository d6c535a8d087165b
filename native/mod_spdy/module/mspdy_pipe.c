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
static bool chunk_add(mspdy_pipe *pipe, size_t wanted)
{
    size_t room = wanted < 1024 ? 1024 : least(wanted, CHUNK_BYTES);
    mspdy_chunk *chunk = malloc(sizeof(*chunk) + room);
    if (chunk == NULL)
        return false;
    chunk->next = NULL;
    chunk->begin = chunk->end = 0;
    chunk->room = room;
    *(pipe->last != NULL ? &pipe->last->next : &pipe->first) = chunk;
    pipe->last = chunk;
    return true;
}

bool mspdy_pipe_put(mspdy_pipe *pipe, const void *bytes, size_t length)
{
    const char *from = bytes;
    while (length > 0) {
        if ((pipe->last == NULL || pipe->last->end == pipe->last->room) && !chunk_add(pipe, length))
            return false;
        mspdy_chunk *chunk = pipe->last;
        size_t n = least(length, chunk->room - chunk->end);
        memcpy(chunk->bytes + chunk->end, from, n);
        chunk->end += n;
        pipe->bytes += n;
        from += n;
        length -= n;
    }
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
    while (pipe->first != NULL) {
        mspdy_chunk *chunk = pipe->first;
        pipe->first = chunk->next;
        free(chunk);
    }
    pipe->last = NULL;
    pipe->bytes = 0;
}
