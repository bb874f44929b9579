/* pool.h: the servers, and which of them serves the next client.
 *
 * The pool keeps the set of eligible servers, those that may take a new client,
 * and notifies the balancing algorithm whenever a server enters or leaves it. A
 * choice therefore never walks the list: it takes O(1) or O(log n) with every
 * algorithm, even if most servers are dead. The pool never blocks, uses no
 * sockets, and gets the time: `now` is the loop's, in milliseconds. */
#ifndef PEN_POOL_POOL_H
#define PEN_POOL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "pool/acl/acl.h"
#include "pool/acl/countries.h"
#include "pool/server/server.h"

struct server_set;
struct balance; /* an algorithm; see balance.h */
struct sticky;	/* the memory of clients; see sticky.h */

/* When a remembered client returns to the server that it was moved away from,
 * once that may take it: never; with the next connection that it opens while it
 * has none; with the next connection. */
enum failback { FAILBACK_NEVER, FAILBACK_IDLE, FAILBACK_NOW };

/* The pool's settings, filled by rows of the settings table. */
struct pool_options {
	/* The algorithm, for clients that are not remembered. */
	const struct balance *balance;
	bool sticky;	/* remember which server each client used */
	bool stubborn;	/* a client whose server fails gets no other one */
	bool hash_port; /* hash address and port, not the address alone */
	/* Leading bits of an IPv6 address that count, for hash and memory. */
	unsigned hash_prefix6, sticky_prefix6;
	uint64_t tracking_ms; /* how long a client is remembered; 0: no limit */
	uint64_t clients_max; /* how many are remembered at most */
	uint64_t blacklist_ms;
	uint64_t slow_start_ms; /* 0: none */
	unsigned panic; /* see struct pool_panic, in percent; 0: never */
	unsigned tries; /* servers a client is given at most; 0: each once */
	enum failback failback;
	enum server_on_down on_down; /* of servers without one of their own */
	enum server_on_up on_up;
	int client_acl; /* number of the access list that clients must pass */
	struct health_options health;
};

/* A server has another state; the new one, when and why are in its history. */
struct server_change {
	enum server_state was, is;
	uint64_t lasted_ms; /* the state before */
};

/* Whether so few servers pass their checks that those that fail them are tried
 * as well: fewer than pool_options.panic percent of the regular servers that
 * are checked and that the operator wants to have new clients. */
struct pool_panic {
	uint32_t on;	  /* 1: now */
	uint32_t checked; /* the servers that it applies to */
	uint32_t failing; /* of these, those that are down */
	uint64_t begun;	  /* how often it began */
};

/* The receiver of such changes, and the time then. */
struct pool_watcher {
	uint64_t (*now)(void *arg); /* ms, as `now` of the functions below */
	int64_t (*wall)(void *arg); /* seconds since 1970 */
	/* Called from inside of whatever changed the server: it must not call
	 * functions that change the pool. */
	void (*on_state)(
	    void *arg, struct server *s, const struct server_change *c);
	/* The same when checks have found it down while it drains, or is
	 * taken out for maintenance, which stays its state. */
	void (*on_down)(void *arg, struct server *s, const char *reason);
	/* A check has found it well, the first one since it was new or failed:
	 * its state need not change. */
	void (*on_well)(void *arg, struct server *s);
	/* Panic has begun or is over. */
	void (*on_panic)(void *arg, const struct pool_panic *now);
	void *arg;
};

enum { ATTEMPTS_SLOT = 20, ATTEMPTS_GIVEN = 12 }; /* bits */

/* The servers one client has been given so far. All zero before its first
 * choice, except `proven`, `allowed` and `wanted`. */
