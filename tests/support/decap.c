/* decap.c: the kernel puts outer fragments together, and a raw socket gets the
 * content, behind its header in IPv4. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/child.h"
#include "support/decap.h"
#include "support/nginx.h"
#include "support/suite.h"

enum { SOCKETS = 4, LARGEST = 65536 + 64, QUEUE = 8 << 20 };

static int
open_tun(void)
{
	struct ifreq req = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	memcpy(req.ifr_name, "tun0", 5);
	if (ioctl(fd, TUNSETIFF, &req) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
open_sockets(struct pollfd list[SOCKETS])
{
	int i, queue = QUEUE;

	for (i = 0; i < SOCKETS; i++) {
		list[i].fd = socket(i < 2 ? AF_INET : AF_INET6,
		    SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    i % 2 == 0 ? IPPROTO_IPIP : IPPROTO_IPV6);
		list[i].events = POLLIN;
		ck_assert_int_ge(list[i].fd, 0);
		setsockopt(list[i].fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue,
		    sizeof(queue));
	}
}

/* The inner packet must be of the kind that the outer header says. */
static void
pass(int tun, int fd, bool outer4, int version)
{
	static unsigned char bytes[LARGEST];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0), head;

	head = n > 0 && outer4 ? (bytes[0] & 15) * 4 : 0;
	if (n <= head || bytes[head] >> 4 != version)
		return;
	while (
	    write(tun, bytes + head, (size_t)(n - head)) < 0 && errno == EINTR)
		;
}

static void
run(int tun, struct pollfd list[SOCKETS])
{
	static unsigned char unused[LARGEST];
	int i;

	while (poll(list, SOCKETS, -1) > 0 || errno == EINTR) {
		for (i = 0; i < SOCKETS; i++)
			if (list[i].revents != 0)
				pass(
				    tun, list[i].fd, i < 2, i % 2 == 0 ? 4 : 6);
		while (read(tun, unused, sizeof(unused)) > 0)
			;
	}
}

const char *
decap_start(const struct net_fixture *r, enum net_fixture_place where)
{
	struct pollfd list[SOCKETS];
	int tun, i;

	net_fixture_enter(r, where);
	tun = open_tun();
	if (tun >= 0)
		open_sockets(list);
	net_fixture_leave(r);
	if (tun < 0)
		return text("no TUN device: %s", strerror(errno));
	net_fixture_ip(r, where, "link set tun0 up\n");
	if (child_fork() == 0) {
		run(tun, list);
		_exit(1);
	}
	close(tun);
	for (i = 0; i < SOCKETS; i++)
		close(list[i].fd);
	return NULL;
}

const char *
decap_start_all(const struct net_fixture *r)
{
	const char *why = NULL;
	unsigned i;

	for (i = 0; i < r->is.servers && why == NULL; i++)
		why = decap_start(r, NET_FIXTURE_SERVER + i);
	return why;
}
