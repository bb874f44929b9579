/* dsrnet.h: a director in a fixture whose servers' sockets are the test's own,
 * bound to the VIP as those of real servers are, so that it is the test that
 * sees where something arrives, and says what is answered. */
#ifndef PEN_TEST_DSRNET_H
#define PEN_TEST_DSRNET_H

#include "support/dsrpen.h"
#include "support/net_fixture.h"

enum { DSRNET_PORT = 7007 };

struct dsrnet {
	struct net_fixture *fixture;
	const char *vip;
	int type;
	const char *option; /* the caller's, set before; NULL: none */
	struct dsrpen pen;
	/* The servers' sockets, fixture->is.servers of them. */
	int at[NET_FIXTURE_SERVERS];
};

/* Opens the sockets (SOCK_STREAM or SOCK_DGRAM) and starts pen for all ports of
 * the VIP with all servers of the fixture, round robin; dsrnet_end() is the end
 * of the fixture, too. */
void dsrnet_begin(
    struct dsrnet *n, struct net_fixture *fixture, const char *vip, int type);
void dsrnet_end(struct dsrnet *n);

/* The sockets alone; the caller starts n->pen. */
void dsrnet_open(
    struct dsrnet *n, struct net_fixture *fixture, const char *vip, int type);

/* A client's socket that begins to connect to the VIP. */
int dsrnet_dial(const struct dsrnet *n);
/* Waits until something is at a server; returns its index. */
unsigned dsrnet_wait(const struct dsrnet *n);
/* The client's end of a connection; *far and the result are the server's. */
unsigned dsrnet_connect(const struct dsrnet *n, int *near, int *far);
/* Sends `bytes` from the one and reads them at the other. */
void dsrnet_pass(int from, int to, size_t bytes);
/* Sends a datagram of that size; the server that has got it answers with
 * another. Returns that server. */
unsigned dsrnet_echo(
    const struct dsrnet *n, int near, size_t ask, size_t answer);

#endif
