/* How a connection of httpd's comes to speak SPDY: by ALPN, or by what the
 * client's first bytes are; and whose turn it is between requests. */
#ifndef MSPDY_CONNECTION_H
#define MSPDY_CONNECTION_H

#include "httpd.h"

void mspdy_connection_hooks(void);

#endif
