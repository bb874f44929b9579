/* sticky.c: chained hashing over an array of cache lines; see sticky.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "pool/sticky.h"

/* Entries are made SLAB at a time; number 0 stands for "none". A slab is the
 * size of a huge page, of which only the touched part takes memory; once the
 * first is full the next ones ask to be huge, which spares the walk through the
 * page tables for each far entry. */
enum { SLAB_BITS = 15, SLAB = 1 << SLAB_BITS, SLAB_ALIGN = 1 << 21 };

struct sticky {
	struct hash_key key;
	uint32_t *buckets;
	uint32_t mask; /* of a hash, to a bucket */
	struct sticky_client **slabs;
	uint32_t max;
	uint32_t count; /* entries 1..count are in use */
	uint32_t newest, oldest;
};

static struct sticky_client *
entry(const struct sticky *s, uint32_t i)
{
	return &s->slabs[(i - 1) >> SLAB_BITS][(i - 1) & (SLAB - 1)];
}

static uint32_t *
bucket_of(const struct sticky *s, const uint8_t ip[16])
{
	return &s->buckets[hash_keyed(&s->key, ip, 16) & s->mask];
}

struct sticky *
sticky_new(size_t max)
{
	struct sticky *s = calloc(1, sizeof(*s));
	uint32_t buckets = 16;

	if (s == NULL)
		return NULL;
	while (buckets < max)
		buckets *= 2;
	s->max = (uint32_t)max;
	s->mask = buckets - 1;
	s->buckets = calloc(buckets, sizeof(*s->buckets));
	s->slabs = calloc(max / SLAB + 1, sizeof(struct sticky_client *));
	if (s->buckets == NULL || s->slabs == NULL) {
		sticky_free(s);
		errno = ENOMEM;
		return NULL;
	}
	hash_key_init(&s->key);
	return s;
}

/* The entries stay in their slabs; only the chains are made anew. */
int
sticky_grow(struct sticky *s, size_t max)
{
	struct sticky *new;
	uint32_t i, *bucket;

	if (max <= s->max)
		return 0;
	new = sticky_new(max);
	if (new == NULL)
		return -1;
	new->key = s->key;
	for (i = 1; i <= s->count; i++) {
		bucket = bucket_of(new, entry(s, i)->ip);
		entry(s, i)->chain = *bucket;
		*bucket = i;
	}
	memcpy(new->slabs, s->slabs,
	    (s->max / SLAB + 1) * sizeof(struct sticky_client *));
	new->count = s->count;
	new->newest = s->newest;
	new->oldest = s->oldest;
	free(s->slabs);
	free(s->buckets);
	*s = *new;
	free(new);
	return 0;
}

void
sticky_free(struct sticky *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; s->slabs != NULL && i <= s->max / SLAB; i++)
		free(s->slabs[i]);
	free(s->slabs);
	free(s->buckets);
	free(s);
}

size_t
sticky_max(const struct sticky *s)
{
	return s->max;
}

size_t
sticky_count(const struct sticky *s)
{
	return s->count;
}

/* ---- chains ---- */

static bool
is_of(const struct sticky_client *c, const struct peer *who)
{
	return memcmp(c->ip, who->ip, sizeof(c->ip)) == 0 &&
	    c->scope == (uint16_t)who->scope && c->family == who->family;
}

/* The entry of the client, or 0; the hint follows. */
static uint32_t
find(const struct sticky *s, const struct peer *who, sticky_hint *hint)
{
	uint32_t i = *hint;

	if (i == 0 || i > s->count || !is_of(entry(s, i), who)) {
		i = *bucket_of(s, who->ip);
		while (i != 0 && !is_of(entry(s, i), who))
			i = entry(s, i)->chain;
	}
	*hint = i;
	return i;
}

static void
unchain(struct sticky *s, uint32_t i)
{
	uint32_t *at = bucket_of(s, entry(s, i)->ip);

	while (*at != i)
		at = &entry(s, *at)->chain;
	*at = entry(s, i)->chain;
}

