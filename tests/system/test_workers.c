/* test_workers.c: several processes that serve the same clients: who serves
 * whom, what commands mean to all of them, and what becomes of one that
 * dies. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 20000, CLIENTS = 64, WORKERS = 2 };

static struct backend a, b;
static struct endpoint front, ctl;
static struct pen pen;
static int fds[2 * CLIENTS];

/* ---- what there is ---- */

static void
begin(backend_fn *serve)
{
	backend_start(&a, ENDPOINT_TCP4, serve, "a");
	backend_start(&b, ENDPOINT_TCP4, serve, "b");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
end(void)
{
	backend_stop(&a);
	backend_stop(&b);
}

/* The listener is there a moment before the workers are, which have begun when
 * their leader answers. */
#define UP(...)                                                              \
	do {                                                                 \
		pen_up(&pen, &front, "-r", "-C", ctl.text, "--workers", "2", \
		    "--session-log", "off", __VA_ARGS__, front.text,         \
		    a.at.text, b.at.text, NULL);                             \
		pen_answers(&ctl, "workers", "2");                           \
	} while (0)

static const char *
ask(const char *line)
{
	return pen_ask(&ctl, line);
}

static void
answers(const char *line, const char *what)
{
	pen_answers(&ctl, line, what);
}

static int
count_children(void)
{
	return count_in(child_children(pen.child.pid), " ");
}

static pid_t
worker(int i)
{
	const char *at = child_children(pen.child.pid);
	char *rest;
	long pid = strtol(at, &rest, 10);

	while (i-- > 0)
		pid = strtol(rest, &rest, 10);
	ck_assert_int_gt(pid, 1);
	return (pid_t)pid;
}

/* There are as many as there should be, without that one: by one reading, the
 * next may be of other moments. */
static bool
is_replaced(pid_t gone)
{
	const char *list = child_children(pen.child.pid);

	return count_in(list, " ") == WORKERS &&
	    strstr(text(" %s", list), text(" %ld ", (long)gone)) == NULL;
}

static int
connect_as(int client)
{
	return endpoint_connect_from(&front, text("127.0.1.%d", client + 1));
}

/* Each says a word, and hears it. */
static void
hold(int first, int count)
{
	int i;

	for (i = first; i < first + count; i++) {
		fds[i] = connect_as(i % CLIENTS);
		endpoint_expect_echo(fds[i], "hello");
	}
}

static void
let_go(int first, int count)
{
	int i;

	for (i = first; i < first + count; i++)
		close(fds[i]);
}

/* Which worker serves the connection of this client: the last one of its
 * lines. */
static int
worker_of(const char *list, int client, int *lines)
{
	const char *at = list;
	int found = -1;

	*lines = 0;
	while ((at = strstr(at, text("client 127.0.1.%d:", client + 1)))) {
		const char *line = at;

		while (line > list && line[-1] != '\n')
			line--;
		if (found >= 0)
			ck_assert_int_eq(found, atoi(line) % WORKERS);
		found = atoi(line) % WORKERS;
		++*lines;
		at++;
	}
	return found;
}

static long
statistic(const char *name)
{
	const char *at = strstr(ask("statistics"), text("%s ", name));

	ck_assert_ptr_nonnull(at);
	return atol(at + strlen(name) + 1);
}

/* ---- one process ---- */

START_TEST(one_has_no_child)
{
	begin(backend_echo);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--workers", "1", front.text,
	    a.at.text, NULL);
	ck_assert_str_eq(child_children(pen.child.pid), "");
	answers("workers", "1");
	pen_down(&pen);
	end();
}
END_TEST

/* ---- who serves whom ---- */

