/* test_vanish.c: clients and servers that vanish without a word: their cable is
 * pulled. Pen is one of the hosts of the segment, between both. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/net_fixture.h"
#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"

/* The places of pen and of its server. */
#define PEN    NET_FIXTURE_SERVER
#define SERVER (NET_FIXTURE_SERVER + 1)
enum { PORT = 80 };

static struct net_fixture fixture;
static struct child pen;
static int client, server, listener;

static bool
is_over(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

/* A client and a server that have each heard the other, with pen between
 * them. */
static void
up(const char *settings)
{
	const char *program = getenv("PEN"),
		   *argv[] = { program != NULL ? program : "./pen", "-f", "-r",
			   "-O", settings, "-C", scratch("ctl"), NULL, NULL,
			   NULL };
	char at[64], to[64], c;

	snprintf(at, sizeof(at), "%s:%d", net_fixture_server4(0), PORT);
	snprintf(to, sizeof(to), "%s:%d", net_fixture_server4(1), PORT);
	argv[7] = at;
	argv[8] = to;
	listener = net_fixture_listen(
	    &fixture, SERVER, SOCK_STREAM, net_fixture_server4(1), PORT);
	net_fixture_start(&fixture, PEN, &pen, argv);
	WAIT_FOR(endpoint_path_listens(scratch("ctl")), 10000);
	client = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, SOCK_STREAM,
	    net_fixture_server4(0), PORT);
	WAIT_FOR(net_fixture_is_connected(client), 5000);
	WAIT_FOR(net_fixture_is_readable(listener), 5000);
	server = accept(listener, NULL, NULL);
	ck_assert_int_ge(server, 0);
	ck_assert_int_eq(send(client, "x", 1, MSG_NOSIGNAL), 1);
	WAIT_FOR(recv(server, &c, 1, MSG_DONTWAIT) == 1, 5000);
	ck_assert_int_eq(send(server, "y", 1, MSG_NOSIGNAL), 1);
	WAIT_FOR(recv(client, &c, 1, MSG_DONTWAIT) == 1, 5000);
}

static void
down(void)
{
	child_stop(&pen, SIGTERM);
	close(client);
	close(server);
	close(listener);
	net_fixture_down(&fixture);
}

static void
pull_cable(enum net_fixture_place where)
{
	net_fixture_ip(&fixture, where, "link set eth0 down\n");
}

static const char soon[] =
    "keepalive_time 1; keepalive_interval 1; keepalive_count 2";

START_TEST(client_vanishes)
{
	struct net_fixture_options o = { .servers = 2 };

	NEED_NET_FIXTURE(&fixture, &o);
	up(soon);
	pull_cable(NET_FIXTURE_CLIENT);
	WAIT_FOR(is_over(server), 20000);
	down();
}
END_TEST

START_TEST(server_vanishes)
{
	struct net_fixture_options o = { .servers = 2 };

	NEED_NET_FIXTURE(&fixture, &o);
	up(soon);
	pull_cable(SERVER);
	WAIT_FOR(is_over(client), 20000);
	down();
}
END_TEST

/* What was sent to it last is never acknowledged: the kernel asks nothing then,
 * and sends it again for a quarter of an hour. */
START_TEST(vanished_with_bytes_on_the_way)
{
	struct net_fixture_options o = { .servers = 2 };

	NEED_NET_FIXTURE(&fixture, &o);
	up("user_timeout 2");
	pull_cable(_i == 0 ? SERVER : NET_FIXTURE_CLIENT);
	ck_assert_int_eq(
	    send(_i == 0 ? client : server, "z", 1, MSG_NOSIGNAL), 1);
	WAIT_FOR(is_over(_i == 0 ? client : server), 20000);
	down();
}
END_TEST

/* Connections that are there follow what is set anew: both that of the client,
 * which has its times from the listener, and that of the server. */
START_TEST(times_set_anew)
{
	struct net_fixture_options o = { .servers = 2 };

	NEED_NET_FIXTURE(&fixture, &o);
	up("keepalive_time 3600");
	net_fixture_run(&fixture, PEN, 10000, "./penctl", scratch("ctl"),
	    "keepalive_time 1; keepalive_interval 1; keepalive_count 2", NULL);
	pull_cable(_i == 0 ? SERVER : NET_FIXTURE_CLIENT);
	WAIT_FOR(is_over(_i == 0 ? client : server), 20000);
	down();
}
END_TEST

/* The address that pen connects from moves to another host, as that of a VRRP
 * standby does: it is no server that has failed. */
START_TEST(source_address_vanishes)
{
	struct net_fixture_options o = { .servers = 2 };
	const char *gone = net_fixture_server4(5);
	int second;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_ip(&fixture, PEN, text("addr add %s/24 dev eth0\n", gone));
	up(text("source %s", gone));
	net_fixture_ip(&fixture, PEN, text("addr del %s/24 dev eth0\n", gone));
	second = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, SOCK_STREAM,
	    net_fixture_server4(0), PORT);
	WAIT_FOR(is_over(second), 20000);
	WAIT_FOR(child_has_said(
		     &pen, "no local port left, or no source address server=0"),
	    5000);
	ck_assert_ptr_null(strstr(child_err(&pen), "server failed"));
	close(second);
	down();
}
END_TEST

static unsigned
index_of(const char *interface)
{
	unsigned index;

	net_fixture_enter(&fixture, PEN);
	index = if_nametoindex(interface);
	net_fixture_leave(&fixture);
	return index;
}

static bool
goes_through(unsigned index)
{
	return strstr(net_fixture_run(&fixture, PEN, 10000, "./penctl",
			  scratch("ctl"), "servers", NULL),
		   text("addr fe80::77%%%u ", index)) != NULL;
}

/* A container's, or a tunnel's: it has another number then. */
START_TEST(interface_is_made_again)
{
	static const char make[] = "link add x0 type veth peer name x1\n"
				   "link set x0 up\n"
				   "link set x1 up\n"
				   "addr add fe80::77/64 dev x0 nodad\n";
	struct net_fixture_options o = { .servers = 1 };
	const char *program = getenv("PEN"),
		   *argv[] = { program != NULL ? program : "./pen", "-f", "-O",
			   "resolve_interval 0.1", "-C", scratch("ctl"),
			   text("%s:%d", net_fixture_server4(0), PORT),
			   "[fe80::77%x0]:80", NULL };
	unsigned before;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_ip(&fixture, PEN, make);
	net_fixture_start(&fixture, PEN, &pen, argv);
	WAIT_FOR(endpoint_path_listens(scratch("ctl")), 10000);
	before = index_of("x0");
	ck_assert(goes_through(before));
	net_fixture_ip(&fixture, PEN, "link del x0\n");
	WAIT_FOR(child_has_said(&pen, "keeping addresses"), 10000);
	net_fixture_ip(&fixture, PEN, make);
	ck_assert_uint_ne(index_of("x0"), before);
	WAIT_FOR(goes_through(index_of("x0")), 10000);
	child_stop(&pen, SIGTERM);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_vanish)
{
	Suite *s = suite_create("vanish");
	TCase *c = tcase_create("either");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, vanished_with_bytes_on_the_way, 0, 2);
	tcase_add_loop_test(c, times_set_anew, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, client_vanishes, 60);
	SUITE_ADD(s, server_vanishes, 60);
	SUITE_ADD(s, source_address_vanishes, 60);
	SUITE_ADD(s, interface_is_made_again, 60);
	return s;
}
