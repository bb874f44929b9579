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

/* ---- for the log of requests ---- */

/* How many bytes have gone on so far. */
static size_t
http_responses_emitted(const struct pass *p)
{
	return p->copied + (p->at - p->run);
}

/* The number of the request that is being answered. */
static uint64_t
http_responses_number(const struct http_responses *r)
{
	return r->requests->count - r->pending->count;
}

static bool
http_responses_are_logged(const struct http_responses *r)
{
	return r->requests->log.first != NULL;
}

/* These are apart, so that what is not logged does not pay for them. */
static __attribute__((noinline)) void
http_responses_log_answer(struct http_responses *r, const struct pass *p)
{
	http_log_answer(&r->requests->log, http_responses_number(r),
	    http_responses_emitted(p));
}

static __attribute__((noinline)) void
http_responses_log_status(
    struct http_responses *r, const struct pass *p, bool endless)
{
	http_log_status(&r->requests->log, http_responses_number(r),
	    r->head.status, endless, http_responses_emitted(p));
}

static __attribute__((noinline)) void
http_responses_log_end(struct http_responses *r, const struct pass *p)
{
	http_log_answered(&r->requests->log, http_responses_number(r),
	    http_responses_emitted(p));
}

/* ---- ends ---- */

/* Passes on nothing from here on, for the reason `why`. */
static bool
nothing_follows(struct http_responses *r, enum http_responses_stage why)
{
	r->stage = why;
	r->pending->closing = true;
	return false;
}

static bool
http_responses_refuse(struct http_responses *r, const char *why)
{
	r->begun = http_responses_are_within(r);
	r->wrong = why;
	return nothing_follows(r, HTTP_RESPONSES_WRONG);
}

static inline bool
response_ends(struct http_responses *r, const struct pass *p)
{
	unsigned kind = r->pending->kind[r->pending->first];

	if (http_responses_are_logged(r))
		http_responses_log_end(r, p);
	http_pending_remove(r->pending);
	r->begun = false;
	if (r->last || r->ending || kind & HTTP_KIND_LAST)
		return nothing_follows(r, HTTP_RESPONSES_OVER);
	r->stage = HTTP_RESPONSES_HEAD;
	return true;
}

/* ---- lines ---- */

/* The next line of the section, or the line, that begins at `at`; no byte is
 * seen twice. False: its end is not here. */
static bool
http_responses_next_line(
    struct http_responses *r, const struct pass *p, struct http_text *line)
{
	const char *start = p->in + p->at;
	size_t n = p->length - p->at;
	const char *feed = memchr(start + r->searched, '\n', n - r->searched);

	if (feed == NULL) {
		r->searched = n;
		return false;
	}
	*line = http_line_of(start + r->line, feed);
	r->line = r->searched = (size_t)(feed - start) + 1;
	return true;
}

/* The lines up to here are taken. */
static void
take_lines(struct http_responses *r, struct pass *p)
{
	p->at += r->line;
	r->line = r->searched = 0;
}

static bool
is_too_long(const struct http_responses *r)
{
	return r->searched > HTTP_RESPONSE_HEAD_MAX;
}

/* A line by itself, which the caller takes or refuses. */
static bool
is_line_here(
    struct http_responses *r, const struct pass *p, struct http_text *line)
{
	bool here = http_responses_next_line(r, p, line);

	return is_too_long(r) ? http_responses_refuse(r, "a long line") : here;
}

/* ---- what comes after it (RFC 9112, 6.3) ---- */

/* BODY with nothing left: there is none. */
static enum http_responses_stage
stage_behind(struct http_responses *r, unsigned kind)
{
	unsigned status = r->head.status;

	if (status == 101)
		return kind & HTTP_KIND_UPGRADE ? HTTP_RESPONSES_TUNNEL
						: HTTP_RESPONSES_WRONG;
	if (status < 200)
		return HTTP_RESPONSES_HEAD;
	if (status < 300 && kind & HTTP_KIND_CONNECT)
		return HTTP_RESPONSES_TUNNEL;
	r->left = 0;
	if (kind & HTTP_KIND_HEAD || status == 204 || status == 304)
		return HTTP_RESPONSES_BODY;
	switch (http_response_follows(&r->head)) {
	case HTTP_FOLLOWS_LENGTH:
		r->left = r->head.length;
		return HTTP_RESPONSES_BODY;
	case HTTP_FOLLOWS_CHUNKS:
		return HTTP_RESPONSES_CHUNK_SIZE;
	case HTTP_FOLLOWS_ALL:
		return HTTP_RESPONSES_CLOSE;
	default:
		return HTTP_RESPONSES_WRONG;
	}
}

/* Whether it is to be marked as the last one, as its client cannot tell that.
 * No request that came by now goes on after the last answer, so that its client
 * can send it again. */
