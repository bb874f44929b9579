/* http_requests.c: see http_requests.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy/http/http_chunk.h"
#include "proxy/http/http_requests.h"

/* ---- requests without an answer ---- */

void
http_pending_add(struct http_pending *p, unsigned kind)
{
	p->kind[(p->first + p->count) % HTTP_PENDING_MAX] = (uint8_t)kind;
	p->count++;
}

void
http_pending_remove(struct http_pending *p)
{
	p->first = (p->first + 1) % HTTP_PENDING_MAX;
	p->count--;
}

/* ---- what goes on ---- */

/* One call: `in` is taken up to `at`; what goes on of it is copied to `room`,
 * or a run of it that has not been copied yet. */
struct pass {
	const char *in;
	size_t length, at;
	size_t run; /* since here */
	char *room;
	size_t copied;
};

/* The bytes up to `end` go on. */
static void
http_requests_copy_run(struct pass *p, size_t end)
{
	if (end > p->run)
		memcpy(p->room + p->copied, p->in + p->run, end - p->run);
	p->copied += end - p->run;
	p->run = end;
}

static void
skip_to(struct pass *p, size_t start)
{
	p->run = start;
}

/* How many bytes have gone on so far. */
static size_t
http_requests_emitted(const struct pass *p)
{
	return p->copied + (p->at - p->run);
}

/* ---- stages; each returns whether to go on ---- */

static bool
http_requests_refuse(struct http_requests *r, unsigned status, const char *why)
{
	r->cut = r->stage != HTTP_REQUESTS_HEAD;
	r->stage = HTTP_REQUESTS_REFUSED;
	r->status = status;
	r->wrong = why;
	return false;
}

/* These are apart, so that what is not logged does not pay for them. */
static __attribute__((noinline)) void
http_requests_log_head(
    struct http_requests *r, const struct pass *p, size_t start)
{
	if (r->identity != NULL)
		r->log.identity = (struct http_text){ r->identity->text,
			r->identity->length };
	http_log_request(&r->log, r->count,
	    (struct http_text){ p->in + start, r->head.length },
	    http_requests_emitted(p));
}

static __attribute__((noinline)) void
http_requests_log_sent(struct http_requests *r, const struct pass *p)
{
	http_log_sent(&r->log, r->count - 1, http_requests_emitted(p));
}

static __attribute__((noinline)) void
http_requests_identify(
    struct http_requests *r, const struct pass *p, size_t start)
{
	http_identity_find(
	    r->identity, (struct http_text){ p->in + start, r->head.length });
}

/* Refuses a header section that begins here. */
static __attribute__((noinline)) bool
refuse_head(struct http_requests *r, const struct pass *p, unsigned status,
    const char *why)
{
	if (http_log_is_on(&r->log))
		http_log_refused(&r->log, r->count,
		    (struct http_text){ p->in + p->at, p->length - p->at });
	return http_requests_refuse(r, status, why);
}

static bool
is_dropped(const struct http_requests *r, struct http_text line, unsigned drop)
{
	return http_line_is(line) & drop ||
	    (r->identity != NULL && r->identity->drops &&
		http_identity_is_line(r->identity, line));
}

/* The lines of the section that is at `start` go on, but those that go. */
static void
pass_lines(struct http_requests *r, struct pass *p, size_t start, unsigned drop)
{
	size_t at = start + r->head.skipped;
	size_t end = start + r->head.length - 2;

	while (at < end) {
		const char *line = p->in + at;
		const char *feed = memchr(line, '\n', end - at);
		size_t n = (size_t)(feed - line) + 1;

		if (is_dropped(r, (struct http_text){ line, n - 2 }, drop)) {
			http_requests_copy_run(p, at);
			skip_to(p, at + n);
		}
		at += n;
	}
	http_requests_copy_run(p, end);
}

