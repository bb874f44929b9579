/* tarpit.c: see tarpit.h. */
#include "config.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/tarpit.h"
#include "dsr/segment/who_has.h"

enum trap_state { TRAP_UNUSED, TRAP_ASKED, TRAP_OURS, TRAP_IN_USE };

/* An address that a host requested, or claimed. */
struct trap {
	struct who_has_entry entry;
	enum trap_state state;
	struct mac asker;
	uint64_t since;	   /* ms: in this state */
	uint64_t repeated; /* ms: the asker's last request */
	uint64_t asked;	   /* our own; 0: none yet */
};

/* ---- out ---- */

static bool
tarpit_may_answer(struct tarpit *t, uint64_t now)
{
	static const struct rate_limit limit = { .count = TARPIT_BURST,
		.period_ms = 1000 * TARPIT_BURST / TARPIT_RATE };
	bool may = rate_limit_take(&limit, &t->answers, now);

	t->stats.limited += !may;
	return may;
}

static void
send_made(struct tarpit *t, const unsigned char *bytes, size_t length)
{
	if (length > 0)
		t->options.send(t->options.arg, bytes, length);
}

/* ---- whose an address is ---- */

static struct trap *
trap_find(const struct tarpit *t, const struct peer *ip)
{
	return who_has_find(&t->table, ip);
}

/* The trap of an address. A new one reuses that of the address which was not
 * mentioned for longest. */
static struct trap *
trap_take(struct tarpit *t, const struct peer *ip)
{
	struct trap *p = trap_find(t, ip);

	if (p == NULL) {
		p = list_entry(list_first(&t->order), struct trap, entry.order);
		if (p->state != TRAP_UNUSED)
			hash_table_remove(&t->table, &p->entry.link);
		p->state = TRAP_UNUSED;
		who_has_add(&t->table, &p->entry, ip);
	}
	list_remove(&p->entry.order);
	list_append(&t->order, &p->entry.order);
	return p;
}

static void
trap_set_state(struct trap *p, enum trap_state state, uint64_t now)
{
	p->state = state;
	p->since = now;
}

static void
on_claim(struct tarpit *t, const struct peer *ip, uint64_t now)
{
	if (t->options.is_wanted(t->options.arg, ip))
		trap_set_state(trap_take(t, ip), TRAP_IN_USE, now);
}

/* Sends a request of our own to the segment of the asker. Without an address of
 * ours it is a probe. */
static void
tarpit_request(
    struct tarpit *t, struct trap *p, const struct who_has *m, uint64_t now)
{
	const struct tarpit_options *o = &t->options;
	const struct peer *ip = &p->entry.ip;
	static const struct rate_limit limit = {
		.count = TARPIT_REQUESTS_BURST,
		.period_ms = 1000 * TARPIT_REQUESTS_BURST / TARPIT_REQUESTS
	};
	const struct peer *own = ip->family == AF_INET ? &o->ip4 : &o->ip6;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = mac_broadcast, .from = o->mac, .vlan = m->vlan
	};

	if (!rate_limit_take(&limit, &t->requests, now))
		return;
	p->asked = now;
	send_made(t, bytes,
	    who_has_make_request(bytes, sizeof(bytes), &head, own, ip));
}

/* Whether requests are counted from this one on. */
static bool
trap_begins(const struct trap *p, uint64_t now)
{
	switch (p->state) {
	case TRAP_IN_USE:
		return now - p->since >= TARPIT_USED_MS;
	case TRAP_OURS:
		return now - p->since >= TARPIT_OURS_MS;
	case TRAP_ASKED:
		return now - p->repeated >= TARPIT_REPEAT_MS;
	case TRAP_UNUSED:
		break;
	}
	return true;
}

/* Whether no host has answered for long enough. A request that is repeated is
 * no proof of that: some hosts repeat it for ever, to see whether a link
 * works. */
static bool
is_silent(const struct trap *p, uint64_t now)
{
	return now - p->since >= TARPIT_SILENT_MS && p->asked != 0 &&
	    now - p->asked >= TARPIT_REPLY_MS;
}

/* Whether the address of the request is ours, or becomes so with it. */
static bool
is_ours(struct tarpit *t, const struct who_has *m, uint64_t now)
{
	/* A host that has the address receives a request to all, too. */
	bool to_all = !mac_is_station(&m->to);
	struct trap *p =
	    to_all ? trap_take(t, &m->target) : trap_find(t, &m->target);

	if (!to_all)
		return p != NULL && p->state == TRAP_OURS &&
		    !trap_begins(p, now);
	if (trap_begins(p, now)) {
		trap_set_state(p, TRAP_ASKED, now);
		p->asker = m->from;
		p->asked = 0;
	}
	if (p->state != TRAP_ASKED)
		return p->state == TRAP_OURS;
	if (!mac_equal(&p->asker, &m->from))
		return false;
	p->repeated = now;
	if (is_silent(p, now)) {
		trap_set_state(p, TRAP_OURS, now);
		return true;
	}
	tarpit_request(t, p, m, now);
	return false;
}

