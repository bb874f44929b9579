/* dsr_flows.h: which server each flow goes to, learnt from its inbound half.
 *
 * Servers answer clients directly, so only what clients send is seen, and
 * states are those of LVS's input-only table (Linux, ip_vs_proto_tcp.c):
 *
 *                 SYN            ACK, or more frames
 *     new TCP ---------> SYN -------------------------> ESTABLISHED
 *             ---------> PICKUP (begun without a SYN) --^     |
 *                 ACK                                         | FIN
 *     new UDP ---------> UDP_NEW ---> UDP                     v
 *                               more frames                  FIN
 *     any TCP ---------> CLOSE
 *                 RST
 *
 * Where it differs: a RST ends SYN too (a host sends one that never requested a
 * connection), and an ACK after a RST leads back to PICKUP, because a client
 * that has reset sends none: a forged RST does not take the server from a
 * client that goes on.
 *
 * Each state is a list in the order of last use, to the second, and all things
 * in it expire after the same time, and count as connections for the same time;
 * finding, adding, each frame and each expiry
 * are O(1). A flow is 96 bytes, with all links, in slabs; they are given back
 * only by dsr_flows_fini().
 *
 * When the table is full the idlest goes of SYN, PICKUP, UDP_NEW and CLOSE
 * together, which are not assured or are over; then of FIN; then of UDP and
 * ESTABLISHED. So a flood of first frames, SYN or other, pushes out itself.
 * Only while the first four have less than 1/64 of the table is another evicted
 * instead of them, so that newcomers live long enough to become assured where
 * all others are established. A host that forges two fitting frames for each
 * flow (SYN, ACK) cannot be distinguished from a client: then the idlest goes.
 *
 * Frames of an offloaded flow need not be seen here: last_frame() returns the
 * last one when the flow would go, which then lasts one to two times as long.
 * It is called for a few at a time: when all of those are in use, one that is
 * not assured goes instead, and if there is none the next one without a call.
 *
 * Pure: the clock is passed in, in ms. Time is counted in whole seconds: what
 * shall last n seconds lasts n to n + 1 seconds. */
#ifndef PEN_DSR_DSR_FLOWS_H
#define PEN_DSR_DSR_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/hash_table.h"
#include "dsr/frame/dsr_key.h"

enum dsr_state {
	DSR_SYN,
	DSR_PICKUP, /* mid-stream pickup; "middle" in reports */
	DSR_UDP_NEW,
	DSR_CLOSE,
	DSR_FIN,
	DSR_UDP,
	DSR_ESTABLISHED,
	DSR_STATES
};

/* Frames after which PICKUP is ESTABLISHED and UDP_NEW is UDP: the flow is
 * assured, in terms of conntrack. */
enum { DSR_ASSURED = 4 };

/* How a flow counts at its server: not, as what ends; as load alone, which
 * decides where others go, as one datagram; or as a connection, of its limits,
 * too. */
enum dsr_counts { DSR_COUNTS_NOT, DSR_COUNTS_AS_LOAD, DSR_COUNTS };

/* Seconds after its last frame in which a flow counts that no frame has shown
 * to be answered, or which may be over: no end of UDP is seen. */
enum { DSR_COUNTS_S = 3, DSR_COUNTS_UDP_S = 30 };

struct dsr_flow {
	struct hash_table_link link; /* private */
	struct dsr_key key;
	uint32_t seen; /* seconds of the clock */
	uint32_t server;
	uint64_t frames, bytes; /* the first frame included */
	uint32_t number;	/* its own, from 1 on */
	uint32_t newer, older;	/* private: numbers in the same state */
	uint32_t state : 6;	/* enum dsr_state */
	uint32_t offloaded : 1; /* the caller's: frames go elsewhere, too */
	uint32_t learned : 1;	/* the caller's: no frame has come here yet */
	uint32_t counts : 2;	/* enum dsr_counts */
};

/* A flow, for other directors. */
struct dsr_report {
	struct dsr_key key;
	uint32_t server;
};

/* What a flow has become, for a process that takes it over. */
struct dsr_past {
	enum dsr_state state;
	bool learned, offloaded; /* as in struct dsr_flow */
	uint32_t idle_s;
	uint64_t frames, bytes;
};

struct dsr_list {
	uint32_t newest, oldest, count;
	uint32_t counting; /* private: none before it counts */
};

/* Seconds without a frame after which a flow ends; 0: never. */
struct dsr_timeouts {
	uint32_t tcp; /* with a SYN alone, or after a RST, sooner */
	uint32_t fin; /* after a FIN */
	uint32_t udp;
};

struct dsr_flows_stats {
	uint64_t opened;
	uint64_t expired, evicted;
	uint64_t pushed_out; /* evicted, though UDP or ESTABLISHED */
	uint64_t no_memory;
	uint32_t peak;
};

struct dsr_flows {
	/* Readable. */
	uint32_t count, max;
	struct dsr_flows_stats stats;
	struct dsr_list lists[DSR_STATES];

