/* vips.h: the addresses and ports that clients come to, the locks that keep
 * other directors from them, and the director's own addresses on the
 * segment. */
#ifndef PEN_DSR_VIPS_H
#define PEN_DSR_VIPS_H

#include "base/addr.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link.h"
#include "dsr/segment/vip_lock.h"

struct vips {
	struct peer own[2]; /* IPv4, IPv6; family 0: none */
	/* With their ports, 0: any. There is room for two more after them: see
	 * vips_filter(). */
	struct peer *list;
	unsigned count;
	bool udp_only; /* else TCP and UDP */
	bool standby;  /* another director has them now */
	struct vip_locks locks;
};

/* `own`: IPv4 and IPv6; len 0: none. There are no VIPs yet. */
void vips_init(struct vips *v, const struct addr own[2], bool udp_only);
void vips_fini(struct vips *v);

/* Whether it is a VIP, whatever the port. */
bool vips_have_address(const struct vips *v, const struct peer *at);
/* Whether the frame is for a VIP, a port of it and a protocol that are
 * served. */
bool vips_serve(const struct vips *v, const struct frame *f);

/* Whether it is an own address of the director on the segment. */
bool vips_is_own(const struct vips *v, const struct peer *at);
/* Sets the own address of that family. False: there is none. */
bool vips_own_ip(const struct vips *v, unsigned family, struct peer *ip);

/* The filter that passes frames for `list`, after which there is room for two
 * addresses, which may be written there. The filter points into the list. */
struct link_filter vips_filter(
    const struct vips *v, struct peer *list, unsigned count);

#endif
