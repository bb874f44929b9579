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
#include "net/loop/loop.h"

enum { DGRAM_MAX = 65535, DGRAM_BATCH = LOOP_SCRATCH / (DGRAM_MAX + 1) };

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
	bool truncated; /* longer than DGRAM_MAX */
	bool unsent;	/* by dgram_send_batch(): not all of it went */
	/* Bytes of each datagram when the kernel joined several (UDP GRO); the
	 * last one may be shorter. 0: one alone. */
	unsigned segment;
	struct addr from;
	struct dgram_local local;
};

struct dgram_batch {
	struct dgram_headers *headers; /* to receive; NULL: of a copy */
	unsigned count;
	struct dgram at[DGRAM_BATCH];
};

/* A batch in the LOOP_SCRATCH bytes at `memory`, which stay the caller's; freed
 * by free(). NULL with errno ENOMEM. */
struct dgram_batch *dgram_batch_new(char *memory);
/* A copy of what one has, with memory of its own; free() it. NULL: memory is
 * short. */
struct dgram_batch *dgram_batch_copy(const struct dgram_batch *b);

/* The receive buffers of many sockets, each of which may have to take a burst,
 * and none of which may have too much. All zero: none has one. */
struct dgram_queues {
	size_t given; /* bytes */
	bool plain;   /* the system's limit applies */
};
/* Gives the socket its share of what is left: 8 MB at the most, and as much as
 * the system permits (socket(7), SO_RCVBUF). Returns what is to be given back
 * when it is closed; 0: it has the system's default. */
size_t dgram_queue(int fd, struct dgram_queues *q);

/* Prepares a socket that clients send to: the kernel reports which address
 * each datagram came to, unless the socket is bound to a single one, and
 * queues as many as it allows. */
void dgram_prepare(int fd, int family);
/* Whether the kernel may join datagrams of one sender, `segment` bytes each
 * (UDP_GRO, udp(7)), where it can. */
void dgram_coalesce(int fd, bool may);
/* A socket that exchanges datagrams with one address; a Unix one gets a name of
 * its own, to be answered at. Returns -1 with errno: ENETUNREACH also where
 * this host has no route, as to ::1 with IPv6 disabled; ECONNREFUSED if it
 * would be connected to itself. */
int dgram_connect(const struct addr *to, const struct addr *source);

/* How many datagrams an entry of a batch holds. */
static inline unsigned
dgram_segments(const struct dgram *d)
{
	return d->segment == 0
	    ? 1
	    : (unsigned)((d->n + d->segment - 1) / d->segment);
}

/* Whether an error of a connected socket is about the peer. Other errors are
 * shortages of this host or concern one datagram: EMSGSIZE comes from
 * recvmsg(), too, after an ICMP message that one was too long for the path. */
bool dgram_error_blames(int error);

/* Receives what is there, up to a batch. Returns how many (they are in `b`), or
 * -1 with errno: EAGAIN when there is none, ECONNREFUSED when the peer has no
 * socket there (ICMP). */
int dgram_receive(int fd, struct dgram_batch *b);
/* The same of `most`, at least 1: what is known to be alone is received for
 * less. */
int dgram_receive_most(int fd, struct dgram_batch *b, int most);
/* The same from a connected socket, whose answers mostly come one by one: one,
 * which costs less, unless the last batch had several, or now and then to find
 * out. The sender and the local address of one are not filled in. `alone`
 * begins with 0; DGRAM_BATCH requests a batch, as is necessary after
 * dgram_coalesce(). */
int dgram_receive_answers(int fd, struct dgram_batch *b, uint8_t *alone);
/* Removes truncated datagrams from the batch. Returns how many. */
unsigned dgram_drop_truncated(struct dgram_batch *b);
/* Sends one datagram to the connected peer, `head` bytes of a header in front
 * (0: none). Returns 0, or -1 with errno. */
int dgram_send(
    int fd, const void *header, size_t head, const void *bytes, size_t n);
/* Sends joined datagrams as separate ones again; `family` is the socket's. */
int dgram_send_segments(
    int fd, int family, const char *bytes, size_t n, unsigned segment);
/* Sends one datagram to an address, from one of this host. Returns 0, or -1
 * with errno. */
int dgram_send_to(int fd, const void *bytes, size_t n, const struct addr *to,
    const struct dgram_local *from);
/* Sends all of a batch to one address, from one of this host. An entry that
 * cannot be sent, as it is too long, does not keep the others; `unsent` marks
 * it. Returns how many, or -1 with errno if none did. */
int dgram_send_batch(int fd, struct dgram_batch *b, const struct addr *to,
    const struct dgram_local *from);

#endif
