/* session_first.c: a step of HELLO: the client's first bytes, for the deciders
 * that need them before a server is chosen.
 *
 *     client --pipe_gather()--> kept bytes of the pipe to the server
 *                                   |
 *                deciders: more | enough  ---> session_hello_next()
 *
 * They go to the server as the pipe's bytes, whichever that will be. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "net/sock.h"
#include "pool/balance.h"
#include "proxy/session/session_private.h"
#include "proxy/wire/first.h"
#include "proxy/wire/route.h"

/* ---- deciders ---- */

static bool
peek_wanted(const struct frontend_core *f)
{
	return f->options.peek;
}

static enum first_verdict
peek_decide(struct session *s, const char *bytes, size_t n, bool last)
{
	(void)s;
	(void)bytes;
	return n > 0 || last ? FIRST_KNOWN : FIRST_MORE;
}

/* With TLS that ends here, takes name and protocol from it, instead of from the
 * first bytes. */
static void
take_tls(const struct session *s, struct first *f)
{
	char alpn[TLS_ALPN_NAME];
	const char *name = tls_server_name(&s->down);
	size_t n;

	f->sni[0] = '\0';
	if (name != NULL)
		(void)first_set_name(f->sni, name, strlen(name));
	tls_alpn(&s->down, alpn);
	n = strlen(alpn);
	f->alpn_length = n > 0 ? n + 1 : 0;
	f->alpn[0] = (unsigned char)n;
	memcpy(f->alpn + 1, alpn, n);
}

static enum first_verdict
session_first_save(struct session *s, const struct first *f)
{
	struct session_facts *facts = session_facts(s);

	if (facts == NULL)
		return FIRST_WRONG;
	free(facts->first); /* of the service that it came from */
	facts->first = first_pack(f);
	return facts->first != NULL ? FIRST_KNOWN : FIRST_WRONG;
}

static bool
routes_wanted(const struct frontend_core *f)
{
	return f->routes != NULL;
}

/* A client that closes, or sends nothing, before its name is known, has no
 * name. */
static enum first_verdict
routes_decide(struct session *s, const char *bytes, size_t n, bool last)
{
	const struct routes *r = s->frontend->routes;
	bool tls = stream_is_tls(&s->down);
	struct first_wants wants = r->wants;
	struct first f = { .protocol = FIRST_UNKNOWN };
	enum first_verdict v = FIRST_KNOWN;

	wants.hello &= !tls;
	if (wants.hello || wants.host || r->protocol)
		v = first_read(bytes, n, &wants, &f);
	if (v == FIRST_MORE && !last)
		return v;
	if (v == FIRST_MORE)
		f = (struct first){ .protocol =
					n == 0 ? FIRST_SILENT : f.protocol };
	if (tls)
		take_tls(s, &f);
	return session_first_save(s, &f);
}

/* Each sees all `n` bytes so far, until it has seen enough: FIRST_KNOWN. With
 * `last` no more will come. FIRST_WRONG ends the session. */
static const struct decider {
	bool (*wanted)(const struct frontend_core *f);
	enum first_verdict (*decide)(
	    struct session *s, const char *bytes, size_t n, bool last);
} deciders[] = {
	{ .wanted = peek_wanted, .decide = peek_decide },
	{ .wanted = routes_wanted, .decide = routes_decide },
	{ .wanted = session_sticky_wanted, .decide = session_sticky_decide },
};
enum { DECIDERS = sizeof(deciders) / sizeof(deciders[0]) };

bool
session_first_wanted(const struct frontend_core *f)
{
	unsigned i;

	for (i = 0; i < DECIDERS; i++)
		if (deciders[i].wanted(f))
			return true;
	return session_redirect_wanted(f);
}

/* ---- deciding ---- */

static enum first_verdict
session_first_decide(struct session *s, bool last)
{
	const struct buffer *kept = pipe_kept(&s->to_server);
	const char *bytes = kept != NULL ? buffer_bytes(kept) : "";
	size_t n = pipe_pending(&s->to_server);
	enum first_verdict v = FIRST_KNOWN;
	unsigned i;

	for (i = 0; i < DECIDERS && v == FIRST_KNOWN; i++)
		if (deciders[i].wanted(s->frontend))
			v = deciders[i].decide(s, bytes, n, last);
	return v;
}