struct attempts {
	uint64_t set; /* a bit for each server: its slot modulo 64 */
	/* The regular servers that the client may be given; NULL: all. It must
	 * last as long as the call. */
	struct server_set *allowed;
	uint32_t hint; /* where the client is remembered; see sticky.h */
	unsigned first : ATTEMPTS_SLOT; /* of the first server given */
	unsigned flags : 3;		/* ATTEMPTED_* */
	bool proven : 1; /* the client is at its address; see sticky.h */
	bool abuse : 1;	 /* it gets the abuse server, or none */
	bool old : 1;	 /* it had the last one given before */
	/* Regular servers given in this round: 0, 1, or 2 for more. */
	unsigned count : 2;
	unsigned last : ATTEMPTS_SLOT; /* slot of the last one */
	/* Servers in all rounds, the special ones included, as far as it
	 * goes. */
	unsigned given : ATTEMPTS_GIVEN;
	/* Slot, and 1, of the server that the client claims; 0: none. It
	 * applies only to the first choice. */
	unsigned wanted : ATTEMPTS_SLOT;
};
enum {
	ATTEMPTS_SLOT_MAX = (1 << ATTEMPTS_SLOT) - 1,
	ATTEMPTS_GIVEN_MAX = (1 << ATTEMPTS_GIVEN) - 1,
	ATTEMPTED_EMERGENCY = 1,
	ATTEMPTED_ABUSE = 2,
	ATTEMPTED_BLACKLISTED = 4, /* no eligible server was left */
	ATTEMPTED_ALL = 7
};

/* The client claims this server; NULL: none. */
static inline void
attempts_want(struct attempts *a, const struct server *s)
{
	a->wanted = s == NULL ? 0 : (s->slot + 1) & ATTEMPTS_SLOT_MAX;
}

/* A pool without servers, or NULL with errno ENOMEM. */
struct pool *pool_new(void);
/* The same, with the access lists and countries of `other`: pool_share_lists().
 */
struct pool *pool_new_beside(const struct pool *other);
void pool_free(struct pool *p);

const struct pool_options *pool_options(const struct pool *p);
/* Puts new settings in force; another algorithm starts with an order of its
 * own. Returns 0, or -1 with errno ENOMEM and the old settings in force. */
int pool_set_options(struct pool *p, const struct pool_options *o);
/* Fills in the settings a pool starts with: the defaults of Pen. */
void pool_options_init(struct pool_options *o);

/* ---- servers ---- */

/* The description of a server; the pool copies it and its name. */
struct server_spec {
	char *name; /* owned by the caller */
	const char *host; /* the same; see struct server; NULL: the name */
	struct server_addrs addrs; /* none: its name is not resolved yet */
	struct server_settings set;
	int admin; /* enum server_admin; -1: as it was, SERVER_ENABLED of a
		    * new one */
};
void server_spec_init(struct server_spec *spec);

/* The slots of the list, empty ones and the two special ones included, and the
 * server in one of them; NULL after the last slot. A walk over all servers is
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
/* How many servers wait for an address. */
unsigned pool_unresolved(const struct pool *p);
/* Notes whether its name has an address that is refused. Returns whether that
 * is new. */
bool pool_refuse_address(struct server *s, bool refused);
/* The regular server that has this digest (digest.h), or NULL. */
struct server *pool_by_digest(const struct pool *p, uint64_t digest);

/* Fills a slot with the server that the spec describes; the list grows to hold
 * it, slots between being empty. Counters, connections and state of a server
 * that was there stay if the addresses are the same, else start anew; but one
 * that is down by checks, or blacklisted by the operator, stays so while its
 * name and port are the same. A server without an address gets no clients.
 * Returns the server, or NULL with errno ENOMEM. */
struct server *pool_set_slot(
    struct pool *p, unsigned slot, const struct server_spec *spec);
/* Empties the slot of a server. It gets no new client; its open connections go
 * on, and when the last of them has ended its name and addresses are freed
 * (addrs.count is 0 then). The other servers keep their slots. `s` may be
 * NULL. */
void pool_remove_server(struct pool *p, struct server *s);
/* Between these two calls, many servers can be set and removed; no server can
 * be chosen meanwhile. The cost is that of the servers that are set. All
 * servers are moved, once, only if the list grows, if the first weight comes or
 * the last one goes, or if the algorithm has a table of all of them.
 * pool_end_changes() returns 0, or -1 with errno ENOMEM.
 *
 * `why` is the reason of all that they change, such as the source of the
 * command; it stays the caller's, and valid until pool_end_changes(). May be
 * NULL. */
void pool_begin_changes(struct pool *p, const char *why);
int pool_end_changes(struct pool *p);

/* ---- choosing ---- */

