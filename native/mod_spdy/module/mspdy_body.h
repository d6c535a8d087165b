/* The request's body, for whoever reads r->input_filters: bytes as they are,
 * with or without a content-length. */
#ifndef MSPDY_BODY_H
#define MSPDY_BODY_H

#include "util_filter.h"

/* A filter function. */
apr_status_t mspdy_body_read(ap_filter_t *f, apr_bucket_brigade *brigade, ap_input_mode_t mode,
                             apr_read_type_e block, apr_off_t most);

#endif
