/* director_held.c: frames that wait for the hardware address of their server. */
#include "config.h"

#include <stdlib.h>

#include "dsr/director/director_private.h"

void
director_hold(struct director *d, const struct frame *f,
    const struct link_frame *l, const struct server *s)
{
	struct link_frame copy = *l;

	copy.bytes = f->bytes;
	if (!director_server_is_gone(d, s) &&
	    held_add(&d->held, &copy, s->slot, loop_now(d->loop)))
		d->stats.held++;
	else
		director_lose(d, DIRECTOR_NEIGHBOR, l->length);
}

/* Its server may be no more. */
static bool
goes_now(struct director *d, const struct held_frame *h)
{
	struct server *s = pool_slot(d->pool, h->server);
	struct frame f;

	frame_parse(&f, h->frame.bytes, h->frame.length);
	return s != NULL && director_pass(d, &f, &h->frame, s);
}

/* What goes is freed when the link has it: there are no more of them than a batch
 * has room for. */
void
director_release(struct director *d)
{
	unsigned char *gone[HELD_FRAMES];
	unsigned i, n = 0;

	d->news = false;
	if (d->held.count == 0)
		return;
	director_flush(d);
	for (i = 0; i < d->held.count; i++) {
		struct held_frame *h = &d->held.list[i];

		if (!goes_now(d, h))
			continue;
		gone[n++] = h->frame.bytes;
		h->frame.bytes = NULL;
	}
	director_flush(d);
	while (n > 0)
		free(gone[--n]);
	held_close_up(&d->held);
}

void
director_tick_held(struct director *d, uint64_t now)
{
	director_release(d);
	held_expire(&d->held, now, &d->stats.dropped[DIRECTOR_NEIGHBOR]);
}
