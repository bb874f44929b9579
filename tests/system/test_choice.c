/* test_choice.c: which server a client gets, as the command line says. */
#include "config.h"

#include <check.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 4 };

static struct backend servers[SERVERS];
static struct endpoint front;
static struct pen pen;

static void
start_servers(int n)
{
	static const char *const names[] = { "0", "1", "2", "3" };
	int i;

	for (i = 0; i < n; i++)
		backend_start(
		    &servers[i], ENDPOINT_TCP4, backend_say, names[i]);
	endpoint_new(&front, ENDPOINT_TCP4);
}

static void
stop_all(int n)
{
	pen_down(&pen);
	while (n-- > 0)
		backend_stop(&servers[n]);
}

/* The number of the server that answers a client from `host`. */
static int
ask_from(const char *host)
{
	int fd = endpoint_connect_from(&front, host);
	const char *s = endpoint_recv_all(fd);

	close(fd);
	ck_assert_int_eq((int)strlen(s), 1);
	return *s - '0';
}

/* Default: back to the server used last; a new client, the next in turn. */
START_TEST(clients_are_remembered)
{
	int i, k, first[8];

	NEEDS_ONE_WORKER("each worker has its own turns");
	start_servers(4);
	pen_up(&pen, &front, front.text, servers[0].at.text, servers[1].at.text,
	    servers[2].at.text, servers[3].at.text, NULL);
	for (i = 0; i < 8; i++)
		first[i] = ask_from(text("127.0.1.%d", i + 1));
	for (i = 1; i < 8; i++)
		ck_assert_int_eq(first[i], (first[i - 1] + 1) % 4);
	for (k = 0; k < 3; k++)
		for (i = 0; i < 8; i++)
			ck_assert_int_eq(
			    ask_from(text("127.0.1.%d", i + 1)), first[i]);
	stop_all(4);
}
END_TEST

enum { ASKERS = 12, TIMES = 3 };

/* What a process of its own is answered, one letter each time, TIMES of
 * them. */
