#include "session.h"

bool spdy_is_own_id(const spdy_session *session, uint32_t stream_id)
{
    return (stream_id & 1) == (session->role == SPDY_ROLE_CLIENT);
}

void spdy_end_session(spdy_session *session, spdy_goaway_status status, const char *reason)
{
    if (session->over)
        return;
    session->over = true; /* first: nothing below may end it again */
    session->over_status = status;
    session->over_reason = reason;
    spdy_write_goaway(session, status);
}

spdy_result spdy_no_memory(spdy_session *session)
{
    spdy_end_session(session, SPDY_GOAWAY_INTERNAL_ERROR, "no memory");
    return SPDY_NO_MEMORY;
}

void spdy_forget_streams(spdy_session *session)
{
    spdy_streams_free(&session->streams);
    session->schedule = (spdy_schedule){.policy = session->limits.scheduling};
}

void spdy_tell_session_error(spdy_session *session, spdy_event *event)
{
    *event = (spdy_event){.type = SPDY_EVENT_SESSION_ERROR,
                          .status = session->over_status,
                          .reason = session->over_reason,
                          .ended = true};
    session->told = true;
    spdy_forget_streams(session);
}

spdy_state spdy_state_of(const spdy_session *session, uint32_t stream_id)
{
    const spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    uint32_t last = spdy_is_own_id(session, stream_id) ? session->last_own_id : session->last_peer_id;

    if (stream)
        return stream->state;
    return stream_id > last ? SPDY_STATE_NONE : spdy_streams_how_ended(&session->streams, stream_id);
}

bool spdy_enter(spdy_session *session, spdy_stream *stream, spdy_state state)
{
    uint32_t unused_bytes = stream->unused_bytes - stream->stored_bytes;

    stream->state = state;
    if (state != SPDY_STATE_OVER && state != SPDY_STATE_CUT)
        return false;
    spdy_schedule_remove(&session->schedule, stream);
    spdy_streams_end(&session->streams, stream, state);
    spdy_flow_credit_session(session, unused_bytes);
    return true;
}

void spdy_fail_stream(spdy_session *session, uint32_t stream_id, spdy_status status, const char *reason,
                      spdy_event *event)
{
    spdy_stream *stream = spdy_streams_find(&session->streams, stream_id);
    spdy_habit habit = status == SPDY_STATUS_REFUSED_STREAM ? SPDY_HABIT_REFUSED : SPDY_HABIT_FAULT;

    if (!spdy_count_habit(session, habit))
        return;
    spdy_write_reset(session, stream_id, status);
    if (!stream) {
        spdy_streams_note(&session->streams, stream_id, SPDY_STATE_CUT);
        return;
    }
    *event = (spdy_event){.type = SPDY_EVENT_STREAM_FAILED,
                          .stream_id = stream_id,
                          .context = stream->context,
                          .status = status,
                          .reason = reason,
                          .ended = true};
    spdy_enter(session, stream, SPDY_STATE_CUT);
}

void spdy_session_blame(spdy_session *session, spdy_blame blame)
{
    if (!session->over)
        spdy_count_habit(session, blame == SPDY_BLAME_REFUSED ? SPDY_HABIT_REFUSED : SPDY_HABIT_FAULT);
}

bool spdy_count_habit(spdy_session *session, spdy_habit habit)
{
    const struct {
        const char *reason;
        uint32_t most;
    } habits[SPDY_HABITS] = {
        [SPDY_HABIT_PING] = {"too many PING frames", session->limits.period_pings},
        [SPDY_HABIT_RESET] = {"too many streams reset by the peer", session->limits.period_resets},
        [SPDY_HABIT_FAULT] = {"too many stream errors", session->limits.period_faults},
        [SPDY_HABIT_SETTINGS] = {"too many SETTINGS frames", session->limits.period_settings},
        [SPDY_HABIT_EMPTY] = {"too many frames that carry nothing", session->limits.period_empty},
        [SPDY_HABIT_HEADERS] = {"too many HEADERS frames", session->limits.period_headers},
        [SPDY_HABIT_REFUSED] = {"too many streams beyond what SETTINGS allow", session->limits.period_refused},
    };

    if (++session->habits[habit] > habits[habit].most)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, habits[habit].reason);
    else if (spdy_buffer_length(&session->output) > session->limits.output_bytes)
        spdy_end_session(session, SPDY_GOAWAY_PROTOCOL_ERROR, "peer sends but does not read");
    return !session->over;
}
