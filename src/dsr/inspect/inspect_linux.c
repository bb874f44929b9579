/* inspect_linux.c: what only Linux reports: ethtool's ioctl(), capabilities(7),
 * settings below /proc/sys/net, routes by rtnetlink(7). */
#include "config.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dsr/inspect/inspect_linux.h"
#include "dsr/link/link_interface.h"
#include "dsr/link/netlink.h"
#ifdef HAVE_XDP
#include "dsr/xdp/xdp_features.h"
#endif

/* ---- the interface ---- */

static bool
ethtool_get(int fd, const char *name, unsigned command, unsigned *value)
{
	struct ethtool_value v = { .cmd = command };
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
	r.ifr_data = (void *)&v;
	if (ioctl(fd, SIOCETHTOOL, &r) != 0)
		return false;
	*value = v.data;
	return true;
}

static void
read_offloads(struct inspect_machine *m, int fd, const char *name)
{
	static const struct {
		unsigned command, mask, offload;
	} row[] = {
		{ ETHTOOL_GFLAGS, ETH_FLAG_LRO, INSPECT_LRO },
		{ ETHTOOL_GFLAGS, ETH_FLAG_RXVLAN, INSPECT_RXVLAN },
		{ ETHTOOL_GGRO, ~0u, INSPECT_GRO },
	};
	unsigned value, i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (ethtool_get(fd, name, row[i].command, &value) &&
		    (value & row[i].mask) != 0)
			m->offloads |= row[i].offload;
	/* veth does not lose the tags that it takes out. */
	if (interface_is_veth(name, fd))
		m->offloads &= ~(unsigned)INSPECT_RXVLAN;
}

static void
inspect_read_veth_peer(struct inspect_machine *m, int fd, const char *name)
{
#ifdef HAVE_XDP
	enum xdp_peer peer;

	if (!interface_is_veth(name, fd))
		return;
	peer = xdp_peer(if_nametoindex(name));
	m->peer_unknown = peer == XDP_PEER_UNKNOWN;
	m->peer_refuses = peer == XDP_PEER_DROPS;
#else
	(void)m;
	(void)fd;
	(void)name;
#endif
}

static void
read_interface(struct inspect_machine *m, const struct inspect_request *w)
{
	const char *name = w->interface;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r;

	if (fd < 0)
		return;
	memset(&r, 0, sizeof(r));
	strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &r) == 0)
		m->no_ethernet = r.ifr_hwaddr.sa_family != ARPHRD_ETHER;
	read_offloads(m, fd, name);
	if (w->fast == LINK_FAST_ON)
		inspect_read_veth_peer(m, fd, name);
	close(fd);
}

/* ---- settings and rights ---- */

/* Whether the sysctl net.FAMILY.conf.INTERFACE.NAME is not 0. */
static bool
sysctl_is_on(const char *family, const char *interface, const char *name)
{
	char path[128], text[16];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%.15s/%s", family,
	    interface, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strtol(text, NULL, 10) != 0;
}

/* ---- default routes ---- */

/* A line of /proc/net/route or ipv6_route: whether it is a default route, and
 * through which interface. */
static bool
is_default(const char *line, int v6, char interface[16])
{
	char net[40], length[16];

	if (v6)
		return sscanf(line,
			   "%39s %15s %*s %*s %*s %*s %*s %*s %*s %15s", net,
			   length, interface) == 3 &&
		    strspn(net, "0") == 32 && strcmp(length, "00") == 0 &&
		    strcmp(interface, "lo") != 0;
	return sscanf(line, "%15s %39s %*s %*s %*s %*s %*s %15s", interface,
		   net, length) == 3 &&
	    strspn(net, "0") == 8 && strspn(length, "0") == 8;
}

static void
read_way(struct inspect_machine *m, int v6)
{
	FILE *f = fopen(v6 ? "/proc/net/ipv6_route" : "/proc/net/route", "re");
	char line[512], interface[16];
	bool several = false;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (!is_default(line, v6, interface))
			continue;
		several |= m->way[v6][0] != '\0' &&
		    strcmp(m->way[v6], interface) != 0;
		memcpy(m->way[v6], interface, sizeof(m->way[v6]));
	}
	if (f != NULL)
		fclose(f);
	if (several)
		m->way[v6][0] = '\0';
}

/* ---- netlink ---- */

struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr to;
	uint8_t ip[16];
};

static void
read_hop(struct inspect_route *r, union netlink_answer *a, size_t n)
{
	enum { HEAD = sizeof(struct rtmsg) };
	uint32_t index;
	struct rtattr *at =
	    netlink_attribute_of(a, n, HEAD, RTA_OIF, sizeof(index));
	char name[IF_NAMESIZE];

	r->router = netlink_attribute_of(a, n, HEAD, RTA_GATEWAY, 4) != NULL ||
	    netlink_attribute_of(a, n, HEAD, RTA_VIA, 4) != NULL;
	if (at == NULL)
		return;
	memcpy(&index, RTA_DATA(at), sizeof(index));
	if (if_indextoname(index, name) != NULL)
		snprintf(r->interface, sizeof(r->interface), "%.15s", name);
}

/* The route to `ip`, with the whole net that it is of,
 * which the kernel has in its answer since Linux 4.13. */
