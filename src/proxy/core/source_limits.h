/* source_limits.h: connection counts and rates per source, and their limits.
 *
 * A source is a client's address, or the network of a prefix length that it
 * belongs to. It has an entry in a table while it has connections, and after
 * that until others need the memory: the one seen longest ago is removed first,
 * those that are not proven before any other. A source is proven once a client
 * of it accepted an answer, so senders of datagrams with spoofed addresses
 * displace only each other. When all entries are in use, a new source gets
 * none, and is not limited: filling the table cannot lock others out.
 *
 * Pure: it has no sockets, and the clock (ms) is passed in. Finding a source,
 * making and evicting one are O(1). */
#ifndef PEN_PROXY_SOURCE_LIMITS_H
#define PEN_PROXY_SOURCE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/rate.h"
#include "base/rate_limit.h"

/* Action for a client that is over a limit. */
enum limit_action {
	LIMIT_ACTION_REFUSE, /* it is reset */
	LIMIT_ACTION_DELAY,  /* it waits, and is served later */
	LIMIT_ACTION_TARPIT, /* it waits, and is reset then */
	LIMIT_ACTION_ABUSE   /* it gets the abuse server */
};

struct limit_options {
	uint64_t conns;		   /* of a source at a time; 0: any number */
	struct rate_limit rate;	   /* new ones of a source */
	struct rate_limit all;	   /* new ones of all sources */
	unsigned prefix4, prefix6; /* bits that identify a source */
	enum limit_action action;
	uint64_t wait_ms;     /* how long a client is delayed or tarpitted */
	uint64_t wait_max;    /* how many are, at a time */
	int exempt;	      /* access list of unlimited clients; -1: none */
	uint64_t sources_max; /* entries in the table */
};

/* Which limit a client is beyond. */
enum limit_verdict { LIMIT_WITHIN, LIMIT_CONNS, LIMIT_RATE };

/* All bytes are compared, so padding is zero. */
struct source_key {
	uint8_t ip[16]; /* as in struct peer; without bits beyond the prefix */
	uint32_t scope;
	uint16_t family;
	uint16_t bits; /* of the prefix */
};

struct source {
	struct hash_table_link link;
	struct source_key key;
	struct list order;   /* while it has no connections: which are older */
	struct list waiting; /* its clients that wait, the oldest first */
	struct rate_bucket bucket;
	struct rate rate; /* how often a client came, lately */
	uint32_t conns;
	uint32_t waits;		  /* clients that wait */
	uint64_t passed, limited; /* clients within the limits, and beyond */
	uint64_t told;		  /* ms: of it, in the log; 0: never */
	bool proven;
	bool in_use;
};

enum { SOURCE_TEXT_MAX = PEER_TEXT_MAX + 8 };

struct source_limits {
	struct hash_table table;
	const struct limit_options *options; /* in force; the caller's */
	bool is_made;			     /* there is a table */
	struct list idle[2]; /* not proven, proven; the oldest first */
	struct list unused;  /* entries without a source */
	struct source **slabs;
	size_t slab_count;
};

void source_limits_init(struct source_limits *t, const struct limit_options *o);
/* No caller holds a source any more. */
void source_limits_fini(struct source_limits *t);

/* Whether clients of that family have a source. */
bool source_is_of(const struct peer *who);
/* The entry of the client's source, or NULL. */
struct source *source_limits_find(
    const struct source_limits *t, const struct peer *who);
/* The same, which is made if there is none; it is unused, and may be evicted by
 * the next call, until source_add_connection() or source_wait(). NULL: there is
 * no memory for it, or the client has no source. */
struct source *source_limits_get(
    struct source_limits *t, const struct peer *who);

/* Whether the source has as many connections as it may. */
bool source_is_full(const struct source_limits *t, const struct source *s);
/* Which limit one more client would be beyond. Takes nothing. */
enum limit_verdict source_check(
    const struct source_limits *t, const struct source *s, uint64_t now);
/* A connection of the source came, or a datagram: counts it, and takes it from
 * what client_rate allows. Only connections are kept out by client_conns, and
 * by others that wait. Nothing is taken when it is beyond a limit. */
enum limit_verdict source_arrive(
    struct source_limits *t, struct source *s, bool connection, uint64_t now);
/* The same of one that has waited: it came and was counted before. */
enum limit_verdict source_try_again(
    struct source_limits *t, struct source *s, uint64_t now);

/* Counts one more connection of the source, or one less. */
void source_add_connection(struct source_limits *t, struct source *s);
void source_remove_connection(struct source_limits *t, struct source *s);
/* A client begins to wait, with a link for s->waiting, or waits no more. */
void source_wait(struct source_limits *t, struct source *s, struct list *link);
void source_wait_over(
    struct source_limits *t, struct source *s, struct list *link);
/* Notes that the source was used now, so that it is the last one to be evicted.
 * With `proven`, it is proven from now on. */
void source_touch(struct source_limits *t, struct source *s, bool proven);

/* "10.0.0.1", or "10.0.0.0/24" where the prefix is not a whole address. */
char *source_format(const struct source *s, char text[SOURCE_TEXT_MAX]);

/* What the sources that have most of it are sorted by. */
enum source_order { SOURCES_BY_CONNS, SOURCES_BY_RATE, SOURCES_BY_LIMITED };

/* A walk over the table for the first `n` sources of that order; it is done in
 * portions, between which sources come and go. */
struct source_walk {
	enum source_order by;
	unsigned n, count; /* wanted; found */
	size_t at;
	const struct source *top[]; /* one may be another source by now */
};

/* Returns a walk that begins, to be freed, or NULL with errno ENOMEM. */
struct source_walk *source_walk_new(enum source_order by, unsigned n);
/* Takes in so many entries. Returns whether there are more. */
bool source_walk_on(const struct source_limits *t, struct source_walk *w,
    size_t portion, uint64_t now);

#endif
