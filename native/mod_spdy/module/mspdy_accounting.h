/* Streams in mod_logio's counts, and in the slot that mod_status shows of a
 * client's connection. */
#ifndef MSPDY_ACCOUNTING_H
#define MSPDY_ACCOUNTING_H

#include <stdint.h>

#include "httpd.h"

/* optional_fn_retrieve */
void mspdy_accounting_find_logio(void);

/* Before c2's request is logged: %I and %O are the stream's bytes on the wire. */
void mspdy_accounting_bytes(conn_rec *c2, uint64_t in, uint64_t out);

/* The slot of a client's connection, with a lock of its own: all the session's
 * threads write into it. */
typedef struct mspdy_slot mspdy_slot;
/* NULL: the system has no mutex. */
mspdy_slot *mspdy_slot_new(conn_rec *c1);
/* The MPM's thread serves the connection from now on, or no longer: then the slot is another's. */
void mspdy_slot_enter(mspdy_slot *slot);
void mspdy_slot_leave(mspdy_slot *slot);
void mspdy_slot_set_status(mspdy_slot *slot, int status);
/* A request begins, or has ended. */
void mspdy_slot_begins(mspdy_slot *slot, request_rec *r);
void mspdy_slot_count(mspdy_slot *slot, request_rec *r);

#endif
