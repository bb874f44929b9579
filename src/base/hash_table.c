/* hash_table.c: chains in buckets, and two arrays of buckets while it grows. */
#include "config.h"

#include <stdlib.h>

#include "base/hash_table.h"

enum { BUCKETS_MIN = 16, STEP = 4, LINE = 64 };

#if defined(__GNUC__)
#define PREFETCH(at) __builtin_prefetch(at)
#else
#define PREFETCH(at) ((void)(at))
#endif

int
hash_table_init(struct hash_table *t)
{
	*t = (struct hash_table){ .count = 0 };
	hash_key_init(&t->key);
	t->now.buckets = calloc(BUCKETS_MIN, sizeof(struct hash_table_link *));
	t->now.mask = BUCKETS_MIN - 1;
	return t->now.buckets != NULL ? 0 : -1;
}

void
hash_table_fini(struct hash_table *t)
{
	free(t->now.buckets);
	free(t->before.buckets);
	*t = (struct hash_table){ .count = 0 };
}

uint64_t
hash_table_hash(const struct hash_table *t, const void *key, size_t n)
{
	return hash_keyed(&t->key, key, n);
}

static struct hash_table_link **
bucket(const struct hash_table_half *h, uint64_t hash)
{
	return &h->buckets[hash & h->mask];
}

static struct hash_table_link *
find_in(const struct hash_table_half *h, uint64_t hash,
    bool (*is)(const struct hash_table_link *l, const void *key),
    const void *key)
{
	struct hash_table_link *l;

	for (l = *bucket(h, hash); l != NULL; l = l->next)
		if (l->hash == hash && is(l, key))
			return l;
	return NULL;
}

struct hash_table_link *
hash_table_find(const struct hash_table *t, uint64_t hash,
    bool (*is)(const struct hash_table_link *l, const void *key),
    const void *key)
{
	struct hash_table_link *l = find_in(&t->now, hash, is, key);

	if (l == NULL && t->before.buckets != NULL)
		l = find_in(&t->before, hash, is, key);
	return l;
}

void
hash_table_expect(const struct hash_table *t, uint64_t hash)
{
	PREFETCH(bucket(&t->now, hash));
}

/* The entry's key is rarely in the same cache line as the link. */
void
hash_table_expect_link(const struct hash_table *t, uint64_t hash)
{
	const struct hash_table_link *l = *bucket(&t->now, hash);

	if (l == NULL)
		return;
	PREFETCH(l);
	PREFETCH((const char *)l + LINE);
}

/* Moves STEP chains to the larger array. The table doubles when there is an
 * entry for each bucket, so this is done long before it doubles again. */
static void
hash_table_move_some(struct hash_table *t)
{
	size_t end = t->moved + STEP;
	struct hash_table_link *l, **to;

	if (t->before.buckets == NULL)
		return;
	for (; t->moved < end && t->moved <= t->before.mask; t->moved++)
		while ((l = t->before.buckets[t->moved]) != NULL) {
			t->before.buckets[t->moved] = l->next;
			to = bucket(&t->now, l->hash);
			l->next = *to;
			*to = l;
		}
	if (t->moved <= t->before.mask)
		return;
	free(t->before.buckets);
	t->before.buckets = NULL;
}

void
hash_table_add(struct hash_table *t, struct hash_table_link *l, uint64_t hash)
{
	struct hash_table_link **to;

	hash_table_move_some(t);
	if (t->count > t->now.mask && t->before.buckets == NULL) {
		size_t buckets = 2 * (t->now.mask + 1);
		struct hash_table_link **new = calloc(buckets, sizeof(*new));

		if (new != NULL) {
			t->before = t->now;
			t->moved = 0;
			t->now.buckets = new;
			t->now.mask = buckets - 1;
		}
	}
	to = bucket(&t->now, hash);
	l->hash = hash;
	l->next = *to;
	*to = l;
	t->count++;
}

static bool
remove_from(struct hash_table_half *h, struct hash_table_link *l)
{
	struct hash_table_link **at;

	if (h->buckets == NULL)
		return false;
	for (at = bucket(h, l->hash); *at != NULL; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			return true;
		}
	return false;
}

void
hash_table_remove(struct hash_table *t, struct hash_table_link *l)
{
	if (remove_from(&t->now, l) || remove_from(&t->before, l))
		t->count--;
}
