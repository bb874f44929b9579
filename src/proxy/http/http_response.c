/* http_response.c: see http_response.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_response.h"

/* ---- status and fields ---- */

static bool
http_response_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* HTTP/1.1 200 OK (RFC 9112, 4); OK may be missing. */
static bool
is_status_line(struct http_text line)
{
	const char *l = line.at;

	return line.length >= 12 && memcmp(l, "HTTP/1.", 7) == 0 &&
	    http_response_is_digit(l[7]) && l[8] == ' ' && l[9] != '0' &&
	    http_response_is_digit(l[9]) && http_response_is_digit(l[10]) &&
	    http_response_is_digit(l[11]) &&
	    (line.length == 12 || l[12] == ' ');
}

static void
note_status(struct http_response *r, const char *l)
{
	*r = (struct http_response){ .in_fields = true };
	r->status = (unsigned)(l[9] - '0') * 100 +
	    (unsigned)(l[10] - '0') * 10 + (unsigned)(l[11] - '0');
	r->old = l[7] == '0';
}

/* What the server means to do; of HTTP/1.0 it may mean to go on. */
static void
note_connection(struct http_response *r, struct http_text value)
{
	struct http_text option;

	while (http_list_next(&value, &option))
		if (http_text_is(option, "close"))
			r->close = true;
		else if (http_text_is(option, "keep-alive"))
			r->keep = true;
}

static void
note_length(struct http_response *r, struct http_text value)
{
	if (http_lengths_parse(value, r->has_length, &r->length) < 0)
		r->bad_length = true;
	else
		r->has_length = true;
}

static void
note_coding(struct http_response *r, struct http_text value)
{
	r->coded = true;
	r->chunked = http_is_chunked(value, r->chunked);
}

/* Only what begins like one of these is looked at. */
static void
note_field(struct http_response *r, struct http_text line)
{
	struct http_text name, value;

	r->framing = false;
	if (line.length == 0 || ((line.at[0] | 0x20) != 'c' &&
				    (line.at[0] | 0x20) != 't'))
		return;
	if (!http_text_begins(line, "con") &&
	    !http_text_begins(line, "transfer-encoding"))
		return;
	if (!http_field_split(line, &name, &value)) {
		r->framing = http_text_begins(line, "content-length") ||
		    http_text_begins(line, "transfer-encoding") ||
		    http_text_begins(line, "connection:");
		r->odd |= r->framing;
		return;
	}
	r->framing = true;
	if (http_text_is(name, "content-length"))
		note_length(r, value);
	else if (http_text_is(name, "transfer-encoding"))
		note_coding(r, value);
	else if (http_text_is(name, "connection"))
		note_connection(r, value);
	else
		r->framing = false;
}

static bool
http_response_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_folded(struct http_text line)
{
	return line.length > 0 && http_response_is_blank(line.at[0]);
}

/* ---- lines that must be changed ---- */

bool
http_line_is_unclean(struct http_text line)
{
	const char *colon = memchr(line.at, ':', line.length);

	return (colon != NULL && colon > line.at &&
		   http_response_is_blank(colon[-1])) ||
	    memchr(line.at, '\r', line.length) != NULL ||
	    memchr(line.at, '\0', line.length) != NULL;
}

static bool
is_no_text(char c)
{
	return c == '\r' || c == '\0';
}

static bool
begins_unclean(struct http_text line)
{
	return line.length > 0 && is_no_text(line.at[0]);
}

static char *
put_with_blanks(char *to, struct http_text line)
{
	size_t i;

	for (i = 0; i < line.length; i++)
		to[i] = is_no_text(line.at[i]) ? ' ' : line.at[i];
	return to + line.length;
}

char *
http_line_clean(char *to, struct http_text line)
{
	char *end, *colon, *name_end;

	if (begins_unclean(line))
		return to;
	end = put_with_blanks(to, line);
	colon = memchr(to, ':', line.length);
	if (colon == NULL || is_folded(line))
		return end;
	name_end = colon;
	while (name_end > to && http_response_is_blank(name_end[-1]))
		name_end--;
	memmove(name_end, colon, (size_t)(end - colon));
	return end - (colon - name_end);
}

