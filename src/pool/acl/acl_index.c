/* acl_index.c: a path-compressed trie of four bits a level; see acl_index.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/huge.h"
#include "pool/acl/acl_private.h"

enum { STRIDE = 4, BRANCHES = 1 << STRIDE, BEFORE_IP4 = 96 };

struct acl_branch {
	uint32_t entry; /* number of the first entry that covers it, or NONE */
	uint32_t
	    child; /* 0: none; LEAF and an entry; or a node and its depth */
};

struct acl_node {
	struct acl_branch branch[BRANCHES];
};

/* A child is the number of an entry with LEAF set; or the number of a node,
 * which counts from 1, with the node's depth in strides above it. */
#define LEAF	    (UINT32_C(1) << 31)
#define DEPTH_SHIFT 26
#define NUMBER	    ((UINT32_C(1) << DEPTH_SHIFT) - 1)
#define NONE	    UINT32_MAX

void
acl_index_fini(struct acl_index *x)
{
	free(x->nodes);
	free(x->samples);
	free(x->others);
	*x = (struct acl_index){ .nodes = NULL };
}

/* ---- bits ---- */

/* The STRIDE bits of an address that follow its first `depth` bits. */
static unsigned
bits_at(const uint8_t ip[16], unsigned depth)
{
	unsigned byte = ip[depth / 8];

	return depth % 8 == 0 ? byte >> STRIDE : byte & (BRANCHES - 1);
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
smaller_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The depth of the node in which the entry's prefix ends. */
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
acl_entry_covers(const struct acl_entry *a, const struct acl_entry *b)
{
	unsigned bits = acl_prefix_length(a->mask);

	return bits <= acl_prefix_length(b->mask) &&
	    bits <= common_bits(a->ip, b->ip);
}

/* ---- adding ---- */

/* Makes room for another node. Returns 0, or -1 with errno ENOMEM. */
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

/* Enters entry `n` into the branches that it covers in the node where its
 * prefix ends. Branches that an earlier entry covers keep that. */
static void
end_in(struct acl_node *node, const struct acl_entry *e, uint32_t n)
{
	unsigned end = end_depth(e), bits = acl_prefix_length(e->mask) - end;
	unsigned i = bits_at(e->ip, end), past = i + (BRANCHES >> bits);

	for (; i < past; i++)
		if (node->branch[i].entry == NONE)
			node->branch[i].entry = n;
}

/* Puts a new node of that depth between *at and what it leads to, which
 * includes entry `sample`. reserve_node() has made room for it. */
static void
put_node_above(struct acl_index *x, const struct acl_entry *entries,
    uint32_t *at, unsigned depth, uint32_t sample)
{
	const struct acl_entry *e = &entries[sample];
	uint32_t number = ++x->count;
	struct acl_node *node = &x->nodes[number];
	unsigned i;

	for (i = 0; i < BRANCHES; i++)
		node->branch[i] = (struct acl_branch){ .entry = NONE };
	if (*at & LEAF && end_depth(e) == depth)
		end_in(node, e, sample);
	else
		node->branch[bits_at(e->ip, depth)].child = *at;
	x->samples[number] = sample;
	*at = number | (uint32_t)(depth / STRIDE) << DEPTH_SHIFT;
}

/* Adds entry `n` to the tree, below node `at`. An earlier entry that covers it
 * has the same effect, and more: then it is not needed. */
static void
add_entry(struct acl_index *x, const struct acl_entry *entries, uint32_t *at,
    uint32_t n)
{
	const struct acl_entry *e = &entries[n];
	unsigned end = end_depth(e), depth, fork;
	struct acl_branch *branch;
	uint32_t sample;

	while (*at != 0) {
		sample = *at & NUMBER;
		if (*at & LEAF) {
			if (acl_entry_covers(&entries[sample], e))
				return;
			depth = end_depth(&entries[sample]);
		} else {
			sample = x->samples[sample];
			depth = depth_of(*at);
		}
		/* the first level on which the two differ or one of them
		 * ends */
		fork = common_bits(e->ip, entries[sample].ip);
		fork =
		    smaller_of(smaller_of(fork / STRIDE * STRIDE, end), depth);
		if (*at & LEAF || fork < depth)
			put_node_above(x, entries, at, fork, sample);
		branch = x->nodes[*at & NUMBER].branch;
		if (fork == end) {
			end_in(&x->nodes[*at & NUMBER], e, n);
			return;
		}
		branch += bits_at(e->ip, fork);
		if (branch->entry != NONE)
			return;
		at = &branch->child;
	}
	*at = LEAF | n;
}

int
acl_index_add(struct acl_index *x, const struct acl_entry *entries, uint32_t n)
{
	const struct acl_entry *e = &entries[n];
	uint32_t *others;

	if (n >= ACL_INDEX_MAX) {
		errno = ENOMEM;
		return -1;
	}
	if (e->family == ACL_COUNTRY) /* has an index of its own */
		return 0;
	if (e->family == AF_UNIX || has_gap(e)) {
		others = array_grow(x->others, &x->others_room, sizeof(*others),
		    x->others_count);
		if (others == NULL)
			return -1;
		x->others = others;
		x->others[x->others_count++] = n;
		return 0;
	}
	if (reserve_node(x) < 0)
		return -1;
	add_entry(x, entries, e->family == AF_INET ? &x->root4 : &x->root6, n);
	return 0;
}

/* ---- finding ---- */

/* The bits of skipped levels are not compared on the way down, so the path may
 * be wrong. Then the entry found does not match, and neither does any below
 * it. */
static uint32_t
find_below(const struct acl_index *x, const struct acl_entry *entries,
    uint32_t at, uint32_t best, const struct peer *who)
{
	const struct acl_branch *branch;
	uint32_t n;

	while (at != 0 && !(at & LEAF)) {
		branch = x->nodes[at & NUMBER].branch +
		    bits_at(who->ip, depth_of(at));
		if (branch->entry < best) {
			if (!acl_matches(&entries[branch->entry], who))
				return best;
			best = branch->entry;
		}
		at = branch->child;
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
