/* http_field.h: the words of HTTP/1: tokens, names and values of fields, lists
 * (RFC 9110, 5). Strict; pure. */
#ifndef PEN_PROXY_HTTP_FIELD_H
#define PEN_PROXY_HTTP_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes within those of another owner. */
struct http_text {
	const char *at;
	size_t length;
};

/* 1*tchar (RFC 9110, 5.6.2). */
bool http_is_token(struct http_text t);
/* No control characters but tabs (RFC 9110, 5.5). */
bool http_is_value(struct http_text t);
/* Whether the text may be the target of a request line: printable, without
 * blanks and "#", which no form of a target has (RFC 9112, 3.2); not empty. */
bool http_is_target(struct http_text t);
/* Whether the text may be the value of Host, which may be empty (RFC 9110,
 * 7.2). */
bool http_is_host(struct http_text t);

/* Whether the text begins with `lower`, without regard to case; `lower` is in
 * lower case. */
bool http_text_begins(struct http_text t, const char *lower);
/* Here, so that the length of a literal is known when it is compiled. */
static inline bool
http_text_is(struct http_text t, const char *lower)
{
	return t.length == strlen(lower) && http_text_begins(t, lower);
}
/* The same, where all but letters and digits count as '-': in the variables of
 * CGI some servers cannot distinguish them. */
bool http_text_is_like(struct http_text t, const char *lower);
/* Such a character of `lower`. */
char http_lower_like(char c);
bool http_text_equals(struct http_text a, struct http_text b);

/* 1*DIGIT, below 2^63. Returns 0, or -1. */
int http_length_parse(struct http_text t, uint64_t *length);

/* Parses the value of Content-Length: one number, which may be repeated (RFC
 * 9112, 6.3). `known`: *length is that of an earlier field, and must be the
 * same. Returns 0, or -1 without a number or with different ones. */
int http_lengths_parse(struct http_text list, bool known, uint64_t *length);
/* Whether the last of these transfer codings is "chunked" (RFC 9112, 6.3); with
 * an empty list `before`, which is the result of an earlier field. */
bool http_is_chunked(struct http_text codings, bool before);

/* Takes the next element off a list that commas separate, without the blanks
 * around it; empty ones are left out (RFC 9110, 5.6.1). False at the end. */
bool http_list_next(struct http_text *list, struct http_text *element);

/* Takes the next line off a section, without its end; what has none is a line,
 * too. */
struct http_text http_section_next(struct http_text *section);

/* "NAME: value" without its CRLF, as name and value without the blanks around
 * it. False unless that is what it is, with nothing before the colon but the
 * name (RFC 9112, 5.1). */
bool http_field_split(
    struct http_text line, struct http_text *name, struct http_text *value);

#endif
