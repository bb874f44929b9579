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
 * computed when a client first needs it after a change of the list, which takes
 * a microsecond or two with a thousand servers, so that a list takes effect at
 * once. While the owner of a bucket is not eligible, its clients, and only
 * they, try RETRIES other buckets (key = hash_mix(key)) and then take the next
 * eligible server in list order. Each of n equal servers owns BUCKETS/n
 * buckets, give or take sqrt(BUCKETS/n): 0.6 % for two, 1.2 % for ten, 12 % for
 * a thousand. All arithmetic is in integers, so all machines agree. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "pool/balance.h"
#include "pool/pool.h"

enum { BUCKETS = 1 << 16, RETRIES = 16 };

/* Logarithms: LOG_STEPS entries a doubling, linear between; LOG_BITS digits. */
enum { LOG_STEPS = 4096, LOG_BITS = 26 };

/* A server with a weight has a claim to buckets. */
struct claim {
	uint64_t id;
	unsigned weight; /* 0: not listed */
	unsigned slot;
};

struct order {
	const struct pool *pool;
	struct claim *claim; /* by slot */
	unsigned slots;
	uint32_t room;
	uint32_t *owner; /* BUCKETS of them: slots, NOBODY or UNKNOWN */
	uint32_t log[LOG_STEPS + 1]; /* of 1..2, LOG_BITS fractional digits */
};

#define UNKNOWN UINT32_MAX
#define NOBODY	(UINT32_MAX - 1)

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
hash_is_better(const struct order *o, const struct claim *x, uint64_t ux,
    const struct claim *y, uint64_t uy)
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

/* The slot of the server that owns the bucket, by weighted rendezvous hashing:
 * that with the least cost, its logarithm divided by its weight. */
static uint32_t
balance_hash_find_owner(const struct order *o, unsigned bucket)
{
	const struct claim *x = o->claim, *past = x + o->slots;
	const struct claim *best;
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

static uint32_t
hash_owner_of(struct order *o, unsigned bucket)
{
	uint32_t *owner = &o->owner[bucket];

	if (*owner == UNKNOWN)
		*owner = balance_hash_find_owner(o, bucket);
	return *owner;
}

/* ---- the list ---- */

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

/* The smallest of its addresses', whose order is that of a name server. */
static uint64_t
hash_text_of(const struct server *s)
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

/* The servers in the order of their texts. */
static unsigned
hash_sort(const struct order *o, struct sortable *all)
{
	unsigned slot, n = 0;

	for (slot = SLOTS_SPECIAL; slot < o->slots; slot++) {
		const struct server *s = pool_slot(o->pool, slot);

		o->claim[slot] = (struct claim){ .slot = slot };
		if (s->present)
			all[n++] = (struct sortable){ hash_text_of(s), slot };
	}
	qsort(all, n, sizeof(*all), sortable_compare);
	return n;
}

/* Duplicates are numbered. */
static void
hash_number(struct order *o, const struct sortable *all, unsigned n)
{
	uint64_t text, before = 0;
	unsigned i, weight;

	for (i = 0; i < n; i++) {
		text = all[i].text;
		if (i > 0 && text != all[i - 1].text)
			before = 0;
		weight = pool_weight(
		    o->pool, pool_slot(o->pool, all[i].slot));
		o->claim[all[i].slot] =
		    (struct claim){ .id = before > 0 ? hash_mix(text + before)
						     : text,
			    .weight = weight,
			    .slot = all[i].slot };
		before += weight > 0;
	}
}

/* The list of servers has changed: their claims are made anew, and no bucket
 * has a known owner. */
static int
balance_hash_listed(void *order)
{
	struct order *o = order;
	unsigned slots = pool_slots(o->pool);
	struct sortable *all = malloc(slots * sizeof(*all));
	struct claim *claim =
	    array_grow(o->claim, &o->room, sizeof(*claim), slots);

	if (claim != NULL)
		o->claim = claim;
	if (claim == NULL || all == NULL) {
		free(all);
		return -1;
	}
	o->slots = slots;
	hash_number(o, all, hash_sort(o, all));
	free(all);
	memset(o->owner, 0xff, BUCKETS * sizeof(*o->owner)); /* UNKNOWN */
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
	const struct claim *x = &o->claim[s->slot];
	uint64_t u;

	if (s->slot >= o->slots || x->weight == 0)
		return UINT64_MAX;
	u = balance_hash_draw(bucket, x->id);
	return ((minus_log(o, u) << 24) + (~u >> 16 & 0xffffff)) / x->weight;
}

/* ---- life ---- */

static void
balance_hash_stop(void *order)
{
	struct order *o = order;

	free(o->claim);
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
	if (o->owner == NULL || balance_hash_listed(o) < 0) {
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
	.listed = balance_hash_listed,
	.next = balance_hash_next,
	.owner = balance_hash_owner,
	.cost = balance_hash_cost,
};
