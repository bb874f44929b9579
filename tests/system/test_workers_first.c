/* test_workers_first.c: a change comes before the next client: one that begins
 * after the answer of a command is served as it says, also by a worker that was
 * stopped meanwhile, and by one that has not got all of the change yet. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

/* Clients with an address each: some are there before the change, and wait in
 * the same queues. */
enum { SOON = 20000, CLIENTS = 32, EARLY = 8, WORKERS = 2 };

static struct endpoint front, ctl;
static struct pen pen;
static const char *one_at, *other_at; /* servers */
static int fds[CLIENTS];

/* What leaves the other server alone. */
static const char *
change(int i)
{
	const char *at;

	switch (i) {
	case 0:
		return "server 0 drain";
	case 1:
		return "server 0 remove";
	case 2:
		return "server 0 blacklist 3600";
	case 3:
		return "acl none deny 0.0.0.0/0; server 0 acl none";
	case 4:
		at = strrchr(other_at, ':') + 1;
		return text("server 1 remove; server 0 address %.*s port %s",
		    (int)(at - 1 - other_at), other_at, at);
	default: /* more than a channel takes at once */
		write_file(scratch("long"),
		    text("# %0*d\nserver 0 drain\n", 600 * 1000, 0));
		return text("include %s", scratch("long"));
	}
}
enum { CHANGES = 6 };

static void
up(const char *way, const char *value)
{
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "--workers", "2",
	    "--worker-watchdog", "0", "--session-log", "off", way, value,
	    front.text, one_at, other_at, NULL);
	pen_answers(&ctl, "workers", "2");
}

static void
all_workers(int signo)
{
	const char *at = child_children(pen.child.pid);
	char *rest;
	int i;

	for (i = 0; i < WORKERS; i++, at = rest)
		kill((pid_t)strtol(at, &rest, 10), signo);
}

static void
is_done(const char *line)
{
	const char *said = pen_ask(&ctl, line);

	ck_assert_msg(strstr(said, "error") == NULL, "%s: %s", line, said);
}

static const char *
address_of(int client)
{
	return text("127.0.1.%d", client + 1);
}

/* ---- TCP ---- */

static struct backend one, other;

static void
begin_tcp(void)
{
	backend_start(&one, ENDPOINT_TCP4, backend_say, "1");
	backend_start(&other, ENDPOINT_TCP4, backend_say, "2");
	one_at = one.at.text;
	other_at = other.at.text;
}

static void
end_tcp(void)
{
	pen_down(&pen);
	backend_stop(&one);
	backend_stop(&other);
}

static void
connect_clients(int from, int to)
{
	for (; from < to; from++)
		fds[from] = endpoint_connect_from(&front, address_of(from));
}

/* The word of the server; '\0': no server. */
static void
expect(int from, int to, char what)
{
	char got;

	for (; from < to; from++) {
		got = '\0';
		(void)recv(fds[from], &got, 1, 0);
		ck_assert_int_eq(got, what);
		close(fds[from]);
	}
}

static void
close_clients(int from, int to)
{
	for (; from < to; from++)
		close(fds[from]);
}

START_TEST(connections)
{
	begin_tcp();
	up("-O", "idle_timeout 60");
	all_workers(SIGSTOP);
	connect_clients(0, EARLY);
	is_done(change(_i));
	connect_clients(EARLY, CLIENTS);
	all_workers(SIGCONT);
	expect(EARLY, CLIENTS, '2');
	close_clients(0, EARLY);
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	end_tcp();
}
END_TEST

static void
say(int fd, const char *what)
{
	endpoint_send(fd, what, strlen(what));
}

/* They are connected, and have said half of what the choice waits for: that was
 * reported to the loop before the change was. */
START_TEST(connections_that_have_begun)
{
	int i;

	begin_tcp();
	up("-O", "acl edge permit 127.0.0.0/8; accept_proxy edge");
	connect_clients(0, CLIENTS);
	WAIT_FOR(strstr(pen_ask(&ctl, "statistics"),
		     text("sessions %d\n", CLIENTS)) != NULL,
	    SOON);
	all_workers(SIGSTOP);
	for (i = 0; i < CLIENTS; i++)
		say(fds[i], "PROXY TCP4 127.0.2.1 ");
	is_done(change(_i));
	for (i = 0; i < CLIENTS; i++)
		say(fds[i], "127.0.2.2 1 2\r\n");
	all_workers(SIGCONT);
	expect(0, CLIENTS, '2');
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	end_tcp();
}
END_TEST

