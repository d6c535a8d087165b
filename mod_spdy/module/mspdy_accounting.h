/* Streams in mod_logio's counts and in the scoreboard that mod_status shows. */
#ifndef MSPDY_ACCOUNTING_H
#define MSPDY_ACCOUNTING_H

#include "httpd.h"

#include "mspdy_stream.h"

/* optional_fn_retrieve */
void mspdy_accounting_find_logio(void);

/* Before the request is logged: %I and %O are the stream's bytes on the wire. */
void mspdy_accounting_bytes(mspdy_stream *stream);

/* A request begins on a stream: its connection's slot shows it. */
void mspdy_accounting_begins(mspdy_stream *stream, request_rec *r);

/* log_transaction: counts a stream's request in its connection's slot. */
int mspdy_accounting_log(request_rec *r);

/* mod_status asks: what mod_spdy has in this process. */
int mspdy_accounting_status(request_rec *r, int flags);

#endif
