/* What of a response's buckets did not go into its exchange: a brigade whose
 * last bucket, once the request is over, is httpd's EOR. */
#ifndef MSPDY_HELD_H
#define MSPDY_HELD_H

#include <stdbool.h>

#include "httpd.h"
#include "util_filter.h"

/* Does any data bucket remain there? */
bool mspdy_held_has_data(apr_bucket_brigade *held);

typedef enum mspdy_taking {
    MSPDY_TAKES,
    MSPDY_COLD,   /* more would have to come from a disk first */
    MSPDY_FAILED  /* it cannot be read */
} mspdy_taking;
/* The next bytes, as far as they can be had without waiting for a disk, or, if
 * it may wait, by waiting. */
size_t mspdy_held_take(apr_bucket_brigade *held, char *to, size_t most, bool may_wait, mspdy_taking *taking);
/* Waits for the disk, so that a good deal can be taken without. */
void mspdy_held_warm(apr_bucket_brigade *held);
/* Where in its file the next byte is. */
apr_off_t mspdy_held_offset(apr_bucket_brigade *held);
/* Empties it of all but the EOR bucket. */
void mspdy_held_drop_data(apr_bucket_brigade *held);

#endif
