/* busy_poll.c: see busy_poll.h. */
#include "config.h"

#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "dsr/link/busy_poll.h"

/* Longer, and a pause would be, too. */
enum { EXACT_NS = 1000 };

enum busy_poll_step
busy_poll_after(struct busy_poll *p, int n, int most, bool can_pause)
{
	if (n <= 0 || ++p->polls == BUSY_POLL_ROUNDS)
		return BUSY_POLL_ENOUGH;
	if (n == most)
		return BUSY_POLL_AGAIN;
	if (n < BUSY_POLL_MANY || !can_pause)
		return BUSY_POLL_IF_ANY;
	return p->pauses++ < BUSY_POLL_PAUSES ? BUSY_POLL_PAUSE
					      : BUSY_POLL_ENOUGH;
}

bool
busy_poll_can_pause(void)
{
#ifdef __linux__
	struct timespec exact;

	/* with clocks of ticks, or the usual slack, a pause would be longer */
	return clock_getres(CLOCK_MONOTONIC, &exact) == 0 &&
	    exact.tv_sec == 0 && exact.tv_nsec <= EXACT_NS &&
	    prctl(PR_SET_TIMERSLACK, (unsigned long)EXACT_NS, 0UL, 0UL, 0UL) ==
	    0;
#else
	return false;
#endif
}

void
busy_poll_pause(void)
{
	static const struct timespec pause = { .tv_nsec = BUSY_POLL_PAUSE_NS };

	(void)nanosleep(&pause, NULL);
}
