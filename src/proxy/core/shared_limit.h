/* shared_limit.h: a limit of the connections of several frontends together. A
 * part of it is kept for each of them, its share, the rest is for those that
 * need more:
 *
 *     sum over all of max(connections, share) <= limit
 *
 * so that none can take the share of another one. */
#ifndef PEN_PROXY_SHARED_LIMIT_H
#define PEN_PROXY_SHARED_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct frontend_core;

struct shared_limit {
	uint64_t max;	/* 0: no limit */
	uint64_t share; /* of each that has one */
	uint64_t taken; /* all shares, and what is beyond them */
	struct list members; /* those that have used up their share first */
};

/* What a frontend has of it. */
struct shared_limit_member {
	struct shared_limit *limit; /* NULL: of none */
	struct list link;
	uint64_t share;
};

void shared_limit_init(struct shared_limit *r);
/* The limit is another one; none is a member any more. Half of it is kept for
 * those that will join with a share, all of which have the same; `shares` is
 * their number. Where there are more of them than the limit, a share is 0. */
void shared_limit_set(struct shared_limit *r, uint64_t max, unsigned shares);
/* With what it has now. frontend_check_limits() is the caller's, after the last
 * one has joined. */
void shared_limit_join(
    struct shared_limit *r, struct frontend_core *f, bool has_share);
/* The frontend's connections no longer count. */
void shared_limit_part(struct frontend_core *f);

/* Whether one more may come. */
bool shared_limit_has(const struct frontend_core *f);
/* Its number of sessions is one more, or one less, than before: frontends pause
 * when the limit is reached, and accept again below it. */
void shared_limit_more(struct frontend_core *f);
void shared_limit_less(struct frontend_core *f);

#endif
