#include "spdy_http.h"

#include "block.h"

#include <string.h>

enum { METHOD, TARGET, PROTOCOL, HOST, SCHEME, SPECIALS };

#define LITERAL(text) {text, sizeof text - 1}

static const spdy_text names_2[SPECIALS] = {LITERAL("method"), LITERAL("url"), LITERAL("version"), LITERAL("host"),
                                            LITERAL("scheme")};
static const spdy_text names_3[SPECIALS] = {LITERAL(":method"), LITERAL(":path"), LITERAL(":version"),
                                            LITERAL(":host"), LITERAL(":scheme")};

static const spdy_text *names_of(spdy_version version)
{
    return version == SPDY_VERSION_2 ? names_2 : names_3;
}

const char *spdy_http_fault_text(spdy_http_fault fault)
{
    static const char *const texts[] = {
        [SPDY_HTTP_FINE] = "no fault",
        [SPDY_HTTP_MISSING] = "request without method, path, version, host or scheme",
        [SPDY_HTTP_REPEATED] = "request with several methods, paths, versions, hosts or schemes",
        [SPDY_HTTP_BAD_METHOD] = "request method is no token",
        [SPDY_HTTP_BAD_TARGET] = "request path does not begin with / or has control characters",
        [SPDY_HTTP_BAD_PROTOCOL] = "request version is not HTTP/x.y",
        [SPDY_HTTP_BAD_HOST] = "request host is empty or has characters that no host has",
        [SPDY_HTTP_BAD_SCHEME] = "request scheme is none",
        [SPDY_HTTP_BAD_FIELD] = "request header that HTTP does not allow",
    };

    return texts[fault];
}

static bool is(spdy_text text, const char *literal)
{
    spdy_text other = {literal, strlen(literal)};

    return spdy_same_name(text, other);
}

bool spdy_http_field_passes(spdy_version version, spdy_text name)
{
    if (version == SPDY_VERSION_2 && (is(name, "status") || is(name, "version")))
        return false;
    return !is(name, "connection") && !is(name, "keep-alive") && !is(name, "proxy-connection") &&
           !is(name, "transfer-encoding") && !is(name, "upgrade");
}

static bool visible(spdy_text text, const char *but_not)
{
    size_t i;

    for (i = 0; i < text.length; i++) {
        unsigned char letter = (unsigned char)text.bytes[i];

        if (letter <= ' ' || letter == 0x7f || strchr(but_not, letter))
            return false;
    }
    return text.length > 0;
}

/* SPDY/2's url may be absolute, as older clients wrote it. False: it is of another host than the header. */
static bool split_url(spdy_http_request *request)
{
    static const spdy_text root = LITERAL("/");
    const char *end = request->target.bytes + request->target.length;
    const char *from = NULL;
    const char *path;
    spdy_text host;

    if (request->target.length > 7 && !memcmp(request->target.bytes, "http://", 7))
        from = request->target.bytes + 7;
    else if (request->target.length > 8 && !memcmp(request->target.bytes, "https://", 8))
        from = request->target.bytes + 8;
    if (!from)
        return true;
    path = memchr(from, '/', (size_t)(end - from));
    host = (spdy_text){from, (size_t)((path ? path : end) - from)};
    request->target = path ? (spdy_text){path, (size_t)(end - path)} : root;
    if (request->host.bytes)
        return spdy_same_name(request->host, host);
    request->host = host;
    return true;
}

static bool is_protocol(spdy_text text)
{
    const char *bytes = text.bytes;

    return text.length == 8 && !memcmp(bytes, "HTTP/", 5) && bytes[5] >= '0' && bytes[5] <= '9' && bytes[6] == '.' &&
           bytes[7] >= '0' && bytes[7] <= '9';
}

static bool is_target(const spdy_http_request *request)
{
    if (is(request->target, "*"))
        return is(request->method, "OPTIONS");
    return visible(request->target, "") && request->target.bytes[0] == '/';
}

static spdy_http_fault check(const spdy_http_request *request)
{
    if (!request->method.bytes || !request->target.bytes || !request->protocol.bytes || !request->host.bytes ||
        !request->scheme.bytes)
        return SPDY_HTTP_MISSING;
    if (!spdy_is_name(request->method) || request->method.bytes[0] == ':')
        return SPDY_HTTP_BAD_METHOD;
    if (!is_target(request))
        return SPDY_HTTP_BAD_TARGET;
    if (!is_protocol(request->protocol))
        return SPDY_HTTP_BAD_PROTOCOL;
    if (!visible(request->host, "/\\?#@,\"<>"))
        return SPDY_HTTP_BAD_HOST;
    return is(request->scheme, "http") || is(request->scheme, "https") ? SPDY_HTTP_FINE : SPDY_HTTP_BAD_SCHEME;
}

