/* server_set.c: see server_set.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pool/server/server_set.h"

static int
server_set_compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

int
server_set_init(struct server_set *set, const unsigned *slots, unsigned count)
{
	unsigned i;

	*set = (struct server_set){ .count = 0 };
	set->slots = calloc(count + 1u, sizeof(*set->slots));
	set->credit = calloc(count + 1u, sizeof(*set->credit));
	if (set->slots == NULL || set->credit == NULL) {
		server_set_fini(set);
		return -1;
	}
	if (count > 0) {
		memcpy(set->slots, slots, count * sizeof(*slots));
		qsort(set->slots, count, sizeof(*slots), server_set_compare);
	}
	for (i = 0; i < count; i++)
		if (i == 0 || set->slots[i] != set->slots[set->count - 1])
			set->slots[set->count++] = set->slots[i];
	return 0;
}

void
server_set_fini(struct server_set *set)
{
	free(set->slots);
	free(set->credit);
	*set = (struct server_set){ .count = 0 };
}

unsigned
server_set_find(const struct server_set *set, unsigned slot)
{
	unsigned low = 0, high = set->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (set->slots[middle] < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
server_set_has(const struct server_set *set, unsigned slot)
{
	unsigned i = server_set_find(set, slot);

	return i < set->count && set->slots[i] == slot;
}

long
server_set_next_around(
    const struct server_set *set, const struct eligible *e, unsigned from)
{
	unsigned first = server_set_find(set, from), i, slot;

	for (i = 0; i < set->count; i++) {
		slot = set->slots[(first + i) % set->count];
		if (eligible_has(e, slot))
			return slot;
	}
	return ELIGIBLE_NONE;
}
