/* tarpit.h: answers for unused addresses, which slows down hosts that scan a
 * network (the idea is that of Tom Liston's LaBrea).
 *
 *     a request    --- repeated, no host answers ----> it is here
 *     SYN          ---> SYN and ACK, window 0
 *     ACK          ---> ACK, window 0: when it is of such a connection
 *     all else     ---> nothing
 *
 * The client has a connection that takes no byte, and sends window probes for
 * ever (RFC 9293, 3.8.6.1). Nothing is remembered of it: our first sequence
 * number is a keyed hash of the addresses and ports, plus the client's own
 * first one. From what the client acknowledges we compute where it began, and
 * whether we ever answered it, however long ago. (With a time in it, as in a
 * SYN cookie, a connection would be known for minutes only. Two connections
 * with the same ports differ by the client's own number, RFC 6528.)
 *
 * An address in use must not be hit:
 *   - It becomes ours only when the same host has requested it from all again,
 *     over at least TARPIT_SILENT_MS: hosts send one each second, so that is
 *     the third request, and the answer still is in time. We request it too,
 *     and a host that answers has it. Without an own address our request is a
 *     probe, which makes other tarpits ignore the address.
 *   - A host that claims an address, in any message of ARP or NDP that we get,
 *     has it; so does one that sends a probe, which gets no answer. The address
 *     is left alone for TARPIT_USED_MS.
 *   - After TARPIT_OURS_MS it is ours no longer, and all starts over: a host
 *     that sends a request only to us must request it from all again.
 *   - Advertisements do not override existing entries.
 * TARPIT_TRAPS addresses are remembered, those that were mentioned last; for
 * another one all starts over.
 *
 * A SYN that was sent to us for an address that is not known to be in use is
 * answered even without a request: a router may send us whole networks.
 *
 * All frames that leave count against TARPIT_RATE. Answers are no longer than
 * what they answer, but senders may be forged: that bounds what we can be made
 * to send, at a tenth of the slowest Ethernet.
 *
 * Pure: the clock (ms) is passed in, frames leave through a callback. */
#ifndef PEN_DSR_TARPIT_H
#define PEN_DSR_TARPIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/rate_limit.h"
#include "dsr/segment/who_has.h"

enum {
	TARPIT_TRAPS = 4096,	 /* addresses remembered */
	TARPIT_SILENT_MS = 1500, /* from the first request to the last */
	TARPIT_REPEAT_MS = 5000, /* between two of them at most */
	TARPIT_REPLY_MS = 500,	 /* for a reply to ours */
	TARPIT_OURS_MS = 60000,	 /* ours, before it must be silent again */
	TARPIT_USED_MS = 600000, /* in use */
	TARPIT_RATE = 1000,	 /* frames a second */
	TARPIT_BURST = 1000,	 /* of them at once */
	TARPIT_REQUESTS = 200,	 /* a second */
	TARPIT_REQUESTS_BURST = 500
};

struct tarpit_stats {
	uint64_t arp; /* answered, NDP too */
	uint64_t syn, ack;
	uint64_t limited; /* not answered for the rate */
};

struct tarpit_options {
	struct mac mac; /* ours */
	/* The source of requests; family 0: none, which hosts answer, too. */
	struct peer ip4, ip6;
	/* Whether the tarpit may take it if it is unused. */
	bool (*is_wanted)(void *arg, const struct peer *ip);
	/* The bytes are the caller's until it returns. */
	void (*send)(void *arg, const unsigned char *bytes, size_t length);
	void *arg;
};

struct trap;

struct tarpit {
	struct tarpit_stats stats; /* readable */

	/* Private. */
	struct tarpit_options options;
	struct hash_key key;
	struct rate_bucket answers, requests;
	struct hash_table table;
	struct list order; /* the one not mentioned for longest first */
	struct trap *traps;
};

/* Returns 0, or -1 with errno ENOMEM. */
int tarpit_init(struct tarpit *t, const struct tarpit_options *options);
/* Harmless on zeroes. */
void tarpit_fini(struct tarpit *t);

/* A message was received, from and to any host: answers, sends requests, notes
 * it. */
void tarpit_on_message(struct tarpit *t, const struct who_has *m, uint64_t now);
/* A frame of FRAME_FLOW for an address that is no VIP, whose checksum is right.
 * Returns whether it was one to be answered; it is not when the rate is used
 * up. */
bool tarpit_on_flow(struct tarpit *t, const struct frame *f, uint64_t now);

#endif
