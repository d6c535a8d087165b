#include "stream.h"

#include "memory.h"

#include <string.h>

static size_t chain_of(uint32_t id)
{
    return (id >> 1) % SPDY_STREAM_CHAINS; /* the lowest bit says only who opened it */
}

spdy_stream *spdy_streams_find(const spdy_streams *streams, uint32_t id)
{
    spdy_stream *stream = streams->chains[chain_of(id)];

    while (stream && stream->id != id)
        stream = stream->chain;
    return stream;
}

spdy_stream *spdy_streams_add(spdy_streams *streams, uint32_t id, bool ours)
{
    spdy_stream *stream = spdy_memory_get(sizeof *stream);

    if (!stream)
        return NULL;
    stream->id = id;
    stream->ours = ours;
    stream->opened = ++streams->opened;
    stream->chain = streams->chains[chain_of(id)];
    streams->chains[chain_of(id)] = stream;
    *(ours ? &streams->ours : &streams->theirs) += 1;
    return stream;
}

void spdy_streams_note(spdy_streams *streams, uint32_t id, spdy_state how)
{
    size_t i;

    for (i = 0; i < SPDY_STREAM_ENDED && streams->ended[i].id != id; i++)
        ;
    if (i == SPDY_STREAM_ENDED) {
        i = streams->next_ended;
        streams->next_ended = (i + 1) % SPDY_STREAM_ENDED;
    }
    streams->ended[i].id = id;
    streams->ended[i].state = how;
}

void spdy_streams_end(spdy_streams *streams, spdy_stream *stream, spdy_state how)
{
    spdy_stream **link = &streams->chains[chain_of(stream->id)];

    while (*link != stream)
        link = &(*link)->chain;
    *link = stream->chain;
    *(stream->ours ? &streams->ours : &streams->theirs) -= 1;
    spdy_streams_note(streams, stream->id, how);
    spdy_memory_give_back(stream);
}

spdy_state spdy_streams_how_ended(const spdy_streams *streams, uint32_t id)
{
    size_t i;

    for (i = 0; i < SPDY_STREAM_ENDED; i++)
        if (streams->ended[i].id == id)
            return streams->ended[i].state;
    return SPDY_STATE_CUT;
}

void spdy_streams_free(spdy_streams *streams)
{
    size_t i;

    for (i = 0; i < SPDY_STREAM_CHAINS; i++) {
        while (streams->chains[i]) {
            spdy_stream *stream = streams->chains[i];

            streams->chains[i] = stream->chain;
            spdy_memory_give_back(stream);
        }
    }
    streams->ours = 0;
    streams->theirs = 0;
}
