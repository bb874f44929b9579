/* session_quiet.c: which sessions may be ended while they are open, and at
 * which moment.
 *
 * Whoever is cut off between an answer and the next request loses nothing if
 * the protocol lets the client connect again and ask again: HTTP does (RFC
 * 9112, 9.3.1), a shell or a transaction does not. So the first bytes of the
 * client decide, unless the operator does. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/sock.h"
#include "pool/surplus.h"
#include "proxy/session_private.h"

/* ---- which sessions ---- */

/* "GET / HTTP/1.1", all of it. */
static bool
is_request_line(const char *line, size_t n)
{
	static const char version[] = " HTTP/1.";
	size_t i = 0, v = sizeof(version) - 1;

	while (i < n && line[i] >= 'A' && line[i] <= 'Z')
		i++;
	if (n > 0 && line[n - 1] == '\r')
		n--;
	return i > 0 && i + 1 < n && line[i] == ' ' && n > i + v + 1 &&
	    memcmp(line + n - v - 1, version, v) == 0;
}

static bool
is_field(const char *line, size_t n, const char *name)
{
	size_t length = strlen(name);

	return n > length && strncasecmp(line, name, length) == 0;
}

/* "CONNECT a:443 HTTP/1.1": a tunnel (RFC 9110, 9.3.6). */
static bool
is_tunnel(const char *line, size_t n)
{
	static const char method[] = "CONNECT ";
	size_t length = sizeof(method) - 1;

	return n > length && memcmp(line, method, length) == 0;
}

/* A connection that asks to become another protocol, as WebSocket's, is none of
 * requests and answers any more. What has not come yet could ask for it. */
static bool
is_http(const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n), *line;

	if (end == NULL || !is_request_line(bytes, (size_t)(end - bytes)) ||
	    is_tunnel(bytes, n))
		return false;
	for (;;) {
		line = end + 1;
		end = memchr(line, '\n', n - (size_t)(line - bytes));
		if (end == NULL)
			return false;
		if (end - line <= 1)
			return true;
		if (is_field(line, (size_t)(end - line), "upgrade:"))
			return false;
	}
}

void
session_note_first(struct session *s, const char *bytes, size_t n)
{
	s->http = is_http(bytes, n);
}

/* One that nobody has said anything in loses nothing. */
bool
session_may_end_quietly(const struct session *s)
{
	enum quiet_end which = s->frontend->core.options.end.quiet;

	if (s->state != RELAYING || s->client_told || s->server_told ||
	    which == QUIET_END_NONE)
		return false;
	return which == QUIET_END_ALL || s->http ||
	    (s->to_server.bytes == 0 && s->to_client.bytes == 0);
}

/* ---- which moment ---- */

static bool
is_idle(const struct session *s)
{
	return !s->asked && pipe_pending(&s->to_server) == 0 &&
	    pipe_pending(&s->to_client) == 0 && !s->to_server.ended &&
	    !s->to_client.ended && !stream_is_unsent(&s->down) &&
	    !stream_is_unsent(&s->up) &&
	    !((s->down.flags | s->up.flags) & STREAM_BUFFERED);
}

/* Bytes that the loop has not reported yet, or that the client has not
 * acknowledged, would be lost by a reset: who closes with unread input sends
 * one. */
bool
session_is_quiet(const struct session *s)
{
	const struct frontend_core *f = &s->frontend->core;

	return session_may_end_quietly(s) && is_idle(s) &&
	    loop_now(f->loop) - s->active >= f->options.end.quiet_ms &&
	    sock_unsent(s->down.fd) == 0 && !sock_has_input(s->down.fd) &&
	    !sock_has_input(s->up.fd);
}

/* A client that is to be balanced anew must not be remembered. */
void
session_end_quietly(struct session *s)
{
	if (s->leaving)
		pool_forget_client(s->frontend->core.pool, &s->client);
	session_close(s, REASON_QUIET_END);
}

/* ---- so that others get their share ---- */

static void
ask(void *entry)
{
	struct session *s = entry;
	struct session_rebalance *r = &s->frontend->rebalance;

	if (!s->counted || s->leaving || s->server->slot >= r->slots ||
	    r->surplus[s->server->slot] == 0 || !session_may_end_quietly(s))
		return;
	r->surplus[s->server->slot]--;
	s->leaving = true;
	session_reschedule(s);
}

static void
rebalance_on_turn(struct task *t)
{
	struct frontend *f = list_entry(t, struct frontend, rebalance.task);

	id_table_walk(&f->connections, &f->rebalance.sessions, ask);
	if (f->rebalance.sessions.left > 0) {
		loop_soon(f->core.loop, t);
		return;
	}
	free(f->rebalance.surplus);
	f->rebalance.surplus = NULL;
}

void
session_rebalance_init(struct frontend *f)
{
	list_init(&f->rebalance.task.link);
	f->rebalance.task.run = rebalance_on_turn;
}

void
session_rebalance_fini(struct frontend *f)
{
	list_remove(&f->rebalance.task.link);
	free(f->rebalance.surplus);
}

int
frontend_rebalance(struct frontend *f, unsigned percent, uint64_t *asked,
    struct error *e)
{
	struct session_rebalance *r = &f->rebalance;
	unsigned slots = pool_slots(f->core.pool);
	uint64_t *surplus;

	if (pool_goes_by_address(f->core.pool))
		return error_set(
		    e, "the algorithm goes by the client's address");
	if (f->core.options.end.quiet == QUIET_END_NONE)
		return error_set(e, "quiet_end is none");
	surplus = calloc(slots, sizeof(*surplus));
	if (surplus == NULL)
		return error_set(e, "out of memory");
	*asked = pool_surplus(f->core.pool, percent, surplus);
	if (*asked > f->core.stats.sessions) /* flows are not asked */
		*asked = f->core.stats.sessions;
	free(r->surplus);
	r->surplus = surplus;
	r->slots = slots;
	r->sessions.left = f->connections.end;
	loop_soon(f->core.loop, &r->task);
	return 0;
}
