#include "mreplay_answer.h"

#include "apr_date.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "mreplay_pack.h"

APLOG_USE_MODULE(replay);

/* Smaller bodies are copied in less time than a file is opened. */
enum { FILE_BYTES = 32 * 1024 };

static const char deflate[] = "DEFLATE", brotli[] = "BROTLI_COMPRESS";
static const char missing_body[] = "not in the record\n";
/* When every file of a site without recorded headers was changed last: 1 January 2020. */
static const apr_time_t modified = APR_TIME_C(1577836800) * APR_USEC_PER_SEC;

const char *mreplay_missing_filter(const replay_pack *pack)
{
    if (replay_pack_compresses(pack, REPLAY_GZIP) && ap_get_output_filter_handle(deflate) == NULL)
        return "some of its objects are to be compressed with gzip, and mod_deflate is not loaded";
    if (replay_pack_compresses(pack, REPLAY_BROTLI) && ap_get_output_filter_handle(brotli) == NULL)
        return "some of its objects are to be compressed with brotli, and mod_brotli is not loaded";
    return NULL;
}

/* The same header fields as httpd gives to a file. */
static void set_file_headers(request_rec *r, const replay_object *object)
{
    r->finfo.filetype = APR_REG;
    r->finfo.size = (apr_off_t)object->body_length;
    r->finfo.mtime = modified;
    ap_update_mtime(r, modified);
    ap_set_last_modified(r);
    ap_set_etag(r);
    ap_set_accept_ranges(r);
}

static void set_recorded_headers(request_rec *r, const replay_pack *pack, const replay_object *object)
{
    const char *changed;
    for (uint32_t i = 0; i < object->header_count; i++) {
        replay_header header = replay_pack_header(pack, object->first_header + i);
        apr_table_addn(r->headers_out, header.name, header.value);
    }
    changed = apr_table_get(r->headers_out, "Last-Modified");
    if (changed != NULL)
        r->mtime = apr_date_parse_http(changed);
    /* With it httpd keeps the recorded Date and Server. (With PROXYREQ_RESPONSE it would swallow the next request.) */
    r->proxyreq = PROXYREQ_REVERSE;
}

static void set_compression(request_rec *r, const replay_object *object)
{
    if (object->compression == REPLAY_GZIP)
        ap_add_output_filter(deflate, NULL, r, r->connection);
    else if (object->compression == REPLAY_BROTLI)
        ap_add_output_filter(brotli, NULL, r, r->connection);
}

/* mod_http2 copies memory twice on its way from a stream to the connection, whole bodies at once, but passes files on. */
static bool passes_files_on(const request_rec *r)
{
    return !strncmp(ap_get_protocol(r->connection), "h2", 2);
}

/* NULL: it is empty. */
static apr_bucket *body_of(request_rec *r, const replay_object *object)
{
    apr_bucket_alloc_t *list = r->connection->bucket_alloc;
    apr_size_t length = object->body_length;
    apr_file_t *file;
    apr_off_t at;
    apr_status_t status;

    if (length == 0)
        return NULL;
    if (length < FILE_BYTES || object->compression != REPLAY_AS_STORED || !passes_files_on(r))
        return apr_bucket_immortal_create((const char *)object->body, length, list);
    status = mreplay_pack_file(object, r->pool, &file, &at);
    if (status == APR_SUCCESS)
        return apr_bucket_file_create(file, at, length, r->pool, list);
    ap_log_rerror(APLOG_MARK, APLOG_WARNING, status, r, "the pack cannot be opened again: this answer takes mod_http2 "
                  "more time than one from a file");
    return apr_bucket_immortal_create((const char *)object->body, length, list);
}

/* NULL: without one. */
static int send_body(request_rec *r, apr_bucket *body)
{
    conn_rec *c = r->connection;
    apr_bucket_brigade *brigade = apr_brigade_create(r->pool, c->bucket_alloc);
    apr_status_t status;

    if (body != NULL)
        APR_BRIGADE_INSERT_TAIL(brigade, body);
    APR_BRIGADE_INSERT_TAIL(brigade, apr_bucket_eos_create(c->bucket_alloc));
    status = ap_pass_brigade(r->output_filters, brigade);
    if (status == APR_SUCCESS || r->status != HTTP_OK || c->aborted)
        return OK;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, status, r, "a recorded answer could not be sent");
    return AP_FILTER_ERROR;
}

int mreplay_answer(request_rec *r, const replay_pack *pack, const replay_object *object)
{
    bool has_body = !object->head && !AP_STATUS_IS_HEADER_ONLY(object->status);
    int condition;

    /* The request has been read whole, and nothing is sent yet. */
    if (object->delay_ms)
        apr_sleep((apr_interval_time_t)object->delay_ms * 1000);
    if (object->plain)
        set_file_headers(r, object);
    else
        set_recorded_headers(r, pack, object);
    if (*object->type)
        ap_set_content_type(r, object->type);
    if (has_body)
        ap_set_content_length(r, (apr_off_t)object->body_length);
    set_compression(r, object);
    if (object->status == HTTP_OK && (condition = ap_meets_conditions(r)) != OK)
        return condition;
    r->status = (int)object->status;
    r->status_line = object->status_line;
    return send_body(r, has_body ? body_of(r, object) : NULL);
}

int mreplay_answer_missing(request_rec *r)
{
    r->status = HTTP_NOT_FOUND;
    ap_set_content_type(r, "text/plain");
    ap_set_content_length(r, sizeof missing_body - 1);
    return send_body(r, apr_bucket_immortal_create(missing_body, sizeof missing_body - 1, r->connection->bucket_alloc));
}
