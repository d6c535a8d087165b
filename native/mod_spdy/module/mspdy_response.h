/* A response's head: from httpd's tables to the names and values that SPDY sends. */
#ifndef MSPDY_RESPONSE_H
#define MSPDY_RESPONSE_H

#include <stdbool.h>

#include "util_filter.h"

#include "spdy.h"

/* The response's head, as the worker leaves it. Lives in the job's pool. */
typedef struct mspdy_response {
    spdy_text status; /* "200 OK" */
    spdy_header *fields;
    size_t field_count;
    bool no_body;           /* nothing follows: HEAD, 204, 304, or simply empty */
    const char *associated; /* X-Associated-Content, if there was one and push is on */
} mspdy_response;

/* A filter function, which stands where HTTP_HEADER stands otherwise; its
 * context is the job. */
apr_status_t mspdy_response_write(ap_filter_t *f, apr_bucket_brigade *brigade);

#endif
