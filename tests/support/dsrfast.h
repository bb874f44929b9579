/* dsrfast.h: a director with a fast path, and flows that are the kernel's: what
 * two programs that test it share. */
#ifndef PEN_TEST_DSRFAST_H
#define PEN_TEST_DSRFAST_H

#include <stdbool.h>

#include "support/dsrnet.h"

/* A flow's bytes until the kernel may have it; the size of a datagram. */
enum { DSRFAST_SOME = 200000, DSRFAST_SIZE = 1000 };

/* Why this build has no fast path, or NULL. */
const char *dsrfast_missing(void);
/* As dsrnet_begin(), with this option of pen's: NULL, or why this machine has
 * no fast path. */
const char *dsrfast_begin(struct dsrnet *n, struct net_fixture *fixture,
    const char *vip, int type, const char *option);
#define NEED_DSRFAST_WITH(net, fixture, options, vip, type, option)   \
	do {                                                          \
		const char *reason = dsrfast_missing();               \
		NEED_DSR_OF_OURS("a fast path");                      \
		if (reason != NULL)                                   \
			SKIP(reason);                                 \
		NEED_NET_FIXTURE(fixture, options);                   \
		if ((reason = dsrfast_begin(                          \
			 net, fixture, vip, type, option)) != NULL) { \
			dsrnet_end(net);                              \
			SKIP(reason);                                 \
		}                                                     \
	} while (0)
#define NEED_DSRFAST(net, fixture, options, vip, type) \
	NEED_DSRFAST_WITH(                                                    \
	    net, fixture, options, vip, type, "-Odsr_fast_path on")

/* The switch takes what XDP sends only while it merges packets (GRO). */
void dsrfast_switch_merges(const struct dsrnet *n, bool on);

/* What a command says, which is no error. */
const char *dsrfast_ask(const struct dsrnet *n, const char *line);
/* A number of `dsr`. */
long dsrfast_count(const struct dsrnet *n, const char *name);

/* Passes bytes; whether more frames than before went by the fast path. */
bool dsrfast_passes(const struct dsrnet *n, int near, int far, long before);
/* A connection that the kernel has. Returns the server. */
unsigned dsrfast_connect(const struct dsrnet *n, int *near, int *far);
/* Datagrams, and answers to them, until the kernel has them; returns their
 * server, which is one for all. */
unsigned dsrfast_echo(const struct dsrnet *n, int near);

/* Adds a test with so many forms. */
#define DSRFAST_ADD(suite, test, forms)                      \
	do {                                                 \
		TCase *each = tcase_create(#test);           \
		tcase_set_timeout(each, 60);                 \
		tcase_add_loop_test(each, test, 0, (forms)); \
		suite_add_tcase(suite, each);                \
	} while (0)

#endif
