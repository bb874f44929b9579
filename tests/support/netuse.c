/* netuse.c: what tests do in a fixture's places: programs, sockets, counters.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

const char *
net_fixture_server4(unsigned i)
{
	return text("192.168.100.%u", i + 3);
}

const char *
net_fixture_server6(unsigned i)
{
	return text("fd00:64::%u", i + 3);
}

const char *
net_fixture_far4(unsigned i)
{
	return text("192.168.%u.2", 110 + i);
}

const char *
net_fixture_far6(unsigned i)
{
	return text("fd00:%x::2", 110 + i);
}

const char *
net_fixture_client4(const struct net_fixture *r)
{
	return r->is.router ? "192.168.200.2" : "192.168.100.1";
}

const char *
net_fixture_client6(const struct net_fixture *r)
{
	return r->is.router ? "fd00:c8::2" : "fd00:64::1";
}

void
net_fixture_mac(enum net_fixture_place where, uint8_t mac[6])
{
	static const uint8_t start[] = { 2, 0, 0, 0x64, 0, 1 };

	memcpy(mac, start, 6);
	if (where == NET_FIXTURE_DIRECTOR)
		mac[5] = 2;
	else if (where == NET_FIXTURE_DIRECTOR2)
		mac[5] = 7;
	else if (where == NET_FIXTURE_FAR_ROUTER)
		mac[5] = 9;
	else if (where >= NET_FIXTURE_SERVER)
		mac[5] = (uint8_t)(where - NET_FIXTURE_SERVER + 3);
}

void
net_fixture_start(const struct net_fixture *r, enum net_fixture_place where,
    struct child *c, const char *const argv[])
{
	net_fixture_enter(r, where);
	child_start(c, argv);
	net_fixture_leave(r);
}

const char *
net_fixture_run(
    const struct net_fixture *r, enum net_fixture_place where, int ms, ...)
{
	const char *argv[CHILD_ARGS];
	struct child c;
	va_list ap;
	int n = 0;

	va_start(ap, ms);
	while (
	    n < CHILD_ARGS - 1 && (argv[n] = va_arg(ap, const char *)) != NULL)
		n++;
	va_end(ap);
	argv[n] = NULL;
	net_fixture_start(r, where, &c, argv);
	ck_assert_msg(child_wait(&c, ms) == 0, "%s: exit %d: %s%s", argv[0],
	    c.status, child_out(&c), child_err(&c));
	return child_out(&c);
}

void
net_fixture_ip(const struct net_fixture *r, enum net_fixture_place where,
    const char *lines)
{
	const char *file = scratch("ip");

	write_file(file, lines);
	net_fixture_run(r, where, 10000, "ip", "-batch", file, NULL);
}

void
net_fixture_more_clients(
    const struct net_fixture *r, const char *network, unsigned count)
{
	const char *lines = "";
	unsigned i;

	for (i = 0; i < count; i++)
		lines = text("%saddr add %s.%u/24 dev eth0\n", lines, network,
		    100 + i);
	net_fixture_ip(r, NET_FIXTURE_CLIENT, lines);
}

void
net_fixture_feature(const struct net_fixture *r, enum net_fixture_place where,
    const char *interface, unsigned command, bool on)
{
	struct ethtool_value v = { .cmd = command, .data = on };
	int fd = net_fixture_listen(r, where, SOCK_DGRAM, "0.0.0.0", 0);
	struct ifreq req;

	memset(&req, 0, sizeof(req));
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", interface);
	req.ifr_data = (char *)&v;
	ck_assert_msg(ioctl(fd, SIOCETHTOOL, &req) == 0, "features of %s: %s",
	    interface, strerror(errno));
	close(fd);
}

struct net_fixture_counters
net_fixture_counters(const struct net_fixture *r, enum net_fixture_place where,
    const char *interface)
{
	struct net_fixture_counters c = { 0, 0, 0, 0, 0, 0 };
	const char *s;
	int n = 0;

	net_fixture_enter(r, where);
	s = contents("/proc/thread-self/net/dev");
	net_fixture_leave(r);
	s = strstr(s, text(" %s:", interface));
	if (s != NULL)
		n = sscanf(strchr(s, ':') + 1,
		    "%llu %llu %*u %llu %*u %*u %*u %*u %llu %llu %*u %llu",
		    &c.rx_bytes, &c.rx_packets, &c.rx_dropped, &c.tx_bytes,
		    &c.tx_packets, &c.tx_dropped);
	ck_assert_msg(n == 6, "no counters of %s", interface);
	return c;
}

static socklen_t
make_address(struct sockaddr_storage *a, const char *ip, int port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)a;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)a;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, ip, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		return sizeof(*in);
	}
	ck_assert_msg(inet_pton(AF_INET6, ip, &in6->sin6_addr) == 1, "%s", ip);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons((uint16_t)port);
	return sizeof(*in6);
}

static int
make_socket(const struct net_fixture *r, enum net_fixture_place where,
    int family, int type)
{
	int fd;

	net_fixture_enter(r, where);
	fd = socket(family, type, 0);
	net_fixture_leave(r);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
	return fd;
}

int
net_fixture_listen(const struct net_fixture *r, enum net_fixture_place where,
    int type, const char *ip, int port)
{
	struct sockaddr_storage a;
	socklen_t len = make_address(&a, ip, port);
	int fd = make_socket(r, where, a.ss_family, type), on = 1;

	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	ck_assert_msg(bind(fd, (struct sockaddr *)&a, len) == 0,
	    "%s port %d: %s", ip, port, strerror(errno));
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 1024), 0);
	return fd;
}

int
net_fixture_dial_from(const struct net_fixture *r, enum net_fixture_place where,
    int type, const char *from, const char *ip, int port)
{
	struct sockaddr_storage a, own;
	socklen_t len = make_address(&a, ip, port), own_len;
	int fd = make_socket(r, where, a.ss_family, type);

	if (from != NULL) {
		own_len = make_address(&own, from, 0);
		ck_assert_msg(bind(fd, (struct sockaddr *)&own, own_len) == 0,
		    "%s: %s", from, strerror(errno));
	}
	ck_assert_msg(connect(fd, (struct sockaddr *)&a, len) == 0 ||
		errno == EINPROGRESS,
	    "%s port %d: %s", ip, port, strerror(errno));
	return fd;
}

int
net_fixture_dial(const struct net_fixture *r, enum net_fixture_place where,
    int type, const char *ip, int port)
{
	return net_fixture_dial_from(r, where, type, NULL, ip, port);
}

bool
net_fixture_is_readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

bool
net_fixture_is_connected(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };
	int error = 0;
	socklen_t len = sizeof(error);

	if (poll(&p, 1, 0) <= 0)
		return false;
	ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
	ck_assert_msg(error == 0, "connect: %s", strerror(error));
	return true;
}
