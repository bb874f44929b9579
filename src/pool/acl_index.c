/* acl_index.c: a path-compressed trie of four bits a level; see acl_index.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/huge.h"
#include "pool/acl_private.h"

enum { STRIDE = 4, SLOTS = 1 << STRIDE, BEFORE_IP4 = 96 };

struct acl_slot {
	uint32_t entry; /* the first that covers the slot, or NONE */
	uint32_t child; /* 0: none; LEAF | an entry; a node and where it is */
};

struct acl_node {
	struct acl_slot slot[SLOTS];
};

/* A child is either the number of an entry, with LEAF, or that of a node below
 * the number of its first bit, in strides. Nodes count from 1. */
#define LEAF	    (UINT32_C(1) << 31)
#define DEPTH_SHIFT 26
#define NUMBER	    ((UINT32_C(1) << DEPTH_SHIFT) - 1)
#define NONE	    UINT32_MAX

void
acl_index_init(struct acl_index *x)
{
	*x = (struct acl_index){ .nodes = NULL };
}

void
acl_index_fini(struct acl_index *x)
{
	free(x->nodes);
	free(x->samples);
	free(x->others);
	acl_index_init(x);
}

/* ---- bits ---- */

/* The STRIDE bits of an address behind the first `depth` ones. */
static unsigned
bits_at(const uint8_t ip[16], unsigned depth)
{
	unsigned byte = ip[depth / 8];

	return depth % 8 == 0 ? byte >> STRIDE : byte & (SLOTS - 1);
}

static unsigned
depth_of(uint32_t child)
{
	return (child >> DEPTH_SHIFT) * STRIDE;
}

static unsigned
common_bits(const uint8_t a[16], const uint8_t b[16])
{
	unsigned i = 0;

	while (i < 16 && a[i] == b[i])
		i++;
	return i == 16
	    ? 128
	    : 8 * i + (unsigned)__builtin_clz((unsigned)(a[i] ^ b[i]) << 24);
}

static unsigned
smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Where the node begins in which the entry ends. */
static unsigned
end_depth(const struct acl_entry *e)
{
	unsigned bits = acl_prefix_length(e->mask);
	unsigned root = e->family == AF_INET ? BEFORE_IP4 : 0;

	return bits <= root ? root : (bits - 1) / STRIDE * STRIDE;
}

static bool
has_gap(const struct acl_entry *e)
{
	unsigned i, set = 0;

	for (i = 0; i < sizeof(e->mask); i++)
		set += (unsigned)__builtin_popcount(e->mask[i]);
	return set != acl_prefix_length(e->mask);
}

static bool
covers(const struct acl_entry *a, const struct acl_entry *b)
{
	unsigned bits = acl_prefix_length(a->mask);

	return bits <= acl_prefix_length(b->mask) &&
	    bits <= common_bits(a->ip, b->ip);
}

/* ---- adding ---- */

static int
reserve_node(struct acl_index *x)
{
	uint32_t room = x->room > 0 ? 2 * x->room : 64;
	struct acl_node *nodes;
	uint32_t *samples;

	if (x->count + 1 < x->room)
		return 0;
	if (room > ACL_INDEX_MAX) {
		errno = ENOMEM;
		return -1;
	}
	nodes = huge_grow(
	    x->nodes, x->room * sizeof(*nodes), room * sizeof(*nodes));
	if (nodes == NULL)
		return -1;
	x->nodes = nodes;
	samples = realloc(x->samples, room * sizeof(*samples));
	if (samples == NULL)
		return -1;
	x->samples = samples;
	x->room = room;
	return 0;
}

/* Fills the slots of the node in which entry `n` ends; earlier entries stay. */
static void
end_in(struct acl_node *node, const struct acl_entry *e, uint32_t n)
{
	unsigned end = end_depth(e), bits = acl_prefix_length(e->mask) - end;
	unsigned i = bits_at(e->ip, end), past = i + (SLOTS >> bits);

	for (; i < past; i++)
		if (node->slot[i].entry == NONE)
			node->slot[i].entry = n;
}

/* Puts a node at `depth` above what is at *at, of which entry `sample` is one;
 * there is room for it. */
