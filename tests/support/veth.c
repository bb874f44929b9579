/* veth.c: a network of one cable, for tests that need whole frames. */
#include "config.h"

#include "support/veth.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/wait.h"

static bool
put(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, what, strlen(what)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static bool
enter(void)
{
	char map[64];

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
	    put("/proc/self/setgroups", "deny") &&
	    put("/proc/self/uid_map", map);
}

static int
ask(const char *end, unsigned long request, struct ifreq *r)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int got;

	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", end);
	got = ioctl(fd, request, r);
	close(fd);
	return got;
}

static bool
runs(const char *end)
{
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	return ask(end, SIOCGIFFLAGS, &r) == 0 &&
	    (r.ifr_flags & IFF_RUNNING) != 0;
}

const char *
veth_up(void)
{
	if (!enter())
		return text("no network namespace: %s", strerror(errno));
	if (system("ip link add name near type veth peer name far "
		   "2>/dev/null") != 0)
		return "no ip command, or no veth";
	/* no address, so no solicitations of the kernel's own */
	veth_ip("link set near addrgenmode none up");
	veth_ip("link set far addrgenmode none up");
	/* which the kernel sees a little later */
	WAIT_FOR(runs("near") && runs("far"), 5000);
	return NULL;
}

void
veth_ip(const char *fmt, ...)
{
	char words[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	ck_assert_msg(system(text("ip %s", words)) == 0, "ip %s", words);
}

const char *
veth_ip_says(const char *fmt, ...)
{
	char words[256];
	static char said[16384];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	f = popen(text("ip %s", words), "r");
	ck_assert_ptr_nonnull(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	pclose(f);
	return text("%s", said);
}

int
veth_open(const char *end, bool offload)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(end) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	int one = 1, room = 32 << 20;

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (offload)
		ck_assert_int_eq(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR,
				     &one, sizeof(one)),
		    0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

void
veth_mac(const char *end, uint8_t mac[6])
{
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	ck_assert_int_eq(ask(end, SIOCGIFHWADDR, &r), 0);
	memcpy(mac, r.ifr_hwaddr.sa_data, 6);
}

void
veth_feature(const char *end, unsigned command, bool on)
{
	struct ethtool_value v = { .cmd = command, .data = on };
	struct ifreq r;

	memset(&r, 0, sizeof(r));
	r.ifr_data = (void *)&v;
	ck_assert_int_eq(ask(end, SIOCETHTOOL, &r), 0);
}

void
veth_send(int fd, const void *bytes, size_t n)
{
	if (send(fd, bytes, n, 0) != (ssize_t)n)
		ck_abort_msg("frame of %zu bytes: %s", n, strerror(errno));
}

size_t
veth_receive(int fd, void *bytes, size_t room)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, (int)wait_scaled(5000)) != 1)
		ck_abort_msg("no frame came");
	n = recv(fd, bytes, room, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	return (size_t)n;
}
