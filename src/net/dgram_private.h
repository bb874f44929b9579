/* dgram_private.h: what dgram.c and dgram_send.c share. */
#ifndef PEN_NET_DGRAM_PRIVATE_H
#define PEN_NET_DGRAM_PRIVATE_H

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "net/dgram.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* Laid out as the struct mmsghdr of systems that have one. */
struct dgram_message {
	struct msghdr msg_hdr;
	unsigned msg_len;
};

/* Control data: packet information, IPv4's along with IPv6's, and the segment
 * size, aligned as cmsg(3) requires. */
union dgram_control {
	size_t align; /* the first of struct cmsghdr, which no array may have */
	char bytes[2 * CMSG_SPACE(sizeof(struct in6_pktinfo)) +
	    CMSG_SPACE(sizeof(int))];
};

#endif