	/* Set after dsr_flows_init(), or NULL. A flow is about to leave;
	 * nothing may be called here that adds or removes. */
	void (*on_end)(void *arg, struct dsr_flow *w);
	/* What `counts` is has changed since dsr_flows_add(). */
	void (*on_count)(void *arg, struct dsr_flow *w, enum dsr_counts was);
	/* A flow has become ESTABLISHED or UDP. */
	void (*on_assured)(void *arg, const struct dsr_flow *w);
	/* The second of the last frame, wherever it went, of an offloaded flow
	 * that was not seen here for long. */
	uint32_t (*last_frame)(void *arg, const struct dsr_flow *w);
	void *arg;

	/* Private. */
	uint32_t timeouts[DSR_STATES];
	struct hash_table table;
	struct dsr_flow **slabs;
	size_t slabs_n;
	uint32_t made, unused; /* flows 1..made exist; a chain by `older` */
	uint32_t *servers;     /* how many flows each has */
	uint32_t servers_n;
};

/* A table for up to `max` flows; 0: it remembers none; at most 2^30. Memory is
 * taken as flows come. Returns 0, or -1 with errno ENOMEM. */
int dsr_flows_init(struct dsr_flows *fs, uint32_t max);
/* Frees the table without calling on_end(); a zeroed one is fine. */
void dsr_flows_fini(struct dsr_flows *fs);

/* ---- each frame ---- */

/* client and VIP with their ports, as frame_parse() has them. */
void dsr_key_make(struct dsr_key *key, const struct peer *client,
    const struct peer *vip, uint8_t protocol);
uint64_t dsr_flows_hash(const struct dsr_flows *fs, const struct dsr_key *key);
/* Like hash_table_expect() and hash_table_expect_link(). A batch of frames is
 * best handled in four rounds: these two, dsr_flows_find(),
 * dsr_flows_on_frame(). */
void dsr_flows_expect(const struct dsr_flows *fs, uint64_t hash);
void dsr_flows_expect_flow(const struct dsr_flows *fs, uint64_t hash);

/* The flow, or NULL. For ICMP errors about a flow this is all there is to call.
 * Valid until the next call that adds, removes or expires. */
struct dsr_flow *dsr_flows_find(
    struct dsr_flows *fs, const struct dsr_key *key, uint64_t hash);
/* Adds a flow that is not there, from its first frame of `bytes` bytes, which
 * the caller counts as it likes; tcp_flags as FRAME_SYN etc, 0 for UDP. When
 * the table is full another one ends. NULL when max is 0, or without memory. */
struct dsr_flow *dsr_flows_add(struct dsr_flows *fs, const struct dsr_key *key,
    uint64_t hash, uint32_t server, uint8_t tcp_flags, uint32_t bytes,
    uint64_t now);
/* Adds a flow that is not there as it was in another process. Those of one
 * state are to be added in the order of last use, as dsr_flows_next() has
 * them. */
struct dsr_flow *dsr_flows_restore(struct dsr_flows *fs,
    const struct dsr_key *key, uint64_t hash, uint32_t server,
    const struct dsr_past *past, uint64_t now);
/* The flow after that number, 0 at first, in the order of restoring; NULL:
 * there is none. */
const struct dsr_flow *dsr_flows_next(
    const struct dsr_flows *fs, uint32_t number);
/* The flow with that number, or NULL; numbers are 1 to fs->made. Those of flows
 * that have ended are given to others. */
struct dsr_flow *dsr_flows_at(struct dsr_flows *fs, uint32_t number);
/* Notes another frame of a flow that was found. */
void dsr_flows_on_frame(struct dsr_flows *fs, struct dsr_flow *w,
    uint8_t tcp_flags, uint32_t bytes, uint64_t now);
/* Somewhere else the flow is in use. */
void dsr_flows_touch(struct dsr_flows *fs, struct dsr_flow *w, uint64_t now);
/* Whether this frame begins another connection with the ports of one that is
 * over: it may get another server, by dsr_flows_remove() and
 * dsr_flows_add(). */
bool dsr_flow_begins_again(const struct dsr_flow *w, uint8_t tcp_flags);
void dsr_flows_remove(struct dsr_flows *fs, struct dsr_flow *w);

/* ---- time ---- */

/* Sets the timeouts, also of existing flows. Defaults: 900, 120 and 300. */
void dsr_flows_set_timeouts(struct dsr_flows *fs, const struct dsr_timeouts *t);
/* Removes expired flows, at most `most` of them. Returns how many. To be called
 * each second or so; if it returns `most`, soon again. */
unsigned dsr_flows_expire(struct dsr_flows *fs, uint64_t now, unsigned most);
/* The same for flows that count no longer: see DSR_COUNTS_S. Returns how many
 * it has looked at. */
unsigned dsr_flows_stop_counting(
    struct dsr_flows *fs, uint64_t now, unsigned most);

/* ---- servers ---- */

/* How many flows a server has; 0 for one never used. */
uint32_t dsr_flows_of(const struct dsr_flows *fs, uint32_t server);

/* ---- for control ---- */

const char *dsr_state_name(enum dsr_state state);

#endif
