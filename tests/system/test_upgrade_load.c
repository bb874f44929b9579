/* test_upgrade_load.c: upgrades and reloads while clients come and datagrams
 * fly: nobody is refused, reset or left without an answer. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
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
#include "system/nameserver.h"

enum { CLIENTS = 8, LARGE = 4 * 1024 * 1024, FLOWS = 40 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *program;

/* "l" asks for LARGE bytes, all else comes back. */
static void
serve(struct backend *b, int fd)
{
	static const char chunk[64 * 1024];
	char word;
	int i;

	while (recv(fd, &word, 1, 0) == 1) {
		if (word != 'l') {
			if (!backend_send(fd, &word, 1))
				return;
			continue;
		}
		for (i = 0; i < LARGE; i += (int)sizeof(chunk))
			if (!backend_send(fd, chunk, sizeof(chunk)))
				return;
	}
	(void)b;
}

/* ---- connections ---- */

/* A connection, a byte there and back, the end. */
static bool
one_client(int visitor, int nth)
{
	int fd = endpoint_try_connect(&front);
	char word = 'x';
	bool good;

	(void)visitor;
	(void)nth;
	if (fd < 0)
		return false;
	good = send(fd, &word, 1, MSG_NOSIGNAL) == 1 &&
	    recv(fd, &word, 1, 0) == 1 && word == 'x' &&
	    shutdown(fd, SHUT_WR) == 0 && recv(fd, &word, 1, 0) == 0;
	close(fd);
	return good;
}

static long
read_large(int fd, long most)
{
	static char bytes[64 * 1024];
	long n = 0;
	ssize_t k;

	while (n < most && (k = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		n += k;
	return n;
}

/* Some more must have been served before the next step. */
static void
let_them_come(void)
{
	visitors_await(2 * CLIENTS);
}

/* Downloads that begin before are complete, too. */
START_TEST(connections)
{
	const char *conf = scratch("pen.conf");
	pid_t pid;
	int i, download;

	program = upgrading_install();
	NEED_UPGRADES(program);
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(
	    conf, text("listen %s\nserver add %s\n", front.text, back.at.text));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	pid = pen.child.pid;
	download = endpoint_connect(&front);
	endpoint_send(download, "l", 1);
	ck_assert_int_gt(read_large(download, 1000), 0);
	visitors_begin(CLIENTS, one_client);
	for (i = 0; i < (int)suite_amount(10, 4); i++) {
		let_them_come();
		pid = upgrading_go(&ctl, pid);
		let_them_come();
		ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	}
	let_them_come();
	(void)visitors_end();
	ck_assert(pen.child.running);
	shutdown(download, SHUT_WR);
	ck_assert_int_gt(read_large(download, LARGE), LARGE - 100 * 1024);
	close(download);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	backend_stop(&back);
}
END_TEST

/* ---- a limit ---- */

enum { ROOM = 10, ROUNDS = 5, CROWD = ROOM * (ROUNDS + 1) };

/* An upgrade with a SIGHUP to the old process in its middle. */
static pid_t
upgrade_with_hangup(pid_t old)
{
	char begins[sizeof("process ")] = "";
	int fd = endpoint_connect(&ctl);
	const char *said;

	endpoint_send(fd, "upgrade\n", 8);
	endpoint_recv(fd, begins, strlen("process "));
	ck_assert_int_eq(kill(old, SIGHUP), 0);
	endpoint_set_deadline(fd, 40000);
	said = endpoint_recv_all(fd);
	ck_assert_msg(strstr(said, " serves\n") != NULL, "%s", said);
	close(fd);
	return upgrading_pid(&ctl);
}

/* Clients that wait at conn_max are the new process's: the old one takes none
 * of them beyond the limit, and each is served in the end. */
START_TEST(clients_wait_at_the_limit)
{
	const char *conf = scratch("pen.conf");
	int clients[CROWD], i;
	char word;
	pid_t pid;

	program = upgrading_install();
	NEEDS_ONE_WORKER("each worker has its part of conn_max");
	NEED_UPGRADES(program);
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(conf,
	    text("listen %s\nserver add %s\nconn_max %d\n", front.text,
		back.at.text, ROOM));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	pid = pen.child.pid;
	for (i = 0; i < CROWD; i++) {
		clients[i] = endpoint_connect(&front);
		word = (char)i;
		endpoint_send(clients[i], &word, 1);
	}
	for (i = 1; i <= ROUNDS; i++) {
		WAIT_FOR(back.accepted >= ROOM * i, 20000);
		pid = upgrade_with_hangup(pid);
		ck_assert_int_le(back.accepted, ROOM * (i + 1));
	}
	WAIT_FOR(back.accepted == CROWD, 20000);
	for (i = 0; i < CROWD; i++) {
		endpoint_recv(clients[i], &word, 1);
		ck_assert_int_eq(word, (char)i);
		close(clients[i]);
	}
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	backend_stop(&back);
}
END_TEST

/* ---- flows of datagrams ---- */

static void
up_udp(const char *a, const char *b)
{
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", "udp_timeout 2", "-O",
	    "no sticky", "-O", "balance roundrobin", front.text, a, b, NULL);
}

/* Clients stay with their servers, though no memory of clients helps. */
START_TEST(flows_keep_their_servers)
{
	struct udp_server servers[2];
	int clients[FLOWS], i, n;
	char had[FLOWS];
	pid_t pid;

	program = upgrading_install();
	NEED_UPGRADES(program);
	udp_server_start(&servers[0], ENDPOINT_TCP4, "0");
	udp_server_start(&servers[1], ENDPOINT_TCP4, "1");
	up_udp(servers[0].at.text, servers[1].at.text);
	pid = pen.child.pid;
	for (i = 0; i < FLOWS; i++) {
		clients[i] = udp_client(&front);
		had[i] = udp_ask(clients[i], "hello", 10000)[0];
	}
	/* an odd one: the turn of the next new flow is not that of the first */
	ck_assert_int_ne(had[0], had[1]);
	for (n = 0; n < 2; n++) {
		pid = upgrading_go(&ctl, pid);
		for (i = FLOWS - 1; i >= 0; i--)
			ck_assert_int_eq(
			    udp_ask(clients[i], "again", 10000)[0], had[i]);
	}
	ck_assert_ptr_nonnull(strstr(
	    endpoint_ask(&ctl, "statistics\n"), text("\nflows %d\n", FLOWS)));
	for (i = 0; i < FLOWS; i++)
		close(clients[i]);
	/* the old one ends with its flows */
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	udp_server_stop(&servers[0]);
	udp_server_stop(&servers[1]);
}
END_TEST

/* What was asked of the old process is answered by it. */
START_TEST(answers_are_still_brought)
{
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	struct endpoint server;
	int fd, client;
	char word[8];
	pid_t pid;

	program = upgrading_install();
	NEED_UPGRADES(program);
	udp_endpoint(&server, ENDPOINT_TCP4);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	endpoint_set_deadline(fd, 10000);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&server.addr, server.len), 0);
	up_udp(server.text, server.text);
	client = udp_client(&front);
	endpoint_send(client, "ask", 3);
	ck_assert_int_eq(recvfrom(fd, word, sizeof(word), 0,
			     (struct sockaddr *)&from, &length),
	    3);
	pid = upgrading_go(&ctl, pen.child.pid);
	ck_assert_int_eq(
	    sendto(fd, "answer", 6, 0, (const struct sockaddr *)&from, length),
	    6);
	ck_assert_int_eq(recv(client, word, sizeof(word), 0), 6);
	close(client);
	close(fd);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
}
END_TEST

