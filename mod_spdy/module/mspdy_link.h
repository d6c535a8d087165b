/* What a connection of httpd's is to mod_spdy: a client's with a session, or a
 * stream's. Kept in the connection's configuration. */
#ifndef MSPDY_LINK_H
#define MSPDY_LINK_H

#include "httpd.h"

#include "mspdy_stream.h"

typedef struct mspdy_link {
    struct mspdy_session *session; /* NULL: not begun yet */
    mspdy_stream *stream;          /* NULL: the client's connection */
    server_rec *server;            /* these two: what was agreed upon, before the session begins */
    spdy_version version;
} mspdy_link;

/* NULL: the connection is none of ours. */
mspdy_link *mspdy_link_of(const conn_rec *c);
mspdy_link *mspdy_link_set(conn_rec *c, struct mspdy_session *session, mspdy_stream *stream);

#endif
