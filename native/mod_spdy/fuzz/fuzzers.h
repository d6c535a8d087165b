#ifndef FUZZERS_H
#define FUZZERS_H

#include <stddef.h>
#include <stdint.h>

int spdy_fuzz_session(const uint8_t *bytes, size_t length);
int spdy_fuzz_dialogue(const uint8_t *bytes, size_t length);
int spdy_fuzz_block(const uint8_t *bytes, size_t length);
int spdy_fuzz_request(const uint8_t *bytes, size_t length);

#ifdef FUZZ_ALONE
/* What libFuzzer calls, where this fuzzer is a program of its own. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
#define FUZZ_ALONE_WITH(fuzz)                                       \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) \
    {                                                               \
        return fuzz(bytes, length);                                 \
    }
#else
#define FUZZ_ALONE_WITH(fuzz)
#endif

#endif
