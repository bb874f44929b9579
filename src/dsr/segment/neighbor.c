/* neighbor.c: messages of ARP and NDP, in and out. Servers are in
 * neighbor_server.c, VIPs in neighbor_vip.c. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "dsr/segment/neighbor_private.h"

_Static_assert(sizeof(struct neighbor_key) == 18, "a key has no holes");

/* ---- addresses ---- */

uint64_t
neighbor_hash(
    const struct hash_table *t, const struct peer *ip, struct neighbor_key *key)
{
	memcpy(key->ip, ip->ip, sizeof(key->ip));
	key->family = ip->family;
	return hash_table_hash(t, key, sizeof(*key));
}

bool
neighbor_is(const struct neighbor_key *key, const struct peer *ip)
{
	return key->family == ip->family &&
	    memcmp(key->ip, ip->ip, sizeof(key->ip)) == 0;
}

struct peer
neighbor_peer(unsigned family, const uint8_t *ip)
{
	struct peer p;

	peer_of_ip(&p, family, ip);
	return p;
}

/* fe80::, with the two halves of the Ethernet address around ff:fe. */
static struct peer
link_local(const struct mac *m)
{
	struct peer p = { .family = AF_INET6, .ip = { 0xfe, 0x80 } };

	memcpy(p.ip + 8, m->byte, 3);
	p.ip[8] ^= 2;
	p.ip[11] = 0xff;
	p.ip[12] = 0xfe;
	memcpy(p.ip + 13, m->byte + 3, 3);
	return p;
}

/* ---- out ---- */

void
neighbors_send_arp(
    struct neighbors *n, const struct mac *to, const struct arp *a)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = *to, .from = n->options.mac, .vlan = n->options.vlan
	};
	size_t length = frame_make_arp(bytes, sizeof(bytes), &head, a);

	if (length > 0)
		n->options.send(n->options.arg, bytes, length);
}

void
neighbors_send_ndp(
    struct neighbors *n, const struct mac *to, const struct ndp *d)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = *to, .from = n->options.mac, .vlan = n->options.vlan
	};
	size_t length = frame_make_ndp(bytes, sizeof(bytes), &head, d);

	if (length > 0)
		n->options.send(n->options.arg, bytes, length);
}

/* ---- in ---- */

/* A reply to a probe, too, goes to the one who asks: a host that wants the
 * address learns that it is taken (RFC 5227, 2.1.1). */
static void
on_arp(struct neighbors *n, const struct arp *a, struct announcement *c,
    uint64_t now)
{
	struct peer wanted = neighbor_peer(AF_INET, a->target);
	struct arp answer = { .sender_mac = n->options.mac,
		.target_mac = a->sender_mac };

	if (!neighbor_is_zero(a->sender, sizeof(a->sender)))
		c->ip = neighbor_peer(AF_INET, a->sender);
	c->mac = a->sender_mac;
	c->answer = !a->request;
	if (neighbors_claimed(n, c, now))
		return;
	if (a->request && neighbors_have_vip(n, &wanted)) {
		memcpy(answer.sender, a->target, 4);
		memcpy(answer.target, a->sender, 4);
		neighbors_send_arp(n, &a->sender_mac, &answer);
		n->stats.answers++;
	}
	neighbors_learn(n, c, now);
}

/* RFC 4861, 7.2.4. Who has no address yet asks whether it is taken: all hear
 * the answer. */
static void
answer_ndp(struct neighbors *n, const struct ndp *d, const struct mac *to)
{
	bool nobody = neighbor_is_zero(d->from, sizeof(d->from));
	struct ndp answer = { .advertisement = true,
		.solicited = !nobody,
		.override = true,
		.has_mac = true,
		.mac = n->options.mac };

	memcpy(answer.from, d->target, 16);
	memcpy(answer.target, d->target, 16);
	memcpy(answer.to, nobody ? ndp_all_nodes : d->from, 16);
	neighbors_send_ndp(n, to, &answer);
	n->stats.answers++;
}