/* ---- ARP and NDP ---- */

/* A host that sends a probe is about to use the address: it is in use. */
void
tarpit_on_message(struct tarpit *t, const struct who_has *m, uint64_t now)
{
	bool probe = m->sender.family == 0;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = m->mac, .from = t->options.mac, .vlan = m->vlan
	};

	if (!who_has_concerns(m, &t->options.mac) || !who_has_is_possible(m))
		return;
	if (!probe)
		on_claim(t, &m->sender, now);
	else if (m->request)
		on_claim(t, &m->target, now);
	if (probe || !m->request ||
	    !t->options.is_wanted(t->options.arg, &m->target) ||
	    !is_ours(t, m, now) || !tarpit_may_answer(t, now))
		return;
	t->stats.arp++;
	send_made(t, bytes,
	    who_has_make_answer(bytes, sizeof(bytes), &head, m, false));
}

/* ---- connections ---- */

/* Our first sequence number minus the client's. */
static uint32_t
difference(const struct tarpit *t, const struct frame *f)
{
	unsigned char flow[36];

	memcpy(flow, f->from.ip, 16);
	memcpy(flow + 16, f->to.ip, 16);
	memcpy(flow + 32, &f->from.port, 2);
	memcpy(flow + 34, &f->to.port, 2);
	return (uint32_t)hash_keyed(&t->key, flow, sizeof(flow));
}

/* Whether a segment is of a connection that we answered; sets the client's
 * first sequence number then. A window probe repeats the last byte that was
 * acknowledged, or has the first one after it. */
static bool
is_of_ours(const struct tarpit *t, const struct frame *f,
    const struct tcp_segment *s, uint32_t *first)
{
	*first = s->ack - 1 - difference(t, f);
	return s->seq - *first <= UINT16_MAX;
}

static bool
is_for_us(const struct tarpit *t, const struct frame *f, uint64_t now)
{
	struct mac to = frame_mac_to(f), from = frame_mac_from(f);
	const struct trap *p;

	if (f->first_fragment || !mac_equal(&to, &t->options.mac) ||
	    !mac_is_station(&from) || who_has_is_nobody(&f->from) ||
	    !t->options.is_wanted(t->options.arg, &f->to))
		return false;
	p = trap_find(t, &f->to);
	return p == NULL || p->state != TRAP_IN_USE || trap_begins(p, now);
}

bool
tarpit_on_flow(struct tarpit *t, const struct frame *f, uint64_t now)
{
	enum { KINDS = FRAME_SYN | FRAME_ACK | FRAME_RST | FRAME_FIN };
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head;
	struct tcp_segment s, ours = { .flags = FRAME_ACK };
	uint32_t first = 0;
	bool syn;

	if (!frame_read_tcp(f, &s) || !is_for_us(t, f, now))
		return false;
	/* All other segments get no answer, not even a RST: the client would
	 * know then that the address is unused. */
	syn = (s.flags & KINDS) == FRAME_SYN;
	if (!syn &&
	    ((s.flags & KINDS) != FRAME_ACK || !is_of_ours(t, f, &s, &first)))
		return false;
	if (!tarpit_may_answer(t, now))
		return true;
	ours.seq = s.ack;
	if (syn) {
		first = s.seq;
		ours.seq = first + difference(t, f);
		ours.flags = FRAME_SYN | FRAME_ACK;
	}
	ours.ack = first + 1;
	t->stats.syn += syn;
	t->stats.ack += !syn;
	head = frame_answer_head(f);
	send_made(t, bytes,
	    frame_make_tcp(
		bytes, sizeof(bytes), &head, &f->to, &f->from, &ours));
	return true;
}

/* ---- life ---- */

int
tarpit_init(struct tarpit *t, const struct tarpit_options *options)
{
	unsigned i;

	memset(t, 0, sizeof(*t));
	list_init(&t->order);
	t->options = *options;
	hash_key_init(&t->key);
	t->traps = calloc(TARPIT_TRAPS, sizeof(*t->traps));
	if (t->traps == NULL || hash_table_init(&t->table) < 0) {
		free(t->traps);
		t->traps = NULL;
		return -1;
	}
	for (i = 0; i < TARPIT_TRAPS; i++)
		list_append(&t->order, &t->traps[i].entry.order);
	return 0;
}

void
tarpit_fini(struct tarpit *t)
{
	if (t->traps == NULL)
		return;
	hash_table_fini(&t->table);
	free(t->traps);
	t->traps = NULL;
}
