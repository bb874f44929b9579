/* checker_private.h: the inside of a checker, for checker.c (the list of
 * servers, and how they are checked) and checker_run.c (when, and the
 * results). */
#ifndef PEN_PROXY_CHECKER_PRIVATE_H
#define PEN_PROXY_CHECKER_PRIVATE_H

#include "base/hash.h"
#include "base/heap.h"
#include "proxy/check/checker.h"

/* Of a server that has failed a client: its check is due at once, or was made
 * since the last regular one. */
enum checker_hurry_state { HURRY_NONE, HURRY_DUE, HURRY_DONE };

struct checker_record {
	/* How it is checked. */
	struct check_spec *spec; /* NULL: not at all */
	uint16_t port;
	struct addr at;
	unsigned generation; /* of the server's addresses */

	/* When. */
	struct check *running;
	uint64_t due;	   /* ms, while none runs */
	uint64_t began_ms; /* the last one */
	uint64_t wait_ms;  /* the interval, or longer while it is down */
	enum checker_hurry_state hurry;

	/* What came of it. */
	enum check_result result;
	struct addr address;
	uint64_t took_us, ended_ms;
	char reason[CHECK_REASON_MAX];
};

struct checker {
	struct loop *loop;
	struct pool *pool;
	struct frontend_core *frontend;
	struct checker_options options;
	struct programs *programs;
	struct checker_stats stats;
	void (*on_lazy)(void *arg, struct server *s); /* or NULL */
	void *on_lazy_arg;

	struct checker_record **records; /* by slot; NULL: never checked */
	uint32_t slots;
	struct heap due;       /* slots, by when their check is due */
	struct heap deadlines; /* those whose check runs, by its end */
	struct timer timer;
	uint64_t ticked; /* ms, when it fired last */
	uint64_t armed;	 /* what the timer waits for, ms; UINT64_MAX: nothing */
	struct hash_key key;
	uint64_t drawn;
};

static inline uint64_t
checker_now(const struct checker *c)
{
	return loop_now(c->loop);
}

/* NULL: it has none. */
static inline struct checker_record *
checker_record_of(const struct checker *c, unsigned slot)
{
	return slot < c->slots ? c->records[slot] : NULL;
}

/* A random number below that. */
uint64_t checker_draw(struct checker *c, uint64_t below);
/* The next check of the slot begins then. */
void checker_wait_until(struct checker *c, unsigned slot, uint64_t ms);
/* Wakes up when there is something to do. */
void checker_arm(struct checker *c);
/* What the timer does. */
void checker_tick(struct checker *c);
/* Ends a check without a result. */
void checker_stop(struct checker *c, struct check *k);

#endif
