/* test_dsr_tarpit.c: clients that connect to addresses nobody has, and hosts
 * that come to have one. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { PORT = 7007, FIRST = 20, LAST = 254 };

static const struct net_fixture_options two = { .servers = 2 };
static const struct net_fixture_options tagged = { .servers = 2, .vlan = 5 };
static struct net_fixture fixture;
static struct dsrpen pen;
static bool v6;

/* The segment's address that ends so. */
static const char *
host(unsigned i)
{
	return v6 ? text("fd00:64::%x", i) : text("192.168.100.%u", i);
}

/* How often the client asks for a hardware address, once a second. */
static void
solicit(const char *times)
{
	net_fixture_set(&fixture, NET_FIXTURE_CLIENT,
	    v6 ? "ipv6/neigh/eth0/mcast_solicit"
	       : "ipv4/neigh/eth0/mcast_solicit",
	    times);
}

/* All of the segment is in the list, hosts that exist included. */
static void
begin(const char *more)
{
	/* the third request gets the first answer: none may be late */
	solicit("20");
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, net_fixture_vip(v6),
	    "-r", "-O", "acl 1 permit 192.168.100.0/24", "-O",
	    "acl 1 permit fd00:64::/64", "-O", "tarpit_acl 1", "-O", more,
	    v6 ? "[" NET_FIXTURE_VIP6 "]:0" : NET_FIXTURE_VIP4 ":0",
	    v6 ? net_fixture_server6(0) : net_fixture_server4(0),
	    v6 ? net_fixture_server6(1) : net_fixture_server4(1), NULL);
}

static void
end(void)
{
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

static long
count(const char *name)
{
	return report_number(dsrpen_ask(&pen, "dsr"), name);
}

static int
dial(unsigned i)
{
	return net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, host(i), PORT);
}

static int
state_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
	return info.tcpi_state;
}

static int
unsent(int fd)
{
	int n;

	ck_assert_int_eq(ioctl(fd, SIOCOUTQ, &n), 0);
	return n;
}

/* What it sends stays with it, and it goes on asking. */
static void
expect_stall(int fd)
{
	char block[4096] = { 0 };
	long asked = count("tarpit_ack");
	int total = 0;
	ssize_t n;

	while ((n = send(fd, block, sizeof(block), MSG_NOSIGNAL)) > 0)
		total += (int)n;
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_gt(total, 0);
	WAIT_FOR(count("tarpit_ack") >= asked + 3, 10000);
	ck_assert_int_eq(unsent(fd), total);
	ck_assert_int_eq(state_of(fd), TCP_ESTABLISHED);
}

static void
expect_held(const char *more)
{
	int fd;

	begin(more);
	fd = dial(50);
	WAIT_FOR(net_fixture_is_connected(fd), 10000);
	ck_assert_int_ge(count("tarpit_arp"), 1);
	/* the first one has found the way long, and asks accordingly */
	close(fd);
	fd = dial(50);
	WAIT_FOR(net_fixture_is_connected(fd), 10000);
	ck_assert_int_ge(count("tarpit_syn"), 2);
	expect_stall(fd);
	end();
}

START_TEST(a_client_is_held)
{
	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &two);
	v6 = _i & 1;
	expect_held((_i & 2) == 0 ? "debug 0"
		: v6		  ? "dsr_ip " NET_FIXTURE_DSR_IP6
				  : "dsr_ip " NET_FIXTURE_DSR_IP4);
}
END_TEST

START_TEST(a_client_is_held_behind_a_tag)
{
	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &tagged);
	v6 = _i & 1;
	expect_held("debug 0");
}
END_TEST

/* All at once, as a program does that looks for machines. */
START_TEST(a_scan)
{
	int fd[LAST + 1], n;
	long long start;
	unsigned i;

	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &two);
	v6 = _i & 1;
	begin("debug 0");
	start = wait_now_ms();
	for (i = FIRST; i <= LAST; i++)
		fd[i] = dial(i);
	for (i = FIRST, n = 0; i <= LAST; i++) {
		WAIT_FOR(net_fixture_is_connected(fd[i]), 10000);
		n++;
	}
	printf("%d addresses after %lld ms\n", n, wait_now_ms() - start);
	ck_assert_int_eq(count("tarpit_limited"), 0);
	ck_assert_int_ge(count("tarpit_arp"), n);
	for (i = FIRST; i <= LAST; i++)
		close(fd[i]);
	end();
}
END_TEST

/* Server 1 gets the address beside its own, and says so. */
static void
move_in(unsigned i)
{
	static const uint8_t start[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,
		0, 0, 0x64, 0, 4, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0x64,
		0, 4, 192, 168, 100 };
	uint8_t arp[42] = { 0 };
	struct net_fixture_tap tap;

	if (v6)
		net_fixture_set(&fixture, NET_FIXTURE_SERVER + 1,
		    "ipv6/conf/eth0/accept_dad", "1");
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1,
	    text("addr add %s/%d dev eth0\n", host(i), v6 ? 64 : 24));
	if (v6)
		return;
	memcpy(arp, start, sizeof(start));
	memcpy(arp + 38, start + 28, 3);
	arp[31] = arp[41] = (uint8_t)i;
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_SERVER + 1, "eth0");
	net_fixture_tap_send(&tap, arp, sizeof(arp));
	net_fixture_tap_close(&tap);
}

