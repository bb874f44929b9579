/* netframe.h: frames of a rig's interface, seen and sent by the test. */
#ifndef PEN_TEST_NETFRAME_H
#define PEN_TEST_NETFRAME_H

#include "support/netrig.h"

/* A tap on an interface. Frames wait in the socket, about 16 MiB of them,
 * until they are read. */
struct netrig_tap {
	int fd;
	int ifindex;
	unsigned char bytes[NETRIG_FRAME]; /* of the frame last read */
	size_t length;
	bool outgoing; /* sent by this host, not received */
};

/* Sees all frames from now on. */
void netrig_tap(struct netrig_tap *t, const struct netrig *r,
    enum netrig_place where, const char *interface);
/* Reads the next frame, 802.1Q tag included; false: none waits. */
bool netrig_tap_next(struct netrig_tap *t);
/* Frames that did not fit in since the last question. */
unsigned netrig_tap_lost(struct netrig_tap *t);
/* Sends one as it is, from that interface. */
void netrig_tap_send(
    const struct netrig_tap *t, const void *bytes, size_t length);
void netrig_tap_close(struct netrig_tap *t);

/* For frames made by hand: a number of two bytes, and the checksum of RFC 1071
 * over what contains zero where it goes to. */
void netrig_put16(unsigned char *p, unsigned n);
unsigned netrig_sum(const unsigned char *p, size_t n);

/* Asks the segment once by ARP or NDP, as the host at `from`, whose tap it is,
 * and reads all frames that wait. True, with the MAC, when an answer was among
 * them; to be called until then. */
bool netrig_who_has(struct netrig_tap *t, enum netrig_place from,
    const char *ip, uint8_t mac[6]);

#endif
