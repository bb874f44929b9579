/* link_interface.c: what a link on Linux asks of its interface, and what it
 * wants of it: the filter, groups, promiscuity, frames merged without loss. */
#include "config.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/log.h"
#include "dsr/frame.h"
#include "dsr/link_filter.h"
#include "dsr/link_packet.h"

_Static_assert(sizeof(struct link_insn) == sizeof(struct sock_filter) &&
	offsetof(struct link_insn, yes) == offsetof(struct sock_filter, jt) &&
	offsetof(struct link_insn, k) == offsetof(struct sock_filter, k),
    "a program is what SO_ATTACH_FILTER takes");

void
packet_ask(const struct link *l, struct ifreq *r)
{
	memset(r, 0, sizeof(*r));
	memcpy(r->ifr_name, l->name, sizeof(r->ifr_name));
}

void
packet_look(struct link *l)
{
	struct tpacket_stats s;
	socklen_t len = sizeof(s);
	struct ifreq r;

	/* reading them sets them to zero */
	if (getsockopt(l->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len) == 0)
		l->count.missed += s.tp_drops;
	packet_ask(l, &r);
	if (ioctl(l->fd, SIOCGIFMTU, &r) == 0)
		l->mtu = (unsigned)r.ifr_mtu;
	l->up = ioctl(l->fd, SIOCGIFFLAGS, &r) == 0 &&
	    (r.ifr_flags & IFF_UP) != 0 && (r.ifr_flags & IFF_RUNNING) != 0;
}

int
packet_identify(struct link *l, struct error *e)
{
	struct ifreq r;

	packet_ask(l, &r);
	if (ioctl(l->fd, SIOCGIFINDEX, &r) != 0)
		return error_set(
		    e, "interface %s: %s", l->name, strerror(errno));
	l->ifindex = r.ifr_ifindex;
	if (ioctl(l->fd, SIOCGIFHWADDR, &r) != 0 ||
	    r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return error_set(e, "interface %s is no Ethernet", l->name);
	memcpy(l->mac.byte, r.ifr_hwaddr.sa_data, sizeof(l->mac.byte));
	packet_look(l);
	if (l->mtu == 0)
		return error_set(e, "interface %s has no MTU", l->name);
	return 0;
}

static int
want(struct link *l, int option, unsigned short type, const struct mac *mac)
{
	struct packet_mreq r = { .mr_ifindex = l->ifindex, .mr_type = type };

	if (mac != NULL) {
		r.mr_alen = sizeof(mac->byte);
		memcpy(r.mr_address, mac->byte, sizeof(mac->byte));
	}
	return setsockopt(l->fd, SOL_PACKET, option, &r, sizeof(r));
}

/* Solicitations for an IPv6 address go to a group of its own, advertisements to
 * nobody in particular to all nodes; the card lets them in when asked to. */
static unsigned
list_groups(struct mac *list, const struct link_filter *f)
{
	uint8_t group[16] = { 0xff, 2, [15] = 1 };
	unsigned n = 0;

	for (unsigned i = 0; i < f->count; i++) {
		if (f->address[i].family != AF_INET6)
			continue;
		if (n == 0)
			mac_of_group(&list[n++], group);
		ndp_group(group, f->address[i].ip);
		mac_of_group(&list[n++], group);
	}
	return n;
}

static void
drop_groups(struct link *l, const struct mac *list, unsigned n)
{
	while (n > 0)
		want(
		    l, PACKET_DROP_MEMBERSHIP, PACKET_MR_MULTICAST, &list[--n]);
}

static int
join_groups(struct link *l, const struct mac *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (want(l, PACKET_ADD_MEMBERSHIP, PACKET_MR_MULTICAST,
			&list[i]) != 0) {
			drop_groups(l, list, i);
			return -1;
		}
	}
	return 0;
}

