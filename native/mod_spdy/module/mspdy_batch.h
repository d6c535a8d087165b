/* Memory for what is sent at once. */
#ifndef MSPDY_BATCH_H
#define MSPDY_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "apr_buckets.h"

typedef struct mspdy_batch {
    char *block;  /* as malloc gave it; NULL: there is none */
    char *bytes;  /* where the batch begins */
    size_t room;
    size_t length;
} mspdy_batch;

/* What a block is larger than what is to be in it. */
enum { MSPDY_BATCH_SPARE_BYTES = 2048 };
/* Where in it something is to begin that is copied from there. */
char *mspdy_batch_start(char *block, const char *source);

/* For the bytes of files, and what may be copied on from here. False: no memory. */
bool mspdy_batch_new(mspdy_batch *batch, size_t room);
void mspdy_batch_drop(mspdy_batch *batch);

/* The batch becomes the bucket's. */
apr_bucket *mspdy_batch_bucket(mspdy_batch *batch, apr_bucket_alloc_t *alloc);

#endif
