/* What of a response's buckets did not go into its exchange: a brigade whose
 * last bucket, once the request is over, is httpd's EOR. */
#ifndef MSPDY_HELD_H
#define MSPDY_HELD_H

#include <stdbool.h>

#include "httpd.h"
#include "util_filter.h"

/* Does any data bucket remain there? */
bool mspdy_held_has_data(apr_bucket_brigade *held);
/* The next bytes; 0 with *failed: they cannot be read. */
size_t mspdy_held_take(apr_bucket_brigade *held, char *to, size_t most, bool *failed);
/* Empties it of all but the EOR bucket. */
void mspdy_held_drop_data(apr_bucket_brigade *held);

#endif