START_TEST(a_client_comes_back_to_its_worker)
{
	int i, lines, of[WORKERS] = { 0, 0 };
	const char *list;

	begin(backend_echo);
	UP("--session-log", "off");
	ck_assert_int_eq(count_children(), WORKERS);
	hold(0, 2 * CLIENTS);
	list = ask("connections");
	for (i = 0; i < CLIENTS; i++) {
		int w = worker_of(list, i, &lines);

		ck_assert_int_eq(lines, 2);
		of[w]++;
	}
	ck_assert_int_ge(of[0], CLIENTS / 4);
	ck_assert_int_ge(of[1], CLIENTS / 4);
	let_go(0, 2 * CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(by_connection_one_client_has_both)
{
	int i, of[WORKERS] = { 0, 0 };
	const char *at;

	begin(backend_echo);
	UP("--workers-by", "connection");
	for (i = 0; i < CLIENTS; i++)
		fds[i] = endpoint_connect(&front);
	WAIT_FOR(count_in(ask("connections"), "\n") == CLIENTS, SOON);
	for (at = ask("connections"); *at != '\0'; at = strchr(at, '\n') + 1)
		of[atoi(at) % WORKERS]++;
	ck_assert_int_gt(of[0], 0);
	ck_assert_int_gt(of[1], 0);
	let_go(0, CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_unix_socket_is_shared)
{
	struct endpoint local;
	int i;

	begin(backend_say);
	endpoint_new(&local, ENDPOINT_UNIX);
	pen_up(
	    &pen, &local, "-r", "--workers", "2", local.text, a.at.text, NULL);
	for (i = 0; i < 20; i++)
		ck_assert_str_eq(endpoint_hear(&local), "a");
	pen_down(&pen);
	ck_assert_int_lt(access(local.text, F_OK), 0);
	end();
}
END_TEST

/* ---- numbers are sums ---- */

START_TEST(numbers_are_sums)
{
	begin(backend_echo);
	UP("-O", "route default 0,1");
	hold(0, CLIENTS);
	/* before a command has asked all */
	ck_assert_ptr_nonnull(strstr(pen_stats(&pen),
	    text("0 addr 127.0.0.1 port %d conn 32", a.at.port)));
	ck_assert_int_eq(statistic("sessions"), CLIENTS);
	ck_assert_int_eq(statistic("accepted"), CLIENTS);
	answers("servers", text("0 addr 127.0.0.1 port %d conn 32", a.at.port));
	answers("services", text("sessions %d", CLIENTS));
	ck_assert(strstr(ask("route json"), text("\"clients\":%d", CLIENTS)) ||
	    strstr(ask("route json"), "built without"));
	let_go(0, CLIENTS);
	WAIT_FOR(statistic("sessions") == 0, SOON);
	ck_assert_int_eq(statistic("bytes_up"), 5 * CLIENTS);
	answers("clear counters", "");
	ck_assert_int_eq(statistic("accepted"), 0);
	pen_down(&pen);
	end();
}
END_TEST

/* Also what the leader counts; a refused command clears nothing, not even of
 * workers that are gone. */
START_TEST(all_counters_are_cleared)
{
	begin(backend_echo);
	UP("-O", "check connect", "-O", "check_interval 1");
	hold(0, 8);
	let_go(0, 8);
	WAIT_FOR(statistic("sessions") == 0, SOON);
	WAIT_FOR(statistic("\nchecks") >= 2, SOON);
	answers("no check", "");
	answers("workers 3", "3");
	WAIT_FOR(count_children() == 3, SOON);
	answers("clear all", "expects counters");
	ck_assert_int_eq(statistic("accepted"), 8);
	ck_assert_int_ge(statistic("\nchecks"), 2);
	answers("clear counters", "");
	ck_assert_int_eq(statistic("accepted"), 0);
	ck_assert_int_eq(statistic("\nchecks"), 0);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- commands ---- */

/* What `times` different clients hear. */
static const char *
hear(int times)
{
	const char *said = "";
	int i, fd;

	for (i = 0; i < times; i++) {
		fd = connect_as(i);
		said = text("%s%s", said, endpoint_recv_all(fd));
		close(fd);
	}
	return said;
}

START_TEST(a_command_is_for_all)
{
	begin(backend_say);
	UP("--session-log", "off");
	ck_assert_int_gt(count_in(hear(20), "b"), 0);
	answers("server 1 drain", "");
	ck_assert_int_eq(count_in(hear(20), "b"), 0);
	answers("server 1 up", "");
	ck_assert_int_gt(count_in(hear(20), "b"), 0);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_refused_change_is_for_none)
{
	begin(backend_say);
	UP("--session-log", "off");
	answers("server 1 address nobody.invalid", "error");
	answers("listen 127.0.0.1:1,256.0.0.1:2", "error");
	answers("servers", text("1 addr 127.0.0.1 port %d", b.at.port));
	ck_assert_int_gt(count_in(hear(20), "b"), 0);
	pen_down(&pen);
	end();
}
END_TEST

/* An address that overlaps with one that goes is in use until it has gone. */
START_TEST(what_is_in_use_is_refused)
{
	begin(backend_say);
	UP("--session-log", "off");
	answers(text("listen 0.0.0.0:%d", front.port), "already in use");
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	kill(worker(0), SIGKILL);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	answers("server 1 drain", "");
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	pen_down(&pen);
	end();
}
END_TEST

/* Both accept at the new address, and none at the old one. */
START_TEST(listeners_move)
{
	struct endpoint old = front, new;

	begin(backend_say);
	old = front;
	UP("--session-log", "off");
	endpoint_new(&new, ENDPOINT_TCP4);
	answers(text("listen %s", new.text), "");
	old = front;
	front = new;
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	WAIT_FOR(!endpoint_is_listening(&old), SOON);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_reload_is_for_all)
{
	const char *conf = scratch("pen.conf");

	begin(backend_say);
	write_file(conf,
	    text("roundrobin\nworkers 2\nserver 0 address 127.0.0.1 port %d\n",
		a.at.port));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, front.text, NULL);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	write_file(conf,
	    text("roundrobin\nworkers 2\nserver 0 address 127.0.0.1 port %d\n",
		b.at.port));
	answers("reload", "");
	ck_assert_int_eq(count_in(hear(20), "b"), 20);
	write_file(conf, "roundrobin\nworkers 2\nserver 0 address\n");
	answers("reload", "error");
	ck_assert_int_eq(count_in(hear(20), "b"), 20);
	write_file(conf,
	    text("roundrobin\nworkers 1\nserver 0 address 127.0.0.1 port %d\n",
		b.at.port));
	answers("reload", "changes from one to several, or back");
	pen_down(&pen);
	end();
}
END_TEST

/* All workers read the file, too. */
START_TEST(a_reload_warns_once)
{
	const char *conf = scratch("pen.conf");

	begin(backend_say);
	write_file(conf, text("workers 2\nserver 0 address 127.0.0.1 port %d\n",
			     a.at.port));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, front.text, NULL);
	write_file(conf,
	    text("workers 2\ntimeout 5\ntimeout 6\n"
		 "server 0 address 127.0.0.1 port %d\n",
		a.at.port));
	answers("reload", "");
	ck_assert_int_eq(count_in(child_err(&pen.child),
			     "timeout was set in line 2 already"),
	    1);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_connection_is_closed)
{
	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 8);
	answers("close 0", "Forcibly closing connection 0");
	answers("close 1", "Forcibly closing connection 1");
	WAIT_FOR(count_in(ask("connections"), "\n") == 6, SOON);
	ck_assert_str_eq(ask("close 1000"), "Connection 1000 out of range\n");
	answers("connection 2", "Connection 2:");
	let_go(0, 8);
	pen_down(&pen);
	end();
}
END_TEST

/* Of a descriptor, too, with which each worker has another connection. */
START_TEST(a_descriptor_has_a_connection)
{
	const char *said, *at, *number;
	int i, fd;

	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 16);
	for (i = 0; i < 16; i++) {
		said = ask(text("connection %d", i));
		at = strstr(said, "downfd = ");
		ck_assert_msg(at != NULL, "%s", said);
		ck_assert_int_eq(sscanf(at, "downfd = %d", &fd), 1);
		if (fd < 0) /* the other worker has one more */
			continue;
		number = text("Socket %d belongs to connection %d\n", fd, i);
		answers(text("socket %d", fd), number);
	}
	let_go(0, 16);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_drain_waits_for_all)
{
	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 8);
	answers("server 0 drain wait 0.2", "4 connections left");
	let_go(0, 8);
	answers("server 0 drain wait 20", "no connections left");
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(a_client_is_asked_of_its_worker)
{
	int i;

	begin(backend_echo);
	pen_up(&pen, &front, "-C", ctl.text, "--workers", "2", front.text,
	    a.at.text, b.at.text, NULL);
	hold(0, 8);
	for (i = 0; i < 8; i++)
		answers(text("client 127.0.1.%d", i + 1), "server ");
	for (i = 0; i < 8; i++)
		answers(text("explain 127.0.1.%d", i + 1), "rule sticky");
	answers("client 127.0.1.200", "is not remembered");
	ck_assert_int_eq(count_in(ask("recent"), "\n"), 8);
	answers("client 127.0.1.1 forget", "");
	answers("client 127.0.1.1", "is not remembered");
	let_go(0, 8);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- servers ---- */

static bool
stays_at(const char *sessions)
{
	int i;

	for (i = 0; i < 10; i++)
		if (strncmp(ask("statistics"), sessions, strlen(sessions)) != 0)
			return false;
	return true;
}

/* More clients than there is room for come to each. */
START_TEST(each_has_its_part_of_the_limit_of_all)
{
	int i;

	begin(backend_echo);
	UP("--conn-max-all", "4");
	for (i = 0; i < CLIENTS; i++)
		fds[i] = connect_as(i);
	WAIT_FOR(stays_at("sessions 4\n"), SOON);
	ck_assert_str_eq(ask("conn_max_all 10"), "10\n");
	WAIT_FOR(stays_at("sessions 10\n"), SOON);
	for (i = 0; i < CLIENTS; i++)
		close(fds[i]);
	pen_down(&pen);
	end();
}
END_TEST

/* Never more than the servers may have, whoever serves the clients. */
START_TEST(a_hard_limit_is_for_all)
{
	int i;

	begin(backend_hang);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--workers", "2",
	    "--session-log", "off", "--queue", "60", front.text,
	    text("%s:0:5", a.at.text), text("%s:0:5", b.at.text), NULL);
	for (i = 0; i < CLIENTS; i++)
		fds[i] = connect_as(i);
	WAIT_FOR(statistic("queued") == CLIENTS - 10, SOON);
	WAIT_FOR(a.open == 5 && b.open == 5, SOON);
	answers("server 0 hard 6", "");
	WAIT_FOR(a.open == 6, SOON);
	ck_assert_int_eq(a.accepted, 6);
	ck_assert_int_eq(b.accepted, 5);
	let_go(0, CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

/* Those of the first client are at one server only. Then most clients are of
 * the other worker, which has none open: the shares become even, as those of
 * one process would. */
START_TEST(the_connections_of_all_count)
{
	static const char *const algorithms[] = { "leastconn", "wleastconn",
		"p2c", "least_time" };
	/* one goes by times, too */
	int other = 0, off = _i == 3 ? 5 : 1, lines, i;
	const char *list;

	begin(backend_echo);
	UP("-O", text("balance %s", algorithms[_i]), "-O", "server 1 drain");
	hold(0, CLIENTS);
	list = ask("connections");
	while (worker_of(list, other, &lines) == worker_of(list, 0, &lines))
		other++;
	let_go(0, CLIENTS);
	WAIT_FOR(statistic("sessions") == 0, SOON);
	for (i = 0; i < 20; i++)
		endpoint_expect_echo(fds[i] = connect_as(0), "hello");
	answers("server 1 up", "");
	for (; i < 50; i++)
		endpoint_expect_echo(
		    fds[i] = connect_as(i % 10 != 0 ? other : 0), "hello");
	ck_assert_int_ge(b.open, 25 - off);
	ck_assert_int_le(b.open, 25 + off);
	let_go(0, i);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(checks_are_made_once_for_all)
{
	begin(backend_say);
	UP("-O", "check connect", "-O", "check_interval 0.1");
	WAIT_FOR(
	    strstr(ask("servers long"), "0 name 127.0.0.1 state up"), SOON);
	backend_stop(&b);
	WAIT_FOR(
	    strstr(ask("servers long"), "1 name 127.0.0.1 state down"), SOON);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	ck_assert_int_eq(statistic("retries"), 0);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* A new server is proven by its first check, which the leader makes. */
START_TEST(sessions_move_to_a_better_server)
{
	int fd;

	begin(backend_echo);
	pen_up(&pen, &front, "-C", ctl.text, "--workers", "2", "-O",
	    "prio; on_up cut; check_interval 100ms", front.text,
	    text("%s:0:0:0:5", a.at.text), NULL);
	fd = connect_as(0);
	endpoint_expect_echo(fd, "hello");
	answers(text("check connect; server add %s:0:0:0:1", b.at.text), "");
	endpoint_expect_reset(fd);
	close(fd);
	WAIT_FOR(child_has_said(&pen.child, "reason=server_up"), SOON);
	pen_down(&pen);
	end();
}
END_TEST

/* Its number is free when no worker has a connection to it any more. */
START_TEST(a_removed_server_keeps_its_number)
{
	int i;

	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 4);
	answers("server 0 remove", "");
	answers(text("server add %s", a.at.text), "");
	answers("servers", text("0 addr 127.0.0.1 port %d conn 2", a.at.port));
	answers("servers", text("2 addr 127.0.0.1 port %d conn 0", a.at.port));
	let_go(0, 4);
	WAIT_FOR(strstr(ask("servers"), "0 addr 0.0.0.0 port 0"), SOON);
	answers(text("server add %s", b.at.text), "");
	answers("servers", text("0 addr 127.0.0.1 port %d conn 0", b.at.port));
	for (i = 0; i < 3; i++)
		answers(text("server %d remove", i), "");
	pen_down(&pen);
	end();
}
END_TEST

/* What workers that are gone have counted is of the servers that were there,
 * not of one that has the number of a removed one. */
START_TEST(a_server_counts_anew_for_all)
{
	int n;

	begin(backend_say);
	UP("--session-log", "off");
	n = count_in(hear(20), "b");
	answers("servers", text("rx %d\n1 addr 127.0.0.1", 20 - n));
	answers("workers 3", "3");
	WAIT_FOR(count_children() == 3, SOON);
	answers("server 1 remove", "");
	answers(text("server add %s", a.at.text), "1");
	answers("servers", text("rx %d\n1 addr 127.0.0.1", 20 - n));
	answers("servers",
	    text("1 addr 127.0.0.1 port %d conn 0 max 0 hard 0 "
		 "weight 0 prio 0 sx 0 rx 0",
		a.at.port));
	pen_down(&pen);
	end();
}
END_TEST

/* So does a service that has the name of one that was removed, whose sessions
 * go on, and has ended when they have. */
START_TEST(a_service_counts_anew_for_all)
{
	struct endpoint web;
	const char *add;
	int old, new;

	begin(backend_echo);
	UP("--session-log", "off");
	endpoint_new(&web, ENDPOINT_TCP4);
	add = text("service add web; service web listen %s; "
		   "service web server add %s",
	    web.text, a.at.text);
	answers(add, "");
	old = endpoint_connect(&web);
	endpoint_expect_echo(old, "old");
	answers("service web statistics", "accepted 1\n");
	answers("service web remove", "");
	answers(add, "");
	new = endpoint_connect(&web);
	endpoint_expect_echo(new, "new one");
	answers("service web statistics", "sessions 1\n");
	answers("service web statistics", "accepted 1\n");
	close(old);
	WAIT_FOR(child_has_said(&pen.child, "service ended service=web"), SOON);
	answers("service web statistics", "accepted 1\n");
	endpoint_expect_echo(new, "still there");
	close(new);
	pen_down(&pen);
	end();
}
END_TEST

/* Its clients are served by others; what one worker finds out all know. */
START_TEST(a_failure_is_known_to_all)
{
	begin(backend_say);
	UP("-O", "blacklist 60");
	backend_stop(&b);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	WAIT_FOR(
	    strstr(ask("servers long"), "1 name 127.0.0.1 state blacklisted"),
	    SOON);
	ck_assert_int_eq(statistic("retries") <= WORKERS, 1);
	pen_down(&pen);
	backend_stop(&a);
}
END_TEST

/* ---- life ---- */

/* It takes its own sessions along, and no others; what it has counted stays. */
START_TEST(a_killed_worker_is_replaced)
{
	int i, lines, lost = 0;
	const char *list;
	pid_t gone;

	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, CLIENTS);
	list = ask("connections");
	gone = worker(0);
	ck_assert_int_eq(kill(gone, SIGKILL), 0);
	WAIT_FOR(is_replaced(gone), SOON);
	for (i = 0; i < CLIENTS; i++) {
		if (worker_of(list, i, &lines) == 0) {
			endpoint_expect_end(fds[i]);
			lost++;
		} else {
			endpoint_expect_echo(fds[i], "still there");
		}
		close(fds[i]);
	}
	ck_assert_int_gt(lost, 0);
	ck_assert_int_lt(lost, CLIENTS);
	hold(0, CLIENTS);
	ck_assert_int_eq(statistic("sessions"), CLIENTS);
	ck_assert_int_eq(statistic("accepted"), 2 * CLIENTS);
	ck_assert_int_eq(
	    statistic("bytes_up"), 5 * 2 * CLIENTS + 11 * (CLIENTS - lost));
	ck_assert(child_has_said(&pen.child, "signal=9"));
	ck_assert(child_has_said(&pen.child, "worker replaced worker=1"));
	let_go(0, CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

/* The replacement is a copy of the leader, but not its clients'. */
START_TEST(clients_of_the_leader_stay)
{
	static const char get[] = "GET /readyz HTTP/1.1\r\n"
				  "Host: localhost\r\n\r\n";
	struct endpoint web;
	int page, prompt;
	char got[6] = "";

	begin(backend_say);
	endpoint_new(&web, ENDPOINT_TCP4);
	UP("--web", web.text);
	prompt = endpoint_connect(&ctl);
	endpoint_send(prompt, "prompt\n", 7);
	endpoint_recv(prompt, got, 5);
	ck_assert_str_eq(got, "pen> ");
	page = endpoint_connect(&web);
	endpoint_send(page, get, 10);
	(void)ask("pid"); /* so that the page's client is accepted */
	kill(worker(0), SIGKILL);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	endpoint_send(page, get + 10, sizeof(get) - 11);
	ck_assert_str_eq(
	    text("%.15s", endpoint_recv_all(page)), "HTTP/1.1 200 OK");
	endpoint_send(prompt, "\n", 1);
	endpoint_recv(prompt, got, 5);
	ck_assert_str_eq(got, "pen> ");
	close(page);
	close(prompt);
	pen_down(&pen);
	end();
}
END_TEST

/* What has ended with a worker is counted no longer. */
START_TEST(flows_end_with_their_worker)
{
	struct udp_server s;
	pid_t gone[WORKERS];
	int i;

	udp_server_start(&s, ENDPOINT_TCP4, "s:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start(&pen, "-f", "-U", "-C", ctl.text, "--workers", "2",
	    front.text, s.at.text, NULL);
	pen_wait_ready(&pen, &ctl);
	for (i = 0; i < CLIENTS; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "1", SOON), "s:1");
	}
	ck_assert_int_eq(statistic("\nflows"), CLIENTS);
	for (i = 0; i < WORKERS; i++)
		gone[i] = worker(i);
	for (i = 0; i < WORKERS; i++)
		ck_assert_int_eq(kill(gone[i], SIGKILL), 0);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1") &&
		child_has_said(&pen.child, "replaced worker=2"),
	    SOON);
	ck_assert_int_eq(statistic("\nflows"), 0);
	for (i = 0; i < CLIENTS; i++) {
		ck_assert_str_eq(udp_ask(fds[i], "2", SOON), "s:2");
		close(fds[i]);
	}
	ck_assert_int_eq(statistic("\nflows"), CLIENTS);
	pen_down(&pen);
	udp_server_stop(&s);
}
END_TEST

enum { DRAWN = 16, PER_ROUND = 2 * DRAWN };

/* What is random in the queries of so many clients: ids, or ports of flows.
 * Returns how many of them are in `seen` by then; adds them. */
static int
draw(int server, bool ids, unsigned char seen[1 << 16])
{
	static const char query[] = "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int fd[PER_ROUND], i, twice = 0;
	unsigned char got[64];
	unsigned drawn;

	for (i = 0; i < PER_ROUND; i++) {
		fd[i] = udp_client(&front);
		ck_assert_int_gt(send(fd[i], query, sizeof(query) - 1, 0), 0);
		ck_assert_int_gt(recvfrom(server, got, sizeof(got), 0,
				     (struct sockaddr *)&from, &len),
		    0);
		drawn = ids ? (unsigned)got[0] << 8 | got[1] : from.sin_port;
		twice += seen[drawn];
		seen[drawn] = 1;
	}
	for (i = 0; i < PER_ROUND; i++)
		close(fd[i]);
	return twice;
}

/* Workers have been forked from one process, and so have their replacements:
 * what one of them has sent does not tell what another one will. */
START_TEST(each_draws_for_itself)
{
	static unsigned char seen[1 << 16];
	int server = socket(AF_INET, SOCK_DGRAM, 0), i;
	struct endpoint at;
	pid_t gone[WORKERS];

	udp_endpoint(&at, ENDPOINT_TCP4);
	ck_assert_int_eq(bind(server, (struct sockaddr *)&at.addr, at.len), 0);
	endpoint_set_deadline(server, SOON);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start(&pen, "-f", _i == 0 ? "--dns" : "-U", "-C", ctl.text,
	    "--workers", "2", "--workers-by", "connection", front.text, at.text,
	    NULL);
	pen_wait_ready(&pen, &ctl);
	WAIT_FOR(count_children() == WORKERS, SOON);
	/* two of 64 numbers of 28,000 are the same now and then */
	ck_assert_int_le(draw(server, _i == 0, seen), 3);
	for (i = 0; i < WORKERS; i++)
		gone[i] = worker(i);
	for (i = 0; i < WORKERS; i++)
		ck_assert_int_eq(kill(gone[i], SIGKILL), 0);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1") &&
		child_has_said(&pen.child, "replaced worker=2"),
	    SOON);
	ck_assert_int_le(draw(server, _i == 0, seen), 3);
	pen_down(&pen);
	close(server);
}
END_TEST

