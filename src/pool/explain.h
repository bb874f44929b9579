/* explain.h: which server a client would get now, by which rule, and what keeps
 * each of the others from it.
 *
 * pool_decide() is the choice itself, without its effects: pool_choose() takes
 * what it decides. What is explained is therefore what happens next, unless
 * something else happens before. */
#ifndef PEN_POOL_EXPLAIN_H
#define PEN_POOL_EXPLAIN_H

#include "pool/acl/acl.h"
#include "pool/pool.h"
#include "pool/sticky/sticky.h"

enum decision_rule {
	RULE_NONE,	 /* no server may take the client */
	RULE_STICKY,	 /* the client used the server last */
	RULE_FAILBACK,	 /* it was moved away from the server, and returns */
	RULE_BALANCE,	 /* the algorithm's choice */
	RULE_PASSED_ON,	 /* the same of the servers that permit it: the access
			  * list of the algorithm's choice does not */
	RULE_RETRY,	 /* the next server, after a failure */
	RULE_ABUSE,	 /* the client ACL denies the client */
	RULE_EMERGENCY,	 /* no regular server is eligible */
	RULE_LAST_RESORT /* no other is left than those that are suspect or
			  * blacklisted: one of them is tried */
};

struct decision {
	enum decision_rule rule;
	struct server *server; /* NULL: none */
	struct server *turn;   /* the algorithm's choice; NULL: not needed */
	struct server_set *among; /* it was chosen of these; or NULL */
};

/* Why a server is not given to a client, from what holds for all clients to
 * what holds for this one. */
enum obstacle {
	OBSTACLE_NONE,
	OBSTACLE_ROUTE,	      /* the client's route does not name it */
	OBSTACLE_MAINT,	      /* by the operator */
	OBSTACLE_DRAIN,	      /* the same */
	OBSTACLE_DOWN,	      /* by health checks */
	OBSTACLE_SUSPECT,     /* it failed a client, and is being checked */
	OBSTACLE_BLACKLISTED, /* it failed a client, or by the operator */
	OBSTACLE_HARD,	      /* as many connections as `hard` allows */
	/* These keep out new clients, but not one that is remembered. */
	OBSTACLE_WEIGHT, /* it has weight 0 */
	OBSTACLE_SOFT,	 /* as many connections as `max` allows */
	OBSTACLE_ACL	 /* its access list denies the client */
};

/* ---- in pool_choose.c ---- */

/* The decision of pool_choose() for the client, without carrying it out. With
 * zeroed `attempts`, as of a new client, only their hint is changed. */
struct decision pool_decide(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now);
bool pool_server_permits(const struct server *s, const struct peer *who);
/* Whether the client has been given the server, or one that shares its bit. */
bool pool_was_attempted(
    const struct attempts *attempts, const struct server *s);

/* ---- in explain.c ---- */

struct explanation {
	struct decision decision;
	bool permitted;	       /* by the client ACL */
	const struct acl *acl; /* the client ACL */
	size_t entry;	       /* of it, which decided; acl->count: none */
	const struct server_set *allowed; /* NULL: all servers */
	/* What is remembered of the client; NULL: nothing. */
	const struct sticky_client *client;
};

/* Explains what a client that comes now would get. Ends expired blacklistings,
 * as pool_choose() does; else nothing changes. `attempts` are all zero, but for
 * `allowed`. What `x` points to is the pool's, and valid until it changes. */
void pool_explain(struct pool *p, const struct peer *who,
    struct attempts *attempts, uint64_t now, struct explanation *x);
/* What keeps a present server from being given to the client; OBSTACLE_NONE if
 * nothing does, but another one may be chosen all the same. */
enum obstacle pool_obstacle(const struct server *s, const struct peer *who,
    const struct explanation *x);

/* Logs, at level debug, the server that a client gets, by which rule, and what
 * kept the first others from it. To be called before that takes effect. */
void pool_log_choice(struct pool *p, const struct peer *who,
    struct attempts *attempts, const struct decision *d, uint64_t now);

/* A word each: "sticky", "balance" ..; "maint", "down" .. */
const char *decision_rule_name(enum decision_rule r);
const char *obstacle_name(enum obstacle o);

#endif
