/* server.h: one backend: its address, state, weight, limits and counters.
 *
 *        UP <-----------------.
 *        |  silent, refused,   | blacklist time over, or a connect succeeded
 *        |  by the operator    |
 *        '---> BLACKLISTED ----'        tried only when nobody is left
 *     checks, on top of either: unhealthy (no new clients)
 *     administrative, on top of all: drain (no new clients), down (nobody)
 *
 * A server knows no sockets. Every change that decides whether it may be
 * chosen goes through a function of pool.h, which keeps its indexes in step;
 * outside pool/ the members are for reading. */
#ifndef PEN_POOL_SERVER_H
#define PEN_POOL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "pool/health.h"

struct pool;

/* Whether it is talked to in TLS; the pool only carries that. */
enum server_tls { SERVER_TLS_AS_SET, SERVER_TLS_ON, SERVER_TLS_OFF };

/* How direct return gets packets there; the pool only carries that. */
enum server_forward {
	SERVER_FORWARD_AS_SET,
	SERVER_FORWARD_MAC,
	SERVER_FORWARD_TUNNEL
};

enum server_admin { SERVER_ENABLED, SERVER_DRAINING, SERVER_DISABLED };

enum { SERVER_ADDRS_MAX = 8, SERVER_WEIGHT_MAX = 65535 };

/* What a server is for: it takes its share of the clients; it is used when no
 * regular server is eligible; it serves clients that the client ACL denies. */
enum server_role { SERVER_REGULAR, SERVER_EMERGENCY, SERVER_ABUSE };

/* The pool's list has a slot for each server: first the two special ones, then
 * server 0, server 1 and so on. Records about servers are kept by slot. */
enum { SLOT_EMERGENCY, SLOT_ABUSE, SLOTS_SPECIAL };

/* The slot of a regular server. */
static inline unsigned
server_slot(unsigned number)
{
	return number + SLOTS_SPECIAL;
}

/* What logs and JSON call the special servers; no list is that long. */
enum { NUMBER_EMERGENCY = 0x7ffffffe, NUMBER_ABUSE = 0x7fffffff };

/* The number of the server in a slot. */
static inline unsigned
server_number(unsigned slot)
{
	return slot == SLOT_EMERGENCY ? (unsigned)NUMBER_EMERGENCY
	    : slot == SLOT_ABUSE      ? (unsigned)NUMBER_ABUSE
				      : slot - SLOTS_SPECIAL;
}

/* What a name resolved to; a connect that fails on one address goes on with
 * the next before the server counts as failed. */
struct server_addrs {
	unsigned count;
	struct addr addr[SERVER_ADDRS_MAX];
};

/* What the operator says of one server; rows of control/table_server.c set it. */
struct server_settings {
	uint64_t soft, hard;   /* connections; 0: no limit */
	uint64_t blacklist_ms; /* own blacklist time; 0: the pool's */
	unsigned weight;       /* 0..SERVER_WEIGHT_MAX */
	int prio;	       /* lower is better */
	int acl; /* clients it takes: a list's number, -1: all */
	enum server_tls tls; /* towards it */
	enum server_forward forward;
};

struct server {
	struct pool *pool;
	unsigned slot;	 /* in the pool's list; never changes */
	unsigned number; /* what operators call it; of a regular one slot - 2 */
	enum server_role role;
	bool present; /* false: an empty slot, never chosen */
	char *name;	/* host as the user gave it, or the path; owned */
	struct server_addrs addrs;
	unsigned addr_first; /* the address that worked last */
	unsigned generation; /* changes with its addresses */

	struct server_settings set;

	enum server_admin admin;
	uint64_t blacklisted_until; /* ms; 0: not blacklisted */
	bool by_operator;  /* by the operator: an answer does not end it */
	unsigned refusals; /* blacklistings by them since its last answer */
	struct health health;	    /* by checks; up while there are none */
	bool full;		    /* its limits alone keep new clients out */

	uint64_t connections; /* open now */
	uint64_t connects;    /* counters since the start */
	uint64_t failures;
	uint64_t sent;	   /* bytes to it */
	uint64_t received; /* bytes from it */

	/* The algorithm's: when it chose the server last, how long connects take,
	 * and when that was measured. */
	uint64_t turn;
	unsigned slowness;
	uint64_t timed;
};

/* Whether clients may be sent to it as far as its health and the operator go;
 * limits are another matter. */
bool server_is_healthy(const struct server *s);

#endif
