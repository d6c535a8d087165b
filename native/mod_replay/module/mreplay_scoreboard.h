/* Where this httpd keeps its scoreboard, told to those who read it from outside. */

#ifndef MREPLAY_SCOREBOARD_H
#define MREPLAY_SCOREBOARD_H

#include "httpd.h"
#include "scoreboard.h"

/* Writes the file `scoreboard` into ServerRoot: JSON, read by driver/bed/remote/scoreboard.py. Of each start. */
int mreplay_tell_scoreboard(apr_pool_t *pool, ap_scoreboard_e kind);

#endif
