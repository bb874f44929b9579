/* pace.c: see pace.h. */
#include "config.h"

#include "dsr/director/pace.h"

enum pace_step
pace_after(struct pace *p, int n, int most, bool can_pause)
{
	if (n <= 0 || ++p->looks == PACE_ROUNDS)
		return PACE_ENOUGH;
	if (n == most)
		return PACE_AGAIN;
	if (n < PACE_MANY || !can_pause)
		return PACE_IF_ANY;
	return p->pauses++ < PACE_PAUSES ? PACE_PAUSE : PACE_ENOUGH;
}
