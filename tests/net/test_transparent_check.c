/* test_transparent_check.c: what --check finds on the way of answers to
 * clients' addresses, each thing provoked, and gone when the command that it
 * prints was carried out. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/clientnet.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct pen pen;

/* Runs --check in front of servers of that family; returns what it found. */
static const char *
check(bool v6)
{
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "--check", "--transparent", "-r",
	    v6 ? "[" CLIENTNET_FRONT6 "]:80" : CLIENTNET_FRONT4 ":80",
	    v6 ? "[fd00:64::3]:80" : "192.168.100.3:80",
	    v6 ? "[fd00:64::4]:80" : "192.168.100.4:80", NULL);
	net_fixture_leave(&fixture);
	(void)child_wait(&pen.child, 30000);
	return child_err(&pen.child);
}

static void
is_fine(bool v6)
{
	ck_assert_str_eq(check(v6), "");
	ck_assert_int_eq(pen.child.status, 0);
}

/* Carries out the command of the report's line. */
static void
carry_out(const char *line, enum net_fixture_place where)
{
	const char *command = strstr(line, "; fix: ");

	ck_assert_msg(command != NULL, "%s", line);
	command += strlen("; fix: ");
	net_fixture_run(&fixture, where, 10000, "sh", "-c",
	    text("%.*s", (int)strcspn(command, "\n"), command), NULL);
}

static const char note_of_mark[] =
    "note: transparent: a packet filter must set mark 1 on replies from "
    "servers to clients, ";

/* It finds that, alone but for what a packet filter must do then, and its
 * command is carried out there. */
static void
fix(bool v6, const char *finding, enum net_fixture_place where)
{
	const char *report = check(v6), *next;
	bool wrong = strncmp(report, "error", 5) == 0;

	next = report + strcspn(report, "\n");
	ck_assert_msg(strncmp(report, finding, strlen(finding)) == 0 &&
		(next[1] == '\0' ||
		    strncmp(next + 1, note_of_mark, sizeof(note_of_mark) - 1) ==
			0),
	    "%s", report);
	ck_assert_int_eq(pen.child.status, wrong);
	carry_out(report, where);
}

/* The commands of all lines are carried out. */
static void
fix_all(bool v6)
{
	const char *report = check(v6);

	ck_assert_int_eq(pen.child.status, 1);
	for (; *report != '\0'; report += strcspn(report, "\n") + 1)
		carry_out(report, NET_FIXTURE_DIRECTOR);
}

/* Nothing is found that had to be mended first. */
START_TEST(all_at_once)
{
	NEED_PROGRAM("nft");
	NEED_CLIENTNET(&fixture);
	fix_all(false);
	is_fine(false);
	fix_all(true);
	is_fine(true);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "nft", "flush",
	    "ruleset", NULL);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "ip", "route",
	    "flush", "table", "100", NULL);
	fix_all(false);
	is_fine(false);
	net_fixture_down(&fixture);
}
END_TEST

/* An echo of `size` bytes through pen. The server's answer comes in fragments,
 * of which only the first has the ports that the packet filter finds its socket
 * by. */
static void
expect_echo(int near, int server, size_t size)
{
	static char sent[20000], got[sizeof(sent) + 1];
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);

	ck_assert_uint_le(size, sizeof(sent));
	memset(sent, 'x', size);
	ck_assert_int_eq(send(near, sent, size, 0), (ssize_t)size);
	WAIT_FOR(net_fixture_is_readable(server), 10000);
	ck_assert_int_eq(recvfrom(server, got, sizeof(got), 0,
			     (struct sockaddr *)&a, &n),
	    (ssize_t)size);
	ck_assert_int_eq(
	    sendto(server, got, size, 0, (struct sockaddr *)&a, n),
	    (ssize_t)size);
	WAIT_FOR(net_fixture_is_readable(near), 10000);
	ck_assert_int_eq(recv(near, got, sizeof(got), 0), (ssize_t)size);
}

static void
expect_echoes(const char *front, const char *server)
{
	int near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, front, 5060);
	int far = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, server, 5061);

	expect_echo(near, far, 1000);
	expect_echo(near, far, 3000);
	expect_echo(near, far, 20000);
	close(near);
	close(far);
}

