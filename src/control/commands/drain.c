/* drain.c: see drain.h. */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/commands/drain.h"
#include "control/life/context.h"
#include "control/answer/reply.h"
#include "net/loop/loop.h"
#include "pool/pool.h"

/* How often to count, and to report how many are left: often enough for penctl,
 * which waits 10 s for a reply. */
enum { TICK_MS = 100, TELL_MS = 3000 };

struct drain {
	struct wait wait;
	struct loop *loop; /* NULL: it has not begun */
	struct pen *pen;
	const struct service *service; /* may be gone */
	unsigned slot;		     /* DRAIN_ALL: each that is there, or was */
	const struct server *server; /* NULL: all */
	char *name;	/* of the server; owned; NULL: no memory for it */
	uint64_t ms;	/* at most; 0: no limit */
	uint64_t until; /* the loop's ms */
	uint64_t next;	/* line about how many are left */
	struct timer tick;
};

static void
drain_begin(struct wait *w, struct service *svc)
{
	struct drain *d = container_of(w, struct drain, wait);
	uint64_t now = loop_now(svc->pen->loop);

	d->loop = svc->pen->loop;
	d->pen = svc->pen;
	d->service = svc;
	if (d->slot != DRAIN_ALL) {
		d->server = pool_slot(svc->pool, d->slot);
		d->name = strdup(d->server->name);
	}
	d->until = d->ms > 0 ? now + d->ms : UINT64_MAX;
	d->next = now + TELL_MS;
}

static bool
has_service(const struct drain *d)
{
	const struct service *svc = d->pen->service;

	while (svc != NULL && svc != d->service)
		svc = svc->next;
	return svc != NULL;
}

/* A server in its slot after it has none; so has one whose service is gone. One
 * whose name leads elsewhere now has those of its addresses before. */
static uint64_t
drain_left(const struct drain *d)
{
	const struct server *s;
	uint64_t left = 0;
	unsigned i;

	if (d->server == NULL) {
		for (i = 0; has_service(d) &&
		     (s = pool_slot(d->service->pool, i)) != NULL;
		     i++)
			left += i != SLOT_EMERGENCY && i != SLOT_ABUSE
			    ? s->connections
			    : 0;
		return left;
	}
	return has_service(d) &&
		(d->name == NULL || text_equal(d->server->name, d->name))
	    ? d->server->connections
	    : 0;
}

/* "server 3", or "server all". */
static const char *
name_subject(const struct drain *d, char text[32])
{
	if (d->slot == DRAIN_ALL)
		snprintf(text, 32, "server all");
	else
		snprintf(text, 32, "server %u", server_number(d->slot));
	return text;
}

static bool
is_up_again(const struct drain *d)
{
	const struct server *s;
	unsigned i;

	if (d->server != NULL)
		return d->server->present && d->server->admin == SERVER_ENABLED;
	for (i = 0;
	     has_service(d) && (s = pool_server(d->service->pool, i)) != NULL;
	     i++)
		if (s->present && s->admin == SERVER_ENABLED)
			return true;
	return false;
}

static int
refuse_late(const struct drain *d, struct error *e)
{
	char text[32];

	return error_set(e,
	    "%s: %" PRIu64 " connection%s left after %" PRIu64 " ms",
	    name_subject(d, text), drain_left(d), drain_left(d) == 1 ? "" : "s",
	    d->ms);
}

/* One step of the wait: whether the servers have no connections left, are up
 * again, or the time is over. Reports now and then how many are left. */
static enum wait_result
drain_go_on(struct wait *w, struct buffer *out, struct error *e)
{
	struct drain *d = container_of(w, struct drain, wait);
	uint64_t now = loop_now(d->loop);
	char text[32];

	pen_count(d->pen);
	name_subject(d, text);
	if (drain_left(d) == 0) {
		reply_add(out, "%s: no connections left\n", text);
		return WAIT_DONE;
	}
	if (is_up_again(d)) {
		error_set(e, "%s: is up again and no longer drains", text);
		return WAIT_FAILED;
	}
	if (now >= d->until) {
		refuse_late(d, e);
		return WAIT_FAILED;
	}
	if (now >= d->next) {
		reply_add(out, "%s: %" PRIu64 " left\n", text, drain_left(d));
		d->next = now + TELL_MS;
	}
	if (timer_start(d->loop, &d->tick, TICK_MS) == 0)
		return WAIT_ON;
	error_set(e, "out of memory");
	return WAIT_FAILED;
}

static void
drain_on_tick(struct timer *t)
{
	struct drain *d = container_of(t, struct drain, tick);

	d->wait.on_wake(&d->wait);
}

static void
drain_end(struct wait *w)
{
	struct drain *d = container_of(w, struct drain, wait);

	timer_fini(&d->tick);
	free(d->name);
	free(d);
}

struct wait *
drain_new(unsigned slot, uint64_t ms)
{
	static const struct wait_kind kind = { drain_begin, drain_go_on,
		drain_end };
	struct drain *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->wait.kind = &kind;
	d->slot = slot;
	d->ms = ms;
	timer_init(&d->tick, drain_on_tick);
	return &d->wait;
}
