/* held.c: a short list. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/segment/held.h"

bool
held_add(
    struct held *h, const struct link_frame *f, uint32_t server, uint64_t now)
{
	struct held_frame *new = &h->list[h->count];
	unsigned i, its = 0;

	for (i = 0; i < h->count; i++)
		its += h->list[i].server == server;
	if (h->count == HELD_FRAMES || its == HELD_EACH ||
	    f->length > HELD_LENGTH)
		return false;
	*new = (struct held_frame){
		.frame = *f, .server = server, .until = now + HELD_MS
	};
	new->frame.bytes = malloc(f->length);
	if (new->frame.bytes == NULL)
		return false;
	memcpy(new->frame.bytes, f->bytes, f->length);
	h->count++;
	return true;
}

void
held_close_up(struct held *h)
{
	unsigned i, n = 0;

	for (i = 0; i < h->count; i++)
		if (h->list[i].frame.bytes != NULL)
			h->list[n++] = h->list[i];
	h->count = n;
}

static void
drop(struct held_frame *f)
{
	free(f->frame.bytes);
	f->frame.bytes = NULL;
}

void
held_expire(struct held *h, uint64_t now, struct tally *lost)
{
	unsigned i;

	for (i = 0; i < h->count; i++) {
		if (h->list[i].until > now)
			continue;
		tally_add(lost, 1, h->list[i].frame.length);
		drop(&h->list[i]);
	}
	held_close_up(h);
}

void
held_fini(struct held *h)
{
	struct tally lost = { 0 };

	held_expire(h, UINT64_MAX, &lost);
}
