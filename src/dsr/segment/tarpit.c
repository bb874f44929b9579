/* tarpit.c: who has an address, and what is answered. */
#include "config.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/tarpit.h"
#include "dsr/segment/who_has.h"

enum trap_state { TRAP_UNUSED, TRAP_ASKED, TRAP_OURS, TRAP_IN_USE };

/* An address that was heard of. */
struct trap {
	struct hash_table_link link;
	struct list order;
	struct peer ip;
	enum trap_state state;
	struct mac asker;
	uint64_t since; /* ms: in this state */
	uint64_t heard; /* the asker's last request */
	uint64_t asked; /* our own; 0: none yet */
};

/* Who wants to know, and which frame said so. */
struct request {
	const struct frame *frame;
	struct peer target;
	struct mac asker;
	bool to_all; /* so that whoever has it would have heard */
};

/* ---- out ---- */

static bool
may_answer(struct tarpit *t, uint64_t now)
{
	bool may = token_bucket_take(&t->answers, now);

	t->stats.limited += !may;
	return may;
}

static void
send_made(struct tarpit *t, const unsigned char *bytes, size_t length)
{
	if (length > 0)
		t->options.send(t->options.arg, bytes, length);
}

static void
send_arp(struct tarpit *t, const struct frame_head *head, const struct arp *a)
{
	unsigned char bytes[FRAME_MADE_MAX];

	send_made(t, bytes, frame_make_arp(bytes, sizeof(bytes), head, a));
}

static void
send_ndp(struct tarpit *t, const struct frame_head *head, const struct ndp *d)
{
	unsigned char bytes[FRAME_MADE_MAX];

	send_made(t, bytes, frame_make_ndp(bytes, sizeof(bytes), head, d));
}

/* ---- who has it ---- */

static bool
is_key(const struct hash_table_link *l, const void *key)
{
	const struct trap *p =
	    (const struct trap *)(const void *)((const char *)l -
		offsetof(struct trap, link));

	return neighbor_is(key, &p->ip);
}

static struct trap *
find(const struct tarpit *t, const struct peer *ip)
{
	struct neighbor_key key;
	uint64_t hash = neighbor_hash(&t->table, ip, &key);
	struct hash_table_link *l =
	    hash_table_find(&t->table, hash, is_key, &key);

	return l != NULL ? list_entry(l, struct trap, link) : NULL;
}

/* The trap of an address, which takes the place of another one's if need be. */
static struct trap *
take(struct tarpit *t, const struct peer *ip)
{
	struct trap *p = find(t, ip);
	struct neighbor_key key;

	if (p == NULL) {
		p = list_entry(list_first(&t->order), struct trap, order);
		if (p->state != TRAP_UNUSED)
			hash_table_remove(&t->table, &p->link);
		p->ip = *ip;
		p->state = TRAP_UNUSED;
		hash_table_add(
		    &t->table, &p->link, neighbor_hash(&t->table, ip, &key));
	}
	list_remove(&p->order);
	list_append(&t->order, &p->order);
	return p;
}

static void
set_state(struct trap *p, enum trap_state state, uint64_t now)
{
	p->state = state;
	p->since = now;
}

static void
on_claim(struct tarpit *t, const struct peer *ip, uint64_t now)
{
	if (t->options.is_wanted(t->options.arg, ip))
		set_state(take(t, ip), TRAP_IN_USE, now);
}

/* Asks ourselves, on the asker's segment; without an address of our own as who
 * wants to use this one. */
static void
ask(struct tarpit *t, struct trap *p, const struct request *q, uint64_t now)
{
	struct frame_head head = { .to = mac_broadcast,
		.from = t->options.mac,
		.vlan = q->frame->vlan };
	struct arp a = { .sender_mac = t->options.mac, .request = true };
	struct ndp d = { .has_mac = t->options.ip6.family != 0,
		.mac = t->options.mac };

	if (!token_bucket_take(&t->requests, now))
		return;
	p->asked = now;
	if (p->ip.family == AF_INET) {
		memcpy(a.sender, t->options.ip4.ip + 12, 4);
		memcpy(a.target, p->ip.ip + 12, 4);
		send_arp(t, &head, &a);
	} else {
		memcpy(d.from, t->options.ip6.ip, 16);
		memcpy(d.target, p->ip.ip, 16);
		ndp_group(d.to, p->ip.ip);
		send_ndp(t, &head, &d);
	}
}

