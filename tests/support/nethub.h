/* nethub.h: a learning switch as a process, for kernels without a bridge, and
 * for VLAN tags, which it adds and removes at ports that are said to be tagged
 * while no kernel needs to know about VLANs. */
#ifndef PEN_TEST_NETHUB_H
#define PEN_TEST_NETHUB_H

#include <stdint.h>
#include <sys/types.h>

struct nethub_port {
	const char *interface;
	uint16_t tag; /* 0: frames are untagged there */
};

/* Starts it in the namespace of the calling thread; returns its process, which
 * dies with the test. Ends with a port of a NULL interface. */
pid_t nethub_start(const struct nethub_port *ports);

#endif
