/* route_plan.h: the routes of a plan, in words: what first bytes must match,
 * and the servers or the service for that, which may come later.
 *
 * Plans share their routes; a change of those of one plan gives it its own. */
#ifndef PEN_CONTROL_ROUTE_PLAN_H
#define PEN_CONTROL_ROUTE_PLAN_H

#include "base/buffer.h"
#include "base/error.h"
#include "proxy/wire/route.h"

enum { ROUTES_MAX = 4096 };

struct route_plan {
	enum route_kind kind;
	char *pattern; /* names in lower case; of a default "" */
	bool to_service;
	char *to; /* its name; else servers: numbers, names or addresses, with
		   * commas */
};

struct route_plans; /* NULL: none */

struct route_plans *route_plans_hold(struct route_plans *r);
void route_plans_drop(struct route_plans *r);

unsigned route_plans_count(const struct route_plans *r);
/* Route number `i`, in their order; NULL after the last one. */
const struct route_plan *route_plans_at(
    const struct route_plans *r, unsigned i);
bool route_plans_equal(
    const struct route_plans *a, const struct route_plans *b);

/* Sets where a route leads, which becomes the last one if it is new. Returns
 * 0, or -1 with errno ENOMEM, or E2BIG: there are ROUTES_MAX. */
int route_plans_set(struct route_plans **r, const struct route_plan *one);
/* Takes one out. Returns 0, or -1 with errno ENOENT or ENOMEM. */
int route_plans_remove(
    struct route_plans **r, enum route_kind kind, const char *pattern);

/* Appends it as a command, without the end of the line. */
void route_plan_print(const struct route_plan *r, struct buffer *out);

/* Adds what first bytes say, in words of a command: `word` is sni, alpn, host
 * or protocol. A name implies its protocol. Returns 0, or -1 with
 * a short message. */
int first_words_set(
    struct first *f, const char *word, const char *value, struct error *e);

#endif
