#include "schedule.h"

static bool can_send(const spdy_stream *stream)
{
    switch (stream->offer) {
    case SPDY_OFFER_DATA:
        return stream->send_window > 0;
    case SPDY_OFFER_FIN:
        return true;
    case SPDY_OFFER_NOTHING:
        break;
    }
    return false;
}

static spdy_stream **ring_of(spdy_schedule *schedule, const spdy_stream *stream)
{
    return &schedule->first[schedule->policy == SPDY_BY_PRIORITY ? stream->priority : 0];
}

/* Before which of the ring a stream comes: with SPDY_FIFO before those that were opened later, else at the end, that
 * is before the one that has the turn. */
static spdy_stream *place_of(const spdy_schedule *schedule, spdy_stream *first, const spdy_stream *stream)
{
    spdy_stream *place = first;

    if (schedule->policy == SPDY_FIFO)
        while (place->opened < stream->opened && place->after != first)
            place = place->after;
    return schedule->policy == SPDY_FIFO && place->opened < stream->opened ? first : place;
}

static void add(spdy_schedule *schedule, spdy_stream *stream)
{
    spdy_stream **first = ring_of(schedule, stream);

    if (*first) {
        stream->after = place_of(schedule, *first, stream);
        stream->before = stream->after->before;
        stream->before->after = stream;
        stream->after->before = stream;
        if (schedule->policy == SPDY_FIFO && stream->opened < (*first)->opened)
            *first = stream;
    } else {
        stream->before = stream;
        stream->after = stream;
        *first = stream;
    }
    stream->queued = true;
}

void spdy_schedule_remove(spdy_schedule *schedule, spdy_stream *stream)
{
    spdy_stream **first = ring_of(schedule, stream);

    if (!stream->queued)
        return;
    stream->before->after = stream->after;
    stream->after->before = stream->before;
    if (*first == stream)
        *first = stream->after == stream ? NULL : stream->after;
    stream->queued = false;
}

void spdy_schedule_update(spdy_schedule *schedule, spdy_stream *stream)
{
    bool wanted = can_send(stream);

    if (wanted && !stream->queued)
        add(schedule, stream);
    else if (!wanted)
        spdy_schedule_remove(schedule, stream);
}

void spdy_schedule_sent(spdy_schedule *schedule, const spdy_stream *stream)
{
    spdy_stream **first = ring_of(schedule, stream);

    if (stream->queued && *first == stream && schedule->policy != SPDY_FIFO)
        *first = stream->after;
}

static spdy_stream *first_fin(spdy_stream *first)
{
    spdy_stream *stream = first;

    if (!stream)
        return NULL;
    do {
        if (stream->offer == SPDY_OFFER_FIN)
            return stream;
        stream = stream->after;
    } while (stream != first);
    return NULL;
}

spdy_stream *spdy_schedule_next(const spdy_schedule *schedule, bool session_window)
{
    unsigned priority;

    for (priority = 0; priority < SPDY_PRIORITIES; priority++) {
        spdy_stream *first = schedule->first[priority];
        spdy_stream *stream = session_window ? first : first_fin(first);

        if (stream)
            return stream;
    }
    return NULL;
}
