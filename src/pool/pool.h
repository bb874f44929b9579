/* pool.h: the ordered servers, and who serves the next client.
 *
 * The pool keeps a set of the servers that may take a new client (`eligible`)
 * and tells the balancing algorithm whenever a server enters or leaves it, so
 * that choosing never walks the list: O(1) or O(log n) for every algorithm,
 * also when most servers are dead. It never blocks, knows no sockets, and is
 * told the time. */
#ifndef PEN_POOL_POOL_H
#define PEN_POOL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "pool/acl.h"
#include "pool/server.h"

struct balance; /* an algorithm; see balance.h */
struct sticky;	/* the memory of clients; see sticky.h */

/* Settings; control/setting fills them. */
struct pool_options {
	const struct balance
	    *balance;	/* for clients without a remembered server */
	bool sticky;	/* remember clients (off by -r and -h) */
	bool stubborn;	/* no second choice: fail instead */
	bool hash_port; /* hash address and port, not the address alone */
	/* Leading bits of an IPv6 address that count, for hash and memory. */
	unsigned hash_prefix6, sticky_prefix6;
	uint64_t tracking_ms; /* how long a client is remembered; 0: no limit */
	uint64_t clients_max; /* remembered at the most */
	uint64_t blacklist_ms;
	unsigned tries; /* servers given to a client at most; 0: each once */
	int client_acl; /* the list that clients must pass */
	struct health_options health;
};

/* What one client has tried so far; all zero before its first choice, but for
 * `proven`. */
struct attempts {
	uint64_t set;	/* a bit for each server given: its slot modulo 64 */
	unsigned first; /* slot of the first server given */
	unsigned last;	/* slot of the last one */
	unsigned count; /* servers given so far */
	unsigned flags; /* ATTEMPTED_* */
	uint32_t hint;	/* where the client is remembered; see sticky.h */
	bool proven;	/* the client is at its address; see sticky.h */
	uint16_t given; /* servers, in all rounds of a client that waits */
};
enum {
	ATTEMPTED_EMERGENCY = 1,
	ATTEMPTED_ABUSE = 2,
	ATTEMPTED_BLACKLISTED = 4 /* nobody else was left */
};

/* A pool without servers, or NULL with errno ENOMEM. */
struct pool *pool_new(void);
void pool_free(struct pool *p);

const struct pool_options *pool_options(const struct pool *p);
/* Takes new settings: a change of algorithm rebuilds its order. Returns 0, or
 * -1 with errno ENOMEM and the old settings in force. */
int pool_set_options(struct pool *p, const struct pool_options *o);
/* The settings a pool starts with: Pen's defaults. */
void pool_options_init(struct pool_options *o);

/* ---- servers ---- */

/* What a server is given to be; pool_set_server() copies it. */
struct server_spec {
	char *name; /* the caller keeps it; copied */
	struct server_addrs addrs;
	struct server_settings set;
};
void server_spec_init(struct server_spec *spec);

/* The slots of the list, empty ones and the two special ones included, and the
 * server in one of them; NULL behind the last slot. A walk over all servers is
 *
 *     for (slot = 0; slot < pool_slots(p); slot++)
 *         visit(pool_slot(p, slot));
 *
 * Pointers to servers stay valid for the life of the pool. */
unsigned pool_slots(const struct pool *p);
struct server *pool_slot(const struct pool *p, unsigned slot);
/* The same for the regular servers alone, by number. */
unsigned pool_count(const struct pool *p);
struct server *pool_server(const struct pool *p, unsigned number);

/* Fills a slot with the server that the spec describes; the list grows to hold
 * it, slots between being empty. Counters, connections and state of a server
 * that was there stay if the addresses are the same, else start anew. Returns
 * the server, or NULL with errno ENOMEM. */
struct server *pool_set_slot(
    struct pool *p, unsigned slot, const struct server_spec *spec);
struct server *pool_set_server(
    struct pool *p, unsigned number, const struct server_spec *spec);
/* Empties the slot of a server: it gets no new client, its open connections go
 * on, and with the last of them it forgets what it was (addrs.count is 0 then).
 * The numbers of the others stay. NULL is fine. */
void pool_remove_server(struct pool *p, struct server *s);
/* Between the two, many servers can be set and removed at the cost of one: nobody
 * can be chosen meanwhile. The end returns 0, or -1 with errno ENOMEM. */
void pool_begin_changes(struct pool *p);
int pool_end_changes(struct pool *p);

void pool_set_admin(struct pool *p, struct server *s, enum server_admin admin);

/* ---- choosing ---- */

/* Whether the client ACL lets `who` in; a denied client may still be served by
 * the abuse server. pool_choose() asks too: only who has to do something before the
 * choice asks here. */
bool pool_permits(const struct pool *p, const struct peer *who);

