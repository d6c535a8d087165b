/* A session's streams: how they begin and end. The session's thread. */
#ifndef MSPDY_STREAM_H
#define MSPDY_STREAM_H

#include "mspdy_session.h"

/* What stands before the compressed block in SYN_STREAM. */
enum { MSPDY_SYN_STREAM_HEAD_BYTES = 18 };

/* OPEN, then REPLIED, then one of the other two; or from OPEN at once CUT. */
typedef enum mspdy_life {
    MSPDY_OPEN,
    MSPDY_REPLIED, /* the head of the response was sent */
    MSPDY_WHOLE,   /* all of it was */
    MSPDY_CUT      /* it ended before that, by us or by the client */
} mspdy_life;

/* One request of the client, or one pushed response. */
typedef struct mspdy_stream {
    mspdy_session *session;
    struct mspdy_stream *next, *previous; /* of the session */
    struct mspdy_stream *next_finished;
    bool finished;          /* among the session's finished ones */
    mspdy_life life;
    mspdy_job *job;
    bool body_ended;        /* of the request */
    bool offers_data;       /* has bytes that the client has to give window for */
    apr_off_t lent_at;       /* where in its file it last waited for a disk; -1: nowhere */
    mspdy_patience patience; /* while its own window is closed */
} mspdy_stream;

/* The client opens a stream. */
void mspdy_stream_open(mspdy_session *session, const spdy_event *event, uint64_t wire_bytes);
/* We do, to push. False: there is no memory or no thread for it. */
bool mspdy_stream_push(mspdy_session *session, uint32_t id, unsigned priority, const spdy_http_request *request,
                       uint64_t wire_bytes);
/* The client sends a piece of a request's body. */
void mspdy_stream_body(mspdy_stream *stream, const spdy_event *event);
/* The stream's worker has read so much of it. */
void mspdy_stream_body_used(mspdy_stream *stream, size_t bytes);

/* So much of the response was sent. */
void mspdy_stream_progress(mspdy_stream *stream, size_t bytes);
/* Lets a worker read on in the response's file. False: none can. */
bool mspdy_stream_lend(mspdy_stream *stream);
/* The response is sent to its end. */
void mspdy_stream_sent_all(mspdy_stream *stream);
/* The stream is over before that: by us, or by the client. */
void mspdy_stream_reset(mspdy_stream *stream, spdy_status status);
void mspdy_stream_cut(mspdy_stream *stream);
/* To be called last, after any of these: what is over and has no worker is
 * among the finished then. */
void mspdy_stream_settle(mspdy_stream *stream);
bool mspdy_stream_is_over(const mspdy_stream *stream);

void mspdy_streams_input_ended(mspdy_session *session);
/* Those that wait for window, which nobody can give any more. */
void mspdy_streams_cut_waiting(mspdy_session *session);
/* Can none go on before the client gives window? */
bool mspdy_streams_wait_for_window(mspdy_session *session);
/* Until the next look all of them wait for it. */
void mspdy_streams_leave(mspdy_session *session);
/* The client goes away: what we pushed and it has not taken is over. */
void mspdy_streams_goaway(mspdy_session *session);
/* The session has failed. */
void mspdy_streams_cut_all(mspdy_session *session);
/* Those for whose client's window there is no patience left. To be called often. */
void mspdy_streams_reset_stalled(mspdy_session *session);
/* Frees what is finished. Logs each as complete only if `sent`. */
void mspdy_streams_bury(mspdy_session *session, bool sent);
/* The session ends: waits for the workers, and frees all. */
void mspdy_streams_end_all(mspdy_session *session);

#endif
