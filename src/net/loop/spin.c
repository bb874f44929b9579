/* spin.c: see spin.h. */
#include "config.h"

#include "net/loop/spin.h"

void
spin_init(struct spin *s, bool on)
{
	*s = (struct spin){ .on = on,
		.credit = SPIN_TRIAL,
		.rest_us = SPIN_REST_MIN_US };
}

bool
spin_begin(struct spin *s, uint64_t now)
{
	if (!s->on || now < s->resumes)
		return false;
	s->began = 0;
	return true;
}

/* Counts a spin that paid, or did not; one too many that did not begins a
 * rest. */
static void
spin_judge(struct spin *s, bool pays)
{
	if (pays && s->credit < SPIN_FULL) {
		s->credit++;
	} else if (pays) {
		s->rest_us = SPIN_REST_MIN_US;
	} else if (--s->credit == 0) {
		s->credit = SPIN_TRIAL;
		s->resumes = s->polled + s->rest_us;
		if (s->rest_us < SPIN_REST_MAX_US)
			s->rest_us *= 2;
	}
}

bool
spin_again(struct spin *s, bool found, uint64_t now)
{
	bool shared = s->began != 0 && now - s->polled > SPIN_GAP_US;

	s->polled = now;
	if (s->began == 0) {
		s->began = now;
		return !found;
	}
	if (!found && !shared && now - s->began < SPIN_US)
		return true;
	spin_judge(s, found && !shared);
	return false;
}
