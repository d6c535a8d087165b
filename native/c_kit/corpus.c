#define _POSIX_C_SOURCE 200809L /* getline */
#include "corpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static void refuse(const char *line)
{
    fprintf(stderr, "corpus: not a name, a space and hexadecimal digits: %s\n", line);
    exit(1);
}

static unsigned digit(const char *at)
{
    static const char digits[] = "0123456789abcdef";
    const char *is = *at ? strchr(digits, *at) : NULL;

    if (!is)
        refuse(at);
    return (unsigned)(is - digits);
}

/* One line. The memory is of just its size, so that a read beyond its end is noticed. */
static void run_input(const char *hex, int (*run)(const uint8_t *, size_t))
{
    size_t length = (strlen(hex) + 1) / 2;
    uint8_t *bytes = malloc(length ? length : 1);
    size_t i;

    for (i = 0; bytes && i < length; i++)
        bytes[i] = (uint8_t)(digit(hex + 2 * i) << 4 | digit(hex + 2 * i + 1));
    if (bytes)
        run(bytes, length);
    free(bytes);
}

size_t run_inputs(const char *folder, const char *name, int (*run)(const uint8_t *, size_t))
{
    char path[4096];
    char *line = NULL;
    size_t room = 0;
    size_t count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "corpus: %s cannot be read: %s\n", path, strerror(errno));
        exit(1);
    }
    while (getline(&line, &room, file) >= 0) {
        char *hex = strchr(line, ' ');

        if (!hex)
            refuse(line);
        hex++;
        hex[strcspn(hex, "\n")] = 0;
        run_input(hex, run);
        count++;
    }
    free(line);
    fclose(file);
    return count;
}
