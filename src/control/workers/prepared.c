/* prepared.c: the leader waits until all workers have prepared a change. Those
 * that have serve no client until they have its decision, so that one that
 * stops meanwhile must not be waited for: the change is refused, and what it
 * answers later is for a change that is over. One that is busy, as with a long
 * file of an access list, uses the processor. */
#include "config.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "control/workers/workers_private.h"

/* How long one may use no processor time, unless worker_watchdog is shorter;
 * how often that is seen. */
enum { STILL_MS = 2000, STEP_MS = 20 };

/* Of a process, in ns; 0: the system does not report it. */
static uint64_t
processor_time(pid_t pid)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) != 0 ||
	    clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* For an answer of one of those that are awaited. Returns how many. */
static unsigned
wait_for_any(struct workers *w)
{
	struct pollfd p[SOCK_GROUP_MAX];
	unsigned n = 0;
	struct seat *s;

	SEAT_EACH (w, s)
		if (s->prepares)
			p[n++] = (struct pollfd){ .fd = s->channel.fd,
				.events = POLLIN };
	if (n > 0)
		(void)poll(p, n, STEP_MS);
	return n;
}

/* Returns 0, or -1 with its message: it refuses. */
static int
take_answer(struct seat *s, struct error *e)
{
	struct message *m;
	uint32_t number;
	int rc = 0;

	while (s->prepares && rc == 0 &&
	    (m = seat_take(s, MESSAGE_PREPARED, MESSAGE_REFUSED)) != NULL) {
		if (m->length >= sizeof(number))
			memcpy(&number, m->bytes, sizeof(number));
		else
			number = s->workers->changes - 1;
		s->prepares = number != s->workers->changes;
		if (!s->prepares && m->type == MESSAGE_REFUSED)
			rc = error_set(e, "worker %u: %.400s", s->member,
			    m->bytes + sizeof(number));
		free(m);
	}
	s->prepares = s->prepares && s->pid != 0;
	return rc;
}

/* Returns 0, or -1: it stands still. */
static int
see_it_move(struct seat *s, uint64_t still_ms)
{
	uint64_t now = clock_monotonic_ms(), used = processor_time(s->pid);

	if (used != s->used)
		s->moved = now;
	s->used = used;
	return now - s->moved < still_ms ? 0 : -1;
}

static uint64_t
still_ms(const struct workers *w)
{
	uint64_t ms = w->pen->plan->config.process.worker_watchdog_ms;

	return ms > 0 && ms < STILL_MS ? ms : STILL_MS;
}

static void
begin(struct workers *w)
{
	uint64_t now = clock_monotonic_ms();
	struct seat *s;

	SEAT_EACH (w, s) {
		s->prepares = true;
		s->used = processor_time(s->pid);
		s->moved = now;
	}
}

int
prepared_by_all(struct workers *w, struct error *e)
{
	uint64_t end = clock_monotonic_ms() + PREPARE_MS;
	struct seat *s;

	begin(w);
	while (wait_for_any(w) > 0)
		SEAT_EACH (w, s) {
			if (take_answer(s, e) < 0)
				return -1;
			if (!s->prepares)
				continue;
			if (clock_monotonic_ms() > end)
				seat_kill(s, "does not answer");
			else if (see_it_move(s, still_ms(w)) < 0)
				return error_set(
				    e, "worker %u does not answer", s->member);
		}
	return 0;
}
