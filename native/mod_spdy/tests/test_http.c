/* HTTP's names in SPDY. */
#include "check.h"
#include "peer.h"
#include "spdy_http.h"

#include <string.h>

static void check_text(spdy_text is, const char *should_be)
{
    CHECK_BYTES(is.bytes, is.length, should_be, strlen(should_be));
}

static void check_joined(const spdy_http_field *field, const char *should_be)
{
    char joined[64];

    CHECK(field->length < sizeof joined);
    spdy_http_field_join(field, joined);
    CHECK_BYTES(joined, strlen(joined), should_be, strlen(should_be));
    CHECK_EQUAL(field->length, strlen(should_be));
}

static spdy_http_field fields[16];
static spdy_http_request got;

static spdy_http_fault read_request(spdy_version version, const spdy_header *headers, size_t count)
{
    return spdy_http_request_read(version, headers, count, fields, &got);
}

static spdy_http_fault read_3(const char *method, const char *path, const char *protocol, const char *host)
{
    const spdy_header headers[] = {header(":method", method), header(":path", path), header(":version", protocol),
                                   header(":host", host), header(":scheme", "https")};

    return read_request(SPDY_VERSION_3, headers, 5);
}

TEST(requests_of_spdy_3)
{
    const spdy_header headers[] = {header(":host", "a.example:81"), header("accept", "*/*"), header(":method", "GET"),
                                   header("connection", "close"),   header(":path", "/x?y"), header("host", "b.example"),
                                   header(":version", "HTTP/1.1"),  header("cookie", "a"),   header("cookie", "b"),
                                   header(":scheme", "http"),       header("transfer-encoding", "chunked")};

    CHECK_EQUAL(read_request(SPDY_VERSION_3_1, headers, 11), SPDY_HTTP_FINE);
    check_text(got.method, "GET");
    check_text(got.target, "/x?y");
    check_text(got.protocol, "HTTP/1.1");
    check_text(got.host, "a.example:81");
    check_text(got.scheme, "http");
    CHECK_EQUAL(got.field_count, 2);
    check_text(got.fields[0].name, "accept");
    check_joined(&got.fields[0], "*/*");
    check_text(got.fields[1].name, "cookie");
    check_joined(&got.fields[1], "a; b");
}

static spdy_http_fault read_field(const char *name, spdy_text value)
{
    const spdy_header headers[] = {header(":method", "GET"),      header(":path", "/"),  header(":version", "HTTP/1.1"),
                                   header(":scheme", "https"), header(":host", "a"), {text(name), value}};

    return read_request(SPDY_VERSION_3, headers, 6);
}

TEST(control_characters_do_not_pass)
{
    int letter;

    for (letter = 0; letter < 256; letter++) {
        const char value[3] = {'a', (char)letter, 'b'};
        bool control = (letter < ' ' && letter != '\t') || letter == 0x7f;

        check_case("character %d", letter);
        CHECK_EQUAL(read_field("x", (spdy_text){value, 3}), control ? SPDY_HTTP_BAD_FIELD : SPDY_HTTP_FINE);
        /* Also where the field goes no further. */
        CHECK_EQUAL(read_field("host", (spdy_text){value, 3}), control ? SPDY_HTTP_BAD_FIELD : SPDY_HTTP_FINE);
    }
    CHECK_EQUAL(read_field("x\ty", text("a")), SPDY_HTTP_BAD_FIELD);
    CHECK_EQUAL(read_field("x\x7fy", text("a")), SPDY_HTTP_BAD_FIELD);
    CHECK_EQUAL(read_field("x\x80y", text("a")), SPDY_HTTP_BAD_FIELD);
}

TEST(values_of_one_field_are_joined)
{
    const spdy_header headers[] = {header(":method", "GET"), header(":path", "/"), header(":version", "HTTP/1.1"),
                                   header(":scheme", "https"), header(":host", "a"),
                                   header("x", "1"), header("x", ""), header("x", "333"), header("y", "")};

    CHECK_EQUAL(read_request(SPDY_VERSION_3, headers, 9), SPDY_HTTP_FINE);
    CHECK_EQUAL(got.field_count, 2);
    CHECK_EQUAL(got.fields[0].value_count, 3);
    check_joined(&got.fields[0], "1, , 333");
    check_joined(&got.fields[1], "");
}

TEST(requests_of_spdy_2)
{
    spdy_header headers[] = {header("method", "GET"), header("url", "/x"), header("version", "HTTP/1.1"),
                             header("scheme", "http"), header("host", "a.example")};

    CHECK_EQUAL(read_request(SPDY_VERSION_2, headers, 5), SPDY_HTTP_FINE);
    check_text(got.target, "/x");
    check_text(got.host, "a.example");
    headers[1] = header("url", "http://b.example:8/y?z");
    CHECK_EQUAL(read_request(SPDY_VERSION_2, headers, 4), SPDY_HTTP_FINE);
    check_text(got.target, "/y?z");
    check_text(got.host, "b.example:8");
    headers[1] = header("url", "https://b.example");
    CHECK_EQUAL(read_request(SPDY_VERSION_2, headers, 4), SPDY_HTTP_FINE);
    check_text(got.target, "/");
    CHECK_EQUAL(read_request(SPDY_VERSION_3, headers, 5), SPDY_HTTP_MISSING);
    headers[1] = header("url", "http://A.example/y");
    CHECK_EQUAL(read_request(SPDY_VERSION_2, headers, 5), SPDY_HTTP_FINE);
    check_text(got.host, "a.example");
    headers[1] = header("url", "http://b.example/y");
    CHECK_EQUAL(read_request(SPDY_VERSION_2, headers, 5), SPDY_HTTP_REPEATED); /* which of the hosts? */
}

