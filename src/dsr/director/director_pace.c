/* director_pace.c: how soon a director looks for more frames.
 *
 * Frames that come one by one are handled one by one, at once. When they come so
 * fast that many wait each time, looking again at once would find few: waking up,
 * sending, and the caches that two cores fetch from each other would cost more
 * than the frames. So it pauses for as long as network cards do between
 * interrupts, some times in a turn: clients of other services wait, too. */
#include "config.h"

#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "dsr/director/director_private.h"

/* Longer, and a pause would be, too. */
enum { EXACT_NS = 1000 };

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
director_goes_on(const struct director *d, struct pace *p, int n)
{
	static const struct timespec pause = { .tv_nsec = PACE_PAUSE_NS };

	switch (pace_after(p, n, DIRECTOR_BATCH, d->pauses)) {
	case PACE_ENOUGH:
		return false;
	case PACE_AGAIN:
		return true;
	case PACE_PAUSE:
		(void)nanosleep(&pause, NULL);
		break;
	case PACE_IF_ANY:
		break;
	}
	return link_has_more(&d->link);
}
