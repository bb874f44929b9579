/* dsrmodel.h: a director is given frames of all kinds, and what it sends is
 * held against a model: what must leave, in the same order, of one flow always
 * to the same server; and nothing else does. */
#ifndef PEN_TEST_DSRMODEL_H
#define PEN_TEST_DSRMODEL_H

#include "support/dsrpen.h"
#include "support/framegen.h"
#include "support/netframe.h"

enum { DSRMODEL_SERVERS = 2 };

/* How packets get to servers. */
struct dsrmodel_way {
	const char *option[4]; /* of pen's; unused ones are NULL */
	bool other_family;     /* of servers' addresses than the VIP's */
	/* Whether what has left is what must leave because of m, or, when *more
	 * is set on its return, a part of that, and the next will be asked
	 * about with the same m. */
	bool (*is_it)(const struct net_fixture_tap *out,
	    const struct framegen_frame *m, bool *more);
	/* Whom it goes to; -1: no server. */
	int (*server_of)(const struct net_fixture_tap *out);
};

#define NEED_DSRMODEL()                                         \
	do {                                                    \
		if (dsrpen_is_classic())                        \
			SKIP("a classic pen judges no frames"); \
		NEED_DSR();                                     \
	} while (0)

/* Ten thousand frames to a VIP of this family, for that port of it (0: all). */
void dsrmodel_expect(const struct dsrmodel_way *w, bool v6, uint16_t port);

#endif
