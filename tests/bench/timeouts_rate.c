/* timeouts_rate.c: what it costs a process to let idle sessions wait on.
 *
 *     timeouts_rate [SESSIONS ...]
 *
 * The real loop, queue and struct session: whenever the queue comes across one it
 * was last active 0 to 2.5 s ago, and waits on until it is silent for 3 s. Prints
 * the processor time of the process for each re-add, wake-ups included. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proxy/session/session_private.h"

enum { LIMIT_MS = 3000, SILENT_MS = 2500, WARM_MS = 3500, SPAN_MS = 4000 };

static struct loop *loop;
static struct timer phase;
static struct timeouts queue;
static uint64_t seed = 4711, readds;
static double began;
static unsigned sessions;
static bool measuring;

static uint64_t
draw(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((seed >> 32) * n) >> 32;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t
true_due(struct expiry *x)
{
	struct session *s = list_entry(x, struct session, expiry);

	s->active = loop_now(loop) - draw(SILENT_MS);
	readds++;
	return s->active + LIMIT_MS;
}

static void
on_expired(struct timeouts *t, struct expiry *x)
{
	(void)t;
	(void)x;
	abort();
}

static void
on_phase(struct timer *t)
{
	double cpu = seconds() - began;

	if (measuring) {
		printf("%8u sessions: %9llu re-adds, %.1f ns each\n", sessions,
		    (unsigned long long)readds, cpu * 1e9 / (double)readds);
		loop_stop(loop);
		return;
	}
	measuring = true;
	readds = 0;
	began = seconds();
	timer_start(loop, t, SPAN_MS);
}

static void
measure(unsigned n)
{
	struct session **all = calloc(n, sizeof(struct session *));
	struct error e;
	unsigned i;

	sessions = n;
	loop = loop_new(NULL, &e);
	timeouts_init(&queue, loop, on_expired, true_due);
	for (i = 0; i < n; i++) {
		all[i] = calloc(1, sizeof(**all));
		expiry_init(&all[i]->expiry);
		timeouts_add(&queue, &all[i]->expiry,
		    loop_now(loop) + LIMIT_MS - draw(SILENT_MS));
	}
	measuring = false;
	timer_init(&phase, on_phase);
	timer_start(loop, &phase, WARM_MS);
	loop_run(loop);
	timer_fini(&phase);
	timeouts_fini(&queue);
	loop_free(loop);
	for (i = 0; i < n; i++)
		free(all[i]);
	free(all);
}

int
main(int argc, char **argv)
{
	static const unsigned usual[] = { 1000, 10000, 100000, 1000000 };
	int i;

	for (i = 1; i < argc; i++)
		measure((unsigned)strtoul(argv[i], NULL, 10));
	for (i = 0; argc == 1 && i < 4; i++)
		measure(usual[i]);
	return 0;
}
