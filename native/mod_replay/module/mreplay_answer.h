/* Sends a recorded answer. */
#ifndef MREPLAY_ANSWER_H
#define MREPLAY_ANSWER_H

#include "httpd.h"

#include "pack.h"

/* What the pack needs and httpd has not loaded; NULL: nothing. */
const char *mreplay_missing_filter(const replay_pack *pack);

/* Both are a handler's work: they give its status. */
int mreplay_answer(request_rec *r, const replay_pack *pack, const replay_object *object);
int mreplay_answer_missing(request_rec *r);

#endif
