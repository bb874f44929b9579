/* neighbor.c: messages of ARP and NDP, in and out. Servers are in
 * neighbor_server.c, VIPs in neighbor_vip.c. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/segment/neighbor_private.h"

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

struct frame_head
neighbors_head(const struct neighbors *n, const struct mac *to)
{
	return (struct frame_head){
		.to = *to, .from = n->options.mac, .vlan = n->options.vlan
	};
}

void
neighbors_send(struct neighbors *n, const unsigned char *bytes, size_t length)
{
	if (length > 0)
		n->options.send(n->options.arg, bytes, length);
}

/* ---- in ---- */

void
neighbors_on_message(struct neighbors *n, const struct who_has *m, uint64_t now)
{
	const struct mac *own = &n->options.mac;
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head;

	if ((m->vlan & FRAME_VLAN_ID) != (n->options.vlan & FRAME_VLAN_ID) ||
	    !who_has_concerns(m, own))
		return;
	if (!who_has_is_possible(m)) {
		n->stats.bad++;
		return;
	}
	if (neighbors_claimed(n, m, now))
		return;
	/* A probe is answered, too: a host that wants the address learns that
	 * it is taken. */
	if (m->request && neighbors_have_vip(n, &m->target)) {
		head = neighbors_head(n, &m->mac);
		neighbors_send(n, bytes,
		    who_has_make_answer(bytes, sizeof(bytes), &head, m, true));
		n->stats.answers++;
	}
	neighbors_learn(n, m, now);
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

bool
neighbors_have(struct neighbors *n, const struct peer *ip)
{
	return neighbors_have_vip(n, ip) || neighbors_find(n, ip) != NULL;
}

int
neighbors_init(
    struct neighbors *n, const struct neighbors_options *options, uint64_t now)
{
	unsigned i;

	memset(n, 0, sizeof(*n));
	for (i = 0; i < NEIGHBOR_QUEUES; i++)
		list_init(&n->queue[i]);
	n->options = *options;
	n->own6 =
	    options->ip6.family != 0 ? options->ip6 : link_local(&options->mac);
	n->limit = (struct rate_limit){ .count = NEIGHBOR_BURST,
		.period_ms = 1000 * NEIGHBOR_BURST / NEIGHBOR_RATE };
	/* No other host knows an address that we generated: it is not
	 * announced. */
	if (hash_table_init(&n->servers) < 0 || hash_table_init(&n->vips) < 0 ||
	    (options->ip6.family != 0 ? neighbors_add_vip(n, &n->own6, now)
				      : neighbors_take_vip(n, &n->own6)) < 0 ||
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
	struct list *link;
	unsigned i;

	/* Servers and VIPs begin with their entries. */
	for (i = 0; i < NEIGHBOR_QUEUES; i++)
		while ((link = list_first(&n->queue[i])) != NULL) {
			list_remove(link);
			free(list_entry(link, struct who_has_entry, order));
		}
	hash_table_fini(&n->servers);
	hash_table_fini(&n->vips);
}
