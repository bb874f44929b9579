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
	uint64_t length;  /* Content-Length */
	bool in_fields;	  /* the status line was taken */
	bool close, keep; /* Connection: close, keep-alive */
	/* Set by the caller: no body follows, and fields may not frame one, as
	 * with 1xx, 204 and 2xx to CONNECT (RFC 9110, 8.6; RFC 9112, 6.1). */
	bool bare;

	/* Private. */
	bool rough; /* some lines do not go on as they came */
	bool odd;
	bool coded, chunked, has_length, bad_length, repeated;
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

/* ---- lines that do not go on as they came ----
 *
 * Folded lines become one with the line before them (RFC 9112, 5.2). A CR or
 * NUL, which some programs take for the end of a line, becomes a blank (RFC
 * 9110, 5.5). Blanks before the colon are removed (RFC 9112, 5.1). A line that
 * begins with CR or NUL is left out: with a blank in front it would continue
 * the line before. So is a folded one that has no field before it (2.2), and
 * what is folded behind a line that is left out. What a field means is decided
 * by what goes on. */

/* Whether a line of fields or trailers, without its end, is such a line. */
bool http_line_is_rough(struct http_text line);
/* Writes a whole trailer section, with its empty line, as it goes on. `room`
 * has its length. Returns how many bytes it is. */
size_t http_trailers_write(struct http_text section, char *room);

/* Takes the next line, without its end. False: it is no status line, where one
 * has to be. */
bool http_response_take_line(struct http_response *r, struct http_text line);
/* The section is complete: what depends on all of it is known now. `room` has
 * its length. */
void http_response_end(
    struct http_response *r, struct http_text section, char *room);

/* What follows, and whether the connection ends after it. */
enum http_follows http_response_follows(const struct http_response *r);
bool http_response_is_last(const struct http_response *r);

/* Whether it goes on otherwise than it came: for rough lines; Content-Length
 * goes where it is beside a transfer coding (RFC 9112, 6.3) or not valid, and
 * the same one repeated becomes a single one (RFC 9110, 8.6); what frames a
 * body goes where none may follow. */
bool http_response_changes(const struct http_response *r);
/* Writes it so, from its first byte to its empty line, with the line `add`, if
 * it is not NULL, behind the first; with `closes` marked as the last one of its
 * connection. `room` has what is added above the length of the section. Returns
 * how many bytes it is. */
size_t http_response_write(const struct http_response *r,
    struct http_text section, const char *add, bool closes, char *room);

#endif
