/* source_limits.c: the table of sources; see source_limits.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/source_limits.h"

/* Entries are allocated so many at a time. They stay, for other sources. */
enum { SLAB = 256 };

/* ---- memory ---- */

void
source_limits_init(struct source_limits *t, const struct limit_options *o)
{
	*t = (struct source_limits){ .options = o };
	list_init(&t->idle[false]);
	list_init(&t->idle[true]);
	list_init(&t->unused);
}

void
source_limits_fini(struct source_limits *t)
{
	size_t i;

	for (i = 0; i < t->slab_count; i++)
		free(t->slabs[i]);
	free(t->slabs);
	if (t->is_made)
		hash_table_fini(&t->table);
}

static bool
add_slab(struct source_limits *t)
{
	struct source **slabs =
	    realloc(t->slabs, (t->slab_count + 1) * sizeof(*slabs));
	struct source *slab = calloc(SLAB, sizeof(*slab));
	unsigned i;

	if (slabs != NULL)
		t->slabs = slabs;
	if (slabs == NULL || slab == NULL) {
		free(slab);
		return false;
	}
	t->slabs[t->slab_count++] = slab;
	for (i = 0; i < SLAB; i++)
		list_append(&t->unused, &slab[i].order);
	return true;
}

static void
source_limits_remove(struct source_limits *t, struct source *s)
{
	hash_table_remove(&t->table, &s->link);
	list_remove(&s->order);
	s->in_use = false;
	list_append(&t->unused, &s->order);
}

static bool
evict_one(struct source_limits *t)
{
	struct list *oldest = list_first(&t->idle[false]);

	if (oldest == NULL)
		oldest = list_first(&t->idle[true]);
	if (oldest == NULL)
		return false;
	source_limits_remove(t, list_entry(oldest, struct source, order));
	return true;
}

/* An entry for a source, or NULL. Two are evicted for it where the table is to
 * become smaller, so that it does. */
static struct source *
take_entry(struct source_limits *t)
{
	struct list *first;
	int i;

	for (i = 0; i < 2 && t->table.count >= t->options->sources_max; i++)
		if (!evict_one(t) && i == 0)
			return NULL;
	first = list_first(&t->unused);
	if (first == NULL && add_slab(t))
		first = list_first(&t->unused);
	return first != NULL ? list_entry(first, struct source, order) : NULL;
}

/* ---- finding ---- */

bool
source_is_of(const struct peer *who)
{
	return who->family == AF_INET || who->family == AF_INET6;
}

static void
source_limits_make_key(const struct source_limits *t, const struct peer *who,
    struct source_key *key)
{
	const struct limit_options *o = t->options;
	uint8_t mask[16];
	unsigned i;

	*key = (struct source_key){
		.scope = who->scope,
		.family = who->family,
		.bits = (uint16_t)(who->family == AF_INET ? 96 + o->prefix4
							  : o->prefix6),
	};
	peer_prefix_mask(mask, key->bits);
	for (i = 0; i < sizeof(mask); i++)
		key->ip[i] = who->ip[i] & mask[i];
}

static bool
source_limits_is_key(const struct hash_table_link *l, const void *key)
{
	const struct source *s =
	    (const struct source *)(const void *)((const char *)l -
		offsetof(struct source, link));

	return memcmp(&s->key, key, sizeof(s->key)) == 0;
}

static struct source *
source_limits_find_entry(
    const struct source_limits *t, const struct source_key *key, uint64_t *hash)
{
	struct hash_table_link *l;

	*hash = hash_table_hash(&t->table, key, sizeof(*key));
	l = hash_table_find(&t->table, *hash, source_limits_is_key, key);
	return l != NULL ? list_entry(l, struct source, link) : NULL;
}

struct source *
source_limits_find(const struct source_limits *t, const struct peer *who)
{
	struct source_key key;
	uint64_t hash;

	if (!t->is_made || !source_is_of(who))
		return NULL;
	source_limits_make_key(t, who, &key);
	return source_limits_find_entry(t, &key, &hash);
}

/* The table is made with the first source: it costs nothing before. */
struct source *
source_limits_get(struct source_limits *t, const struct peer *who)
{
	struct source_key key;
	struct source *s;
	uint64_t hash;

	if (!source_is_of(who))
		return NULL;
	if (!t->is_made)
		t->is_made = hash_table_init(&t->table) == 0;
	if (!t->is_made)
		return NULL;
	source_limits_make_key(t, who, &key);
	s = source_limits_find_entry(t, &key, &hash);
	if (s != NULL)
		return s;
	s = take_entry(t);
	if (s == NULL)
		return NULL;
	list_remove(&s->order);
	*s = (struct source){ .key = key, .in_use = true };
	list_init(&s->waiting);
	list_append(&t->idle[false], &s->order);
	hash_table_add(&t->table, &s->link, hash);
	return s;
}

/* ---- limits ---- */

bool
source_is_full(const struct source_limits *t, const struct source *s)
{
	return t->options->conns > 0 && s->conns >= t->options->conns;
}

