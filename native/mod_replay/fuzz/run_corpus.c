#include "corpus.h"
#include "fuzzers.h"

size_t run_corpus(const char *folder)
{
    return run_inputs(folder, "pack", replay_fuzz_pack);
}