/* Where one that frames the answer is folded, a client may read it otherwise;
 * where another one is, that is harmless. */
bool
http_response_take_line(struct http_response *r, struct http_text line)
{
	if (!r->in_fields) {
		if (!is_status_line(line))
			return false;
		note_status(r, line.at);
	} else if (!is_folded(line)) {
		note_field(r, line);
	} else {
		r->folded = true;
		r->odd |= r->framing;
	}
	r->unclean |= http_line_is_unclean(line);
	return true;
}

/* ---- what follows ---- */

enum http_follows
http_response_follows(const struct http_response *r)
{
	if (r->odd || (r->coded && !r->chunked))
		return HTTP_FOLLOWS_ALL;
	if (r->chunked)
		return HTTP_FOLLOWS_CHUNKS;
	if (r->bad_length)
		return HTTP_FOLLOWS_UNKNOWN;
	return r->has_length ? HTTP_FOLLOWS_LENGTH : HTTP_FOLLOWS_ALL;
}

/* A transfer coding in HTTP/1.0 is not to be trusted (RFC 9112, 6.1). */
bool
http_response_is_last(const struct http_response *r)
{
	return r->close || (r->old && (!r->keep || r->coded));
}

/* ---- as it goes on ---- */

bool
http_response_changes(const struct http_response *r)
{
	return r->folded || r->unclean ||
	    (r->coded && (r->has_length || r->bad_length));
}

/* A field that keeps a connection open, which is about to be closed. */
static bool
is_keep_alive(struct http_text line)
{
	struct http_text name, value;

	return http_field_split(line, &name, &value) &&
	    (http_text_is(name, "keep-alive") ||
		(http_text_is(name, "connection") &&
		    http_text_is(value, "keep-alive")));
}

static bool
is_left_out(const struct http_response *r, struct http_text line, bool closes)
{
	struct http_text name, value;

	if (begins_unclean(line))
		return true;
	if (r->coded && http_text_begins(line, "content-length"))
		return http_field_split(line, &name, &value) &&
		    http_text_is(name, "content-length");
	return closes && is_keep_alive(line);
}

static char *
put(char *to, const char *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* Puts a line without its end. A status line is no field: a colon in it is part
 * of its words. */
static char *
put_line(const struct http_response *r, char *to, struct http_text line,
    bool is_field)
{
	if (!r->unclean)
		return put(to, line.at, line.length);
	if (is_field)
		return http_line_clean(to, line);
	return put_with_blanks(to, line);
}

static char *
put_lines(char *to, const char *add, bool closes)
{
	static const char close[] = "Connection: close\r\n";

	if (add != NULL)
		to = put(to, add, strlen(add));
	return closes ? put(to, close, sizeof(close) - 1) : to;
}

/* The end of a line before a folded one goes, so that a blank follows what
 * stands there; one behind the status line is no field (RFC 9112, 2.2). */
size_t
http_response_write(const struct http_response *r, struct http_text section,
    const char *add, bool closes, char *room)
{
	const char *at = section.at, *end = at + section.length;
	char *to = room,
	     *before = NULL; /* the end of a line without its CRLF */

	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		struct http_text line = http_line_of(at, feed);
		bool folded = at > section.at && is_folded(line);

		if (folded && before != NULL)
			to = before;
		if (folded ? before != NULL : !is_left_out(r, line, closes)) {
			before = put_line(r, to, line, at > section.at);
			to = put(before, at + line.length,
			    (size_t)(feed - at) + 1 - line.length);
		} else {
			before = NULL;
		}
		if (at == section.at) {
			to = put_lines(to, add, closes);
			before = NULL;
		}
		at = feed + 1;
	}
	return (size_t)(to - room);
}
