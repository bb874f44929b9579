/* session_retry.c: a request that its server lost goes to another server.
 *
 * The first request of a client is kept while nothing has been answered, if it
 * may be sent twice (http_first.h) and is all that the client has sent so far:
 *
 *     session_note_first --> kept --> an answer, more from the client: dropped
 *                             |
 *                             '--> the server closes or resets: sent again
 *
 * With a server that took no byte and sent none, nothing is lost and nothing is
 * sent twice: another one gets the client, as if this one had refused it,
 * whatever the client has sent, if anything.
 *
 * Of later requests nothing is known unless they are HTTP to us, too: answers
 * are not read, so that the one before may not be complete. Where the filters
 * of HTTP read them, session_note_requests() keeps all requests that have no
 * byte of an answer. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proxy/http/http_first.h"
#include "proxy/http/http_relay.h"
#include "proxy/session/session_private.h"

/* Bytes of a client's requests, and of all that a frontend keeps; requests
 * beyond that are sent once. */
enum { REQUEST_MAX = 16 * 1024, ALL_REQUESTS_MAX = 32 * 1024 * 1024 };

/* A server is to blame for a request that came within so long of its client, or
 * else it may have ended an idle connection at that moment; and that another
 * server answers as soon, or else it may be back. */
enum { BLAME_MS = 1000 };

struct kept_request {
	unsigned resent;	/* how often */
	struct server *lost_by; /* the last one that did; NULL: none to blame */
	uint8_t generation;	/* of that server's addresses, the low byte */
	uint64_t lost;		/* ms */
	uint64_t answers;	/* that had come before it */
	bool prompt;		/* it came soon after its client */
	uint16_t length;
	char bytes[];
};

/* ---- keeping ---- */

bool
session_repeats(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return f->options.retry_requests > 0 &&
	    !pool_options(f->pool)->stubborn;
}

/* A request's memory, `n` bytes of it; NULL: it is not kept. */
static struct kept_request *
new_request(struct session *s, size_t n)
{
	struct frontend_core *f = s->frontend;
	struct kept_request *r;

	if (!session_repeats(s) || n > REQUEST_MAX ||
	    f->sessions->kept_requests + n > ALL_REQUESTS_MAX ||
	    (r = malloc(sizeof(*r) + n)) == NULL)
		return NULL;
	r->resent = 0;
	r->lost_by = NULL;
	r->answers = s->more->http_relay != NULL
	    ? s->more->http_relay->responses.answers
	    : 0;
	r->prompt = s->to_client.bytes == 0 &&
	    loop_now(f->loop) - s->started < BLAME_MS;
	r->length = 0;
	return r;
}

/* After what is kept: there is room for it. */
static void
put_after(struct session *s, const char *bytes, size_t n)
{
	struct kept_request *r = s->request;

	memcpy(r->bytes + r->length, bytes, n);
	r->length = (uint16_t)(r->length + n);
	s->frontend->sessions->kept_requests += n;
}

static void
session_retry_add(struct session *s, const char *bytes, size_t n)
{
	struct sessions *all = s->frontend->sessions;
	struct kept_request *r = s->request;
	size_t length = r->length + n;

	if (length > REQUEST_MAX || all->kept_requests + n > ALL_REQUESTS_MAX ||
	    (r = realloc(r, sizeof(*r) + length)) == NULL) {
		session_drop_request(s);
		return;
	}
	s->request = r;
	put_after(s, bytes, n);
}

static void
session_retry_save(struct session *s, const char *bytes, size_t n)
{
	s->request = new_request(s, n);
	if (s->request != NULL)
		put_after(s, bytes, n);
}

/* Notes whether the client's first bytes are HTTP, and saves a request that may
 * be sent again. After bytes of the server they are not HTTP: another server
 * would send its greeting once more. */
