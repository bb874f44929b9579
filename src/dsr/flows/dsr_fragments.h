/* dsr_fragments.h: which server the fragments of a packet go to.
 *
 * Only the first fragment has ports; the others have its id, which the sender
 * chose. A ring of fixed size: all live equally long, so the oldest is
 * always the next to go, and when it is full it goes early. Adding and finding
 * are O(1), and memory is never more. Pure: the clock is passed in, in ms. */
#ifndef PEN_DSR_DSR_FRAGMENTS_H
#define PEN_DSR_DSR_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/hash_table.h"

/* As long as Linux waits for the rest (ipfrag_time). */
enum { DSR_FRAGMENT_MS = 30000 };

/* RFC 791, 3.2; RFC 8200, 4.5. Compared and hashed as bytes. */
struct dsr_fragment_key {
	uint8_t from[16], to[16];
	uint32_t id;
	/* 0 in IPv6, where it is no part of the name: the header that follows
	 * the fragment header may differ from one fragment to the next. */
	uint8_t protocol;
	uint8_t family;
	uint16_t zero;
};

struct dsr_fragment; /* private */

struct dsr_fragments {
	struct hash_table table;
	struct dsr_fragment *ring;
	uint32_t size, next;
};

/* Returns 0, or -1 with errno ENOMEM. size is at least 1. */
int dsr_fragments_init(struct dsr_fragments *fr, uint32_t size);
void dsr_fragments_fini(struct dsr_fragments *fr);

/* Ports in the peers do not count. */
void dsr_fragment_key_make(struct dsr_fragment_key *key,
    const struct peer *from, const struct peer *to, uint8_t protocol,
    uint32_t id);

/* Remembers a server; one of the same name is replaced. */
void dsr_fragments_add(struct dsr_fragments *fr,
    const struct dsr_fragment_key *key, uint32_t server, uint64_t now);
/* Whether the packet is known; sets its server. */
bool dsr_fragments_find(const struct dsr_fragments *fr,
    const struct dsr_fragment_key *key, uint64_t now, uint32_t *server);

#endif
