/* http_chunk.h: the lines between the chunks of a body (RFC 9112, 7.1). Strict;
 * pure. */
#ifndef PEN_PROXY_HTTP_CHUNK_H
#define PEN_PROXY_HTTP_CHUNK_H

#include "proxy/http/http_field.h"

/* The longest line that is taken, with its CRLF. */
enum { HTTP_CHUNK_LINE_MAX = 512 };

/* "1a;name=value" without its CRLF: up to 16 digits, then extensions without
 * blanks. Returns 0, or -1. */
int http_chunk_parse(struct http_text line, uint64_t *size);

/* Passes over what is here, from *at to `length`, of the *left bytes of a body
 * or chunk. Returns whether that was all of it. */
static inline bool
http_pass_body(uint64_t *left, size_t *at, size_t length)
{
	size_t n = length - *at;

	if (n > *left)
		n = (size_t)*left;
	*at += n;
	*left -= n;
	return *left == 0;
}

#endif
