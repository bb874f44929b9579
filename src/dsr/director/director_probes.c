/* director_probes.c: servers are checked on the way that clients' frames take. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "dsr/director/director_private.h"

/* Between two looks at what is due: many servers are asked a few at a time, and
 * what an answer makes due is not seen later than that. */
enum { LOOK_MIN_MS = 5, LOOK_MAX_MS = 50 };

/* ---- out ---- */

static bool
on_send(void *arg, uint32_t server, const struct peer *from,
    const struct peer *to, const struct segment *s)
{
	struct director *d = arg;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = { .vlan = d->vlan };
	size_t n = frame_make_tcp(bytes, sizeof(bytes), &head, from, to, s);

	if (n == 0 ||
	    !director_send(d, pool_slot(d->pool, server), bytes, n))
		return false;
	d->stats.probes++;
	return true;
}

/* ---- what was found out ---- */

static void
tell(const struct server *s, const struct probe_report *r)
{
	char place[PEER_TEXT_MAX];

	if (s->health.down)
		log_warn("server unhealthy server=%u name=%s check=dsr "
			 "address=%s error=\"%s\"",
		    s->number, s->name, peer_format(&r->place, place),
		    probe_result_name(r->result));
	else
		log_info("server healthy server=%u name=%s check=dsr", s->number,
		    s->name);
}

/* Whether the question may have been lost for want of a carrier. */
static bool
was_cut_off(const struct director *d, const struct probe_report *r)
{
	return !d->link.up ||
	    (r->result == PROBE_TIMEOUT && d->carrier_ms != 0 &&
		loop_now(d->loop) - d->carrier_ms <= d->check.timeout_ms);
}

/* Without a carrier nothing is found out about servers, nor about one that is no
 * more, or was asked at the address it had before. */
static void
on_result(
    void *arg, uint32_t server, uint32_t version, const struct probe_report *r)
{
	struct director *d = arg;
	struct server *s = pool_slot(d->pool, server);

	if (was_cut_off(d, r) || s == NULL || !s->present ||
	    s->generation != version)
		return;
	if (r->result == PROBE_TIMEOUT)
		director_doubt_server(d, s);
	if (pool_checked(d->pool, s, r->result == PROBE_OK, loop_now(d->loop)))
		tell(s, r);
}

const struct probe_report *
director_probed(const struct director *d, const struct server *s)
{
	return probes_last(&d->probes, s->slot);
}

/* ---- in ---- */

bool
director_on_probe(
    struct director *d, const struct frame *f, const struct link_frame *l)
{
	struct segment s;

	if (!d->check.on || !director_is_own(d, &f->to) || f->first_fragment ||
	    !frame_read_tcp(f, &s))
		return false;
	if ((l->offload.flags & LINK_CHECKSUM) == 0 && !frame_checksum_ok(f)) {
		director_lose(d, DIRECTOR_BAD, l->length);
		return true;
	}
	return probes_on_segment(
	    &d->probes, &f->from, &f->to, &s, clock_monotonic_us());
}

/* ---- time ---- */

static void
on_time(struct timer *t)
{
	struct director *d = container_of(t, struct director, probing);
	uint64_t us = probes_tick(&d->probes, clock_monotonic_us()), ms;

	if (!d->check.on)
		return;
	ms = us / 1000 + 1;
	if (ms < LOOK_MIN_MS)
		ms = LOOK_MIN_MS;
	(void)timer_start(d->loop, t, ms < LOOK_MAX_MS ? ms : LOOK_MAX_MS);
}

/* One whose hardware address is being asked for has not failed yet. */
static void
follow(struct director *d, const struct server *s, uint64_t now)
{
	uint32_t number = s->slot;

	if (!s->present)
		probes_drop(&d->probes, number);
	else if (!director_server_is_new(d, s) &&
	    probes_add(&d->probes, number, s->generation, now) < 0)
		log_error("out of memory");
}

void
director_tick_probes(struct director *d)
{
	uint64_t now = clock_monotonic_us();
	unsigned i;

	for (i = 0; d->check.on && i < pool_count(d->pool); i++)
		follow(d, pool_server(d->pool, i), now);
}

/* ---- what is asked ---- */

static bool
has_place(const struct probes_plan *p, const struct peer *at)
{
	unsigned i;

	for (i = 0; i < p->count; i++)
		if (p->place[i].port == at->port &&
		    peer_same_host(&p->place[i], at))
			return true;
	return false;
}

/* Places that any port belongs to are asked at one of them. */
static void
find_places(const struct director *d, const struct director_check *c,
    struct peer *list, struct probes_plan *p)
{
	struct peer at;
	unsigned i;

	p->place = list;
	for (i = 0; i < d->count && c->on; i++) {
		at = d->places[i];
		at.scope = 0;
		if (at.port == 0)
			at.port = c->port;
		if (at.port != 0 && d->own[at.family == AF_INET6].family != 0 &&
		    !has_place(p, &at))
			list[p->count++] = at;
	}
}

static int
plan_probes(struct director *d, const struct director_check *c)
{
	struct probes_plan p = { .own = { d->own[0], d->own[1] },
		.interval = c->interval_ms * 1000,
		.timeout = c->timeout_ms * 1000 };
	struct peer *list = calloc(d->count + 1, sizeof(*list));
	int rc;

	if (list == NULL)
		return -1;
	find_places(d, c, list, &p);
	rc = probes_set(&d->probes, &p, clock_monotonic_us());
	free(list);
	return rc;
}

int
director_change_probes(struct director *d)
{
	return d->check.on ? plan_probes(d, &d->check) : 0;
}

void
director_forget_checks(struct director *d)
{
	unsigned i;

	for (i = 0; i < pool_count(d->pool); i++) {
		struct server *s = pool_server(d->pool, i);

		probes_drop(&d->probes, s->slot);
		pool_unchecked(d->pool, s);
	}
}

static bool
is_same(const struct director_check *a, const struct director_check *b)
{
	return a->on == b->on && a->port == b->port &&
	    a->interval_ms == b->interval_ms && a->timeout_ms == b->timeout_ms;
}

int
director_set_check(
    struct director *d, const struct director_check *c, struct error *e)
{
	if (is_same(&d->check, c))
		return 0;
	if ((c->on && timer_start(d->loop, &d->probing, LOOK_MIN_MS) < 0) ||
	    plan_probes(d, c) < 0)
		return error_set(e, "out of memory");
	d->check = *c;
	if (!c->on)
		director_forget_checks(d);
	director_tick_probes(d);
	return 0;
}

/* ---- life ---- */

int
director_open_probes(struct director *d)
{
	struct probes_options o = {
		.send = on_send, .on_result = on_result, .arg = d
	};

	timer_init(&d->probing, on_time);
	return probes_init(&d->probes, &o);
}

void
director_close_probes(struct director *d)
{
	timer_fini(&d->probing);
	probes_fini(&d->probes);
}
