/* balance_p2c.c: of two eligible servers drawn at random, the one with fewer
 * connections relative to its weight (Mitzenmacher 2001, "The power of two
 * choices").
 *
 * Servers are drawn in proportion to their weights, so the weights are shares
 * even if no connection lasts. A Fenwick tree (1994, "A new data structure for
 * cumulative frequency tables") sums the weights: a draw takes O(log n), and
 * O(1) while all weigh 1. */
#include "config.h"

#include <stdlib.h>

#include "base/hash.h"
#include "pool/balance.h"

struct order {
	const struct pool *pool;
	uint64_t state; /* of the splitmix64 generator */
	unsigned
	    *weight;   /* of each entered server, by number; 0 of the others */
	uint64_t *sum; /* [i]: of the weights i - (i & -i) up to i - 1 */
	unsigned room; /* numbers below it fit; a power of two, or 0 */
	uint64_t total;
};

#define NOBODY UINT32_MAX
enum { DRAWS = 3 };
/* Between the states of the generator (Steele et al., OOPSLA 2014). */
#define STEP UINT64_C(0x9e3779b97f4a7c15)

static void
p2c_renew(void *order)
{
	struct order *o = order;
	struct hash_key seed;

	hash_key_init(&seed);
	o->state = seed.k0;
}

static void *
p2c_start(const struct pool *p)
{
	struct order *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	p2c_renew(o);
	o->pool = p;
	return o;
}

static void
p2c_stop(void *order)
{
	struct order *o = order;

	free(o->weight);
	free(o->sum);
	free(o);
}

/* ---- weights ---- */

static void
add_weight(struct order *o, unsigned number, uint64_t weight)
{
	unsigned i;

	for (i = number + 1; i <= o->room; i += i & -i)
		o->sum[i] += weight;
	o->total += weight;
}

/* The server to which unit `n` of the total belongs. */
static unsigned
p2c_server_at(const struct order *o, uint64_t n)
{
	unsigned number = 0, step;

	for (step = o->room; step > 0; step /= 2)
		if (number + step <= o->room && o->sum[number + step] <= n) {
			number += step;
			n -= o->sum[number];
		}
	return number;
}

/* Makes room for `count` weights: the tree of sums is built anew when it
 * grows. */
static int
p2c_reserve(struct order *o, unsigned count)
{
	unsigned room = o->room > 0 ? o->room : 16, i;
	unsigned *weight;
	uint64_t *sum;

	while (room < count)
		room *= 2;
	if (room == o->room)
		return 0;
	weight = calloc(room, sizeof(*weight));
	sum = calloc(room + 1u, sizeof(*sum));
	if (weight == NULL || sum == NULL) {
		free(weight);
		free(sum);
		return -1;
	}
	for (i = 0; i < o->room; i++)
		weight[i] = o->weight[i];
	free(o->weight);
	free(o->sum);
	o->weight = weight;
	o->sum = sum;
	o->room = room;
	o->total = 0;
	for (i = 0; i < room; i++)
		if (weight[i] > 0)
			add_weight(o, i, weight[i]);
	return 0;
}

static int
p2c_insert(void *order, struct server *s)
{
	struct order *o = order;

	if (p2c_reserve(o, s->slot + 1) < 0)
		return -1;
	o->weight[s->slot] = pool_weight(o->pool, s);
	add_weight(o, s->slot, o->weight[s->slot]);
	return 0;
}

/* Takes out the weight with which it entered: it may have another one now. */
static void
p2c_remove(void *order, struct server *s)
{
	struct order *o = order;

	add_weight(o, s->slot, -(uint64_t)o->weight[s->slot]);
	o->weight[s->slot] = 0;
}

/* ---- choosing ---- */

/* Draw `i`, 1 to DRAWS, of this choice: a number below `n`. */
static uint64_t
p2c_draw(const struct order *o, unsigned i, uint64_t n)
{
	uint64_t x = hash_mix(o->state + i * STEP);

	return n <= UINT32_MAX ? (x >> 32) * n >> 32 : x % n;
}

/* Draws any member of the set but the one at `position`. */
static unsigned
draw_other(const struct order *o, const struct eligible *u, unsigned position)
{
	uint64_t ahead = 1 + p2c_draw(o, 2, u->count - 1u);

	return u->dense[(position + ahead) % u->count];
}

/* Draws any server but `other`, by weight; with NOBODY, any server. */
static unsigned
draw_weighted(const struct order *o, unsigned other)
{
	uint64_t before = 0, n;
	unsigned i;

	if (other == NOBODY)
		return p2c_server_at(o, p2c_draw(o, 1, o->total));
	for (i = other; i > 0; i -= i & -i)
		before += o->sum[i];
	n = p2c_draw(o, 2, o->total - o->weight[other]);
	return p2c_server_at(o, n < before ? n : n + o->weight[other]);
}

/* A server that starts slowly is passed over as often as its weight lacks. */
static bool
is_passed_over(const struct order *o, const struct server *s)
{
	return s->cold > 0 && p2c_draw(o, 3, SERVER_SHARES) < s->cold;
}

/* Draws two servers by weight, and chooses the one with fewer connections for
 * its weight. */
static struct server *
p2c_next(void *order, const struct peer *who)
{
	struct order *o = order;
	const struct eligible *u = pool_eligible(o->pool);
	bool equal = o->total == u->count;
	struct server *a, *b;
	unsigned i, k;

	(void)who;
	if (u->count == 0)
		return NULL;
	i = equal ? u->dense[p2c_draw(o, 1, u->count)]
		  : draw_weighted(o, NOBODY);
	a = pool_slot(o->pool, i);
	if (u->count == 1)
		return a;
	k = equal ? draw_other(o, u, u->position[i]) : draw_weighted(o, i);
	b = pool_slot(o->pool, k);
	if (is_passed_over(o, a) || is_passed_over(o, b))
		return a->cold > b->cold ? b : a;
	return pool_load(b) * o->weight[i] < pool_load(a) * o->weight[k] ? b
									 : a;
}

/* The next choice has other draws. */
static void
p2c_take(void *order, struct server *s)
{
	struct order *o = order;

	(void)s;
	o->state += DRAWS * STEP;
}

/* The cost of a server: in a set all members are compared. */
static uint64_t
p2c_cost(void *order, const struct server *s, const struct peer *who)
{
	const struct order *o = order;

	(void)who;
	return (pool_load(s) << 20) * SERVER_SHARES / server_share(s) /
	    o->weight[s->slot];
}

const struct balance balance_p2c = {
	.name = "p2c",
	.help = "the less busy of two servers drawn at random",
	.weighted = true,
	.start = p2c_start,
	.stop = p2c_stop,
	.renew = p2c_renew,
	.enter = p2c_insert,
	.leave = p2c_remove,
	.next = p2c_next,
	.take = p2c_take,
	.cost = p2c_cost,
};
