#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 20 };

/* Read into memory of just its size, so that a read beyond its end is found. */
static uint8_t *read_whole(const char *path, size_t *length)
{
    static uint8_t room[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    size_t i;

    if (!file)
        return NULL;
    *length = fread(room, 1, sizeof room, file);
    fclose(file);
    bytes = malloc(*length ? *length : 1);
    for (i = 0; i < *length; i++)
        bytes[i] = room[i];
    return bytes;
}

size_t run_inputs(const char *folder, const char *name, int (*run)(const uint8_t *, size_t))
{
    char path[4096];
    size_t count = 0;
    DIR *listing;
    const struct dirent *entry;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    listing = opendir(path);
    while (listing && (entry = readdir(listing))) {
        uint8_t *bytes;
        size_t length;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", folder, name, entry->d_name);
        bytes = read_whole(path, &length);
        if (!bytes)
            continue;
        run(bytes, length);
        free(bytes);
        count++;
    }
    if (listing)
        closedir(listing);
    return count;
}
