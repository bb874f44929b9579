/* link_interface.c: what a link on Linux reads of its interface, and what it
 * changes there: groups joined, features switched off. */
#include "config.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link_interface.h"

static void
ask_of(const char *name, struct ifreq *r)
{
	memset(r, 0, sizeof(*r));
	memcpy(r->ifr_name, name, strnlen(name, sizeof(r->ifr_name) - 1));
}

/* The interface may get another name; its number stays its own. */
static void
refresh_name(struct link *l, int fd)
{
	struct ifreq r = { .ifr_ifindex = l->ifindex };

	if (ioctl(fd, SIOCGIFNAME, &r) != 0) {
		l->gone = errno == ENODEV;
		return;
	}
	if (strncmp(r.ifr_name, l->name, sizeof(l->name)) == 0)
		return;
	log_info("interface renamed interface=%s prev=%s",
	    r.ifr_name, l->name);
	memcpy(l->name, r.ifr_name, sizeof(l->name));
}

void
interface_refresh(struct link *l, int fd)
{
	struct ifreq r;

	refresh_name(l, fd);
	if (l->gone) {
		l->up = false;
		return;
	}
	ask_of(l->name, &r);
	if (ioctl(fd, SIOCGIFMTU, &r) == 0)
		l->mtu = (unsigned)r.ifr_mtu;
	if (ioctl(fd, SIOCGIFHWADDR, &r) == 0 &&
	    r.ifr_hwaddr.sa_family == ARPHRD_ETHER)
		memcpy(l->mac.byte, r.ifr_hwaddr.sa_data, sizeof(l->mac.byte));
	l->up = ioctl(fd, SIOCGIFFLAGS, &r) == 0 &&
	    (r.ifr_flags & IFF_UP) != 0 && (r.ifr_flags & IFF_RUNNING) != 0;
}

int
interface_identify(struct link *l, int fd, struct error *e)
{
	struct ifreq r;

	ask_of(l->name, &r);
	if (ioctl(fd, SIOCGIFINDEX, &r) != 0)
		return error_set(
		    e, "interface %s: %s", l->name, strerror(errno));
	l->ifindex = r.ifr_ifindex;
	if (ioctl(fd, SIOCGIFHWADDR, &r) != 0 ||
	    r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return error_set(e, "interface %s is not Ethernet", l->name);
	interface_refresh(l, fd);
	if (l->mtu == 0)
		return error_set(e, "interface %s has no MTU", l->name);
	return 0;
}

bool
interface_is_veth(const char *name, int fd)
{
	struct ethtool_drvinfo d = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq r;

	ask_of(name, &r);
	r.ifr_data = (void *)&d;
	return ioctl(fd, SIOCETHTOOL, &r) == 0 && strcmp(d.driver, "veth") == 0;
}

/* ---- groups ---- */

static int
interface_want(const struct link *l, int fd, int option, unsigned short type,
    const struct mac *mac)
{
	struct packet_mreq r = { .mr_ifindex = l->ifindex, .mr_type = type };

	if (mac != NULL) {
		r.mr_alen = sizeof(mac->byte);
		memcpy(r.mr_address, mac->byte, sizeof(mac->byte));
	}
	return setsockopt(fd, SOL_PACKET, option, &r, sizeof(r));
}

/* Solicitations for an IPv6 address are sent to its solicited-node group,
 * unsolicited advertisements to all nodes (RFC 4861). The card receives groups
 * that were joined. */
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
drop_groups(struct link *l, int fd, const struct mac *list, unsigned n)
{
	while (n > 0)
		interface_want(l, fd, PACKET_DROP_MEMBERSHIP,
		    PACKET_MR_MULTICAST, &list[--n]);
}

static int
join_groups(struct link *l, int fd, const struct mac *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (interface_want(l, fd, PACKET_ADD_MEMBERSHIP,
			PACKET_MR_MULTICAST, &list[i]) != 0) {
			drop_groups(l, fd, list, i);
			return -1;
		}
	}
	return 0;
}

