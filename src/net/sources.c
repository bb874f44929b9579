/* sources.c: a short list, walked in turn. */
#include "config.h"

#include <stddef.h>

#include "net/sources.h"

bool
sources_equal(const struct sources *a, const struct sources *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!peer_same_host(&a->at[i], &b->at[i]))
			return false;
	return true;
}

unsigned
sources_of(const struct sources *s, int family)
{
	unsigned i, n = 0;

	for (i = 0; s != NULL && i < s->count; i++)
		n += s->at[i].family == family;
	return n;
}

const struct addr *
sources_next(
    const struct sources *s, int family, unsigned *turn, struct addr *copy)
{
	unsigned i, at, from;

	if (s == NULL || s->count == 0)
		return NULL;
	from = *turn;
	for (i = 1; i <= s->count; i++) {
		at = (from + i) % s->count;
		if (s->at[at].family != family)
			continue;
		*turn = at;
		addr_from_peer(copy, &s->at[at]);
		return copy;
	}
	return NULL;
}
