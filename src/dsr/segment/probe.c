/* probe.c: rounds of requests to servers, and their answers. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dsr/segment/probe.h"

/* Local ports: the lower bits are the slot, which finds the request of a
 * reply. */
enum { PORT_FIRST = 32768, PORT_TURNS = 31 };
_Static_assert(
    PORT_FIRST + PORT_TURNS * PROBES_MOST <= 65536, "all of them are ports");
/* Of packets of 1500 bytes. */
enum { MSS_IP4 = 1460, MSS_IP6 = 1440 };

struct probe {
	struct list order;
	bool busy;
	uint32_t server;
	unsigned vip;
	uint16_t port; /* ours */
	uint32_t seq;
	uint64_t since; /* us: probed for the first time */
};

const char *
probe_result_name(enum probe_result r)
{
	static const char *const names[] = { "none", "ok", "refused", "timeout",
		"no address" };

	return names[r];
}

static uint64_t
draw_number(struct probes *p)
{
	p->draws++;
	return hash_keyed(&p->key, &p->draws, sizeof(p->draws));
}

/* ---- out ---- */

static bool
send_segment(
    struct probes *p, const struct probe *q, const struct tcp_segment *s)
{
	const struct peer *to = &p->plan.vip[q->vip];
	struct peer from = p->plan.own[to->family == AF_INET6];

	from.port = q->port;
	return p->options.send(p->options.arg, q->server, &from, to, s);
}

static bool
send_syn(struct probes *p, const struct probe *q)
{
	bool v6 = p->plan.vip[q->vip].family == AF_INET6;
	struct tcp_segment s = { .seq = q->seq,
		.window = UINT16_MAX,
		.mss = v6 ? MSS_IP6 : MSS_IP4,
		.flags = FRAME_SYN };

	return send_segment(p, q, &s);
}

static void
send_reset(struct probes *p, const struct probe *q, uint32_t seq)
{
	struct tcp_segment s = { .seq = seq, .flags = FRAME_RST };

	(void)send_segment(p, q, &s);
}

/* ---- rounds ---- */

/* Plans the next round of probes of the server, to begin at `when`. */
static void
schedule_round(struct probes *p, uint32_t server, uint64_t when)
{
	struct probed *w = &p->servers[server];

	w->next = 0;
	w->round = (struct probe_report){ .result = PROBE_NONE };
	if (p->plan.count > 0)
		heap_set(&p->due, server, when);
}

/* A round reports the worst result of its VIPs; of several that are as bad the
 * first, or the slowest. */
static void
note_if_worse(struct probes *p, uint32_t server, unsigned vip,
    enum probe_result r, uint64_t rtt)
{
	struct probe_report *round = &p->servers[server].round;
	bool is_slower = r == round->result && rtt > round->rtt;

	if (r > round->result || is_slower)
		*round = (struct probe_report){
			.result = r, .vip = p->plan.vip[vip], .rtt = rtt
		};
}

/* If all probes of the round were sent and answered, or have timed out, reports
 * its result and plans the next round. */
static void
end_round_if_over(struct probes *p, uint32_t server, uint64_t now)
{
	struct probed *w = &p->servers[server];
	uint64_t stray = p->plan.interval / 5 + 1, due;
	struct probe_report last;

	if (w->waiting > 0 || w->next < p->plan.count)
		return;
	last = w->round;
	/* The next round is due an interval after this one began, more or
	 * less. */
	due = w->began + p->plan.interval - stray / 2 + draw_number(p) % stray;
	heap_remove(&p->due, server);
	w->last = last;
	schedule_round(p, server, due > now ? due : now);
	p->options.on_result(p->options.arg, server, w->version, &last);
}

/* The probe is over: it is idle again, and not awaited. */
static void
release_probe(struct probes *p, struct probe *q)
{
	q->busy = false;
	list_remove(&q->order);
	list_append(&p->idle, &q->order);
	p->servers[q->server].waiting--;
}

