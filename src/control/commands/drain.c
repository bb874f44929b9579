/* drain.c: see drain.h. */
#include "config.h"

#include <inttypes.h>

#include "control/commands/drain.h"
#include "control/pen.h"
#include "control/answer/reply.h"

/* How often to count, and to say how many are left: often enough for penctl,
 * which waits 10 s for a word. */
enum { TICK_MS = 100, TELL_MS = 3000 };

void
drain_init(struct drain *d, void (*on_tick)(struct timer *t))
{
	*d = (struct drain){ .loop = NULL };
	timer_init(&d->tick, on_tick);
}

void
drain_fini(struct drain *d)
{
	timer_fini(&d->tick);
	d->loop = NULL;
}

void
drain_begin(struct drain *d, const struct pen *p, unsigned slot, uint64_t ms)
{
	uint64_t now = loop_now(p->loop);

	d->loop = p->loop;
	d->server = pool_slot(p->pool, slot);
	d->number = server_number(slot);
	d->generation = d->server->generation;
	d->ms = ms;
	d->until = ms > 0 ? now + ms : UINT64_MAX;
	d->next = now + TELL_MS;
}

/* A server in its slot after it has none. */
static uint64_t
left(const struct drain *d)
{
	return d->server->generation == d->generation ? d->server->connections
						      : 0;
}

static int
refuse_late(const struct drain *d, struct error *e)
{
	return error_set(e,
	    "server %u: %" PRIu64 " connection%s left after %" PRIu64 " ms",
	    d->number, left(d), left(d) == 1 ? "" : "s", d->ms);
}

static enum drain_result
end(struct drain *d, enum drain_result result)
{
	timer_stop(&d->tick);
	d->loop = NULL;
	return result;
}

enum drain_result
drain_go_on(struct drain *d, struct buffer *out, struct error *e)
{
	uint64_t now = loop_now(d->loop);

	if (left(d) == 0) {
		reply_add(out, "server %u: no connections left\n", d->number);
		return end(d, DRAIN_DONE);
	}
	if (d->server->present && d->server->admin == SERVER_ENABLED) {
		error_set(e,
		    "server %u: is up again and no longer drains",
		    d->number);
		return end(d, DRAIN_FAILED);
	}
	if (now >= d->until) {
		refuse_late(d, e);
		return end(d, DRAIN_FAILED);
	}
	if (now >= d->next) {
		reply_add(
		    out, "server %u: %" PRIu64 " left\n", d->number, left(d));
		d->next = now + TELL_MS;
	}
	if (timer_start(d->loop, &d->tick, TICK_MS) == 0)
		return DRAIN_WAITS;
	error_set(e, "out of memory");
	return end(d, DRAIN_FAILED);
}
