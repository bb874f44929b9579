/* director_pace.c: how soon a director looks for more frames.
 *
 * Frames that come one by one are handled one by one, at once. When they come so
 * fast that many wait each time, looking again at once would find few: waking up,
 * sending, and the caches that two cores fetch from each other would cost more
 * than the frames. So it pauses for as long as network cards do between
 * interrupts. */
#include "config.h"

#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "dsr/director_private.h"

/* More than this in a pause are 300,000 a second. */
enum { MANY = 16, PAUSE_NS = 50000, EXACT_NS = 1000 };

void
director_open_pace(struct director *d)
{
	struct timespec exact;

	d->pauses = false;
#ifdef __linux__
	/* with clocks of ticks, or the usual slack, a pause would be longer */
	d->pauses = clock_getres(CLOCK_MONOTONIC, &exact) == 0 &&
	    exact.tv_sec == 0 && exact.tv_nsec <= EXACT_NS &&
	    prctl(PR_SET_TIMERSLACK, (unsigned long)EXACT_NS, 0UL, 0UL, 0UL) ==
		0;
#else
	(void)exact;
#endif
}

bool
director_goes_on(const struct director *d, int n)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (n == DIRECTOR_BATCH)
		return true;
	if (n >= MANY && d->pauses)
		(void)nanosleep(&pause, NULL);
	return n > 0 && link_has_more(&d->link);
}
