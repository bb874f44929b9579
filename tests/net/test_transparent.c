/* test_transparent.c: servers see the addresses of clients. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/clientnet.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

#define CLIENT4 CLIENTNET_CLIENT4
#define CLIENT6 CLIENTNET_CLIENT6
#define FRONT4	CLIENTNET_FRONT4
#define FRONT6	CLIENTNET_FRONT6
#define SERVER4 "192.168.100.3"
#define SERVER6 "fd00:64::3"

static const struct child_gifts nothing;
static struct net_fixture fixture;
static struct pen pen;
static struct endpoint control;

#define NEED_NETWORK()                       \
	do {                                 \
		NEED_CLIENTNET(&fixture);    \
		clientnet_deliver(&fixture); \
	} while (0)

static void
wait_for_pen(void)
{
	WAIT_FOR(child_has_ended(&pen.child) ||
		child_has_said(&pen.child, "started version="),
	    60000);
	ck_assert_msg(pen.child.running, "%s", child_err(&pen.child));
}

#define PEN(...)                                                          \
	do {                                                              \
		endpoint_new(&control, ENDPOINT_UNIX);                    \
		net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);        \
		pen_start_given(&pen, &nothing, "-f", "-C", control.text, \
		    __VA_ARGS__, NULL);                                   \
		net_fixture_leave(&fixture);                              \
		wait_for_pen();                                           \
	} while (0)

static const char *
ask(const char *line)
{
	return net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000,
	    ctl_client(), control.text, line, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	net_fixture_down(&fixture);
}

/* ---- who is seen ---- */

static const struct family {
	const char *client, *front, *server, *other_server;
} families[] = { { CLIENT4, FRONT4, SERVER4, "192.168.100.4" },
	{ CLIENT6, FRONT6, SERVER6, "fd00:64::4" } };

/* "10.9.0.1 5000", or without the port. */
static const char *
name_of(const struct sockaddr_storage *a, bool with_port)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;
	bool v6 = a->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN];

	inet_ntop(a->ss_family,
	    v6 ? (const void *)&in6->sin6_addr : &in->sin_addr, host,
	    sizeof(host));
	return with_port
	    ? text("%s %d", host, ntohs(v6 ? in6->sin6_port : in->sin_port))
	    : text("%s", host);
}

static const char *
own_name(int fd)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	return name_of(&a, true);
}

static void
hear(int fd, const char *what)
{
	char got[32] = "";

	WAIT_FOR(net_fixture_is_readable(fd), 10000);
	ck_assert_int_eq(
	    recv(fd, got, sizeof(got) - 1, 0), (int)strlen(what));
	ck_assert_str_eq(got, what);
}

/* Connects a client and returns whom the server sees; bytes go both ways. */
static const char *
tcp_seen(const char *from, const char *front, int listener)
{
	int near = net_fixture_dial_from(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, from, front, 80);
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	int far;

	WAIT_FOR(net_fixture_is_connected(near), 10000);
	WAIT_FOR(net_fixture_is_readable(listener), 10000);
	far = accept(listener, (struct sockaddr *)&a, &n);
	ck_assert_int_ge(far, 0);
	ck_assert_int_eq(send(near, "ask", 3, 0), 3);
	hear(far, "ask");
	ck_assert_int_eq(send(far, "answer", 6, 0), 6);
	hear(near, "answer");
	close(near);
	close(far);
	return name_of(&a, false);
}

/* A datagram of the client's socket, and its answer; whom the server sees, with
 * the port. */
static const char *
udp_seen(int near, int server)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	char got[8] = "";

	ck_assert_int_eq(send(near, "ask", 3, 0), 3);
	WAIT_FOR(net_fixture_is_readable(server), 10000);
	ck_assert_int_eq(recvfrom(server, got, sizeof(got), 0,
			     (struct sockaddr *)&a, &n),
	    3);
	ck_assert_int_eq(
	    sendto(server, "answer", 6, 0, (struct sockaddr *)&a, n), 6);
	hear(near, "answer");
	return name_of(&a, true);
}

static int
udp_client(const struct family *f, int port, int to_port)
{
	int fd = net_fixture_listen(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, f->client, port);
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)to_port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)to_port) };

	if (inet_pton(AF_INET, f->front, &in.sin_addr) == 1)
		ck_assert_int_eq(
		    connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	else if (inet_pton(AF_INET6, f->front, &in6.sin6_addr) == 1)
		ck_assert_int_eq(
		    connect(fd, (struct sockaddr *)&in6, sizeof(in6)), 0);
	return fd;
}

static const char *
front_of(const struct family *f, int port)
{
	return text(strchr(f->front, ':') != NULL ? "[%s]:%d" : "%s:%d",
	    f->front, port);
}

static const char *
server_at(const char *host, int port)
{
	return text(
	    strchr(host, ':') != NULL ? "[%s]:%d" : "%s:%d", host, port);
}

/* ---- connections ---- */

static void
expect_tcp(const struct family *f)
{
	int at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, f->server, 80);
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_str_eq(tcp_seen(f->client, f->front, at), f->client);
	close(at);
}

