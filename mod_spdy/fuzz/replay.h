/* Runs the fuzzers over the inputs that are kept. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>

int spdy_fuzz_session(const uint8_t *bytes, size_t length);
int spdy_fuzz_dialogue(const uint8_t *bytes, size_t length);
int spdy_fuzz_block(const uint8_t *bytes, size_t length);

/* How many inputs of CORPUS/session, CORPUS/dialogue and CORPUS/block it ran. */
size_t replay_corpus(const char *folder);

#endif