TEST(faults_of_requests_are_found)
{
    const spdy_header twice[] = {header(":method", "GET"), header(":method", "PUT")};
    const spdy_header strange[] = {header(":status", "200")}, broken[] = {header("a", "b\r\nc: d")},
                      ftp[] = {header(":method", "GET"), header(":path", "/"), header(":version", "HTTP/1.1"),
                               header(":host", "a"), header(":scheme", "ftp")},
                      empty[] = {header(":method", ""), header(":method", "PUT")};

    CHECK_EQUAL(read_3("GET", "/", "HTTP/1.1", "a"), SPDY_HTTP_FINE);
    CHECK_EQUAL(read_3("GE T", "/", "HTTP/1.1", "a"), SPDY_HTTP_BAD_METHOD);
    CHECK_EQUAL(read_3("", "/", "HTTP/1.1", "a"), SPDY_HTTP_BAD_METHOD);
    CHECK_EQUAL(read_3(":GET", "/", "HTTP/1.1", "a"), SPDY_HTTP_BAD_METHOD);
    CHECK_EQUAL(read_3("GET", "x", "HTTP/1.1", "a"), SPDY_HTTP_BAD_TARGET);
    CHECK_EQUAL(read_3("GET", "", "HTTP/1.1", "a"), SPDY_HTTP_BAD_TARGET);
    CHECK_EQUAL(read_3("GET", "/ HTTP/1.1\r\nx: y", "HTTP/1.1", "a"), SPDY_HTTP_BAD_TARGET);
    CHECK_EQUAL(read_3("GET", "*", "HTTP/1.1", "a"), SPDY_HTTP_BAD_TARGET);
    CHECK_EQUAL(read_3("GET", "http://a/", "HTTP/1.1", "a"), SPDY_HTTP_BAD_TARGET); /* SPDY/2's alone may be absolute */
    CHECK_EQUAL(read_3("OPTIONS", "*", "HTTP/1.1", "a"), SPDY_HTTP_FINE);
    CHECK_EQUAL(read_3("GET", "/", "HTTP/1.10", "a"), SPDY_HTTP_BAD_PROTOCOL);
    CHECK_EQUAL(read_3("GET", "/", "SPDY/3.1", "a"), SPDY_HTTP_BAD_PROTOCOL);
    CHECK_EQUAL(read_3("GET", "/", "HTTP/1.1", ""), SPDY_HTTP_BAD_HOST);
    CHECK_EQUAL(read_3("GET", "/", "HTTP/1.1", "a b"), SPDY_HTTP_BAD_HOST);
    CHECK_EQUAL(read_3("GET", "/", "HTTP/1.1", "u@a"), SPDY_HTTP_BAD_HOST);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, twice, 1), SPDY_HTTP_MISSING);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, twice, 2), SPDY_HTTP_REPEATED);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, empty, 2), SPDY_HTTP_REPEATED);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, strange, 1), SPDY_HTTP_BAD_FIELD);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, broken, 1), SPDY_HTTP_BAD_FIELD);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, ftp, 5), SPDY_HTTP_BAD_SCHEME);
    CHECK_EQUAL(read_request(SPDY_VERSION_3, NULL, 0), SPDY_HTTP_MISSING);
}

TEST(written_replies_and_pushes_have_each_versions_names)
{
    const spdy_http_request request = {.method = text("GET"), .target = text("/x"), .protocol = text("HTTP/1.1"),
                                       .host = text("a"), .scheme = text("http")};
    spdy_header headers[SPDY_HTTP_PUSH_HEADERS];
    size_t version;

    for (version = 0; version < 3; version++) {
        bool is_2 = all_versions[version] == SPDY_VERSION_2;

        spdy_http_reply_write(all_versions[version], text("200 OK"), text("HTTP/1.1"), headers);
        check_text(headers[0].name, is_2 ? "status" : ":status");
        check_text(headers[0].value, "200 OK");
        check_text(headers[1].name, is_2 ? "version" : ":version");
        CHECK_EQUAL(spdy_http_push_write(all_versions[version], &request, headers), is_2 ? 1 : 3);
        check_text(headers[is_2 ? 0 : 2].name, is_2 ? "url" : ":path");
    }
}

TEST(fields_of_one_connection_do_not_pass)
{
    CHECK(!spdy_http_field_passes(SPDY_VERSION_3, text("Connection")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_3, text("keep-alive")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_3, text("Transfer-Encoding")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_3, text("proxy-connection")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_3, text("Upgrade")));
    CHECK(spdy_http_field_passes(SPDY_VERSION_3, text("Content-Length")));
    CHECK(spdy_http_field_passes(SPDY_VERSION_3, text("Version")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_2, text("Version")));
    CHECK(!spdy_http_field_passes(SPDY_VERSION_2, text("status")));
}

TEST(what_is_said_of_faults_and_results_differs)
{
    int one, other;

    for (one = 0; one <= SPDY_HTTP_BAD_FIELD; one++)
        for (other = 0; other < one; other++)
            CHECK(strcmp(spdy_http_fault_text(one), spdy_http_fault_text(other)));
    for (one = 0; one <= SPDY_SESSION_OVER; one++)
        for (other = 0; other < one; other++)
            CHECK(strcmp(spdy_result_text(one), spdy_result_text(other)));
}
