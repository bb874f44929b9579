/* session_requests.c: the lines of a session's requests, where they are logged:
 * each is written when its answer is with its client, or the session ends. What
 * is kept of them until then: proxy/http/http_log.h. */
#include "config.h"

#include <string.h>

#include "net/loop/loop.h"
#include "proxy/http/http_relay.h"
#include "proxy/log/sessionlog.h"
#include "proxy/session/session_private.h"
#include "tls/tls.h"

/* ---- for http_log.h ---- */

static uint64_t
now_us(struct http_logging *l)
{
	struct frontend_core *f =
	    container_of(l, struct frontend_core, logging);

	return loop_now_us(f->loop);
}

static uint64_t
stream_position(const void *owner, bool down)
{
	const struct session *s = owner;
	const struct pipe *p = down ? &s->to_client : &s->to_server;

	return p->bytes + pipe_pending(p);
}

static void
count_lost_line(struct http_logging *l)
{
	struct frontend_core *f =
	    container_of(l, struct frontend_core, logging);

	f->stats->lines_lost.requests++;
}

void
session_requests_init(struct frontend_core *f)
{
	f->logging = (struct http_logging){ .now_us = now_us,
		.position = stream_position,
		.lose = count_lost_line };
}

void
session_requests_begin(struct session *s)
{
	struct http_log *g = &s->more->http_relay->requests.log;

	g->logging = &s->frontend->logging;
	g->owner = s;
}

/* ---- one line ---- */

static struct record_text
text_of(const struct http_logged *e, enum http_log_text which)
{
	struct http_text t = http_logged_text(e, which);

	return (struct record_text){ t.at, t.length };
}

/* The parts of the first line, which are a blank apart. */
static void
session_requests_split_line(
    const struct http_logged *e, struct request_record *q)
{
	const char *at = e->bytes;
	size_t rest = (size_t)e->method + 1 + e->path + 1;

	q->line = text_of(e, HTTP_LOG_LINE);
	if (e->method == 0)
		return;
	q->method = (struct record_text){ at, e->method };
	q->path = (struct record_text){ at + e->method + 1, e->path };
	q->protocol = (struct record_text){ at + rest, q->line.length - rest };
}

/* A request that came first may have waited before it was read. */
static uint64_t
waited_us(const struct session *s, const struct http_logged *e)
{
	const struct session_facts *facts = s->more->facts;

	return e->number == 0 && facts != NULL
	    ? (uint64_t)facts->queue_ms * 1000
	    : 0;
}

static uint64_t
retries_of(const struct session *s, const struct http_logged *e)
{
	const struct session_facts *facts = s->more->facts;

	return e->retries +
	    (e->number == 0 && facts != NULL ? facts->failures_before : 0);
}

static uint64_t
bytes_between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* Of the answer the client has the bytes up to `down`. */
static void
fill_request(const struct session *s, const struct http_logged *e,
    uint64_t down, struct session_record *r, struct request_record *q)
{
	uint64_t waited = waited_us(s, e);
	uint64_t up = e->sent ? e->up_to : stream_position(s, false);

	memset(q, 0, sizeof(*q));
	session_requests_split_line(e, q);
	q->host = text_of(e, HTTP_LOG_HOST);
	q->user_agent = text_of(e, HTTP_LOG_AGENT);
	q->referer = text_of(e, HTTP_LOG_REFERER);
	r->request_id = text_of(e, HTTP_LOG_IDENTITY);
	q->retries = retries_of(s, e);
	q->first_us =
	    e->first_us == 0 ? UINT64_MAX : e->first_us - e->began_us + waited;
	q->total_us = now_us(&s->frontend->logging) - e->began_us + waited;
	q->body =
	    down > e->body_from && e->status != 0 ? down - e->body_from : 0;
	r->up = bytes_between(e->up_from, up);
	r->down =
	    e->first_us != 0 || e->page ? bytes_between(e->down_from, down) : 0;
	r->request = q;
	r->format = s->frontend->request_format;
	if (e->refused) {
		r->server = NULL;
		r->server_at = NULL;
	}
}

/* Why an answer is not complete although its session ended well: the client
 * ended first, or the server did. */
static enum reason
why_cut(const struct session *s, const struct http_logged *e)
{
	if (!e->cut && (s->to_server.ended || e->refused))
		return REASON_CLIENT_RESET;
	return e->first_us != 0 ? REASON_TRUNCATED : REASON_NO_ANSWER;
}

/* What the client has got of an answer counts more than the end. */
static unsigned
session_requests_status_of(
    const struct http_logged *e, uint64_t down, enum reason why)
{
	if (e->status != 0 && down > e->down_from)
		return e->status;
	if (why == REASON_IDLE_TIMEOUT && !e->refused)
		return 504; /* as the page has it */
	return reason_status(why, false);
}

static void
session_requests_write_line(
    struct session *s, struct http_logged *e, enum reason why, uint64_t down)
{
	struct frontend_core *f = s->frontend;
	struct request_record q;
	struct session_line l;
	unsigned status;