/* With the packet filter as it is printed. */
START_TEST(answers_in_fragments)
{
	NEED_PROGRAM("nft");
	NEED_CLIENTNET(&fixture);
	fix_all(false);
	fix_all(true);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "-f", "--transparent", "-U",
	    CLIENTNET_FRONT4 ":5060", "192.168.100.3:5061", NULL);
	net_fixture_leave(&fixture);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 60000);
	expect_echoes(CLIENTNET_FRONT4, "192.168.100.3");
	pen_down(&pen);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "-f", "--transparent", "-U",
	    "[" CLIENTNET_FRONT6 "]:5060", "[fd00:64::3]:5061", NULL);
	net_fixture_leave(&fixture);
	WAIT_FOR(child_has_said(&pen.child, "started version="), 60000);
	expect_echoes(CLIENTNET_FRONT6, "fd00:64::3");
	pen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(rules_and_routes)
{
	NEED_CLIENTNET(&fixture);
	clientnet_deliver(&fixture);
	is_fine(false);
	is_fine(true);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "sh", "-c",
	    "ip rule del lookup 100; ip -6 rule del lookup 100; "
	    "ip route flush table 100; ip -6 route flush table 100",
	    NULL);
	fix(false,
	    "error: transparent: replies from server 0 (192.168.100.3) to "
	    "clients are not delivered locally: no policy routing rule",
	    NET_FIXTURE_DIRECTOR);
	ck_assert_ptr_nonnull(
	    strstr(check(false), "must set mark 1 on it, and"));
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "ip", "route",
	    "flush", "table", "100", NULL);
	fix(false,
	    "error: transparent: replies from server 0 (192.168.100.3) to "
	    "clients are not delivered locally: table 100, for mark 1,",
	    NET_FIXTURE_DIRECTOR);
	ck_assert_ptr_nonnull(
	    strstr(check(false), "must set mark 1 on it, and"));
	fix(true,
	    "error: transparent: replies from server 0 (fd00:64::3) to "
	    "clients are not delivered locally: no policy routing rule",
	    NET_FIXTURE_DIRECTOR);
	ck_assert_ptr_nonnull(
	    strstr(check(true), "must set mark 1 on it, and"));
	net_fixture_down(&fixture);
}
END_TEST

/* With rules for a mark alone nothing is delivered until there is one. */
START_TEST(packet_filter)
{
	NEED_PROGRAM("nft");
	NEED_CLIENTNET(&fixture);
	fix(false,
	    "error: transparent: replies from server 0 (192.168.100.3) to "
	    "clients are not delivered locally: no policy routing rule",
	    NET_FIXTURE_DIRECTOR);
	fix(true,
	    "error: transparent: replies from server 0 (fd00:64::3) to "
	    "clients are not delivered locally: no policy routing rule",
	    NET_FIXTURE_DIRECTOR);
	ck_assert_ptr_nonnull(strstr(check(true), "a packet filter must"));
	fix(false,
	    "error: transparent: the reply of server 0 (192.168.100.3) to a "
	    "client (192.0.2.1) did not arrive: a packet filter must set mark "
	    "1 on it, and the server's route to clients must lead to this "
	    "host; fix: nft ",
	    NET_FIXTURE_DIRECTOR);
	is_fine(false);
	is_fine(true);
	net_fixture_down(&fixture);
}
END_TEST

/* A server that answers clients by another way than through here. */
START_TEST(servers_with_other_routes)
{
	NEED_CLIENTNET(&fixture);
	clientnet_deliver(&fixture);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1, "route del default\n");
	net_fixture_run(&fixture, NET_FIXTURE_SERVER + 1, 10000, "ip", "-6",
	    "route", "del", "default", NULL);
	fix(false,
	    "warning: transparent: the reply of server 1 (192.168.100.4) to a "
	    "client (192.0.2.1) did not arrive: its route to clients must "
	    "lead to this host; to run there; fix: ip route replace default "
	    "via 192.168.100.2\n",
	    NET_FIXTURE_SERVER + 1);
	is_fine(false);
	fix(true,
	    "warning: transparent: the reply of server 1 (fd00:64::4) to a "
	    "client (2001:db8::1) did not arrive: ",
	    NET_FIXTURE_SERVER + 1);
	is_fine(true);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER, "link set eth0 down\n");
	ck_assert_ptr_nonnull(strstr(check(false),
	    "note: transparent: server 0 (192.168.100.3) does not answer"));
	ck_assert_int_eq(pen.child.status, 0);
	net_fixture_down(&fixture);
}
END_TEST