static bool
is_settled(unsigned i)
{
	const char *list = net_fixture_run(&fixture, NET_FIXTURE_SERVER + 1,
	    10000, "ip", "addr", "show", "dev", "eth0", NULL);

	ck_assert_ptr_null(strstr(list, "dadfailed"));
	return strstr(list, host(i)) != NULL &&
	    strstr(list, "tentative") == NULL;
}

/* The client has forgotten whom it knew. */
static void
forget(void)
{
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT, "neigh flush dev eth0\n");
}

START_TEST(a_host_that_moves_in)
{
	int held, far, near;
	long long start;

	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &two);
	v6 = _i & 1;
	begin("debug 0");
	held = dial(60);
	WAIT_FOR(net_fixture_is_connected(held), 10000);
	move_in(60);
	WAIT_FOR(is_settled(60), 10000);
	far = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER + 1, SOCK_STREAM, host(60), PORT);
	if (v6)
		forget();
	start = wait_now_ms();
	near = dial(60);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	WAIT_FOR(net_fixture_is_readable(far), 10000);
	printf("the host has a client after %lld ms\n", wait_now_ms() - start);
	/* also when asked for anew, and again */
	close(near);
	forget();
	near = dial(60);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	/* hosts that were there all the time */
	far = net_fixture_listen(&fixture, NET_FIXTURE_SERVER, SOCK_STREAM,
	    v6 ? net_fixture_server6(0) : net_fixture_server4(0), PORT);
	near = dial(3);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	WAIT_FOR(net_fixture_is_readable(far), 10000);
	end();
}
END_TEST

/* How many answers from the director's hardware address wait. */
static unsigned
answers_of_director(struct net_fixture_tap *tap)
{
	unsigned n = 0;

	while (net_fixture_tap_next(tap))
		n += tap->length >= 42 && !tap->outgoing &&
		    tap->bytes[11] == 2 && tap->bytes[12] == 8 &&
		    tap->bytes[13] == 6 && tap->bytes[21] == 2;
	return n;
}

/* Some ask all, each second, to see whether their link works, however often
 * they are answered. The host has said nothing to all. */
START_TEST(a_host_that_is_watched)
{
	uint8_t ask[42] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0x64,
		0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0x64, 0, 1, 192,
		168, 100, 1, [38] = 192, 168, 100, 66 };
	struct net_fixture_tap tap;
	int i;

	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &two);
	v6 = false;
	begin("debug 0");
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1,
	    "addr add 192.168.100.66/24 dev eth0\n");
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_CLIENT, "eth0");
	for (i = 0; i < 4; i++) {
		long long next = wait_now_ms() + 1000;

		net_fixture_tap_send(&tap, ask, sizeof(ask));
		WAIT_FOR(wait_now_ms() >= next, 5000);
		ck_assert_uint_eq(answers_of_director(&tap), 0);
	}
	ck_assert_int_eq(count("tarpit_arp"), 0);
	net_fixture_tap_close(&tap);
	end();
}
END_TEST

/* Not the client's own reset or error either: a time in vain. */
static bool
is_refused(int fd)
{
	int why = 0;
	socklen_t len = sizeof(why);

	ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len), 0);
	ck_assert(why == 0 || why == EHOSTUNREACH);
	return why == EHOSTUNREACH;
}

START_TEST(the_list_changes)
{
	int fd;

	NEED_DSR_OF_OURS("a tarpit of this kind");
	NEED_NET_FIXTURE(&fixture, &two);
	v6 = false;
	begin("acl 2 deny 10.0.0.1");
	/* what is not answered is to fail soon */
	solicit("6");
	net_fixture_ip(
	    &fixture, NET_FIXTURE_CLIENT, "addr add 10.9.0.1/24 dev eth0\n");
	fd = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, "10.9.0.50", PORT);
	WAIT_FOR(is_refused(fd), 20000);
	close(fd);
	(void)dsrpen_ask(&pen, "acl 1 permit 10.9.0.0/26");
	fd = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, "10.9.0.50", PORT);
	WAIT_FOR(net_fixture_is_connected(fd), 10000);
	/* all but what another one denies */
	ck_assert_str_eq(dsrpen_ask(&pen, "tarpit_acl 2"), "tarpit_acl = 2\n");
	fd = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, "10.9.0.200", PORT);
	WAIT_FOR(net_fixture_is_connected(fd), 10000);
	/* all of IPv6 is nothing of IPv4 */
	(void)dsrpen_ask(&pen, "acl 3 permit ::/0; tarpit_acl 3");
	fd = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, "10.9.0.52", PORT);
	WAIT_FOR(is_refused(fd), 20000);
	close(fd);
	/* a list that is empty permits nobody here */
	(void)dsrpen_ask(&pen, "tarpit_acl 7");
	WAIT_FOR(child_has_said(&pen.child, "its list is empty acl=7"), 5000);
	fd = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, "10.9.0.51", PORT);
	WAIT_FOR(is_refused(fd), 20000);
	end();
}
END_TEST

SUITE(test_dsr_tarpit)
{
	Suite *s = suite_create("dsr_tarpit");
	TCase *t = tcase_create("dsr_tarpit");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, a_client_is_held, 0, 4);
	tcase_add_loop_test(t, a_client_is_held_behind_a_tag, 0, 2);
	tcase_add_loop_test(t, a_scan, 0, 2);
	tcase_add_loop_test(t, a_host_that_moves_in, 0, 2);
	tcase_add_test(t, a_host_that_is_watched);
	tcase_add_test(t, the_list_changes);
	suite_add_tcase(s, t);
	return s;
}
