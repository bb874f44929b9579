/* offload.h: does what the offload of a frame leaves to others.
 *
 * Needed where more of a frame changes than its MACs: a packet that goes into a
 * tunnel must be whole, and one packet. Pure. Bytes come from strangers: what
 * is inconsistent is refused. */
#ifndef PEN_DSR_OFFLOAD_H
#define PEN_DSR_OFFLOAD_H

#include <stddef.h>

#include "dsr/link/link.h"

/* Computes the checksum that is missing, and removes that from the offload.
 * True also when none is missing; false when the offload does not fit the
 * frame. Of a GSO frame that is the sum of all: segment it instead. */
bool offload_finish(struct link_frame *f);

/* How many segments a frame has: 1 if it is one packet; 0 if it cannot be
 * segmented. */
unsigned offload_segments(const struct link_frame *f);
/* Writes the i-th segment of a GSO frame, a whole frame with its checksums
 * done, to `out`, which does not overlap the frame. TCP as a card does it (RFC
 * 9293): FIN and PSH in the last segment, CWR (RFC 3168) in the first; the id
 * of IPv4 counts up. Returns its length; 0 when it does not fit into `room`, or
 * when there is no such segment. */
size_t offload_segment(
    unsigned char *out, size_t room, const struct link_frame *f, unsigned i);

#endif
