/* mod_ssl gives each record to the network for itself. A filter between them gathers the records of a batch: the
 * network, and the client that it wakes, cost once for all. */
#ifndef MSPDY_GATHER_H
#define MSPDY_GATHER_H

#include "httpd.h"

typedef struct mspdy_gather mspdy_gather;

void mspdy_gather_register(void);
/* On a client's connection. What passes goes through at once until told otherwise. */
mspdy_gather *mspdy_gather_add(conn_rec *c1);
/* Data that come until the end wait for it, unless something else follows, or there are too many. */
void mspdy_gather_begin(mspdy_gather *gather);
apr_status_t mspdy_gather_end(mspdy_gather *gather);

#endif