/* ---- the order of last use ---- */

static void
unlink_use(struct sticky *s, uint32_t i)
{
	struct sticky_client *c = entry(s, i);

	if (c->newer != 0)
		entry(s, c->newer)->older = c->older;
	else
		s->newest = c->older;
	if (c->older != 0)
		entry(s, c->older)->newer = c->newer;
	else
		s->oldest = c->newer;
}

static void
link_newest(struct sticky *s, uint32_t i)
{
	struct sticky_client *c = entry(s, i);

	c->newer = 0;
	c->older = s->newest;
	if (s->newest != 0)
		entry(s, s->newest)->newer = i;
	else
		s->oldest = i;
	s->newest = i;
}

/* ---- remembering ---- */

static struct sticky_client *
new_slab(bool huge)
{
	size_t size = SLAB * sizeof(struct sticky_client);
	struct sticky_client *slab = aligned_alloc(SLAB_ALIGN, size);

#ifdef MADV_HUGEPAGE
	if (slab != NULL && huge)
		(void)madvise(slab, size, MADV_HUGEPAGE);
#else
	(void)huge;
#endif
	return slab;
}

/* A new entry, or the oldest one, forgotten. 0 with errno ENOMEM. */
static uint32_t
take_entry(struct sticky *s)
{
	uint32_t i = s->oldest;

	if (s->count < s->max) {
		struct sticky_client **slab = &s->slabs[s->count >> SLAB_BITS];

		if (*slab == NULL && (*slab = new_slab(s->count > 0)) == NULL)
			return 0;
		return ++s->count;
	}
	unlink_use(s, i);
	unchain(s, i);
	return i;
}

struct sticky_client *
sticky_find(struct sticky *s, const struct peer *who, sticky_hint *hint,
    uint64_t now, uint64_t max_age)
{
	uint32_t i = find(s, who, hint);

	if (i == 0 || (max_age > 0 && entry(s, i)->seen + max_age < now))
		return NULL;
	return entry(s, i);
}

static uint32_t
new_client(struct sticky *s, const struct peer *who)
{
	uint32_t i = take_entry(s), *bucket;
	struct sticky_client *c;

	if (i == 0)
		return 0;
	c = entry(s, i);
	memset(c, 0, sizeof(*c));
	memcpy(c->ip, who->ip, sizeof(c->ip));
	c->scope = (uint16_t)who->scope;
	c->family = who->family;
	bucket = bucket_of(s, c->ip);
	c->chain = *bucket;
	*bucket = i;
	link_newest(s, i);
	return i;
}

int
sticky_remember(struct sticky *s, const struct peer *who, sticky_hint *hint,
    unsigned server, uint64_t now)
{
	uint32_t i = find(s, who, hint);
	struct sticky_client *c;

	if (i == 0) {
		i = *hint = new_client(s, who);
		if (i == 0)
			return -1;
	} else if (i != s->newest) {
		unlink_use(s, i);
		link_newest(s, i);
	}
	c = entry(s, i);
	c->server = server;
	c->seen = now;
	c->connects++;
	return 0;
}

void
sticky_count_bytes(struct sticky *s, const struct peer *who, sticky_hint *hint,
    uint64_t sent, uint64_t received)
{
	uint32_t i = find(s, who, hint);

	if (i == 0)
		return;
	entry(s, i)->sent += sent;
	entry(s, i)->received += received;
}

const struct sticky_client *
sticky_at(const struct sticky *s, size_t i)
{
	return entry(s, (uint32_t)i + 1);
}

void
sticky_each(const struct sticky *s,
    bool (*visit)(const struct sticky_client *c, void *arg), void *arg)
{
	uint32_t i;

	for (i = s->newest; i != 0; i = entry(s, i)->older)
		if (!visit(entry(s, i), arg))
			return;
}