static void
pass_head(struct http_requests *r, struct pass *p, size_t start)
{
	const struct http_adding *a = r->adding;
	const struct http_head *h = &r->head;
	unsigned drop = a->drop | HTTP_SEEN_NO_UPGRADE;
	size_t known =
	    a->keep_proto && h->seen & HTTP_SEEN_PROTO ? a->proto_length : 0;

	if (h->skipped > 0) {
		http_requests_copy_run(p, start);
		skip_to(p, start + h->skipped);
	}
	if (h->seen & drop || (r->identity != NULL && r->identity->drops))
		pass_lines(r, p, start, drop);
	else
		http_requests_copy_run(p, start + h->length - 2);
	memcpy(p->room + p->copied, a->bytes + known, a->length - known);
	p->copied += a->length - known;
	if (r->identity != NULL)
		p->copied +=
		    http_identity_line(r->identity, p->room + p->copied);
}

static void
request_ends(struct http_requests *r)
{
	r->stage = r->switched ? HTTP_REQUESTS_TUNNEL
	    : r->undecided     ? HTTP_REQUESTS_ANSWER
	    : r->last	       ? HTTP_REQUESTS_OVER
			       : HTTP_REQUESTS_HEAD;
	memset(&r->head, 0, sizeof(r->head));
}

/* The whole request was passed on. */
static inline void
request_is_sent(struct http_requests *r, const struct pass *p)
{
	if (r->log.first != NULL)
		http_requests_log_sent(r, p);
	request_ends(r);
}

/* A request begins: notes what its answer and a retry depend on. It cannot be
 * sent again with the rest of an earlier body in front, whose request was
 * answered already: the server would take that rest for a request. */
static void
on_head(struct http_requests *r, const struct pass *p, bool first)
{
	const struct http_head *h = &r->head;

	r->repeatable = h->kind & HTTP_KIND_REPEATABLE &&
	    (r->repeatable || (r->pending->count == 0 && first));
	r->last = h->kind & HTTP_KIND_LAST;
	http_pending_add(r->pending, h->kind);
	r->count++;
	r->undecided = h->kind & (HTTP_KIND_CONNECT | HTTP_KIND_UPGRADE);
	r->left = h->body;
	if (h->chunked)
		r->stage = HTTP_REQUESTS_CHUNK_SIZE;
	else if (h->body > 0)
		r->stage = HTTP_REQUESTS_BODY;
	else
		request_is_sent(r, p);
}

/* Whether the header section is complete; one that is wrong is refused. */
static bool
read_head(struct http_requests *r, const struct pass *p)
{
	switch (http_head_take(&r->head, p->in + p->at, p->length - p->at)) {
	case HTTP_HEAD_DONE:
		return true;
	case HTTP_HEAD_WRONG:
		if (r->stage == HTTP_REQUESTS_HEAD)
			return refuse_head(r, p, r->head.status, r->head.wrong);
		return http_requests_refuse(r, r->head.status, r->head.wrong);
	default:
		return false;
	}
}

static bool
take_head(struct http_requests *r, struct pass *p)
{
	size_t start = p->at;

	if (p->at == p->length || r->pending->closing ||
	    r->pending->count == HTTP_PENDING_MAX)
		return false;
	if (!read_head(r, p))
		return false;
	if (r->head.kind & HTTP_KIND_CONNECT && !r->adding->connect)
		return refuse_head(r, p, 501, "CONNECT");
	if (r->identity != NULL)
		http_requests_identify(r, p, start);
	if (http_log_is_on(&r->log))
		http_requests_log_head(r, p, start);
	pass_head(r, p, start);
	p->at = start + r->head.length;
	on_head(r, p, start == 0);
	return true;
}

static bool
http_requests_take_trailers(struct http_requests *r, struct pass *p)
{
	r->head.trailers = true;
	if (!read_head(r, p))
		return false;
	if (r->identity != NULL &&
	    http_identity_is_in(r->identity,
		(struct http_text){ p->in + p->at, r->head.length }))
		return http_requests_refuse(
		    r, 400, "a trailer that may not be one");
	p->at += r->head.length;
	request_is_sent(r, p);
	return true;
}

