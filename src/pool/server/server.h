/* server.h: a real server: addresses, settings, state and counters.
 *
 * The state of a server is the first of these that holds (enum server_state):
 *
 *     removed       gone from the list; its connections go on to their end
 *     maint         by the operator: no clients
 *     drain         by the operator: no new clients
 *     down          `fall` health checks have failed: no new clients, until
 *                   `rise` of them have succeeded; or it has no address yet
 *     suspect       it failed a client, and is being checked
 *     blacklisted   it failed a client, and nothing checks it, or by the
 *                   operator; for a time, or until it answers
 *     up
 *
 * A server that is suspect, or blacklisted for a failure, is chosen only if no
 * other one is left. What these follow from (presence, admin, health,
 * blacklisting) is kept side by side: what ends one of them uncovers the next.
 *
 * A server has no sockets. Every change that decides whether it may be chosen
 * goes through a function of pool.h, which keeps the pool's sets in step, and
 * reports the change; outside pool/ the members are only read. */
#ifndef PEN_POOL_SERVER_H
#define PEN_POOL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/duration.h"
#include "base/hash_table.h"
#include "base/histogram.h"
#include "base/log.h"
#include "base/rate.h"
#include "pool/server/health.h"

struct pool;

/* Whether connections to the server use TLS. The pool only stores this. */
enum server_tls { SERVER_TLS_AS_SET, SERVER_TLS_ON, SERVER_TLS_OFF };

/* How direct server return forwards packets to it. The pool only stores
 * this. */
enum server_forward {
	SERVER_FORWARD_AS_SET,
	SERVER_FORWARD_MAC,
	SERVER_FORWARD_TUNNEL
};

/* The version of the PROXY protocol by which it gets the client address. The
 * pool only stores this. */
enum server_proxy {
	SERVER_PROXY_AS_SET,
	SERVER_PROXY_OFF,
	SERVER_PROXY_V1,
	SERVER_PROXY_V2
};

/* Action for a server's sessions when it goes down. */
enum server_on_down {
	SERVER_ON_DOWN_AS_SET,
	SERVER_ON_DOWN_KEEP,
	SERVER_ON_DOWN_CUT
};

/* Action for sessions on lesser servers when a better one comes up. */
enum server_on_up { SERVER_ON_UP_KEEP, SERVER_ON_UP_CUT };

enum server_admin { SERVER_ENABLED, SERVER_DRAINING, SERVER_DISABLED };

/* In order of precedence; see above. */
enum server_state {
	SERVER_EMPTY, /* no server in the slot */
	SERVER_REMOVED,
	SERVER_MAINT,
	SERVER_DRAIN,
	SERVER_DOWN,
	SERVER_SUSPECT,
	SERVER_BLACKLISTED,
	SERVER_UP,
	SERVER_STATES
};

enum {
	SERVER_ADDRS_MAX = 8,
	SERVER_WEIGHT_MAX = 65535,
	SERVER_REASON_MAX = 128 /* bytes of a reason, with its NUL */
};

/* When the state changed last. */
struct server_history {
	enum server_state state; /* as reported last */
	unsigned changes;	 /* since the server is in its slot */
	uint64_t since_ms;	 /* the pool's clock */
	int64_t since_wall;	 /* seconds since 1970 */
	uint64_t down_ms; /* down, suspect or blacklisted, before that */
	struct log_site log; /* of the lines about it */
};

/* What server_reason() and server_fault() are of a server elsewhere. */
struct server_reasons {
	char reason[SERVER_REASON_MAX];
	char fault[SERVER_REASON_MAX];
};

/* What a server is before its first health checks: healthy; not; not, until one
 * of them has succeeded. */
enum server_initial {
	SERVER_INITIAL_UP,
	SERVER_INITIAL_DOWN,
	SERVER_INITIAL_CHECKED
};

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

/* What a name resolved to. A connect that fails on one address goes on with the
 * next; only when all have failed does the server count as failed. */
