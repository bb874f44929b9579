/* route.h: packets that leave by the kernel's route, in tunnels it makes the
 * outer header of: its choice of interface, source address and next hop, its
 * firewall, its path MTUs.
 *
 *     route_send .. route_send -> route_flush       errors -> route_next_error
 *
 * The sockets are raw ones: opening them needs the right to that (CAP_NET_RAW),
 * using them none. */
#ifndef PEN_DSR_ROUTE_H
#define PEN_DSR_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "dsr/frame/frame_count.h"

struct route;

/* The route to a host. */
struct route_path {
	unsigned mtu;	  /* of packets there, by the kernel's route cache */
	struct peer from; /* the own address they have, port 0 */
};

/* Reads the kernel's route; needs no rights and sends nothing. Returns 0, or -1
 * with errno (ENETUNREACH and others): there is no route. */
int route_find(const struct peer *to, struct route_path *w);

/* NULL with a full message. A family this machine does not have is left out. */
struct route *route_open(struct error *e);
void route_close(struct route *r); /* NULL is fine */

struct route_packet {
	const struct peer *to; /* the tunnel's end; its port does not count */
	const unsigned char *bytes; /* the inner packet: until route_flush() */
	size_t length;
	unsigned family; /* of the inner packet */
	uint8_t class;	 /* with congestion bits */
	/* The outer packet may be fragmented, here and by routers of IPv4. Else
	 * one that does not fit is not sent. */
	bool may_fragment;
};

/* Puts it to the others, which leave first when there are too many. What of
 * those that left now, or of this one, was not taken is added to *lost. */
void route_send(
    struct route *r, const struct route_packet *p, struct frame_count *lost);
/* Sends all. What of it was not taken is added to *lost: packets, and their
 * bytes as they were given. */
void route_flush(struct route *r, struct frame_count *lost);

struct route_error {
	struct peer to; /* about a packet to this host, port 0 */
	struct peer by; /* the sender; family 0: the kernel itself */
	int error;	/* errno: EMSGSIZE, EHOSTUNREACH and others */
};

/* The next error that the kernel has queued about packets that were sent;
 * false: no more. */
bool route_next_error(struct route *r, struct route_error *e);

#endif