/* Whether requests are to be counted from this one on. */
static bool
begins(const struct trap *p, uint64_t now)
{
	switch (p->state) {
	case TRAP_IN_USE:
		return now - p->since >= TARPIT_USED_MS;
	case TRAP_OURS:
		return now - p->since >= TARPIT_HOLD_MS;
	case TRAP_ASKED:
		return now - p->heard >= TARPIT_REPEAT_MS;
	case TRAP_UNUSED:
		break;
	}
	return true;
}

/* Whether nobody has answered for long enough. That somebody asks again need
 * not mean that he had no answer: some ask for ever, to see whether a link
 * works. */
static bool
is_silent(const struct trap *p, uint64_t now)
{
	return now - p->since >= TARPIT_SILENT_MS && p->asked != 0 &&
	    now - p->asked >= TARPIT_REPLY_MS;
}

/* Whether the request is to be answered. */
static bool
is_ours(struct tarpit *t, const struct request *q, uint64_t now)
{
	struct trap *p = q->to_all ? take(t, &q->target) : find(t, &q->target);

	if (!q->to_all)
		return p != NULL && p->state == TRAP_OURS && !begins(p, now);
	if (begins(p, now)) {
		set_state(p, TRAP_ASKED, now);
		p->asker = q->asker;
		p->asked = 0;
	}
	if (p->state != TRAP_ASKED)
		return p->state == TRAP_OURS;
	if (!mac_equal(&p->asker, &q->asker))
		return false;
	p->heard = now;
	if (is_silent(p, now)) {
		set_state(p, TRAP_OURS, now);
		return true;
	}
	ask(t, p, q, now);
	return false;
}

static bool
is_to_be_answered(struct tarpit *t, const struct request *q, uint64_t now)
{
	return t->options.is_wanted(t->options.arg, &q->target) &&
	    is_ours(t, q, now) && may_answer(t, now);
}

/* ---- ARP and NDP ---- */

static void
on_arp(struct tarpit *t, struct request *q, const struct arp *a, uint64_t now)
{
	struct peer sender = neighbor_peer(AF_INET, a->sender);
	struct frame_head head = frame_answer_head(q->frame);
	struct arp answer = { .sender_mac = t->options.mac,
		.target_mac = a->sender_mac };

	q->target = neighbor_peer(AF_INET, a->target);
	if (neighbor_is_zero(a->sender, 4)) {
		if (a->request)
			on_claim(t, &q->target, now);
		return;
	}
	on_claim(t, &sender, now);
	if (!a->request || memcmp(a->sender, a->target, 4) == 0 ||
	    !is_to_be_answered(t, q, now))
		return;
	t->stats.arp++;
	head.from = t->options.mac;
	memcpy(answer.sender, a->target, 4);
	memcpy(answer.target, a->sender, 4);
	send_arp(t, &head, &answer);
}

static void
on_ndp(struct tarpit *t, struct request *q, const struct ndp *d, uint64_t now)
{
	struct peer from = neighbor_peer(AF_INET6, d->from);
	struct frame_head head = frame_answer_head(q->frame);
	struct ndp answer = { .advertisement = true,
		.solicited = true,
		.has_mac = true,
		.mac = t->options.mac };

	q->target = neighbor_peer(AF_INET6, d->target);
	if (d->advertisement || neighbor_is_zero(d->from, 16)) {
		on_claim(t, &q->target, now);
		return;
	}
	on_claim(t, &from, now);
	if (!is_to_be_answered(t, q, now))
		return;
	t->stats.arp++;
	head.from = t->options.mac;
	if (d->has_mac)
		head.to = d->mac;
	memcpy(answer.from, d->target, 16);
	memcpy(answer.to, d->from, 16);
	memcpy(answer.target, d->target, 16);
	send_ndp(t, &head, &answer);
}

