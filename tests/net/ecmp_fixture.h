/* ecmp_fixture.h: three hosts of the guide behind a router, each with a pen, a
 * BIRD and ecmp-announce.sh; a client beyond the router. Needs root. */
#ifndef PEN_TEST_ECMP_FIXTURE_H
#define PEN_TEST_ECMP_FIXTURE_H

#include "support/guide.h"

enum { ECMP_HOSTS = 3, ECMP_SERVERS = 2, ECMP_SOON = 30000 };

struct ecmp_host {
	enum net_fixture_place where;
	struct pen pen;
	struct child bird, announcer;
};

extern struct ecmp_host ecmp_hosts[ECMP_HOSTS];

/* Makes the network and the router, 192.0.2.1, with its BIRD, and gives the
 * servers, 192.0.2.21 and .22, their addresses; NULL, or why this machine
 * cannot. */
const char *ecmp_up(struct guide *g);
#define NEED_ECMP(g)                          \
	do {                                  \
		const char *why = ecmp_up(g); \
		if (why != NULL)              \
			SKIP(why);            \
	} while (0)
void ecmp_down(struct guide *g);

/* Carries out lines of a shell there. */
void ecmp_carry_out(
    struct guide *g, enum net_fixture_place where, const char *lines);
/* Starts host i, 192.0.2.11 + i: carries out those lines, starts pen with the
 * guide's file, BIRD with what `bird` returns, and ecmp-announce.sh. */
void ecmp_start(struct guide *g, int i, const char *(*at_boot)(void),
    const char *(*bird)(void));
/* The router's routes to an address, as ip shows them; "" without. */
const char *ecmp_routes(struct guide *g, const char *address);

#endif
