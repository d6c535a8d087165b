#include "memory.h"

#include <stdlib.h>
#include <string.h>

void *(*spdy_memory_source)(void *old, size_t bytes) = realloc;

void *spdy_memory_get(size_t bytes)
{
    void *memory = spdy_memory_source(NULL, bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *spdy_memory_resize(void *old, size_t bytes)
{
    return spdy_memory_source(old, bytes);
}

void spdy_memory_give_back(void *memory)
{
    free(memory);
}