/* Each address of a net has a group: too many to join. */
static void
want_all_groups(
    struct link *l, struct interface_changes *w, const struct link_filter *f)
{
	bool all = false;

	for (unsigned i = 0; i < f->nets; i++)
		all = all || f->net[i].ip.family == AF_INET6;
	if (all == w->all_groups)
		return;
	if (interface_want(l, w->fd,
		all ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP,
		PACKET_MR_ALLMULTI, NULL) == 0)
		w->all_groups = all;
	else
		log_warn("cannot set a mode of the interface: %s interface=%s "
			 "mode=allmulti",
		    strerror(errno), l->name);
}

/* The kernel counts how often a group is joined: an old one that is also new is
 * joined twice for a moment. */
int
interface_set_filter(struct link *l, struct interface_changes *w,
    const struct link_filter *f,
    int (*attach)(struct link *l, const struct link_filter *f, struct error *e),
    struct error *e)
{
	struct mac *list = calloc((size_t)f->count + 1, sizeof(*list));
	unsigned n = list != NULL ? list_groups(list, f) : 0;

	if (list == NULL || join_groups(l, w->fd, list, n) != 0) {
		error_set(e,
		    "interface %s: cannot join multicast groups: %s",
		    l->name, strerror(errno));
		free(list);
		return -1;
	}
	if (attach(l, f, e) != 0) {
		drop_groups(l, w->fd, list, n);
		free(list);
		return -1;
	}
	want_all_groups(l, w, f);
	drop_groups(l, w->fd, w->group, w->groups);
	free(w->group);
	w->group = list;
	w->groups = n;
	return 0;
}

/* ---- features ---- */

/* Returns 0 when the feature is as wanted. */
static int
set_feature(
    const struct link *l, int fd, uint32_t feature, bool on, bool *changed)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq r;

	ask_of(l->name, &r);
	r.ifr_data = (void *)&v;
	*changed = false;
	if (ioctl(fd, SIOCETHTOOL, &r) != 0)
		return 0; /* it has none */
	if (((v.data & feature) != 0) == on)
		return 0;
	*changed = true;
	v.cmd = ETHTOOL_SFLAGS;
	v.data ^= feature;
	return ioctl(fd, SIOCETHTOOL, &r);
}

bool
interface_switch_off(struct link *l, struct interface_changes *w,
    uint32_t feature, const char *name)
{
	bool changed;

	if (set_feature(l, w->fd, feature, false, &changed) != 0) {
		log_warn("%s cannot be switched off: %s interface=%s", name,
		    strerror(errno), l->name);
		return false;
	}
	if (changed) {
		log_info("%s switched off interface=%s", name, l->name);
		w->features |= feature;
	}
	return true;
}

void
interface_switch_back(
    struct link *l, struct interface_changes *w, uint32_t feature)
{
	bool changed;

	if ((w->features & feature) == 0)
		return;
	w->features &= ~feature;
	if (set_feature(l, w->fd, feature, true, &changed) != 0)
		log_warn("a feature remains switched off: %s interface=%s",
		    strerror(errno), l->name);
}

void *
interface_memory(int *fd, size_t size)
{
	bool made = *fd < 0;
	struct stat st;
	void *at;

	if (made)
		*fd = memfd_create("pen link", MFD_CLOEXEC);
	if (*fd < 0 || (made && ftruncate(*fd, (off_t)size) != 0))
		return NULL;
	if (fstat(*fd, &st) != 0 || st.st_size != (off_t)size) {
		errno = EINVAL;
		return NULL;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return at != MAP_FAILED ? at : NULL;
}

void
interface_restore(struct link *l, struct interface_changes *w)
{
	if (l->left)
		w->features = 0;
	while (w->features != 0)
		interface_switch_back(l, w, w->features & (~w->features + 1));
	/* another process that has the socket goes on with its own */
	drop_groups(l, w->fd, w->group, w->groups);
	if (w->all_groups)
		interface_want(
		    l, w->fd, PACKET_DROP_MEMBERSHIP, PACKET_MR_ALLMULTI, NULL);
	free(w->group);
	w->group = NULL;
}