static void
ask_by_process(char answers[TIMES])
{
	int pipes[2], i;

	ck_assert_int_eq(pipe(pipes), 0);
	if (child_fork() == 0) {
		for (i = 0; i < TIMES; i++)
			if (write(pipes[1], endpoint_hear(&front), 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	for (i = 0; i < TIMES; i++)
		ck_assert_int_eq(read(pipes[0], answers + i, 1), 1);
	close(pipes[0]);
}

/* Through a Unix socket each process is a client of its own: in turn at first,
 * by hash somewhere, and always there again. Where nobody is told apart nobody
 * is asked who it is. */
START_TEST(unix_clients_are_processes)
{
	static const char *const modes[] = { "no roundrobin", "hash",
		"roundrobin" };
	char answers[ASKERS][TIMES];
	struct endpoint ctl;
	const char *recent;
	int i, k, moved = 0, fd;

	NEEDS_ONE_WORKER("any worker accepts at a Unix socket");
	start_servers(4);
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-O", modes[_i], "-O",
	    "acl 1 permit unix", "-O", "client_acl 1", front.text,
	    servers[0].at.text, servers[1].at.text, servers[2].at.text,
	    servers[3].at.text, NULL);
	for (i = 0; i < ASKERS; i++) {
		ask_by_process(answers[i]);
		for (k = 1; k < TIMES; k++)
			ck_assert((answers[i][k] == answers[i][0]) == (_i < 2));
		if (i > 0 && answers[i][0] != answers[i - 1][0])
			moved++;
	}
	ck_assert_int_ge(moved, _i == 0 ? ASKERS - 1 : 1);
	recent = endpoint_ask(&ctl, "recent\n");
	ck_assert_int_eq(strstr(recent, "unix:pid=") != NULL, _i == 0);
	servers[0].serve = servers[1].serve = servers[2].serve =
	    servers[3].serve = backend_hang;
	fd = endpoint_connect(&front);
	WAIT_FOR(strstr(endpoint_ask(&ctl, "connections\n"),
		     _i < 2 ? text("client unix:pid=%d,uid=%d ", (int)getpid(),
				  (int)geteuid())
			    : "client unix ") != NULL,
	    10000);
	close(fd);
	stop_all(4);
}
END_TEST

/* -T 1: forgotten after a second of absence. */
START_TEST(clients_are_forgotten)
{
	int first;
	long long began;

	start_servers(2);
	pen_up(&pen, &front, "-T", "1", front.text, servers[0].at.text,
	    servers[1].at.text, NULL);
	first = ask_from("127.0.1.1");
	ck_assert_int_eq(ask_from("127.0.1.1"), first);
	began = wait_now_ms();
	WAIT_FOR(wait_now_ms() - began > 1100, 3000);
	ck_assert_int_ne(ask_from("127.0.1.1"), first);
	stop_all(2);
}
END_TEST

/* A table of two clients keeps the two that came last. */
START_TEST(oldest_client_is_forgotten)
{
	int a, b;

	NEEDS_ONE_WORKER("each worker has its own table and turns");
	start_servers(4);
	pen_up(&pen, &front, "-c", "2", front.text, servers[0].at.text,
	    servers[1].at.text, servers[2].at.text, servers[3].at.text, NULL);
	a = ask_from("127.0.1.1");
	b = ask_from("127.0.1.2");
	ck_assert_int_eq(b, (a + 1) % 4);
	ck_assert_int_eq(ask_from("127.0.1.3"), (a + 2) % 4);
	ck_assert_int_eq(ask_from("127.0.1.2"), b);
	ck_assert_int_eq(ask_from("127.0.1.1"), (a + 3) % 4);
	stop_all(4);
}
END_TEST

/* A remembered client whose server is gone moves, and stays there. */
START_TEST(remembered_client_moves)
{
	int first, second, i;

	start_servers(3);
	pen_up(&pen, &front, front.text, servers[0].at.text, servers[1].at.text,
	    servers[2].at.text, NULL);
	first = ask_from("127.0.1.1");
	backend_stop(&servers[first]);
	second = ask_from("127.0.1.1");
	ck_assert_int_ne(second, first);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(ask_from("127.0.1.1"), second);
	pen_down(&pen);
	for (i = 0; i < 3; i++)
		if (i != first)
			backend_stop(&servers[i]);
}
END_TEST

START_TEST(hash_by_address)
{
	int i, count[4] = { 0 }, before[64], after, moved = 0;

	start_servers(4);
	pen_up(&pen, &front, "-h", front.text, servers[0].at.text,
	    servers[1].at.text, servers[2].at.text, servers[3].at.text, NULL);
	for (i = 0; i < 64; i++) {
		before[i] = ask_from(text("127.0.2.%d", i + 1));
		count[before[i]]++;
	}
	for (i = 0; i < 4; i++)
		ck_assert_int_gt(count[i], 4);
	pen_down(&pen);

	/* The same after a restart; without server 3, only its clients move. */
	backend_stop(&servers[3]);
	pen_up(&pen, &front, "-h", front.text, servers[0].at.text,
	    servers[1].at.text, servers[2].at.text, servers[3].at.text, NULL);
	for (i = 0; i < 64; i++) {
		after = ask_from(text("127.0.2.%d", i + 1));
		ck_assert_int_ne(after, 3);
		if (before[i] != 3)
			moved += after != before[i];
	}
	ck_assert_int_le(moved, 3);
	stop_all(3);
}
END_TEST

/* -h with -r takes the port into account: one address reaches all. */
START_TEST(hash_by_address_and_port)
{
	int i, count[4] = { 0 };

	start_servers(4);
	pen_up(&pen, &front, "-h", "-r", front.text, servers[0].at.text,
	    servers[1].at.text, servers[2].at.text, servers[3].at.text, NULL);
	for (i = 0; i < 100; i++)
		count[ask_from("127.0.0.1")]++;
	for (i = 0; i < 4; i++)
		ck_assert_int_gt(count[i], 4);
	stop_all(4);
}
END_TEST

/* host:port:soft:hard:weight:prio; -W by load relative to weight. */
START_TEST(weights)
{
	int i, fds[40];

	start_servers(3);
	for (i = 0; i < 3; i++)
		servers[i].serve = backend_echo;
	pen_up(&pen, &front, "-W", "-r", front.text,
	    text("%s:0:0:3:0", servers[0].at.text),
	    text("%s:0:0:1:0", servers[1].at.text),
	    text("%s:0:0:0:0", servers[2].at.text), NULL);
	for (i = 0; i < 40; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "x");
	}
	ck_assert_int_eq(servers[0].accepted, 30);
	ck_assert_int_eq(servers[1].accepted, 10);
	ck_assert_int_eq(servers[2].accepted, 0);
	for (i = 0; i < 40; i++)
		close(fds[i]);
	stop_all(3);
}
END_TEST

/* The lowest number that works gets all. */
START_TEST(priorities)
{
	int i;

	start_servers(3);
	pen_up(&pen, &front, "-r", "-O", "prio", front.text,
	    text("%s:0:0:1:3", servers[0].at.text),
	    text("%s:0:0:1:1", servers[1].at.text),
	    text("%s:0:0:1:2", servers[2].at.text), NULL);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(ask_from("127.0.0.1"), 1);
	backend_stop(&servers[1]);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(ask_from("127.0.0.1"), 2);
	pen_down(&pen);
	backend_stop(&servers[0]);
	backend_stop(&servers[2]);
}
END_TEST

/* Equals share by weight. */
START_TEST(equal_priorities)
{
	int i;

	start_servers(3);
	pen_up(&pen, &front, "-r", "-O", "prio", front.text,
	    text("%s:0:0:1:2", servers[0].at.text),
	    text("%s:0:0:3:1", servers[1].at.text),
	    text("%s:0:0:1:1", servers[2].at.text), NULL);
	for (i = 0; i < 8; i++)
		ask_from("127.0.0.1");
	ck_assert_int_eq(servers[0].accepted, 0);
	ck_assert_int_eq(servers[1].accepted, 6);
	ck_assert_int_eq(servers[2].accepted, 2);
	stop_all(3);
}
END_TEST

/* soft stops new clients, hard known ones too; nobody else: a reset. */
START_TEST(limits_of_servers)
{
	int i, fds[5], fd;

	start_servers(2);
	servers[0].serve = servers[1].serve = backend_echo;
	pen_up(&pen, &front, "-r", front.text,
	    text("%s:2:2", servers[0].at.text),
	    text("%s:3:3", servers[1].at.text), NULL);
	for (i = 0; i < 5; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "x");
	}
	ck_assert_int_eq(servers[0].accepted, 2);
	ck_assert_int_eq(servers[1].accepted, 3);
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	close(fds[0]);
	WAIT_FOR(servers[0].open + servers[1].open == 4, 5000);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "room again");
	close(fd);
	for (i = 1; i < 5; i++)
		close(fds[i]);
	stop_all(2);
}
END_TEST

