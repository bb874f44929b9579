/* panic.c: see panic.h. */
#include "config.h"

#include "pool/panic.h"

void
panic_count(struct pool_panic *x, struct server *s, bool counts)
{
	x->checked -= s->counted;
	x->failing -= s->failing;
	s->counted = counts;
	s->failing = counts && s->health.down && !s->health.assumed;
	x->checked += s->counted;
	x->failing += s->failing;
}

bool
panic_review(struct pool_panic *x, unsigned percent)
{
	uint64_t up = x->checked - x->failing;
	bool on = up * 100 < (uint64_t)x->checked * percent;

	if (on == (x->on != 0))
		return false;
	x->on = on;
	x->begun += on;
	return true;
}
