#ifndef FUZZERS_H
#define FUZZERS_H

#include <stddef.h>
#include <stdint.h>

int spdy_fuzz_session(const uint8_t *bytes, size_t length);
int spdy_fuzz_dialogue(const uint8_t *bytes, size_t length);
int spdy_fuzz_block(const uint8_t *bytes, size_t length);
int spdy_fuzz_request(const uint8_t *bytes, size_t length);

#endif
