/* netframe.c: packet sockets, frames made by hand, and the two questions for a
 * neighbour. */
#include "config.h"

#include <check.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/netframe.h"

enum { HEAD = 12, TAG = 4, ARP_SIZE = 42, NDP_SIZE = 14 + 40 + 32 };

void
net_fixture_tap(struct net_fixture_tap *t, const struct net_fixture *r,
    enum net_fixture_place where, const char *interface)
{
	struct sockaddr_ll at;
	int on = 1, room = 16 << 20;

	net_fixture_enter(r, where);
	t->fd = socket(AF_PACKET, SOCK_RAW, 0);
	t->ifindex = (int)if_nametoindex(interface);
	net_fixture_leave(r);
	ck_assert_int_ge(t->fd, 0);
	ck_assert_msg(t->ifindex > 0, "no interface %s", interface);
	ck_assert_int_eq(fcntl(t->fd, F_SETFD, FD_CLOEXEC), 0);
	ck_assert_int_eq(
	    setsockopt(t->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), 0);
	if (setsockopt(t->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) <
	    0)
		setsockopt(t->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	memset(&at, 0, sizeof(at));
	at.sll_family = AF_PACKET;
	at.sll_protocol = htons(ETH_P_ALL);
	at.sll_ifindex = t->ifindex;
	ck_assert_msg(bind(t->fd, (struct sockaddr *)&at, sizeof(at)) == 0,
	    "tap at %s: %s", interface, strerror(errno));
}

/* The kernel has taken it out. */
static void
put_tag_back(struct net_fixture_tap *t, struct msghdr *m)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;
	uint16_t tag[2];

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_PACKET ||
		    c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
			continue;
		tag[0] = htons(ETH_P_8021Q);
		tag[1] = htons(aux.tp_vlan_tci);
		memmove(
		    t->bytes + HEAD + TAG, t->bytes + HEAD, t->length - HEAD);
		memcpy(t->bytes + HEAD, tag, TAG);
		t->length += TAG;
	}
}

bool
net_fixture_tap_next(struct net_fixture_tap *t)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct sockaddr_ll at;
	struct iovec iov = { t->bytes, sizeof(t->bytes) - TAG };
	struct msghdr m = { .msg_name = &at,
		.msg_namelen = sizeof(at),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(t->fd, &m, MSG_DONTWAIT);

	if (n < HEAD)
		return false;
	t->length = (size_t)n;
	t->outgoing = at.sll_pkttype == PACKET_OUTGOING;
	put_tag_back(t, &m);
	return true;
}

unsigned
net_fixture_tap_lost(struct net_fixture_tap *t)
{
	struct tpacket_stats s = { 0, 0 };
	socklen_t len = sizeof(s);

	ck_assert_int_eq(
	    getsockopt(t->fd, SOL_PACKET, PACKET_STATISTICS, &s, &len), 0);
	return s.tp_drops;
}

void
net_fixture_tap_send(
    const struct net_fixture_tap *t, const void *bytes, size_t length)
{
	ssize_t n = send(t->fd, bytes, length, 0);

	ck_assert_msg(n == (ssize_t)length, "frame of %zu bytes: %s", length,
	    strerror(errno));
}

void
net_fixture_tap_close(struct net_fixture_tap *t)
{
	close(t->fd);
	t->fd = -1;
}

void
net_fixture_put16(unsigned char *p, unsigned n)
{
	p[0] = (unsigned char)(n >> 8);
	p[1] = (unsigned char)n;
}

unsigned
net_fixture_sum(const unsigned char *p, size_t n)
{
	unsigned long all = 0;
	size_t i;

	for (i = 0; i < n; i++)
		all += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
	while (all >> 16)
		all = (all & 0xffff) + (all >> 16);
	return ~(unsigned)all & 0xffff;
}

static const uint8_t broadcast[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static void
ask_arp(
    struct net_fixture_tap *t, const uint8_t own[6], const struct in_addr *ip)
{
	static const uint8_t fixed[] = { 8, 6, 0, 1, 8, 0, 6, 4, 0, 1 };
	const uint8_t from[] = { 192, 168, 100, own[5] };
	uint8_t f[ARP_SIZE] = { 0 };

	memcpy(f, broadcast, 6);
	memcpy(f + 6, own, 6);
	memcpy(f + 12, fixed, sizeof(fixed));
	memcpy(f + 22, own, 6);
	memcpy(f + 28, from, 4);
	memcpy(f + 38, ip, 4);
	net_fixture_tap_send(t, f, sizeof(f));
}

static void
ask_ndp(
    struct net_fixture_tap *t, const uint8_t own[6], const struct in6_addr *ip)
{
	static const uint8_t group[] = { 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0xff };
	const uint8_t from[] = { 0xfd, 0, 0, 0x64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, own[5] };
	uint8_t f[NDP_SIZE] = { 0x33, 0x33, 0xff };
	uint32_t sum = IPPROTO_ICMPV6 + 32;
	unsigned i;

	memcpy(f + 3, ip->s6_addr + 13, 3);
	memcpy(f + 6, own, 6);
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = 0x60;
	f[19] = 32;
	f[20] = IPPROTO_ICMPV6;
	f[21] = 255;
	memcpy(f + 22, from, 16);
	memcpy(f + 38, group, 13);
	memcpy(f + 51, ip->s6_addr + 13, 3);
	f[54] = 135;
	memcpy(f + 62, ip, 16);
	f[78] = 1; /* source link-layer address */
	f[79] = 1;
	memcpy(f + 80, own, 6);
	for (i = 22; i < NDP_SIZE; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[56] = (uint8_t)(sum >> 8);
	f[57] = (uint8_t)sum;
	net_fixture_tap_send(t, f, sizeof(f));
}

static bool
is_arp_answer(const struct net_fixture_tap *t, const struct in_addr *ip)
{
	const unsigned char *f = t->bytes;

	return t->length >= ARP_SIZE && f[12] == 8 && f[13] == 6 &&
	    f[21] == 2 && memcmp(f + 28, ip, 4) == 0;
}

/* A neighbour advertisement with the target's link-layer address. */
static bool
is_ndp_answer(const struct net_fixture_tap *t, const struct in6_addr *ip)
{
	const unsigned char *f = t->bytes;

	return t->length >= NDP_SIZE && f[12] == 0x86 && f[13] == 0xdd &&
	    f[20] == IPPROTO_ICMPV6 && f[21] == 255 && f[54] == 136 &&
	    memcmp(f + 62, ip, 16) == 0 && f[78] == 2;
}

bool
net_fixture_who_has(struct net_fixture_tap *t, enum net_fixture_place from,
    const char *ip, uint8_t mac[6])
{
	struct in_addr in;
	struct in6_addr in6;
	uint8_t own[6];
	bool v4 = inet_pton(AF_INET, ip, &in) == 1, found = false;

	net_fixture_mac(from, own);
	ck_assert_msg(v4 || inet_pton(AF_INET6, ip, &in6) == 1, "%s", ip);
	if (v4)
		ask_arp(t, own, &in);
	else
		ask_ndp(t, own, &in6);
	while (net_fixture_tap_next(t)) {
		if (t->outgoing ||
		    !(v4 ? is_arp_answer(t, &in) : is_ndp_answer(t, &in6)))
			continue;
		memcpy(mac, t->bytes + (v4 ? 22 : 80), 6);
		found = true;
	}
	return found;
}