void
session_note_first(struct session *s, const char *bytes, size_t n)
{
	bool greeted = s->to_client.bytes + pipe_pending(&s->to_client) > 0;
	enum http_first what =
	    greeted ? HTTP_FIRST_OTHER : http_first_of(bytes, n);

	s->http = what != HTTP_FIRST_OTHER;
	s->head = s->http && memcmp(bytes, "HEAD ", 5) == 0;
	if (what == HTTP_FIRST_REPEATABLE && s->request == NULL)
		session_retry_save(s, bytes, n);
}

/* What is sent again comes here once more, maybe with more after it. */
void
session_note_requests(struct session *s, const char *bytes, size_t n, bool all)
{
	enum http_repeat what = http_relay_note(s->more->http_relay, all);
	size_t had = s->request != NULL && all ? s->request->length : 0;

	if (what == HTTP_REPEAT_NO && s->request != NULL)
		session_drop_request(s);
	else if (what != HTTP_REPEAT_NO && s->request != NULL && n > had)
		session_retry_add(s, bytes + had, n - had);
	else if (what == HTTP_REPEAT_ALL && s->request == NULL)
		session_retry_save(s, bytes, n);
}

void
session_drop_request(struct session *s)
{
	struct kept_request *r = s->request;

	s->frontend->sessions->kept_requests -= r->length;
	s->request = NULL;
	free(r);
}

/* The server closed before a request, but the client may have sent one by now:
 * its bytes are here, and their event comes later. They are read as always, but
 * not written. */
static void
read_request(struct session *s)
{
	unsigned writable = s->up.flags & STREAM_WRITABLE;

	if (s->to_server.bytes > 0 || s->to_server.ended ||
	    s->to_server.dropping || pipe_pending(&s->to_server) > 0)
		return;
	s->down.flags |= STREAM_READABLE;
	s->up.flags &= ~writable;
	(void)session_pump_up(s);
	s->up.flags |= writable;
}

/* ---- whose fault it was ---- */

/* Interim answers, which are complete, leave it as it is: the client may get
 * others (RFC 9110, 15.2). */
static bool
is_interim(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return h != NULL && http_relay_may_repeat(h) &&
	    h->responses.answers == s->request->answers;
}

/* Clients choose their requests: one that no server answers is no failure of
 * the servers. One that another server answers is. */
void
session_on_answer(struct session *s)
{
	struct frontend_core *f = s->frontend;
	const struct kept_request *r = s->request;
	struct server *by = r->lost_by;

	if (is_interim(s))
		return;
	if (by != NULL && (uint8_t)by->generation == r->generation &&
	    by->present && loop_now(f->loop) - r->lost < BLAME_MS)
		session_blame_server(
		    s, by, ECONNRESET, "closed without an answer");
	session_drop_request(s);
}

/* ---- servers that took nothing ---- */

bool
session_is_unused(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return s->state == RELAYING && !s->client_told &&
	    s->to_server.bytes == 0 && !s->to_server.dropping &&
	    pipe_pending(&s->to_client) == 0 &&
	    (h != NULL ? http_relay_may_repeat(h) : s->to_client.bytes == 0);
}

/* Whether the server was there for no longer than that, about. */
static bool
is_recent(const struct session *s)
{
	const struct session_facts *facts = s->more->facts;
	uint64_t waited = facts != NULL ? facts->queue_ms : 0;

	if (s->connect_done)
		waited += s->connect_us / 1000;
	return loop_now(s->frontend->loop) - s->started < BLAME_MS + waited;
}

/* A client that has sent nothing may have lost its server for that: it gets the
 * end, but if the server was reset, or ended at once. */
static bool
may_retry_unused(const struct session *s)
{
	return session_is_unused(s) &&
	    (pipe_pending(&s->to_server) > 0 ||
		(!s->server_told &&
		    (s->up.flags & STREAM_RESET || is_recent(s))));
}

/* ---- sending again ---- */

/* A connection that had been opened in advance may have ended by itself: the
 * same server gets another one, unless it has gone out of rotation. */
static bool
was_preopened(const struct session *s)
{
	return s->connect_us == 0 && !s->preopened_tried &&
	    server_is_healthy(s->server);
}

