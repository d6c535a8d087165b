/* All memory of the core comes from here, so that tests can let it run out. */
#ifndef SPDY_MEMORY_H
#define SPDY_MEMORY_H

#include <stddef.h>

/* realloc unless a test says otherwise. */
extern void *(*spdy_memory_source)(void *old, size_t bytes);

void *spdy_memory_get(size_t bytes); /* zeroed */
void *spdy_memory_resize(void *old, size_t bytes);
void spdy_memory_give_back(void *memory);

#endif
