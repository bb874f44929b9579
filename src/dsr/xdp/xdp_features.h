/* xdp_features.h: what an interface can do with XDP, from the kernel: the
 * family "netdev" of generic netlink, Documentation/netlink/specs/netdev.yaml
 * in Linux's source, since Linux 6.3. */
#ifndef PEN_DSR_XDP_FEATURES_H
#define PEN_DSR_XDP_FEATURES_H

#include <stdint.h>

/* enum netdev_xdp_act of <linux/netdev.h>, which not every system has. */
enum {
	XDP_FEATURE_BASIC = 1, /* the driver runs programs */
	/* The peer of a veth pair takes frames that a program sends: it has
	 * NAPI, by GRO or by a program of its own. */
	XDP_FEATURE_NDO_XMIT = 4
};

/* Reads the features of the interface of that number; needs no rights. Returns
 * 0, or -1 with errno: ENODEV, or ENOENT when this kernel does not report
 * them. */
int xdp_features(unsigned ifindex, uint64_t *features);

#endif
