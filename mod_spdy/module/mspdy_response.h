/* A response's head: from httpd's tables to the names and values that SPDY sends. */
#ifndef MSPDY_RESPONSE_H
#define MSPDY_RESPONSE_H

#include "httpd.h"

#include "mspdy_stream.h"

/* In the stream's pool, where the session finds it. */
mspdy_response *mspdy_response_of(mspdy_stream *stream, request_rec *r);

#endif