/* A worker reads a long list in pieces, and accepts nobody meanwhile. */
START_TEST(clients_wait_for_a_long_list)
{
	enum { LINES = 100000 };
	char *list = malloc(LINES * 24 + 1), *at = list;
	int i;

	begin_tcp();
	up("-O", "client_acl 1");
	for (i = 0; i < LINES; i++)
		at += sprintf(at, "deny 10.%d.%d.%d\n", i >> 16, i >> 8 & 255,
		    i & 255);
	strcpy(at, "deny 127.0.0.0/8\npermit 0.0.0.0/0\n");
	write_file(scratch("list"), list);
	free(list);
	connect_clients(0, CLIENTS);
	for (i = 0; i < CLIENTS; i++)
		ck_assert_uint_eq(strlen(endpoint_recv_all(fds[i])), 1);
	close_clients(0, CLIENTS);
	all_workers(SIGSTOP);
	connect_clients(0, EARLY);
	is_done(text("acl 1 file %s", scratch("list")));
	connect_clients(EARLY, CLIENTS);
	all_workers(SIGCONT);
	expect(EARLY, CLIENTS, '\0');
	close_clients(0, EARLY);
	end_tcp();
}
END_TEST

/* ---- datagrams ---- */

static void
open_sockets(void)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	int i;

	for (i = 0; i < CLIENTS; i++) {
		fds[i] = udp_client(&front);
		close(fds[i]);
		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		inet_pton(AF_INET, address_of(i), &from.sin_addr);
		ck_assert_int_eq(
		    bind(fds[i], (const void *)&from, sizeof(from)), 0);
		ck_assert_int_eq(
		    connect(fds[i], (const void *)&front.addr, front.len), 0);
		endpoint_set_deadline(fds[i], SOON);
	}
}

static void
ask(int from, int to, const void *bytes, size_t n)
{
	for (; from < to; from++)
		ck_assert_int_eq(send(fds[from], bytes, n, 0), (ssize_t)n);
}

/* Those that ask after the change have their answers of the other server. */
static void
change_between(const char *line, const void *bytes, size_t n)
{
	open_sockets();
	all_workers(SIGSTOP);
	ask(0, EARLY, bytes, n);
	is_done(line);
	ask(EARLY, CLIENTS, bytes, n);
	all_workers(SIGCONT);
}

START_TEST(flows)
{
	struct udp_server a, b;
	char got[8];
	int i;

	udp_server_start(&a, ENDPOINT_TCP4, "1");
	udp_server_start(&b, ENDPOINT_TCP4, "2");
	one_at = a.at.text;
	other_at = b.at.text;
	up("-O", "udp");
	change_between(change(_i), "x", 1);
	for (i = EARLY; i < CLIENTS; i++) {
		ck_assert_int_eq(recv(fds[i], got, sizeof(got), 0), 2);
		ck_assert_int_eq(got[0], '2');
	}
	close_clients(0, CLIENTS);
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	pen_down(&pen);
	udp_server_stop(&a);
	udp_server_stop(&b);
}
END_TEST

START_TEST(queries)
{
	static const unsigned char question[] = "\x12\x34\x01\0\0\1\0\0\0\0\0\0"
						"\1a\4test\0\0\1\0\1";
	struct nameserver a, b;
	unsigned char got[512];
	ssize_t n;
	int i;

	nameserver_start(&a);
	nameserver_start(&b);
	nameserver_set(&a, "a.test", "10.0.0.1", NULL);
	nameserver_set(&b, "a.test", "10.0.0.2", NULL);
	one_at = a.text;
	other_at = b.text;
	up("-O", "dns");
	change_between(change(_i), question, sizeof(question) - 1);
	for (i = EARLY; i < CLIENTS; i++) {
		n = recv(fds[i], got, sizeof(got), 0);
		ck_assert_int_gt(n, (ssize_t)sizeof(question));
		ck_assert_int_eq(got[n - 1], 2);
	}
	close_clients(0, CLIENTS);
	ck_assert(!child_has_said(&pen.child, "has not made a change"));
	pen_down(&pen);
	nameserver_stop(&a);
	nameserver_stop(&b);
}
END_TEST

SUITE(test_workers_first)
{
	Suite *s = suite_create("workers_first");

	SUITE_ADD_LOOP(s, connections, 60, CHANGES);
	/* not a long one: only those that connect wait for the rest of it */
	SUITE_ADD_LOOP(s, connections_that_have_begun, 60, CHANGES - 1);
	SUITE_ADD(s, clients_wait_for_a_long_list, 60);
	SUITE_ADD_LOOP(s, flows, 60, CHANGES);
	SUITE_ADD_LOOP(s, queries, 60, CHANGES);
	return s;
}
