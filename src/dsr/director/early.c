/* early.c: see early.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/director/early.h"

/* Takes `n` entries out, from number `at` on. */
static void
early_remove(struct early *e, unsigned at, unsigned n)
{
	unsigned i;

	for (i = at; i < at + n; i++)
		e->bytes -= e->list[i].frame.length;
	e->count -= n;
	memmove(
	    &e->list[at], &e->list[at + n], (e->count - at) * sizeof(*e->list));
}

void
early_expire(struct early *e, uint64_t now, struct frame_count *lost)
{
	unsigned n = 0;

	while (n < e->count && e->list[n].until <= now) {
		frame_count_add(lost, 1, e->list[n].frame.length);
		free(e->list[n++].frame.bytes);
	}
	if (n > 0)
		early_remove(e, 0, n);
}

bool
early_add(struct early *e, const struct dsr_fragment_key *key,
    const struct link_frame *f, uint64_t now, struct frame_count *lost)
{
	struct early_fragment *new;

	early_expire(e, now, lost);
	if (e->count == EARLY_FRAMES || f->length > EARLY_BYTES - e->bytes ||
	    (e->list == NULL &&
		(e->list = calloc(EARLY_FRAMES, sizeof(*e->list))) == NULL))
		return false;
	new = &e->list[e->count];
	*new = (struct early_fragment){
		.key = *key, .frame = *f, .until = now + EARLY_MS
	};
	new->frame.bytes = malloc(f->length);
	if (new->frame.bytes == NULL)
		return false;
	memcpy(new->frame.bytes, f->bytes, f->length);
	e->bytes += f->length;
	e->count++;
	return true;
}

bool
early_take(struct early *e, const struct dsr_fragment_key *key, uint64_t now,
    struct link_frame *f)
{
	unsigned i;

	for (i = 0; i < e->count; i++) {
		if (e->list[i].until <= now ||
		    memcmp(&e->list[i].key, key, sizeof(*key)) != 0)
			continue;
		*f = e->list[i].frame;
		early_remove(e, i, 1);
		return true;
	}
	return false;
}

void
early_fini(struct early *e)
{
	struct frame_count lost = { 0 };

	early_expire(e, UINT64_MAX, &lost);
	free(e->list);
	e->list = NULL;
}
