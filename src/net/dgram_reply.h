/* dgram_reply.h: sockets to answer from, where the address must be named.
 *
 * A listener at 0.0.0.0 has to name the address of this host that each answer
 * leaves from: packet information costs the kernel 780 instructions a datagram,
 * and an IP identification 300 (unconnected sockets share a generator). A
 * socket that is bound to that address has it anyway. It is connected, to
 * itself, so that it receives nothing that the listener would have. Linux,
 * IPv4; elsewhere, and where one cannot be opened, as at a port that needs a
 * privilege which was given up, answers are sent with packet information. */
#ifndef PEN_NET_DGRAM_REPLY_H
#define PEN_NET_DGRAM_REPLY_H

#include "net/dgram.h"

/* Addresses of a host that most datagrams come to; others are named. */
enum { DGRAM_REPLIES = 4 };

/* All zero: none. */
struct dgram_replies {
	struct dgram_reply {
		uint32_t ip;	/* in network byte order */
		int fd;		/* -1: could not be opened, and waits for */
		unsigned named; /* more answers with that address */
	} at[DGRAM_REPLIES];
	unsigned count;
	uint32_t wanted; /* to be opened; 0: none */
	int fresh;	 /* to be read once more; 0: none */
};

/* The socket that answers from an address of this host, or -1: name it at the
 * listener's. Then one for it may be wanted. */
int dgram_reply_from(struct dgram_replies *r, const struct dgram_local *from);
/* Whether dgram_reply_next() has something to do: all datagrams of the listener
 * should be read before. */
static inline bool
dgram_reply_is_due(const struct dgram_replies *r)
{
	return r->wanted != 0 || r->fresh > 0;
}

/* Called after the listener's datagrams were read. Opens the socket that is
 * wanted, with the options and the port of the listener. Returns a socket whose
 * datagrams must be read as the listener's, or -1. A socket is returned twice:
 * datagrams may have come to it before it was connected, or have been on their
 * way. */
int dgram_reply_next(struct dgram_replies *r, int listener);
void dgram_replies_close(struct dgram_replies *r);

#endif
