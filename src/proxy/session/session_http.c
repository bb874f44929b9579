/* session_http.c: HTTP in a session: the filters of its pipes, and the pages
 * that pen answers by itself: for requests that are refused, and for clients
 * without an available server. A session with such a page lets its server go
 * and drains. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "pool/acl/acl.h"
#include "proxy/http/http_requests.h"
#include "proxy/http/http_page.h"
#include "proxy/http/http_redirect.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* ---- the filters ---- */

static bool
is_trusted(const struct session *s, int forwarded)
{
	return forwarded == HTTP_FORWARDED_APPEND ||
	    (forwarded >= 0 &&
		acl_permits(pool_acl(s->frontend->pool, (unsigned)forwarded),
		    &s->client));
}

/* What clients send about the protocol is used only from trusted proxies, which
 * have a list of their own. */
static void
prepare_lines(const struct session *s, struct http_relay *h)
{
	const struct http_options *o = &s->frontend->options.http;
	struct http_adding *a = &h->adding;

	a->connect = o->connect;
	a->bytes = h->added;
	a->length = http_forwarded_lines(h->added, &s->client,
	    session_client_has_tls(s), o->standard, &a->proto_length);
	a->keep_proto = o->forwarded >= 0 && is_trusted(s, o->forwarded);
	if (!a->keep_proto)
		a->drop |= HTTP_SEEN_PROTO;
	if (!is_trusted(s, o->forwarded))
		a->drop |= HTTP_SEEN_FOR | HTTP_SEEN_FORWARDED;
}

/* Only a proxy of the list names requests. Returns false when memory is
 * short. */
static bool
prepare_identity(const struct session *s, struct http_relay *h)
{
	struct frontend_core *f = s->frontend;
	struct http_identity *id;

	if (f->identities.length == 0)
		return true;
	id = calloc(1, sizeof(*id));
	if (id == NULL)
		return false;
	id->all = &f->identities;
	id->trusted = h->adding.keep_proto;
	h->requests.identity = id;
	return true;
}

bool
session_http_begin(struct session *s)
{
	struct frontend_core *f = s->frontend;
	struct sessions *all = f->sessions;
	struct http_relay *h;

	if (!f->options.http.on || s->more->http_relay != NULL)
		return true;
	if (session_more(s) == NULL)
		return false;
	if (all->http_room == NULL &&
	    (all->http_room = malloc(HTTP_ROOM)) == NULL)
		return false;
	h = malloc(sizeof(*h));
	if (h == NULL)
		return false;
	http_relay_init(h, all->http_room);
	h->responses.classes = f->stats->http_classes;
	prepare_lines(s, h);
	if (!prepare_identity(s, h)) {
		http_relay_fini(h);
		free(h);
		return false;
	}
	s->more->http_relay = h;
	session_requests_begin(s);
	return session_http_attach(s) && pipe_refilter(&s->to_server) == 0;
}

bool
session_http_attach(struct session *s)
{
	return pipe_set_filter(&s->to_server, &s->more->http_relay->up) == 0 &&
	    pipe_set_filter(&s->to_client, &s->more->http_relay->down) == 0;
}

void
session_http_count(struct session *s, struct server *server)
{
	struct http_relay *h = s->more->http_relay;

	_Static_assert((int)SERVER_HTTP_CLASSES == HTTP_CLASSES,
	    "servers count the same classes");
	if (h != NULL)
		h->responses.of_server =
		    server != NULL ? server->counters->http : NULL;
}

/* ---- pages ---- */

/* Whether the request that is answered is HEAD: the one that was refused as a
 * whole, the first one that is under way, or what the client began with. */
static bool
is_head(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;
	const struct buffer *kept = pipe_kept(&s->to_server);

	if (h != NULL && h->requests.status != 0 && !h->requests.cut)
		return h->requests.head.kind & HTTP_KIND_HEAD;
	if (h != NULL && h->pending.count > 0)
		return h->pending.kind[h->pending.first] & HTTP_KIND_HEAD;
	if (s->head)
		return true;
	return s->to_server.bytes == 0 && kept != NULL &&
	    buffer_length(kept) >= 5 &&
	    memcmp(buffer_bytes(kept), "HEAD ", 5) == 0;
}

/* By the first digit of its status: "HTTP/1.1 503". */
static void
count_page(const struct session *s, const char *page)
{
	s->frontend->stats->http_pages[page[9] - '1']++;
}

/* Lets the server go and sends these bytes to the client, or just a FIN. */
static void
session_send_last(
    struct session *s, const char *bytes, size_t n, enum reason why, bool reset)
{
	struct http_log raw = { .first = NULL };
	bool logged = s->frontend->httplog != NULL && n > 0;

