/* names.h: the host names that a plan needs, and what they were found to be.
 *
 *     names_want() for each -> names_look_up_now() | names_look_up()
 *         -> names_find()
 *
 * Names that were found stay known until names_fini(). */
#ifndef PEN_CONTROL_NAMES_H
#define PEN_CONTROL_NAMES_H

#include "base/error.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "net/resolve.h"
#include "net/resolver.h"

enum { NAMES_DNS_PORT = 53 };

struct names {
	struct list all;	   /* struct name */
	struct hash_table by_host; /* the same; without buckets if none is */
	unsigned missing;	   /* not looked up yet, or under way */
	bool quiet; /* set it: the caller says which names have failed */
	void (*on_all)(struct names *n);
	struct resolver *resolver; /* of names_look_up() */
	struct list *next;	   /* the first one that was not asked for */
	struct loop *own_loop; /* of names_look_up_now() */
};

struct name {
	struct list link;
	struct hash_table_link in_table;
	struct names *names;
	char *host;
	struct query query; /* its answer has no port */
	bool done;
};

void names_init(struct names *n);
void names_fini(struct names *n); /* cancels what is under way */

/* Notes that `host` is needed. Returns 0, or -1 with errno ENOMEM. */
int names_want(struct names *n, const char *host);
/* Forgets all, to look them up again. */
void names_forget(struct names *n);
/* The name if it was looked up, be it found or not, or NULL. */
const struct name *names_find(const struct names *n, const char *host);

/* How many names were looked up and not found; *first is one of them, or
 * NULL. */
unsigned names_failed(const struct names *n, const struct name **first);

/* The shortest time to live of their addresses; 0: none is known. */
uint64_t names_ttl_ms(const struct names *n);

/* Looks all up that are missing, and blocks: at the start only. By the system's
 * resolver, or if `server` is not NULL by that name server alone. */
void names_look_up_now(struct names *n, const struct addr *server);
/* The same through the loop; on_all() comes once none is missing, never from
 * inside this call. */
void names_look_up(
    struct names *n, struct resolver *r, void (*on_all)(struct names *n));

#endif