static bool
decide_last(struct http_responses *r, unsigned kind)
{
	bool connect = kind & HTTP_KIND_CONNECT;

	r->last =
	    r->stage == HTTP_RESPONSES_CLOSE || http_response_is_last(&r->head);
	r->ending = r->ends && r->pending->count <= 1 && !connect;
	if (!r->last && !r->ending)
		return false;
	http_requests_end(r->requests);
	r->pending->closing = true;
	return !r->head.close &&
	    (r->ending || r->stage == HTTP_RESPONSES_CLOSE || r->head.keep);
}

static void
pass_head(
    struct http_responses *r, struct pass *p, const char *add, bool closes)
{
	struct http_text section = { p->in + p->at, r->line };

	if (add != NULL || closes || http_response_changes(&r->head)) {
		http_responses_copy_run(p, p->at);
		p->copied += http_response_write(
		    &r->head, section, add, closes, p->room + p->copied);
		p->run += section.length;
	}
	take_lines(r, p);
	r->head.in_fields = false;
}

/* Passes on an interim response (1xx), without an added line: another response
 * follows (RFC 9110, 15.2). */
static bool
on_interim(struct http_responses *r, struct pass *p)
{
	pass_head(r, p, NULL, false);
	r->begun = false;
	return true;
}

static bool
on_tunnel(struct http_responses *r, struct pass *p)
{
	bool final = r->head.status >= 200;

	pass_head(r, p, final ? r->add : NULL, false);
	if (http_responses_are_logged(r))
		http_responses_log_status(r, p, true);
	r->answers += final;
	http_requests_decided(r->requests, true);
	http_pending_remove(r->pending);
	r->begun = false;
	return true;
}

static bool
on_final(struct http_responses *r, struct pass *p, unsigned kind)
{
	bool closes = decide_last(r, kind);

	r->answers++;
	pass_head(r, p, r->add, closes);
	if (http_responses_are_logged(r))
		http_responses_log_status(
		    r, p, r->stage == HTTP_RESPONSES_CLOSE);
	r->add = NULL;
	if (kind & (HTTP_KIND_CONNECT | HTTP_KIND_UPGRADE))
		http_requests_decided(r->requests, false);
	return true;
}

static inline void
http_responses_count(struct http_responses *r, unsigned class)
{
	if (r->classes != NULL)
		r->classes[class]++;
	if (r->of_server != NULL)
		r->of_server[class]++;
}

static bool
on_head_end(struct http_responses *r, struct pass *p)
{
	unsigned kind = r->pending->kind[r->pending->first];
	unsigned class = r->head.status / 100;
	enum http_responses_stage next;

	http_response_end(&r->head,
	    (struct http_text){ p->in + p->at, r->line }, p->room + p->copied);
	next = stage_behind(r, kind);
	if (next == HTTP_RESPONSES_WRONG)
		return http_responses_refuse(r,
		    r->head.status == 101 ? "a switch that was not requested"
					  : "wrong Content-Length");
	r->head.bare = next == HTTP_RESPONSES_HEAD ||
	    next == HTTP_RESPONSES_TUNNEL || r->head.status == 204;
	if (class <= HTTP_CLASSES)
		http_responses_count(r, class - 1);
	if (http_responses_are_logged(r))
		http_responses_log_answer(r, p);
	r->stage = next;
	if (next == HTTP_RESPONSES_HEAD)
		return on_interim(r, p);
	return next == HTTP_RESPONSES_TUNNEL ? on_tunnel(r, p)
					     : on_final(r, p, kind);
}

/* Some servers send empty lines after a body: they go no further. */
static void
skip_empty_line(struct http_responses *r, struct pass *p)
{
	http_responses_copy_run(p, p->at);
	take_lines(r, p);
	p->run = p->at;
}

/* Whether these bytes can still become a status line. If not, they are no HTTP
 * response, and pen need not wait for more of them. */
static bool
may_be_status(const struct http_responses *r, const struct pass *p)
{
	static const char begin[] = "HTTP/1.";
	size_t n = p->length - p->at, most = sizeof(begin) - 1;
	const char *at = p->in + p->at;

	return r->head.in_fields || (n == 1 && *at == '\r') ||
	    memcmp(at, begin, n < most ? n : most) == 0;
}

static bool
http_responses_take_head(struct http_responses *r, struct pass *p)
{
	struct http_text line;

	if (p->at == p->length)
		return false;
	if (r->pending->count == 0)
		return nothing_follows(r, HTTP_RESPONSES_UNASKED);
	r->begun = true;
	while (http_responses_next_line(r, p, &line)) {
		if (line.length == 0 && r->head.in_fields)
			return on_head_end(r, p);
		if (line.length == 0) {
			skip_empty_line(r, p);
			r->begun = p->at < p->length;
		} else if (!http_response_take_line(&r->head, line)) {
			return http_responses_refuse(
			    r, "not an HTTP/1 response");
		}
	}
	if (is_too_long(r))
		return http_responses_refuse(r, "too many bytes of fields");
	return may_be_status(r, p)
	    ? false
	    : http_responses_refuse(r, "not an HTTP/1 response");
}