/* The replacement has what was changed since the start. */
START_TEST(a_replacement_has_what_is_in_force)
{
	pid_t gone;

	begin(backend_say);
	UP("--session-log", "off");
	answers("server 1 drain", "");
	gone = worker(1);
	kill(gone, SIGKILL);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=2"), SOON);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	answers("server 1 up", "");
	ck_assert_int_gt(count_in(hear(20), "b"), 0);
	pen_down(&pen);
	end();
}
END_TEST

#ifdef HAVE_PRLIMIT
/* It comes when there are descriptors again. */
START_TEST(a_replacement_without_descriptors)
{
	struct rlimit few, all;

	begin(backend_say);
	UP("--session-log", "off");
	ck_assert_int_eq(prlimit(pen.child.pid, RLIMIT_NOFILE, NULL, &all), 0);
	few = all;
	few.rlim_cur = 3;
	ck_assert_int_eq(prlimit(pen.child.pid, RLIMIT_NOFILE, &few, NULL), 0);
	kill(worker(0), SIGKILL);
	WAIT_FOR(
	    child_has_said(&pen.child, "Too many open files worker=1"), SOON);
	ck_assert_int_eq(prlimit(pen.child.pid, RLIMIT_NOFILE, &all, NULL), 0);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	ck_assert(!child_has_said(&pen.child, "replaced worker=1 pid=0"));
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	pen_down(&pen);
	end();
}
END_TEST
#endif

