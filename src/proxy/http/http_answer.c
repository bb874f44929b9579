/* http_answer.c: see http_answer.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proxy/http/http_answer.h"
#include "proxy/http/http_field.h"

static enum http_event
http_answer_wrong(struct http_answer *h, const char *why)
{
	h->wrong = why;
	h->stage = HTTP_AT_END;
	return HTTP_WRONG;
}

/* ---- lines ---- */

/* Takes bytes up to a newline. Returns whether the line is complete; what is
 * too long for it is left out. */
static bool
http_answer_take_line(struct http_answer *h, const char **bytes, size_t *n)
{
	const char *end = memchr(*bytes, '\n', *n);
	size_t length = end != NULL ? (size_t)(end - *bytes) : *n;
	size_t room = HTTP_LINE_MAX - 1 - h->line_length;
	size_t kept = length < room ? length : room;

	memcpy(h->line + h->line_length, *bytes, kept);
	h->line_length += kept;
	length += end != NULL;
	*bytes += length;
	*n -= length;
	if (end == NULL)
		return false;
	if (h->line_length > 0 && h->line[h->line_length - 1] == '\r')
		h->line_length--;
	h->line[h->line_length] = '\0';
	h->line_length = 0;
	return true;
}

static bool
http_answer_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* HTTP/1.1 200 OK; the short message may be missing (RFC 9112, 4). */
static enum http_event
on_status_line(struct http_answer *h)
{
	const char *l = h->line;

	if (strncmp(l, "HTTP/1.", 7) != 0 || (l[7] != '0' && l[7] != '1') ||
	    l[8] != ' ' || l[9] < '1' || l[9] > '5' ||
	    !http_answer_is_digit(l[10]) || !http_answer_is_digit(l[11]) ||
	    (l[12] != ' ' && l[12] != '\0'))
		return http_answer_wrong(h, "not an answer of HTTP/1");
	h->status = (unsigned)(l[9] - '0') * 100 +
	    (unsigned)(l[10] - '0') * 10 + (unsigned)(l[11] - '0');
	h->stage = HTTP_IN_HEADERS;
	h->coded = h->chunked = h->has_length = h->bad_length = false;
	h->left = 0;
	return HTTP_MORE;
}

/* ---- headers ---- */

/* The value of the header in the line, in place, or NULL: it is another one. */
static char *
value_of(char *line, const char *name)
{
	size_t n = strlen(name), end;

	if (strncasecmp(line, name, n) != 0 || line[n] != ':')
		return NULL;
	line += n + 1;
	line += strspn(line, " \t");
	end = strlen(line);
	while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		line[--end] = '\0';
	return line;
}

static struct http_text
list_of(const char *value)
{
	return (struct http_text){ value, strlen(value) };
}

static enum http_event
on_header(struct http_answer *h)
{
	const char *codings = value_of(h->line, "Transfer-Encoding");
	const char *lengths = value_of(h->line, "Content-Length");

	if (codings != NULL) {
		h->coded = true;
		h->chunked = http_is_chunked(list_of(codings), h->chunked);
	}
	if (lengths == NULL)
		return HTTP_MORE;
	if (http_lengths_parse(list_of(lengths), h->has_length, &h->left) < 0)
		h->bad_length = true;
	else
		h->has_length = true;
	return HTTP_MORE;
}

/* The headers are complete: another response follows after an interim one (RFC
 * 9110, 15.2), else a body or the end. */
static enum http_event
on_headers_end(struct http_answer *h)
{
	if (h->status < 200) {
		h->stage = HTTP_IN_STATUS;
		return HTTP_MORE;
	}
	if (h->coded) {
		h->has_length = h->bad_length = false;
		h->left = 0;
	}
	if (h->bad_length)
		return http_answer_wrong(h, "wrong Content-Length");
	h->stage = h->status == 204 || h->status == 304 ? HTTP_AT_END
	    : h->chunked				? HTTP_IN_CHUNK_SIZE
	    : h->has_length && h->left == 0		? HTTP_AT_END
							: HTTP_IN_BODY;
	return HTTP_HEADERS;
}

/* ---- the body ---- */

static enum http_event
on_chunk_size(struct http_answer *h)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", h->line[0]) || h->line[0] == '\0')
		return http_answer_wrong(h, "wrong size of a chunk");
	h->left = strtoull(h->line, &end, 16);
	if (*end != '\0' && *end != ';' && *end != ' ' && *end != '\t')
		return http_answer_wrong(h, "wrong size of a chunk");
	/* what follows the last one is not about the body */
	h->stage = h->left > 0 ? HTTP_IN_CHUNK : HTTP_AT_END;
	return HTTP_MORE;
}

static enum http_event
on_line(struct http_answer *h)
{
	switch (h->stage) {
	case HTTP_IN_STATUS:
		return on_status_line(h);
	case HTTP_IN_HEADERS:
		return h->line[0] == '\0' ? on_headers_end(h) : on_header(h);
	case HTTP_IN_CHUNK_SIZE:
		return on_chunk_size(h);
	default:
		h->stage = HTTP_IN_CHUNK_SIZE;
		return h->line[0] == '\0' ? HTTP_MORE
					  : http_answer_wrong(h, "wrong chunk");
	}
}

static bool
is_counted(const struct http_answer *h)
{
	return h->stage == HTTP_IN_CHUNK || h->has_length;
}

static enum http_event
take_body(struct http_answer *h, const char **bytes, size_t *n)
{
	size_t part = *n;

	if (is_counted(h) && h->left < part)
		part = (size_t)h->left;
	h->body = *bytes;
	h->body_length = part;
	*bytes += part;
	*n -= part;
	if (!is_counted(h))
		return HTTP_BODY;
	h->left -= part;
	if (h->left == 0)
		h->stage =
		    h->stage == HTTP_IN_CHUNK ? HTTP_IN_CHUNK_END : HTTP_AT_END;
	return HTTP_BODY;
}

enum http_event
http_answer_take(struct http_answer *h, const char **bytes, size_t *n)
{
	enum http_event event = HTTP_MORE;
	size_t before = *n;

	if (h->taken > HTTP_ANSWER_MAX && h->stage != HTTP_AT_END)
		return http_answer_wrong(h, "the answer is too long");
	while (event == HTTP_MORE && h->stage != HTTP_AT_END && *n > 0) {
		if (h->stage == HTTP_IN_BODY || h->stage == HTTP_IN_CHUNK)
			event = take_body(h, bytes, n);
		else if (http_answer_take_line(h, bytes, n))
			event = on_line(h);
	}
	h->taken += before - *n;
	return event == HTTP_MORE && h->stage == HTTP_AT_END ? HTTP_END : event;
}

bool
http_answer_ends(const struct http_answer *h)
{
	return h->stage == HTTP_AT_END ||
	    (h->stage == HTTP_IN_BODY && !h->has_length);
}
