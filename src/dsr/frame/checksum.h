/* checksum.h: completes what senders on the same machine leave to a network
 * card that frames never meet: the field for the checksum of TCP or UDP
 * contains the sum of the pseudo header alone (Linux, CHECKSUM_PARTIAL).
 *
 * For links that do not report which frames those are. Pure; bytes come from
 * strangers. */
#ifndef PEN_DSR_CHECKSUM_H
#define PEN_DSR_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the checksum into an Ethernet frame when that field has this very
 * value and is not right by chance. One frame in 65,536 has it otherwise; only
 * those are summed up. Returns whether it has. Fragments are not changed: their
 * checksum is always complete. */
bool checksum_complete(unsigned char *bytes, size_t length);

#endif