/* Whether the client ACL permits `who`. A denied client may still be served by
 * the abuse server. pool_choose() checks this too; a caller needs it only
 * before that. */
bool pool_permits(const struct pool *p, const struct peer *who);

/* Chooses the server for client `who`, or returns NULL if none may serve it.
 *
 * On its first call a client gets attempts->wanted, if that may take it, else
 * the server it is remembered with, else the algorithm's choice. After
 * a failed connect the caller calls again with the same `attempts`, and the
 * client gets
 *
 *  1. each other eligible server once: the server whose turn it is if the
 *     algorithm has turns, else the next one in list order;
 *  2. the emergency server;
 *  3. the servers that only their blacklisting for a failure keeps out, the one
 *     whose time expires first in front;
 *  4. NULL.
 *
 * A stubborn pool gives a client one server, and a blacklisted one only if no
 * server is eligible. A denied client gets the abuse server or NULL. A client
 * that has been given pool_options.tries servers gets NULL.
 *
 * Of the regular servers, those of attempts->allowed alone are chosen, each
 * rule as above.
 *
 * A choice counts nothing: pool_opened() does. */
struct server *pool_choose(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);

/* Whether the choice depends on the client: clients are remembered, or the
 * algorithm uses their addresses. */
bool pool_tells_clients_apart(const struct pool *p);

/* The same of the algorithm alone: a client gets the same server again. */
bool pool_goes_by_address(const struct pool *p);
/* The client is new when it comes again. */
void pool_remove_client(struct pool *p, const struct peer *who);

/* Whether the client may be given another server as far as the setting `tries`
 * goes. */
bool pool_has_tries_left(const struct pool *p, const struct attempts *attempts);

/* Whether a client for which pool_choose() found no server may queue: some
 * server would take it and is only at its limit. Never in a stubborn pool.
 * Walks the list, but only if servers have access lists, or the set of
 * `attempts->allowed`. */
bool pool_may_wait(const struct pool *p, const struct peer *who,
    const struct attempts *attempts);
/* Whether a queued client can still get a server: one is at its limit, or is
 * blacklisted and will be back. False if all are down or drained. */
