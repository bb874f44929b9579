/* decap.h: what a server of tunnels does, as a process, for kernels without such
 * devices: packets in IPv4 or IPv6 that reach it come out of its tun0. */
#ifndef PEN_TEST_DECAP_H
#define PEN_TEST_DECAP_H

#include "support/netrig.h"

/* Starts it there; it ends with the test. NULL, or why this machine cannot. */
const char *decap_start(const struct netrig *r, enum netrig_place where);

#endif