struct server_addrs {
	unsigned count;
	struct addr addr[SERVER_ADDRS_MAX];
};

/* The same in as much memory as there are; without any, one that is empty. */
struct server_addr_list {
	unsigned count;
	const struct addr *addr;
};

/* The operator's settings of one server, set by rows of
 * control/plan/table_server.c. */
struct server_settings {
	uint64_t soft, hard;   /* connections; 0: no limit */
	uint64_t blacklist_ms; /* own blacklist time; 0: the pool's */
	uint64_t slow_start_ms; /* own slow start; 0: the pool's */
	unsigned weight;       /* 0..SERVER_WEIGHT_MAX */
	int prio;	       /* lower is better */
	int acl; /* number of the list of clients it takes; -1: all */
	enum server_tls tls;
	enum server_forward forward;
	enum server_proxy proxy;
	enum server_on_down on_down;
	int may_be_down; /* 1: that it is down is no fault, as of a standby */
};

/* How a session with a server ended: well; the client did it; or neither. */
enum server_end {
	SERVER_END_GOOD,
	SERVER_END_CLIENT,
	SERVER_END_FAILED,
	SERVER_ENDS
};

/* Classes of the status of HTTP responses: 1xx to 5xx. */
enum { SERVER_HTTP_CLASSES = 5 };

/* Of drain and maint where a peer, another pen, has set them. */
struct server_mark {
	uint32_t peer; /* which one; 0: none */
	enum server_admin admin;
	bool overruled; /* the operator here has set another state since */
};

/* What happens to a server. Without `clear` and other addresses, since the
 * start. All up to connect_times are numbers of 64 bits, which several
 * processes' are added up of. */
struct server_counters {
	uint64_t connects, failures;
	uint64_t sent, received;     /* bytes to the server, from it */
	uint64_t ended[SERVER_ENDS]; /* sessions with it */
	/* Responses, by the class of their status, where they are read. */
	uint64_t http[SERVER_HTTP_CLASSES];
	struct duration connect_durations, first_bytes;
	struct histogram connect_times; /* lately; the last that `clear` ends */
	struct rate rate;		/* of connects */
	uint64_t answered_ms; /* when it last did what a client wanted; 0:
			       * never */
	/* Where several processes share it: open now, and of which server. */
	uint64_t connections;
	unsigned generation;
};

/* Where services are many, most servers are idle and have one address: texts,
 * addresses and counters are not part of it. */
struct server {
	struct pool *pool;
	unsigned slot;	 /* in the pool's list; never changes */
	unsigned number; /* in commands and logs; see server_number() */
	enum server_role role;
	bool present; /* false: an empty slot, never chosen */
	bool unresolved; /* not present, as its name has no address yet */
	bool refused;	 /* its name has an address that it must not have */
	char *name;   /* host or path as the operator gave it; owned */
	char *host;   /* what its TLS and HTTP call it; owned; NULL: its name */
	struct server_addr_list addrs; /* owned; see server_set_addrs() */
	unsigned addr_first; /* the address that worked last */
	unsigned generation; /* changes with its addresses */
	uint32_t place;	 /* of its counters among those of workers; 0: none */
	uint64_t digest; /* of name and address, see digest.h; 0: not listed */
	struct hash_table_link by_digest;

	struct server_settings set;

	enum server_admin admin;
	struct server_mark mark;
	uint64_t blacklisted_until; /* ms; 0: not blacklisted */
	bool by_operator;  /* blacklisted by the operator: no answer ends it */
	bool observed; /* blacklisted for what it answered: no check ends that,
			* nor a connection */
	unsigned refusals; /* how often refusals blacklisted it since it last
			       * answered */
	struct health health; /* by health checks; up if there are none */
	bool checked;	      /* by health checks, from now on */
	bool full;	      /* nothing but its limits keeps new clients out */
	bool serving;	      /* old clients, while it is not eligible */
	bool counted, failing; /* see panic.h */
	bool untold; /* of a worker: its state waits for room to its leader */
	/* Of a slow start: how many of SERVER_SHARES its weight lacks. */
	uint8_t cold;

