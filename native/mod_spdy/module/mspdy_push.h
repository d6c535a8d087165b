/* Server push: what a response's X-Associated-Content names is sent without
 * being asked for (SPDY/3 and 3.1). */
#ifndef MSPDY_PUSH_H
#define MSPDY_PUSH_H

#include "mspdy_stream.h"

/* The stream is the asked-for one, its reply not yet sent; `associated` the
 * header's value: "/a.css":1, "https://same.host/b.js". */
void mspdy_push_associated(mspdy_stream *stream, const char *associated);

#endif