/* Ends a request, and the round of its server if it was the last one. */
static void
end_request(
    struct probes *p, struct probe *q, enum probe_result r, uint64_t now)
{
	uint32_t server = q->server;

	note_if_worse(p, server, q->vip, r, r == PROBE_OK ? now - q->since : 0);
	release_probe(p, q);
	end_round_if_over(p, server, now);
}

/* Probes the next VIP of the server. If its MAC is unknown, the result is the
 * same for all the others. */
static void
ask_next(struct probes *p, uint32_t server, uint64_t now)
{
	struct probed *w = &p->servers[server];
	struct probe *q = list_entry(list_first(&p->idle), struct probe, order);
	uint64_t random = draw_number(p);

	if (w->next == 0)
		w->began = now;
	q->server = server;
	q->vip = w->next++;
	q->seq = (uint32_t)random;
	q->port = (uint16_t)(PORT_FIRST + (q - p->slots) +
	    PROBES_MOST * ((random >> 32) % PORT_TURNS));
	q->since = now;
	if (!send_syn(p, q)) {
		note_if_worse(p, server, q->vip, PROBE_NO_ADDRESS, 0);
		w->next = p->plan.count;
	} else {
		q->busy = true;
		w->waiting++;
		list_remove(&q->order);
		list_append(&p->once, &q->order);
	}
	if (w->next == p->plan.count)
		heap_remove(&p->due, server);
	end_round_if_over(p, server, now);
}

/* ---- time ---- */

static struct probe *
oldest_of(struct list *head)
{
	struct list *link = list_first(head);

	return link != NULL ? list_entry(link, struct probe, order) : NULL;
}

/* us until the oldest one of the list has waited for so long. */
static uint64_t
probes_time_left(struct list *head, uint64_t wait, uint64_t now)
{
	const struct probe *q = oldest_of(head);

	if (q == NULL)
		return UINT64_MAX;
	return q->since + wait > now ? q->since + wait - now : 0;
}

uint64_t
probes_tick(struct probes *p, uint64_t now)
{
	uint64_t half = p->plan.timeout / 2, next = UINT64_MAX, asked, again;
	struct probe *q;
	unsigned begun = 0;

	while (probes_time_left(&p->once, half, now) == 0) {
		q = oldest_of(&p->once);
		list_remove(&q->order);
		list_append(&p->twice, &q->order);
		(void)send_syn(p, q);
	}
	while (probes_time_left(&p->twice, p->plan.timeout, now) == 0) {
		q = oldest_of(&p->twice);
		send_reset(p, q, q->seq + 1);
		end_request(p, q, PROBE_TIMEOUT, now);
	}
	while (heap_top(&p->due) != HEAP_EMPTY && !list_is_empty(&p->idle)) {
		next = heap_top_key(&p->due);
		if (next > now || begun++ == PROBES_AT_ONCE)
			break;
		ask_next(p, (uint32_t)heap_top(&p->due), now);
		next = UINT64_MAX;
	}
	asked = probes_time_left(&p->once, half, now);
	again = probes_time_left(&p->twice, p->plan.timeout, now);
	if (next != UINT64_MAX)
		next = next > now ? next - now : 0;
	next = asked < next ? asked : next;
	return again < next ? again : next;
}

/* ---- in ---- */

static struct probe *
probes_find(struct probes *p, const struct peer *from, const struct peer *to)
{
	unsigned at = (to->port - (unsigned)PORT_FIRST) % PROBES_MOST;
	struct probe *q = &p->slots[at];
	const struct peer *vip;

	if (to->port < PORT_FIRST || !q->busy || q->port != to->port)
		return NULL;
	vip = &p->plan.vip[q->vip];
	return vip->port == from->port && peer_same_host(vip, from) &&
		peer_same_host(&p->plan.own[from->family == AF_INET6], to)
	    ? q
	    : NULL;
}

