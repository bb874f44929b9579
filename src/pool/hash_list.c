/* hash_list.c: see hash_list.h.
 *
 *     slot      3    0    5    8    2        sorted[]
 *     text      17   23   23   23   60       text[slot]
 *     weight    1    1    0    2    1
 *     id        17   23        m(24)  60     one[slot], m is hash_mix()
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "pool/balance.h"
#include "pool/hash_list.h"

/* ---- changes ---- */

/* A server that is not listed keeps its last ID. */
static void
hash_list_set_one(
    struct hash_list *l, unsigned slot, uint64_t id, unsigned weight)
{
	struct hash_listed *x = &l->one[slot], old = *x;

	if (weight == old.weight && (id == old.id || weight == 0))
		return;
	*x = (struct hash_listed){ .id = id, .weight = weight, .slot = slot };
	l->change[l->changes++ % HASH_CHANGES] = (struct hash_change){
		.slot = slot,
		.lost = old.weight > 0 && (id != old.id || weight < old.weight)
	};
	if (l->changes - l->oldest > HASH_CHANGES)
		l->oldest = l->changes - HASH_CHANGES;
}

/* ---- the order of texts ---- */

/* The smallest of its addresses', whose order is that of a name server. */
static uint64_t
hash_list_text_of(const struct server *s)
{
	uint64_t hash, least = UINT64_MAX;
	char text[ADDR_TEXT_MAX];
	unsigned i;

	for (i = 0; i < s->addrs.count; i++) {
		addr_format(&s->addrs.addr[i], text);
		hash = hash_stable(text, strlen(text));
		if (hash < least)
			least = hash;
	}
	return least;
}

/* Where the slot is in sorted[], or belongs. */
static unsigned
position_of(const struct hash_list *l, uint64_t text, unsigned slot)
{
	unsigned from = 0, past = l->present, middle, there;

	while (from < past) {
		middle = from + (past - from) / 2;
		there = l->sorted[middle];
		if (l->text[there] < text ||
		    (l->text[there] == text && there < slot))
			from = middle + 1;
		else
			past = middle;
	}
	return from;
}

static bool
is_in(const struct hash_list *l, unsigned slot, unsigned at)
{
	return at < l->present && l->sorted[at] == slot;
}

static void
hash_list_move(struct hash_list *l, unsigned to, unsigned from)
{
	memmove(&l->sorted[to], &l->sorted[from],
	    (l->present - from) * sizeof(*l->sorted));
	l->present += to - from;
}

/* Gives the servers with a text, the first of them at `at`, their numbers.
 * Returns where those of the next text begin. */
static unsigned
number_text(struct hash_list *l, unsigned at)
{
	const struct server *s;
	uint64_t text, n = 0;
	unsigned weight;

	if (at >= l->present)
		return at;
	text = l->text[l->sorted[at]];
	for (; at < l->present && l->text[l->sorted[at]] == text; at++) {
		s = pool_slot(l->pool, l->sorted[at]);
		weight = pool_weight(l->pool, s);
		hash_list_set_one(
		    l, s->slot, n > 0 ? hash_mix(text + n) : text, weight);
		n += weight > 0;
	}
	return at;
}

static void
number_all(struct hash_list *l)
{
	unsigned at = 0;

	while (at < l->present)
		at = number_text(l, at);
}

/* ---- following the pool ---- */

static int
hash_list_lengthen(struct hash_list *l)
{
	unsigned slots = pool_slots(l->pool);
	void *one, *text, *sorted;

	one = array_grow(l->one, &l->one_room, sizeof(*l->one), slots);
	if (one == NULL)
		return -1;
	l->one = one;
	text = array_grow(l->text, &l->text_room, sizeof(*l->text), slots);
	if (text == NULL)
		return -1;
	l->text = text;
	sorted = array_grow(
	    l->sorted, &l->sorted_room, sizeof(*l->sorted), slots);
	if (sorted == NULL)
		return -1;
	l->sorted = sorted;
	l->slots = slots;
	return 0;
}

static void
follow_one(struct hash_list *l, unsigned slot)
{
	const struct server *s = pool_slot(l->pool, slot);
	uint64_t text = s->present ? hash_list_text_of(s) : 0;
	uint64_t old = l->text[slot];
	unsigned at;

	if (!s->present || text != old) {
		at = position_of(l, old, slot);
		if (is_in(l, slot, at)) {
			hash_list_move(l, at, at + 1);
			hash_list_set_one(l, slot, l->one[slot].id, 0);
			number_text(l, position_of(l, old, 0));
		}
	}
	if (!s->present)
		return;
	l->text[slot] = text;
	at = position_of(l, text, slot);
	if (!is_in(l, slot, at)) {
		hash_list_move(l, at + 1, at);
		l->sorted[at] = slot;
	}
	number_text(l, position_of(l, text, 0));
}

struct sortable {
	uint64_t text;
	unsigned slot;
};

static int
sortable_compare(const void *a, const void *b)
{
	const struct sortable *x = a, *y = b;

	if (x->text != y->text)
		return x->text < y->text ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static int
hash_list_read_all(struct hash_list *l)
{
	struct sortable *all = malloc((l->slots + 1u) * sizeof(*all));
	unsigned i;

	if (all == NULL)
		return -1;
	l->present = 0;
	for (i = SLOTS_SPECIAL; i < l->slots; i++) {
		const struct server *s = pool_slot(l->pool, i);

		if (s->present)
			all[l->present++] =
			    (struct sortable){ hash_list_text_of(s), i };
		else
			l->one[i].weight = 0;
	}
	qsort(all, l->present, sizeof(*all), sortable_compare);
	for (i = 0; i < l->present; i++) {
		l->sorted[i] = all[i].slot;
		l->text[all[i].slot] = all[i].text;
	}
	free(all);
	number_all(l);
	l->oldest = ++l->changes; /* they are forgotten */
	return 0;
}

void
hash_list_note(struct hash_list *l, const struct server *s)
{
	if (s->role != SERVER_REGULAR || l->notes > HASH_NOTED)
		return;
	if (l->notes < HASH_NOTED)
		l->noted[l->notes] = s->slot;
	l->notes++;
}

int
hash_list_follow(struct hash_list *l, bool all)
{
	unsigned i;

	if (l->slots < pool_slots(l->pool) && hash_list_lengthen(l) < 0)
		return -1;
	if (l->notes > HASH_NOTED && hash_list_read_all(l) < 0)
		return -1;
	for (i = 0; l->notes <= HASH_NOTED && i < l->notes; i++)
		follow_one(l, l->noted[i]);
	l->notes = 0;
	if (all)
		number_all(l);
	return 0;
}

/* ---- life ---- */

int
hash_list_init(struct hash_list *l, const struct pool *p)
{
	l->pool = p;
	return hash_list_lengthen(l) < 0 ? -1 : hash_list_read_all(l);
}

void
hash_list_fini(struct hash_list *l)
{
	free(l->one);
	free(l->text);
	free(l->sorted);
}