static void
on_ndp(struct neighbors *n, const struct ndp *d, struct announcement *c,
    uint64_t now)
{
	struct peer target = neighbor_peer(AF_INET6, d->target);
	const struct neighbor *w;

	if (d->has_mac)
		c->mac = d->mac;
	if (d->advertisement) {
		c->ip = target;
		w = neighbors_find(n, &target);
		/* Without "override" it must not replace what is known. */
		c->answer = d->solicited &&
		    (d->override || w == NULL || neighbor_mac(w) == NULL ||
			mac_equal(&w->mac, &c->mac));
		c->to_us = c->to_us && c->answer;
	} else if (!neighbor_is_zero(d->from, sizeof(d->from))) {
		c->ip = neighbor_peer(AF_INET6, d->from);
	}
	if (!mac_is_station(&c->mac)) {
		n->stats.bad++;
		return;
	}
	if (neighbors_claimed(n, c, now))
		return;
	if (!d->advertisement && neighbors_have_vip(n, &target))
		answer_ndp(n, d, &c->mac);
	neighbors_learn(n, c, now);
}

bool
neighbors_on_frame(struct neighbors *n, const struct frame *f, uint64_t now)
{
	struct mac to, from;
	struct announcement c;
	struct arp a;
	struct ndp d;
	bool arp = frame_read_arp(f, &a);

	if (!arp && !frame_read_ndp(f, &d))
		return false;
	to = frame_mac_to(f);
	from = frame_mac_from(f);
	if ((f->vlan & FRAME_VLAN_ID) != (n->options.vlan & FRAME_VLAN_ID) ||
	    mac_equal(&from, &n->options.mac) ||
	    (mac_is_station(&to) && !mac_equal(&to, &n->options.mac)))
		return true;
	c = (struct announcement){ .mac = from,
		.to_us = mac_equal(&to, &n->options.mac) };
	if (!mac_is_station(&from) || (arp && !mac_is_station(&a.sender_mac)))
		n->stats.bad++;
	else if (arp)
		on_arp(n, &a, &c, now);
	else
		on_ndp(n, &d, &c, now);
	return true;
}

/* ---- time and life ---- */

void
neighbors_tick(struct neighbors *n, uint64_t now)
{
	if (n->paused)
		return;
	neighbors_tick_servers(n, now);
	neighbors_tick_vips(n, now);
}

/* One that we made up ourselves needs no announcement. */
static int
take_own6(struct neighbors *n, uint64_t now)
{
	if (n->options.ip6.family != 0)
		return neighbors_add_vip(n, &n->own6, now);
	return neighbors_take_vip(n, &n->own6);
}

void
neighbors_set_vlan(struct neighbors *n, uint16_t vlan)
{
	n->options.vlan = vlan;
}

struct peer
neighbors_own6(const struct neighbors *n)
{
	return n->own6;
}

bool
neighbors_know(struct neighbors *n, const struct peer *ip)
{
	return neighbors_have_vip(n, ip) || neighbors_find(n, ip) != NULL;
}

int
neighbors_init(
    struct neighbors *n, const struct neighbors_options *options, uint64_t now)
{
	struct list *lists[] = { &n->ready, &n->asked, &n->confirmed,
		&n->failed, &n->announcing, &n->silent };
	size_t i;

	memset(n, 0, sizeof(*n));
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		list_init(lists[i]);
	n->options = *options;
	n->own6 =
	    options->ip6.family != 0 ? options->ip6 : link_local(&options->mac);
	token_bucket_init(&n->rate, NEIGHBOR_RATE, NEIGHBOR_BURST, now);
	if (hash_table_init(&n->servers) < 0 || hash_table_init(&n->vips) < 0 ||
	    take_own6(n, now) < 0 ||
	    (options->ip4.family != 0 &&
		neighbors_add_vip(n, &options->ip4, now) < 0)) {
		neighbors_fini(n);
		return -1;
	}
	return 0;
}

void
neighbors_fini(struct neighbors *n)
{
	struct list *lists[] = { &n->ready, &n->asked, &n->confirmed,
		&n->failed },
		    *link;
	struct neighbor *w;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		while ((link = list_first(lists[i])) != NULL) {
			w = list_entry(link, struct neighbor, order);
			w->uses = 1;
			neighbors_drop(n, w);
		}
	neighbors_free_vips(n);
	hash_table_fini(&n->servers);
	hash_table_fini(&n->vips);
}
