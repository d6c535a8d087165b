/* HTTP over SPDY: how requests and responses are named in each version. */
#ifndef SPDY_HTTP_H
#define SPDY_HTTP_H

#include "spdy.h"

/* A field of a request with all its values: a block may have several of one name. */
typedef struct spdy_http_field {
    spdy_text name;
    const spdy_header *values; /* next to each other */
    size_t value_count;
    size_t length;             /* of the values when they are joined */
} spdy_http_field;

/* A request as it came. Texts point into the event's headers, or are literals. */
typedef struct spdy_http_request {
    spdy_text method;
    spdy_text target;   /* path and query; "*" for OPTIONS; of SPDY/2's absolute url the path */
    spdy_text protocol; /* "HTTP/1.1" */
    spdy_text host;     /* with port if there was one */
    spdy_text scheme;
    spdy_http_field *fields; /* all but the above, and without those that do not pass (spdy_http_field_passes); no two
                                have the same name; memory given by the caller */
    size_t field_count;
} spdy_http_request;

typedef enum spdy_http_fault {
    SPDY_HTTP_FINE,
    SPDY_HTTP_MISSING,   /* method, path, version, host or scheme lacks (SPDY/3: 400) */
    SPDY_HTTP_REPEATED,  /* one of them has several values, or host disagrees with the url's */
    SPDY_HTTP_BAD_METHOD,
    SPDY_HTTP_BAD_TARGET,
    SPDY_HTTP_BAD_PROTOCOL,
    SPDY_HTTP_BAD_HOST,
    SPDY_HTTP_BAD_SCHEME,
    SPDY_HTTP_BAD_FIELD /* a name that is no token, a control character in a value, or an unknown ":name" */
} spdy_http_fault;
const char *spdy_http_fault_text(spdy_http_fault fault);

/* Nothing is copied. `fields` has room for `count`: all of their values are no more than the headers. A fault means:
 * answer 400 Bad Request on the stream. */
spdy_http_fault spdy_http_request_read(spdy_version version, const spdy_header *headers, size_t count,
                                       spdy_http_field *fields, spdy_http_request *request);

/* Writes the values as one, as HTTP/1.1 would have them in one line, and NUL: field->length + 1 bytes. */
void spdy_http_field_join(const spdy_http_field *field, char *to);

/* The special headers of a response, written before its fields: status ("200 OK") and version. */
enum { SPDY_HTTP_REPLY_HEADERS = 2 };
void spdy_http_reply_write(spdy_version version, spdy_text status, spdy_text protocol,
                           spdy_header headers[SPDY_HTTP_REPLY_HEADERS]);

/* What SYN_STREAM of a push says: SPDY/3 :scheme, :host, :path; SPDY/2 url (absolute, built by the caller in target).
 * Returns how many it wrote. */
enum { SPDY_HTTP_PUSH_HEADERS = 3 };
size_t spdy_http_push_write(spdy_version version, const spdy_http_request *request,
                            spdy_header headers[SPDY_HTTP_PUSH_HEADERS]);

/* May this field pass between HTTP/1.1 and SPDY? Not those of one connection (connection, keep-alive,
 * proxy-connection, transfer-encoding, upgrade), and in SPDY/2 not those that it has for itself in a response
 * (status, version): a script must not write them twice. Any case. */
bool spdy_http_field_passes(spdy_version version, spdy_text name);

#endif
