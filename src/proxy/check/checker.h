/* checker.h: checks servers when they are due; one check of a server at a time.
 *
 *     waiting --due--> running --result--> waiting
 *        ^                                    |
 *        '------ interval, give or take 10 % -'
 *
 * Servers begin at moments of their own within the interval, so that many are
 * checked evenly; those that get no client before their first good result begin
 * at once. One whose last result contradicts its state is checked again after
 * half of the interval; one that could not be checked yet, when descriptors
 * were short, after an eighth. One that is down is checked less often with each
 * more failure, up to CHECKER_BACKOFF intervals, but at least each
 * CHECKER_BACKOFF_MS, or each interval if that is longer: so it is found soon
 * when it comes back; while no server can have clients, each interval. A server
 * that has failed a client is checked at once, one time: checker_hurry().
 *
 * Records are kept by slot of the pool's list, and whatever happens costs O(log
 * n). Results are reported to the pool. */
#ifndef PEN_PROXY_CHECKER_H
#define PEN_PROXY_CHECKER_H

#include "proxy/check/check_spec.h"

enum { CHECKER_BACKOFF = 4, CHECKER_BACKOFF_MS = 10 * 1000 };

/* Settings for all servers. */
struct checker_options {
	uint64_t interval_ms, timeout_ms;
	uint64_t interval_down_ms; /* of one that is down; 0: see above */
	unsigned running_max; /* checks at a time, 1 or more */
	bool lazy; /* a server that answered clients within the interval is not
		    * checked */
};

/* How one server is checked. */
struct checker_target {
	struct check_spec *spec; /* NULL: not at all */
	uint16_t port;		 /* instead of the server's; 0: its own */
	struct addr at;		 /* instead of its addresses; len 0: these */
};

/* What is known of a server. */
struct checker_report {
	const struct check_spec *spec;
	enum check_result result;   /* of the last check; NONE: none yet */
	const char *reason;	    /* "" when there is none */
	const struct addr *address; /* that was checked */
	uint64_t took_us;	    /* by a good check */
	uint64_t ended_ms;	    /* the loop's time; 0: never */
	uint64_t next_ms;	    /* until the next one begins; 0: it runs */
};

struct checker_stats {
	uint64_t begun;	  /* checks */
	uint64_t skipped; /* lazy: servers that were not checked */
	unsigned running; /* now */
};

/* Checks no server yet. Loop, pool and frontend outlive it. NULL (ENOMEM). */
struct checker *checker_new(
    struct loop *l, struct pool *p, struct frontend_core *f);
/* Whose programs checks run; they outlive the checker. */
void checker_set_programs(struct checker *c, struct programs *p);
/* With `lazy` calls it before a check of a server: its counters are to be those
 * of all processes that serve. */
void checker_on_lazy(
    struct checker *c, void (*fn)(void *arg, struct server *s), void *arg);
/* Stops the checks that run; NULL is fine. */
void checker_free(struct checker *c);

/* Makes a record for the slot. Returns 0, or -1 with errno ENOMEM. */
int checker_reserve(struct checker *c, unsigned slot);
/* Others count for checks that begin from now on, a shorter interval at
 * once. */
void checker_set_options(struct checker *c, const struct checker_options *o);
/* The server in the slot, which was reserved unless it is not to be checked, is
 * checked so from now on. It goes on undisturbed if it was before, and has the
 * addresses it had; else what runs is stopped, and the next check comes within
 * the interval, or, with `soon`, now. Holds the spec. */
void checker_set(struct checker *c, unsigned slot,
    const struct checker_target *t, bool soon);
/* The server has failed a client. It is checked now, unless that was done since
 * its last regular check. Does not change the pool. */
void checker_hurry(struct checker *c, const struct server *s);

/* Returns false when the server is not checked here. */
bool checker_report(
    const struct checker *c, unsigned slot, struct checker_report *r);
const struct checker_stats *checker_stats(const struct checker *c);
/* But not of what is there now. */
void checker_clear_stats(struct checker *c);

#endif
