/* forward_types.h: what control sets of forwarding, and sees of it. */
#ifndef PEN_DSR_FORWARD_TYPES_H
#define PEN_DSR_FORWARD_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "dsr/frame/frame_count.h"
#include "dsr/frame/mac.h"

/* How packets get to servers: rewritten, so that the frame goes to the server's
 * hardware address (LVS-DR), or in a tunnel (LVS-TUN). */
struct director_forward {
	bool tunnel;	     /* to servers without a setting of their own */
	bool tunnels;	     /* there are servers that get one, or may be */
	struct peer gateway; /* next hop of tunnels; family 0: none */
	struct mac gateway_mac;
	bool has_gateway_mac; /* then the other does not count */
};

/* The next hop of a server. */
struct director_path {
	bool tunnel;
	bool route; /* the next hop is the kernel's choice */
	bool has_mac;
	struct mac mac;	   /* of the next hop */
	unsigned path_mtu; /* of packets to the server; 0: not known */
};

/* Why a frame goes no further. */
enum director_drop {
	DIRECTOR_BAD,	/* malformed */
	DIRECTOR_OTHER, /* not for us */
	DIRECTOR_NO_SERVER,
	DIRECTOR_NEIGHBOR, /* the server's hardware address did not come to be
			    * known */
	DIRECTOR_FRAGMENT, /* whose first one was not seen */
	DIRECTOR_LOOP,	   /* sent back by the server that it would go to */
	DIRECTOR_SEND,	   /* the link, or the kernel's route, did not take */
	DIRECTOR_DROPS
};

/* "malformed", "not_local", .. */
const char *director_drop_name(enum director_drop why);

/* Bytes are those of frames as links have them; of what the kernel's route did
 * not take, those of the packets that were to go into the tunnel. */
struct director_stats {
	uint64_t received, received_bytes;   /* frames */
	uint64_t forwarded, forwarded_bytes; /* to servers */
	uint64_t tunnelled;		     /* packets of them, in tunnels */
	struct frame_count
	    too_big;	   /* for the tunnel: answered with ICMP, as far as
			    * the rate allows */
	uint64_t probes;   /* of those forwarded, of checks: ours */
	uint64_t answered; /* ARP, NDP, tarpit: ours */
	uint64_t pending;  /* had to wait for the server's hardware address */
	struct frame_count dropped[DIRECTOR_DROPS];
};

#endif
