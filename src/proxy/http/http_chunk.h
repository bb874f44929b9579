/* http_chunk.h: the lines between the chunks of a body (RFC 9112, 7.1).
 * Pure. */
#ifndef PEN_PROXY_HTTP_CHUNK_H
#define PEN_PROXY_HTTP_CHUNK_H

#include "proxy/http/http_field.h"

/* The longest line that is taken, with its CRLF. */
enum { HTTP_CHUNK_LINE_MAX = 512 };

/* "1a ; name=value" of a client, without its CRLF: up to 32 digits, below
 * 2^31, as some servers have no more bits for it, then extensions. Returns 0,
 * or -1. */
int http_chunk_parse(struct http_text line, uint64_t *size);
/* The same of a server: digits, below 2^63, then anything but CR and NUL behind
 * ";" or a blank, with which some fill up the size. */
int http_chunk_guess(struct http_text line, uint64_t *size);

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
