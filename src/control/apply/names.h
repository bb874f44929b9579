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
#include "net/resolve/resolve.h"
#include "net/resolve/resolver.h"

enum { NAMES_DNS_PORT = 53 };

struct service;

struct names {
	struct list all;	   /* struct name */
	struct hash_table by_host; /* the same; without buckets if none is */
	unsigned missing;	   /* not looked up yet, or under way */
	bool quiet; /* set it: the caller reports which names have failed */
	/* Set them: servers whose addresses follow what was found, beside those
	 * that a draft changes; none by default. */
	unsigned from, past;
	const struct service *service; /* theirs; NULL: of all services */
	unsigned failed; /* of those looked up; also in part */
	const struct name *first_failed;
	uint64_t ttl_ms; /* the shortest of what was found; 0: none is known */
	void (*on_all)(struct names *n);
	struct resolver *resolver; /* of names_look_up() */
	struct list *next;	   /* the first one that was not looked up */
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

struct names_range {
	unsigned from, past;
};

/* The range as it is for a service. */
static inline struct names_range
names_range(const struct names *n, const struct service *svc)
{
	return n->service == NULL || n->service == svc
	    ? (struct names_range){ n->from, n->past }
	    : (struct names_range){ 0, 0 };
}

void names_init(struct names *n);
void names_fini(struct names *n); /* cancels what is under way */

/* Notes that `host` is needed. Returns 0, or -1 with errno ENOMEM. */
int names_want(struct names *n, const char *host);
/* Forgets all, to look them up again; or up to `count` of those that were
 * looked up, and returns whether there are more. */
void names_clear(struct names *n);
bool names_clear_some(struct names *n, unsigned count);
/* The name if it was looked up, be it found or not, or NULL. */
const struct name *names_find(const struct names *n, const char *host);

/* Marks all names without an answer as not found. */
void names_fail_rest(struct names *n);
/* `host` was looked up by another process, which found what the caller writes
 * into the query returned: it belongs to the names. NULL with errno ENOMEM. */
struct query *names_import(struct names *n, const char *host);
/* Looks all up that are missing, and blocks: at the start only. By the system's
 * resolver, or if `server` is not NULL by that name server alone. */
void names_look_up_now(struct names *n, const struct addr *server);
/* The same through the loop; on_all() comes once none is missing, never from
 * inside this call. */
void names_look_up(
    struct names *n, struct resolver *r, void (*on_all)(struct names *n));

#endif