/* ---- DNS ---- */

START_TEST(dns_queries)
{
	const char *argv[] = { "dnsperf", "-s", NULL, "-p", NULL, "-d", NULL,
		"-l", "600", "-Q", "1000", "-c", "10", NULL };
	struct child server, load;
	struct endpoint at;
	const char *said;
	pid_t pid;
	int i;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dnsperf");
	program = upgrading_install();
	NEED_UPGRADES(program);
	udp_endpoint(&at, ENDPOINT_TCP4);
	nameserver_up(&server, NAMESERVER_UNBOUND, &at, 0);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, front.text, at.text, NULL);
	pid = pen.child.pid;
	write_file(scratch("questions"), "a.test A\nwho.test TXT\n");
	argv[2] = udp_host(&front);
	argv[4] = text("%d", front.port);
	argv[6] = scratch("questions");
	child_start(&load, argv);
	for (i = 0; i < (int)suite_amount(8, 4); i++) {
		WAIT_FOR(report_number(endpoint_ask(&ctl, "statistics\n"),
			     "\ndns_queries ") >= 300 * (i + 1) ||
			child_has_ended(&load),
		    20000);
		pid = upgrading_go(&ctl, pid);
	}
	ck_assert_msg(!child_has_ended(&load), "%s", child_out(&load));
	ck_assert_int_eq(child_stop(&load, SIGINT), 0);
	said = child_out(&load);
	ck_assert_msg(report_number(said, "Queries lost:") == 0 &&
		report_number(said, "Queries completed:") > 1000,
	    "%s", said);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	ck_assert_int_eq(child_stop(&server, SIGTERM), 0);
}
END_TEST

SUITE(test_upgrade_load)
{
	Suite *s = suite_create("upgrade_load");

	SUITE_ADD(s, connections, 120);
	SUITE_ADD(s, clients_wait_at_the_limit, 120);
	SUITE_ADD(s, flows_keep_their_servers, 60);
	SUITE_ADD(s, answers_are_still_brought, 60);
	SUITE_ADD(s, dns_queries, 120);
	return s;
}