	if (logged)
		session_requests_refuse(s, &raw);
	if (s->state == QUEUED)
		session_queue_remove(s);
	expiry_cancel(&s->expiry);
	if (s->request != NULL)
		session_drop_request(s);
	session_release_server(s, reset);
	pipe_drop(&s->to_server, &s->frontend->share);
	(void)pipe_set_filter(&s->to_client, NULL);
	s->to_client.ended = true;
	if (n > 0) /* a page ends well */
		s->server_reset = false;
	if (n > 0 && pipe_add(&s->to_client, bytes, n) < 0) {
		http_log_fini(&raw);
		session_close(s, REASON_NO_RESOURCES);
		return;
	}
	if (n > 0)
		count_page(s, bytes);
	if (logged)
		session_requests_page(s, &raw, bytes, n, why);
	s->because = (uint8_t)why;
	session_set_state(s, DRAINING);
	session_relay_schedule(s);
	session_relay(s);
}

/* The same with the page of that status; 0: just the end. What a client that
 * waited has sent is read first: it may be HEAD. */
static void
session_answer(struct session *s, unsigned status, enum reason why, bool reset)
{
	char page[HTTP_PAGE_MAX];
	size_t n;

	if (s->state != HELLO && !stream_is_open(&s->up)) {
		s->down.flags |= STREAM_READABLE;
		(void)session_pump_up(s);
	}
	n = status != 0 ? http_page(page, status, is_head(s)) : 0;

	session_send_last(s, page, n, why, reset);
}

void
session_unserved_now(struct session *s, enum reason why)
{
	if (s->frontend->options.http.status)
		session_answer(s, reason_status(why, false), why, false);
	else
		session_close(s, why);
}

/* The client's stream may not be watched yet. */
void
session_unserved(struct session *s, enum reason why)
{
	if (!s->frontend->options.http.status) {
		session_close(s, why);
		return;
	}
	s->because = (uint8_t)why;
	session_soon(s);
}

/* ---- from HTTP to HTTPS ---- */

bool
session_redirect_wanted(const struct frontend_core *f)
{
	return f->options.http.on && f->options.http.redirect_port != 0;
}

bool
session_is_redirected(const struct session *s)
{
	return s->redirected ||
	    (session_redirect_wanted(s->frontend) &&
		!session_client_has_tls(s));
}

enum first_verdict
session_redirect(struct session *s, bool last)
{
	const struct buffer *kept = pipe_kept(&s->to_server);
	unsigned port = s->frontend->options.http.redirect_port;
	enum first_verdict v = FIRST_MORE;
	struct buffer answer;

	buffer_init(&answer);
	if (port == 0) /* no longer */
		v = FIRST_WRONG;
	else if (kept != NULL)
		v = http_redirect(buffer_bytes(kept), buffer_length(kept), port,
		    &answer);
	if (v == FIRST_KNOWN)
		session_send_last(s, buffer_bytes(&answer),
		    buffer_length(&answer), REASON_REDIRECTED, false);
	else if (kept == NULL && last)
		session_close(s, REASON_DONE);
	else if (v == FIRST_WRONG || last)
		session_answer(
		    s, HTTP_PAGE_NO_TLS, REASON_BAD_REQUEST, false);
	buffer_fini(&answer);
	return v;
}

void
session_redirect_fail(struct session *s, unsigned status, enum reason why)
{
	if (session_is_redirected(s) && pipe_pending(&s->to_server) > 0)
		session_answer(s, status, why, false);
	else
		session_close(s, why);
}

/* ---- pages for requests ---- */

/* Whether the client has sent a request and no byte of any answer has come, but
 * interim ones where answers are read. One that had answers before treats the
 * end as that of an idle connection and repeats the request where it may, which
 * a page would prevent (RFC 9112, section 9.3.1). */
static bool
is_unanswered(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	if (s->state != RELAYING || s->client_told ||
	    pipe_pending(&s->to_client) > 0)
		return false;
	return h == NULL ? s->http && s->to_client.bytes == 0
			 : h->pending.count > 0 && h->responses.answers == 0;
}

bool
session_http_owes(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return h != NULL && h->pending.count == 1 &&
	    h->requests.stage > HTTP_REQUESTS_HEAD &&
	    h->requests.stage < HTTP_REQUESTS_ANSWER &&
	    pipe_pending(&s->to_server) == 0 &&
	    (!(h->requests.head.seen & HTTP_SEEN_EXPECT) ||
		h->responses.head.status != 0);
}

bool
session_http_unanswered(struct session *s, unsigned status, enum reason why)
{
	if (!s->frontend->options.http.status || !is_unanswered(s))
		return false;
	session_answer(s, status, why, true);
	return true;
}

/* A client that has ended may not want one. */
void
session_http_note_end(struct session *s)
{
	struct http_relay *h = s->more->http_relay;

	if (h != NULL && h->requests.log.first != NULL && !s->to_server.ended)
		http_log_cut(&h->requests.log);
	if (h != NULL && s->state == RELAYING && !s->client_told &&
	    !s->to_server.ended && h->pending.count > 0 &&
	    !h->pending.closing && !http_responses_are_within(&h->responses))
		s->because = REASON_NO_ANSWER;
}

/* A server that has a part of the request must not take its end for that of the
 * request. */
static void
session_refuse(struct session *s, bool told)
{
	const struct http_requests *r = &s->more->http_relay->requests;
	char client[PEER_TEXT_MAX];

	log_debug("request refused client=%s status=%u error=\"%s\"",
	    peer_format(&s->client, client), r->status, r->wrong);
	session_answer(
	    s, told ? r->status : 0, REASON_BAD_REQUEST, r->cut);
}