/* Full for new clients, not for those it knows, until hard. */
START_TEST(soft_limit_spares_known_clients)
{
	int a, b, c, d, known, other;

	start_servers(2);
	servers[0].serve = servers[1].serve = backend_echo;
	pen_up(&pen, &front, front.text, text("%s:1:2", servers[0].at.text),
	    text("%s:1:2", servers[1].at.text), NULL);
	a = endpoint_connect_from(&front, "127.0.1.1");
	endpoint_expect_echo(a, "x");
	known = servers[0].accepted == 1 ? 0 : 1;
	other = 1 - known;
	b = endpoint_connect_from(&front, "127.0.1.1");
	endpoint_expect_echo(b, "x");
	ck_assert_int_eq(servers[known].accepted, 2);
	/* its server is at the hard limit now */
	c = endpoint_connect_from(&front, "127.0.1.1");
	endpoint_expect_echo(c, "x");
	ck_assert_int_eq(servers[other].accepted, 1);
	/* and a new client finds no room at all */
	d = endpoint_connect_from(&front, "127.0.1.2");
	endpoint_expect_reset(d);
	close(a);
	close(b);
	close(c);
	close(d);
	stop_all(2);
}
END_TEST

/* Each algorithm by its name gives every client a server. */
START_TEST(algorithms_by_name)
{
	static const char *const names[] = { "roundrobin", "wrr", "leastconn",
		"wleastconn", "prio", "hash", "p2c", "least_time" };
	const char *setting;
	size_t k;
	int i, all;

	start_servers(3);
	for (k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		setting = text("balance %s", names[k]);
		endpoint_new(&front, ENDPOINT_TCP4);
		pen_up(&pen, &front, "-r", "-O", setting, front.text,
		    servers[0].at.text, servers[1].at.text, servers[2].at.text,
		    NULL);
		for (i = 0; i < 12; i++)
			ask_from("127.0.0.1");
		pen_down(&pen);
		for (all = 0, i = 0; i < 3; i++)
			all += servers[i].accepted;
		ck_assert_int_eq(all, 12 * (int)(k + 1));
	}
	for (i = 0; i < 3; i++)
		backend_stop(&servers[i]);
}
END_TEST

