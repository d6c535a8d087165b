/* Bytes on their way between a session's thread and a worker's: a queue of
 * chunks in memory of its own, so that neither touches the other's pools.
 * The caller holds the session's lock, and keeps the queue bounded. */
#ifndef MSPDY_PIPE_H
#define MSPDY_PIPE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mspdy_chunk mspdy_chunk;

typedef struct mspdy_pipe {
    mspdy_chunk *first;
    mspdy_chunk *last;
    size_t bytes;
} mspdy_pipe;

/* False: no memory, and what was added is not all. */
bool mspdy_pipe_put(mspdy_pipe *pipe, const void *bytes, size_t length);
size_t mspdy_pipe_take(mspdy_pipe *pipe, void *to, size_t most);
void mspdy_pipe_clear(mspdy_pipe *pipe);

#endif
