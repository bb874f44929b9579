/* http_responses.c: see http_responses.h. */
#include "config.h"

#include <string.h>

#include "proxy/http/http_chunk.h"
#include "proxy/http/http_responses.h"

/* Bytes of one call, taken up to `at`. */
struct pass {
	const char *in;
	size_t length, at;
	size_t run; /* since here nothing was copied to `room` yet */
	char *room;
	size_t copied;
};

/* The bytes up to `end` go on. */
static void
http_responses_copy_run(struct pass *p, size_t end)
{
	memcpy(p->room + p->copied, p->in + p->run, end - p->run);
	p->copied += end - p->run;
	p->run = end;
}

/* Adds a line after what was taken. */
static void
http_responses_add(struct pass *p, const char *line)
{
	size_t n = strlen(line);

	http_responses_copy_run(p, p->at);
	memcpy(p->room + p->copied, line, n);
	p->copied += n;
}

/* ---- lines ---- */

/* Takes a line, without its end. Where it was split, or is not complete, its
 * beginning is kept; of a long one no more is read, wherever it was split.
 * Returns whether it is complete. */
static bool
http_responses_take_line(
    struct http_responses *r, struct pass *p, struct http_text *line)
{
	const char *at = p->in + p->at;
	size_t n = p->length - p->at;
	const char *feed = n > 0 ? memchr(at, '\n', n) : NULL;
	size_t length = feed != NULL ? (size_t)(feed - at) : n;
	size_t room = sizeof(r->line) - r->line_length;

