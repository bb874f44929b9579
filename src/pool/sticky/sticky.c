/* sticky.c: chained hashing over an array of cache lines; see sticky.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/huge.h"
#include "pool/sticky/sticky.h"

/* Entries are allocated SLAB at a time; entry number 0 means "none". A slab has
 * the size of a huge page. */
enum { SLAB_BITS = 15, SLAB = 1 << SLAB_BITS };

/* The orders of last use, the first to be forgotten in front. */
enum { USE_NEW, USE_REPORTED, USE_PROVEN, USES };

struct sticky {
	struct hash_key key;
	uint32_t *buckets; /* `none` until there is a client */
	uint32_t mask;	   /* of a hash, to a bucket */
	uint32_t none;	   /* stays 0 */
	struct sticky_client **slabs;
	struct sticky_aways aways;
	uint32_t max;
	uint32_t count; /* entries 1..count are in use */
	struct use {
		uint32_t newest, oldest;
	} use[USES];
	sticky_change_fn *on_change;
	void *arg;
	uint64_t mask6[2]; /* of the bits of IPv6 that count */
};

static struct sticky_client *
sticky_entry(const struct sticky *s, uint32_t i)
{
	return &s->slabs[(i - 1) >> SLAB_BITS][(i - 1) & (SLAB - 1)];
}

static unsigned
sticky_use_of(const struct sticky_client *c)
{
	return c->reported ? USE_REPORTED : c->proven ? USE_PROVEN : USE_NEW;
}

static uint32_t *
sticky_bucket(const struct sticky *s, const uint8_t ip[16], unsigned family)
{
	uint64_t key[2];

	/* the bits of the address that identify the client */
	memcpy(key, ip, 16);
	if (family == AF_INET6) {
		key[0] &= s->mask6[0];
		key[1] &= s->mask6[1];
	}
	return &s->buckets[hash_keyed(&s->key, key, sizeof(key)) & s->mask];
}

static void
sticky_chain(struct sticky *s, uint32_t i)
{
	struct sticky_client *c = sticky_entry(s, i);
	uint32_t *bucket = sticky_bucket(s, c->ip, c->family);

	c->chain = *bucket;
	*bucket = i;
}

/* A memory that never has a client takes next to nothing: many have none. */
static int
sticky_make_buckets(struct sticky *s)
{
	uint32_t n = 16, *buckets;

	while (n < s->max)
		n *= 2;
	buckets = calloc(n, sizeof(*buckets));
	if (buckets == NULL)
		return -1;
	s->buckets = buckets;
	s->mask = n - 1;
	return 0;
}

static void
free_buckets(struct sticky *s)
{
	if (s->buckets != &s->none)
		free(s->buckets);
}

struct sticky *
sticky_new(size_t max)
{
	struct sticky *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->max = (uint32_t)max;
	s->buckets = &s->none;
	s->slabs = calloc(max / SLAB + 1, sizeof(struct sticky_client *));
	if (s->slabs == NULL || sticky_aways_init(&s->aways, max) < 0) {
		sticky_free(s);
		errno = ENOMEM;
		return NULL;
	}
	hash_key_init(&s->key);
	memset(s->mask6, 0xff, sizeof(s->mask6));
	return s;
}

/* Chains all entries in empty buckets. Each goes to the front of its chain, so
 * those that should be found first, the proven and the recent, come last. */
static void
sticky_chain_all(struct sticky *s)
{
	uint32_t i;
	int use;

	for (use = 0; use < USES; use++)
		for (i = s->use[use].oldest; i != 0;
		     i = sticky_entry(s, i)->newer)
			sticky_chain(s, i);
}

void
sticky_set_prefix6(struct sticky *s, unsigned bits)
{
	uint8_t mask[16];

	peer_prefix_mask(mask, bits);
	if (memcmp(s->mask6, mask, sizeof(mask)) == 0)
		return;
	memcpy(s->mask6, mask, sizeof(mask));
	if (s->count == 0)
		return;
	memset(s->buckets, 0, (s->mask + 1u) * sizeof(*s->buckets));
	sticky_chain_all(s);
}

