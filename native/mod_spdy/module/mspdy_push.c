#include "mspdy_push.h"

#include <stdlib.h>

#include "apr_hash.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "apr_uri.h"
#include "http_log.h"

APLOG_USE_MODULE(spdy);

enum { MOST_PER_RESPONSE = 32 };

/* What a browser would have sent along, had it asked itself. */
static const char *const passed_on[] = {"accept-encoding", "accept-language", "authorization", "cookie",
                                        "user-agent"};

typedef struct pushed {
    const char *target;
    unsigned priority;
} pushed;

static spdy_text text_of(const char *string)
{
    spdy_text text = {string, strlen(string)};
    return text;
}

/* Path and query, if the url is of the same origin as the stream's request. */
static const char *same_origin_target(const mspdy_job *job, apr_pool_t *pool, const char *url)
{
    apr_uri_t uri;
    if (apr_uri_parse(pool, url, &uri) != APR_SUCCESS || uri.path == NULL || uri.path[0] != '/')
        return NULL;
    if (uri.scheme != NULL && ap_cstr_casecmp(uri.scheme, job->scheme))
        return NULL;
    if (uri.hostinfo != NULL && ap_cstr_casecmp(uri.hostinfo, apr_table_get(job->headers, "Host")))
        return NULL;
    return uri.query ? apr_pstrcat(pool, uri.path, "?", uri.query, NULL) : uri.path;
}

/* The next of "url":priority, … with or without quotes and priority. */
static const char *next_url(apr_pool_t *pool, const char **at, unsigned *priority)
{
    const char *p = *at, *begin, *end;
    while (*p == ',' || apr_isspace(*p))
        p++;
    if (*p == '\0')
        return NULL;
    bool quoted = *p == '"';
    begin = quoted ? ++p : p;
    while (*p != '\0' && (quoted ? *p != '"' : *p != ',' && !apr_isspace(*p)))
        p++;
    end = p;
    if (quoted && *p == '"')
        p++;
    if (quoted && *p == ':' && apr_isdigit(p[1]))
        *priority = (unsigned)strtoul(p + 1, NULL, 10);
    while (*p != '\0' && *p != ',')
        p++;
    *at = p;
    return apr_pstrmemdup(pool, begin, (apr_size_t)(end - begin));
}

static void request_of(const mspdy_job *job, const char *target, spdy_http_request *request, spdy_header *headers,
                       spdy_http_field *fields)
{
    request->method = text_of("GET");
    request->target = text_of(target);
    request->protocol = text_of("HTTP/1.1");
    request->host = text_of(apr_table_get(job->headers, "Host"));
    request->scheme = text_of(job->scheme);
    request->fields = fields;
    request->field_count = 0;
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
        const char *value = apr_table_get(job->headers, passed_on[i]);
        if (value != NULL) {
            spdy_header *header = &headers[request->field_count];
            spdy_http_field field = {text_of(passed_on[i]), header, 1, strlen(value)};
            header->name = field.name;
            header->value = text_of(value);
            fields[request->field_count++] = field;
        }
    }
}

/* False: the client takes no more. */
static bool push(mspdy_stream *stream, const pushed *what)
{
    mspdy_session *session = stream->session;
    spdy_http_request request;
    spdy_header passed[sizeof(passed_on) / sizeof(passed_on[0])];
    spdy_http_field fields[sizeof(passed_on) / sizeof(passed_on[0])];
    spdy_header headers[SPDY_HTTP_PUSH_HEADERS];
    spdy_opening opening = {what->priority, stream->job->id, true, false};
    uint32_t id;
    uint64_t before = spdy_session_totals(session->core).sent_header_wire_bytes;
    if (session->stream_count >= session->config->max_streams)
        return false; /* there is enough to do */
    request_of(stream->job, what->target, &request, passed, fields);
    size_t count = spdy_http_push_write(session->version, &request, headers);
    spdy_result result = spdy_stream_open(session->core, &opening, headers, count, &id);
    if (result != SPDY_OK) {
        ap_log_cerror(APLOG_MARK, APLOG_DEBUG, 0, session->c1, "stream %u: %s is not pushed: %s",
                      (unsigned)stream->job->id, what->target, spdy_result_text(result));
        return false;
    }
    return mspdy_stream_push(session, id, what->priority, &request,
                             spdy_session_totals(session->core).sent_header_wire_bytes - before);
}

void mspdy_push_associated(mspdy_stream *stream, const char *associated)
{
    mspdy_session *session = stream->session;
    apr_pool_t *pool = session->event_pool;
    const char *url;
    unsigned lowest = spdy_lowest_priority(session->version);
    if (session->version == SPDY_VERSION_2 || session->going_away)
        return;
    apr_hash_t *done = apr_hash_make(pool);
    for (int count = 0; count < MOST_PER_RESPONSE; count++) {
        pushed what = {NULL, stream->job->priority < lowest ? stream->job->priority + 1 : lowest};
        if ((url = next_url(pool, &associated, &what.priority)) == NULL)
            break;
        if (what.priority > lowest)
            what.priority = lowest;
        what.target = same_origin_target(stream->job, pool, url);
        if (what.target == NULL)
            ap_log_cerror(APLOG_MARK, APLOG_INFO, 0, session->c1,
                          "stream %u: X-Associated-Content names %s, which is not of the same origin: not pushed",
                          (unsigned)stream->job->id, ap_escape_logitem(pool, url));
        else if (apr_hash_get(done, what.target, APR_HASH_KEY_STRING) == NULL) {
            apr_hash_set(done, what.target, APR_HASH_KEY_STRING, "");
            if (!push(stream, &what))
                break;
        }
    }
    apr_pool_clear(pool);
}
