/* dsrmany.h: servers of a fixture that answer each byte with their number, and
 * a client with many connections to them at a time.
 *
 * An answer tells which server it came from: whoever gets two kinds of answers
 * in a connection was moved. */
#ifndef PEN_TEST_DSRMANY_H
#define PEN_TEST_DSRMANY_H

#include <poll.h>

#include "support/net_fixture.h"
#include "support/nginx.h"

enum { DSRMANY_PORT = 7007, DSRMANY_MAX = 1024 };

/* Server i, a process of its own: TCP and UDP at that port of both first VIPs.
 * It answers '0' + i for each byte or datagram. It ends with the test. */
void dsrmany_serve(const struct net_fixture *r, unsigned i);
/* The same with another address in place of the one of IPv4. */
void dsrmany_serve_at(const struct net_fixture *r, unsigned i, const char *vip);
/* nginx on server i, at port 80 of both families: "/page" is `size` times
 * '0' + i. */
void dsrmany_web(const struct net_fixture *r, unsigned i, struct nginx *n,
    size_t size);

enum dsrmany_fate {
	DSRMANY_GOES_ON,
	DSRMANY_ENDED, /* by the server, in order */
	DSRMANY_BROKEN /* or closed here */
};

struct dsrmany_one {
	enum dsrmany_fate fate;
	int server;  /* its number, from the first byte; -1: none has come */
	bool moved;  /* another byte came later */
	bool asked;  /* connected, and the first question is sent */
	size_t got;  /* bytes */
	size_t want; /* bytes of answers, for dsrmany_ask() */
};

struct dsrmany {
	const struct net_fixture *fixture;
	const char *question; /* the first one; NULL: a byte */
	/* So many bytes are read of each, by now; what is more stays with the
	 * sender. 0: all. The caller sets it. */
	size_t most;
	unsigned count;
	struct pollfd fd[DSRMANY_MAX]; /* -1: over */
	struct dsrmany_one one[DSRMANY_MAX];
};

void dsrmany_init(
    struct dsrmany *m, const struct net_fixture *r, const char *question);
/* One more of the client's, `from` this address of its (NULL: any). */
void dsrmany_add(
    struct dsrmany *m, int type, const char *from, const char *vip, int port);
/* Waits up to `ms` for news, and takes them. */
void dsrmany_turn(struct dsrmany *m, int ms);
/* Turns until each is over or has had an answer; the test fails after `ms`. */
void dsrmany_wait_known(struct dsrmany *m, int ms);
/* Sends a byte more. */
void dsrmany_ask(struct dsrmany *m, unsigned i);
/* Turns until all answers of those that go on are there, or `ms` have passed;
 * returns how many lack one. */
unsigned dsrmany_wait_answers(struct dsrmany *m, int ms);
/* How many go on. */
unsigned dsrmany_open(const struct dsrmany *m);
/* So many go on, and each gets so many bytes more, or there is a failure: what
 * was sent before an event must be less. */
void dsrmany_expect_progress(struct dsrmany *m, size_t bytes, unsigned open);
/* How many of those that go on have that server. */
unsigned dsrmany_count(const struct dsrmany *m, int server);
void dsrmany_close(struct dsrmany *m, unsigned i);
void dsrmany_close_all(struct dsrmany *m);

#endif
