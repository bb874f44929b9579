/* link_xdp_host.c: what this machine itself uses an interface for. Frames that
 * XDP takes never reach the machine's own stack, while packet sockets see
 * copies: without ARP its own addresses would be lost. How many queues there
 * are: frames of a queue without a socket are the kernel's. And whether the
 * peer of a veth pair takes frames. */
#include "config.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "dsr/link/netlink.h"
#include "dsr/xdp/link_xdp.h"
#include "dsr/xdp/xdp_features.h"

/* An address may have a label of its own, "eth0:1". */
static bool
host_is_name(const struct link *l, const char *name)
{
	size_t n = strlen(l->name);

	return strncmp(name, l->name, n) == 0 &&
	    (name[n] == '\0' || name[n] == ':');
}

/* Link-local addresses of IPv6 do not count: every interface has one. */
static bool
host_has_address(const struct link *l)
{
	struct ifaddrs *all;
	bool found = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;

		if (in6 == NULL || !host_is_name(l, i->ifa_name))
			continue;
		if (in6->sin6_family == AF_INET ||
		    (in6->sin6_family == AF_INET6 &&
			!IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)))
			found = true;
	}
	freeifaddrs(all);
	return found;
}

/* ---- interfaces above ---- */

/* What rtnetlink(7) reports of an interface. */
struct link_info {
	int index, below, master;
	bool elsewhere; /* `below` is another namespace's number */
	bool veth;	/* `below` is its peer */
};

static void
link_info_read(struct link_info *t, struct nlmsghdr *m)
{
	struct ifinfomsg *head = NLMSG_DATA(m);
	int left = (int)IFLA_PAYLOAD(m);
	struct rtattr *kind;

	memset(t, 0, sizeof(*t));
	t->index = head->ifi_index;
	for (struct rtattr *a = IFLA_RTA(head); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		switch (a->rta_type & NLA_TYPE_MASK) {
		case IFLA_LINK:
			memcpy(&t->below, RTA_DATA(a), sizeof(t->below));
			break;
		case IFLA_MASTER:
			memcpy(&t->master, RTA_DATA(a), sizeof(t->master));
			break;
		case IFLA_LINK_NETNSID:
			t->elsewhere = true;
			break;
		case IFLA_LINKINFO:
			kind = netlink_attribute(
			    RTA_DATA(a), RTA_PAYLOAD(a), IFLA_INFO_KIND, 4);
			t->veth = kind != NULL &&
			    memcmp(RTA_DATA(kind), "veth", 4) == 0;
			break;
		}
	}
}

/* A bridge or bond that it is part of, or what is made out of it: VLANs,
 * macvlan interfaces of other machines. */
static bool
is_link_above(const void *arg, struct nlmsghdr *m)
{
	const struct link *l = arg;
	struct link_info t;

	link_info_read(&t, m);
	if (t.index == l->ifindex)
		return t.master != 0;
	return t.below == l->ifindex && !t.elsewhere && !t.veth;
}

/* ---- what this machine uses it for ---- */

static bool
goes_to(struct rtattr *a, int ifindex)
{
	int index = 0;

	if (a != NULL)
		memcpy(&index, RTA_DATA(a), sizeof(index));
	return index == ifindex;
}

