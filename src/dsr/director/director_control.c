/* director_control.c: what control sets while a director serves, and reads of
 * it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/director_private.h"

/* ---- VIPs ---- */

/* Locks the VIPs, and makes the link pass their frames. */
static int
take_vips(struct director *d, struct vip_locks *locks, struct peer *list,
    unsigned count, struct error *e)
{
	struct link *l = &d->forward.wire.link;
	unsigned number = d->open ? (unsigned)l->ifindex : d->ifindex;
	struct link_filter filter = tarpit_net_filter(&d->tarpit, list, count);

	if (vip_locks_take(
		locks, &d->vips.locks, number, d->user, list, count, e) < 0)
		return -1;
	if (!d->open || link_set_filter(l, &filter, e) == 0)
		return 0;
	vip_locks_free(locks);
	return -1;
}

int
director_set_vips(struct director *d, const struct peer *list, unsigned count,
    struct error *e)
{
	/* Two more for own addresses: vips_filter(). */
	struct peer *new = calloc((size_t)count + 2, sizeof(*new));
	struct vips *v = &d->vips;
	struct vip_locks locks;
	struct peer *old;
	unsigned olds;

	if (new == NULL)
		return error_set(e, "out of memory");
	memcpy(new, list, count * sizeof(*new));
	if (take_vips(d, &locks, new, count, e) < 0) {
		free(new);
		return -1;
	}
	/* Nothing can fail from here on. */
	vip_locks_replace(&v->locks, &locks);
	old = v->list;
	olds = v->count;
	v->list = new;
	v->count = count;
	if (d->open) {
		nexthops_set_vips(&d->forward.hops, old, olds);
		fast_path_renew(&d->dispatch.fast);
		if (checks_renew(&d->checks) < 0)
			log_error("out of memory");
	}
	free(old);
	return 0;
}

/* ---- active or standby ---- */

void
director_set_role(struct director *d, bool standby, uint64_t since)
{
	d->vips.standby = standby;
	role_set(&d->role, standby, since);
}

/* Our own MAC claims nothing, whichever host sent the message. */
void
director_note_claim(struct director *d, const struct who_has *m)
{
	if (m->sender.family != 0 &&
	    !mac_equal(&m->mac, &d->forward.hops.neighbors.options.mac) &&
	    vips_have_address(&d->vips, &m->sender))
		role_claim(&d->role, m, loop_now(d->loop));
}

void
director_set_standby(struct director *d, bool standby)
{
	struct nexthops *n = &d->forward.hops;
	bool had = !d->vips.standby;

	director_set_role(d, standby, loop_now(d->loop));
	nexthops_set_vips(n, NULL, 0);
	/* Another one may have announced them since. */
	if (had && !standby)
		nexthops_announce(n);
	fast_path_refresh(&d->dispatch.fast);
}

/* ---- the end ---- */

void
director_drain(struct director *d)
{
	d->dispatch.draining = true;
}

uint64_t
director_left(const struct director *d)
{
	const struct server *s;
	uint64_t n = 0;
	unsigned i;

	if (d->vips.standby)
		return 0;
	if (d->dispatch.flows.max == 0)
		return 1;
	for (i = 0; (s = pool_slot(d->pool, i)) != NULL; i++)
		n += s->connections + s->brief;
	return n;
}

/* ---- forwarding, tarpit, checks ---- */

int
director_prepare_forward(
    struct director *d, const struct director_forward *f, struct error *e)
{
	return tunnels_prepare(&d->forward.tunnels, &d->forward.hops, f, e);
}

void
director_set_forward(struct director *d, const struct director_forward *f)
{
	d->forward.hops.forward = *f;
	nexthops_refresh(&d->forward.hops);
	fast_path_refresh(&d->dispatch.fast);
}

void
director_set_timeouts(struct director *d, const struct dsr_timeouts *t)
{
	dsr_flows_set_timeouts(&d->dispatch.flows, t);
}

void
director_set_refresh(struct director *d, uint64_t every_ms)
{
	struct nexthops *n = &d->forward.hops;

	neighbors_refresh_vips(&n->neighbors, n->announce ? every_ms : 0,
	    loop_now(d->loop));
}

int
director_set_tarpit(struct director *d, const struct acl *list, struct error *e)
{
	return tarpit_net_set(&d->tarpit, list, e);
}

int
director_set_check(
    struct director *d, const struct director_check *c, struct error *e)
{
	return checks_set(&d->checks, c, e);
}

/* ---- counters ---- */

/* The link counts on: what it had counted at the last clear does not count. */
static struct link_counters
link_counters(const struct director *d)
{
	const struct link_counters *now = &d->forward.wire.link.count,
				   *old = &d->link_cleared;

	return (struct link_counters){
		.received = now->received - old->received,
		.sent = now->sent - old->sent,
		.merged = now->merged - old->merged,
		.missed = now->missed - old->missed,
		.cut = now->cut - old->cut,
		.refused = now->refused - old->refused,
		.too_long = now->too_long - old->too_long,
	};
}

struct frame_count
director_forwarded(const struct director *d)
{
	const struct director_stats *st = &d->forward.wire.stats;
	struct director_fast fast;

	fast_path_get(&d->dispatch.fast, &fast);
	return (struct frame_count){ st->forwarded + fast.passed.frames,
		st->forwarded_bytes + fast.passed.bytes };
}

void
director_note_traffic(struct director *d, uint64_t now)
{
	struct frame_count total;

	if (!traffic_is_due(&d->traffic, now))
		return;
	total = director_forwarded(d);
	traffic_note(&d->traffic, &total, now);
}

