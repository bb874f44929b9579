/* sticky_away.c: see sticky_away.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool/sticky/sticky_away.h"

enum { SLAB_BITS = 12, SLAB = 1 << SLAB_BITS };

int
sticky_aways_init(struct sticky_aways *t, size_t max)
{
	t->on = false;
	t->slabs = max / SLAB + 1;
	t->slab = calloc(t->slabs, sizeof(struct sticky_away *));
	return t->slab != NULL ? 0 : -1;
}

static void
free_slabs(struct sticky_aways *t)
{
	size_t i;

	for (i = 0; t->slab != NULL && i < t->slabs; i++) {
		free(t->slab[i]);
		t->slab[i] = NULL;
	}
}

void
sticky_aways_fini(struct sticky_aways *t)
{
	free_slabs(t);
	free(t->slab);
	t->slab = NULL;
}

void
sticky_aways_take(struct sticky_aways *t, struct sticky_aways *from)
{
	memcpy(t->slab, from->slab, from->slabs * sizeof(*from->slab));
	memset(from->slab, 0, from->slabs * sizeof(*from->slab));
	t->on = from->on;
}

void
sticky_aways_set(struct sticky_aways *t, bool on)
{
	if (!on)
		free_slabs(t);
	t->on = on;
}

struct sticky_away *
sticky_aways_get(const struct sticky_aways *t, uint32_t i)
{
	struct sticky_away *slab = t->on ? t->slab[i >> SLAB_BITS] : NULL;

	return slab != NULL ? &slab[i & (SLAB - 1)] : NULL;
}

/* Made if it can be; NULL without memory, or when none are noted. */
static struct sticky_away *
sticky_away_make(struct sticky_aways *t, uint32_t i)
{
	struct sticky_away **slab = &t->slab[i >> SLAB_BITS];

	if (t->on && *slab == NULL)
		*slab = calloc(SLAB, sizeof(**slab));
	return sticky_aways_get(t, i);
}

/* What a->home is of that server; 0 is none. */
static uint32_t
home_of(unsigned server)
{
	return server + 1;
}

void
sticky_aways_opened(struct sticky_aways *t, uint32_t i, unsigned server,
    unsigned before, bool served)
{
	struct sticky_away *a = sticky_away_make(t, i);
	bool moves = before != server && served;

	if (a == NULL)
		return;
	a->open++;
	if (a->home == home_of(server)) /* it is back */
		a->home = 0;
	else if (a->home == 0 && moves)
		a->home = home_of(before);
}

void
sticky_aways_closed(struct sticky_aways *t, uint32_t i)
{
	struct sticky_away *a = sticky_aways_get(t, i);

	if (a != NULL && a->open > 0)
		a->open--;
}

void
sticky_aways_clear(struct sticky_aways *t, uint32_t i)
{
	struct sticky_away *a = sticky_aways_get(t, i);

	if (a != NULL)
		a->home = 0;
}

void
sticky_aways_move(struct sticky_aways *t, uint32_t from, uint32_t to)
{
	const struct sticky_away *was = sticky_aways_get(t, from);
	struct sticky_away *is = sticky_away_make(t, to);

	if (is != NULL)
		*is = was != NULL ? *was : (struct sticky_away){ .home = 0 };
}