static void
put_node_above(struct acl_index *x, const struct acl_entry *entries,
    uint32_t *at, unsigned depth, uint32_t sample)
{
	const struct acl_entry *e = &entries[sample];
	uint32_t number = ++x->count;
	struct acl_node *node = &x->nodes[number];
	unsigned i;

	for (i = 0; i < SLOTS; i++)
		node->slot[i] = (struct acl_slot){ .entry = NONE };
	if (*at & LEAF && end_depth(e) == depth)
		end_in(node, e, sample);
	else
		node->slot[bits_at(e->ip, depth)].child = *at;
	x->samples[number] = sample;
	*at = number | (uint32_t)(depth / STRIDE) << DEPTH_SHIFT;
}

static void
add_below(struct acl_index *x, const struct acl_entry *entries, uint32_t *at,
    uint32_t n)
{
	const struct acl_entry *e = &entries[n];
	unsigned end = end_depth(e), depth, fork;
	struct acl_slot *slot;
	uint32_t sample;

	while (*at != 0) {
		sample = *at & NUMBER;
		if (*at & LEAF) {
			if (covers(&entries[sample], e))
				return;
			depth = end_depth(&entries[sample]);
		} else {
			sample = x->samples[sample];
			depth = depth_of(*at);
		}
		fork = common_bits(e->ip, entries[sample].ip);
		fork = smaller(smaller(fork / STRIDE * STRIDE, end), depth);
		if (*at & LEAF || fork < depth)
			put_node_above(x, entries, at, fork, sample);
		slot = x->nodes[*at & NUMBER].slot;
		if (fork == end) {
			end_in(&x->nodes[*at & NUMBER], e, n);
			return;
		}
		slot += bits_at(e->ip, fork);
		if (slot->entry != NONE)
			return;
		at = &slot->child;
	}
	*at = LEAF | n;
}

static int
add_other(struct acl_index *x, uint32_t n)
{
	uint32_t room = x->others_room > 0 ? 2 * x->others_room : 8;
	uint32_t *others;

	if (x->others_count == x->others_room) {
		others = realloc(x->others, room * sizeof(*others));
		if (others == NULL)
			return -1;
		x->others = others;
		x->others_room = room;
	}
	x->others[x->others_count++] = n;
	return 0;
}

int
acl_index_add(struct acl_index *x, const struct acl_entry *entries, uint32_t n)
{
	const struct acl_entry *e = &entries[n];

	if (n >= ACL_INDEX_MAX) {
		errno = ENOMEM;
		return -1;
	}
	if (e->family == AF_UNIX || has_gap(e))
		return add_other(x, n);
	if (reserve_node(x) < 0)
		return -1;
	add_below(x, entries, e->family == AF_INET ? &x->root4 : &x->root6, n);
	return 0;
}

/* ---- finding ---- */

/* Stretches that were left out are not compared on the way down: an entry that
 * was found on a wrong way does not match, and then nothing below it does. */
static uint32_t
find_below(const struct acl_index *x, const struct acl_entry *entries,
    uint32_t at, uint32_t best, const struct peer *who)
{
	const struct acl_slot *slot;
	uint32_t n;

	while (at != 0 && !(at & LEAF)) {
		slot =
		    x->nodes[at & NUMBER].slot + bits_at(who->ip, depth_of(at));
		if (slot->entry < best) {
			if (!acl_matches(&entries[slot->entry], who))
				return best;
			best = slot->entry;
		}
		at = slot->child;
	}
	n = at & NUMBER;
	return at != 0 && n < best && acl_matches(&entries[n], who) ? n : best;
}

uint32_t
acl_index_find(const struct acl_index *x, const struct acl_entry *entries,
    uint32_t count, const struct peer *who)
{
	uint32_t best = count, i;

	if (who->family == AF_INET)
		best = find_below(x, entries, x->root4, best, who);
	else if (who->family == AF_INET6)
		best = find_below(x, entries, x->root6, best, who);
	for (i = 0; i < x->others_count && x->others[i] < best; i++)
		if (acl_matches(&entries[x->others[i]], who))
			return x->others[i];
	return best;
}
