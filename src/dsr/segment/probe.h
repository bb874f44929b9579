/* probe.h: asks servers, on the way that clients' frames take, whether they
 * answer for the addresses of clients': a SYN for each address and port, which
 * is what finds a service that is dead and an address that is missing alike.
 *
 *     due ---> a SYN for each VIP ---> SYN-ACK: alive; a RST takes it back
 *      ^        |      |      |          RST: refused
 *      |        |      '------|------>   twice nothing within the timeout
 *      |        '-------------|------>   no hardware address to send it to
 *      '--- interval ---------'          the worst is the server's result
 *
 * Servers begin at a moment of their own within the interval, and stray by a
 * tenth of it each time, so that many are asked evenly, and a few at a time
 * after a pause. At most PROBES_MOST requests wait for their answers, others
 * for those: then the interval is longer. Each request has a port and a
 * sequence of its own that cannot be guessed (RFC 6056, RFC 6528): who is not
 * on the way cannot answer for a server. Half of the timeout after the first a
 * request is sent again.
 *
 * What is left half open at a server is taken back: after a reply, after a
 * timeout, when other requests are asked from now on, and by RFC 9293, 3.10.7.3
 * what is a reply to something else.
 *
 * Pure: the clock (us) is passed in, segments leave through a callback. */
#ifndef PEN_DSR_PROBE_H
#define PEN_DSR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/list.h"
#include "dsr/frame/frame.h"

enum {
	PROBES_MOST = 1024,
	PROBES_AT_ONCE = 64 /* new requests of one probes_tick() */
};

/* From good to bad. */
enum probe_result {
	PROBE_NONE, /* it was not asked yet */
	PROBE_OK,
	PROBE_REFUSED,
	PROBE_TIMEOUT,
	PROBE_NO_ADDRESS
};

/* Of a server, all its VIPs together. */
struct probe_report {
	enum probe_result result;
	struct peer vip; /* the first with that result; of those that are
			    * well, the slowest */
	uint64_t rtt;	 /* us, of PROBE_OK: until the answer */
};

struct probes_options {
	/* Sends a segment to that server. False: where it is is not known. Must
	 * not call back. */
	bool (*send)(void *arg, uint32_t server, const struct peer *from,
	    const struct peer *to, const struct tcp_segment *s);
	/* A server, which was of that version, has been asked for all vips. May
	 * add and drop servers. */
	void (*on_result)(void *arg, uint32_t server, uint32_t version,
	    const struct probe_report *r);
	void *arg;
};

/* What to ask, and when. */
struct probes_plan {
	struct peer own[2];	    /* IPv4, IPv6: who asks; family 0: none */
	const struct peer *vip;	    /* with their ports; copied */
	unsigned count;		    /* 0: nobody is asked */
	uint64_t interval, timeout; /* us */
};

struct probe; /* a request that waits for its answer */

struct probed {
	bool used;
	uint32_t version;
	struct probe_report last;

	/* The round that goes on. */
	struct probe_report round;
	unsigned next;	  /* VIP to ask for next */
	unsigned waiting; /* requests without a reply */
	uint64_t began;
};

struct probes {
	/* Private. */
	struct probes_options options;
	struct probes_plan plan; /* its VIPs are ours */
	struct probed *servers;	 /* by number */
	uint32_t room;
	struct heap due; /* servers, by when to ask them next */
	struct probe *slots;
	struct list idle, asked, again; /* the last two in order of time */
	struct hash_key key;
	uint64_t drawn;
};

/* Asks nobody until there are VIPs and servers. Returns 0, or -1 with errno
 * ENOMEM. */
int probes_init(struct probes *p, const struct probes_options *o);
void probes_fini(struct probes *p);

/* Asks this from now on; rounds start over. Returns 0, or -1 with errno ENOMEM
 * and nothing changed. */
int probes_set(struct probes *p, const struct probes_plan *plan, uint64_t now);

/* The server of that number is asked. One that was, is another one when the
 * version is another one, and nothing is known of it. Returns 0, or -1 with
 * errno ENOMEM. */
int probes_add(
    struct probes *p, uint32_t server, uint32_t version, uint64_t now);
void probes_drop(struct probes *p, uint32_t server);
/* What was found out last, or NULL: it is not asked. */
const struct probe_report *probes_last(const struct probes *p, uint32_t server);

/* A segment, whose checksum is right, came to an own address. Returns whether
 * it was a reply to a request. */
bool probes_on_tcp(struct probes *p, const struct peer *from,
    const struct peer *to, const struct tcp_segment *s, uint64_t now);
/* Asks, asks again, gives up, as it is due. Returns in how many us there is
 * more to do; UINT64_MAX: nothing. */
uint64_t probes_tick(struct probes *p, uint64_t now);

/* "ok", "refused", "timeout", "no address", "none". */
const char *probe_result_name(enum probe_result r);

#endif
