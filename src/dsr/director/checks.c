/* checks.c: see checks.h. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "dsr/director/checks.h"

/* Between two checks of what is due: many servers are probed a few at a time,
 * and what a reply makes due is not seen later than that. */
enum { TICK_MIN_MS = 5, TICK_MAX_MS = 50 };

/* ---- out ---- */

static bool
checks_on_send(void *arg, uint32_t server, const struct peer *from,
    const struct peer *to, const struct tcp_segment *s)
{
	struct checks *c = arg;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = { .vlan = c->forward->wire.vlan };
	size_t n = frame_make_tcp(bytes, sizeof(bytes), &head, from, to, s);

	if (n == 0 ||
	    !forward_send(c->forward, pool_slot(c->pool, server), bytes, n))
		return false;
	c->forward->wire.stats.probes++;
	return true;
}

/* ---- results ---- */

static bool
checks_is_wanted(const struct checks *c, const struct server *s)
{
	const struct director_check *o = &c->settings;

	return s->present && (o->wants == NULL || o->wants(o->arg, s));
}

/* Whether the request may have been lost for want of a carrier. */
static bool
was_cut_off(const struct checks *c, const struct probe_report *r)
{
	return !c->forward->wire.link.up ||
	    (r->result == PROBE_TIMEOUT && c->forward->hops.carrier_ms != 0 &&
		loop_now(c->loop) - c->forward->hops.carrier_ms <=
		    c->settings.timeout_ms);
}

/* Ignores results of requests that had no carrier, and of a server that was
 * removed, is probed no longer, or has got another address meanwhile. */
static void
on_result(
    void *arg, uint32_t server, uint32_t version, const struct probe_report *r)
{
	struct checks *c = arg;
	struct server *s = pool_slot(c->pool, server);
	char vip[PEER_TEXT_MAX], reason[SERVER_REASON_MAX];

	if (was_cut_off(c, r) || s == NULL || !checks_is_wanted(c, s) ||
	    s->generation != version)
		return;
	/* It may have moved to another MAC. */
	if (r->result == PROBE_TIMEOUT)
		nexthops_probe(&c->forward->hops, s);
	snprintf(reason, sizeof(reason), "check dsr %s: %s",
	    peer_format(&r->vip, vip), probe_result_name(r->result));
	(void)pool_checked(
	    c->pool, s, r->result == PROBE_OK, reason, loop_now(c->loop));
}

/* ---- in ---- */

bool
checks_on_frame(
    struct checks *c, const struct frame *f, const struct link_frame *l)
{
	struct tcp_segment s;

	if (!c->settings.on || !vips_is_own(c->vips, &f->to) ||
	    f->first_fragment || !frame_read_tcp(f, &s))
		return false;
	if ((l->offload.flags & LINK_CHECKSUM) == 0 && !frame_checksum_ok(f)) {
		wire_drop(&c->forward->wire, DIRECTOR_BAD, l->length);
		return true;
	}
	return probes_on_tcp(
	    &c->probes, &f->from, &f->to, &s, clock_monotonic_us());
}

/* ---- time ---- */

static void
checks_on_time(struct timer *t)
{
	struct checks *c = container_of(t, struct checks, timer);
	uint64_t us = probes_tick(&c->probes, clock_monotonic_us()), ms;

	if (!c->settings.on)
		return;
	ms = us / 1000 + 1;
	if (ms < TICK_MIN_MS)
		ms = TICK_MIN_MS;
	(void)timer_start(c->loop, t, ms < TICK_MAX_MS ? ms : TICK_MAX_MS);
}

void
checks_tick(struct checks *c)
{
	uint64_t now = clock_monotonic_us();
	struct server *s;
	unsigned i;

	for (i = 0; c->settings.on && i < pool_count(c->pool); i++) {
		s = pool_server(c->pool, i);
		if (!checks_is_wanted(c, s)) {
			probes_drop(&c->probes, s->slot);
			continue;
		}
		pool_begin_checks(c->pool, s);
		/* One whose MAC is still being resolved is not probed: it would
		 * fail. */
		if (!nexthops_is_new(&c->forward->hops, s) &&
		    probes_add(&c->probes, s->slot, s->generation, now) < 0)
			log_error("out of memory");
	}
}

/* ---- VIPs to probe ---- */

static bool
has_vip(const struct probes_plan *p, const struct peer *at)
{
	unsigned i;

	for (i = 0; i < p->count; i++)
		if (p->vip[i].port == at->port &&
		    peer_same_host(&p->vip[i], at))
			return true;
	return false;
}

/* Plans the probes of each VIP whose family has an own address to probe from;
 * none if checks are off. */
static int
plan_probes(struct checks *c, const struct director_check *s)
{
	struct probes_plan p = { .own = { c->vips->own[0], c->vips->own[1] },
		.interval = s->interval_ms * 1000,
		.timeout = s->timeout_ms * 1000 };
	struct peer *list = calloc(c->vips->count + 1, sizeof(*list)), at;
	unsigned i;
	int rc;

	if (list == NULL)
		return -1;
	p.vip = list;
	/* VIPs with any port are probed on the port of the settings. */
	for (i = 0; i < c->vips->count && s->on; i++) {
		at = c->vips->list[i];
		at.scope = 0;
		if (at.port == 0)
			at.port = s->port;
		if (at.port != 0 &&
		    c->vips->own[at.family == AF_INET6].family != 0 &&
		    !has_vip(&p, &at))
			list[p.count++] = at;
	}
	rc = probes_set(&c->probes, &p, clock_monotonic_us());
	free(list);
	return rc;
}

void
checks_pause(struct checks *c)
{
	timer_stop(&c->timer);
}

int
checks_go_on(struct checks *c, struct error *e)
{
	if (!c->settings.on ||
	    timer_start(c->loop, &c->timer, TICK_MIN_MS) == 0)
		return 0;
	return error_set(e, "out of memory");
}

int
checks_renew(struct checks *c)
{
	return c->settings.on ? plan_probes(c, &c->settings) : 0;
}

/* Other processes check the servers from now on: forgets the results of probes,
 * and drops those under way. */
void
checks_reset(struct checks *c)
{
	unsigned i;

	for (i = 0; i < pool_count(c->pool); i++) {
		struct server *s = pool_server(c->pool, i);

		probes_drop(&c->probes, s->slot);
		if (checks_is_wanted(c, s))
			pool_unchecked(c->pool, s);
	}
}

int
checks_set(struct checks *c, const struct director_check *s, struct error *e)
{
	const struct director_check *had = &c->settings;

	if (s->on == had->on && s->port == had->port &&
	    s->interval_ms == had->interval_ms &&
	    s->timeout_ms == had->timeout_ms)
		return 0;
	if ((s->on && timer_start(c->loop, &c->timer, TICK_MIN_MS) < 0) ||
	    plan_probes(c, s) < 0)
		return error_set(e, "out of memory");
	c->settings = *s;
	if (!s->on)
		checks_reset(c);
	checks_tick(c);
	return 0;
}

/* ---- life ---- */

int
checks_open(struct checks *c)
{
	struct probes_options o = {
		.send = checks_on_send, .on_result = on_result, .arg = c
	};

	timer_init(&c->timer, checks_on_time);
	return probes_init(&c->probes, &o);
}

void
checks_close(struct checks *c)
{
	timer_fini(&c->timer);
	probes_fini(&c->probes);
}
