/* probe.h: health checks on the path of clients' frames: a SYN from an address
 * of ours to each VIP and port, sent to the server's MAC. It finds a service
 * that is dead, and a VIP that is missing on the server.
 *
 *     due ---> a SYN for each VIP ---> SYN-ACK: ok; answered with a RST
 *      ^        |      |      |          RST: refused
 *      |        |      '------|------>   no reply to two: timeout
 *      |        '-------------|------>   MAC of the server unknown: no address
 *      '--- interval ---------'          the worst is the server's result
 *
 * The first round of a server begins at a random moment of the interval, and
 * each interval varies by a tenth, so that many servers are probed evenly. At
 * most PROBES_MOST requests are open, others wait for those: then the interval
 * is longer. Each request has a port and a sequence number that cannot be
 * guessed (RFC 6056, RFC 6528): a host that is not on the path cannot answer
 * for a server. Half of the timeout after the first SYN a second one is sent.
 *
 * What is half open at a server is reset: after a reply, after a timeout, when
 * other VIPs are to be probed, and when a reply acknowledges something else
 * (RFC 9293, 3.10.7.3).
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
	PROBE_NONE, /* it was not probed yet */
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
	/* Sends a segment to that server. False: its MAC is unknown. Must not
	 * call back. */
	bool (*send)(void *arg, uint32_t server, const struct peer *from,
	    const struct peer *to, const struct tcp_segment *s);
	/* The round of a server is over; `version` is that of probes_add(). May
	 * add and drop servers. */
	void (*on_result)(void *arg, uint32_t server, uint32_t version,
	    const struct probe_report *r);
	void *arg;
};

/* What to probe, and when. */
struct probes_plan {
	struct peer own[2];	    /* sources, IPv4 and IPv6; family 0: none */
	const struct peer *vip;	    /* with their ports; copied */
	unsigned count;		    /* 0: none is probed */
	uint64_t interval, timeout; /* us */
};

struct probe; /* a request that waits for its answer */

struct probed {
	bool used;
	uint32_t version;
	struct probe_report last;

	/* The round under way. */
	struct probe_report round;
	unsigned next;	  /* VIP to probe next */
	unsigned waiting; /* requests without a reply */
	uint64_t began;
};

struct probes {
	/* Private. */
	struct probes_options options;
	struct probes_plan plan; /* its VIPs are ours */
	struct probed *servers;	 /* by number */
	uint32_t room;
	struct heap due; /* servers, by when to probe them next */
	struct probe *slots;
	struct list idle, once, twice; /* SYNs sent; in order of time */
	struct hash_key key;
	uint64_t draws; /* random numbers so far */
};

/* Probes nothing until there are VIPs and servers. Returns 0, or -1 with errno
 * ENOMEM. */
int probes_init(struct probes *p, const struct probes_options *o);
void probes_fini(struct probes *p);

/* Probes these from now on; rounds start over. Returns 0, or -1 with errno
 * ENOMEM and nothing changed. */
int probes_set(struct probes *p, const struct probes_plan *plan, uint64_t now);

/* The server of that number is probed from now on. With another version than
 * before it is another server, of which nothing is known. Returns 0, or -1 with
 * errno ENOMEM. */
int probes_add(
    struct probes *p, uint32_t server, uint32_t version, uint64_t now);
void probes_drop(struct probes *p, uint32_t server);
/* The last result; NULL: the server is not probed. */
const struct probe_report *probes_last(const struct probes *p, uint32_t server);

/* A segment, whose checksum is right, came to an own address. Returns whether
 * it was a reply to a request. */
bool probes_on_tcp(struct probes *p, const struct peer *from,
    const struct peer *to, const struct tcp_segment *s, uint64_t now);
/* Sends first and second SYNs, and ends requests, that are due. Returns after
 * how many us there is more to do; UINT64_MAX: nothing. */
uint64_t probes_tick(struct probes *p, uint64_t now);

/* "ok", "refused", "timeout", "no address", "none". */
const char *probe_result_name(enum probe_result r);

#endif
