/* inspect_machine.c: facts about the machine: interfaces and their addresses.
 * Changes nothing. */
#include "config.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dsr/inspect/inspect.h"
#include "dsr/inspect/inspect_linux.h"
#include "dsr/link/link_kinds.h"
#include "dsr/open/link_open.h"
#ifdef HAVE_XDP
#include "dsr/xdp/xdp_fast.h"
#endif

void
inspect_each_library(void (*found)(const char *name, const char *version))
{
#ifdef HAVE_XDP
	found("libbpf", xdp_library_version());
#endif
#ifdef HAVE_LINK_PCAP
	found("libpcap", link_pcap_library_version());
#endif
	(void)found;
}

/* False when it is no address of IP. */
static bool
peer_of_sockaddr(struct peer *p, const struct sockaddr *sa)
{
	struct addr a = { .len = sizeof(struct sockaddr_in) };

	if (sa == NULL ||
	    (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return false;
	if (sa->sa_family == AF_INET6)
		a.len = sizeof(struct sockaddr_in6);
	memcpy(&a.u, sa, a.len);
	peer_from_addr(p, &a);
	return true;
}

/* Adds an address of an interface, with the length of its prefix, to what is
 * known of the host. */
static void
note_address(struct inspect_machine *m, const struct ifaddrs *i)
{
	struct inspect_address *a = &m->address[m->addresses];
	struct peer mask;
	unsigned bit;
	size_t length;

	if (!peer_of_sockaddr(&a->ip, i->ifa_addr))
		return;
	/* Masks of IPv6 have no family on some systems. */
	a->prefix = a->ip.family == AF_INET ? 32 : 128;
	if (peer_of_sockaddr(&mask, i->ifa_netmask)) {
		mask.family = a->ip.family;
		a->prefix = 0;
		for (bit = mask.family == AF_INET ? 96 : 0; bit < 128; bit++)
			a->prefix += (mask.ip[bit / 8] >> (7 - bit % 8)) & 1;
	}
	/* An address may have a label: "eth0:1". */
	length = strcspn(i->ifa_name, ":");
	if (length >= sizeof(a->interface))
		length = sizeof(a->interface) - 1;
	memcpy(a->interface, i->ifa_name, length);
	m->addresses++;
}

static void
note_mtu(struct inspect_machine *m, const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq r;

	if (fd < 0)
		return;
	memset(&r, 0, sizeof(r));
	strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
	if (ioctl(fd, SIOCGIFMTU, &r) == 0)
		m->mtu = (unsigned)r.ifr_mtu;
	close(fd);
}

/* SSH_CONNECTION: the address and port of the client, then those here; see
 * ssh(1). */
static void
note_session(struct inspect_machine *m)
{
	const char *text = getenv("SSH_CONNECTION");
	char here[64];
	struct addr a;

	if (text != NULL && sscanf(text, "%*s %*s %63s", here) == 1 &&
	    addr_parse_ip(&a, here, 0) == 0)
		peer_from_addr(&m->session, &a);
}

int
inspect_machine_read(struct inspect_machine *m, const struct inspect_request *w)
{
	struct ifaddrs *list, *i;
	size_t n = 1;
	unsigned k;

	memset(m, 0, sizeof(*m));
	if (getifaddrs(&list) < 0)
		return -1;
	for (i = list; i != NULL; i = i->ifa_next)
		n++;
	m->address = calloc(n, sizeof(*m->address));
	m->route = calloc((size_t)w->vips + 1, sizeof(*m->route));
	if (m->address == NULL || m->route == NULL) {
		freeifaddrs(list);
		return -1;
	}
	/* An interface has an entry for each of its addresses. */
	for (i = list; i != NULL; i = i->ifa_next) {
		note_address(m, i);
		if (strcmp(i->ifa_name, w->interface) != 0)
			continue;
		m->exists = true;
		m->down = !(i->ifa_flags & IFF_UP);
		m->no_carrier = !m->down && !(i->ifa_flags & IFF_RUNNING);
		m->promiscuous = (i->ifa_flags & IFF_PROMISC) != 0;
		m->no_ethernet =
		    (i->ifa_flags & (IFF_LOOPBACK | IFF_POINTOPOINT)) != 0;
	}
	freeifaddrs(list);
	note_session(m);
#ifndef HAVE_XDP
	m->no_xdp = true;
#endif
	m->no_link = w->link != NULL;
	for (k = 0; link_kind(k) != NULL; k++)
		m->no_link = m->no_link && strcmp(link_kind(k), w->link) != 0;
	if (m->exists)
		note_mtu(m, w->interface);
#ifdef HAVE_LINK_PACKET
	inspect_linux_read(m, w);
#endif
	return 0;
}

void
inspect_machine_free(struct inspect_machine *m)
{
	free(m->address);
	free(m->route);
	m->address = NULL;
	m->route = NULL;
}