	uint64_t connections; /* open now */
	uint64_t brief;	      /* load besides: see pool_served() */
	_Atomic uint32_t *shared; /* those of all processes; NULL: this is the
				   * only one. See pool_share.h */
	/* Its own, or in memory that several processes share. In a slot that
	 * never had a server `counters` is a set of zeros that all share, and
	 * `own_counters` NULL. */
	struct server_counters *counters, *own_counters;

	/* For the algorithm: when the server was chosen last, how long connects
	 * to it take, how much longer than to the fastest, and when that was
	 * measured. */
	uint64_t turn;
	unsigned slowness, penalty;
	uint64_t timed;
	struct server_history history;
	char *reason, *fault; /* see server_reason(); owned; NULL: "" */
};

/* A server without name, addresses and counters of its own, and the end of
 * one. */
void server_init(struct server *s);
void server_fini(struct server *s);
/* Makes these its addresses. Returns 0, or -1 with errno ENOMEM. */
int server_set_addrs(struct server *s, const struct server_addrs *a);
/* Whether it has the same addresses in the same order. */
bool server_has_addrs(const struct server *s, const struct server_addrs *a);
/* The number of the address among its addresses; -1: it is none of them. */
int server_find_addr(const struct server *s, const struct addr *at);
/* A copy of its addresses. */
struct server_addrs server_addrs(const struct server *s);
/* Makes counters of its own exist, unless it counts elsewhere already. Returns
 * 0, or -1 with errno ENOMEM. */
int server_begin_counting(struct server *s);
/* Whether it has counters that may be written. */
bool server_counts(const struct server *s);
/* Sets *reason, which is one of the server's, to a copy of `text`. Without
 * memory it is "". */
void server_set_reason(char **reason, const char *text);

/* Why the state changed last: printable ASCII without quotes, cut to
 * SERVER_REASON_MAX; "" when there is no reason. */
static inline const char *
server_reason(const struct server *s)
{
	return s->reason != NULL ? s->reason : "";
}

/* Why it is down, suspect or blacklisted, or was last: the reason once more
 * when a drain or maint ends that came on top. "": not noted. */
static inline const char *
server_fault(const struct server *s)
{
	return s->fault != NULL ? s->fault : "";
}

/* Whether it gets no clients for what it did: down, suspect, blacklisted. */
static inline bool
server_state_is_down(enum server_state state)
{
	return state == SERVER_DOWN || state == SERVER_SUSPECT ||
	    state == SERVER_BLACKLISTED;
}

/* Whether it is down and should not be: drain and maint are the operator's. */
static inline bool
server_is_faulty(enum server_state state, const struct server_settings *set)
{
	return server_state_is_down(state) && !set->may_be_down;
}

/* Whether there is a server in the slot to report on: also one that was removed
 * and has connections, and one without an address. */
static inline bool
server_is_known(const struct server *s)
{
	return s->addrs.count > 0 || s->unresolved;
}

/* How many of SERVER_SHARES equal parts of the server's weight count now: all,
 * but during a slow start. */
enum { SERVER_SHARES = 16 };
static inline unsigned
server_share(const struct server *s)
{
	return SERVER_SHARES - s->cold;
}

/* The name that its certificate is for, and its Host. */
static inline const char *
server_host(const struct server *s)
{
	return s->host != NULL ? s->host : s->name;
}

enum server_state server_state(const struct server *s);
/* "up", "drain" ...: the words of commands, reports and log lines. */
const char *server_state_name(enum server_state state);
/* "regular", "emergency" or "abuse". */
const char *server_role_name(enum server_role role);

/* Whether its state is UP. Its limits may still keep new clients out. */
bool server_is_healthy(const struct server *s);

#endif
