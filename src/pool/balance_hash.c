/* balance_hash.c: a consistent hash of the client's address.
 *
 * A table of SLOTS slots as Maglev has (Eisenbud et al., NSDI 2016, 3.4), but
 * each slot is filled by weighted rendezvous (Thaler, Ravishankar 1998): of all
 * listed servers the one with the smallest cost(slot, server) owns it.
 *
 *     id(server)  = hash_stable("ADDRESS:PORT" as text), the n-th server with
 *                   the same text: hash_mix(id + n)
 *     u           = hash_mix(hash_mix(slot + 1) ^ id)
 *     cost        = -log2(u / 2^64) / weight; of equal ones the greater u
 *     key(client) = hash_stable(16 address bytes, IPv4 mapped, IPv6 cut to its
 *                   prefix [, 2 port bytes, high first])
 *     slot        = key mod SLOTS
 *
 * So the table depends on the list alone, and when a server is added or removed
 * exactly the slots it gains or had change hands. While the owner of a slot
 * may not be chosen its clients, and only they, draw again (RETRIES times, key =
 * hash_mix(key)), then take the next usable server in list order. With n
 * equal servers each owns SLOTS/n slots give or take sqrt(SLOTS/n): 0.6 % for
 * two, 1.2 % for ten, 12 % for a thousand. Integers only: all machines agree. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pool/balance.h"

enum { SLOTS = 1 << 16, RETRIES = 16 };

/* Logarithms: LOG_STEPS entries a doubling, linear between; LOG_BITS digits. */
enum { LOG_STEPS = 4096, LOG_BITS = 26 };

struct listed {
	uint64_t id;
	unsigned weight; /* 0: owns nothing */
};

