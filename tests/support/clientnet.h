/* clientnet.h: a fixture whose clients have a network of their own, beyond the
 * director, so that servers can be shown their addresses.
 *
 *     client 10.9.0.1 ---- eth0 of the director, 10.9.0.2, .100.2 ---- servers
 *
 * The servers' way to clients leads through the director. */
#ifndef PEN_TEST_CLIENTNET_H
#define PEN_TEST_CLIENTNET_H

#include "support/net_fixture.h"

#define CLIENTNET_CLIENT4 "10.9.0.1"
#define CLIENTNET_CLIENT6 "fd09::1"
#define CLIENTNET_FRONT4  "10.9.0.2"
#define CLIENTNET_FRONT6  "fd09::2"

/* Builds it, as net_fixture_up() does, but for what delivers answers. */
const char *clientnet_up(struct net_fixture *r);
/* What servers send to clients is delivered to sockets of the director. */
void clientnet_deliver(const struct net_fixture *r);

#define NEED_CLIENTNET(fixture)              \
	do {                                 \
		const char *why;             \
                                             \
		NEED_PROGRAM("ip");          \
		why = clientnet_up(fixture); \
		if (why != NULL)             \
			SKIP(why);           \
	} while (0)

#endif
