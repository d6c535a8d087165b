/* A job as httpd's request: from the request's headers to httpd's request
 * and through it. */
#ifndef MSPDY_REQUEST_H
#define MSPDY_REQUEST_H

#include "apr_thread_proc.h"
#include "httpd.h"

#include "mspdy_job.h"

/* Serves the job's request on this thread; of a job that was served already, reads
 * on in the file that its response is. */
void mspdy_request_serve(mspdy_job *job, apr_thread_t *thread, int thread_number);

/* post_read_request: SPDY_VERSION and others in the request's environment,
 * also after an internal redirect. */
int mspdy_request_environment(request_rec *r);

/* log_transaction: counts a stream's request in its connection's slot. */
int mspdy_request_logged(request_rec *r);

#endif
