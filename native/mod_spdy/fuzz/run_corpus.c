#include "corpus.h"
#include "fuzzers.h"

size_t run_corpus(const char *folder)
{
    return run_inputs(folder, "session", spdy_fuzz_session) + run_inputs(folder, "dialogue", spdy_fuzz_dialogue) +
           run_inputs(folder, "block", spdy_fuzz_block) + run_inputs(folder, "request", spdy_fuzz_request);
}
