/* Bytes that grow at the end and are taken from the start. */
#ifndef SPDY_BUFFER_H
#define SPDY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spdy_buffer {
    uint8_t *memory;
    size_t capacity;
    size_t start; /* bytes before it were taken */
    size_t end;
} spdy_buffer;

static inline size_t spdy_buffer_length(const spdy_buffer *buffer)
{
    return buffer->end - buffer->start;
}

static inline uint8_t *spdy_buffer_bytes(const spdy_buffer *buffer)
{
    return buffer->memory ? buffer->memory + buffer->start : NULL;
}

/* Room for `more` bytes at the end, NULL without memory; spdy_buffer_added makes them part of it. */
uint8_t *spdy_buffer_room(spdy_buffer *buffer, size_t more);
void spdy_buffer_added(spdy_buffer *buffer, size_t bytes);
bool spdy_buffer_append(spdy_buffer *buffer, const void *bytes, size_t length);
void spdy_buffer_take(spdy_buffer *buffer, size_t bytes);
/* Empties it, and gives memory back that a rare large content needed. */
void spdy_buffer_clear(spdy_buffer *buffer);
void spdy_buffer_free(spdy_buffer *buffer);

static inline void spdy_put_16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void spdy_put_24(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 16);
    spdy_put_16(to + 1, value & 0xffff);
}

static inline void spdy_put_32(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 24);
    spdy_put_24(to + 1, value & 0xffffff);
}

static inline uint32_t spdy_get_16(const uint8_t *from)
{
    return (uint32_t)from[0] << 8 | from[1];
}

static inline uint32_t spdy_get_24(const uint8_t *from)
{
    return (uint32_t)from[0] << 16 | spdy_get_16(from + 1);
}

static inline uint32_t spdy_get_32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | spdy_get_24(from + 1);
}

#endif
