/* xdp_fast.h: the fast path of a link on Linux: a program at the driver (XDP)
 * that forwards the frames of offloaded flows and passes all others to the
 * kernel, which gives them to the link's socket and to its own stack. */
#ifndef PEN_DSR_XDP_FAST_H
#define PEN_DSR_XDP_FAST_H

#include "dsr/link/link.h"

/* Gives an open link a fast path, as link_filter.fast wants it: that of the
 * past, or a new one. It is closed with the link. Returns 0, or -1 with a full
 * message: the link works without. */
int xdp_fast_open(struct link *l, const struct link_filter *f, struct error *e);
/* The version of libbpf. */
const char *xdp_library_version(void);

#endif