bool
probes_on_tcp(struct probes *p, const struct peer *from, const struct peer *to,
    const struct tcp_segment *s, uint64_t now)
{
	struct probe *q = probes_find(p, from, to);
	bool reset = (s->flags & FRAME_RST) != 0;

	if (q == NULL)
		return false;
	/* A RST or SYN without an ACK can be of any host: it is ignored. */
	if ((s->flags & FRAME_ACK) == 0)
		return true;
	if (s->ack != q->seq + 1) {
		if (!reset)
			send_reset(p, q, s->ack);
		return true;
	}
	if (reset) {
		end_request(p, q, PROBE_REFUSED, now);
	} else if ((s->flags & FRAME_SYN) != 0) {
		send_reset(p, q, s->ack);
		end_request(p, q, PROBE_OK, now);
	}
	return true;
}

/* ---- servers ---- */

int
probes_add(struct probes *p, uint32_t server, uint32_t version, uint64_t now)
{
	struct probed *w;

	if (heap_reserve(&p->due, server + 1) < 0)
		return -1;
	w = array_grow(p->servers, &p->room, sizeof(*w), server);
	if (w == NULL)
		return -1;
	p->servers = w;
	w = &p->servers[server];
	if (w->used && w->version == version)
		return 0;
	probes_drop(p, server);
	w->used = true;
	w->version = version;
	schedule_round(
	    p, server, now + draw_number(p) % (p->plan.interval + 1));
	return 0;
}

void
probes_drop(struct probes *p, uint32_t server)
{
	unsigned i;

	if (server >= p->room || !p->servers[server].used)
		return;
	heap_remove(&p->due, server);
	for (i = 0; i < PROBES_MOST && p->servers[server].waiting > 0; i++)
		if (p->slots[i].busy && p->slots[i].server == server)
			release_probe(p, &p->slots[i]);
	p->servers[server] = (struct probed){ .used = false };
}

const struct probe_report *
probes_last(const struct probes *p, uint32_t server)
{
	return server < p->room && p->servers[server].used && p->plan.count > 0
	    ? &p->servers[server].last
	    : NULL;
}

/* ---- life ---- */

int
probes_set(struct probes *p, const struct probes_plan *plan, uint64_t now)
{
	struct peer *vip =
	    malloc((plan->count > 0 ? plan->count : 1) * sizeof(*vip));
	uint32_t i;

	if (vip == NULL)
		return -1;
	if (plan->count > 0)
		memcpy(vip, plan->vip, plan->count * sizeof(*vip));
	for (i = 0; i < PROBES_MOST; i++)
		if (p->slots[i].busy) {
			send_reset(p, &p->slots[i], p->slots[i].seq + 1);
			release_probe(p, &p->slots[i]);
		}
	free((void *)(uintptr_t)p->plan.vip);
	p->plan = *plan;
	p->plan.vip = vip;
	for (i = 0; i < p->room; i++) {
		heap_remove(&p->due, i);
		if (p->servers[i].used)
			schedule_round(
			    p, i, now + draw_number(p) % (plan->interval + 1));
	}
	return 0;
}

int
probes_init(struct probes *p, const struct probes_options *o)
{
	unsigned i;

	memset(p, 0, sizeof(*p));
	p->options = *o;
	heap_init(&p->due);
	list_init(&p->idle);
	list_init(&p->once);
	list_init(&p->twice);
	hash_key_init(&p->key);
	p->slots = calloc(PROBES_MOST, sizeof(*p->slots));
	if (p->slots == NULL)
		return -1;
	for (i = 0; i < PROBES_MOST; i++)
		list_append(&p->idle, &p->slots[i].order);
	return 0;
}

void
probes_fini(struct probes *p)
{
	heap_fini(&p->due);
	free(p->servers);
	free(p->slots);
	free((void *)(uintptr_t)p->plan.vip);
	memset(p, 0, sizeof(*p));
}
