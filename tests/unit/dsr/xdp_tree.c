/* xdp_tree.c: the program whose bytes are in the sources, beside the one that
 * this build has compiled. */
#include "config.h"

#include <string.h>

#include "dsr/xdp/xdp_program_built.inc"
#undef PEN_DSR_XDP_PROGRAM_BYTES_H

struct object {
	const unsigned char *bytes;
	size_t size;
};
#define OBJECT(array) { array, sizeof(array) }

static const struct object built[] = { OBJECT(xdp_program_plain),
	OBJECT(xdp_program_tags) };

#define xdp_program_plain   xdp_tree_plain
#define xdp_program_tags    xdp_tree_tags
#define xdp_program_load    xdp_tree_load
#define xdp_program_set_mac xdp_tree_set_mac
#define xdp_program_close   xdp_tree_close
#include "dsr/xdp/xdp_program_bytes.h"

/* Both have one include guard, so it takes these. */
#include "dsr/xdp/xdp_program.c"

#include "unit/dsr/xdp_tree.h"

static const struct object tree[] = { OBJECT(xdp_program_plain),
	OBJECT(xdp_program_tags) };

static bool
differ(const struct object *a, const struct object *b)
{
	return a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0;
}

bool
xdp_tree_differs(void)
{
	return differ(&built[0], &tree[0]) || differ(&built[1], &tree[1]);
}
