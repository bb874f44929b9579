/* director_fast.c: which flows go by the link's fast path. */
#include "config.h"

#include "dsr/director_private.h"

void
director_fast(const struct director *d, struct director_fast *f)
{
	*f = (struct director_fast){ .on = d->link.fast != NULL,
		.flows = d->fast_flows };
	if (f->on)
		d->link.fast->totals(&d->link, &f->frames, &f->bytes);
}
