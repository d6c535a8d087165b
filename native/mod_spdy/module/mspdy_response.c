#include "mspdy_response.h"

#include "apr_date.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_time.h"

#include "mspdy_job.h"

APLOG_USE_MODULE(spdy);

static const char associated_content[] = "X-Associated-Content";

static const char *now_as_text(request_rec *r, apr_time_t when)
{
    char *text = apr_palloc(r->pool, APR_RFC822_DATE_LEN);
    ap_recent_rfc822_date(text, when);
    return text;
}

/* Date and Server are httpd's, but a proxied response keeps its own. */
static void set_origin(request_rec *r, apr_table_t *fields)
{
    const char *banner = ap_get_server_banner();
    bool proxied = r->proxyreq != PROXYREQ_NONE;
    if (!proxied || apr_table_get(fields, "Date") == NULL)
        apr_table_setn(fields, "Date", now_as_text(r, r->request_time));
    if (*banner != '\0' && (!proxied || apr_table_get(fields, "Server") == NULL))
        apr_table_setn(fields, "Server", banner);
}

static void set_languages(request_rec *r, apr_table_t *fields)
{
    if (r->content_languages != NULL && r->content_languages->nelts > 0)
        apr_table_mergen(fields, "Content-Language", apr_array_pstrcat(r->pool, r->content_languages, ','));
}

static void set_content(request_rec *r, apr_table_t *fields)
{
    if (AP_STATUS_IS_HEADER_ONLY(r->status)) {
        apr_table_unset(fields, "Content-Length");
        r->content_type = r->content_encoding = NULL;
        r->content_languages = NULL;
        return;
    }
    const char *type = ap_make_content_type(r, r->content_type);
    const char *length = apr_table_get(fields, "Content-Length");
    if (type != NULL)
        apr_table_setn(fields, "Content-Type", type);
    if (r->content_encoding != NULL)
        apr_table_setn(fields, "Content-Encoding", r->content_encoding);
    set_languages(r, fields);
    /* A handler that writes nothing for HEAD did not mean an empty body. */
    if (r->header_only && length != NULL && !strcmp(length, "0"))
        apr_table_unset(fields, "Content-Length");
}

/* Everything that httpd's own filter does to the tables before it writes them. */
static void merge_fields(request_rec *r)
{
    if (!apr_is_empty_table(r->err_headers_out)) {
        r->headers_out = apr_table_overlay(r->pool, r->err_headers_out, r->headers_out);
        apr_table_clear(r->err_headers_out);
    }
    if (apr_table_get(r->subprocess_env, "force-no-vary") != NULL)
        apr_table_unset(r->headers_out, "Vary");
    if (r->no_cache && apr_table_get(r->headers_out, "Expires") == NULL)
        apr_table_setn(r->headers_out, "Expires", now_as_text(r, r->request_time));
    if (apr_table_get(r->notes, "no-etag") != NULL)
        apr_table_unset(r->headers_out, "ETag");
    set_content(r, r->headers_out);
    set_origin(r, r->headers_out);
}

/* A module's own words for a status, if they begin with it. */
static const char *status_text(request_rec *r)
{
    const char *line = r->status_line;
    const char *number = apr_itoa(r->pool, r->status);
    if (line != NULL && strlen(line) >= 3 && !strncmp(line, number, 3) && (line[3] == ' ' || line[3] == '\0') &&
        ap_scan_http_field_content(line)[0] == '\0')
        return line;
    return ap_get_status_line_ex(r->pool, r->status);
}

static spdy_text text_of(apr_pool_t *pool, const char *string)
{
    spdy_text text = {apr_pstrdup(pool, string), strlen(string)};
    return text;
}

static spdy_text lowercase_of(apr_pool_t *pool, const char *string)
{
    char *copy = apr_pstrdup(pool, string);
    ap_str_tolower(copy);
    spdy_text text = {copy, strlen(copy)};
    return text;
}

static bool may_be_sent(const mspdy_job *job, request_rec *r, const char *name, const char *value)
{
    spdy_text text = {name, strlen(name)};
    if (*name == '\0' || *ap_scan_http_token(name) != '\0' || *ap_scan_http_field_content(value) != '\0') {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "response header '%s' has invalid characters: it is not sent",
                      ap_escape_logitem(r->pool, name));
        return false;
    }
    return spdy_http_field_passes(job->version, text) && ap_cstr_casecmp(name, associated_content) != 0;
}

static void copy_fields(mspdy_job *job, request_rec *r, mspdy_response *response)
{
    const apr_array_header_t *entries = apr_table_elts(r->headers_out);
    const apr_table_entry_t *entry = (const apr_table_entry_t *)entries->elts;
    response->fields = apr_palloc(job->pool, sizeof(spdy_header) * (apr_size_t)(entries->nelts + 1));
    for (int i = 0; i < entries->nelts; i++)
        if (may_be_sent(job, r, entry[i].key, entry[i].val)) {
            spdy_header *field = &response->fields[response->field_count++];
            field->name = lowercase_of(job->pool, entry[i].key);
            field->value = text_of(job->pool, entry[i].val);
        }
}

static mspdy_response *response_of(mspdy_job *job, request_rec *r)
{
    mspdy_response *response = apr_pcalloc(job->pool, sizeof(*response));
    merge_fields(r);
    response->status = text_of(job->pool, status_text(r));
    if (job->config->push && !job->pushed) {
        const char *associated = apr_table_get(r->headers_out, associated_content);
        response->associated = associated ? apr_pstrdup(job->pool, associated) : NULL;
    }
    copy_fields(job, r, response);
    return response;
}

/* ---- the filter ---- */

static bool only_the_end(apr_bucket_brigade *brigade)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_EOS(b))
            return true;
        if (!APR_BUCKET_IS_METADATA(b) && b->length != 0)
            return false;
    }
    return false;
}

static const ap_bucket_error *first_error(apr_bucket_brigade *brigade, bool *gives_up)
{
    const ap_bucket_error *error = NULL;
    *gives_up = false;
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b) && error == NULL)
            error = b->data;
        else if (AP_BUCKET_IS_EOC(b))
            *gives_up = true;
    }
    return error;
}

static void drop_body(apr_bucket_brigade *brigade)
{
    apr_bucket *next;
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (!APR_BUCKET_IS_METADATA(b))
            apr_bucket_delete(b);
    }
}

static void give_head(mspdy_job *job, request_rec *r, bool no_body)
{
    mspdy_response *response = response_of(job, r);
    response->no_body = no_body;
    mspdy_exchange_give_head(job->exchange, response);
    job->progress = MSPDY_UNDER_WAY;
    r->sent_bodyct = no_body ? 0 : 1;
}

apr_status_t mspdy_response_write(ap_filter_t *f, apr_bucket_brigade *brigade)
{
    request_rec *r = f->r;
    mspdy_job *job = f->ctx;
    bool header_only = r->header_only || AP_STATUS_IS_HEADER_ONLY(r->status);
    if (job->progress == MSPDY_HEADLESS) {
        bool gives_up;
        const ap_bucket_error *error = first_error(brigade, &gives_up);
        if (gives_up) {
            ap_remove_output_filter(f);
            return ap_pass_brigade(f->next, brigade);
        }
        if (error != NULL) {
            int status = error->status;
            apr_brigade_cleanup(brigade);
            ap_die(status, r);
            return AP_FILTER_ERROR;
        }
        give_head(job, r, header_only || only_the_end(brigade));
    }
    if (header_only)
        drop_body(brigade);
    else
        ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, brigade);
}