/* ---- bodies ---- */

static bool
http_responses_take_chunk_size(struct http_responses *r, struct pass *p)
{
	struct http_text line;

	if (!is_line_here(r, p, &line))
		return false;
	if (http_chunk_guess(line, &r->left) < 0)
		return http_responses_refuse(r, "wrong size of a chunk");
	take_lines(r, p);
	r->stage = r->left > 0 ? HTTP_RESPONSES_CHUNK : HTTP_RESPONSES_TRAILERS;
	return true;
}

static bool
http_responses_take_chunk_end(struct http_responses *r, struct pass *p)
{
	struct http_text line;
	size_t n = p->length - p->at;
	const char *at = p->in + p->at;

	if ((n > 0 && at[0] != '\r' && at[0] != '\n') ||
	    (n > 1 && at[0] == '\r' && at[1] != '\n'))
		return http_responses_refuse(r, "no CRLF after a chunk");
	if (!is_line_here(r, p, &line))
		return false;
	take_lines(r, p);
	r->stage = HTTP_RESPONSES_CHUNK_SIZE;
	return true;
}

/* They go on together, as an empty line among those that are left out would end
 * the answer. */
static bool
http_responses_take_trailers(struct http_responses *r, struct pass *p)
{
	struct http_text line, section;
	bool here;

	while (
	    (here = http_responses_next_line(r, p, &line)) && line.length > 0)
		r->rough |= http_line_is_rough(line);
	if (is_too_long(r))
		return http_responses_refuse(r, "too many bytes of trailers");
	if (!here)
		return false;
	if (r->rough) {
		section = (struct http_text){ p->in + p->at, r->line };
		http_responses_copy_run(p, p->at);
		p->copied += http_trailers_write(section, p->room + p->copied);
		p->run += section.length;
		r->rough = false;
	}
	take_lines(r, p);
	return response_ends(r, p);
}

static bool
http_responses_take_stage(struct http_responses *r, struct pass *p)
{
	switch (r->stage) {
	case HTTP_RESPONSES_HEAD:
		return http_responses_take_head(r, p);
	case HTTP_RESPONSES_BODY:
		return http_pass_body(&r->left, &p->at, p->length) &&
		    response_ends(r, p);
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
	case HTTP_RESPONSES_TUNNEL:
	case HTTP_RESPONSES_CLOSE:
		p->at = p->length;
		return false;
	default:
		return false;
	}
}

/* ---- bytes in, bytes out ---- */

/* Takes all that can be taken. What goes on is *out. */
static void
http_responses_take_all(
    struct http_responses *r, struct pass *p, struct http_text *out)
{
	while (http_responses_take_stage(r, p))
		;
	if (p->copied > 0) {
		http_responses_copy_run(p, p->at);
		*out = (struct http_text){ p->room, p->copied };
	} else {
		*out = (struct http_text){ p->in + p->run, p->at - p->run };
	}
	if (r->stage < HTTP_RESPONSES_OVER)
		return;
	r->excess |= p->at < p->length;
	p->at = p->length; /* what comes is thrown away */
	r->line = r->searched = 0;
}

/* Handles the held bytes. The output may be in the memory of the held bytes: it
 * is copied before these are dropped. */
static void
http_responses_take_held(
    struct http_responses *r, char *room, struct http_text *out)
{
	struct pass p = { .in = buffer_bytes(&r->held),
		.length = buffer_length(&r->held),
		.room = room };

	http_responses_take_all(r, &p, out);
	if (out->at != room) {
		memcpy(room, out->at, out->length);
		out->at = room;
	}
	buffer_consume(&r->held, p.at);
}

int
http_responses_take(struct http_responses *r, struct http_text bytes,
    char *room, struct http_text *out)
{
	struct pass p = { .in = bytes.length > 0 ? bytes.at : "",
		.length = bytes.length,
		.room = room };

	if (buffer_length(&r->held) > 0) {
		*out = (struct http_text){ room, 0 };
		if (bytes.length > 0 &&
		    buffer_append(&r->held, bytes.at, bytes.length) < 0)
			return -1;
		http_responses_take_held(r, room, out);
		return 0;
	}
	http_responses_take_all(r, &p, out);
	return p.at == p.length
	    ? 0
	    : buffer_append(&r->held, p.in + p.at, p.length - p.at);
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

bool
http_responses_are_within(const struct http_responses *r)
{
	return r->begun && r->stage != HTTP_RESPONSES_HEAD;
}

void
http_responses_restart(struct http_responses *r)
{
	r->stage = HTTP_RESPONSES_HEAD;
	r->begun = r->excess = r->head.in_fields = r->rough = false;
	r->line = r->searched = 0;
	buffer_consume(&r->held, buffer_length(&r->held));
}

void
http_responses_fini(struct http_responses *r)
{
	buffer_fini(&r->held);
}
