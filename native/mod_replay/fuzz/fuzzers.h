#ifndef FUZZERS_H
#define FUZZERS_H

#include <stddef.h>
#include <stdint.h>

int replay_fuzz_pack(const uint8_t *bytes, size_t length);

#endif