/* Servers fail, of which the leader is informed: workers go on while it is
 * stopped, and the newest states reach it and all others later. */
START_TEST(a_stopped_leader_stops_none)
{
	enum { DEAD = 2000 };
	FILE *f;
	int i;

	begin(backend_say);
	f = fopen(scratch("servers"), "w");
	ck_assert_ptr_nonnull(f);
	for (i = 0; i < DEAD; i++)
		fprintf(f, "server %d address 127.2.%d.%d port %d\n", i + 2,
		    i / 200, i % 200 + 1, a.at.port);
	fclose(f);
	UP("--blacklist", "600", "-O", text("include %s", scratch("servers")));
	kill(pen.child.pid, SIGSTOP);
	for (i = 0; i < 2 * CLIENTS; i++) {
		int fd = connect_as(i % CLIENTS);
		char c;

		endpoint_recv(fd, &c, 1);
		close(fd);
	}
	kill(pen.child.pid, SIGCONT);
	WAIT_FOR(count_in(child_err(&pen.child), "refused") >= 1000, 3000);
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	pen_down(&pen);
	end();
}
END_TEST

/* The one that was forked last. Another one has its sockets until the next one
 * takes its place. */
static void
one_is_away(void)
{
	pid_t gone;
	int i;

	for (i = 0; i < 3; i++) { /* then the next one has a pause of 2 s */
		WAIT_FOR(count_children() == WORKERS, SOON);
		gone = worker(i == 0 ? 0 : 1);
		kill(gone, SIGKILL);
		WAIT_FOR(strstr(child_children(pen.child.pid),
			     text("%ld ", (long)gone)) == NULL,
		    SOON);
	}
	ck_assert_int_eq(count_children(), WORKERS - 1);
}

