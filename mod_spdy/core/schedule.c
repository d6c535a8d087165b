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

static void add(spdy_schedule *schedule, spdy_stream *stream)
{
    spdy_stream **first = &schedule->first[stream->priority];

    if (*first) { /* at the end, that is before the one that has the turn */
        stream->after = *first;
        stream->before = (*first)->before;
        stream->before->after = stream;
        stream->after->before = stream;
    } else {
        stream->before = stream;
        stream->after = stream;
        *first = stream;
    }
    stream->queued = true;
}

void spdy_schedule_remove(spdy_schedule *schedule, spdy_stream *stream)
{
    spdy_stream **first = &schedule->first[stream->priority];

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
    if (stream->queued && schedule->first[stream->priority] == stream)
        schedule->first[stream->priority] = stream->after;
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
