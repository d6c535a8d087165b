/* Filters of streams: instead of a socket and HTTP/1.1's text they have the
 * stream's queues and the response as it is. */
#ifndef MSPDY_FILTERS_H
#define MSPDY_FILTERS_H

#include "httpd.h"
#include "util_filter.h"

#include "mspdy_stream.h"

void mspdy_filters_register(void);
void mspdy_filters_of_connection(mspdy_stream *stream);
void mspdy_filters_of_request(mspdy_stream *stream, request_rec *r);

/* Both are filter functions. */
apr_status_t mspdy_body_read(ap_filter_t *f, apr_bucket_brigade *brigade, ap_input_mode_t mode,
                             apr_read_type_e block, apr_off_t most);
apr_status_t mspdy_response_write(ap_filter_t *f, apr_bucket_brigade *brigade);

/* After the worker is done: the next bytes of what the response's buckets still
 * hold. 0 with *failed: they cannot be read. */
size_t mspdy_held_take(mspdy_stream *stream, char *to, size_t most, bool *failed);
/* Does any data bucket remain there? */
bool mspdy_held_has_data(mspdy_stream *stream);

#endif