void
tarpit_on_neighbor(struct tarpit *t, const struct frame *f, uint64_t now)
{
	struct mac to = frame_mac_to(f);
	struct request q = { .frame = f,
		.asker = frame_mac_from(f),
		.to_all = !mac_is_station(&to) };
	struct arp a;
	struct ndp d;

	if (!mac_is_station(&q.asker) || mac_equal(&q.asker, &t->options.mac) ||
	    (mac_is_station(&to) && !mac_equal(&to, &t->options.mac)))
		return;
	if (frame_read_arp(f, &a)) {
		if (mac_is_station(&a.sender_mac))
			on_arp(t, &q, &a, now);
	} else if (frame_read_ndp(f, &d)) {
		if (!d.has_mac || mac_is_station(&d.mac))
			on_ndp(t, &q, &d, now);
	}
}

/* ---- connections ---- */

/* What a first sequence number of ours is more than the client's. */
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

/* Whether a segment is of a connection that we answered; where the client
 * began is in *first then. Requests about the window come from one byte
 * before what the client may send, or with the first of them. */
static bool
is_held(const struct tarpit *t, const struct frame *f,
    const struct tcp_segment *s, uint32_t *first)
{
	*first = s->ack - 1 - difference(t, f);
	return s->seq - *first <= UINT16_MAX;
}

static bool
is_for_us(const struct tarpit *t, const struct frame *f, uint64_t now)
{
	struct mac to = frame_mac_to(f), from = frame_mac_from(f);
	size_t at = f->family == AF_INET ? 12 : 0;
	const struct trap *p;

	if (f->first_fragment || !mac_equal(&to, &t->options.mac) ||
	    !mac_is_station(&from) ||
	    neighbor_is_zero(f->from.ip + at, 16 - at) ||
	    !t->options.is_wanted(t->options.arg, &f->to))
		return false;
	p = find(t, &f->to);
	return p == NULL || p->state != TRAP_IN_USE || begins(p, now);
}

static size_t
make_ack(unsigned char *out, size_t room, const struct frame *f,
    const struct tcp_segment *theirs, uint32_t first)
{
	struct frame_head head = frame_answer_head(f);
	struct tcp_segment s = {
		.flags = FRAME_ACK, .seq = theirs->ack, .ack = first + 1
	};

	return frame_make_tcp(out, room, &head, &f->to, &f->from, &s);
}

bool
tarpit_on_flow(struct tarpit *t, const struct frame *f, uint64_t now)
{
	enum { KINDS = FRAME_SYN | FRAME_ACK | FRAME_RST | FRAME_FIN };
	unsigned char bytes[FRAME_MADE_MAX];
	struct tcp_segment s;
	uint32_t first = 0;
	bool syn;
	size_t n;

	if (!frame_read_tcp(f, &s) || !is_for_us(t, f, now))
		return false;
	syn = (s.flags & KINDS) == FRAME_SYN;
	if (!syn &&
	    ((s.flags & KINDS) != FRAME_ACK || !is_held(t, f, &s, &first)))
		return false;
	if (!may_answer(t, now))
		return true;
	if (syn)
		n = frame_make_synack(
		    bytes, sizeof(bytes), f, s.seq + difference(t, f));
	else
		n = make_ack(bytes, sizeof(bytes), f, &s, first);
	t->stats.syn += syn;
	t->stats.ack += !syn;
	send_made(t, bytes, n);
	return true;
}

/* ---- life ---- */

int
tarpit_init(
    struct tarpit *t, const struct tarpit_options *options, uint64_t now)
{
	unsigned i;

	memset(t, 0, sizeof(*t));
	list_init(&t->order);
	t->options = *options;
	hash_key_init(&t->key);
	token_bucket_init(&t->answers, TARPIT_RATE, TARPIT_BURST, now);
	token_bucket_init(
	    &t->requests, TARPIT_REQUESTS, TARPIT_REQUESTS_BURST, now);
	t->traps = calloc(TARPIT_TRAPS, sizeof(*t->traps));
	if (t->traps == NULL || hash_table_init(&t->table) < 0) {
		free(t->traps);
		t->traps = NULL;
		return -1;
	}
	for (i = 0; i < TARPIT_TRAPS; i++)
		list_append(&t->order, &t->traps[i].order);
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
