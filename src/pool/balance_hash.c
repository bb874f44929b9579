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
 * computed when a client first needs it, which takes a microsecond or two with
 * a thousand servers, so that a list takes effect at once; after a change of
 * few servers, which are compared with the last owner, when one needs it again.
 * While the owner of a bucket is not eligible, its clients, and only they, try
 * RETRIES other buckets (key = hash_mix(key)) and then take the next eligible
 * server in list order. Each of n equal servers owns BUCKETS/n buckets, give or
 * take sqrt(BUCKETS/n): 0.6 % for two, 1.2 % for ten, 12 % for a thousand. All
 * arithmetic is in integers, so all machines agree. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pool/balance.h"
#include "pool/hash_list.h"

enum { BUCKETS = 1 << 16, RETRIES = 16 };

/* Logarithms: LOG_STEPS entries a doubling, linear between; LOG_BITS digits. */
enum { LOG_STEPS = 4096, LOG_BITS = 26 };

/* Its owner after so many changes of the list; 0: never computed. */
struct bucket {
	uint64_t changes;
	unsigned owner; /* a slot, or NOBODY */
};

struct order {
	const struct pool *pool;
	struct hash_list list;
	struct bucket *bucket;	     /* BUCKETS of them */
	uint32_t log[LOG_STEPS + 1]; /* of 1..2, LOG_BITS fractional digits */
};

#define NOBODY UINT32_MAX

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
hash_is_better(const struct order *o, const struct hash_listed *x, uint64_t ux,
    const struct hash_listed *y, uint64_t uy)
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

/* ---- the table ---- */

static unsigned
balance_hash_find_owner(const struct order *o, unsigned bucket)
{
	const struct hash_listed *x = o->list.one, *past = x + o->list.slots;
	const struct hash_listed *best;
	uint64_t mixed = hash_mix(bucket + UINT64_C(1)), u, most, cost;

	while (x < past && x->weight == 0)
		x++;
	if (x == past)
		return NOBODY;
	best = x;
	most = hash_mix(mixed ^ x->id);
	cost = minus_log(o, most);
	for (x++; x < past; x++) {
		u = hash_mix(mixed ^ x->id);
		if (minus_log_at_least(u) * best->weight > cost * x->weight ||
		    x->weight == 0 || !hash_is_better(o, x, u, best, most))
			continue;
		best = x;
		most = u;
		cost = minus_log(o, u);
	}
	return best->slot;
}

/* The owner of a bucket that was computed when fewer changes had been made: the
 * one of then, or the best of those that have changed; unless the one of then
 * has lost, when all have to be compared. */
static unsigned
balance_hash_follow_changes(
    const struct order *o, unsigned bucket, const struct bucket *b)
{
	const struct hash_list *l = &o->list;
	const struct hash_listed *best = &l->one[b->owner], *x;
	uint64_t most = balance_hash_draw(bucket, best->id), u, n;

	for (n = b->changes; n < l->changes; n++) {
		const struct hash_change *c = &l->change[n % HASH_CHANGES];

		if (c->slot == b->owner && c->lost)
			return balance_hash_find_owner(o, bucket);
		x = &l->one[c->slot];
		if (x->weight == 0 || x == best)
			continue;
		u = balance_hash_draw(bucket, x->id);
		if (hash_is_better(o, x, u, best, most)) {
			best = x;
			most = u;
		}
	}
	return best->slot;
}

/* Following a change costs some times what comparing one server does. */
static unsigned
hash_owner_of(struct order *o, unsigned bucket)
{
	struct bucket *b = &o->bucket[bucket];
	const struct hash_list *l = &o->list;

	if (b->changes == l->changes)
		return b->owner;
	if (b->changes < l->oldest || b->owner == NOBODY ||
	    (l->changes - b->changes) * 8 > l->slots)
		b->owner = balance_hash_find_owner(o, bucket);
	else
		b->owner = balance_hash_follow_changes(o, bucket, b);
	b->changes = l->changes;
	return b->owner;
}

static void
balance_hash_set(void *order, const struct server *s)
{
	struct order *o = order;

	hash_list_note(&o->list, s);
}

static int
balance_hash_listed(void *order, bool all)
{
	struct order *o = order;

	return hash_list_follow(&o->list, all);
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
	unsigned i = hash_owner_of(
	    o, balance_hash_key_of(pool_options(o->pool), who) % BUCKETS);

	return i == NOBODY ? NULL : pool_slot(o->pool, i);
}

static struct server *
balance_hash_next(void *order, const struct peer *who)
{
	struct order *o = order;
	const struct eligible *u = pool_eligible(o->pool);
	uint64_t key = balance_hash_key_of(pool_options(o->pool), who);
	unsigned first = hash_owner_of(o, key % BUCKETS), i = first, k;
	long next;

	for (k = 0; k < RETRIES && i != NOBODY; k++) {
		if (eligible_has(u, i))
			return pool_slot(o->pool, i);
		key = hash_mix(key);
		i = hash_owner_of(o, key % BUCKETS);
	}
	next = eligible_next_around(u, first == NOBODY ? 0 : first);
	return next == ELIGIBLE_NONE ? NULL
				   : pool_slot(o->pool, (unsigned)next);
}

/* As the owner of a bucket is found, but among a set's servers: if the owner is
 * one of them, it is theirs, too. The low digits distinguish what the logarithm
 * does not. */
static uint64_t
balance_hash_cost(void *order, const struct server *s, const struct peer *who)
{
	struct order *o = order;
	unsigned bucket =
	    balance_hash_key_of(pool_options(o->pool), who) % BUCKETS;
	const struct hash_listed *x = &o->list.one[s->slot];
	uint64_t u;

	if (s->slot >= o->list.slots || x->weight == 0)
		return UINT64_MAX;
	u = balance_hash_draw(bucket, x->id);
	return ((minus_log(o, u) << 24) + (~u >> 16 & 0xffffff)) / x->weight;
}

/* ---- life ---- */

static void
balance_hash_stop(void *order)
{
	struct order *o = order;

	hash_list_fini(&o->list);
	free(o->bucket);
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
	o->bucket = calloc(BUCKETS, sizeof(*o->bucket));
	if (o->bucket == NULL || hash_list_init(&o->list, p) < 0) {
		balance_hash_stop(o);
		return NULL;
	}
	for (i = 0; i < LOG_STEPS; i++)
		o->log[i] = exact_log(i);
	o->log[LOG_STEPS] = UINT32_C(1) << LOG_BITS;
	return o;
}

const struct balance balance_hash = {
	.name = "hash",
	.help = "consistent hash of the client's address, weighted",
	.weighted = true,
	.start = balance_hash_start,
	.stop = balance_hash_stop,
	.set = balance_hash_set,
	.listed = balance_hash_listed,
	.next = balance_hash_next,
	.owner = balance_hash_owner,
	.cost = balance_hash_cost,
};
