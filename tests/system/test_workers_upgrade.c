/* test_workers_upgrade.c: workers across an upgrade, and another number of
 * them: no client is lost, each stays at its server, and nothing is left of
 * those before. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/visitors.h"
#include "support/wait.h"

enum { SOON = 20000, CLIENTS = 8, FLOWS = 60 };

static struct backend a, b;
static struct endpoint front, ctl;
static struct pen pen;
static pid_t leader;
static const char *conf;

/* ---- what there is ---- */

/* A letter, then what comes. */
static void
say_and_echo(struct backend *s, int fd)
{
	if (backend_send(fd, s->arg, 1))
		backend_echo(s, fd);
}

static void
configure(int workers, const char *more)
{
	write_file(conf,
	    text("listen %s\nserver add %s\nserver add %s\nworkers %d\n"
		 "session_log off\n%s\n",
		front.text, a.at.text, b.at.text, workers, more));
}

/* How many processes it has. */
static int
children(void)
{
	return count_in(child_children(leader), " ");
}

static void
up(int workers, const char *more)
{
	conf = scratch("pen.conf");
	backend_start(&a, ENDPOINT_TCP4, say_and_echo, "a");
	backend_start(&b, ENDPOINT_TCP4, say_and_echo, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	configure(workers, more);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	leader = pen.child.pid;
	ck_assert_int_eq(upgrading_pid(&ctl), leader); /* all have begun */
	ck_assert_int_eq(children(), workers > 1 ? workers : 0);
}

static void
down(void)
{
	if (leader == pen.child.pid)
		pen_down(&pen);
	else
		upgrading_end(leader);
	backend_stop(&a);
	backend_stop(&b);
}

static void
upgrade(void)
{
	pid_t old = leader;

	leader = upgrading_go(&ctl, leader);
	WAIT_FOR(old == pen.child.pid || upgrading_has_ended(old), SOON);
}

static void
tell(const char *line)
{
	const char *said = pen_ask(&ctl, line);

	ck_assert_msg(strstr(said, "error") == NULL, "%s: %s", line, said);
}

/* By a reload, or by a command. */
static void
become(int workers, const char *more)
{
	configure(workers, more);
	if (workers % 2 == 0)
		tell("reload");
	else
		tell(text("workers %d", workers));
	WAIT_FOR(children() == workers, SOON);
}

static const char *
host_of(int client)
{
	return text("127.%d.%d.%d", 1 + client / 62500, client / 250 % 250,
	    client % 250 + 1);
}

static int
connect_as(int client)
{
	return endpoint_connect_from(&front, host_of(client));
}

static char
server_of(int client)
{
	int fd = connect_as(client);
	char letter;

	endpoint_recv(fd, &letter, 1);
	close(fd);
	return letter;
}

/* ---- under load ---- */

/* A connection, a byte there and back, the end. */
static bool
one_client(int visitor, int nth)
{
	int number = visitor * 1000 + nth;
	char host[INET_ADDRSTRLEN], bytes[2];
	struct sockaddr_in from = { .sin_family = AF_INET };
	const struct timeval limit = { .tv_sec = 20 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool good;

	snprintf(host, sizeof(host), "127.9.%d.%d", number / 250 % 250,
	    number % 250 + 1);
	inet_pton(AF_INET, host, &from.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	good = bind(fd, (const void *)&from, sizeof(from)) == 0 &&
	    connect(fd, (const void *)&front.addr, front.len) == 0 &&
	    send(fd, "x", 1, MSG_NOSIGNAL) == 1 &&
	    recv(fd, bytes, 2, MSG_WAITALL) == 2 && bytes[1] == 'x' &&
	    shutdown(fd, SHUT_WR) == 0 && recv(fd, bytes, 1, 0) == 0;
	close(fd);
	return good;
}

static void
load_begin(void)
{
	visitors_begin(CLIENTS, one_client);
}

/* Some more must have been served before the next step. */
static void
let_them_come(void)
{
	visitors_await(4 * CLIENTS);
}

static int
load_end(void)
{
	let_them_come();
	return visitors_end();
}

static long
counter(const char *name)
{
	return report_number(text("\n%s", endpoint_ask(&ctl, "statistics\n")),
	    text("\n%s ", name));
}

/* One session lives through all of it; it is the old process's. */
START_TEST(upgrades_lose_nothing)
{
	int i, session;
	char letter;

	NEED_UPGRADES(upgrading_install());
	up(2, "");
	session = connect_as(0);
	endpoint_recv(session, &letter, 1);
	endpoint_expect_echo(session, "before");
	load_begin();
	leader = upgrading_go(&ctl, leader);
	for (i = 0; i < (int)suite_amount(6, 2); i++) {
		let_them_come();
		upgrade();
		WAIT_FOR(children() == 2, SOON);
	}
	(void)load_end();
	endpoint_expect_echo(session, "after");
	close(session);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	down();
}
END_TEST

/* All are counted, also by workers that are gone. */
START_TEST(another_number_loses_nothing)
{
	int i, session, served;

	up(2, "");
	session = connect_as(0);
	load_begin();
	for (i = 0; i < (int)suite_amount(6, 2); i++) {
		let_them_come();
		configure(3, "");
		tell("workers 3");
		let_them_come();
		configure(2, "");
		tell("reload");
	}
	served = load_end();
	ck_assert_int_eq(counter("accepted"), served + 1);
	ck_assert_int_eq(counter("sessions"), 1);
	ck_assert_int_eq(counter("bytes_up"), served);
	/* its own worker, and the two that serve */
	WAIT_FOR(children() == 3, SOON);
	tell("clear counters");
	ck_assert_int_eq(counter("accepted"), 0);
	close(session);
	WAIT_FOR(children() == 2, SOON);
	ck_assert_int_eq(counter("accepted"), 0);
	ck_assert_int_eq(counter("sessions"), 0);
	down();
}
END_TEST

static void
hold_some(void)
{
	int fds[CLIENTS], i;
	char letter;

	for (i = 0; i < CLIENTS; i++) {
		fds[i] = connect_as(i);
		endpoint_recv(fds[i], &letter, 1);
	}
	ck_assert_int_eq(counter("sessions"), CLIENTS);
	for (i = 0; i < CLIENTS; i++)
		close(fds[i]);
	WAIT_FOR(counter("sessions") == 0, SOON);
}

/* Those of workers that are gone are none of the peak of those now. */
START_TEST(peaks_are_of_one_time)
{
	NEED_UPGRADES(upgrading_install());
	up(2, "");
	hold_some();
	ck_assert_int_eq(counter("sessions_peak"), CLIENTS);
	become(3, "");
	hold_some();
	ck_assert_int_eq(counter("sessions_peak"), CLIENTS);
	upgrade();
	WAIT_FOR(children() == 3, SOON);
	hold_some();
	ck_assert_int_eq(counter("sessions_peak"), CLIENTS);
	tell("clear counters");
	ck_assert_int_eq(counter("sessions_peak"), 0);
	down();
}
END_TEST

START_TEST(from_one_to_several_and_back)
{
	static const int number[] = { 2, 1, 3, 2, 1 };
	size_t i;

	NEED_UPGRADES(upgrading_install());
	up(1, "");
	load_begin();
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		let_them_come();
		configure(number[i], "");
		upgrade();
		WAIT_FOR(children() == (number[i] > 1 ? number[i] : 0), SOON);
	}
	(void)load_end();
	down();
}
END_TEST

/* ---- the kernel deals out by address and port ---- */

START_TEST(by_connection)
{
	NEED_UPGRADES(upgrading_install());
	up(2, "workers_by connection");
	load_begin();
	become(3, "workers_by connection");
	let_them_come();
	upgrade();
	let_them_come();
	become(2, "workers_by connection");
	(void)load_end();
	down();
}
END_TEST

/* ---- clients ---- */

/* Two at a time may be there, and no third, whose reset may be here before
 * connect() returns. */
static void
check_limit(int client)
{
	int one = connect_as(client), two = connect_as(client), three;
	char letter;

	endpoint_recv(one, &letter, 1);
	endpoint_recv(two, &letter, 1);
	three = endpoint_try_connect_from(&front, host_of(client));
	if (three < 0)
		ck_assert_int_eq(errno, ECONNRESET);
	else
		ck_assert_int_le(recv(three, &letter, 1, 0), 0);
	close(one);
	close(two);
	if (three >= 0)
		close(three);
}

/* The end of what pen has logged, as much as a message of Check may have. */
static const char *
logged(void)
{
	enum { MOST = 3000 };
	const char *all = child_err(&pen.child);
	size_t n = strlen(all);

	return n > MOST ? all + n - MOST : all;
}

static void
check_servers(const char *had, int count)
{
	int i;

	for (i = 0; i < count; i++)
		ck_assert_msg(server_of(i) == had[i], "client %d moved: %s", i,
		    logged());
	WAIT_FOR(counter("sessions") == 0, SOON);
	for (i = 0; i < count; i += count / 50)
		check_limit(i);
	WAIT_FOR(counter("sessions") == 0, SOON);
}

START_TEST(clients_stay_at_their_servers)
{
	static const char limit[] = "client_conns 2\nclients_max 20000\n";
	int count = suite_is_full() ? 10000 : 1000, i, of_a = 0;
	char *had = malloc((size_t)count);

	NEED_UPGRADES(upgrading_install());
	up(2, limit);
	for (i = 0; i < count; i++)
		of_a += (had[i] = server_of(i)) == 'a';
	ck_assert_int_gt(of_a, count / 4);
	ck_assert_int_lt(of_a, count * 3 / 4);
	check_servers(had, count);
	become(3, limit);
	check_servers(had, count);
	upgrade();
	check_servers(had, count);
	become(2, limit);
	check_servers(had, count);
	configure(1, limit);
	upgrade();
	check_servers(had, count);
	configure(2, limit);
	upgrade();
	check_servers(had, count);
	down();
	free(had);
}
END_TEST

/* ---- flows of datagrams ---- */

/* Clients stay with their servers, though no memory of clients helps. */
START_TEST(flows_keep_their_servers)
{
	struct udp_server servers[2];
	int clients[FLOWS], i, n;
	char had[FLOWS];

	NEED_UPGRADES(upgrading_install());
	udp_server_start(&servers[0], ENDPOINT_TCP4, "0");
	udp_server_start(&servers[1], ENDPOINT_TCP4, "1");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "--workers", "2", "-O",
	    "workers_by connection", "-O", "udp_timeout 10", "-O", "no sticky",
	    "-O", "balance roundrobin", front.text, servers[0].at.text,
	    servers[1].at.text, NULL);
	leader = pen.child.pid;
	WAIT_FOR(children() == 2, SOON);
	for (i = 0; i < FLOWS; i++) {
		clients[i] = udp_client(&front);
		had[i] = udp_ask(clients[i], "hello", 10000)[0];
	}
	for (n = 0; n < 4; n++) {
		if (n % 2 == 0) {
			tell("workers 3"); /* the upgrade has two again */
			WAIT_FOR(
			    count_in(child_err(&pen.child),
				"clients move between workers") == n / 2 + 1,
			    SOON);
		} else {
			leader = upgrading_go(&ctl, leader);
		}
		for (i = FLOWS - 1; i >= 0; i--)
			ck_assert_int_eq(
			    udp_ask(clients[i], "again", 10000)[0], had[i]);
	}
	for (i = 0; i < FLOWS; i++)
		close(clients[i]);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	upgrading_end(leader);
	udp_server_stop(&servers[0]);
	udp_server_stop(&servers[1]);
}
END_TEST

/* ---- what fails, and what is left ---- */

/* All goes on, with those that there are. */
START_TEST(an_upgrade_that_fails)
{
	const char *program = upgrading_install();
	const char *said;

	NEED_UPGRADES(program);
	up(2, "");
	load_begin();
	upgrading_replace(program, "#!/bin/sh\nexit 3\n");
	said = endpoint_ask(&ctl, "upgrade\n");
	ck_assert_msg(strstr(said, "exit status 3") != NULL, "%s", said);
	let_them_come();
	upgrading_replace(program, NULL);
	upgrade();
	(void)load_end();
	down();
}
END_TEST

static pid_t
first_worker(void)
{
	return (pid_t)strtol(child_children(leader), NULL, 10);
}

static void
replace_worker(void)
{
	pid_t old = first_worker();

	kill(old, SIGKILL);
	WAIT_FOR(children() == 2 && strstr(child_children(leader),
					text("%ld ", (long)old)) == NULL,
	    SOON);
	(void)server_of(1);
}

/* The new process has reported that it does not want the sockets; a worker that
 * starts after that leaves their files alone. */
START_TEST(files_stay_after_one_that_fails)
{
	struct endpoint web, control;
	const char *said;

	NEED_UPGRADES(upgrading_install());
	endpoint_new(&web, ENDPOINT_UNIX);
	endpoint_new(&control, ENDPOINT_UNIX);
	up(2, text("web %s\ncontrol %s", web.text, control.text));
	configure(2, "fit_file /nonexistent/fit");
	said = endpoint_ask(&ctl, "upgrade\n");
	ck_assert_msg(strstr(said, "fit_file") != NULL, "%s", said);
	replace_worker();
	ck_assert_int_eq(access(web.text, F_OK), 0);
	ck_assert_int_eq(access(control.text, F_OK), 0);
	down();
}
END_TEST

/* What they have to tell the leader they have told, and wait. */
static bool
no_child_runs(void)
{
	const char *at = child_children(leader);
	char *rest;
	long pid;

	for (; (pid = strtol(at, &rest, 10)) > 0; at = rest)
		if (*child_status_line((pid_t)pid, "State") == 'R')
			return false;
	return true;
}

/* While the leader is stopped, so that it gets this and the next message of the
 * new process in one turn. */
static void
upgrade_and_kill(unsigned us)
{
	pid_t old = leader, worker = first_worker();
	int fd = endpoint_connect(&ctl);

	endpoint_send(fd, "upgrade\n", 8);
	shutdown(fd, SHUT_WR);
	usleep(us);
	kill(leader, SIGSTOP);
	if (strtol(child_status_line(worker, "PPid"), NULL, 10) == leader)
		kill(worker, SIGKILL);
	WAIT_FOR(no_child_runs(), SOON);
	kill(leader, SIGCONT);
	(void)endpoint_recv_all(fd);
	close(fd);
	leader = upgrading_pid(&ctl);
	WAIT_FOR(leader == old || old == pen.child.pid ||
		upgrading_has_ended(old),
	    SOON);
	WAIT_FOR(children() == 2, SOON);
}

/* At each moment of an upgrade. */
START_TEST(a_worker_dies_meanwhile)
{
	unsigned us;

	NEED_UPGRADES(upgrading_install());
	up(2, "");
	for (us = 0; us < suite_amount(20000, 4000); us += 200) {
		upgrade_and_kill(us);
		(void)server_of((int)us / 200);
	}
	down();
}
END_TEST

START_TEST(nothing_is_left)
{
	int i, fds;
	long rss;

	up(2, "");
	for (i = 0; i < 3; i++) {
		become(3, "");
		become(2, "");
	}
	fds = child_fds(leader);
	rss = child_rss_kb(leader);
	for (i = 0; i < (int)suite_amount(20, 5); i++) {
		become(3, "");
		become(2, "");
	}
	ck_assert_int_eq(child_fds(leader), fds);
	if (pen_is_plain())
		ck_assert_int_le(child_rss_kb(leader), rss + 1024);
	down();
}
END_TEST

SUITE(test_workers_upgrade)
{
	Suite *s = suite_create("workers_upgrade");

	SUITE_ADD(s, upgrades_lose_nothing, 120);
	SUITE_ADD(s, another_number_loses_nothing, 120);
	SUITE_ADD(s, peaks_are_of_one_time, 60);
	SUITE_ADD(s, from_one_to_several_and_back, 120);
	SUITE_ADD(s, by_connection, 60);
	SUITE_ADD(s, clients_stay_at_their_servers, 300);
	SUITE_ADD(s, flows_keep_their_servers, 60);
	SUITE_ADD(s, an_upgrade_that_fails, 60);
	SUITE_ADD(s, files_stay_after_one_that_fails, 60);
	SUITE_ADD(s, a_worker_dies_meanwhile, 120);
	SUITE_ADD(s, nothing_is_left, 120);
	return s;
}
