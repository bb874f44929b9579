/* who_has.c: see who_has.h. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "dsr/segment/who_has.h"

/* ---- in ---- */

bool
who_has_is_nobody(const struct peer *ip)
{
	static const uint8_t zero[16];

	return memcmp(ip_of_peer(ip), zero, ip->family == AF_INET ? 4 : 16) ==
	    0;
}

static struct peer
who_has_sender(unsigned family, const uint8_t *ip)
{
	struct peer p;

	peer_of_ip(&p, family, ip);
	return who_has_is_nobody(&p) ? (struct peer){ .family = 0 } : p;
}

bool
who_has_read(const struct frame *f, struct who_has *w)
{
	struct arp a;
	struct ndp d;
	bool arp = frame_read_arp(f, &a);

	if (!arp && !frame_read_ndp(f, &d))
		return false;
	w->from = frame_mac_from(f);
	w->to = frame_mac_to(f);
	w->vlan = f->vlan;
	if (arp) {
		w->request = a.request;
		w->solicited = w->override = !a.request;
		w->mac = a.sender_mac;
		w->sender = who_has_sender(AF_INET, a.sender);
		peer_of_ip(&w->target, AF_INET, a.target);
		return true;
	}
	/* An advertisement is for its target, whichever host sends it: a proxy
	 * may (RFC 4861, 7.2.8). Without the option the Ethernet header has the
	 * MAC. */
	w->request = !d.advertisement;
	w->solicited = d.solicited;
	w->override = d.override;
	w->mac = d.has_mac ? d.mac : w->from;
	peer_of_ip(&w->target, AF_INET6, d.target);
	w->sender = w->request ? who_has_sender(AF_INET6, d.from) : w->target;
	return true;
}

bool
who_has_concerns(const struct who_has *w, const struct mac *own)
{
	return !mac_equal(&w->from, own) &&
	    (!mac_is_station(&w->to) || mac_equal(&w->to, own));
}

bool
who_has_is_possible(const struct who_has *w)
{
	return mac_is_station(&w->from) && mac_is_station(&w->mac);
}

/* ---- out ---- */

/* An address of family 0 is all zeroes, as a probe's sender is. */
size_t
who_has_make_request(unsigned char *out, size_t room,
    const struct frame_head *head, const struct peer *sender,
    const struct peer *target)
{
	struct arp a = { .sender_mac = head->from, .request = true };
	struct ndp d = { .has_mac = sender->family != 0, .mac = head->from };

	if (target->family == AF_INET) {
		memcpy(a.sender, ip_of_peer(sender), 4);
		memcpy(a.target, ip_of_peer(target), 4);
		return frame_make_arp(out, room, head, &a);
	}
	memcpy(d.from, sender->ip, 16);
	memcpy(d.target, target->ip, 16);
	if (sender->family == 0 || mac_equal(&head->to, &mac_broadcast))
		ndp_group(d.to, target->ip);
	else
		memcpy(d.to, target->ip, 16);
	return frame_make_ndp(out, room, head, &d);
}

size_t
who_has_make_answer(unsigned char *out, size_t room,
    const struct frame_head *head, const struct who_has *request, bool override)
{
	struct arp a = { .sender_mac = head->from, .target_mac = request->mac };
	bool probe = request->sender.family == 0;
	struct ndp d = { .advertisement = true,
		.solicited = !probe,
		.override = override,
		.has_mac = true,
		.mac = head->from };

	if (request->target.family == AF_INET) {
		memcpy(a.sender, ip_of_peer(&request->target), 4);
		memcpy(a.target, ip_of_peer(&request->sender), 4);
		return frame_make_arp(out, room, head, &a);
	}
	memcpy(d.from, request->target.ip, 16);
	memcpy(d.target, request->target.ip, 16);
	memcpy(d.to, probe ? ndp_all_nodes : request->sender.ip, 16);
	return frame_make_ndp(out, room, head, &d);
}

/* Makes an announcement. In ARP it is a request of the sender for itself: hosts
 * that ignore unsolicited replies learn from it, too. In NDP it is the answer
 * to a probe. */
size_t
who_has_make_announcement(unsigned char *out, size_t room,
    const struct frame_head *head, const struct peer *ip)
{
	struct who_has probe = { .request = true, .target = *ip };

	if (ip->family == AF_INET)
		return who_has_make_request(out, room, head, ip, ip);
	return who_has_make_answer(out, room, head, &probe, true);
}

/* ---- tables of addresses ---- */

struct key {
	uint8_t ip[16];
	uint16_t family;
};
_Static_assert(sizeof(struct key) == 18, "a key has no holes");

static uint64_t
who_has_hash(const struct hash_table *t, const struct peer *ip)
{
	struct key k = { .family = ip->family };

	memcpy(k.ip, ip->ip, sizeof(k.ip));
	return hash_table_hash(t, &k, sizeof(k));
}

bool
who_has_same_ip(const struct peer *a, const struct peer *b)
{
	return a->family == b->family &&
	    memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static bool
has_ip(const struct hash_table_link *l, const void *ip)
{
	const struct who_has_entry *e =
	    (const struct who_has_entry *)(const void *)((const char *)l -
		offsetof(struct who_has_entry, link));

	return who_has_same_ip(&e->ip, ip);
}

void *
who_has_find(const struct hash_table *t, const struct peer *ip)
{
	struct hash_table_link *l =
	    hash_table_find(t, who_has_hash(t, ip), has_ip, ip);

	return l != NULL ? list_entry(l, struct who_has_entry, link) : NULL;
}

void
who_has_add(
    struct hash_table *t, struct who_has_entry *e, const struct peer *ip)
{
	e->ip = *ip;
	e->ip.port = 0;
	hash_table_add(t, &e->link, who_has_hash(t, ip));
}
