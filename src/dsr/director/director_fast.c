/* director_fast.c: which flows go by the link's fast path.
 *
 * A flow is the kernel's when it has proved itself and some more frames of it have come
 * up: one that is short is not worth a system call. What begins or ends it is seen
 * here. A server has one gate, for all its flows, so that it takes one call to have
 * them all come up again; then each is looked at as ever. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "dsr/director/director_private.h"
#include "dsr/frame/frame_private.h"

enum {
	WORTH = 16,	    /* frames, until the first try and between two */
	FLOWS_MAX = 1 << 20 /* in the kernel */
};

/* ---- gates ---- */

static struct link_gate
gate_of(const struct director *d, uint32_t number)
{
	const struct server *s = pool_slot(d->pool, number);
	struct link_gate g = { .ticket = d->ticket };

	if (s == NULL || d->link.fast_fails || !director_may_go_on(d, s) ||
	    s->health.down || director_is_tunnelled(d, s) ||
	    !director_server_mac(d, s, &g.to))
		memset(&g.to, 0, sizeof(g.to));
	else
		g.longest = (uint16_t)(d->link.mtu + FRAME_HEAD);
	return g;
}

/* As many as there may be servers, if the link has so many, all closed. Those that are
 * there must be set even if there is no memory for more. */
static void
make_gates(struct director *d)
{
	uint32_t n = d->targets_n < d->link.fast->gates ? d->targets_n
							: d->link.fast->gates;
	struct link_gate *new;

	if (d->gates_n >= n)
		return;
	new = realloc(d->gates, n * sizeof(*new));
	if (new == NULL)
		return;
	memset(new + d->gates_n, 0, (n - d->gates_n) * sizeof(*new));
	d->gates = new;
	d->gates_n = n;
}

void
director_set_gates(struct director *d)
{
	struct link_gate g;
	uint32_t i;

	if (d->link.fast == NULL)
		return;
	make_gates(d);
	for (i = 0; i < d->gates_n; i++) {
		g = gate_of(d, i);
		if (memcmp(&g, &d->gates[i], sizeof(g)) == 0)
			continue;
		d->link.fast->set_gate(&d->link, i, &g);
		d->gates[i] = g;
	}
}

void
director_renew_gates(struct director *d)
{
	d->ticket++;
	director_set_gates(d);
}

/* ---- flows ---- */

void
director_leave_fast(struct director *d, struct dsr_flow *w)
{
	struct link_carried c;

	if (!w->carried)
		return;
	if (d->link.fast->forget(&d->link, &w->key, &c)) {
		w->frames += c.frames;
		w->bytes += c.bytes;
	}
	w->carried = 0;
	d->fast_flows--;
}

/* What the kernel would recognize, and need not repair. */
static bool
is_plain(const struct frame *f, const struct link_frame *l)
{
	unsigned head = f->family == AF_INET6 ? IP6_HEAD : IP4_HEAD;

	return f->net == FRAME_HEAD && f->transport == f->net + head &&
	    !f->first_fragment && !l->summed_here;
}

static bool
is_steady(const struct dsr_flow *w)
{
	return w->state == DSR_ESTABLISHED || w->state == DSR_UDP;
}

/* Frames that were on their way up when the kernel was told of their flow, or are
 * not plain, are no reason to tell it again: what it counts meanwhile would be
 * lost. */
static bool
is_told_of(const struct director *d, const struct dsr_flow *w)
{
	struct link_carried c;

	return w->carried && d->link.fast->carried(&d->link, &w->key, &c) &&
	    c.ticket == d->ticket;
}

/* Before Linux 5.19 maps are not changed without rights, which are gone by now: it is
 * the same for all flows. */
static void
note_refusal(struct director *d)
{
	if (errno != EPERM)
		return;
	log_warn("no fast path: the kernel cannot be told of flows "
		 "interface=%s error=\"%s\"",
	    d->link.name, strerror(errno));
	d->fast_refused = true;
}

void
director_on_fast(struct director *d, struct dsr_flow *w, const struct frame *f,
    const struct link_frame *l)
{
	if (d->link.fast == NULL || d->fast_refused)
		return;
	if (!is_steady(w) ||
	    f->tcp_flags & (FRAME_SYN | FRAME_FIN | FRAME_RST)) {
		director_leave_fast(d, w);
		return;
	}
	/* frames that came up before their VIP went are the last ones */
	if (w->frames % WORTH != 0 || !is_plain(f, l) ||
	    !director_has_address(d, &f->to) || w->server >= d->gates_n ||
	    d->gates[w->server].longest == 0 || is_told_of(d, w))
		return;
	director_leave_fast(d, w);
	if (d->link.fast->carry(&d->link, &w->key, w->server, d->ticket) != 0) {
		note_refusal(d);
		return;
	}
	w->carried = 1;
	d->fast_flows++;
}

uint32_t
director_last_frame(void *arg, const struct dsr_flow *w)
{
	const struct director *d = arg;
	struct link_carried c;

	if (!d->link.fast->carried(&d->link, &w->key, &c))
		return 0;
	return (uint32_t)((loop_now(d->loop) - c.idle_ms) / 1000);
}

/* ---- life ---- */

uint32_t
director_fast_most(const struct director_options *o)
{
	return o->flows < FLOWS_MAX ? (uint32_t)o->flows : (uint32_t)FLOWS_MAX;
}

void
director_open_fast(struct director *d)
{
	d->ticket = 1; /* of closed gates: 0 */
}

/* What the kernel knew of flows goes with the link. */
void
director_close_fast(struct director *d)
{
	free(d->gates);
}

void
director_fast(const struct director *d, struct director_fast *f)
{
	*f = (struct director_fast){ .on = d->link.fast != NULL,
		.fails = d->link.fast_fails || d->fast_refused,
		.flows = d->fast_flows };
	if (!f->on)
		return;
	f->passed = d->link.fast->totals(&d->link);
	f->passed.frames -= d->fast_cleared.frames;
	f->passed.bytes -= d->fast_cleared.bytes;
}
