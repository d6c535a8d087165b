/* What the MPM can do with connections that wait, and what it has left for others. */
#ifndef MSPDY_MPM_H
#define MSPDY_MPM_H

#include <stdbool.h>

#include "httpd.h"

/* post_config */
void mspdy_mpm_ask(void);

/* Can it wait for the client of an idle connection, as between two requests of HTTP/1.1? */
bool mspdy_mpm_can_keep(const conn_rec *c);
/* Can it wait for a client's next bytes in the middle of something? */
bool mspdy_mpm_can_wait(const conn_rec *c);
/* Then the hook returns, and is called again when there are some, unless Timeout passes. */
void mspdy_mpm_wait(conn_rec *c);

/* Are few threads of this process idle? */
bool mspdy_mpm_is_short(const conn_rec *c);

#endif
