/* dgram.h: datagrams in batches: many a system call where the system can
 * (recvmmsg, sendmmsg), one by one where not.
 *
 * A batch is memory for what one call receives; what was received can be sent
 * on from it. Descriptors are non-blocking and close-on-exec. */
#ifndef PEN_NET_DGRAM_H
#define PEN_NET_DGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/addr.h"

enum { DGRAM_BATCH = 16, DGRAM_MAX = 65535 };

/* Which address of this host a datagram came to, to answer from: ip(7)
 * IP_PKTINFO, RFC 3542. All zero: not known. */
struct dgram_local {
	uint8_t ip[16]; /* IPv4 mapped, as in struct peer */
	unsigned interface;
	uint16_t family;
};

struct dgram {
	char *bytes;
	size_t n;
	bool cut;	  /* it was longer than DGRAM_MAX */
	unsigned segment; /* several came as one, of that size each but the
			     last; 0: one alone */
	struct addr from;
	struct dgram_local local;
};

struct dgram_batch {
	unsigned count;
	struct dgram at[DGRAM_BATCH];
	char *memory; /* owned */
};

/* Returns 0, or -1 with errno ENOMEM. */
int dgram_batch_init(struct dgram_batch *b);
void dgram_batch_fini(struct dgram_batch *b);

/* Prepares a socket that everybody sends to: the kernel shall say which address
 * each datagram came to, and hold as many as it lets us while we are busy. */
void dgram_prepare(int fd, int family);
/* From now on several datagrams of one sender may come as one, `segment` bytes
 * each (UDP_GRO, udp(7)), where the system can do that. */
void dgram_coalesce(int fd);
/* A socket that exchanges datagrams with one address; a Unix one gets a name of
 * its own, to be answered at. Returns -1 with errno. */
int dgram_connect(const struct addr *to, const struct addr *source);

/* How many datagrams an entry of a batch is. */
static inline unsigned
dgram_pieces(const struct dgram *d)
{
	return d->segment == 0
	    ? 1
	    : (unsigned)((d->n + d->segment - 1) / d->segment);
}

/* Whether an error of a connected socket says something about its other end. The
 * others are shortages of ours, or concern one datagram: EMSGSIZE comes from
 * recvmsg(), too, after a router said that one was too long for its way. */
bool dgram_error_blames(int error);

/* Receives what is there, up to a batch. Returns how many (they are in `b`), or
 * -1 with errno: EAGAIN when there is none, ECONNREFUSED when the other end said
 * that nobody is there. */
int dgram_receive(int fd, struct dgram_batch *b);
/* Takes those that were cut out of the batch. Returns how many. */
unsigned dgram_drop_cut(struct dgram_batch *b);
/* Sends one to where the socket is connected to, `head` bytes of a header in
 * front (0: none). Returns 0, or -1 with errno. */
int dgram_send(
    int fd, const void *header, size_t head, const void *bytes, size_t n);
/* Sends what came as one, as several again; `family` is the socket's. */
int dgram_send_pieces(
    int fd, int family, const char *bytes, size_t n, unsigned segment);
/* Sends all of a batch to one address, from one of this host. Returns how many of
 * its entries were taken, or -1 with errno. */
int dgram_send_batch(int fd, const struct dgram_batch *b, const struct addr *to,
    const struct dgram_local *from);

#endif
