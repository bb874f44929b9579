/* offload.h: does what the offload of a frame leaves to others.
 *
 * Needed where more of a frame changes than its MACs: a packet that goes into a
 * tunnel must be whole, and one packet. Pure. Bytes come from strangers: what
 * is inconsistent is refused. */
#ifndef PEN_DSR_OFFLOAD_H
#define PEN_DSR_OFFLOAD_H

#include <stddef.h>

#include "dsr/link/link.h"

/* Computes the checksum that is missing, and takes that out of the offload.
 * True also when none is missing; false when the offload is none of this frame.
 * Of a merged frame that is the sum of all: take it apart instead. */
bool offload_finish(struct link_frame *f);

/* How many packets a frame is: 1 when nothing was merged; 0 when it cannot be
 * taken apart. */
unsigned offload_segments(const struct link_frame *f);
/* Writes the i-th of them, a whole frame with its checksums done, to `out`,
 * which is none of the frame's own memory. TCP as a card does it (RFC 9293):
 * FIN and PSH in the last piece, CWR (RFC 3168) in the first; the id of IPv4
 * counts up. Returns its length; 0 when it does not fit into `room`, or when
 * there is no such piece. */
size_t offload_segment(
    unsigned char *out, size_t room, const struct link_frame *f, unsigned i);

#endif