/* A rule without an interface makes the server's address local, too, where
 * marks count for that. */
START_TEST(reverse_path_filter)
{
	NEED_CLIENTNET(&fixture);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "rule add fwmark 1 lookup 100\n"
	    "route add local 0.0.0.0/0 dev lo table 100\n");
	ck_assert_ptr_nonnull(
	    strstr(check(false), "must set mark 1 on it, and"));
	net_fixture_set(&fixture, NET_FIXTURE_DIRECTOR,
	    "ipv4/conf/all/src_valid_mark", "1");
	fix(false,
	    "error: transparent: rp_filter of interface eth0 drops replies "
	    "from server 0 (192.168.100.3) to clients",
	    NET_FIXTURE_DIRECTOR);
	ck_assert_ptr_nonnull(
	    strstr(check(false), "must set mark 1 on it, and"));
	net_fixture_down(&fixture);
}
END_TEST

/* A server beside pen. */
START_TEST(a_server_here)
{
	int at;

	NEED_CLIENTNET(&fixture);
	at = net_fixture_listen(
	    &fixture, NET_FIXTURE_DIRECTOR, SOCK_STREAM, "192.168.100.2", 80);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "--check", "--transparent", "-r",
	    CLIENTNET_FRONT4 ":80", "192.168.100.2:80", NULL);
	net_fixture_leave(&fixture);
	ck_assert_int_eq(child_wait(&pen.child, 30000), 1);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "sh", "-c",
	    strstr(child_err(&pen.child), "; fix: ") + strlen("; fix: "), NULL);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "--check", "--transparent", "-r",
	    CLIENTNET_FRONT4 ":80", "192.168.100.2:80", NULL);
	net_fixture_leave(&fixture);
	ck_assert_int_eq(child_wait(&pen.child, 30000), 0);
	ck_assert_str_eq(child_err(&pen.child), "");
	close(at);
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(no_right)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");

	NEED_CLIENTNET(&fixture);
	NEED_PROGRAM("setpriv");
	clientnet_deliver(&fixture);
	setenv("PEN_TEST_WRAPPER",
	    text("%s --bounding-set=-net_raw,-net_admin %s",
		child_find("setpriv"), wrapper != NULL ? wrapper : ""),
	    1);
	ck_assert_str_eq(check(false),
	    "error: transparent: no right to sockets with addresses of "
	    "clients (CAP_NET_RAW), so servers were not tested; fix: setcap "
	    "cap_net_raw+ep $(command -v pen)\n");
	ck_assert_int_eq(pen.child.status, 1);
	net_fixture_down(&fixture);
}
END_TEST

/* One that starts says what it knows without asking servers. */
START_TEST(said_at_the_start)
{
	NEED_CLIENTNET(&fixture);
	net_fixture_enter(&fixture, NET_FIXTURE_DIRECTOR);
	pen_start(&pen, "-f", "--transparent", "-r", CLIENTNET_FRONT4 ":80",
	    "192.168.100.3", NULL);
	net_fixture_leave(&fixture);
	WAIT_FOR(child_has_ended(&pen.child) ||
		child_has_said(&pen.child, "started version="),
	    60000);
	ck_assert(child_has_said(
	    &pen.child, "locally: no policy routing rule fix=\""));
	pen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_transparent_check)
{
	Suite *s = suite_create("transparent_check");

	SUITE_ADD(s, all_at_once, 60);
	SUITE_ADD(s, answers_in_fragments, 60);
	SUITE_ADD(s, rules_and_routes, 60);
	SUITE_ADD(s, packet_filter, 60);
	SUITE_ADD(s, servers_with_other_routes, 60);
	SUITE_ADD(s, reverse_path_filter, 60);
	SUITE_ADD(s, a_server_here, 60);
	SUITE_ADD(s, no_right, 60);
	SUITE_ADD(s, said_at_the_start, 60);
	return s;
}