enum limit_verdict
source_check(
    const struct source_limits *t, const struct source *s, uint64_t now)
{
	if (source_is_full(t, s))
		return LIMIT_CONNS;
	return s->waits == 0 &&
		rate_limit_wait(&t->options->rate, &s->bucket, now) == 0
	    ? LIMIT_WITHIN
	    : LIMIT_RATE;
}

enum limit_verdict
source_try_again(struct source_limits *t, struct source *s, uint64_t now)
{
	if (source_is_full(t, s))
		return LIMIT_CONNS;
	if (!rate_limit_take(&t->options->rate, &s->bucket, now))
		return LIMIT_RATE;
	s->passed++;
	return LIMIT_WITHIN;
}

enum limit_verdict
source_arrive(
    struct source_limits *t, struct source *s, bool connection, uint64_t now)
{
	enum limit_verdict v = LIMIT_WITHIN;

	rate_count(&s->rate, now);
	if (connection && source_is_full(t, s))
		v = LIMIT_CONNS;
	else if ((connection && s->waits > 0) ||
	    !rate_limit_take(&t->options->rate, &s->bucket, now))
		v = LIMIT_RATE;
	if (v == LIMIT_WITHIN)
		s->passed++;
	else
		s->limited++;
	return v;
}

/* ---- use ---- */

static bool
source_limits_is_idle(const struct source *s)
{
	return s->conns == 0 && s->waits == 0;
}

void
source_touch(struct source_limits *t, struct source *s, bool proven)
{
	s->proven |= proven;
	list_remove(&s->order);
	if (source_limits_is_idle(s))
		list_append(&t->idle[s->proven], &s->order);
}

void
source_add_connection(struct source_limits *t, struct source *s)
{
	s->conns++;
	source_touch(t, s, false);
}

void
source_remove_connection(struct source_limits *t, struct source *s)
{
	s->conns--;
	source_touch(t, s, false);
}

void
source_wait(struct source_limits *t, struct source *s, struct list *link)
{
	list_append(&s->waiting, link);
	s->waits++;
	source_touch(t, s, false);
}

void
source_wait_over(struct source_limits *t, struct source *s, struct list *link)
{
	list_remove(link);
	s->waits--;
	source_touch(t, s, false);
}

/* ---- reports ---- */

char *
source_format(const struct source *s, char text[SOURCE_TEXT_MAX])
{
	struct peer who = { .family = s->key.family, .scope = s->key.scope };
	size_t n;

	memcpy(who.ip, s->key.ip, sizeof(who.ip));
	peer_format_host(&who, text);
	n = strlen(text);
	if (s->key.bits < 128)
		snprintf(text + n, SOURCE_TEXT_MAX - n, "/%u",
		    (unsigned)s->key.bits - (who.family == AF_INET ? 96u : 0u));
	return text;
}

/* The number that sources are ordered by. */
static uint64_t
order_value(const struct source *s, enum source_order by, uint64_t now)
{
	switch (by) {
	case SOURCES_BY_RATE:
		return rate_tenths(&s->rate, now);
	case SOURCES_BY_LIMITED:
		return s->limited;
	default:
		return s->conns;
	}
}

/* Whether `a` comes before `b`: by the key requested, then by the rest. */
static bool
is_before(const struct source *a, const struct source *b, enum source_order by,
    uint64_t now)
{
	static const enum source_order then[] = { SOURCES_BY_CONNS,
		SOURCES_BY_LIMITED, SOURCES_BY_RATE };
	uint64_t x = order_value(a, by, now), y = order_value(b, by, now);
	unsigned i;

	for (i = 0; x == y && i < sizeof(then) / sizeof(then[0]); i++) {
		x = order_value(a, then[i], now);
		y = order_value(b, then[i], now);
	}
	return x > y;
}

static void
take_in(struct source_walk *w, const struct source *s, uint64_t now)
{
	unsigned at;

	if (w->count == w->n && !is_before(s, w->top[w->n - 1], w->by, now))
		return;
	at = w->count < w->n ? w->count++ : w->n - 1;
	for (; at > 0 && is_before(s, w->top[at - 1], w->by, now); at--)
		w->top[at] = w->top[at - 1];
	w->top[at] = s;
}

struct source_walk *
source_walk_new(enum source_order by, unsigned n)
{
	struct source_walk *w = calloc(1, sizeof(*w) + n * sizeof(w->top[0]));

	if (w == NULL)
		return NULL;
	w->by = by;
	w->n = n;
	return w;
}

bool
source_walk_on(const struct source_limits *t, struct source_walk *w,
    size_t portion, uint64_t now)
{
	size_t end = t->slab_count * SLAB;
	const struct source *s;

	for (; w->at < end && portion > 0; w->at++, portion--) {
		s = &t->slabs[w->at / SLAB][w->at % SLAB];
		if (s->in_use)
			take_in(w, s, now);
	}
	return w->at < end;
}