static struct inspect_route
inspect_find_route(int fd, const struct peer *ip)
{
	bool v4 = ip->family == AF_INET;
	unsigned size = v4 ? 4 : 16;
	struct inspect_route found = { .way = INSPECT_NO_ROUTE,
		.net = *ip,
		.prefix = 8 * size };
	struct route_request q = { .head = { .nlmsg_type = RTM_GETROUTE,
				       .nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = (unsigned char)ip->family,
		    .rtm_dst_len = (unsigned char)(8 * size),
		    .rtm_flags = RTM_F_FIB_MATCH },
		.to = { .rta_type = RTA_DST,
		    .rta_len = (unsigned short)RTA_LENGTH(size) } };
	union netlink_answer answer;
	const struct rtmsg *route = NLMSG_DATA(&answer.head);
	struct rtattr *net;
	size_t n;

	q.head.nlmsg_len = (unsigned)(sizeof(q) - sizeof(q.ip) + size);
	memcpy(q.ip, ip->ip + 16 - size, size);
	n = netlink_request(fd, &q.head, &answer, RTM_NEWROUTE);
	if (n < NLMSG_SPACE(sizeof(*route)))
		return found;
	if (route->rtm_type == RTN_LOCAL)
		found.way = INSPECT_LOCAL;
	else if (route->rtm_type == RTN_UNICAST)
		found.way = INSPECT_ROUTE;
	net = netlink_attribute_of(&answer, n, sizeof(*route), RTA_DST, size);
	if (net != NULL)
		memcpy(found.net.ip + 16 - size, RTA_DATA(net), size);
	/* The default route names no net. */
	if (net != NULL || route->rtm_dst_len == 0)
		found.prefix = route->rtm_dst_len;
	read_hop(&found, &answer, n);
	return found;
}

/* Requests the attributes of the interface. Returns how many bytes came; 0:
 * none. */
static size_t
ask_link(int fd, const char *name, union netlink_answer *a)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} q = { .head = { .nlmsg_len = sizeof(q),
		    .nlmsg_type = RTM_GETLINK,
		    .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_index = (int)if_nametoindex(name) } };

	return netlink_request(fd, &q.head, a, RTM_NEWLINK);
}

static struct rtattr *
of_link(union netlink_answer *a, size_t n, unsigned short name, size_t least)
{
	return netlink_attribute_of(
	    a, n, sizeof(struct ifinfomsg), name, least);
}

/* Whether an XDP program is attached to the interface. */
static bool
has_xdp(union netlink_answer *a, size_t n)
{
	struct rtattr *at = of_link(a, n, IFLA_XDP, 0);

	if (at != NULL)
		at = netlink_attribute(
		    RTA_DATA(at), RTA_PAYLOAD(at), IFLA_XDP_ATTACHED, 1);
	return at != NULL &&
	    *(const uint8_t *)RTA_DATA(at) != XDP_ATTACHED_NONE;
}

/* The peer of a veth interface, when it is in this namespace, too. */
static void
name_peer(struct inspect_machine *m, union netlink_answer *a, size_t n)
{
	struct rtattr *at = of_link(a, n, IFLA_LINK, sizeof(uint32_t));
	char name[IF_NAMESIZE];
	uint32_t index;

	/* Its index is one of another namespace then. */
	if (at == NULL || of_link(a, n, IFLA_LINK_NETNSID, 0) != NULL)
		return;
	memcpy(&index, RTA_DATA(at), sizeof(index));
	if (if_indextoname(index, name) != NULL)
		snprintf(m->peer, sizeof(m->peer), "%.15s", name);
}

static void
read_netlink(struct inspect_machine *m, const struct inspect_request *w)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	union netlink_answer a;
	unsigned i;
	size_t n;

	if (fd < 0)
		return;
	for (i = 0; i < w->vips; i++)
		m->route[i] = inspect_find_route(fd, &w->vip[i]);
	if (m->exists) {
		n = ask_link(fd, w->interface, &a);
		m->xdp = has_xdp(&a, n);
		if (w->fast == LINK_FAST_ON)
			name_peer(m, &a, n);
	}
	close(fd);
}

void
inspect_linux_read(struct inspect_machine *m, const struct inspect_request *w)
{
	enum { SYS_ADMIN = 21, NET_ADMIN = 12, NET_RAW = 13, BPF = 39 };
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long has;
	char line[256];

	/* Numbers of capability.h; libcap is not needed for one line. */
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "CapEff:", 7) != 0)
			continue;
		has = strtoull(line + 7, NULL, 16);
		if (!(has >> NET_RAW & 1))
			m->lacks |= INSPECT_RAW;
		if (!(has >> NET_ADMIN & 1))
			m->lacks |= INSPECT_ADMIN;
		/* CAP_BPF is of Linux 5.8; it was part of SYS_ADMIN before. */
		if (!(has >> BPF & 1) && !(has >> SYS_ADMIN & 1))
			m->lacks |= INSPECT_BPF;
	}
	if (f != NULL)
		fclose(f);
	read_netlink(m, w);
	read_way(m, 0);
	read_way(m, 1);
	if (!m->exists)
		return;
	read_interface(m, w);
	m->forwards[0] = sysctl_is_on("ipv4", w->interface, "forwarding");
	/* Linux forwards IPv6 on all interfaces, or on none. */
	m->forwards[1] = sysctl_is_on("ipv6", "all", "forwarding");
	m->ip6_off = sysctl_is_on("ipv6", w->interface, "disable_ipv6");
}
