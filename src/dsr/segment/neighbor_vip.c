/* neighbor_vip.c: addresses that are ours: announced, defended. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/neighbor_private.h"

struct vip {
	struct hash_table_link link;
	struct list order;
	struct peer ip;
	uint64_t due;  /* of the next announcement */
	unsigned left; /* announcements */
	uint64_t told; /* of a conflict: ms */
	bool ever_told;
};

static bool
is_key(const struct hash_table_link *l, const void *key)
{
	const struct vip *v =
	    (const struct vip *)(const void *)((const char *)l -
		offsetof(struct vip, link));

	return neighbor_is(key, &v->ip);
}

static struct vip *
find(const struct neighbors *n, const struct peer *ip)
{
	struct neighbor_key key;
	uint64_t hash = neighbor_hash(&n->vips, ip, &key);
	struct hash_table_link *l =
	    hash_table_find(&n->vips, hash, is_key, &key);

	return l != NULL ? list_entry(l, struct vip, link) : NULL;
}

bool
neighbors_have_vip(const struct neighbors *n, const struct peer *ip)
{
	return find(n, ip) != NULL;
}

/* ---- announcing ---- */

/* RFC 5227, 2.3: a request for the address that is also the sender's. */
static void
announce_arp(struct neighbors *n, const struct vip *v)
{
	struct arp a = { .sender_mac = n->options.mac, .request = true };

	memcpy(a.sender, v->ip.ip + 12, 4);
	memcpy(a.target, v->ip.ip + 12, 4);
	neighbors_send_arp(n, &mac_broadcast, &a);
}

/* RFC 4861, 7.2.6. */
static void
announce_ndp(struct neighbors *n, const struct vip *v)
{
	struct ndp d = { .advertisement = true,
		.override = true,
		.has_mac = true,
		.mac = n->options.mac };

	memcpy(d.from, v->ip.ip, 16);
	memcpy(d.target, v->ip.ip, 16);
	memcpy(d.to, ndp_all_nodes, 16);
	neighbors_send_ndp(n, &mac_broadcast, &d);
}

static void
announce(struct neighbors *n, const struct vip *v)
{
	if (v->ip.family == AF_INET)
		announce_arp(n, v);
	else
		announce_ndp(n, v);
}

static void
start_announcing(struct neighbors *n, struct vip *v, uint64_t now)
{
	v->left = NEIGHBOR_ANNOUNCE;
	v->due = now;
	list_remove(&v->order);
	list_prepend(&n->announcing, &v->order);
}

void
neighbors_tick_vips(struct neighbors *n, uint64_t now)
{
	struct list *link;
	struct vip *v;

	while ((link = list_first(&n->announcing)) != NULL) {
		v = list_entry(link, struct vip, order);
		if (v->due > now)
			return;
		announce(n, v);
		v->due = now + NEIGHBOR_ANNOUNCE_MS;
		list_remove(&v->order);
		list_append(
		    --v->left > 0 ? &n->announcing : &n->silent, &v->order);
	}
}

void
neighbors_announce(struct neighbors *n, uint64_t now)
{
	struct list all = LIST_INIT(all),
		    *from[] = { &n->announcing, &n->silent }, *link;
	int i;

	for (i = 0; i < 2; i++)
		while ((link = list_first(from[i])) != NULL) {
			list_remove(link);
			list_append(&all, link);
		}
	while ((link = list_last(&all)) != NULL)
		start_announcing(n, list_entry(link, struct vip, order), now);
	neighbors_tick_vips(n, now);
}

/* ---- conflicts ---- */

bool
neighbors_claimed(
    struct neighbors *n, const struct announcement *c, uint64_t now)
{
	struct vip *v = c->ip.family != 0 ? find(n, &c->ip) : NULL;

	if (v == NULL || mac_equal(&c->mac, &n->options.mac))
		return v != NULL;
	n->stats.conflicts++;
	if (v->ever_told && now - v->told < NEIGHBOR_CONFLICT_MS)
		return true;
	v->ever_told = true;
	v->told = now;
	if (n->options.on_conflict != NULL &&
	    n->options.on_conflict(n->options.arg, &v->ip, &c->mac))
		announce(n, v);
	return true;
}

/* ---- life ---- */

int
neighbors_take_vip(struct neighbors *n, const struct peer *ip)
{
	struct neighbor_key key;
	struct vip *v;

	if (neighbors_have_vip(n, ip))
		return 0;
	v = calloc(1, sizeof(*v));
	if (v == NULL)
		return -1;
	v->ip = *ip;
	v->ip.port = 0;
	list_append(&n->silent, &v->order);
	hash_table_add(&n->vips, &v->link, neighbor_hash(&n->vips, ip, &key));
	return 0;
}

int
neighbors_add_vip(struct neighbors *n, const struct peer *ip, uint64_t now)
{
	if (neighbors_have_vip(n, ip))
		return 0;
	if (neighbors_take_vip(n, ip) < 0)
		return -1;
	start_announcing(n, find(n, ip), now);
	neighbors_tick_vips(n, now);
	return 0;
}

static void
free_vip(struct neighbors *n, struct vip *v)
{
	list_remove(&v->order);
	hash_table_remove(&n->vips, &v->link);
	free(v);
}

void
neighbors_remove_vip(struct neighbors *n, const struct peer *ip)
{
	struct vip *v = find(n, ip);

	if (v != NULL)
		free_vip(n, v);
}

void
neighbors_free_vips(struct neighbors *n)
{
	struct list *from[] = { &n->announcing, &n->silent }, *link;
	int i;

	for (i = 0; i < 2; i++)
		while ((link = list_first(from[i])) != NULL)
			free_vip(n, list_entry(link, struct vip, order));
}