START_TEST(connections)
{
	unsigned i;

	NEED_NETWORK();
	for (i = 0; i < 2; i++) {
		PEN("--transparent", "-r", front_of(&families[i], 80),
		    server_at(families[i].server, 80));
		expect_tcp(&families[i]);
		pen_down(&pen);
	}
	net_fixture_down(&fixture);
}
END_TEST

/* A server that is down, and then the next one. */
START_TEST(the_next_server)
{
	int at;

	NEED_NETWORK();
	PEN("--transparent", "-r", front_of(&families[0], 80), SERVER4,
	    "192.168.100.4");
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER + 1, SOCK_STREAM, "192.168.100.4", 80);
	ck_assert_str_eq(tcp_seen(CLIENT4, FRONT4, at), CLIENT4);
	ck_assert_str_eq(tcp_seen(CLIENT4, FRONT4, at), CLIENT4);
	close(at);
	down();
}
END_TEST

/* No connection is opened before its client is here; off again, ours is
 * seen. */
START_TEST(no_connections_in_advance)
{
	int at;

	NEED_NETWORK();
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER4, 80);
	PEN("--transparent", "--idlers", "3", "-r",
	    front_of(&families[0], 80), SERVER4);
	ck_assert(child_has_said(
	    &pen.child, "idlers has no effect with transparent"));
	ck_assert_str_eq(tcp_seen(CLIENT4, FRONT4, at), CLIENT4);
	ck_assert_str_eq(ask("no transparent"), "");
	WAIT_FOR(net_fixture_is_readable(at), 10000);
	ck_assert_str_eq(ask("transparent"), "");
	close(at); /* with those that were opened in advance */
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER4, 80);
	ck_assert_str_eq(tcp_seen(CLIENT4, FRONT4, at), CLIENT4);
	close(at);
	down();
}
END_TEST

/* The families of a client and its server may differ. */
START_TEST(another_family)
{
	const char *said;
	int at, i;

	NEED_NETWORK();
	PEN("--transparent", "-r", front_of(&families[0], 80),
	    server_at(SERVER6, 80));
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER6, 80);
	for (i = 0; i < 2; i++)
		ck_assert_str_ne(tcp_seen(CLIENT4, FRONT4, at), CLIENT4);
	said = strstr(child_err(&pen.child), "transparent: servers see");
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_null(strstr(said + 1, "transparent: servers see"));
	down();
}
END_TEST

/* The client is who the PROXY header says; the port is the listener's. */
START_TEST(behind_a_proxy)
{
	static const char said[] =
	    "PROXY TCP4 10.9.0.77 10.9.0.2 4000 999\r\nask";
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	int at, near, far;

	NEED_NETWORK();
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER4, 80);
	PEN("-O", "acl 1 permit 10.9.0.0/24", "--accept-proxy", "1",
	    "--transparent", "-r", front_of(&families[0], 80), SERVER4 ":0");
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, FRONT4, 80);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	ck_assert_int_eq(send(near, said, strlen(said), 0), (int)strlen(said));
	WAIT_FOR(net_fixture_is_readable(at), 10000);
	far = accept(at, (struct sockaddr *)&a, &n);
	ck_assert_str_eq(name_of(&a, false), "10.9.0.77");
	hear(far, "ask");
	close(near);
	close(far);
	close(at);
	down();
}
END_TEST

/* A server that is a client, too, would not take its own address from
 * outside. */
START_TEST(a_server_as_client)
{
	int at, near;

	NEED_NETWORK();
	PEN("--transparent", "-r", "192.168.100.2:80", SERVER4);
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER4, 80);
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, "192.168.100.2", 80);
	WAIT_FOR(net_fixture_is_readable(at), 10000);
	close(near);
	close(at);
	down();
}
END_TEST

/* ---- datagrams ---- */

static void
expect_udp(const struct family *f)
{
	int at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, f->server, 5060);
	int other = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, f->server, 5061);
	/* the port of our listener, as SIP, NTP and syslog have it */
	int same = udp_client(f, 5060, 5060);
	int second = udp_client(f, 40000, 5060);
	int third;
	const char *seen;

	ck_assert_str_eq(udp_seen(same, at), own_name(same));
	ck_assert_str_eq(udp_seen(second, at), own_name(second));
	ck_assert_str_eq(udp_seen(same, at), own_name(same));
	close(same);
	/* the same client and port, but another flow, and another server
	 * port: another port of the client's address */
	third = udp_client(f, 5060, 5061);
	seen = udp_seen(third, other);
	ck_assert_str_ne(seen, own_name(third));
	ck_assert_int_eq(strncmp(seen, f->client, strlen(f->client)), 0);
	close(second);
	close(third);
	close(at);
	close(other);
}

START_TEST(datagrams)
{
	unsigned i;

	NEED_NETWORK();
	for (i = 0; i < 2; i++) {
		PEN("--transparent", "-U",
		    strchr(families[i].front, ':') != NULL
			? "[::]:5060+5061"
			: "0.0.0.0:5060+5061",
		    server_at(families[i].server, 0));
		expect_udp(&families[i]);
		pen_down(&pen);
	}
	net_fixture_down(&fixture);
}
END_TEST