	p->at += length + (feed != NULL);
	r->head_length += length + 1;
	*line = (struct http_text){ at, length };
	if (feed == NULL || r->line_length > 0) {
		memcpy(r->line + r->line_length, at,
		    length < room ? length : room);
		r->line_length += length < room ? length : room;
		*line = (struct http_text){ r->line, r->line_length };
	}
	if (feed == NULL)
		return false;
	r->line_length = 0;
	r->cut = line->length >= sizeof(r->line);
	if (r->cut)
		line->length = sizeof(r->line);
	if (line->length > 0 && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

/* ---- the end of an answer ---- */

static bool
until_close(struct http_responses *r)
{
	r->stage = HTTP_RESPONSES_CLOSE;
	r->pending->closing = true;
	return false;
}

static bool
response_ends(struct http_responses *r)
{
	http_pending_remove(r->pending);
	r->pending->closing = r->last || r->ending;
	r->begun = false;
	r->stage = HTTP_RESPONSES_STATUS;
	return true;
}

static bool
tunnel_begins(struct http_responses *r)
{
	http_requests_decided(r->requests, true);
	http_pending_remove(r->pending);
	r->begun = false;
	r->stage = HTTP_RESPONSES_TUNNEL;
	return true;
}

/* ---- status and fields ---- */

static bool
http_responses_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* No request that came by now is passed on after the last answer, so that its
 * client can send it again. */
static void
add_lines(struct http_responses *r, struct pass *p)
{
	if (r->add != NULL)
		http_responses_add(p, r->add);
	r->add = NULL;
	if (!r->ends || r->pending->count > 1 ||
	    r->pending->kind[r->pending->first] & HTTP_KIND_CONNECT)
		return;
	r->ending = true;
	http_requests_end(r->requests);
	http_responses_add(p, "Connection: close\r\n");
}

/* HTTP/1.1 200 OK (RFC 9112, 4); OK may be missing. */
static bool
take_status(struct http_responses *r, struct pass *p)
{
	struct http_text line;
	const char *l;
	unsigned class;

	if (p->at == p->length)
		return false;
	if (r->pending->count == 0) /* an answer without a request */
		return until_close(r);
	r->begun = true;
	r->head_length = r->line_length;
	if (!http_responses_take_line(r, p, &line))
		return false;
	l = line.at;
	if (line.length < 12 || memcmp(l, "HTTP/1.", 7) != 0 ||
	    !http_responses_is_digit(l[7]) || l[8] != ' ' ||
	    !http_responses_is_digit(l[9]) || !http_responses_is_digit(l[10]) ||
	    !http_responses_is_digit(l[11]) ||
	    (line.length > 12 && l[12] != ' '))
		return until_close(r);
	r->status = (unsigned)(l[9] - '0') * 100 +
	    (unsigned)(l[10] - '0') * 10 + (unsigned)(l[11] - '0');
	class = r->status / 100;
	if (r->classes != NULL && class >= 1 && class <= HTTP_CLASSES)
		r->classes[class - 1]++;
	r->chunked = r->has_length = r->odd = false;
	r->last = l[7] == '0';
	r->left = 0;
	r->stage = HTTP_RESPONSES_FIELDS;
	if (r->status >= 200) {
		r->answers++;
		add_lines(r, p);
	}
	return true;
}

/* What the server means to do; of HTTP/1.0 it may mean to go on. */
static void
note_connection(struct http_responses *r, struct http_text value)
{
	struct http_text option;

	while (http_list_next(&value, &option))
		if (http_text_is(option, "close"))
			r->last = true;
		else if (http_text_is(option, "keep-alive"))
			r->last = false;
}

static void
note_field(struct http_responses *r, struct http_text line)
{
	struct http_text name, value;

	if (!http_text_begins(line, "con") &&
	    !http_text_begins(line, "transfer-encoding"))
		return;
	if (r->cut || !http_field_split(line, &name, &value)) {
		r->odd |= http_text_begins(line, "content-length") ||
		    http_text_begins(line, "transfer-encoding") ||
		    http_text_begins(line, "connection:");
	} else if (http_text_is(name, "content-length")) {
		uint64_t length;

		r->odd |= http_length_parse(value, &length) < 0 ||
		    (r->has_length && length != r->left);
		r->has_length = true;
		if (!r->odd)
			r->left = length;
	} else if (http_text_is(name, "transfer-encoding")) {
		r->odd |= r->chunked || !http_text_is(value, "chunked");
		r->chunked = true;
	} else if (http_text_is(name, "connection")) {
		note_connection(r, value);
	}
}

/* What comes after the fields (RFC 9112, 6.3). */
static bool
on_fields_end(struct http_responses *r)
{
	unsigned kind = r->pending->kind[r->pending->first];
	bool good = r->status >= 200 && r->status < 300;

	if (r->status == 101 && kind & HTTP_KIND_UPGRADE)
		return tunnel_begins(r);
	if (r->status == 101)
		return until_close(r);
	if (r->status < 200) {
		r->begun = false;
		r->stage = HTTP_RESPONSES_STATUS;
		return true;
	}
	if (good && kind & HTTP_KIND_CONNECT)
		return tunnel_begins(r);
	if (kind & (HTTP_KIND_CONNECT | HTTP_KIND_UPGRADE))
		http_requests_decided(r->requests, false);
	if (kind & HTTP_KIND_HEAD || r->status == 204 || r->status == 304)
		return response_ends(r);
	if (r->odd || (r->chunked && r->has_length) ||
	    (!r->chunked && !r->has_length))
		return until_close(r);
	if (!r->chunked && r->left == 0)
		return response_ends(r);
	r->stage = r->chunked ? HTTP_RESPONSES_CHUNK_SIZE : HTTP_RESPONSES_BODY;
	return true;
}

/* The server's fields about a connection that we are about to end. */
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
take_fields(struct http_responses *r, struct pass *p)
{
	bool split = r->line_length > 0;
	size_t start = p->at;
	struct http_text line;

	if (!http_responses_take_line(r, p, &line))
		return r->head_length > HTTP_RESPONSE_HEAD_MAX ? until_close(r)
							       : false;
	if (line.length == 0)
		return on_fields_end(r);
	if (line.at[0] == ' ' || line.at[0] == '\t')
		r->odd = true; /* folded: of what, is not known any more */
	note_field(r, line);
	if (r->ending && !split && is_keep_alive(line)) {
		http_responses_copy_run(p, start);
		p->run = p->at;
	}
	return true;
}

/* ---- bodies ---- */

/* Some servers fill up the size with blanks. */
static bool
http_responses_take_chunk_size(struct http_responses *r, struct pass *p)
{
	struct http_text line;

	if (!http_responses_take_line(r, p, &line))
		return false;
	while (line.length > 0 && line.at[line.length - 1] == ' ')
		line.length--;
	if (http_chunk_parse(line, &r->left) < 0)
		return until_close(r);
	r->stage = r->left > 0 ? HTTP_RESPONSES_CHUNK : HTTP_RESPONSES_TRAILERS;
	return true;
}

static bool
http_responses_take_chunk_end(struct http_responses *r, struct pass *p)
{
	struct http_text line;

	if (!http_responses_take_line(r, p, &line))
		return false;
	if (line.length > 0)
		return until_close(r);
	r->stage = HTTP_RESPONSES_CHUNK_SIZE;
	return true;
}

static bool
http_responses_take_trailers(struct http_responses *r, struct pass *p)
{
	struct http_text line;

	if (!http_responses_take_line(r, p, &line))
		return false;
	return line.length > 0 || response_ends(r);
}

static bool
http_responses_take_stage(struct http_responses *r, struct pass *p)
{
	switch (r->stage) {
	case HTTP_RESPONSES_STATUS:
		return take_status(r, p);
	case HTTP_RESPONSES_FIELDS:
		return take_fields(r, p);
	case HTTP_RESPONSES_BODY:
		return http_pass_body(&r->left, &p->at, p->length) &&
		    response_ends(r);
	case HTTP_RESPONSES_CHUNK_SIZE:
		return http_responses_take_chunk_size(r, p);
	case HTTP_RESPONSES_CHUNK:
		if (!http_pass_body(&r->left, &p->at, p->length))
			return false;
		r->stage = HTTP_RESPONSES_CHUNK_END;
		return true;
	case HTTP_RESPONSES_CHUNK_END:
		return http_responses_take_chunk_end(r, p);
	case HTTP_RESPONSES_TRAILERS:
		return http_responses_take_trailers(r, p);
	default:
		return false;
	}
}

void
http_responses_take(struct http_responses *r, struct http_text bytes,
    char *room, struct http_text *out)
{
	struct pass p = { .in = bytes.length > 0 ? bytes.at : "",
		.length = bytes.length,
		.room = room };

	while (http_responses_take_stage(r, &p))
		;
	*out = bytes;
	if (p.run == 0 && p.copied == 0)
		return;
	http_responses_copy_run(&p, p.length);
	*out = (struct http_text){ room, p.copied };
}

uint64_t
http_responses_clear(const struct http_responses *r)
{
	switch (r->stage) {
	case HTTP_RESPONSES_TUNNEL:
	case HTTP_RESPONSES_CLOSE:
		return UINT64_MAX;
	case HTTP_RESPONSES_BODY:
	case HTTP_RESPONSES_CHUNK:
		return r->left;
	default:
		return 0;
	}
}
