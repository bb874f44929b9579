/* http_response.c: see http_response.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
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
	r->repeated |= r->has_length || memchr(value.at, ',', value.length);
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

/* Only what begins like one of these is looked at. One that frames the answer
 * and is no field may be read otherwise by the client. */
static void
note_field(struct http_response *r, struct http_text line)
{
	struct http_text name, value;

	if (line.length == 0 ||
	    ((line.at[0] | 0x20) != 'c' && (line.at[0] | 0x20) != 't'))
		return;
	if (!http_text_begins(line, "con") &&
	    !http_text_begins(line, "transfer-encoding"))
		return;
	if (!http_field_split(line, &name, &value))
		r->odd |= http_text_begins(line, "content-length") ||
		    http_text_begins(line, "transfer-encoding") ||
		    http_text_begins(line, "connection:");
	else if (http_text_is(name, "content-length"))
		note_length(r, value);
	else if (http_text_is(name, "transfer-encoding"))
		note_coding(r, value);
	else if (http_text_is(name, "connection"))
		note_connection(r, value);
}

/* ---- lines that do not go on as they came ---- */

static bool
http_response_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_no_text(char c)
{
	return c == '\r' || c == '\0';
}

bool
http_line_is_rough(struct http_text line)
{
	const char *colon = memchr(line.at, ':', line.length);

	return (line.length > 0 && http_response_is_blank(line.at[0])) ||
	    (colon != NULL && colon > line.at &&
		http_response_is_blank(colon[-1])) ||
	    memchr(line.at, '\r', line.length) != NULL ||
	    memchr(line.at, '\0', line.length) != NULL;
}

static char *
put(char *to, const char *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static void
make_blank(char *line, size_t n, char what)
{
	char *at = line, *end = line + n;

	while ((at = memchr(at, what, (size_t)(end - at))) != NULL)
		*at++ = ' ';
}

/* Moves the next line from the section to `to`, without its end, which is
 * *ends. Returns the end of what was written. */
static char *
move_line(char *to, struct http_text *section, struct http_text *ends)
{
	const char *at = section->at;
	const char *feed = memchr(at, '\n', section->length);
	struct http_text line = http_line_of(at, feed);

	memcpy(to, at, line.length);
	make_blank(to, line.length, '\r');
	make_blank(to, line.length, '\0');
	section->at = feed + 1;
	section->length -= (size_t)(feed + 1 - at);
	ends->at = at + line.length;
	ends->length = (size_t)(feed + 1 - ends->at);
	return to + line.length;
}

static char *
without_blanks_before_colon(char *line, char *end)
{
	char *colon = memchr(line, ':', (size_t)(end - line)), *name_end;

	if (colon == NULL)
		return end;
	name_end = colon;
	while (name_end > line && http_response_is_blank(name_end[-1]))
		name_end--;
	memmove(name_end, colon, (size_t)(end - colon));
	return end - (colon - name_end);
}

/* Takes a field off the section, with the folded lines behind it, and writes it
 * as it goes on, without its end, which is *ends. It is empty when it is left
 * out, and at the end of the section. */
static struct http_text
take_field(char *to, struct http_text *section, struct http_text *ends)
{
	char first = section->at[0], *end = to;
	bool empty = first == '\n' ||
	    (first == '\r' && section->length > 1 && section->at[1] == '\n');

	do
		end = move_line(end, section, ends);
	while (!empty && section->length > 0 &&
	    http_response_is_blank(section->at[0]));
	if (empty || http_response_is_blank(first) || is_no_text(first))
		return (struct http_text){ to, 0 };
	end = without_blanks_before_colon(to, end);
	return (struct http_text){ to, (size_t)(end - to) };
}

bool
http_response_take_line(struct http_response *r, struct http_text line)
{
	if (!r->in_fields) {
		if (!is_status_line(line))
			return false;
		note_status(r, line.at);
		r->rough = memchr(line.at, '\r', line.length) != NULL ||
		    memchr(line.at, '\0', line.length) != NULL;
		return true;
	}
	r->rough |= http_line_is_rough(line);
	if (!r->rough)
		note_field(r, line);
	return true;
}

void
http_response_end(struct http_response *r, struct http_text section, char *room)
{
	struct http_text ends;

	if (!r->rough)
		return;
	(void)move_line(room, &section, &ends);
	note_status(r, room);
	r->rough = true;
	while (section.length > 0)
		note_field(r, take_field(room, &section, &ends));
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

static bool
are_lengths_left_out(const struct http_response *r)
{
	return r->bad_length ||
	    (r->has_length &&
		(r->coded || r->repeated || (r->bare && r->length > 0)));
}

static bool
are_codings_left_out(const struct http_response *r)
{
	return r->bare && r->coded;
}

bool
http_response_changes(const struct http_response *r)
{
	return r->rough || are_lengths_left_out(r) || are_codings_left_out(r);
}

/* A field that keeps a connection open, which is about to be closed. */
static bool
is_keep_alive(struct http_text name, struct http_text value)
{
	return http_text_is(name, "keep-alive") ||
	    (http_text_is(name, "connection") &&
		http_text_is(value, "keep-alive"));
}

static bool
is_left_out(const struct http_response *r, struct http_text line, bool closes)
{
	struct http_text name, value;

	if (!http_field_split(line, &name, &value))
		return false;
	return (are_lengths_left_out(r) &&
		   http_text_is(name, "content-length")) ||
	    (are_codings_left_out(r) &&
		http_text_is(name, "transfer-encoding")) ||
	    (closes && is_keep_alive(name, value));
}

/* With `r` the fields of a header section, else trailers. */
static char *
put_fields(const struct http_response *r, char *to, struct http_text section,
    bool closes)
{
	struct http_text line, ends;

	while (section.length > 0) {
		line = take_field(to, &section, &ends);
		if (section.length > 0 &&
		    (line.length == 0 ||
			(r != NULL && is_left_out(r, line, closes))))
			continue;
		to = put(to + line.length, ends.at, ends.length);
	}
	return to;
}

static char *
put_lines(const struct http_response *r, char *to, const char *add, bool closes)
{
	static const char close[] = "Connection: close\r\n";

	if (add != NULL)
		to = put(to, add, strlen(add));
	if (closes)
		to = put(to, close, sizeof(close) - 1);
	if (r->repeated && !r->coded && !r->bad_length && !r->bare)
		to += sprintf(to, "Content-Length: %" PRIu64 "\r\n", r->length);
	return to;
}

size_t
http_response_write(const struct http_response *r, struct http_text section,
    const char *add, bool closes, char *room)
{
	struct http_text ends;
	char *to = move_line(room, &section, &ends);

	to = put(to, ends.at, ends.length);
	to = put_lines(r, to, add, closes);
	return (size_t)(put_fields(r, to, section, closes) - room);
}

size_t
http_trailers_write(struct http_text section, char *room)
{
	return (size_t)(put_fields(NULL, room, section, false) - room);
}
