/* names.h: the host names that a plan needs, and what they were found to be.
 *
 *     names_want() for each -> names_look_up_now() | names_look_up()
 *         -> names_find()
 *
 * Names that were found stay known until names_fini(). */
#ifndef PEN_CONTROL_NAMES_H
#define PEN_CONTROL_NAMES_H

#include "base/error.h"
#include "base/list.h"
#include "net/resolve.h"
#include "net/resolver.h"

struct names {
	struct list all;  /* struct name */
	unsigned missing; /* not looked up yet, or under way */
	void (*on_all)(struct names *n);
};

struct name {
	struct list link;
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

/* Looks all up that are missing, and blocks: at the start only. */
void names_look_up_now(struct names *n);
/* The same through the loop; on_all() comes once none is missing, never from
 * inside this call. */
void names_look_up(
    struct names *n, struct resolver *r, void (*on_all)(struct names *n));

#endif