struct order {
	const struct pool *pool;
	struct listed *list; /* the servers as the table knows them */
	unsigned count;
	unsigned *owner;	     /* SLOTS of them; index, or NOBODY */
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

static uint64_t
draw(unsigned slot, uint64_t id)
{
	return hash_mix(hash_mix(slot + UINT64_C(1)) ^ id);
}

/* Whether server `a` of the list has a better claim to the slot than `b`. */
static bool
is_better(const struct order *o, unsigned slot, unsigned a, unsigned b)
{
	const struct listed *x = &o->list[a], *y = &o->list[b];
	uint64_t ux = draw(slot, x->id), uy = draw(slot, y->id), cx, cy;

	if (x->weight != y->weight) {
		cx = minus_log(o, ux) * y->weight;
		cy = minus_log(o, uy) * x->weight;
		if (cx != cy)
			return cx < cy;
	}
	if (ux != uy)
		return ux > uy;
	return x->id != y->id ? x->id > y->id : a < b;
}

/* ---- the table ---- */

/* Server `i` claims what it has a better claim to. */
static void
claim(struct order *o, unsigned i)
{
	unsigned slot;

	if (o->list[i].weight == 0)
		return;
	for (slot = 0; slot < SLOTS; slot++)
		if (o->owner[slot] == NOBODY ||
		    is_better(o, slot, i, o->owner[slot]))
			o->owner[slot] = i;
}

/* Gives the slots of server `i`, which may have less right to them now, to who
 * has the best. */
static void
release(struct order *o, unsigned i)
{
	unsigned slot, k;

	for (slot = 0; slot < SLOTS; slot++) {
		if (o->owner[slot] != i)
			continue;
		o->owner[slot] = NOBODY;
		for (k = 0; k < o->count; k++)
			if (o->list[k].weight > 0 &&
			    (o->owner[slot] == NOBODY ||
				is_better(o, slot, k, o->owner[slot])))
				o->owner[slot] = k;
	}
}

static int
compare_ids(const void *a, const void *b)
{
	const struct listed *const *x = a, *const *y = b;

	if ((*x)->id != (*y)->id)
		return (*x)->id < (*y)->id ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Tells servers with the same address apart by their order in the list. */
static int
number_twins(struct listed *list, unsigned count)
{
	struct listed **by_id = malloc((count + 1) * sizeof(struct listed *));
	uint64_t last = 0, twins = 0;
	unsigned i, n = 0;

	if (by_id == NULL)
		return -1;
	for (i = 0; i < count; i++)
		if (list[i].weight > 0)
			by_id[n++] = &list[i];
	qsort(by_id, n, sizeof(struct listed *), compare_ids);
	for (i = 0; i < n; i++) {
		twins = i > 0 && by_id[i]->id == last ? twins + 1 : 0;
		last = by_id[i]->id;
		if (twins > 0)
			by_id[i]->id = hash_mix(last + twins);
	}
	free(by_id);
	return 0;
}

static struct listed *
read_list(const struct pool *p, unsigned count)
{
	struct listed *list = calloc(count + 1u, sizeof(*list));
	char text[ADDR_TEXT_MAX];
	unsigned i;

	if (list == NULL)
		return NULL;
	for (i = 0; i < count; i++) {
		const struct server *s = pool_server(p, i);

		if (!s->present)
			continue;
		list[i].weight = pool_weight(p, s);
		addr_format(&s->addrs.addr[0], text);
		list[i].id = hash_stable(text, strlen(text));
	}
	if (number_twins(list, count) < 0) {
		free(list);
		return NULL;
	}
	return list;
}

static int
listed(void *order)
{
	struct order *o = order;
	unsigned count = pool_count(o->pool), i;
	struct listed *new = read_list(o->pool, count), *old = o->list;
	unsigned old_count = o->count;

	if (new == NULL)
		return -1;
	o->list = new;
	o->count = count;
	/* First those that lose, then those that win: each sees the others as
	 * they are now. */
	for (i = 0; i < old_count; i++)
		if (i >= count || new[i].id != old[i].id ||
		    new[i].weight < old[i].weight)
			release(o, i);
	for (i = 0; i < count; i++)
		if (i >= old_count || new[i].id != old[i].id ||
		    new[i].weight > old[i].weight)
			claim(o, i);
	free(old);
	return 0;
}

/* ---- choosing ---- */

static uint64_t
key_of(const struct pool_options *po, const struct peer *who)
{
	uint8_t bytes[18];
	size_t n = 16;
	unsigned bits = po->hash_prefix6, i;

	memcpy(bytes, who->ip, 16);
	if (who->family == AF_INET6)
		for (i = 0; i < 16; i++, bits -= bits < 8 ? bits : 8)
			if (bits < 8)
				bytes[i] &= (uint8_t)(0xff00u >> bits);
	if (po->hash_port) {
		bytes[n++] = (uint8_t)(who->port >> 8);
		bytes[n++] = (uint8_t)who->port;
	}
	return hash_stable(bytes, n);
}

static struct server *
owner(void *order, const struct peer *who)
{
	struct order *o = order;
	unsigned i = o->owner[key_of(pool_options(o->pool), who) % SLOTS];

	return i == NOBODY ? NULL : pool_server(o->pool, i);
}

static struct server *
choose(void *order, const struct peer *who)
{
	struct order *o = order;
	const struct usable *u = pool_usable(o->pool);
	uint64_t key = key_of(pool_options(o->pool), who);
	unsigned first = o->owner[key % SLOTS], i = first, k;
	long next;

	for (k = 0; k < RETRIES && i != NOBODY; k++) {
		if (usable_has(u, i))
			return pool_server(o->pool, i);
		key = hash_mix(key);
		i = o->owner[key % SLOTS];
	}
	next = usable_next_around(u, first == NOBODY ? 0 : first);
	return next == USABLE_NONE ? NULL
				   : pool_server(o->pool, (unsigned)next);
}

/* ---- life ---- */

static void
stop(void *order)
{
	struct order *o = order;

	free(o->list);
	free(o->owner);
	free(o);
}

static void *
start(const struct pool *p)
{
	struct order *o = calloc(1, sizeof(*o));
	unsigned i;

	if (o == NULL)
		return NULL;
	o->pool = p;
	o->owner = malloc(SLOTS * sizeof(*o->owner));
	if (o->owner == NULL) {
		stop(o);
		return NULL;
	}
	for (i = 0; i < SLOTS; i++)
		o->owner[i] = NOBODY;
	for (i = 0; i < LOG_STEPS; i++)
		o->log[i] = exact_log(i);
	o->log[LOG_STEPS] = UINT32_C(1) << LOG_BITS;
	if (listed(o) < 0) {
		stop(o);
		return NULL;
	}
	return o;
}

const struct balance balance_hash = {
	.name = "hash",
	.help = "by the client's address, consistently, weights honoured",
	.weighted = true,
	.start = start,
	.stop = stop,
	.listed = listed,
	.choose = choose,
	.owner = owner,
};
