/* Filters of a stream: instead of a socket and HTTP/1.1's text they have its
 * exchange, and the response as it is. */
#ifndef MSPDY_FILTERS_H
#define MSPDY_FILTERS_H

#include "httpd.h"

#include "mspdy_job.h"

void mspdy_filters_register(void);
void mspdy_filters_of_connection(mspdy_job *job);
void mspdy_filters_of_request(mspdy_job *job, request_rec *r);

#endif