/* So may one that was kept after an answer; but another server may be better,
 * as this one may have failed. */
static bool
was_kept(const struct session *s)
{
	const struct http_relay *h = s->more->http_relay;

	return s->request != NULL && h != NULL && http_relay_is_kept(h) &&
	    server_is_healthy(s->server);
}

static struct server *
next_server(struct session *s)
{
	struct server *next;

	if (was_preopened(s))
		return s->server;
	next = session_choose(s, loop_now(s->frontend->loop));
	return next == NULL && was_kept(s) ? s->server : next;
}

static void
note_next(struct session *s, const struct server *next)
{
	if (next == s->server)
		return;
	s->failed_once = true;
	session_note_tried(s, s->server);
}

static void
note_loss(struct session *s, const struct server *next)
{
	struct frontend_core *f = s->frontend;
	struct kept_request *r = s->request;
	char client[PEER_TEXT_MAX];

	if (r->resent++ == 0 && s->to_client.bytes > 0) {
		pool_begin_round(&s->attempts);
		session_reset_waits(s);
	}
	r->lost = loop_now(f->loop);
	/* one that has moved is not to blame */
	r->lost_by = r->prompt && next != s->server && session_is_current(s)
	    ? s->server
	    : NULL;
	r->generation = s->generation;
	note_next(s, next);
	f->stats->requests_retried++;
	if (log_level >= LOG_LEVEL_DEBUG)
		log_debug("request retried client=%s failed_server=%u name=%s "
			  "server=%u",
		    peer_format(&s->client, client), s->server->number,
		    s->server->name, next->number);
}

/* The session is as if it had no server so far. Returns 0, or -1 with errno
 * ENOMEM. */
static int
leave_server(struct session *s, bool reset)
{
	struct frontend_core *f = s->frontend;
	uint64_t down = s->to_client.bytes;

	session_release_server(s, reset);
	s->turn_due = false;
	s->server_told = s->server_reset = s->server_cut = false;
	s->client_sending = s->interleaved = s->refused = false;
	s->server_talks = false;
	pipe_fini(&s->to_client, &f->share);
	pipe_init(&s->to_client, true);
	s->to_client.bytes = down;
	if (s->more->http_relay != NULL) {
		s->more->http_relay->sent += s->to_server.bytes;
		http_relay_restart(s->more->http_relay);
		if (!session_http_attach(s))
			return -1;
	}
	return 0;
}

/* And its client had just sent the request. */
int
session_detach_server(
    struct session *s, bool reset, const char *bytes, size_t n)
{
	if (leave_server(s, reset) < 0)
		return -1;
	return pipe_restart(&s->to_server, bytes, n, &s->frontend->share);
}

static bool
leave_unused(struct session *s, bool reset)
{
	struct server *next = next_server(s);

	if (next == NULL)
		return false;
	note_next(s, next);
	if (leave_server(s, reset) < 0)
		session_close(s, REASON_NO_RESOURCES);
	else
		session_connect_to(s, next);
	return true;
}

static bool
may_retry(const struct session *s)
{
	const struct kept_request *r = s->request;
	const struct http_relay *h = s->more->http_relay;

	return r != NULL && (h == NULL || http_relay_may_repeat(h)) &&
	    pipe_pending(&s->to_client) == 0 && !s->client_told &&
	    !s->to_server.dropped &&
	    r->resent < s->frontend->options.retry_requests;
}

bool
session_retry(struct session *s, bool reset)
{
	struct server *next;

	if (s->state != RELAYING)
		return false;
	read_request(s);
	if (may_retry_unused(s))
		return leave_unused(s, reset);
	next = may_retry(s) ? next_server(s) : NULL;
	if (next == NULL)
		return false;
	note_loss(s, next);
	if (session_detach_server(
		s, reset, s->request->bytes, s->request->length) < 0)
		session_close(s, REASON_NO_RESOURCES);
	else
		session_connect_to(s, next);
	return true;
}
