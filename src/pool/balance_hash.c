/* balance_hash.c: consistent hashing of the client's address.
 *
 * A table of BUCKETS buckets, as in Maglev (Eisenbud et al., NSDI 2016, 3.4),
 * but filled by weighted rendezvous hashing (Thaler, Ravishankar 1998): of all
 * servers, the one with the smallest cost(bucket, server) owns the bucket.
 *
 *     id(server)  = hash_stable("ADDRESS:PORT" as text); of the n-th duplicate
 *                   of that text, hash_mix(id + n)
 *     u           = hash_mix(hash_mix(bucket + 1) ^ id)
 *     cost        = -log2(u / 2^64) / weight; of equal ones the greater u
 *     key(client) = hash_stable(16 address bytes, IPv4 mapped, IPv6 cut to its
 *                   prefix [, 2 port bytes, high first])
 *     bucket      = key mod BUCKETS
 *
 * The table depends on the list alone. When a server is added or removed, only
 * the buckets that it gains or loses change owners. The owner of a bucket is
 * computed when a client first asks for it, which takes a microsecond or two,
 * so a list of a thousand servers takes effect at once. While the owner of a
 * bucket is not eligible, its clients, and only they, try RETRIES other buckets
 * (key = hash_mix(key)) and then take the next eligible server in list order.
 * Each of n equal servers owns BUCKETS/n buckets, give or take sqrt(BUCKETS/n):
 * 0.6 % for two, 1.2 % for ten, 12 % for a thousand. All arithmetic is in
 * integers, so all machines agree. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pool/balance.h"

enum { BUCKETS = 1 << 16, RETRIES = 16 };

/* Logarithms: LOG_STEPS entries a doubling, linear between; LOG_BITS digits. */
enum { LOG_STEPS = 4096, LOG_BITS = 26 };

/* If up to FEW servers have changed, the buckets that change owners are found
 * one by one; if more have, all owners are computed anew. */
enum { FEW = 4 };

struct listed {
	uint64_t id;
	unsigned weight; /* never 0 */
	unsigned slot;	 /* of the server, in the pool */
};

/* The servers that may own buckets, as the table knows them. */
struct list {
	struct listed *one; /* by slot, ascending */
	unsigned count;
};

struct order {
	const struct pool *pool;
	struct list list;
	unsigned *owner; /* BUCKETS of them; a slot, NOBODY or UNKNOWN */
	uint32_t log[LOG_STEPS + 1]; /* of 1..2, LOG_BITS fractional digits */
};

#define NOBODY	UINT32_MAX
#define UNKNOWN (UINT32_MAX - 1)

/* ---- cost ---- */

/* log2 of 1 + i/LOG_STEPS, digit by digit: squaring doubles the logarithm. */
static uint32_t
exact_log(unsigned i)
{
	uint64_t x = (UINT64_C(1) << 31) +
	    ((uint64_t)i << 31) / LOG_STEPS; /* 1.31 fixed point */
	uint32_t log = 0;
	int k;

	for (k = 0; k < LOG_BITS; k++) {
		x = x * x >> 31;
		log <<= 1;
		if (x >> 32) {
			x >>= 1;
			log |= 1;
		}
	}
	return log;
}

/* -log2(u / 2^64), LOG_BITS fractional digits; below 2^33. */
static uint64_t
minus_log(const struct order *o, uint64_t u)
{
	unsigned zeros = u == 0 ? 63 : (unsigned)__builtin_clzll(u), i;
	uint64_t m = u << zeros; /* the leading one is bit 63 */
	uint64_t low, fraction;

	i = (unsigned)(m >> 51) & (LOG_STEPS - 1);
	low = m >> 35 & 0xffff;
	fraction =
	    o->log[i] + (((uint64_t)(o->log[i + 1] - o->log[i]) * low) >> 16);
	return ((uint64_t)(zeros + 1) << LOG_BITS) - fraction;
}

/* A lower bound of minus_log(), close to it for servers that may own a bucket,
 * whose u is close to 2^64: -ln(x) >= 1 - x, and 23/2^10 is just below 2^26 /
 * 2^32 / ln(2). It spares most servers the exact logarithm. */
static uint64_t
minus_log_at_least(uint64_t u)
{
	return (~u >> 32) * 23 >> 10;
}

static uint64_t
balance_hash_draw(unsigned bucket, uint64_t id)
{
	return hash_mix(hash_mix(bucket + UINT64_C(1)) ^ id);
}

/* Whether server `x`, which drew `ux`, has a better claim than `y`. */
static bool
is_better(const struct order *o, const struct listed *x, uint64_t ux,
    const struct listed *y, uint64_t uy)
{
	uint64_t cx, cy;

	if (x->weight != y->weight) {
		cx = minus_log(o, ux) * y->weight;
		cy = minus_log(o, uy) * x->weight;
		if (cx != cy)
			return cx < cy;
	}
	if (ux != uy)
		return ux > uy;
	return x->id != y->id ? x->id > y->id : x->slot < y->slot;
}

