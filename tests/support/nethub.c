/* nethub.c: frames from one packet socket to another, by learned addresses. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/child.h"
#include "support/nethub.h"
#include "support/net_fixture.h"

enum { PORTS = 16, KNOWN = 64, HEAD = 12, TAG = 4, BATCH = 64 };

struct hub {
	struct pollfd port[PORTS];
	uint16_t tag[PORTS];
	unsigned ports;
	struct {
		uint8_t mac[6];
		unsigned port;
	} known[KNOWN];
	unsigned macs;
	unsigned char bytes[TAG + NET_FIXTURE_FRAME]; /* with room for a tag */
};

static void
add_port(struct hub *h, const struct nethub_port *p)
{
	struct sockaddr_ll at;
	int on = 1, room = 16 << 20;
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));

	memset(&at, 0, sizeof(at));
	at.sll_family = AF_PACKET;
	at.sll_protocol = htons(ETH_P_ALL);
	at.sll_ifindex = (int)if_nametoindex(p->interface);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_lt(h->ports, PORTS);
	ck_assert_msg(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ==
		    0,
	    "port %s: %s", p->interface, strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	h->port[h->ports].fd = fd;
	h->port[h->ports].events = POLLIN;
	h->tag[h->ports++] = p->tag;
}

static unsigned
port_of(const struct hub *h, const unsigned char *mac)
{
	unsigned i;

	for (i = 0; i < h->macs; i++)
		if (memcmp(h->known[i].mac, mac, 6) == 0)
			return h->known[i].port;
	return PORTS;
}

static void
learn(struct hub *h, const unsigned char *mac, unsigned port)
{
	unsigned i;

	for (i = 0; i < h->macs; i++)
		if (memcmp(h->known[i].mac, mac, 6) == 0)
			break;
	if (i == KNOWN)
		return;
	memcpy(h->known[i].mac, mac, 6);
	h->known[i].port = port;
	h->macs += i == h->macs;
}

/* The kernel takes a tag out of the frame and tells it apart. */
static uint16_t
tag_of(struct msghdr *m)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_PACKET ||
		    c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci & 0xfff;
	}
	return 0;
}

static void
put(struct hub *h, unsigned to, size_t n)
{
	unsigned char *at = h->bytes + TAG;
	uint16_t tag[] = { htons(ETH_P_8021Q), htons(h->tag[to]) };

	if (h->tag[to] != 0) {
		at = h->bytes;
		memmove(at, at + TAG, HEAD);
		memcpy(at + HEAD, tag, TAG);
		n += TAG;
	}
	/* As a switch does: what cannot be sent is gone. */
	(void)!send(h->port[to].fd, at, n, MSG_DONTWAIT);
	if (h->tag[to] != 0)
		memmove(at + TAG, at, HEAD);
}

static bool
pass_one(struct hub *h, unsigned from)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct sockaddr_ll at;
	struct iovec iov = { h->bytes + TAG, NET_FIXTURE_FRAME };
	struct msghdr m = { .msg_name = &at,
		.msg_namelen = sizeof(at),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(h->port[from].fd, &m, MSG_DONTWAIT);
	unsigned to, i;

	if (n < ETHER_HDR_LEN)
		return n >= 0;
	if (at.sll_pkttype == PACKET_OUTGOING || tag_of(&m) != h->tag[from])
		return true;
	learn(h, h->bytes + TAG + 6, from);
	to = h->bytes[TAG] & 1 ? PORTS : port_of(h, h->bytes + TAG);
	for (i = 0; i < h->ports; i++)
		if (i != from && (i == to || to == PORTS))
			put(h, i, (size_t)n);
	return true;
}

static void
serve(struct hub *h)
{
	unsigned i, k;

	while (poll(h->port, h->ports, -1) >= 0 || errno == EINTR)
		for (i = 0; i < h->ports; i++)
			for (k = 0; k < BATCH && h->port[i].revents != 0; k++)
				if (!pass_one(h, i))
					break;
}

pid_t
nethub_start(const struct nethub_port *ports)
{
	static struct hub h;
	pid_t pid;
	unsigned i;

	memset(&h, 0, sizeof(h));
	while (ports->interface != NULL)
		add_port(&h, ports++);
	pid = child_fork();
	if (pid == 0) {
		serve(&h);
		_exit(1);
	}
	for (i = 0; i < h.ports; i++)
		close(h.port[i].fd);
	return pid;
}