static spdy_text *special_of(spdy_version version, spdy_text name, spdy_http_request *request)
{
    spdy_text *texts[SPECIALS] = {&request->method, &request->target, &request->protocol, &request->host,
                                  &request->scheme};
    size_t i;

    for (i = 0; i < SPECIALS; i++)
        if (spdy_same_name(name, names_of(version)[i]))
            return texts[i];
    return NULL;
}

static spdy_http_fault set_special(spdy_text *special, const spdy_header *header)
{
    static const char nothing[] = "";

    if (special->bytes)
        return SPDY_HTTP_REPEATED;
    *special = header->value.length ? header->value : (spdy_text){nothing, 0};
    return SPDY_HTTP_FINE;
}

/* Controls could end a line of HTTP/1.1, or a string of C. */
static bool value_is_sound(spdy_text value)
{
    size_t i;

    for (i = 0; i < value.length; i++) {
        unsigned char letter = (unsigned char)value.bytes[i];

        if ((letter < ' ' && letter != '\t') || letter == 0x7f)
            return false;
    }
    return true;
}

static const char *separator(spdy_text name)
{
    return is(name, "cookie") ? "; " : ", ";
}

/* Its values are those that follow with the same name. The name is looked at once, however many they are. */
static spdy_http_fault read_field(const spdy_header *headers, size_t count, spdy_http_field *field)
{
    size_t i;

    *field = (spdy_http_field){.name = headers->name, .values = headers};
    if (!spdy_is_name(field->name) || field->name.bytes[0] == ':')
        return SPDY_HTTP_BAD_FIELD;
    for (i = 0; i < count && spdy_same_name(headers[i].name, field->name); i++) {
        if (!value_is_sound(headers[i].value))
            return SPDY_HTTP_BAD_FIELD;
        field->length += headers[i].value.length + (i ? strlen(separator(field->name)) : 0);
    }
    field->value_count = i;
    return SPDY_HTTP_FINE;
}

spdy_http_fault spdy_http_request_read(spdy_version version, const spdy_header *headers, size_t count,
                                       spdy_http_field *fields, spdy_http_request *request)
{
    size_t i = 0;

    *request = (spdy_http_request){.fields = fields};
    while (i < count) {
        spdy_text *special = special_of(version, headers[i].name, request);
        spdy_http_field *field = &fields[request->field_count];
        spdy_http_fault fault = special ? set_special(special, &headers[i])
                                        : read_field(&headers[i], count - i, field);

        if (fault != SPDY_HTTP_FINE)
            return fault;
        i += special ? 1 : field->value_count;
        if (!special && spdy_http_field_passes(version, field->name) && !is(field->name, "host"))
            request->field_count++;
    }
    if (version == SPDY_VERSION_2 && request->target.bytes && !split_url(request))
        return SPDY_HTTP_REPEATED;
    return check(request);
}

void spdy_http_field_join(const spdy_http_field *field, char *to)
{
    const char *between = separator(field->name);
    size_t i;

    for (i = 0; i < field->value_count; i++) {
        spdy_text value = field->values[i].value;

        if (i) {
            memcpy(to, between, 2);
            to += 2;
        }
        if (value.length)
            memcpy(to, value.bytes, value.length);
        to += value.length;
    }
    *to = 0;
}

void spdy_http_reply_write(spdy_version version, spdy_text status, spdy_text protocol,
                           spdy_header headers[SPDY_HTTP_REPLY_HEADERS])
{
    static const spdy_text status_2 = LITERAL("status"), status_3 = LITERAL(":status");

    headers[0] = (spdy_header){version == SPDY_VERSION_2 ? status_2 : status_3, status};
    headers[1] = (spdy_header){names_of(version)[PROTOCOL], protocol};
}

size_t spdy_http_push_write(spdy_version version, const spdy_http_request *request,
                            spdy_header headers[SPDY_HTTP_PUSH_HEADERS])
{
    const spdy_text *names = names_of(version);

    if (version == SPDY_VERSION_2) {
        headers[0] = (spdy_header){names[TARGET], request->target};
        return 1;
    }
    headers[0] = (spdy_header){names[SCHEME], request->scheme};
    headers[1] = (spdy_header){names[HOST], request->host};
    headers[2] = (spdy_header){names[TARGET], request->target};
    return 3;
}
