/* xdp_features.h: what an interface can do with XDP, from the kernel: the
 * family "netdev" of generic netlink, Documentation/netlink/specs/netdev.yaml
 * in Linux's source, since Linux 6.3. */
#ifndef PEN_DSR_XDP_FEATURES_H
#define PEN_DSR_XDP_FEATURES_H

#include <stdint.h>

/* enum netdev_xdp_act of <linux/netdev.h>, which not every system has. */
enum {
	XDP_FEATURE_BASIC = 1, /* the driver runs programs */
	/* What a program sends by bpf_redirect() leaves. */
	XDP_FEATURE_NDO_XMIT = 4
};

/* What the peer of a veth pair does with frames that a program sends: it takes
 * them while it has NAPI, by GRO or by a program of its own, and else drops
 * them without an error. Before Linux 6.3 that is unknown. */
enum xdp_peer { XDP_PEER_TAKES, XDP_PEER_DROPS, XDP_PEER_UNKNOWN };

/* Reads the features of the interface of that number; needs no rights. Returns
 * 0, or -1 with errno: ENODEV, or ENOENT when this kernel does not report
 * them. */
int xdp_features(unsigned ifindex, uint64_t *features);
/* What the peer of the veth interface `ifindex` does with such frames. */
enum xdp_peer xdp_peer(unsigned ifindex);

#endif
