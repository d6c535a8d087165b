/* A session's bytes from and to the client, through the filters of its
 * connection (mod_ssl's among them), without ever waiting for it. */
#ifndef MSPDY_WIRE_H
#define MSPDY_WIRE_H

#include <stdbool.h>

#include "mspdy_session.h"

typedef enum mspdy_wire {
    MSPDY_WIRE_NOTHING,  /* there is nothing (more) now */
    MSPDY_WIRE_PROGRESS,
    MSPDY_WIRE_ENDED     /* the client has closed its side, or, with c1->aborted, is gone */
} mspdy_wire;

/* Before the first byte: how the socket is to behave. False: this connection's
 * filters are not as we need them; told in the error log. */
bool mspdy_wire_prepare(mspdy_session *session);

/* Reads once, and hands what came to mspdy_incoming_receive. */
mspdy_wire mspdy_wire_read(mspdy_session *session);

/* Writes what the socket takes. */
mspdy_wire mspdy_wire_write(mspdy_session *session);

/* How much is given to the connection at once. */
size_t mspdy_wire_batch_bytes(const mspdy_session *session);

/* Is something left that the socket did not take? */
bool mspdy_wire_blocked(const mspdy_session *session);

#endif