START_TEST(others_serve_for_one_that_is_away)
{
	int i, lines, of[WORKERS] = { 0, 0 };
	const char *list;

	begin(backend_echo);
	UP("--session-log", "off");
	one_is_away();
	hold(0, CLIENTS);
	ck_assert_int_eq(count_children(), WORKERS - 1);
	WAIT_FOR(count_children() == WORKERS, SOON);
	hold(CLIENTS, CLIENTS); /* each to its own again */
	list = ask("connections");
	for (i = 0; i < CLIENTS; i++) {
		endpoint_expect_echo(fds[i], "still there");
		close(fds[i]);
	}
	WAIT_FOR(statistic("sessions") == CLIENTS, SOON);
	list = ask("connections");
	for (i = 0; i < CLIENTS; i++)
		of[worker_of(list, i, &lines)]++;
	ck_assert_int_gt(of[0], 0);
	ck_assert_int_gt(of[1], 0);
	let_go(CLIENTS, CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

/* The address changes meanwhile: the new one has clients of both, too. */
START_TEST(others_serve_where_it_listens_now)
{
	struct endpoint next;

	begin(backend_echo);
	endpoint_new(&next, ENDPOINT_TCP4);
	UP("--session-log", "off");
	one_is_away();
	answers(text("listen %s", next.text), next.text);
	front = next;
	hold(0, CLIENTS);
	ck_assert_int_eq(count_children(), WORKERS - 1);
	WAIT_FOR(count_children() == WORKERS, SOON);
	hold(CLIENTS, CLIENTS);
	let_go(0, 2 * CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(flows_are_served_for_one_that_is_away)
{
	struct udp_server s;
	int i;

	udp_server_start(&s, ENDPOINT_TCP4, "s:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start(&pen, "-f", "-U", "-C", ctl.text, "--workers", "2",
	    "--workers-by", "connection", front.text, s.at.text, NULL);
	pen_wait_ready(&pen, &ctl);
	pen_answers(&ctl, "workers", "2");
	one_is_away();
	for (i = 0; i < CLIENTS; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "1", 1500), "s:1");
	}
	ck_assert_int_eq(count_children(), WORKERS - 1);
	WAIT_FOR(count_children() == WORKERS, SOON);
	for (i = 0; i < CLIENTS; i++) {
		ck_assert_str_eq(udp_ask(fds[i], "2", SOON), "s:2");
		close(fds[i]);
	}
	pen_down(&pen);
	udp_server_stop(&s);
}
END_TEST

/* One that is stopped when its leader is killed does not keep the sockets. */
START_TEST(a_stopped_worker_ends_with_its_leader)
{
	begin(backend_say);
	UP("--worker-watchdog", "0");
	kill(worker(0), SIGSTOP);
	kill(pen.child.pid, SIGKILL);
	(void)child_wait(&pen.child, SOON);
	WAIT_FOR(!endpoint_is_listening(&front), SOON);
	UP("--worker-watchdog", "0");
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(other_methods)
{
	any_event_method();
	begin(backend_say);
	UP(_i == 0 ? "-P" : "-Oselect");
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	kill(worker(0), SIGKILL);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	answers("server 1 drain", "");
	ck_assert_int_eq(count_in(hear(20), "b"), 0);
	ck_assert_int_eq(count_in(child_err(&pen.child), "killed"), 1);
	pen_down(&pen);
	end();
}
END_TEST

START_TEST(one_that_does_not_turn_is_replaced)
{
	begin(backend_say);
	UP("--worker-watchdog", "1");
	kill(worker(0), SIGSTOP);
	WAIT_FOR(child_has_said(&pen.child, "its loop does not turn"), SOON);
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	pen_down(&pen);
	end();
}
END_TEST

/* What it has counted is there without a word of it, and was never before: all
 * counters are complete. Only what it alone has is waited for, by the client
 * that wants it. */
START_TEST(one_that_stands_still_is_waited_for_by_none)
{
	const char *list, *line = text("connections %08000d\n", 0);
	struct endpoint web;
	int asked, fd, i;
	char c;

	begin(backend_echo);
	endpoint_new(&web, ENDPOINT_TCP4);
	UP("--worker-watchdog", "0", "--web", web.text);
	hold(0, CLIENTS);
	kill(worker(0), SIGSTOP);
	ck_assert_int_eq(statistic("accepted"), CLIENTS);
	ck_assert_int_eq(statistic("sessions"), CLIENTS);
	ck_assert_int_eq(statistic("bytes_up"), 5 * CLIENTS);
	answers("servers", text("0 addr 127.0.0.1 port %d conn 32", a.at.port));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&web,
		       "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
		       "Connection: close\r\n\r\n"),
		text("\npen_connections_accepted_total %d\n", CLIENTS)));
	asked = endpoint_connect(&ctl);
	endpoint_send(asked, "connections\n", 12);
	for (i = 0; i < 100; i++) { /* more than its socket takes */
		fd = endpoint_connect(&ctl);
		endpoint_send(fd, line, strlen(line));
		close(fd);
	}
	answers("clear counters", "");
	ck_assert_int_eq(statistic("accepted"), 0);
	ck_assert_int_eq(statistic("sessions"), CLIENTS);
	ck_assert_int_lt(recv(asked, &c, 1, MSG_PEEK | MSG_DONTWAIT), 0);
	kill(worker(0), SIGCONT);
	list = endpoint_recv_all(asked);
	close(asked);
	ck_assert_int_eq(count_in(list, "client 127.0.1."), CLIENTS);
	let_go(0, CLIENTS);
	WAIT_FOR(statistic("sessions") == 0, SOON);
	ck_assert_int_eq(statistic("accepted"), 0);
	ck_assert_int_eq(statistic("sessions_peak"), CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

/* ---- a change goes one way ---- */

static void
is_done(const char *line)
{
	const char *said = ask(line);

	ck_assert_msg(strstr(said, "error") == NULL, "%s: %s", line, said);
}

static long long
takes_ms(const char *line)
{
	long long began = wait_now_ms();

	is_done(line);
	return wait_now_ms() - began;
}

/* A client of each worker. */
static void
one_of_each(int of[WORKERS])
{
	const char *list = ask("connections");
	int i, lines;

	of[0] = of[1] = -1;
	for (i = 0; i < CLIENTS; i++)
		of[worker_of(list, i, &lines)] = i;
	ck_assert(of[0] >= 0 && of[1] >= 0);
}

/* It makes the changes when it goes on. Clients of the other one have them. */
START_TEST(a_stopped_worker_delays_no_command)
{
	int of[WORKERS];

	begin(backend_echo);
	UP("--worker-watchdog", "0");
	hold(0, CLIENTS);
	one_of_each(of);
	kill(worker(0), SIGSTOP);
	ck_assert_int_lt(takes_ms("server 0 max 900"), 400);
	ck_assert_int_lt(takes_ms("server 1 drain"), 400);
	ck_assert_int_lt(takes_ms("mode"), 400);
	endpoint_expect_echo(fds[of[1]], "still here");
	hold(CLIENTS + of[1], 1);
	kill(worker(0), SIGCONT);
	hold(CLIENTS + of[0], 1);
	endpoint_expect_echo(fds[of[0]], "back again");
	answers("servers",
	    text("1 addr 127.0.0.1 port %d conn %d", b.at.port, CLIENTS / 2));
	ck_assert(!child_has_said(&pen.child, "worker is stuck"));
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	let_go(0, CLIENTS);
	let_go(CLIENTS + of[0], 1);
	let_go(CLIENTS + of[1], 1);
	pen_down(&pen);
	end();
}
END_TEST

/* What its answer waits for is the leader's business. */
START_TEST(a_command_that_waits_is_made)
{
	begin(backend_echo);
	UP("--worker-watchdog", "0");
	hold(0, CLIENTS);
	answers("server 1 drain wait 0.2", "connections left after 200 ms");
	hold(CLIENTS, CLIENTS);
	answers("servers",
	    text("1 addr 127.0.0.1 port %d conn %d", b.at.port, CLIENTS / 2));
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	let_go(0, 2 * CLIENTS);
	pen_down(&pen);
	end();
}
END_TEST

/* The next one has what was in force when it was forked. */
START_TEST(the_watchdog_replaces_a_stopped_one)
{
	begin(backend_say);
	UP("--worker-watchdog", "1");
	kill(worker(0), SIGSTOP);
	is_done("server 1 drain");
	WAIT_FOR(child_has_said(&pen.child, "replaced worker=1"), SOON);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	is_done("server 1 up");
	ck_assert_int_gt(count_in(hear(20), "b"), 0);
	pen_down(&pen);
	end();
}
END_TEST

/* Sockets of a new listener, too, wait for one that is stopped; so does the
 * answer, as it has old ones. */
START_TEST(a_stopped_worker_gets_its_sockets)
{
	const char *line = text("connections %08000d\n", 0);
	struct endpoint next;
	int fd, i;

	begin(backend_echo);
	endpoint_new(&next, ENDPOINT_TCP4);
	UP("--worker-watchdog", "0");
	kill(worker(0), SIGSTOP);
	for (i = 0; i < 100; i++) { /* more than its channel takes */
		fd = endpoint_connect(&ctl);
		endpoint_send(fd, line, strlen(line));
		close(fd);
	}
	fd = endpoint_connect(&ctl);
	line = text("listen %s\n", next.text);
	endpoint_send(fd, line, strlen(line));
	WAIT_FOR(strstr(ask("listen"), next.text) != NULL, SOON);
	kill(worker(0), SIGCONT);
	ck_assert_ptr_nonnull(strstr(endpoint_recv_all(fd), next.text));
	close(fd);
	front = next;
	hold(0, CLIENTS);
	let_go(0, CLIENTS);
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	pen_down(&pen);
	end();
}
END_TEST

/* What is in force in the leader is gone when the worker wants to read it. The
 * one of `client` has read it (-1: perhaps). */
static void
one_cannot_change(int client)
{
	kill(worker(0), SIGSTOP);
	write_file(scratch("list"), "permit 127.0.0.0/8\n");
	is_done(text("acl 1 file %s", scratch("list")));
	is_done("server 1 drain");
	if (client >= 0) {
		hold(client, 1);
		let_go(client, 1);
	}
	ck_assert_int_eq(unlink(scratch("list")), 0);
	kill(worker(0), SIGCONT);
	WAIT_FOR(
	    child_has_said(&pen.child, "worker has not made a change"), SOON);
}

/* It makes no further changes; forks of the leader have all of them. Sessions
 * of the old ones go on, and are counted. */
START_TEST(one_that_cannot_change_is_replaced)
{
	int of[WORKERS], i;

	begin(backend_echo);
	UP("--worker-watchdog", "0");
	hold(0, CLIENTS);
	one_of_each(of);
	one_cannot_change(CLIENTS + of[1]);
	WAIT_FOR(count_children() == 2 * WORKERS, SOON);
	WAIT_FOR(child_has_said(&pen.child, "new workers=2 before=2"), SOON);
	WAIT_FOR(count_in(ask("connections"), "\n") == 0, SOON);
	hold(CLIENTS, CLIENTS);
	for (i = 0; i < 2 * CLIENTS; i++)
		endpoint_expect_echo(fds[i], "still here");
	answers("servers",
	    text("1 addr 127.0.0.1 port %d conn %d", b.at.port, CLIENTS / 2));
	ck_assert_int_eq(statistic("accepted"), 2 * CLIENTS + 1);
	let_go(0, CLIENTS);
	WAIT_FOR(count_children() == WORKERS, SOON);
	ck_assert_int_eq(statistic("accepted"), 2 * CLIENTS + 1);
	is_done("server 1 up");
	let_go(CLIENTS, CLIENTS);
	ck_assert_int_eq(
	    count_in(child_err(&pen.child), "has not made a change"), 1);
	pen_down(&pen);
	end();
}
END_TEST

/* As it was when its leader read it, and those that it includes. */
START_TEST(a_reload_is_made_as_it_was_read)
{
	const char *conf = scratch("pen.conf"), *more = scratch("more.conf");

	begin(backend_say);
	write_file(more, "roundrobin\n");
	write_file(conf,
	    text("include %s\nserver 0 address 127.0.0.1 port %d\n", more,
		a.at.port));
	pen_up(&pen, &front, "-C", ctl.text, "--workers", "2",
	    "--worker-watchdog", "0", "-F", conf, front.text, NULL);
	pen_answers(&ctl, "workers", "2");
	kill(worker(0), SIGSTOP);
	write_file(more,
	    text(
		"roundrobin\nserver 0 address 127.0.0.1 port %d\n", b.at.port));
	write_file(conf, text("include %s\n", more));
	is_done("reload");
	write_file(more, "no such line\n");
	ck_assert_int_eq(unlink(conf), 0);
	kill(worker(0), SIGCONT);
	ck_assert_int_eq(count_in(hear(20), "b"), 20);
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	pen_down(&pen);
	end();
}
END_TEST

/* One more, or one fewer, is there when the worker looks for them. */
START_TEST(other_files_than_the_leader_s)
{
	const char *dir = scratch("d");

	begin(backend_say);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_file(text("%s/a.conf", dir), "roundrobin\n");
	write_file(text("%s/b.conf", dir), "server 1 weight 2\n");
	UP("--worker-watchdog", "0");
	kill(worker(0), SIGSTOP);
	is_done(text("include %s/*.conf", dir));
	is_done("server 1 drain");
	if (_i == 0)
		ck_assert_int_eq(unlink(text("%s/b.conf", dir)), 0);
	else
		write_file(text("%s/c.conf", dir), "no such line\n");
	kill(worker(0), SIGCONT);
	WAIT_FOR(
	    child_has_said(&pen.child, "the files are not those of the leader"),
	    SOON);
	WAIT_FOR(child_has_said(&pen.child, "new workers=2 before=2"), SOON);
	WAIT_FOR(count_children() == WORKERS, SOON);
	ck_assert_int_eq(count_in(hear(20), "a"), 20);
	pen_down(&pen);
	end();
}
END_TEST

/* 0: it has not got it yet; 1: it has not taken it; 2: perhaps it makes it;
 * 3: it has it; 4: it could not make it, and its set is to be replaced. */
START_TEST(one_is_killed_in_a_change)
{
	int i;

	begin(backend_say);
	UP("--worker-watchdog", "0");
	for (i = 0; i < 3; i++) {
		WAIT_FOR(count_children() == WORKERS, SOON);
		if (_i == 0)
			kill(worker(0), SIGKILL);
		if (_i == 1)
			kill(worker(0), SIGSTOP);
		if (_i < 4)
			is_done("server 1 drain");
		else
			one_cannot_change(-1);
		if (_i == 3)
			ck_assert_int_eq(count_in(hear(20), "a"), 20);
		kill(worker(0), SIGKILL);
		/* one that cannot make it serves as before until then */
		if (_i == 4)
			WAIT_FOR(count_in(hear(20), "a") == 20, SOON);
		ck_assert_int_eq(count_in(hear(20), "a"), 20);
		is_done("server 1 up");
		ck_assert_int_gt(count_in(hear(20), "b"), 0);
	}
	pen_down(&pen);
	end();
}
END_TEST

/* A name that has what it had is no change. */
START_TEST(names_that_stay_change_nothing)
{
	struct nameserver names;
	int asked;

	nameserver_start(&names);
	nameserver_set(&names, "web.test", "127.0.0.1", NULL);
	begin(backend_say);
	UP("--worker-watchdog", "0", "--resolver", names.text,
	    "--resolve-interval", "0.05", "-O",
	    text("server 2 address web.test port %d", b.at.port));
	kill(worker(0), SIGSTOP);
	asked = names.questions;
	WAIT_FOR(names.questions > asked + 6, SOON);
	ck_assert(!child_has_said(&pen.child, "addresses of names"));
	kill(worker(0), SIGCONT);
	nameserver_set(&names, "web.test", "127.0.0.2", NULL);
	WAIT_FOR(
	    child_has_said(&pen.child, "addresses changed server=2"), SOON);
	ck_assert(!child_has_said(&pen.child, "worker is stuck"));
	pen_down(&pen);
	end();
	nameserver_stop(&names);
}
END_TEST

/* The leader could not ask any meanwhile. */
START_TEST(a_pause_of_the_leader_ends_none)
{
	long long began;

	begin(backend_say);
	UP("--worker-watchdog", "1");
	kill(pen.child.pid, SIGSTOP);
	began = wait_now_ms();
	WAIT_FOR(wait_now_ms() - began > 3000, 4000);
	kill(pen.child.pid, SIGCONT);
	WAIT_FOR(wait_now_ms() - began > 5000, 6000);
	ck_assert_int_eq((int)strlen(hear(20)), 20);
	answers("workers", "2");
	ck_assert(!child_has_said(&pen.child, "worker is stuck"));
	pen_down(&pen);
	end();
}
END_TEST

static bool
is_gone(pid_t pid)
{
	return kill(pid, 0) < 0
	    ? errno == ESRCH
	    : strchr(child_status_line(pid, "State"), 'Z') != NULL;
}

/* It removes no file: by then that may be another pen's. */
START_TEST(no_worker_outlives_its_leader)
{
	struct endpoint local;
	pid_t one, two;

	/* it stops the worker, which the leader's death continues */
	pen_without_leak_checker();
	begin(backend_say);
	UP("--session-log", "off");
	endpoint_new(&local, ENDPOINT_UNIX);
	answers(text("listen %s,%s", front.text, local.text), "");
	one = worker(0);
	two = worker(1);
	kill(pen.child.pid, SIGKILL);
	WAIT_FOR(is_gone(one) && is_gone(two), SOON);
	ck_assert_int_eq(access(local.text, F_OK), 0);
	end();
}
END_TEST

#ifdef CPU_SET
/* In a new root the C library finds no processors but those that pen may
 * use. */
START_TEST(auto_stays_what_it_was)
{
	const char *jail = scratch("jail");
	cpu_set_t all, one;
	int i = 0;

	if (geteuid() != 0)
		SKIP("needs root");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("needs two processors");
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(i, &all))
		i++;
	CPU_ZERO(&one);
	CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	begin(backend_say);
	pen_up(&pen, &front, "-C", ctl.text, "--workers", "auto", "-j", jail,
	    front.text, a.at.text, NULL);
	ck_assert_str_eq(ask("server 0 weight 3"), "");
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
	pen_down(&pen);
	end();
}
END_TEST
#endif

/* Signals of a terminal reach all; only the leader obeys. */
START_TEST(a_stop_ends_all)
{
	pid_t one, two;

	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 8);
	one = worker(0);
	two = worker(1);
	kill(one, SIGTERM);
	kill(two, SIGHUP);
	ck_assert_int_eq(statistic("sessions"), 8);
	pen_down(&pen);
	ck_assert(is_gone(one) && is_gone(two));
	let_go(0, 8);
	end();
}
END_TEST

