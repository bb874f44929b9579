/* spares.c: a list of blocks, linked by their first bytes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/spares.h"

void
spares_init(struct spares *s, size_t size, unsigned most)
{
	*s = (struct spares){ .size = size, .most = most };
}

void
spares_fini(struct spares *s)
{
	while (s->count > 0)
		free(spares_take(s));
}

void *
spares_take(struct spares *s)
{
	void *block = s->first;

	if (s->count == 0)
		return malloc(s->size);
	memcpy(&s->first, block, sizeof(s->first));
	s->count--;
	return block;
}

void
spares_give(struct spares *s, void *block)
{
	if (s->count == s->most) {
		free(block);
		return;
	}
	memcpy(block, &s->first, sizeof(s->first));
	s->first = block;
	s->count++;
}