static void
change_mode(
    struct link *l, unsigned short type, bool *is, bool on, const char *name)
{
	if (on == *is)
		return;
	if (want(l, on ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP, type,
		NULL) == 0)
		*is = on;
	else
		log_warn("interface does not change: %s interface=%s mode=%s",
		    strerror(errno), l->name, name);
}

/* Each address of a net has a group: too many to join. */
static void
change_modes(struct link *l, const struct link_filter *f)
{
	struct packet_ring *p = l->inside;
	bool groups = false;

	for (unsigned i = 0; i < f->nets; i++)
		groups = groups || f->net[i].ip.family == AF_INET6;
	change_mode(l, PACKET_MR_ALLMULTI, &p->all_groups, groups, "allmulti");
	change_mode(l, PACKET_MR_PROMISC, &p->promiscuous, f->promiscuous,
	    "promiscuous");
}

static int
attach_program(struct link *l, const struct link_program *program)
{
	struct sock_fprog s = { .len = (unsigned short)program->count,
		.filter = (void *)(uintptr_t)program->at };

	return setsockopt(l->fd, SOL_SOCKET, SO_ATTACH_FILTER, &s, sizeof(s));
}

static int
attach(struct link *l, const struct link_filter *f)
{
	struct link_program program;
	bool all = link_filter_write(&program, f, &l->mac);
	int got = attach_program(l, &program);

	/* net.core.optmem_max bounds what a socket may have */
	if (got != 0 && errno == ENOMEM && all) {
		all = false;
		link_filter_write_any(&program, f, &l->mac);
		got = attach_program(l, &program);
	}
	if (got == 0 && !all)
		log_warn("too many addresses for the filter of the kernel, "
			 "all of IP is looked at interface=%s addresses=%u "
			 "nets=%u",
		    l->name, f->count, f->nets);
	return got;
}

/* What is new is wanted before what is old goes: wants are counted, and nothing
 * is missed in between. */
int
packet_set_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	struct packet_ring *p = l->inside;
	struct mac *list = calloc((size_t)f->count + 1, sizeof(*list));
	unsigned n = list != NULL ? list_groups(list, f) : 0;

	if (list == NULL || join_groups(l, list, n) != 0) {
		error_set(
		    e, "interface %s: no groups: %s", l->name, strerror(errno));
		free(list);
		return -1;
	}
	if (attach(l, f) != 0) {
		error_set(
		    e, "interface %s: no filter: %s", l->name, strerror(errno));
		drop_groups(l, list, n);
		free(list);
		return -1;
	}
	change_modes(l, f);
	drop_groups(l, p->group, p->groups);
	free(p->group);
	p->group = list;
	p->groups = n;
	return 0;
}

/* Returns 0 when the card's own merging is as wanted. */
static int
set_merging(struct link *l, bool on, bool *was)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq r;

	packet_ask(l, &r);
	r.ifr_data = (void *)&v;
	*was = false;
	if (ioctl(l->fd, SIOCETHTOOL, &r) != 0)
		return 0; /* it has none */
	*was = (v.data & ETH_FLAG_LRO) != 0;
	if (*was == on)
		return 0;
	v.cmd = ETHTOOL_SFLAGS;
	v.data ^= ETH_FLAG_LRO;
	return ioctl(l->fd, SIOCETHTOOL, &r);
}

void
packet_merging_exact(struct link *l)
{
	struct packet_ring *p = l->inside;
	bool was;

	if (set_merging(l, false, &was) != 0)
		log_warn("large receive offload cannot be switched off: %s "
			 "interface=%s",
		    strerror(errno), l->name);
	else if (was) {
		log_info(
		    "large receive offload switched off interface=%s", l->name);
		p->merging_changed = true;
	}
}

void
packet_merging_restore(struct link *l)
{
	struct packet_ring *p = l->inside;
	bool was;

	if (p->merging_changed && set_merging(l, true, &was) != 0)
		log_warn("large receive offload remains switched off: %s "
			 "interface=%s",
		    strerror(errno), l->name);
}
