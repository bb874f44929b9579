/* test_upgrade_flows.c: a server knows a flow of datagrams by its port: that
 * stays across an upgrade, and another number of workers. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { FLOWS = 120, SOON = 20000, ROOM = 64 };

static struct endpoint front, ctl, place;
static struct pen pen;
static pid_t pid;
static int server, clients[FLOWS];
/* Where the server gets the datagrams of each from. */
static struct sockaddr_storage from[FLOWS];
static socklen_t from_length[FLOWS];

/* ---- what there is ---- */

static int
client_at(int i)
{
	struct endpoint at;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	endpoint_at_host(&at, &front, text("127.0.9.%d", i + 1));
	((struct sockaddr_in *)(void *)&at.addr)->sin_port = 0;
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at.addr, at.len), 0);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&front.addr, front.len), 0);
	endpoint_set_deadline(fd, SOON);
	return fd;
}

static void
up(enum endpoint_kind kind, const char *setting)
{
	int i;

	udp_endpoint(&place, kind);
	server = socket(place.addr.ss_family, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    bind(server, (struct sockaddr *)&place.addr, place.len), 0);
	endpoint_set_deadline(server, SOON);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", setting, front.text,
	    place.text, NULL);
	pid = pen.child.pid;
	for (i = 0; i < FLOWS; i++)
		clients[i] = client_at(i);
}

/* Several workers, or as many as all tests are run with. */
static const char *
team(int several)
{
	return several ? "workers 2" : "udp_timeout 300";
}

static void
down(void)
{
	int i;

	for (i = 0; i < FLOWS; i++)
		close(clients[i]);
	close(server);
	if (pid == pen.child.pid)
		pen_down(&pen);
	else
		upgrading_end(pid);
}

/* A question of one, which the server gets with so many bytes in front. */
static void
ask(int i, ssize_t head)
{
	char bytes[ROOM];

	ck_assert_int_eq(send(clients[i], "q", 1, 0), 1);
	from_length[i] = sizeof(from[i]);
	ck_assert_int_eq(recvfrom(server, bytes, ROOM, 0,
			     (struct sockaddr *)&from[i], &from_length[i]),
	    head + 1);
}

static void
answer(int i)
{
	char bytes[ROOM];

	ck_assert_int_eq(sendto(server, "a", 1, 0, (struct sockaddr *)&from[i],
			     from_length[i]),
	    1);
	ck_assert_int_eq(recv(clients[i], bytes, ROOM, 0), 1);
}

/* How many of them the server gets from elsewhere than before. */
static int
moved(ssize_t head)
{
	struct sockaddr_storage before;
	socklen_t length;
	int i, n = 0;

	for (i = 0; i < FLOWS; i++) {
		before = from[i];
		length = from_length[i];
		ask(i, head);
		n += length != from_length[i] ||
		    memcmp(&before, &from[i], length) != 0;
		answer(i);
	}
	return n;
}

/* ---- upgrades ---- */

static const enum endpoint_kind kinds[] = { ENDPOINT_TCP4, ENDPOINT_TCP6,
	ENDPOINT_UNIX };

/* Twice, as the second one gets what the first one got. The old process has no
 * flow left, so that it ends at once. */
START_TEST(ports_stay)
{
	const char *program = upgrading_install();
	int n;

	NEED_UPGRADES(program);
	if (!endpoint_has_kind(kinds[_i % 3]))
		SKIP("no IPv6 here");
	up(kinds[_i % 3], team(_i / 3));
	(void)moved(0);
	ck_assert_int_eq(moved(0), 0);
	for (n = 0; n < 2; n++) {
		pid = upgrading_go(&ctl, pid);
		if (n == 0)
			ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
		ck_assert_int_eq(moved(0), 0);
	}
	down();
}
END_TEST

/* The answer to what was asked before comes to the new process. */
START_TEST(answers_come)
{
	const char *program = upgrading_install();
	int i;

	NEED_UPGRADES(program);
	up(ENDPOINT_TCP4, team(_i));
	for (i = 0; i < FLOWS; i++)
		ask(i, 0);
	pid = upgrading_go(&ctl, pid);
	for (i = 0; i < FLOWS; i++)
		answer(i);
	ck_assert_int_eq(moved(0), 0);
	down();
}
END_TEST

/* The server has had its header. */
START_TEST(no_second_header)
{
	enum { HEADER = 28 }; /* version 2, IPv4 */
	const char *program = upgrading_install();
	int i;

	NEED_UPGRADES(program);
	up(ENDPOINT_TCP4, "udp_proxy first");
	for (i = 0; i < FLOWS; i++)
		ask(i, HEADER);
	pid = upgrading_go(&ctl, pid);
	ck_assert_int_eq(moved(0), 0);
	down();
}
END_TEST

/* A program that takes over nothing: the old process goes on with all. */
START_TEST(failed_upgrade)
{
	const char *program = upgrading_install();

	NEED_UPGRADES(program);
	up(ENDPOINT_TCP4, team(_i));
	(void)moved(0);
	upgrading_replace(program, "#!/bin/sh\necho 'pen: no' >&2; exit 1\n");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "upgrade\n"), "error: upgrade"));
	ck_assert_int_eq(upgrading_pid(&ctl), pid);
	ck_assert_int_eq(moved(0), 0);
	/* and the next one has them */
	upgrading_replace(program, NULL);
	pid = upgrading_go(&ctl, pid);
	ck_assert_int_eq(moved(0), 0);
	down();
}
END_TEST

/* There is room for half of them: the others begin anew. */
START_TEST(fewer_flows)
{
	const char *program = upgrading_install();

	NEED_UPGRADES(program);
	up(ENDPOINT_TCP4, "conn_max 60");
	(void)moved(0);
	pid = upgrading_go(&ctl, pid);
	ck_assert_int_le(moved(0), FLOWS);
	down();
}
END_TEST

/* ---- workers ---- */

START_TEST(another_number_of_workers)
{
	int n;

	up(ENDPOINT_TCP4, "workers 2");
	(void)moved(0);
	for (n = 3; n > 1; n--) {
		endpoint_ask(&ctl, text("workers %d\n", n));
		/* the others have ended: they have no flow left */
		WAIT_FOR(count_in(child_children(pid), " ") == n, SOON);
		ck_assert_int_eq(moved(0), 0);
	}
	down();
}
END_TEST

SUITE(test_upgrade_flows)
{
	Suite *s = suite_create("upgrade_flows");

	SUITE_ADD_LOOP(s, ports_stay, 60, 6);
	SUITE_ADD_LOOP(s, answers_come, 60, 2);
	SUITE_ADD(s, no_second_header, 60);
	SUITE_ADD_LOOP(s, failed_upgrade, 60, 2);
	SUITE_ADD(s, fewer_flows, 60);
	SUITE_ADD(s, another_number_of_workers, 60);
	return s;
}