/* Weighted turns are interleaved: never three of the same in a row. */
START_TEST(weighted_turns)
{
	int i, count[2] = { 0 }, last = -1, row = 0;

	start_servers(2);
	pen_up(&pen, &front, "-r", "-O", "balance wrr", front.text,
	    text("%s:0:0:2:0", servers[0].at.text),
	    text("%s:0:0:1:0", servers[1].at.text), NULL);
	for (i = 0; i < 30; i++) {
		int now = ask_from("127.0.0.1");

		row = now == last ? row + 1 : 1;
		last = now;
		ck_assert_int_lt(row, 3);
		count[now]++;
	}
	ck_assert_int_eq(count[0], 20);
	ck_assert_int_eq(count[1], 10);
	stop_all(2);
}
END_TEST

/* The server with the fewest connections is next. */
START_TEST(fewest_connections)
{
	int i, fds[9];

	start_servers(3);
	for (i = 0; i < 3; i++)
		servers[i].serve = backend_echo;
	pen_up(&pen, &front, "-r", "-O", "balance leastconn", front.text,
	    servers[0].at.text, servers[1].at.text, servers[2].at.text, NULL);
	for (i = 0; i < 6; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "x");
	}
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(servers[i].open, 2);
	close(fds[0]); /* two of the same server end */
	close(fds[3]);
	WAIT_FOR(
	    servers[0].open + servers[1].open + servers[2].open == 4, 5000);
	for (i = 6; i < 8; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "x");
	}
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(servers[i].open, 2);
	for (i = 0; i < 8; i++)
		if (i != 0 && i != 3)
			close(fds[i]);
	stop_all(3);
}
END_TEST

/* Whom the list denies goes to the abuse server, or nowhere. */
START_TEST(denied_clients)
{
	const char *deny = "acl 1 deny 127.0.3.0/24";
	int fd;

	start_servers(2);
	pen_up(&pen, &front, "-r", "-O", deny, "-O", "client_acl 1", "-B",
	    servers[1].at.text, front.text, servers[0].at.text, NULL);
	ck_assert_int_eq(ask_from("127.0.0.1"), 0);
	ck_assert_int_eq(ask_from("127.0.3.9"), 1);
	ck_assert_int_eq(ask_from("127.0.4.9"), 0);
	pen_down(&pen);
	pen_up(&pen, &front, "-r", "-O", deny, "-O", "client_acl 1", front.text,
	    servers[0].at.text, NULL);
	ck_assert_int_eq(ask_from("127.0.0.1"), 0);
	fd = endpoint_connect_from(&front, "127.0.3.9");
	endpoint_expect_reset(fd);
	close(fd);
	stop_all(2);
}
END_TEST

/* Says where the connection came from. */
static void
say_peer(struct backend *b, int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	char host[64];

	(void)b;
	if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
	    getnameinfo((struct sockaddr *)&peer, len, host, sizeof(host), NULL,
		0, NI_NUMERICHOST) == 0)
		backend_send(fd, host, strlen(host));
}

START_TEST(source_address)
{
	start_servers(1);
	servers[0].serve = say_peer;
	pen_up(&pen, &front, "-r", "-O", "source 127.0.5.1", front.text,
	    servers[0].at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "127.0.5.1");
	stop_all(1);
}
END_TEST

SUITE(test_choice)
{
	Suite *s = suite_create("choice");
	TCase *unix_clients;

	SUITE_ADD(s, clients_are_remembered, 10);
	unix_clients = tcase_create("unix_clients_are_processes");
	tcase_add_loop_test(unix_clients, unix_clients_are_processes, 0, 3);
	tcase_set_timeout(unix_clients, 10);
	suite_add_tcase(s, unix_clients);
	SUITE_ADD(s, clients_are_forgotten, 10);
	SUITE_ADD(s, oldest_client_is_forgotten, 10);
	SUITE_ADD(s, remembered_client_moves, 10);
	SUITE_ADD(s, hash_by_address, 10);
	SUITE_ADD(s, hash_by_address_and_port, 10);
	SUITE_ADD(s, weights, 10);
	SUITE_ADD(s, priorities, 10);
	SUITE_ADD(s, equal_priorities, 10);
	SUITE_ADD(s, limits_of_servers, 10);
	SUITE_ADD(s, soft_limit_spares_known_clients, 10);
	SUITE_ADD(s, algorithms_by_name, 20);
	SUITE_ADD(s, weighted_turns, 10);
	SUITE_ADD(s, fewest_connections, 10);
	SUITE_ADD(s, denied_clients, 10);
	SUITE_ADD(s, source_address, 10);
	return s;
}
