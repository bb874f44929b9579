/* path_mtu.h: how large a packet may be on the way to a server. Pure: the clock
 * (ms) is passed in. */
#ifndef PEN_DSR_PATH_MTU_H
#define PEN_DSR_PATH_MTU_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* How long the report of a router is valid (RFC 1191, 6.3; RFC 8201,
	 * 4). */
	PATH_MTU_S = 600,
	/* A smaller one is an attack, to have each packet fragmented into many:
	 * 576 is what every host of IPv4 takes (RFC 791, 3.1), and no network
	 * that carries tunnels has less. */
	PATH_MTU_LEAST4 = 576,
	PATH_MTU_LEAST6 = 1280
};

/* All zero: nothing is known. */
struct path_mtu {
	uint32_t mtu;	  /* of outer packets; 0: not known */
	uint32_t until_s; /* seconds of the clock */
};

/* The MTU of the path, at most `link`, that of the interface. */
unsigned path_mtu_get(const struct path_mtu *p, unsigned link, uint64_t now);
/* A router reports that no more than `mtu` goes through to an address of this
 * family. It is believed when it is less than what was known. Returns whether
 * it was. */
bool path_mtu_lower(struct path_mtu *p, unsigned family, unsigned mtu,
    unsigned link, uint64_t now);

#endif
