#include "mspdy_link.h"

#include "http_config.h"

#include "mspdy_config.h"

mspdy_link *mspdy_link_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &spdy_module);
}

mspdy_link *mspdy_link_set(conn_rec *c, struct mspdy_session *session, mspdy_stream *stream)
{
    mspdy_link *link = apr_pcalloc(c->pool, sizeof(*link));
    link->session = session;
    link->stream = stream;
    ap_set_module_config(c->conn_config, &spdy_module, link);
    return link;
}
