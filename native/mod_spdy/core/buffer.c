#include "buffer.h"

#include "memory.h"

#include <string.h>

enum { FIRST_CAPACITY_BYTES = 512, KEPT_CAPACITY_BYTES = 16384 };

uint8_t *spdy_buffer_room(spdy_buffer *buffer, size_t more)
{
    size_t length = spdy_buffer_length(buffer);
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY_BYTES;
    uint8_t *memory;

    if (buffer->capacity - buffer->end >= more && buffer->memory)
        return buffer->memory + buffer->end;
    if (buffer->start) {
        memmove(buffer->memory, buffer->memory + buffer->start, length);
        buffer->start = 0;
        buffer->end = length;
        if (buffer->capacity - length >= more)
            return buffer->memory + length;
    }
    if (more > SIZE_MAX / 2 - length)
        return NULL;
    while (capacity < length + more)
        capacity *= 2;
    memory = spdy_memory_resize(buffer->memory, capacity);
    if (!memory)
        return NULL;
    buffer->memory = memory;
    buffer->capacity = capacity;
    return memory + length;
}

void spdy_buffer_added(spdy_buffer *buffer, size_t bytes)
{
    buffer->end += bytes;
}

bool spdy_buffer_append(spdy_buffer *buffer, const void *bytes, size_t length)
{
    uint8_t *room;

    if (!length)
        return true;
    room = spdy_buffer_room(buffer, length);
    if (!room)
        return false;
    memcpy(room, bytes, length);
    spdy_buffer_added(buffer, length);
    return true;
}

void spdy_buffer_take(spdy_buffer *buffer, size_t bytes)
{
    if (bytes < spdy_buffer_length(buffer))
        buffer->start += bytes;
    else
        spdy_buffer_clear(buffer);
}

void spdy_buffer_clear(spdy_buffer *buffer)
{
    buffer->start = 0;
    buffer->end = 0;
    if (buffer->capacity > KEPT_CAPACITY_BYTES)
        spdy_buffer_free(buffer);
}

void spdy_buffer_free(spdy_buffer *buffer)
{
    spdy_memory_give_back(buffer->memory);
    memset(buffer, 0, sizeof *buffer);
}
