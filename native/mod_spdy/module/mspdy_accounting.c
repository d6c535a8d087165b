#include "mspdy_accounting.h"

#include "apr_optional.h"
#include "apr_thread_mutex.h"
#include "http_core.h"
#include "scoreboard.h"

/* mod_logio offers these two; they are declared only in its source and in httpd's core. */
APR_DECLARE_OPTIONAL_FN(void, ap_logio_add_bytes_in, (conn_rec *, apr_off_t));
APR_DECLARE_OPTIONAL_FN(void, ap_logio_add_bytes_out, (conn_rec *, apr_off_t));

static APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_in) *add_bytes_in;
static APR_OPTIONAL_FN_TYPE(ap_logio_add_bytes_out) *add_bytes_out;

void mspdy_accounting_find_logio(void)
{
    add_bytes_in = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_in);
    add_bytes_out = APR_RETRIEVE_OPTIONAL_FN(ap_logio_add_bytes_out);
}

void mspdy_accounting_bytes(conn_rec *c2, uint64_t in, uint64_t out)
{
    if (add_bytes_in != NULL)
        add_bytes_in(c2, (apr_off_t)in);
    if (add_bytes_out != NULL)
        add_bytes_out(c2, (apr_off_t)out);
}

struct mspdy_slot {
    apr_thread_mutex_t *lock;
    conn_rec *c1;
    ap_sb_handle_t *handle; /* NULL: no thread serves c1 */
};

mspdy_slot *mspdy_slot_new(conn_rec *c1)
{
    mspdy_slot *slot = apr_palloc(c1->pool, sizeof(*slot));
    slot->c1 = c1;
    slot->handle = c1->sbh;
    return apr_thread_mutex_create(&slot->lock, APR_THREAD_MUTEX_DEFAULT, c1->pool) == APR_SUCCESS ? slot : NULL;
}

void mspdy_slot_enter(mspdy_slot *slot)
{
    apr_thread_mutex_lock(slot->lock);
    slot->handle = slot->c1->sbh;
    apr_thread_mutex_unlock(slot->lock);
}

void mspdy_slot_leave(mspdy_slot *slot)
{
    apr_thread_mutex_lock(slot->lock);
    slot->handle = NULL;
    apr_thread_mutex_unlock(slot->lock);
}

void mspdy_slot_set_status(mspdy_slot *slot, int status)
{
    apr_thread_mutex_lock(slot->lock);
    if (status == SERVER_BUSY_KEEPALIVE)
        ap_update_child_status(slot->handle, status, NULL);
    else
        ap_update_child_status_from_conn(slot->handle, status, slot->c1);
    apr_thread_mutex_unlock(slot->lock);
}

void mspdy_slot_begins(mspdy_slot *slot, request_rec *r)
{
    apr_thread_mutex_lock(slot->lock);
    ap_update_child_status(slot->handle, SERVER_BUSY_WRITE, r);
    apr_thread_mutex_unlock(slot->lock);
}

void mspdy_slot_count(mspdy_slot *slot, request_rec *r)
{
    apr_thread_mutex_lock(slot->lock);
    ap_increment_counts(slot->handle, r);
    apr_thread_mutex_unlock(slot->lock);
}
