/* pending.c: see pending.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/segment/pending.h"

bool
pending_add(struct pending *q, const struct link_frame *f, uint32_t server,
    uint64_t now)
{
	struct pending_frame *new = &q->list[q->count];
	unsigned i, its = 0;

	/* One server that is gone must not fill the queue for all. */
	for (i = 0; i < q->count; i++)
		its += q->list[i].server == server;
	if (q->count == PENDING_FRAMES || its == PENDING_EACH ||
	    f->length > PENDING_LENGTH)
		return false;
	*new = (struct pending_frame){
		.frame = *f, .server = server, .until = now + PENDING_MS
	};
	new->frame.bytes = malloc(f->length);
	if (new->frame.bytes == NULL)
		return false;
	memcpy(new->frame.bytes, f->bytes, f->length);
	q->count++;
	return true;
}

void
pending_compact(struct pending *q)
{
	unsigned i, n = 0;

	for (i = 0; i < q->count; i++)
		if (q->list[i].frame.bytes != NULL)
			q->list[n++] = q->list[i];
	q->count = n;
}

void
pending_expire(struct pending *q, uint64_t now, struct frame_count *lost)
{
	unsigned i;

	for (i = 0; i < q->count; i++) {
		if (q->list[i].until > now)
			continue;
		frame_count_add(lost, 1, q->list[i].frame.length);
		free(q->list[i].frame.bytes);
		q->list[i].frame.bytes = NULL;
	}
	pending_compact(q);
}

void
pending_fini(struct pending *q)
{
	struct frame_count lost = { 0 };

	pending_expire(q, UINT64_MAX, &lost);
}