bool pool_may_recover(const struct pool *p);
/* Whether any server may take a new client. */
bool pool_has_eligible(const struct pool *p);
/* Whether the server that the client had before may take it, full or not. */
bool pool_takes_back(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* Makes the pool call `fn` whenever the server of a slot becomes eligible, for
 * example when the connection that filled it has ended, or may at least serve
 * clients that it had before: it fell below its hard limit. The algorithm does
 * not have the server yet: `fn` must not choose, only remember to do so later.
 * With NULL nothing is called. */
void pool_on_eligible(
    struct pool *p, void (*fn)(void *arg, unsigned slot), void *arg);

/* In one of several processes: servers that are full may have room again, as
 * others have closed connections. Does something once a millisecond, if any
 * server is full; then it visits all. */
void pool_refresh_full(struct pool *p, uint64_t now);
/* For a process that was forked from another one with the same pool: draws
 * other random servers than there. */
void pool_become(struct pool *p);
/* How many processes serve clients with these servers. */
unsigned pool_processes(const struct pool *p);
/* The connections of a server that several have; of all of them together. */
uint64_t pool_shared_connections(const struct server *s);
static inline uint64_t
pool_connections(const struct server *s)
{
	return s->shared == NULL ? s->connections : pool_shared_connections(s);
}

/* The load that algorithms compare: connections, less those that may be over
 * already. */
static inline uint64_t
pool_load(const struct server *s)
{
	return pool_connections(s) + s->brief;
}

/* Whether no server may take a client, not even the emergency server. */
bool pool_has_nobody_left(const struct pool *p);
/* Whether a client may stay with its server `s`: not if that is in maint, and
 * if it is suspect or blacklisted only as long as no other server is left. Of
 * one that is down pool_cuts_sessions() decides, and flows of datagrams that it
 * does not answer leave it. */
static inline bool
pool_may_stay(const struct pool *p, const struct server *s, uint64_t now)
{
	return s->admin != SERVER_DISABLED &&
	    (s->blacklisted_until <= now ||
		(!s->by_operator && pool_has_nobody_left(p)));
}

const struct pool_panic *pool_panic(const struct pool *p);
/* Whether health checks keep clients from `s`: it is down, and there is no
 * panic. */
bool pool_keeps_out(const struct server *s);

/* Whether sessions of `s` are to end: it is kept out, and on_down is cut. */
bool pool_cuts_sessions(const struct pool *p, const struct server *s);

/* Begins another round for a client that still has its server: if that fails
 * now, the client may be given all the others once more. */
void pool_restart_round(struct attempts *attempts);
static inline void
pool_begin_round(struct attempts *attempts)
{
	if (attempts->count != 1 || attempts->flags != 0)
		pool_restart_round(attempts);
}

/* ---- what happens to servers ---- */

/* A connection to `s` is being opened for `who`. It counts until pool_closed(),
 * and the client is remembered with the server. */
void pool_opened(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* The same of what may be all that the client sends, such as a datagram: it
 * takes no place of the server's limits, but is load, so that not all of them
 * go to one server, until pool_faded(); pool_resumed() can follow then. */
void pool_served(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now);
void pool_faded(struct server *s);
/* A connection that did not count is in use again, and counts until
 * pool_idled() or pool_closed(). */
void pool_resumed(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t now);
/* A connection that may be over counts no longer, until pool_resumed(). */
void pool_idled(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts);
/* The client has proven that it is at its address; see sticky.h. */
void pool_proven(
    struct pool *p, const struct peer *who, struct attempts *attempts);
/* A connect to `s` succeeded, or `s` answered. This ends its blacklisting,
 * except one by the operator. */
void pool_connected(struct pool *p, struct server *s, uint64_t now);
/* Whether the algorithm uses connect times: then callers read the clock for
 * pool_took(), else it gets what is known without. */
bool pool_wants_times(const struct pool *p);
void pool_took(struct pool *p, struct server *s, uint64_t us);
/* A session with `s` had its first answer byte `us` after its beginning. */
void pool_began_answer(struct server *s, uint64_t us);
/* A query was answered by `s` so long after it was sent: the algorithm, which
 * goes by connect times, does not count it. */
void pool_answered(struct server *s, uint64_t us);
/* A session with `s` is over. */
void pool_session_ended(struct server *s, enum server_end how);
/* `s` did not answer in time (`reason`), and is blacklisted. Connections to it
 * count until pool_closed() all the same. Returns whether failures blacklist
 * it: not with a blacklist time of 0. */
bool pool_failed(
    struct pool *p, struct server *s, const char *reason, uint64_t now);
/* `s` refused a connection. It is blacklisted for REFUSED_MS, and for twice as
 * long with each further refusal, but never for longer than a server that did
 * not answer: a client learns of a refusal at once, so an early attempt costs
 * little. One that is blacklisted already stays so for REFUSED_MS at least.
 * Returns the same. */
bool pool_refused(
    struct pool *p, struct server *s, const char *reason, uint64_t now);
/* `s` answers its clients with errors (`reason`): it is blacklisted, or suspect
 * if it is checked, for its blacklist time, whatever checks and connections
 * find. Not one that is out of rotation, or that failures do not
 * blacklist. */
void pool_observed(struct server *s, const char *reason, uint64_t now);
/* Ends an observation early. */
void pool_observed_enough(struct server *s, const char *reason);
/* The operator blacklists `s` for its own blacklist time, which no answer ends
 * and in which it is not tried even as the last one, or ends its blacklisting
 * if that time is 0. No failure is counted. */
void pool_take_out(struct pool *p, struct server *s, uint64_t now);
/* `s` is checked from now on: a failure makes it suspect, not blacklisted. */
void pool_begin_checks(struct pool *p, struct server *s);
/* A health check of `s` succeeded or failed, with `reason`. `fall` failures in
 * a row make it down, `rise` successes in a row make it up again, and end a
 * suspicion. Returns whether its health changed because of this. */
bool pool_checked(struct pool *p, struct server *s, bool good,
    const char *reason, uint64_t now);
/* Nothing is known yet of `s`, whose checks begin. */
void pool_assume(struct pool *p, struct server *s, enum server_initial initial);
/* `s` is no longer checked; it counts as healthy. */
void pool_unchecked(struct pool *p, struct server *s);
/* Ends expired blacklistings, and continues slow starts. pool_choose() does so
 * too. */
void pool_revive(struct pool *p, uint64_t now);
/* When the next of them expires, in ms; UINT64_MAX when there is none. */
uint64_t pool_next_revival(const struct pool *p);
/* Makes the pool report each change of a server's state, once: see struct
 * pool_watcher, which is copied. An empty slot that gets a server, and a
 * removed server that is forgotten, are not reported. */
void pool_watch(struct pool *p, const struct pool_watcher *w);
/* Adds bytes of a connection, up to the server and down to the client, to the
 * counters of the server and of the remembered client. */
void pool_moved(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down);
/* The connection has ended. Adds its last bytes as pool_moved() does. */
void pool_closed(struct pool *p, struct server *s, const struct peer *who,
    struct attempts *attempts, uint64_t up, uint64_t down);

/* Sets the counters of all servers to zero. Open connections still count, and
 * so do the bytes that they move from now on. */
void pool_clear_counters(struct pool *p);

/* A server as another process has it: the one before this one, one of several
 * that serve together, a peer. Times are of this process's clock. */
struct server_elsewhere {
	enum server_admin admin;
	struct server_mark mark;
	uint64_t blacklisted_ms; /* for so long from now; 0: it is not */
	bool by_operator, observed, checked;
	unsigned refusals;
	struct health health;
	uint64_t connects, failures, sent, received;
	uint64_t http[SERVER_HTTP_CLASSES];
	struct server_history history;
	struct server_reasons reasons;
};

/* Describes the server for another process. */
void pool_describe(
    const struct server *s, struct server_elsewhere *e, uint64_t now);
/* Puts the server into that state: marks of the operator come on top of those
 * that it has, and its health counts only if it is checked. */
void pool_restore(struct pool *p, struct server *s,
    const struct server_elsewhere *e, uint64_t now);
/* Sets the server's counters, which continue from there. */
void pool_restore_counters(
    struct pool *p, struct server *s, const struct server_elsewhere *e);
/* The results of checks and blacklistings of `s` are those of another process
 * that serves the same clients. */
void pool_follow(struct pool *p, struct server *s,
    const struct server_elsewhere *e, uint64_t now);

/* Notes where its drain or maint comes from, which the pool makes no use of. */
void pool_note_mark(struct server *s, const struct server_mark *mark);
/* Adds what another process has counted: the connections, and the rest if it is
 * of the same generation; or takes it off, and drops recent times. */
void server_counters_add(
    struct server_counters *to, const struct server_counters *c);
void server_counters_subtract(
    struct server_counters *from, const struct server_counters *c);
/* Another process does this to one that counts: it forgets recent times. */
void server_counters_drop_times(struct server_counters *c);
/* The server counts there from now on, of this generation. */
void pool_count_in(struct server *s, struct server_counters *at);
/* Sets a server's counters to what the processes that serve have counted
 * together; for a process that serves no client. */
void pool_take_counters(struct server *s, const struct server_counters *c);

/* Access list `number`, 0..ACL_MAX-1, or NULL; shared by all parts of pen. */
struct acl *pool_acl(struct pool *p, unsigned number);
/* The database with the countries of clients. */
struct countries *pool_countries(const struct pool *p);
/* `p`, whose lists are empty, has those of `of` from now on, which is not freed
 * before the last use of `p`. */
void pool_share_lists(struct pool *p, const struct pool *of);
/* Lists that it shares stay as they are for `p`, until it shares them again.
 * Returns 0, or -1 with errno ENOMEM. */
int pool_freeze_lists(struct pool *p);
/* Makes access list `number`, below ACL_MAX, a copy of `l`. */
void pool_set_acl(struct pool *p, unsigned number, const struct acl *l);
/* Sets the function of sticky_on_change() for the pool's client table, and for
 * those that it has later. */
void pool_on_client(
    struct pool *p, void (*fn)(void *arg, uint32_t position), void *arg);
/* The memory of clients, for reports; NULL if clients are not remembered. */
struct sticky *pool_sticky(const struct pool *p);
/* Forgets all clients, and frees the memory. */
void pool_clear_clients(struct pool *p);

#endif
