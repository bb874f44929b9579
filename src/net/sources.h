/* sources.h: the local addresses that sockets to servers are bound to, in
 * turn. */
#ifndef PEN_NET_SOURCES_H
#define PEN_NET_SOURCES_H

#include <stdbool.h>

#include "base/addr.h"

enum { SOURCES_MAX = 16 };

/* Ports are 0. None of a family: the system's choice for it. */
struct sources {
	unsigned count;
	struct peer at[SOURCES_MAX];
};

bool sources_equal(const struct sources *a, const struct sources *b);
/* How many have that family. `s` may be NULL here and below: no addresses. */
unsigned sources_of(const struct sources *s, int family);
/* The next one of that family after number *turn, in *copy, and sets *turn to
 * its number; NULL: there is none. */
const struct addr *sources_next(
    const struct sources *s, int family, unsigned *turn, struct addr *copy);

#endif
