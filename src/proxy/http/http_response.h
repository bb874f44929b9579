/* http_response.h: the header section of an answer of HTTP/1.0 or 1.1: its
 * status, what follows it, and whether the connection ends after it (RFC 9112,
 * 4, 6.3, 9). Read with less rigour than requests are: lines may end with LF,
 * and fields that mean nothing here may be anything, but without CR and NUL.
 * Pure.
 *
 *     HTTP/1.1 200 OK CRLF          http_response_take_line() is given line
 *     Content-Length: 2 CRLF        after line, but the empty one
 *     CRLF */
#ifndef PEN_PROXY_HTTP_RESPONSE_H
#define PEN_PROXY_HTTP_RESPONSE_H

#include "proxy/http/http_field.h"

/* What follows the section, if a body may. */
enum http_follows {
	HTTP_FOLLOWS_LENGTH, /* `length` bytes */
	HTTP_FOLLOWS_CHUNKS,
	HTTP_FOLLOWS_ALL,    /* all until the connection ends */
	HTTP_FOLLOWS_UNKNOWN /* by an invalid Content-Length */
};

/* All zero at first. */
struct http_response {
	unsigned status;
	uint64_t length; /* Content-Length */
	bool in_fields;	 /* the status line was taken */
	bool close, keep; /* Connection: close, keep-alive */

	/* Private. */
	bool folded, odd, unclean;
	bool framing; /* the last field was one that frames, or ends, it */
	bool coded, chunked, has_length, bad_length;
	bool old; /* HTTP/1.0 */
};

/* The text of a line that ends with LF or CRLF, which has its LF at `feed`. */
static inline struct http_text
http_line_of(const char *line, const char *feed)
{
	size_t n = (size_t)(feed - line);

	return (
	    struct http_text){ line, n > 0 && line[n - 1] == '\r' ? n - 1 : n };
}

/* Whether a line of fields or trailers must be changed: it has a CR or NUL,
 * which some programs take for its end (RFC 9110, 5.5), or blanks before its
 * colon (RFC 9112, 5.1). */
bool http_line_is_unclean(struct http_text line);
/* Writes such a line to `to`, without its end: each CR or NUL becomes a blank,
 * and blanks before the colon are left out. A line that begins with CR or NUL
 * is left out: with a blank in front it would continue the line before. Returns
 * the end of what was written. */
char *http_line_clean(char *to, struct http_text line);

/* Takes the next line, without its end. False: it is no status line, where one
 * has to be. */
bool http_response_take_line(struct http_response *r, struct http_text line);

/* After the last line of the headers: what follows, and whether the connection
 * ends after it. */
enum http_follows http_response_follows(const struct http_response *r);
bool http_response_is_last(const struct http_response *r);

/* Whether it goes on otherwise than it came: folded lines become one (RFC 9112,
 * 5.2), unclean ones clean, and Content-Length beside a transfer coding goes
 * (6.3). */
bool http_response_changes(const struct http_response *r);
/* Writes it so, from its first byte to its empty line, with the line `add`, if
 * it is not NULL, behind the first; with `closes` marked as the last one of its
 * connection. `room` has what is added above the length of the section. Returns
 * how many bytes it is. */
size_t http_response_write(const struct http_response *r,
    struct http_text section, const char *add, bool closes, char *room);

#endif