/* ---- rights ---- */

#define NEED_USERS()                                                       \
	do {                                                               \
		if (!file_has("/proc/self/uid_map", "4294967295"))         \
			SKIP("root of a user namespace has no other user"); \
	} while (0)

/* CAP_NET_BIND_SERVICE, of each other user, is number 10, CAP_NET_RAW 13. */
static void
expect_rights(pid_t pid)
{
	const char *two = "0000000000002400", *none = "0000000000000000";

	ck_assert_ptr_nonnull(strstr(child_status_line(pid, "CapPrm"), two));
	ck_assert_ptr_nonnull(strstr(child_status_line(pid, "CapEff"), two));
	ck_assert_ptr_nonnull(strstr(child_status_line(pid, "CapAmb"), none));
	ck_assert_ptr_null(strstr(child_status_line(pid, "Uid"), "\t0\t"));
}

START_TEST(another_user)
{
	NEED_NETWORK();
	NEED_USERS();
	PEN("-u", "nobody", "--transparent", "-r", front_of(&families[0], 80),
	    SERVER4);
	expect_rights(pen.child.pid);
	expect_tcp(&families[0]);
	down();
}
END_TEST

/* The program that takes over has the right, too, and hands it to none of its
 * own. */
START_TEST(upgrade)
{
	pid_t new;

	NEED_NETWORK();
	NEED_USERS();
	NEED_UPGRADES(upgrading_install());
	PEN("-u", "nobody", "--transparent", "-r", front_of(&families[0], 80),
	    SERVER4);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	new = upgrading_go(&control, pen.child.pid);
	net_fixture_leave(&fixture);
	expect_rights(new);
	expect_tcp(&families[0]);
	upgrading_end(new);
	net_fixture_down(&fixture);
}
END_TEST

/* Without the right it is refused, at the start and later. */
START_TEST(no_right)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");
	const char *argv[] = { NULL, control.text, "transparent", NULL };
	struct child c;

	NEED_NETWORK();
	NEED_PROGRAM("setpriv");
	setenv("PEN_TEST_WRAPPER",
	    text("%s --bounding-set=-net_raw,-net_admin %s",
		child_find("setpriv"), wrapper != NULL ? wrapper : ""),
	    1);
	pen_expect_failure("they need root, or the capability CAP_NET_RAW: ",
	    "-f", "--transparent", "-r", "127.0.0.1:8", SERVER4, NULL);
	PEN("-r", front_of(&families[0], 80), SERVER4);
	argv[0] = ctl_client();
	net_fixture_start(&fixture, NET_FIXTURE_DIRECTOR, &c, argv);
	ck_assert_int_eq(child_wait(&c, 10000), 1);
	ck_assert(child_has_said(&c,
	    "they need the capability CAP_NET_RAW, which is kept only if "
	    "transparent is set at startup"));
	down();
}
END_TEST

/* ---- addresses that come later ---- */

START_TEST(freebind)
{
	const char *key = scratch("key");
	int at;

	NEED_NETWORK();
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, SERVER4, 80);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_expect_failure("\"10.9.0.3:80\": ", "-f", "-r", "10.9.0.3:80",
	    SERVER4, NULL);
	pen_expect_failure("\"10.9.0.3:81\": ", "-f", "-r", "-O",
	    "acl 5 permit 127.0.0.1; web_acl 5", "--web", "10.9.0.3:81", "80",
	    SERVER4, NULL);
	write_file(key, "0123456789012345678901234567890123456789\n");
	ck_assert_int_eq(chmod(key, 0600), 0);
	net_fixture_leave(&fixture);
	PEN("--freebind", "-r", "--web", "10.9.0.3:81", "-u", "nobody", "-C",
	    "10.9.0.3:82", "-O", text("peer_listen 10.9.0.3:83 key %s", key),
	    "10.9.0.3:80,[fd09::3]:80", SERVER4);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "addr add 10.9.0.3/24 dev eth0\n"
	    "addr add fd09::3/64 dev eth0 nodad\n");
	ck_assert_str_ne(tcp_seen(CLIENT4, "10.9.0.3", at), CLIENT4);
	ck_assert_str_ne(tcp_seen(CLIENT6, "fd09::3", at), CLIENT4);
	close(at);
	down();
}
END_TEST

SUITE(test_transparent)
{
	Suite *s = suite_create("transparent");

	SUITE_ADD(s, connections, 60);
	SUITE_ADD(s, the_next_server, 60);
	SUITE_ADD(s, no_connections_in_advance, 60);
	SUITE_ADD(s, another_family, 60);
	SUITE_ADD(s, behind_a_proxy, 60);
	SUITE_ADD(s, a_server_as_client, 60);
	SUITE_ADD(s, datagrams, 60);
	SUITE_ADD(s, another_user, 60);
	SUITE_ADD(s, upgrade, 60);
	SUITE_ADD(s, no_right, 60);
	SUITE_ADD(s, freebind, 60);
	return s;
}
