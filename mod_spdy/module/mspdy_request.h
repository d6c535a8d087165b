/* The worker's side of a stream: from the request's headers to httpd's request
 * and through it. */
#ifndef MSPDY_REQUEST_H
#define MSPDY_REQUEST_H

#include "apr_thread_proc.h"
#include "httpd.h"

#include "mspdy_stream.h"

/* Serves the stream's request on this thread, and gives the stream back. */
void mspdy_request_serve(mspdy_stream *stream, apr_thread_t *thread, int thread_number);

/* post_read_request: SPDY_VERSION and others in the request's environment,
 * also after an internal redirect. */
int mspdy_request_environment(request_rec *r);

#endif
