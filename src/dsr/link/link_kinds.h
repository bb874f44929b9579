/* link_kinds.h: the kinds of links: for link.c and the kinds themselves. */
#ifndef PEN_DSR_LINK_KINDS_H
#define PEN_DSR_LINK_KINDS_H

#include "dsr/link/link.h"

/* Linux, packet(7): a receive ring shared with the kernel. */
extern const struct link_ops link_packet;
/* libpcap, where there is nothing better: frames are copied, and the kernel
 * must not merge them. */
extern const struct link_ops link_pcap;
/* The version of libpcap; only in a build with it. */
const char *link_pcap_library_version(void);

#endif
