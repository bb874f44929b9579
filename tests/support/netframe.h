/* netframe.h: frames of a fixture's interface, seen and sent by the test. */
#ifndef PEN_TEST_NETFRAME_H
#define PEN_TEST_NETFRAME_H

#include "support/net_fixture.h"

/* A tap on an interface. Frames wait in the socket, about 16 MiB of them,
 * until they are read. */
struct net_fixture_tap {
	int fd;
	int ifindex;
	unsigned char bytes[NET_FIXTURE_FRAME]; /* of the frame last read */
	size_t length;
	bool outgoing; /* sent by this host, not received */
};

/* Sees all frames from now on. */
void net_fixture_tap(struct net_fixture_tap *t, const struct net_fixture *r,
    enum net_fixture_place where, const char *interface);
/* Reads the next frame, 802.1Q tag included; false: none waits. */
bool net_fixture_tap_next(struct net_fixture_tap *t);
/* Frames that did not fit in since the last question. */
unsigned net_fixture_tap_lost(struct net_fixture_tap *t);
/* Sends one as it is, from that interface. */
void net_fixture_tap_send(
    const struct net_fixture_tap *t, const void *bytes, size_t length);
void net_fixture_tap_close(struct net_fixture_tap *t);

/* For frames made by hand: a number of two bytes, and the checksum of RFC 1071
 * over what contains zero where it goes to. */
void net_fixture_put16(unsigned char *p, unsigned n);
unsigned net_fixture_sum(const unsigned char *p, size_t n);

/* Asks the segment once by ARP or NDP, as the host at `from`, whose tap it is,
 * and reads all frames that wait. True, with the MAC, when an answer was among
 * them; to be called until then. */
bool net_fixture_who_has(struct net_fixture_tap *t, enum net_fixture_place from,
    const char *ip, uint8_t mac[6]);

#endif
