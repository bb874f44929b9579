/* who_has.h: requests and replies for the MAC of an address, for all that send
 * or receive them: servers, VIPs, the tarpit, --check. ARP for IPv4 (RFC 826,
 * 5227) and NDP for IPv6 (RFC 4861) are one message here:
 *
 *                  sender                      target
 *     request      the host that sends it;     the address requested
 *                  none: a probe
 *     answer       the address, with its MAC   NDP: the same; ARP: that host
 *
 * A probe is for an address that its sender wants to use (RFC 5227, 2.1.1; RFC
 * 4862, 5.4). Neither protocol proves anything. Pure. */
#ifndef PEN_DSR_WHO_HAS_H
#define PEN_DSR_WHO_HAS_H

#include "base/addr.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "dsr/frame/frame.h"

struct who_has {
	bool request;	    /* else an answer, or an announcement */
	struct peer sender; /* has `mac`; family 0: none */
	struct peer target;
	struct mac mac;
	/* The Ethernet header that it came with; an answer needs none of it. */
	struct mac from, to;
	uint16_t vlan; /* the tag's 16 bits */
	/* Of an answer: to a request; and it replaces a MAC that is known. ARP
	 * has neither, so that both are true. */
	bool solicited, override;
};

/* Whether an address is all zeroes: unspecified. */
bool who_has_is_nobody(const struct peer *ip);
/* Reads a frame of ARP or NDP; false: it is neither, or not valid. */
bool who_has_read(const struct frame *f, struct who_has *w);
/* Whether it came from someone else, to `own` or to a group. */
bool who_has_concerns(const struct who_has *w, const struct mac *own);
/* Whether one machine can have sent it: its MACs are no groups, nor zero. */
bool who_has_is_possible(const struct who_has *w);

/* Each writes a frame as frame_make_X() do, from head->from, with that MAC as
 * the sender's. */

/* `sender`: family 0 for a probe. In NDP a probe, and what goes to a broadcast,
 * goes to the group of the target. */
size_t who_has_make_request(unsigned char *out, size_t room,
    const struct frame_head *head, const struct peer *sender,
    const struct peer *target);
/* The answer to a request for an address of ours. One to a probe goes to all
 * where the protocol is NDP (RFC 4861, 7.2.4). ARP always overrides. */
size_t who_has_make_answer(unsigned char *out, size_t room,
    const struct frame_head *head, const struct who_has *request,
    bool override);
/* Announces to all that the address is ours (RFC 5227, 2.3; RFC 4861,
 * 7.2.6). */
size_t who_has_make_announcement(unsigned char *out, size_t room,
    const struct frame_head *head, const struct peer *ip);

/* ---- tables of addresses ---- */

/* The first member of what a table has. */
struct who_has_entry {
	struct hash_table_link link;
	struct list order; /* the owner's */
	struct peer ip;
};

/* Whether it is the same address; ports and scopes do not count, here and
 * below: a table is of one segment. */
bool who_has_same_ip(const struct peer *a, const struct peer *b);
/* NULL: the table has no such address. */
void *who_has_find(const struct hash_table *t, const struct peer *ip);
/* Adds an entry with this address, which the table does not have. */
void who_has_add(
    struct hash_table *t, struct who_has_entry *e, const struct peer *ip);

#endif