/* The route in force that the client's first bytes match; NULL: none. */
static struct route *
session_first_route(const struct session *s)
{
	struct routes *routes = s->frontend->routes;
	struct first f;

	if (routes == NULL || s->more->facts == NULL ||
	    s->more->facts->first == NULL)
		return NULL;
	first_unpack(s->more->facts->first, &f);
	return routes_find(routes, &f);
}

/* The step is over; its deciders may have run several times. */
static void
session_first_done(struct session *s)
{
	struct route *r = session_first_route(s);

	if (r != NULL)
		++*r->clients;
	session_hello_next(s);
}

/* Goes on, or waits for more. */
static void
session_first_conclude(struct session *s, enum pipe_verdict stop)
{
	bool last = stop == PIPE_DONE, redirected = session_is_redirected(s);
	enum first_verdict v = redirected ? session_redirect(s, last)
					  : session_first_decide(s, last);

	if (redirected && (v != FIRST_MORE || last))
		return;
	if (v == FIRST_KNOWN)
		session_first_done(s);
	else if (v == FIRST_WRONG)
		session_close(s, REASON_NO_RESOURCES);
	else if (stop == PIPE_BLOCKED)
		session_redirect_fail(s, 431, REASON_HELLO_TOO_LONG);
	else if (watch_want(s->frontend->loop, &s->down.watch,
		     READY_READ | stream_wants(&s->down)) < 0)
		session_close(s, REASON_NO_RESOURCES);
}

static void
session_first_read(struct session *s)
{
	bool was_silent = pipe_pending(&s->to_server) == 0;
	struct pipe_stop stop = pipe_gather(
	    &s->to_server, &s->down, FIRST_MAX, &s->frontend->share);

	if (stop.verdict == PIPE_READ_FAILED)
		stop = session_client_unread_early(s, stop);
	if (stop.verdict == PIPE_READ_FAILED) {
		session_close(s, session_unread_reason(stop.cause));
		return;
	}
	if (was_silent && pipe_pending(&s->to_server) > 0)
		session_hello_schedule(s); /* peek_wait is for silence */
	session_first_conclude(s, stop.verdict);
}

struct server_set *
session_first_allowed(const struct session *s)
{
	struct route *r = session_first_route(s);

	return r != NULL ? &r->servers : NULL;
}

/* A client that the service in front denies, or that is beyond its limits, is
 * not passed on: the abuse server of that service is for it. */
struct frontend_core *
session_first_leads_to(const struct session *s)
{
	const struct routes *routes = s->frontend->routes;
	struct route *r;

	if (routes == NULL || !routes->lead || s->attempts.abuse ||
	    !pool_permits(s->frontend->pool, &s->client))
		return NULL;
	r = session_first_route(s);
	return r != NULL ? r->leads_to : NULL;
}

bool
session_first_may_move(const struct session *s)
{
	const struct server_set *allowed = session_first_allowed(s);
	unsigned own = s->server->slot;
	long other;

	if (allowed == NULL)
		return true;
	other = server_set_next_around(
	    allowed, pool_eligible(s->frontend->pool), own + 1);
	return other != ELIGIBLE_NONE && (unsigned)other != own;
}

/* ---- the step ---- */

/* Whether a client that sends nothing gets a server all the same. */
static bool
session_first_serves_silence(const struct session *s)
{
	const struct frontend_core *f = s->frontend;

	return !session_is_redirected(s) &&
	    ((!f->options.peek && !session_sticky_wanted(f)) ||
		f->options.peek_wait_ms > 0 || f->routes != NULL);
}

uint64_t
session_first_due(const struct session *s)
{
	uint64_t due = session_hello_due(s);
	uint64_t wait = s->frontend->options.peek_wait_ms;

	if (wait == 0 || pipe_pending(&s->to_server) > 0 ||
	    session_is_redirected(s))
		return due;
	return s->active + wait < due ? s->active + wait : due;
}

void
session_first_begin(struct session *s)
{
	if (s->down.flags & STREAM_READABLE)
		session_first_read(s);
	else
		session_first_conclude(s, PIPE_STARVED);
}

void
session_first_on_client(struct session *s, unsigned ready)
{
	stream_note_ready(&s->down, ready);
	session_first_read(s);
}

void
session_first_on_time(struct session *s)
{
	if (pipe_pending(&s->to_server) > 0 || !session_first_serves_silence(s))
		session_redirect_fail(s, 408, REASON_HELLO_TIMEOUT);
	else
		session_first_conclude(s, PIPE_DONE);
}