/* The entries stay in their slabs; only the chains are made anew. */
int
sticky_grow(struct sticky *s, size_t max)
{
	struct sticky *new;

	if (max <= s->max)
		return 0;
	new = sticky_new(max);
	if (new == NULL)
		return -1;
	if (s->count > 0 && sticky_make_buckets(new) < 0) {
		sticky_free(new);
		return -1;
	}
	memcpy(new->slabs, s->slabs,
	    (s->max / SLAB + 1) * sizeof(struct sticky_client *));
	sticky_aways_take(&new->aways, &s->aways);
	memcpy(new->mask6, s->mask6, sizeof(s->mask6));
	memcpy(new->use, s->use, sizeof(s->use));
	new->key = s->key;
	new->count = s->count;
	sticky_on_change(new, s->on_change, s->arg);
	free(s->slabs);
	sticky_aways_fini(&s->aways);
	free_buckets(s);
	*s = *new;
	if (s->count == 0)
		s->buckets = &s->none;
	free(new);
	sticky_chain_all(s);
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
	sticky_aways_fini(&s->aways);
	free(s->slabs);
	free_buckets(s);
	free(s);
}

void
sticky_on_change(struct sticky *s, sticky_change_fn *fn, void *arg)
{
	s->on_change = fn;
	s->arg = arg;
}

size_t
sticky_count(const struct sticky *s)
{
	return s->count;
}

/* ---- chains ---- */

static bool
sticky_is_of(const struct sticky *s, const struct sticky_client *c,
    const struct peer *who)
{
	uint64_t a[2], b[2], differ[2];

	if (c->scope != (uint16_t)who->scope || c->family != who->family)
		return false;
	memcpy(a, c->ip, sizeof(a));
	memcpy(b, who->ip, sizeof(b));
	differ[0] = a[0] ^ b[0];
	differ[1] = a[1] ^ b[1];
	return (differ[0] | differ[1]) == 0 ||
	    (c->family == AF_INET6 &&
		((differ[0] & s->mask6[0]) | (differ[1] & s->mask6[1])) == 0);
}

static uint32_t
sticky_search(const struct sticky *s, const struct peer *who)
{
	uint32_t i = *sticky_bucket(s, who->ip, who->family);

	while (i != 0 && !sticky_is_of(s, sticky_entry(s, i), who))
		i = sticky_entry(s, i)->chain;
	return i;
}

/* Returns the client's entry, or 0, and updates the hint. */
static inline uint32_t
sticky_lookup(const struct sticky *s, const struct peer *who, sticky_hint *hint)
{
	/* 0: none */
	if (*hint - 1 >= s->count ||
	    !sticky_is_of(s, sticky_entry(s, *hint), who))
		*hint = sticky_search(s, who);
	return *hint;
}

static void
sticky_unchain(struct sticky *s, uint32_t i)
{
	uint32_t *at = sticky_bucket(
	    s, sticky_entry(s, i)->ip, sticky_entry(s, i)->family);

	while (*at != i)
		at = &sticky_entry(s, *at)->chain;
	*at = sticky_entry(s, i)->chain;
}

/* ---- the order of last use ---- */

static void
sticky_unlink_use(struct sticky *s, uint32_t i)
{
	struct sticky_client *c = sticky_entry(s, i);
	struct use *use = &s->use[sticky_use_of(c)];

	if (c->newer != 0)
		sticky_entry(s, c->newer)->older = c->older;
	else
		use->newest = c->older;
	if (c->older != 0)
		sticky_entry(s, c->older)->newer = c->newer;
	else
		use->oldest = c->newer;
}

static void
sticky_link_newest(struct sticky *s, uint32_t i)
{
	struct sticky_client *c = sticky_entry(s, i);
	struct use *use = &s->use[sticky_use_of(c)];

	c->newer = 0;
	c->older = use->newest;
	if (use->newest != 0)
		sticky_entry(s, use->newest)->newer = i;
	else
		use->oldest = i;
	use->newest = i;
}

/* ---- where clients come from ---- */

void
sticky_follow(struct sticky *s, bool on)
{
	if (on != s->aways.on)
		sticky_aways_set(&s->aways, on);
}

const struct sticky_away *
sticky_away(const struct sticky *s, sticky_hint found)
{
	return sticky_aways_get(&s->aways, found);
}

void
sticky_closed(struct sticky *s, const struct peer *who, sticky_hint *hint)
{
	if (s->aways.on)
		sticky_aways_closed(&s->aways, sticky_lookup(s, who, hint));
}

/* ---- remembering ---- */

/* The one to be forgotten for one with that use; 0: none. */
static uint32_t
sticky_oldest(const struct sticky *s, unsigned use)
{
	uint32_t i = 0;
	unsigned k, last = use == USE_REPORTED ? use : USE_PROVEN;

	for (k = 0; i == 0 && k <= last; k++)
		i = s->use[k].oldest;
	return i;
}