/* ---- the list ---- */

static int
compare_ids(const void *a, const void *b)
{
	const struct listed *const *x = a, *const *y = b;

	if ((*x)->id != (*y)->id)
		return (*x)->id < (*y)->id ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Gives servers with the same address different IDs, in list order. */
static int
number_duplicates(const struct list *l)
{
	struct listed **by_id =
	    malloc((l->count + 1) * sizeof(struct listed *));
	uint64_t last = 0, duplicates = 0;
	unsigned i;

	if (by_id == NULL)
		return -1;
	for (i = 0; i < l->count; i++)
		by_id[i] = &l->one[i];
	qsort(by_id, l->count, sizeof(struct listed *), compare_ids);
	for (i = 0; i < l->count; i++) {
		duplicates = i > 0 && by_id[i]->id == last ? duplicates + 1 : 0;
		last = by_id[i]->id;
		if (duplicates > 0)
			by_id[i]->id = hash_mix(last + duplicates);
	}
	free(by_id);
	return 0;
}

static int
read_list(const struct pool *p, struct list *l)
{
	unsigned slots = pool_slots(p), slot;
	char text[ADDR_TEXT_MAX];

	l->count = 0;
	l->one = calloc(slots, sizeof(*l->one));
	if (l->one == NULL)
		return -1;
	for (slot = SLOTS_SPECIAL; slot < slots; slot++) {
		const struct server *s = pool_slot(p, slot);

		if (!s->present || pool_weight(p, s) == 0)
			continue;
		addr_format(&s->addrs.addr[0], text);
		l->one[l->count++] = (struct listed){
			.id = hash_stable(text, strlen(text)),
			.weight = pool_weight(p, s),
			.slot = slot,
		};
	}
	if (number_duplicates(l) == 0)
		return 0;
	free(l->one);
	return -1;
}

/* The server in slot `i`, or NULL; *k is where to look for it and for greater
 * ones from then on. */
static const struct listed *
find_from(const struct list *l, unsigned *k, unsigned i)
{
	while (*k < l->count && l->one[*k].slot < i)
		++*k;
	return *k < l->count && l->one[*k].slot == i ? &l->one[*k] : NULL;
}

/* Finds the servers of `a` that `b` lacks, has changed or gives less weight,
 * and puts up to FEW of them into `found`. Returns how many there are. */
static unsigned
balance_hash_lost(
    const struct list *a, const struct list *b, const struct listed *found[FEW])
{
	unsigned i, k = 0, n = 0;

	for (i = 0; i < a->count; i++) {
		const struct listed *x = &a->one[i];
		const struct listed *y = find_from(b, &k, x->slot);

		if (y != NULL && y->id == x->id && y->weight >= x->weight)
			continue;
		if (n < FEW)
			found[n] = x;
		n++;
	}
	return n;
}

/* ---- the table ---- */

static unsigned
balance_hash_find_owner(const struct order *o, unsigned bucket)
{
	const struct listed *x = o->list.one, *past = x + o->list.count;
	const struct listed *best = x;
	uint64_t mixed = hash_mix(bucket + UINT64_C(1)), u, most, cost;

	if (x == past)
		return NOBODY;
	most = hash_mix(mixed ^ x->id);
	cost = minus_log(o, most);
	for (x++; x < past; x++) {
		u = hash_mix(mixed ^ x->id);
		if (minus_log_at_least(u) * best->weight > cost * x->weight ||
		    !is_better(o, x, u, best, most))
			continue;
		best = x;
		most = u;
		cost = minus_log(o, u);
	}
	return best->slot;
}

static unsigned
owner_of(struct order *o, unsigned bucket)
{
	if (o->owner[bucket] == UNKNOWN)
		o->owner[bucket] = balance_hash_find_owner(o, bucket);
	return o->owner[bucket];
}

static void
forget_owners(struct order *o)
{
	unsigned bucket;

	for (bucket = 0; bucket < BUCKETS; bucket++)
		o->owner[bucket] = UNKNOWN;
}

static void
balance_hash_release(struct order *o, unsigned i)
{
	unsigned bucket;

	for (bucket = 0; bucket < BUCKETS; bucket++)
		if (o->owner[bucket] == i)
			o->owner[bucket] = UNKNOWN;
}

/* Gives server `x`, which is new or heavier, the buckets to which it has a
 * better claim than their owners. by_slot[] has the entry of each server. */
static void
balance_hash_claim(struct order *o, const struct listed *x,
    const struct listed *const *by_slot)
{
	unsigned bucket;

	for (bucket = 0; bucket < BUCKETS; bucket++) {
		unsigned i = o->owner[bucket];

		if (i == NOBODY ||
		    (i != UNKNOWN &&
			is_better(o, x, balance_hash_draw(bucket, x->id),
			    by_slot[i],
			    balance_hash_draw(bucket, by_slot[i]->id))))
			o->owner[bucket] = x->slot;
	}
}

/* The entry of each server by its slot. */
static const struct listed **
map_list(const struct list *l)
{
	unsigned past = l->count > 0 ? l->one[l->count - 1].slot + 1 : 0, i;
	const struct listed **map = calloc(past + 1u, sizeof(*map));

	for (i = 0; map != NULL && i < l->count; i++)
		map[l->one[i].slot] = &l->one[i];
	return map;
}

/* Brings the table up to date after the list was `old`. Servers that lose
 * buckets come first: those that win compare themselves with the remaining
 * owners. */
static void
follow_list(struct order *o, const struct list *old)
{
	const struct listed *losers[FEW], *winners[FEW], **map;
	unsigned lose = balance_hash_lost(old, &o->list, losers), i;
	unsigned win = balance_hash_lost(&o->list, old, winners);

	map = lose <= FEW && win <= FEW ? map_list(&o->list) : NULL;
	if (map == NULL) {
		forget_owners(o);
		return;
	}
	for (i = 0; i < lose; i++)
		balance_hash_release(o, losers[i]->slot);
	for (i = 0; i < win; i++)
		balance_hash_claim(o, winners[i], map);
	free(map);
}

static int
balance_hash_listed(void *order)
{
	struct order *o = order;
	struct list old = o->list, new;

	if (read_list(o->pool, &new) < 0)
		return -1;
	o->list = new;
	follow_list(o, &old);
	free(old.one);
	return 0;
}

/* ---- choosing ---- */

static uint64_t
balance_hash_key_of(const struct pool_options *po, const struct peer *who)
{
	uint8_t bytes[18], mask[16];
	size_t n = 16;
	unsigned i;

	memcpy(bytes, who->ip, 16);
	if (who->family == AF_INET6) {
		peer_prefix_mask(mask, po->hash_prefix6);
		for (i = 0; i < 16; i++)
			bytes[i] &= mask[i];
	}
	if (po->hash_port) {
		bytes[n++] = (uint8_t)(who->port >> 8);
		bytes[n++] = (uint8_t)who->port;
	}
	return hash_stable(bytes, n);
}

static struct server *
balance_hash_owner(void *order, const struct peer *who)
{
	struct order *o = order;
	unsigned i = owner_of(
	    o, balance_hash_key_of(pool_options(o->pool), who) % BUCKETS);

	return i == NOBODY ? NULL : pool_slot(o->pool, i);
}

static struct server *
balance_hash_next(void *order, const struct peer *who)
{
	struct order *o = order;
	const struct eligible *u = pool_eligible(o->pool);
	uint64_t key = balance_hash_key_of(pool_options(o->pool), who);
	unsigned first = owner_of(o, key % BUCKETS), i = first, k;
	long next;

	for (k = 0; k < RETRIES && i != NOBODY; k++) {
		if (eligible_has(u, i))
			return pool_slot(o->pool, i);
		key = hash_mix(key);
		i = owner_of(o, key % BUCKETS);
	}
	next = eligible_next_around(u, first == NOBODY ? 0 : first);
	return next == ELIGIBLE_NONE ? NULL
				   : pool_slot(o->pool, (unsigned)next);
}

/* ---- life ---- */

static void
balance_hash_stop(void *order)
{
	struct order *o = order;

	free(o->list.one);
	free(o->owner);
	free(o);
}

static void *
balance_hash_start(const struct pool *p)
{
	struct order *o = calloc(1, sizeof(*o));
	unsigned i;

	if (o == NULL)
		return NULL;
	o->pool = p;
	o->owner = malloc(BUCKETS * sizeof(*o->owner));
	if (o->owner == NULL) {
		balance_hash_stop(o);
		return NULL;
	}
	forget_owners(o);
	for (i = 0; i < LOG_STEPS; i++)
		o->log[i] = exact_log(i);
	o->log[LOG_STEPS] = UINT32_C(1) << LOG_BITS;
	if (balance_hash_listed(o) < 0) {
		balance_hash_stop(o);
		return NULL;
	}
	return o;
}

const struct balance balance_hash = {
	.name = "hash",
	.help = "consistent hash of the client's address, weighted",
	.weighted = true,
	.start = balance_hash_start,
	.stop = balance_hash_stop,
	.listed = balance_hash_listed,
	.next = balance_hash_next,
	.owner = balance_hash_owner,
};
