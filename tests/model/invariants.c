/* invariants.c: looks inside sessions, pipes, pool and loop. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "model/invariants.h"
#include "model/parties.h"
#include "net/loop/loop_private.h"
#include "net/pipe_private.h"
#include "proxy/frontend/frontend_private.h"
#include "proxy/session/session_private.h"

#define HAS(s, what) \
	MUST_OR(     \
	    what, "session %u, state %d: %s", (s)->number, (s)->state, #what)

/* ---- counts ---- */

struct counted {
	unsigned all, connecting, queued, descriptors;
	uint64_t kept;	       /* bytes of requests */
	unsigned of_server[64]; /* by slot */
	bool used[KERNEL_DESCRIPTORS];
};

static void
count_descriptor(struct counted *n, int fd)
{
	if (fd < 0)
		return;
	MUST_OR(kernel_is_open(fd), "%d is not open", fd);
	MUST_OR(!n->used[fd - KERNEL_FIRST], "%d has two owners", fd);
	n->used[fd - KERNEL_FIRST] = true;
	n->descriptors++;
}

static void
count_session(struct counted *n, const struct session *s)
{
	n->all++;
	n->connecting += s->state == CONNECTING;
	n->queued += s->state == QUEUED;
	if (s->counted)
		n->of_server[s->server->slot]++;
	count_descriptor(n, s->down.fd);
	count_descriptor(n, s->up.fd);
	HAS(s, s->state != CLOSED);
	HAS(s, s->down.fd >= 0);
	HAS(s,
	    (s->state == CONNECTING || s->state == RELAYING) ==
		    (s->up.fd >= 0) ||
		s->state == CONNECTING);
	HAS(s, !s->counted || s->server != NULL);
	HAS(s, s->down.watch.fd == -1 || s->down.watch.fd == s->down.fd);
	HAS(s, s->up.watch.fd == -1 || s->up.watch.fd == s->up.fd);
}

static unsigned
length(const struct list *head)
{
	const struct list *l;
	unsigned n = 0;

	for (l = head->next; l != head; l = l->next)
		n++;
	return n;
}

static void
check_counts(const struct frontend *f, struct counted *n)
{
	const struct frontend_stats *st = f->core.stats;
	const struct pool *p = f->core.pool;
	uint64_t ended = 0;
	unsigned i;

	for (i = 0; i < REASONS; i++)
		ended += st->reasons[i];
	MUST(st->sessions == n->all);
	MUST(st->connecting == n->connecting);
	MUST(st->queued == n->queued);
	MUST(st->accepted == ended + n->all);
	MUST(st->sessions_peak >= n->all);
	MUST(n->all ==
	    length(&f->sessions.young) + length(&f->sessions.settled) +
		length(&f->sessions.stale));
	for (i = 0; i < pool_slots(p); i++)
		MUST(pool_slot(p, i)->connections == n->of_server[i]);
}

static void
check_descriptors(const struct frontend *f, struct counted *n)
{
	unsigned rest, idle = 0;
	struct list *l;
	int fd;

	for (l = f->listeners.next; l != &f->listeners; l = l->next)
		count_descriptor(n,
		    list_entry(l, struct frontend_listener, link)->listener.fd);
	for (fd = KERNEL_FIRST; fd < KERNEL_FIRST + KERNEL_DESCRIPTORS; fd++)
		idle += !n->used[fd - KERNEL_FIRST] && kernel_is_open(fd) &&
		    kernel_conn(fd) != NULL && !kernel_conn(fd)->connecting;
	MUST(f->core.stats->preopened <= idle);
	rest = (unsigned)f->core.preopened.count +
	    2 * (unsigned)f->core.share.kernel_pipes + 1;
	MUST(kernel.open == n->descriptors + rest);
}

/* ---- bytes ---- */

/* Bytes of a client were taken by its server, or are kept. */
static void
check_bytes(const struct session *s)
{
	const struct conn *down = kernel_conn(s->down.fd);
	const struct conn *up = s->up.fd >= 0 ? kernel_conn(s->up.fd) : NULL;
	size_t pending = pipe_pending(&s->to_client);

	HAS(s, down->out.put == s->to_client.bytes);
	if (!s->to_server.dropping)
		HAS(s,
		    down->in.taken ==
			s->to_server.bytes + pipe_pending(&s->to_server));
	if (up == NULL)
		return;
	if (!s->to_server.dropping)
		HAS(s, up->out.put == s->to_server.bytes);
	if (!s->to_client.dropping)
		HAS(s, up->in.taken == s->to_client.bytes + pending);
}