START_TEST(a_graceful_stop_waits_for_all)
{
	begin(backend_echo);
	UP("--session-log", "off");
	hold(0, 8);
	answers("shutdown", "stopping, 8 sessions left");
	WAIT_FOR(!endpoint_is_listening(&front), SOON);
	endpoint_expect_echo(fds[3], "still here");
	let_go(0, 8);
	ck_assert_int_eq(child_wait(&pen.child, SOON), 0);
	end();
}
END_TEST

START_TEST(what_one_process_does_is_said)
{
	begin(backend_say);
	pen_expect_failure("direct server return is served by one process",
	    "--check", "--workers", "2", "-O", "dsr_if lo", "-r", "10.0.0.1:0",
	    "10.0.0.2", NULL);
	pen_expect_failure("workers", "--check", "--workers", "0", front.text,
	    a.at.text, NULL);
	pen_expect_failure("workers", "--check", "--workers", "65", front.text,
	    a.at.text, NULL);
	UP("--session-log", "off");
	answers("workers 1", "only at a start or an upgrade");
	answers("workers_by connection", "can be set only at startup");
	pen_down(&pen);
	end();
}
END_TEST

SUITE(test_workers)
{
	Suite *s = suite_create("workers");
	TCase *c = tcase_create("several");

	tcase_set_timeout(c, 20);
	tcase_add_loop_test(c, other_methods, 0, 2);
	tcase_add_loop_test(c, the_connections_of_all_count, 0, 4);
	suite_add_tcase(s, c);
	SUITE_ADD(s, one_has_no_child, 20);
	SUITE_ADD(s, a_client_comes_back_to_its_worker, 20);
	SUITE_ADD(s, by_connection_one_client_has_both, 20);
	SUITE_ADD(s, a_unix_socket_is_shared, 20);
	SUITE_ADD(s, numbers_are_sums, 20);
	SUITE_ADD(s, all_counters_are_cleared, 20);
	SUITE_ADD(s, a_command_is_for_all, 20);
	SUITE_ADD(s, a_refused_change_is_for_none, 20);
	SUITE_ADD(s, what_is_in_use_is_refused, 20);
	SUITE_ADD(s, listeners_move, 20);
	SUITE_ADD(s, a_reload_is_for_all, 20);
	SUITE_ADD(s, a_reload_warns_once, 20);
	SUITE_ADD(s, a_descriptor_has_a_connection, 30);
	SUITE_ADD(s, a_connection_is_closed, 20);
	SUITE_ADD(s, a_drain_waits_for_all, 20);
	SUITE_ADD(s, a_client_is_asked_of_its_worker, 20);
	SUITE_ADD(s, each_has_its_part_of_the_limit_of_all, 30);
	SUITE_ADD(s, a_hard_limit_is_for_all, 20);
	SUITE_ADD(s, checks_are_made_once_for_all, 20);
	SUITE_ADD(s, sessions_move_to_a_better_server, 20);
	SUITE_ADD(s, a_server_counts_anew_for_all, 20);
	SUITE_ADD(s, a_service_counts_anew_for_all, 20);
	SUITE_ADD(s, a_removed_server_keeps_its_number, 20);
	SUITE_ADD(s, a_failure_is_known_to_all, 20);
	SUITE_ADD(s, a_killed_worker_is_replaced, 20);
	SUITE_ADD(s, clients_of_the_leader_stay, 20);
	SUITE_ADD(s, flows_end_with_their_worker, 20);
	SUITE_ADD_LOOP(s, each_draws_for_itself, 30, 2);
	SUITE_ADD(s, a_replacement_has_what_is_in_force, 20);
#ifdef HAVE_PRLIMIT
	SUITE_ADD(s, a_replacement_without_descriptors, 30);
#endif
	SUITE_ADD(s, a_stopped_leader_stops_none, 60);
	SUITE_ADD(s, others_serve_for_one_that_is_away, 60);
	SUITE_ADD(s, others_serve_where_it_listens_now, 60);
	SUITE_ADD(s, flows_are_served_for_one_that_is_away, 60);
	SUITE_ADD(s, a_stopped_worker_ends_with_its_leader, 60);
	SUITE_ADD(s, one_that_does_not_turn_is_replaced, 20);
	SUITE_ADD(s, one_that_stands_still_is_waited_for_by_none, 20);
	SUITE_ADD(s, a_stopped_worker_delays_no_command, 40);
	SUITE_ADD(s, a_command_that_waits_is_made, 40);
	SUITE_ADD(s, the_watchdog_replaces_a_stopped_one, 40);
	SUITE_ADD(s, a_stopped_worker_gets_its_sockets, 40);
	SUITE_ADD(s, one_that_cannot_change_is_replaced, 60);
	SUITE_ADD(s, a_reload_is_made_as_it_was_read, 40);
	SUITE_ADD_LOOP(s, other_files_than_the_leader_s, 40, 2);
	SUITE_ADD_LOOP(s, one_is_killed_in_a_change, 120, 5);
	SUITE_ADD(s, names_that_stay_change_nothing, 40);
	SUITE_ADD(s, a_pause_of_the_leader_ends_none, 20);
	SUITE_ADD(s, no_worker_outlives_its_leader, 20);
#ifdef CPU_SET
	SUITE_ADD(s, auto_stays_what_it_was, 20);
#endif
	SUITE_ADD(s, a_stop_ends_all, 20);
	SUITE_ADD(s, a_graceful_stop_waits_for_all, 20);
	SUITE_ADD(s, what_one_process_does_is_said, 20);
	return s;
}