	if (!e->answered && !e->endless && reason_status(why, false) < 400)
		why = why_cut(s, e);
	status = session_requests_status_of(e, down, why);
	if (f->httplog == NULL ||
	    !sessionlog_wants_request(
		f->httplog, why, status, loop_now(f->loop)))
		return;
	session_log_fill(
	    &l, s, why, sessionlog_has_tls(f->httplog, f->request_format));
	fill_request(s, e, down, &l.record, &q);
	q.status = status;
	sessionlog_put(f->httplog, &l.record);
}

/* ---- when ---- */

static bool
is_delivered(const struct session *s, const struct http_logged *e)
{
	return e->answered && e->down_to <= s->to_client.bytes;
}

static enum reason
session_requests_reason_of(const struct session *s, const struct http_logged *e)
{
	return e->page ? (enum reason)s->because : REASON_DONE;
}

void
session_requests_answered(struct session *s)
{
	struct http_log *g = &s->more->http_relay->requests.log;

	while (g->first != NULL && is_delivered(s, g->first)) {
		session_requests_write_line(s, g->first,
		    session_requests_reason_of(s, g->first), g->first->down_to);
		http_log_remove(g);
	}
}

void
session_requests_failed(struct session *s)
{
	struct http_relay *h = s->more->http_relay;
	struct session_facts *facts;

	if (h == NULL)
		return;
	if (h->requests.log.first != NULL)
		http_log_failed(&h->requests.log);
	else if (h->requests.count == 0 && (facts = session_facts(s)) != NULL)
		facts->failures_before++;
}

/* ---- answers of our own ---- */

/* What came before it was read as HTTP. */
static void
session_requests_take_raw(struct session *s, struct http_log *raw)
{
	const struct buffer *kept = pipe_kept(&s->to_server);

	raw->logging = &s->frontend->logging;
	raw->owner = s;
	if (kept != NULL && s->frontend->options.http.on)
		http_log_refused(raw, 0,
		    (struct http_text){
			buffer_bytes(kept), buffer_length(kept) });
}

/* A page without a request that was read has a line, too: without a server a
 * client gets it at once. */
static void
session_requests_take_none(
    const struct session *s, struct http_log *g, uint64_t number)
{
	if (s->frontend->options.http.on && http_log_is_on(g) &&
	    http_log_find(g, number) == NULL)
		http_log_refused(g, number, (struct http_text){ "", 0 });
}

void
session_requests_refuse(struct session *s, struct http_log *raw)
{
	struct http_relay *h = s->more->http_relay;

	if (h == NULL) {
		session_requests_take_raw(s, raw);
		session_requests_take_none(s, raw, 0);
	} else if (h->pending.count == 0) {
		http_requests_log_rest(&h->requests);
		session_requests_take_none(
		    s, &h->requests.log, h->requests.count);
	}
}

/* The first one that is not answered, or the one that is refused. */
static uint64_t
answered_number(const struct http_relay *h)
{
	bool whole = h->requests.status != 0 && !h->requests.cut;

	return h->requests.count - (whole ? 0u : h->pending.count);
}

void
session_requests_page(struct session *s, struct http_log *raw, const char *page,
    size_t n, enum reason why)
{
	struct http_relay *h = s->more->http_relay;
	const char *end = strstr(page, "\r\n\r\n");
	size_t head = end != NULL ? (size_t)(end - page) + 4 : n;
	unsigned status = (unsigned)(page[9] - '0') * 100 +
	    (unsigned)(page[10] - '0') * 10 + (unsigned)(page[11] - '0');

	http_log_page(h != NULL ? &h->requests.log : raw,
	    h != NULL ? answered_number(h) : 0, status, head, n - head);
	if (raw->first != NULL)
		session_requests_write_line(
		    s, raw->first, why, raw->first->down_to);
	http_log_fini(raw);
}

/* ---- the end ---- */

/* A client that got no server may have sent its request by now. */
static void
read_unserved(struct session *s)
{
	if ((s->state != CONNECTING && s->state != QUEUED) ||
	    s->more->http_relay->requests.count > 0 || stream_is_open(&s->up))
		return;
	s->down.flags |= STREAM_READABLE;
	(void)session_pump_up(s);
}

void
session_requests_end(struct session *s, enum reason why)
{
	struct http_log raw = { .first = NULL }, *g = &raw;
	struct http_relay *h = s->more->http_relay;

	if (h == NULL) {
		/* what has a line by now is in the pipe no more */
		session_requests_take_raw(s, &raw);
	} else {
		read_unserved(s);
		http_requests_log_rest(&h->requests);
		g = &h->requests.log;
	}
	for (; g->first != NULL; http_log_remove(g))
		if (is_delivered(s, g->first))
			session_requests_write_line(s, g->first,
			    session_requests_reason_of(s, g->first),
			    g->first->down_to);
		else
			session_requests_write_line(
			    s, g->first, why, s->to_client.bytes);
}
