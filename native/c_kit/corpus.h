/* Runs fuzzers over the inputs that are kept. */
#ifndef CORPUS_H
#define CORPUS_H

#include <stddef.h>
#include <stdint.h>

/* How many inputs of FOLDER/NAME.txt it ran. Each is a line: a name, a space and its bytes in hexadecimal
 * digits. `python -m tools.corpus` packs the files of a fuzzer into such lines, and unpacks them. A file that
 * cannot be read ends the program. */
size_t run_inputs(const char *folder, const char *name, int (*run)(const uint8_t *, size_t));

/* Each module's own: all of its inputs. */
size_t run_corpus(const char *folder);

#endif