static bool
http_requests_take_chunk_size(struct http_requests *r, struct pass *p)
{
	const char *line = p->in + p->at;
	size_t n = p->length - p->at;
	const char *feed = n > 0 ? memchr(line, '\n', n) : NULL;
	size_t length = feed != NULL ? (size_t)(feed - line) + 1 : n;

	if (length > HTTP_CHUNK_LINE_MAX)
		return http_requests_refuse(
		    r, 400, "a long line before a chunk");
	if (feed == NULL)
		return false;
	if (length < 2 || feed[-1] != '\r' ||
	    http_chunk_parse((struct http_text){ line, length - 2 }, &r->left) <
		0)
		return http_requests_refuse(r, 400, "wrong size of a chunk");
	p->at += length;
	if (r->left == 0)
		memset(&r->head, 0, sizeof(r->head));
	r->stage = r->left > 0 ? HTTP_REQUESTS_CHUNK : HTTP_REQUESTS_TRAILERS;
	return true;
}

static bool
http_requests_take_chunk_end(struct http_requests *r, struct pass *p)
{
	size_t n = p->length - p->at;

	if ((n > 0 && p->in[p->at] != '\r') ||
	    (n > 1 && p->in[p->at + 1] != '\n'))
		return http_requests_refuse(r, 400, "no CRLF after a chunk");
	if (n < 2)
		return false;
	p->at += 2;
	r->stage = HTTP_REQUESTS_CHUNK_SIZE;
	return true;
}

static bool
http_requests_take_stage(struct http_requests *r, struct pass *p)
{
	switch (r->stage) {
	case HTTP_REQUESTS_HEAD:
		return take_head(r, p);
	case HTTP_REQUESTS_BODY:
		if (!http_pass_body(&r->left, &p->at, p->length))
			return false;
		request_is_sent(r, p);
		return true;
	case HTTP_REQUESTS_CHUNK_SIZE:
		return http_requests_take_chunk_size(r, p);
	case HTTP_REQUESTS_CHUNK:
		if (!http_pass_body(&r->left, &p->at, p->length))
			return false;
		r->stage = HTTP_REQUESTS_CHUNK_END;
		return true;
	case HTTP_REQUESTS_CHUNK_END:
		return http_requests_take_chunk_end(r, p);
	case HTTP_REQUESTS_TRAILERS:
		return http_requests_take_trailers(r, p);
	case HTTP_REQUESTS_TUNNEL:
		p->at = p->length;
		return false;
	default:
		return false;
	}
}

/* ---- bytes in, bytes out ---- */

/* Takes all that can be taken. What goes on is *out. */
static void
take_all(struct http_requests *r, struct pass *p, struct http_text *out)
{
	while (http_requests_take_stage(r, p))
		;
	if (p->copied > 0) {
		http_requests_copy_run(p, p->at);
		*out = (struct http_text){ p->room, p->copied };
	} else {
		*out = (struct http_text){ p->in + p->run, p->at - p->run };
	}
	if (r->stage == HTTP_REQUESTS_REFUSED || r->stage == HTTP_REQUESTS_OVER)
		p->at = p->length; /* what comes is thrown away */
}

/* Handles the held bytes. The output may be in the memory of the held bytes: it
 * is copied before these are dropped. */
static void
take_held(struct http_requests *r, char *room, struct http_text *out)
{
	struct pass p = { .in = buffer_bytes(&r->held),
		.length = buffer_length(&r->held),
		.room = room };

	take_all(r, &p, out);
	if (out->at != room) {
		memcpy(room, out->at, out->length);
		out->at = room;
	}
	buffer_consume(&r->held, p.at);
}

int
http_requests_take(struct http_requests *r, struct http_text bytes, char *room,
    struct http_text *out)
{
	struct pass p = { .in = bytes.length > 0 ? bytes.at : "",
		.length = bytes.length,
		.room = room };

	*out = (struct http_text){ room, 0 };
	if (buffer_length(&r->held) > 0) {
		if (bytes.length > 0 &&
		    buffer_append(&r->held, bytes.at, bytes.length) < 0)
			return -1;
		take_held(r, room, out);
		return 0;
	}
	take_all(r, &p, out);
	return p.at == p.length
	    ? 0
	    : buffer_append(&r->held, p.in + p.at, p.length - p.at);
}

