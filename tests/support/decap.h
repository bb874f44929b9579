/* decap.h: what a server of tunnels does, as a process, for kernels without
 * such devices: packets in IPv4 or IPv6 that reach it come out of its tun0. */
#ifndef PEN_TEST_DECAP_H
#define PEN_TEST_DECAP_H

#include "support/dsrpen.h"
#include "support/net_fixture.h"

/* Starts it there; it ends with the test. NULL, or why this machine cannot. */
const char *decap_start(
    const struct net_fixture *r, enum net_fixture_place where);
/* At all servers. */
const char *decap_start_all(const struct net_fixture *r);

/* A fixture whose servers take tunnels, and a pen that makes them. */
#define NEED_TUNNELS(fixture, options)                  \
	do {                                            \
		const char *lacks;                      \
		NEED_DSR_OF_OURS("tunnels");            \
		NEED_NET_FIXTURE((fixture), (options)); \
		lacks = decap_start_all(fixture);       \
		if (lacks != NULL)                      \
			SKIP(lacks);                    \
	} while (0)

#endif
