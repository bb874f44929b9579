/* sticky_away.h: where remembered clients came from, for the setting failback:
 * 8 bytes each, by the number of a client's entry, in slabs that are made when
 * a first client of them is noted. */
#ifndef PEN_POOL_STICKY_AWAY_H
#define PEN_POOL_STICKY_AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one client. */
struct sticky_away {
	uint32_t home; /* number + 1 of the server that it was moved away from,
			* having been served there; 0: none */
	uint32_t open; /* its connections, of those opened since it is noted */
};

struct sticky_aways {
	struct sticky_away **slab;
	size_t slabs;
	bool on; /* clients are noted */
};

/* Initializes, for client numbers up to `max`. Returns 0, or -1 with errno
 * ENOMEM. */
int sticky_aways_init(struct sticky_aways *t, size_t max);
void sticky_aways_fini(struct sticky_aways *t);
/* Takes over what another one has, which fits and is left empty. */
void sticky_aways_take(struct sticky_aways *t, struct sticky_aways *from);
/* Notes clients from now on, or forgets all and notes none. */
void sticky_aways_set(struct sticky_aways *t, bool on);

/* The note about client number `i`, or NULL. */
struct sticky_away *sticky_aways_get(const struct sticky_aways *t, uint32_t i);
/* Client `i` opens one more connection, to `server`. Its last server was
 * `before`, which is noted as its home if that is another one, and it has no
 * home yet; not if that one never moved a byte with it (`served`), as a connect
 * may have failed there. Back at its home it has none. */
void sticky_aways_opened(struct sticky_aways *t, uint32_t i, unsigned server,
    unsigned before, bool served);
/* One of the connections of client number `i` was closed. */
void sticky_aways_closed(struct sticky_aways *t, uint32_t i);
/* Removes the note of client number `i`. */
void sticky_aways_clear(struct sticky_aways *t, uint32_t i);
/* Moves the note of number `from` to number `to`. */
void sticky_aways_move(struct sticky_aways *t, uint32_t from, uint32_t to);

#endif