void
http_requests_fini(struct http_requests *r)
{
	buffer_fini(&r->held);
	http_log_fini(&r->log);
	free(r->identity);
}

bool
http_requests_wait(const struct http_requests *r)
{
	if (buffer_length(&r->held) == 0)
		return false;
	return r->stage == HTTP_REQUESTS_ANSWER ||
	    (r->stage == HTTP_REQUESTS_HEAD &&
		(r->pending->closing || r->pending->count == HTTP_PENDING_MAX));
}

uint64_t
http_requests_clear(const struct http_requests *r)
{
	if (buffer_length(&r->held) > 0)
		return 0;
	switch (r->stage) {
	case HTTP_REQUESTS_TUNNEL:
		return UINT64_MAX;
	case HTTP_REQUESTS_BODY:
	case HTTP_REQUESTS_CHUNK:
		return r->left;
	default:
		return 0;
	}
}

bool
http_requests_have_begun(const struct http_requests *r)
{
	return buffer_length(&r->held) >
	    (r->stage == HTTP_REQUESTS_HEAD ? r->head.skipped : 0);
}

bool
http_requests_are_idle(const struct http_requests *r)
{
	return (r->stage == HTTP_REQUESTS_HEAD ||
		   r->stage == HTTP_REQUESTS_OVER) &&
	    !http_requests_have_begun(r);
}

void
http_requests_log_rest(struct http_requests *r)
{
	struct http_text held = { buffer_bytes(&r->held),
		buffer_length(&r->held) };

	if (!http_log_is_on(&r->log) || r->stage != HTTP_REQUESTS_HEAD ||
	    !http_requests_have_begun(r) || http_requests_wait(r))
		return;
	http_log_refused(&r->log, r->count, held);
	buffer_consume(&r->held, held.length);
}

void
http_requests_end(struct http_requests *r)
{
	r->last = true;
	if (r->stage != HTTP_REQUESTS_HEAD &&
	    (r->stage != HTTP_REQUESTS_REFUSED || r->cut))
		return;
	if (r->log.first != NULL)
		http_log_withdraw(&r->log, r->count);
	r->stage = HTTP_REQUESTS_OVER;
	r->status = 0;
	buffer_consume(&r->held, buffer_length(&r->held));
}

void
http_requests_decided(struct http_requests *r, bool switched)
{
	r->undecided = false;
	r->switched = switched;
	if (r->stage == HTTP_REQUESTS_ANSWER)
		request_ends(r);
}

/* ---- fields with the client address ---- */

/* An address without the interface it is valid on, which means nothing to
 * others. */
static void
format_client(const struct peer *client, char text[PEER_TEXT_MAX])
{
	if (client->family == AF_UNIX || client->family == 0) {
		strcpy(text, "unknown");
		return;
	}
	peer_format_host(client, text);
	text[strcspn(text, "%")] = '\0';
}

size_t
http_forwarded_lines(char lines[HTTP_ADDED_MAX], const struct peer *client,
    bool tls, bool standard, size_t *proto)
{
	const char *scheme = tls ? "https" : "http";
	char who[PEER_TEXT_MAX];
	bool quoted;
	size_t n;

	format_client(client, who);
	quoted = strchr(who, ':') != NULL; /* RFC 7239, 6 */
	*proto = (size_t)snprintf(
	    lines, HTTP_ADDED_MAX, "X-Forwarded-Proto: %s\r\n", scheme);
	n = *proto + (size_t)snprintf(lines + *proto, HTTP_ADDED_MAX - *proto,
			 "X-Forwarded-For: %s\r\n", who);
	if (standard)
		n += (size_t)snprintf(lines + n, HTTP_ADDED_MAX - n,
		    "Forwarded: for=%s%s%s;proto=%s\r\n", quoted ? "\"[" : "",
		    who, quoted ? "]\"" : "", scheme);
	return n;
}
