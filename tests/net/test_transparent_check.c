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
carry_out(const char *line)
{
	const char *command = strstr(line, "; fix: ");

	ck_assert_msg(command != NULL, "%s", line);
	command += strlen("; fix: ");
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "sh", "-c",
	    text("%.*s", (int)strcspn(command, "\n"), command), NULL);
}

static const char note_of_mark[] =
    "note: transparent: a packet filter must set mark 1 on replies from "
    "servers to clients, ";

/* The note of what cannot be seen, and nothing else. */
static void
expect_note_of_mark(bool v6)
{
	const char *report = check(v6);

	ck_assert_msg(strncmp(report, note_of_mark, strlen(note_of_mark)) == 0,
	    "%s", report);
	ck_assert_str_eq(report + strcspn(report, "\n"), "\n");
	ck_assert_int_eq(pen.child.status, 0);
}

/* It finds that error, alone but for the packet filter's mark, and the command
 * is carried out. */
static void
fix(bool v6, const char *finding)
{
	const char *report = check(v6), *next;

	next = report + strcspn(report, "\n");
	ck_assert_msg(strncmp(report, finding, strlen(finding)) == 0 &&
		strncmp(next + 1, note_of_mark, strlen(note_of_mark)) == 0,
	    "%s", report);
	ck_assert_int_eq(pen.child.status, 1);
	carry_out(report);
}

/* The commands of all lines are carried out. */
static void
fix_all(bool v6)
{
	const char *report = check(v6);

	ck_assert_int_eq(pen.child.status, 1);
	for (; *report != '\0'; report += strcspn(report, "\n") + 1)
		carry_out(report);
}

START_TEST(all_at_once)
{
	NEED_PROGRAM("nft");
	NEED_CLIENTNET(&fixture);
	fix_all(false);
	expect_note_of_mark(false);
	fix_all(true);
	expect_note_of_mark(true);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "ip", "route",
	    "flush", "table", "100", NULL);
	fix_all(false);
	expect_note_of_mark(false);
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
	    "clients are not delivered locally: no policy routing rule");
	expect_note_of_mark(false);
	net_fixture_run(&fixture, NET_FIXTURE_DIRECTOR, 10000, "ip", "route",
	    "flush", "table", "100", NULL);
	fix(false,
	    "error: transparent: replies from server 0 (192.168.100.3) to "
	    "clients are not delivered locally: table 100, for mark 1,");
	expect_note_of_mark(false);
	fix(true,
	    "error: transparent: replies from server 0 (fd00:64::3) to "
	    "clients are not delivered locally: no policy routing rule");
	expect_note_of_mark(true);
	net_fixture_down(&fixture);
}
END_TEST

/* No server learns of this host. */
START_TEST(nothing_is_sent)
{
	NEED_CLIENTNET(&fixture);
	clientnet_deliver(&fixture);
	is_fine(false);
	is_fine(true);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_str_eq(net_fixture_run(&fixture,
				     NET_FIXTURE_SERVER + i, 10000, "ip",
				     "neigh", NULL),
		    "");
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
	expect_note_of_mark(false);
	net_fixture_set(&fixture, NET_FIXTURE_DIRECTOR,
	    "ipv4/conf/all/src_valid_mark", "1");
	fix(false,
	    "error: transparent: rp_filter of interface eth0 drops replies "
	    "from server 0 (192.168.100.3) to clients");
	expect_note_of_mark(false);
	net_fixture_down(&fixture);
}
END_TEST

/* A server beside pen. */
START_TEST(a_server_here)
{
	NEED_CLIENTNET(&fixture);
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
	    "clients (CAP_NET_RAW); fix: setcap "
	    "cap_net_raw+ep $(command -v pen)\n");
	ck_assert_int_eq(pen.child.status, 1);
	net_fixture_down(&fixture);
}
END_TEST

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
	SUITE_ADD(s, nothing_is_sent, 60);
	SUITE_ADD(s, reverse_path_filter, 60);
	SUITE_ADD(s, a_server_here, 60);
	SUITE_ADD(s, no_right, 60);
	SUITE_ADD(s, said_at_the_start, 60);
	return s;
}
