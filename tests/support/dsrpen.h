/* dsrpen.h: pen as a director of a fixture.
 *
 * DSR_PEN names another program than PEN; the one it names is taken for a
 * classic pen, which has the basic form of DSR without IPv6 and gets no control
 * socket, as it wants one at an address. */
#ifndef PEN_TEST_DSRPEN_H
#define PEN_TEST_DSRPEN_H

#include "support/netframe.h"
#include "support/net_fixture.h"

struct dsrpen {
	struct child child;
	enum net_fixture_place where;
	const char *vip;
	const char *control; /* path of its socket; NULL: a classic one */
};

/* Is the program under test another one than ours? */
bool dsrpen_is_classic(void);
/* Does the pen under test know what DSR is? */
bool dsrpen_is_there(void);
#define NEED_DSR()                                             \
	do {                                                   \
		if (!dsrpen_is_there())                        \
			SKIP("the pen under test has no DSR"); \
	} while (0)
/* A classic one has no DSR for `what`. */
#define NEED_DSR_OF_OURS(what)                                               \
	do {                                                                 \
		NEED_DSR();                                                  \
		if (dsrpen_is_classic())                                     \
			SKIP(text("a classic pen has no DSR for %s", what)); \
	} while (0)
/* Starts `pen -f -O "dsr_if eth0" [-C control] WORDS...` in that place and
 * returns when it answers the client's question for the MAC of `vip`. The words
 * end with NULL. */
void dsrpen_up(struct dsrpen *p, const struct net_fixture *r,
    enum net_fixture_place where, const char *vip, ...)
    __attribute__((sentinel));
/* The same without waiting, and without a frame that is not the session's
 * own. */
void dsrpen_start(struct dsrpen *p, const struct net_fixture *r,
    enum net_fixture_place where, const char *vip, ...)
    __attribute__((sentinel));
/* One line to its control socket; what it answers, which must be no error. Not
 * for a classic one. */
const char *dsrpen_ask(const struct dsrpen *p, const char *line);
/* Whether penctl fails with that line, and with `why` in its message. */
bool dsrpen_is_refused(const struct dsrpen *p, const struct net_fixture *r,
    const char *line, const char *why);
/* SIGTERM; the test fails, with what pen says, unless it was still there and,
 * ours, exits with 0. */
void dsrpen_down(struct dsrpen *p);

#endif