/* Returns a new entry or, if all are in use, the oldest one that is not proven,
 * else the oldest that a peer has reported, else the oldest; its client is
 * forgotten. Returns 0 with errno ENOMEM; for a reported one also if all others
 * are proven. */
static uint32_t
sticky_take_entry(struct sticky *s, unsigned use)
{
	uint32_t i;

	if (s->count < s->max) {
		struct sticky_client **slab = &s->slabs[s->count >> SLAB_BITS];

		if (s->buckets == &s->none && sticky_make_buckets(s) < 0)
			return 0;
		if (*slab == NULL &&
		    (*slab = huge_next_slab(s->count > 0 ? slab[-1] : NULL,
			 SLAB * sizeof(**slab))) == NULL)
			return 0;
		return ++s->count;
	}
	i = sticky_oldest(s, use);
	if (i == 0)
		return 0;
	sticky_unlink_use(s, i);
	sticky_unchain(s, i);
	return i;
}

struct sticky_client *
sticky_find(struct sticky *s, const struct peer *who, sticky_hint *hint,
    uint64_t now, uint64_t max_age)
{
	uint32_t i = sticky_lookup(s, who, hint);

	if (i == 0 || (max_age > 0 && sticky_entry(s, i)->seen + max_age < now))
		return NULL;
	return sticky_entry(s, i);
}

/* Adds an entry for the client, in place of the oldest one if the table is
 * full. Returns its number; 0: there is no place. */
static uint32_t
sticky_new_client(struct sticky *s, const struct peer *who, unsigned use)
{
	uint32_t i = sticky_take_entry(s, use);
	struct sticky_away *away;
	struct sticky_client *c;

	if (i == 0)
		return 0;
	c = sticky_entry(s, i);
	memset(c, 0, sizeof(*c));
	memcpy(c->ip, who->ip, sizeof(c->ip));
	c->scope = (uint16_t)who->scope;
	c->family = (uint8_t)who->family;
	c->proven = use != USE_NEW;
	c->reported = use == USE_REPORTED;
	away = sticky_aways_get(&s->aways, i);
	if (away != NULL)
		*away = (struct sticky_away){ .home = 0 };
	sticky_chain(s, i);
	sticky_link_newest(s, i);
	return i;
}

/* Makes the entry the newest of its kind, proven or not. */
static void
sticky_use_again(struct sticky *s, uint32_t i, bool proven)
{
	struct sticky_client *c = sticky_entry(s, i);
	unsigned use = sticky_use_of(c);

	if (i == s->use[use].newest && (!proven || use == USE_PROVEN))
		return;
	sticky_unlink_use(s, i);
	c->proven |= proven;
	c->reported &= !proven;
	sticky_link_newest(s, i);
}

/* Whether peers need no report of what comes next. */
static bool
sticky_is_reported(const struct sticky_client *c, unsigned server, uint64_t now)
{
	return sticky_use_of(c) == USE_PROVEN && c->server == server &&
	    c->seen / 1000 == now / 1000;
}

static void
sticky_report(const struct sticky *s, uint32_t i)
{
	if (s->on_change != NULL &&
	    sticky_use_of(sticky_entry(s, i)) == USE_PROVEN)
		s->on_change(s->arg, i - 1);
}

int
sticky_remember(struct sticky *s, const struct peer *who, sticky_hint *hint,
    unsigned server, bool proven, uint64_t now)
{
	uint32_t i = sticky_lookup(s, who, hint);
	struct sticky_client *c;
	bool told = s->on_change == NULL ||
	    (i != 0 && sticky_is_reported(sticky_entry(s, i), server, now));

	if (i == 0) {
		i = *hint = sticky_new_client(
		    s, who, proven ? USE_PROVEN : USE_NEW);
		if (i == 0)
			return -1;
	} else {
		sticky_use_again(s, i, proven);
		memcpy(sticky_entry(s, i)->ip, who->ip, sizeof(who->ip));
	}
	c = sticky_entry(s, i);
	if (s->aways.on)
		sticky_aways_opened(
		    &s->aways, i, server, c->server, c->sent + c->received > 0);
	c->server = server;
	c->seen = now;
	c->connects++;
	if (!told)
		sticky_report(s, i);
	return 0;
}

int
sticky_move(
    struct sticky *s, const struct peer *who, unsigned server, uint64_t now)
{
	sticky_hint hint = 0;
	uint32_t i = sticky_lookup(s, who, &hint);