/* Whether one of several next hops is there. */
static bool
has_hop(struct rtattr *several, int ifindex)
{
	struct rtnexthop *hop;
	int left;

	if (several == NULL)
		return false;
	hop = RTA_DATA(several);
	left = (int)RTA_PAYLOAD(several);
	for (; RTNH_OK(hop, left);
	     left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
		if (hop->rtnh_ifindex == ifindex)
			return true;
	return false;
}

/* Every interface has fe80::/64 and ff00::/8 by itself. */
static bool
is_of_all(const struct rtmsg *r, struct rtattr *to)
{
	const uint8_t *ip;

	if (r->rtm_family != AF_INET6 || to == NULL)
		return false;
	ip = RTA_DATA(to);
	return (r->rtm_dst_len == 64 && ip[0] == 0xfe && ip[1] == 0x80) ||
	    (r->rtm_dst_len == 8 && ip[0] == 0xff);
}

static bool
is_route_through(const void *arg, struct nlmsghdr *m)
{
	const struct link *l = arg;
	struct rtmsg *r = NLMSG_DATA(m);
	size_t n = RTM_PAYLOAD(m);

	if (r->rtm_type != RTN_UNICAST || (r->rtm_flags & RTM_F_CLONED) != 0 ||
	    is_of_all(r, netlink_attribute(RTM_RTA(r), n, RTA_DST, 4)))
		return false;
	return goes_to(netlink_attribute(RTM_RTA(r), n, RTA_OIF, sizeof(int)),
		   l->ifindex) ||
	    has_hop(netlink_attribute(
			RTM_RTA(r), n, RTA_MULTIPATH, sizeof(struct rtnexthop)),
		l->ifindex);
}

/* Entries of groups (NUD_NOARP) do not count: they are not used. */
static bool
is_neighbor_there(const void *arg, struct nlmsghdr *m)
{
	const struct link *l = arg;
	const struct ndmsg *n = NLMSG_DATA(m);

	return n->ndm_ifindex == l->ifindex &&
	    (n->ndm_state &
		(NUD_INCOMPLETE | NUD_REACHABLE | NUD_STALE | NUD_DELAY |
		    NUD_PROBE | NUD_PERMANENT)) != 0;
}

static bool
is_in_use(const struct link *l)
{
	return netlink_any(RTM_GETROUTE, AF_INET, is_route_through, l) ||
	    netlink_any(RTM_GETROUTE, AF_INET6, is_route_through, l) ||
	    netlink_any(RTM_GETNEIGH, AF_INET, is_neighbor_there, l) ||
	    netlink_any(RTM_GETNEIGH, AF_INET6, is_neighbor_there, l);
}

/* ---- what needs ARP and NDP ---- */

/* What needs the interface's ARP, in a full message; NULL: nothing does. */
static const char *
host_needs(const struct link *l)
{
	if (host_has_address(l))
		return "has addresses of its own";
	return netlink_any(RTM_GETLINK, AF_UNSPEC, is_link_above, l)
	    ? "is part of others"
	    : NULL;
}

static void
warn(const struct link *l, const char *what)
{
	log_warn("XDP takes all ARP and NDP of an interface that %s "
		 "interface=%s",
	    what, l->name);
}

int
xdp_check_host(const struct link *l, struct error *e)
{
	struct xdp_rings *x = l->inside;
	const char *what = host_needs(l);

	/* only at the start: a router has a million routes */
	if (what == NULL && is_in_use(l))
		what = "this host itself uses";
	if (what != NULL && !l->asked)
		return error_set(e,
		    "XDP would take ARP and NDP from interface %s, which %s",
		    l->name, what);
	x->needed = what != NULL;
	if (x->needed)
		warn(l, what);
	return 0;
}

/* ---- queues ---- */

unsigned
xdp_count_queues(const struct link *l)
{
	const struct xdp_rings *x = l->inside;
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq r;
	unsigned n;

	memset(&r, 0, sizeof(r));
	memcpy(r.ifr_name, l->name, sizeof(r.ifr_name));
	r.ifr_data = (void *)&c;
	if (ioctl(x->changes.fd, SIOCETHTOOL, &r) != 0)
		return 1;
	n = c.rx_count + c.combined_count;
	return n > 0 ? n : 1;
}

/* ---- the veth peer ---- */

bool
xdp_can_send_back(const struct link *l)
{
	const struct xdp_rings *x = l->inside;
	uint64_t features;

	if (!x->book->tags_apart)
		return true;
	return xdp_features((unsigned)l->ifindex, &features) == 0 &&
	    (features & XDP_FEATURE_NDO_XMIT) != 0;
}

/* ---- later ---- */

void
xdp_recheck_host(const struct link *l)
{
	struct xdp_rings *x = l->inside;
	unsigned queues = xdp_count_queues(l);
	const char *what;

	if (queues > x->book->queues && !x->overflown)
		log_warn("there are more receive queues now, frames of new "
			 "ones are lost until pen is started again "
			 "interface=%s queues=%u served=%u",
		    l->name, queues, x->book->queues);
	x->overflown = queues > x->book->queues;
	if (!x->changed)
		return;
	x->changed = false;
	what = host_needs(l);
	if (what != NULL && !x->needed)
		warn(l, what);
	x->needed = what != NULL;
}
