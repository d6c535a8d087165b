/* What the module does with a header block: a request of it, its fields joined
 * into memory of exactly their size. What comes out can stand in HTTP/1.1. */
#include "block.h"
#include "fuzzers.h"
#include "spdy_http.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HEADERS = 64 };

static void demand(bool what)
{
    if (!what)
        abort();
}

static void check_field(spdy_version version, const spdy_http_field *field)
{
    char *joined = malloc(field->length + 1);
    size_t i;

    demand(joined && field->value_count && spdy_http_field_passes(version, field->name));
    spdy_http_field_join(field, joined);
    demand(strlen(joined) == field->length);
    for (i = 0; i < field->length; i++)
        demand((unsigned char)joined[i] >= ' ' || joined[i] == '\t');
    free(joined);
}

static void check_request(spdy_version version, const spdy_http_request *request, size_t header_count)
{
    size_t values = 0;
    size_t i, other;

    demand(request->method.length && request->host.length && request->target.length && request->scheme.length);
    demand(!memchr(request->target.bytes, ' ', request->target.length) && request->protocol.length == 8);
    for (i = 0; i < request->field_count; i++) {
        check_field(version, &request->fields[i]);
        values += request->fields[i].value_count;
        for (other = 0; other < i; other++)
            demand(!spdy_same_name(request->fields[i].name, request->fields[other].name));
    }
    demand(values <= header_count);
}

int spdy_fuzz_request(const uint8_t *bytes, size_t length)
{
    spdy_version version;
    spdy_header_list list = {0};

    if (!length)
        return 0;
    version = bytes[0] % 3;
    if (spdy_block_read(version, bytes + 1, length - 1, MOST_HEADERS, &list) == SPDY_BLOCK_FINE) {
        spdy_http_field fields[MOST_HEADERS];
        spdy_http_request request;

        if (spdy_http_request_read(version, list.headers, list.count, fields, &request) == SPDY_HTTP_FINE)
            check_request(version, &request, list.count);
    }
    spdy_header_list_free(&list);
    return 0;
}

FUZZ_ALONE_WITH(spdy_fuzz_request)