	if (i == 0) {
		i = sticky_new_client(s, who, USE_PROVEN);
		if (i == 0)
			return -1;
	} else {
		sticky_unlink_use(s, i);
		sticky_entry(s, i)->reported = false;
		sticky_link_newest(s, i);
	}
	sticky_entry(s, i)->seen = now;
	sticky_entry(s, i)->server = server;
	sticky_aways_clear(&s->aways, i);
	sticky_report(s, i);
	return 0;
}

/* The client at `from` moves to `to`, which is not in use. */
static void
sticky_renumber(struct sticky *s, uint32_t from, uint32_t to)
{
	struct sticky_client *c = sticky_entry(s, to);
	struct use *use;
	uint32_t *at;

	*c = *sticky_entry(s, from);
	use = &s->use[sticky_use_of(c)];
	*(c->newer != 0 ? &sticky_entry(s, c->newer)->older : &use->newest) =
	    to;
	*(c->older != 0 ? &sticky_entry(s, c->older)->newer : &use->oldest) =
	    to;
	for (at = sticky_bucket(s, c->ip, c->family); *at != from;
	     at = &sticky_entry(s, *at)->chain)
		;
	*at = to;
	sticky_aways_move(&s->aways, from, to);
}

bool
sticky_remove(struct sticky *s, const struct peer *who)
{
	sticky_hint hint = 0;
	uint32_t i = sticky_lookup(s, who, &hint);

	if (i == 0)
		return false;
	sticky_unlink_use(s, i);
	sticky_unchain(s, i);
	if (i != s->count) {
		sticky_renumber(s, s->count, i);
		sticky_report(s, i);
	}
	s->count--;
	return true;
}

void
sticky_prove(struct sticky *s, const struct peer *who, sticky_hint *hint)
{
	uint32_t i = sticky_lookup(s, who, hint);
	bool own;

	if (i == 0)
		return;
	own = sticky_use_of(sticky_entry(s, i)) == USE_PROVEN;
	sticky_use_again(s, i, true);
	if (!own)
		sticky_report(s, i);
}

void
sticky_count_bytes(struct sticky *s, const struct peer *who, sticky_hint *hint,
    uint64_t sent, uint64_t received)
{
	uint32_t i = sticky_lookup(s, who, hint);
	struct sticky_client *c;

	if (i == 0)
		return;
	c = sticky_entry(s, i);
	c->sent += sent;
	c->received += received;
}

static struct peer
sticky_peer_of(const struct sticky_client *c)
{
	struct peer who = { .family = c->family, .scope = c->scope };

	memcpy(who.ip, c->ip, sizeof(who.ip));
	return who;
}

static void
sticky_set_counts(struct sticky_client *to, const struct sticky_client *from)
{
	to->connects = from->connects;
	to->sent = from->sent;
	to->received = from->received;
}

int
sticky_restore(struct sticky *s, const struct sticky_client *c)
{
	struct peer who = sticky_peer_of(c);
	sticky_hint hint = 0;

	if (c->reported) {
		(void)sticky_learn(s, c);
		return 0;
	}
	if (sticky_remember(s, &who, &hint, c->server, c->proven, c->seen) < 0)
		return -1;
	sticky_set_counts(sticky_entry(s, hint), c);
	return 0;
}

bool
sticky_learn(struct sticky *s, const struct sticky_client *c)
{
	struct peer who = sticky_peer_of(c);
	struct sticky_client *mine;
	sticky_hint hint = 0;
	uint32_t i = sticky_lookup(s, &who, &hint);

	if (i != 0 && sticky_entry(s, i)->seen >= c->seen)
		return false;
	if (i != 0 && sticky_entry(s, i)->server == c->server) {
		sticky_use_again(s, i, false);
		sticky_entry(s, i)->seen = c->seen;
		return false;
	}
	if (i == 0) {
		i = sticky_new_client(s, &who, USE_REPORTED);
		if (i == 0)
			return false;
	} else {
		sticky_unlink_use(s, i);
		mine = sticky_entry(s, i);
		mine->proven = mine->reported = true;
		sticky_link_newest(s, i);
	}
	mine = sticky_entry(s, i);
	mine->server = c->server;
	mine->seen = c->seen;
	sticky_set_counts(mine, c);
	sticky_aways_clear(&s->aways, i);
	return true;
}

const struct sticky_client *
sticky_at(const struct sticky *s, size_t i)
{
	return sticky_entry(s, (uint32_t)i + 1);
}
