#include "mspdy_wait.h"

#include <poll.h>

#include "apr_portable.h"
#include "http_core.h"

#include "mspdy_stream.h"
#include "mspdy_wire.h"

enum { MOST_ANSWERS_BYTES = 64 * 1024 }; /* waiting for a client that does not read */

/* Each frame of a client may need an answer: one that does not read these is
 * not listened to either. */
static bool answers_pile_up(const mspdy_session *session)
{
    const uint8_t *bytes;
    size_t length;
    return spdy_session_output(session->core, &bytes, &length) && length > MOST_ANSWERS_BYTES;
}

/* SPDY/2 has no windows: what a client sends ahead is bounded by not reading it.
 * But if a worker waits for its body, that may stand behind what waits for
 * others: then as much is read as SPDY/3's windows would let come. */
static bool bodies_pile_up(mspdy_session *session)
{
    const mspdy_config *config = session->config;
    size_t most = (size_t)config->max_streams * (size_t)config->stream_window_bytes;
    if (session->version != SPDY_VERSION_2 || session->body_bytes < (size_t)config->session_window_bytes)
        return false;
    return !mspdy_desk_hungry(session->desk) || session->body_bytes >= most;
}

bool mspdy_wait_may_read(mspdy_session *session)
{
    return !session->input_ended && !session->failed && !answers_pile_up(session) && !bodies_pile_up(session);
}

void mspdy_wait(mspdy_session *session, int timeout_ms, bool *readable, bool *writable)
{
    apr_os_sock_t fd;
    struct pollfd fds[2] = {{.fd = -1}, {.fd = mspdy_desk_fd(session->desk), .events = POLLIN}};
    if (apr_os_sock_get(&fd, ap_get_conn_socket(session->c1)) == APR_SUCCESS)
        fds[0].fd = fd;
    fds[0].events = (short)((mspdy_wait_may_read(session) ? POLLIN : 0) |
                            (mspdy_wire_blocked(session) ? POLLOUT : 0));
    int n = poll(fds, 2, timeout_ms);
    *readable = n > 0 && (fds[0].revents & (POLLIN | POLLHUP | POLLERR));
    *writable = n > 0 && (fds[0].revents & (POLLOUT | POLLERR));
    if (*writable)
        session->written_at = apr_time_now();
    /* Nothing is to be read or written now that would show it. While our side is open, a hangup means both are closed. */
    if (n > 0 && fds[0].events == 0 && (fds[0].revents & (POLLERR | POLLHUP)))
        session->c1->aborted = 1;
}