struct traffic_rate
director_rate(const struct director *d)
{
	struct frame_count total = director_forwarded(d);

	return traffic_rate(&d->traffic, &total, loop_now(d->loop));
}

void
director_status(const struct director *d, struct director_status *s)
{
	const struct wire *w = &d->forward.wire;

	*s = (struct director_status){
		.interface = w->link.name,
		.link = w->link.ops->name,
		.mode = w->link.mode,
		.mac = w->link.mac,
		.standby = d->vips.standby,
		.role = &d->role,
		.role_s = (loop_now(d->loop) - d->role.since) / 1000,
		.claimed_s = (loop_now(d->loop) - d->role.claimed_at) / 1000,
		.frames = &w->stats,
		.tarpit = &d->tarpit.tarpit.stats,
		.neighbors = &d->forward.hops.neighbors,
		.flows = &d->dispatch.flows,
		.counters = link_counters(d),
	};
	fast_path_get(&d->dispatch.fast, &s->fast);
}

void
director_clear_counters(struct director *d)
{
	struct dsr_flows *flows = &d->dispatch.flows;

	d->forward.wire.stats = (struct director_stats){ .received = 0 };
	d->tarpit.tarpit.stats = (struct tarpit_stats){ .arp = 0 };
	d->forward.hops.neighbors.stats =
	    (struct neighbors_stats){ .requests = 0 };
	flows->stats = (struct dsr_flows_stats){ .peak = flows->count };
	d->link_cleared = d->forward.wire.link.count;
	fast_path_clear_counters(&d->dispatch.fast);
}

/* ---- flows of other directors ---- */

void
director_on_flow(
    struct director *d, void (*fn)(void *arg, uint32_t number), void *arg)
{
	d->dispatch.on_flow = fn;
	d->dispatch.on_flow_arg = arg;
	d->forward.hops.reports = fn != NULL;
}

uint32_t
director_flow_numbers(const struct director *d)
{
	return d->dispatch.flows.made;
}

bool
director_flow_at(struct director *d, uint32_t number, struct dsr_report *r)
{
	const struct dsr_flow *w = dsr_flows_at(&d->dispatch.flows, number);

	if (w == NULL || w->state < DSR_UDP)
		return false;
	*r = (struct dsr_report){ w->key, w->server };
	return true;
}

bool
director_learn_flow(struct director *d, const struct dsr_report *r)
{
	return dispatch_learn(&d->dispatch, r);
}

/* ---- another process takes over ---- */

unsigned
director_fds(const struct director *d, int list[DIRECTOR_FDS_MAX])
{
	unsigned n = link_fds(&d->forward.wire.link, list);

	if (n == 0)
		return 0;
	return n + vip_locks_fds(&d->vips.locks, list + n);
}

void
director_pause(struct director *d)
{
	watch_stop(d->loop, &d->watch);
	timer_stop(&d->tick);
	checks_pause(&d->checks);
	d->forward.wire.link.paused = true;
}

void
director_hand_over(struct director *d)
{
	if (d != NULL)
		d->forward.wire.link.left = true;
	director_free(d);
}

bool
director_next_flow(
    const struct director *d, uint32_t *at, struct director_flow *f)
{
	const struct dsr_flows *fs = &d->dispatch.flows;
	uint64_t now = loop_now(d->loop) / 1000;
	const struct dsr_flow *w = dsr_flows_next(fs, *at);

	if (w == NULL)
		return false;
	*at = w->number;
	*f = (struct director_flow){ w->key, w->server,
		{ .state = w->state,
		    .learned = w->learned,
		    .offloaded = w->offloaded,
		    .idle_s = (uint32_t)now - w->seen,
		    .frames = w->frames,
		    .bytes = w->bytes } };
	return true;
}

bool
director_restore_flow(
    struct director *d, const struct director_flow *f, const struct server *s)
{
	return dispatch_restore(&d->dispatch, f, s);
}

void
director_restore_mac(
    struct director *d, const struct server *s, const struct mac *mac)
{
	nexthops_restore(&d->forward.hops, s, mac);
}

struct director_export
director_export(const struct director *d)
{
	return (struct director_export){ .standby = d->vips.standby,
		.vlan_known = d->vlan_confirmed,
		.vlan = d->forward.wire.vlan };
}

void
director_restore(struct director *d, const struct director_export *past)
{
	director_set_role(d, past->standby, d->role.since);
	if (!past->vlan_known)
		return;
	d->vlan_confirmed = true;
	d->forward.wire.vlan = past->vlan & FRAME_VLAN_ID;
	d->forward.hops.neighbors.options.vlan = past->vlan & FRAME_VLAN_ID;
}

struct role
director_role(const struct director *d)
{
	return d->role;
}

void
director_restore_role(struct director *d, const struct role *past)
{
	d->vips.standby = past->standby;
	d->role = *past;
}

/* ---- servers and flows ---- */

bool
director_has_ended(const struct director *d)
{
	return d->ended;
}

bool
director_has_carrier(const struct director *d)
{
	return d->forward.wire.link.up;
}

bool
director_has_flows(const struct director *d, const struct server *s)
{
	return dsr_flows_of(&d->dispatch.flows, s->slot) > 0;
}

const struct probe_report *
director_probed(const struct director *d, const struct server *s)
{
	return probes_last(&d->checks.probes, s->slot);
}

void
director_path(
    const struct director *d, const struct server *s, struct director_path *w)
{
	nexthops_path(&d->forward.hops, s, w);
}
