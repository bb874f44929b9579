/* xdp_tree.h: the program of the fast path whose bytes are in the sources, in a
 * build that has compiled its own. */
#ifndef PEN_TEST_XDP_TREE_H
#define PEN_TEST_XDP_TREE_H

#include "dsr/xdp/xdp_program.h"

/* False when both are equal, as they are of one version of clang. */
bool xdp_tree_differs(void);
/* As xdp_program_load(). */
int xdp_tree_load(struct xdp_program *p, const struct xdp_program_options *o);

#endif
