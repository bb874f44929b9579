/* drain.c: see drain.h. */
#include "config.h"

#include <inttypes.h>
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
	unsigned slot;
	const struct server *server;
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
	d->server = pool_slot(svc->pool, d->slot);
	d->name = strdup(d->server->name);
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
	return has_service(d) &&
		(d->name == NULL || text_equal(d->server->name, d->name))
	    ? d->server->connections
	    : 0;
}

static int
refuse_late(const struct drain *d, struct error *e)
{
	return error_set(e,
	    "server %u: %" PRIu64 " connection%s left after %" PRIu64 " ms",
	    server_number(d->slot), drain_left(d),
	    drain_left(d) == 1 ? "" : "s", d->ms);
}

static enum wait_result
drain_go_on(struct wait *w, struct buffer *out, struct error *e)
{
	struct drain *d = container_of(w, struct drain, wait);
	uint64_t now = loop_now(d->loop);
	unsigned number = server_number(d->slot);

	pen_count(d->pen);
	if (drain_left(d) == 0) {
		reply_add(out, "server %u: no connections left\n", number);
		return WAIT_DONE;
	}
	if (d->server->present && d->server->admin == SERVER_ENABLED) {
		error_set(
		    e, "server %u: is up again and no longer drains", number);
		return WAIT_FAILED;
	}
	if (now >= d->until) {
		refuse_late(d, e);
		return WAIT_FAILED;
	}
	if (now >= d->next) {
		reply_add(out, "server %u: %" PRIu64 " left\n", number,
		    drain_left(d));
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