/* The server for client `who` at `now` (ms), or NULL when nobody may serve it.
 * The first call of a client uses its remembered server, else the algorithm;
 * after a failed connect, called again with the same `attempts`, it gives the next
 * eligible server, each once, then the emergency server. The next one is whose turn
 * it is where the algorithm has turns, else the next in list order. When none
 * of these is left it gives the servers that only their blacklisting keeps out,
 * the one whose time is up first in front, but none that this client has tried;
 * then NULL. A stubborn pool gives one server, and a blacklisted one only when
 * no server is eligible. A denied client gets the abuse server or NULL. A client
 * that has had pool_options.tries servers gets NULL.
 * The choice counts nothing: pool_opened() does. */
struct server *pool_choose(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);

/* Whether the choice depends on who the client is: it is remembered, or its
 * address decides. */
bool pool_tells_clients_apart(const struct pool *p);

/* Whether the client has not had as many servers as it may. */
bool pool_has_tries_left(const struct pool *p, const struct attempts *attempts);

/* Whether a client that pool_choose() has nobody for may wait for a place: a server
 * that would take it is at its limit, and nothing else keeps that out. Not in a
 * stubborn pool. A walk only where servers have access lists. */
bool pool_may_wait(const struct pool *p, const struct peer *who);
/* Whether waiting for a place can be of use: a server is at its limit, or it is
 * blacklisted and will be back. False when all are down or drained. */
bool pool_may_recover(const struct pool *p);
/* Whether there is a server that may take new clients. */
bool pool_has_eligible(const struct pool *p);
/* Calls `fn` whenever a server may take new clients that could not before, as when
 * the connection that filled it is gone. The server is in no order yet: `fn` takes
 * note, and chooses later. NULL: nobody wants to know. */
void pool_on_eligible(struct pool *p, void (*fn)(void *arg), void *arg);

/* Whether all servers are out, the emergency server too. */
bool pool_has_nobody_left(const struct pool *p);
/* Whether a client of `s` may stay with it: not when it is down, and while it
 * is blacklisted only as long as nobody else is left. */
static inline bool
pool_may_stay(const struct pool *p, const struct server *s, uint64_t now)
{
	return s->admin != SERVER_DISABLED &&
	    (s->blacklisted_until <= now || pool_has_nobody_left(p));
}

/* The client comes again and still has its server; should that fail now, it may
 * try all the others once more. */
void pool_restart_round(struct attempts *attempts);
static inline void
pool_begin_round(struct attempts *attempts)
{
	if (attempts->count != 1 || attempts->flags != 0)
		pool_restart_round(attempts);
}

/* A connection to `s` is being opened for `who`: it counts from here on, and
 * the client is remembered with it. */
void pool_opened(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* The client has proven that it is at its address. */
void pool_proven(
    struct pool *p, const struct peer *who, struct attempts *attempts);
/* The connect succeeded, or it answered: a blacklisting is over, but for one by the
 * operator. */
void pool_connected(struct pool *p, struct server *s, uint64_t now);
/* Whether the algorithm wants to know how long connects take. */
bool pool_wants_times(const struct pool *p);
/* The connect took so long; only when that is wanted. */
void pool_took(struct pool *p, struct server *s, uint64_t us);
/* Nothing came from `s` in time: it is blacklisted. A connection counts until
 * pool_closed(). */
void pool_failed(struct pool *p, struct server *s, uint64_t now);
/* `s` refused, which a client hears at once, so that it may be tried sooner: after
 * REFUSED_MS, then after twice that with each time that it refuses again, but
 * not later than one that was silent. */
void pool_refused(struct pool *p, struct server *s, uint64_t now);
/* `s` is blacklisted for its own time by the operator, which no answer ends, or not
 * any more when it has none. No failure is counted. */
void pool_take_out(struct pool *p, struct server *s, uint64_t now);
/* A check of `s`, a server of the list, went well or not. Returns whether it is
 * healthy now and was not, or the other way round. */
bool pool_checked(struct pool *p, struct server *s, bool good, uint64_t now);
/* It is not checked any more, and counts as healthy. */
void pool_unchecked(struct pool *p, struct server *s);
/* Ends the blacklistings whose time is over, as pool_choose() does too. */
void pool_revive(struct pool *p, uint64_t now);
/* Bytes of a connection, up to the server and down to the client, are added to
 * the server and the client's memory: where connections last, before the end. */
void pool_moved(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down);
/* The connection is gone, with the bytes it had moved up to the server and
 * down to the client; they are added to the server and the client's memory. */
void pool_closed(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down);

/* The counters of all servers begin anew; connections that are open still count,
 * with the bytes they move from now on. */
void pool_clear_counters(struct pool *p);

/* The access lists 0..ACL_LISTS-1, shared by all who ask. */
struct acl *pool_acl(struct pool *p, unsigned number);
/* The memory of clients, for reports; NULL when sticky is off. */
struct sticky *pool_sticky(const struct pool *p);

#endif