static void
each_session(const struct frontend *f, void (*fn)(const struct session *s))
{
	const struct id_table *t = &f->sessions.ids;
	uint32_t i;

	for (i = 0; i < t->end; i++)
		if (t->entry[i] != NULL)
			fn(t->entry[i]);
}

void
invariants_hold(const struct frontend *f)
{
	const struct id_table *t = &f->sessions.ids;
	struct counted n;
	uint32_t i;

	memset(&n, 0, sizeof(n));
	for (i = 0; i < t->end; i++)
		if (t->entry[i] != NULL)
			count_session(&n, t->entry[i]);
	check_counts(f, &n);
	check_descriptors(f, &n);
	each_session(f, check_bytes);
}

/* ---- asleep ---- */

static bool
has_room(const struct conn *c)
{
	return (c->out.room - c->out.n) * 3 >= c->out.room;
}

/* What is there, and is not taken, would be told of if it were waited for. */
static void
check_progress(const struct session *s)
{
	const struct conn *down = kernel_conn(s->down.fd);
	const struct conn *up = s->up.fd >= 0 ? kernel_conn(s->up.fd) : NULL;
	size_t to_server = pipe_pending(&s->to_server);
	size_t to_client = pipe_pending(&s->to_client);

	if (s->state < RELAYING || s->reset_due)
		return;
	HAS(s, down->error == 0);
	HAS(s, to_client == 0 || !has_room(down));
	HAS(s, to_server > 0 || s->to_server.ended || down->in.n == 0);
	HAS(s, to_server > 0 || s->to_server.ended || !down->in.end);
	if (up == NULL)
		return;
	HAS(s, to_client > 0 || up->error == 0); /* it is remembered */
	HAS(s, to_server == 0 || !has_room(up));
	HAS(s, to_client > 0 || s->to_client.ended || up->in.n == 0);
	HAS(s, to_client > 0 || s->to_client.ended || !up->in.end);
}

static void
check_asleep(const struct session *s)
{
	const struct conn *up = s->up.fd >= 0 ? kernel_conn(s->up.fd) : NULL;
	uint64_t now = loop_now(s->frontend->loop);

	HAS(s, s->state != HELLO);
	HAS(s, !s->turn_due && !s->has_turn);
	HAS(s, s->state != CONNECTING || up == NULL || up->connecting);
	HAS(s,
	    s->state == RELAYING || s->state == DRAINING ||
		expiry_is_waiting(&s->expiry));
	HAS(s, !expiry_is_waiting(&s->expiry) || s->expiry.due > now);
	if (pipe_pending(&s->to_server) == 0)
		HAS(s, s->to_server.more == NULL);
	if (pipe_pending(&s->to_client) == 0)
		HAS(s, s->to_client.more == NULL);
	check_progress(s);
}

/* There is nothing to do before the alarm. */
static void
check_timers(const struct loop *l)
{
	uint64_t due;

	MUST(list_is_empty(&l->tasks));
	if (heap_top(&l->due) == HEAP_EMPTY)
		return;
	due = heap_top_key(&l->due) * 1000 + l->lost_us;
	MUST(heap_top_key(&l->due) > l->now);
	MUST(kernel.alarm_us != 0);
	MUST_OR(kernel.alarm_us <= due + 1000,
	    "the alarm is at %llu, a timer at %llu",
	    (unsigned long long)kernel.alarm_us, (unsigned long long)due);
}

void
invariants_hold_asleep(const struct loop *l, const struct frontend *f)
{
	check_timers(l);
	each_session(f, check_asleep);
	MUST_OR(f->sessions.queue.due == false || f->core.stats->queued == 0,
	    "clients wait for a place that there is");
}

/* ---- who is whose ---- */

static void
join(const struct session *s)
{
	if (s->up.fd >= 0 && s->down.fd >= 0 && kernel_conn(s->up.fd)->arg)
		parties_join(kernel_conn(s->down.fd), kernel_conn(s->up.fd));
}

void
invariants_join(const struct frontend *f)
{
	each_session(f, join);
}