/* From when on the client owes the rest of a line. */
static void
session_note_partial(struct session *s)
{
	struct http_relay *h = s->more->http_relay;
	bool partial = http_relay_is_partial(h);

	if (partial == (h->partial_since != 0))
		return;
	h->partial_since = partial ? loop_now(s->frontend->loop) : 0;
	if (s->state == RELAYING)
		session_relay_schedule(s);
}

/* A request of which the server has a part is pending itself, unless it was
 * answered already: then there is no request for a page to answer. */
void
session_http_too_slow(struct session *s)
{
	const struct http_relay *h = s->more->http_relay;
	unsigned own = h->requests.stage != HTTP_REQUESTS_HEAD;
	bool answered = h->pending.count < own;
	bool due = h->pending.count == own && !h->pending.closing &&
	    !http_responses_are_within(&h->responses);

	if (pipe_pending(&s->to_client) == 0 && (answered || due))
		session_answer(
		    s, due ? 408 : 0, REASON_HELLO_TIMEOUT, own > 0);
	else
		session_close(s, REASON_HELLO_TIMEOUT);
}

void
session_http_note(struct session *s)
{
	session_note_partial(s);
	if (http_relay_refusal(s->more->http_relay) != HTTP_REFUSAL_NONE)
		session_soon(s);
}

void
session_http_on_turn(struct session *s)
{
	enum reason why = (enum reason)s->because;

	if (why != REASON_DONE)
		session_answer(s, reason_status(why, false), why, false);
	else if (s->more->http_relay != NULL &&
	    http_relay_refusal(s->more->http_relay) == HTTP_REFUSAL_PAGE)
		session_refuse(s, true);
}

/* A server that has ended answers nothing that waits. The client is read on,
 * for its end, which may have been read already. */
static void
give_up_waiting(struct session *s)
{
	struct frontend_core *f = s->frontend;

	if (!s->to_client.ended || !s->more->http_relay->up.waits ||
	    s->request != NULL || s->to_server.dropping)
		return;
	pipe_drop(&s->to_server, &f->share);
	session_soon(s);
}

/* ---- what answers mean for the connections ---- */

/* The last answer is with the client. What it still sends is thrown away. The
 * server, which ends by itself, is left at its end, one that goes on at once. A
 * session that is being drained lets it go. Returns whether it relays no
 * more. */
static bool
session_http_finish(struct session *s)
{
	const struct http_responses *r = &s->more->http_relay->responses;

	if (r->ending && !s->client_told) {
		if (s->leaving)
			pool_remove_client(s->frontend->pool, &s->client);
		session_answer(s, 0, REASON_QUIET_END, false);
		return true;
	}
	if (!s->to_server.dropping)
		pipe_drop(&s->to_server, &s->frontend->share);
	s->to_client.ended |= r->excess;
	return false;
}

/* What came instead of an answer goes no further, nor is the request repeated:
 * the server has begun to answer it. */
static void
session_refuse_answer(struct session *s)
{
	const struct http_responses *r = &s->more->http_relay->responses;

	log_debug("response refused server=%u name=%s error=\"%s\"",
	    s->server->number, s->server->name, r->wrong);
	if (!session_http_unanswered(s, 502, REASON_NO_ANSWER))
		session_answer(s, 0, REASON_NO_ANSWER, true);
}

/* Once the client has what came before. Returns whether it relays no more. */
static bool
session_settle_answers(struct session *s)
{
	enum http_course course = http_relay_course(s->more->http_relay);

	if (course == HTTP_COURSE_ON || pipe_pending(&s->to_client) > 0)
		return false;
	switch (course) {
	case HTTP_COURSE_UNASKED:
		if (session_await_next(s, false))
			return true;
		s->to_client.ended = true;
		return false;
	case HTTP_COURSE_WRONG:
		session_refuse_answer(s);
		return true;
	case HTTP_COURSE_BROKEN:
		session_relay_break_off(s);
		return true;
	default:
		return session_http_is_over(s) && session_http_finish(s);
	}
}

bool
session_http_is_over(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return h != NULL && http_relay_course(h) == HTTP_COURSE_OVER &&
	    pipe_pending(&s->to_client) == 0 &&
	    pipe_pending(&s->to_server) == 0;
}

bool
session_http_is_answered(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return h != NULL && http_relay_is_answered(h);
}

/* The answers before the page go first, out of the kernel's pipe, too. */
bool
session_http_settle(struct session *s)
{
	enum http_refusal refusal = http_relay_refusal(s->more->http_relay);

	if (s->state != RELAYING)
		return false;
	session_note_partial(s);
	if (session_settle_answers(s))
		return true;
	give_up_waiting(s);
	if (s->client_told || refusal == HTTP_REFUSAL_NONE ||
	    pipe_pending(&s->to_client) > 0)
		return false;
	session_refuse(s, refusal == HTTP_REFUSAL_PAGE);
	return true;
}
