/* test_exhaustion.c: little is left of something, or clients are slow by the
 * hundred, in each stage that a session has: who is in goes on, nobody works,
 * memory stays below what pen-clients(7) says, and who comes later is served.
 *
 * Slots and control clients are test_limits' subject, flows test_udp_forged's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare(), prlimit() */
#endif
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/certs.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, MOST = 1000, SLACK_KB = 4000, PORTS = 10 };

/* The server is the test itself: its listener's backlog takes connections, and
 * they are accepted when they matter. */
static struct {
	struct pen pen;
	struct endpoint slow, plain, ctl, server;
	int listener, kept, kept_server;
	int client[MOST], served[MOST];
} here;

/* ---- clients, servers ---- */

static int
accept_one(void)
{
	struct pollfd p = { .fd = here.listener, .events = POLLIN };
	int fd;

	ck_assert_int_eq(poll(&p, 1, (int)wait_scaled(SOON)), 1);
	fd = accept(here.listener, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	endpoint_set_deadline(fd, SOON);
	return fd;
}

static void
talk(int client, int server)
{
	char byte;

	endpoint_send(client, "q", 1);
	endpoint_recv(server, &byte, 1);
	endpoint_send(server, "a", 1);
	endpoint_recv(client, &byte, 1);
	ck_assert_int_eq(byte, 'a');
}

/* A client of the service that has no steps comes and is served. Some that have
 * left may be in front. */
static void
newcomer_is_served(void)
{
	int client = endpoint_connect(&here.plain), server;
	char byte = '\0';

	endpoint_send(client, "n", 1);
	do {
		server = accept_one();
		if (recv(server, &byte, 1, 0) != 1 || byte != 'n')
			close(server);
	} while (byte != 'n');
	talk(client, server);
	close(client);
	close(server);
}

static long
counter(const char *service, const char *name)
{
	const char *report =
	    endpoint_ask(&here.ctl, text("service %s statistics\n", service));

	return report_number(text("\n%s", report), text("\n%s ", name));
}

static long
sessions(void)
{
	return counter("default", "sessions") + counter("plain", "sessions");
}

static void
begin(const char *settings)
{
	const char *conf = scratch("pen.conf"), *server;

	endpoint_new(&here.server, ENDPOINT_TCP4);
	here.listener = endpoint_listen(&here.server, 4 * MOST);
	endpoint_new(&here.plain, ENDPOINT_TCP4);
	endpoint_new(&here.ctl, ENDPOINT_UNIX);
	server = text("server 0 address 127.0.0.1 port %d\n", here.server.port);
	write_file(conf,
	    text("control %s\nhello_timeout 600\nconn_max %d\n%s\n%s"
		 "service plain\nlisten %s\nconn_max %d\n%s",
		here.ctl.text, 2 * MOST, settings, server, here.plain.text,
		2 * MOST, server));
	pen_start(&here.pen, "-F", conf, "-f", NULL);
	pen_wait_ready(&here.pen, &here.ctl);
	here.kept = endpoint_connect(&here.plain);
	endpoint_send(here.kept, "q", 1);
	here.kept_server = accept_one();
	talk(here.kept, here.kept_server);
}

/* Of a service that nobody uses. */
static const char *
quiet_service(void)
{
	endpoint_new(&here.slow, ENDPOINT_TCP4);
	return text("listen %s", here.slow.text);
}

/* All is as before. */
static void
end(void)
{
	talk(here.kept, here.kept_server);
	close(here.kept);
	close(here.kept_server);
	WAIT_FOR(sessions() == 0, SOON);
	newcomer_is_served();
	pen_down(&here.pen);
	close(here.listener);
}

static int
many(void)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	return suite_is_full() && r.rlim_cur >= 4 * MOST ? MOST : MOST / 10;
}

/* ---- stages ---- */

/* As much as it takes. */
static void
stuff(int fd)
{
	static char bytes[1 << 16];

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		continue;
}

static void
say(int fd, const char *what)
{
	endpoint_send(fd, what, strlen(what));
}

static void
begins_handshake(int client)
{
	endpoint_send(client, "\26\3\1\2\0\1\0", 7);
}

/* Takes none of the answers. */
static void
says_hello(int client)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	char bytes[4096];
	int n;

	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	(void)SSL_do_handshake(ssl);
	n = BIO_read(out, bytes, sizeof(bytes));
	ck_assert_int_gt(n, 0);
	endpoint_send(client, bytes, (size_t)n);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

static void
begins_proxy_header(int client)
{
	say(client, "PROXY TCP4 192.0.2.1 ");
}

/* Most of the 16 kB that are read before a decision. */
static void
begins_request(int client)
{
	say(client, text("GET / HTTP/1.1\r\nCookie: %015000d", 0));
}

/* Most of the 16 kB that a header may have. */
static void
begins_long_header(int client)
{
	say(client, text("GET / HTTP/1.1\r\nHost: a\r\nCookie: %015000d", 0));
}

static void
sends_body(int client)
{
	say(client,
	    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n");
	stuff(client);
}

/* Its server sends more than it takes. */
static void
takes_no_answer(int client)
{
	say(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

/* What a client costs at most, in kB, is in the manual. */
static const struct stage {
	const char *name, *settings;
	void (*act)(int client);
	bool has_server, answers;
	int kb;
} stages[] = {
	{ "tls, first bytes", "ssl_cert %s", begins_handshake, false, false,
	    80 },
	{ "tls, hello", "ssl_cert %s", says_hello, false, false, 80 },
	{ "proxy header", "acl p permit 127.0.0.0/8\naccept_proxy p",
	    begins_proxy_header, false, false, 20 },
	{ "first bytes", "route host a.test 0\nroute default 0", begins_request,
	    false, false, 20 },
	{ "http header", "http", begins_long_header, true, false, 40 },
	{ "body", "http", sends_body, true, false, 100 },
	{ "answer", "http", takes_no_answer, true, true, 100 },
	{ "answer, buffer", "buffer 1m", takes_no_answer, true, true, 1100 },
};
enum { STAGES = sizeof(stages) / sizeof(stages[0]) };

static const char *
settings_of(const struct stage *g)
{
	struct cert *c;
	const char *file;

	if (strstr(g->settings, "%s") == NULL)
		return g->settings;
	c = cert_new(&(struct cert_wish){ .name = "a.test" });
	file = cert_write_all(c, "site.pem");
	cert_free(c);
	return text("ssl_cert %s\nssl_handshake_timeout 600", file);
}

static void
one_more(const struct stage *g, int i)
{
	here.client[i] = endpoint_connect(&here.slow);
	g->act(here.client[i]);
	here.served[i] = -1;
	if (!g->has_server)
		return;
	here.served[i] = accept_one();
	if (g->answers)
		stuff(here.served[i]);
}

START_TEST(slow_in)
{
	const struct stage *g = &stages[_i];
	int i, n = many();
	long before, grown;

	endpoint_new(&here.slow, ENDPOINT_TCP4);
	begin(text("listen %s\n%s", here.slow.text, settings_of(g)));
	newcomer_is_served();
	before = child_rss_kb(here.pen.child.pid);
	for (i = 0; i < n; i++)
		one_more(g, i);
	WAIT_FOR(sessions() == n + 1, SOON);
	pen_expect_rest(&here.pen);
	talk(here.kept, here.kept_server);
	newcomer_is_served();
	grown = child_rss_kb(here.pen.child.pid) - before;
	printf(
	    "exhaustion: %s: %d clients, %ld kB each\n", g->name, n, grown / n);
	fflush(stdout);
	if (pen_is_plain())
		ck_assert_int_le(grown, (long)n * g->kb + SLACK_KB);
	for (i = 0; i < n; i++) {
		endpoint_reset(here.client[i]);
		if (here.served[i] >= 0)
			close(here.served[i]);
	}
	WAIT_FOR(sessions() == 1, SOON);
	end();
}
END_TEST

/* ---- what is short ---- */

/* `n` clients come, with a word each; those that are served are not waited
 * for. */
static void
crowd_comes(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		here.client[i] = endpoint_connect(&here.plain);
		(void)!send(here.client[i], "q", 1, MSG_NOSIGNAL);
	}
}

static void
crowd_goes(int n)
{
	int i;

	for (i = 0; i < n; i++)
		endpoint_reset(here.client[i]);
	WAIT_FOR(sessions() == 1, SOON);
}

/* The limit is taken away from a pen that runs: what it has it keeps. */
START_TEST(descriptors)
{
	struct rlimit few = { 0, 0 }, all;
	int n = many();
	pid_t pid;

	begin(quiet_service());
	pid = here.pen.child.pid;
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, NULL, &all), 0);
	few.rlim_cur = (rlim_t)child_fds(pid) + 6;
	few.rlim_max = all.rlim_max;
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, &few, NULL), 0);
	crowd_comes(n);
	WAIT_FOR(child_has_said(&here.pen.child, "accept failed") ||
		child_has_said(&here.pen.child, "Too many open files"),
	    SOON);
	pen_expect_rest(&here.pen);
	talk(here.kept, here.kept_server);
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, &all, NULL), 0);
	crowd_goes(n);
	end();
}
END_TEST

/* kB of address space. */
static unsigned long
address_space(pid_t pid)
{
	return strtoul(child_status_line(pid, "VmSize"), NULL, 10);
}

/* In steps: nothing, and a little more each time. */
START_TEST(memory)
{
	struct rlimit less = { 0, RLIM_INFINITY },
		      all = { RLIM_INFINITY, RLIM_INFINITY };
	int n = many(), step;
	pid_t pid;

	if (!pen_is_plain())
		SKIP("valgrind and sanitizers need memory of their own");
	begin(quiet_service());
	pid = here.pen.child.pid;
	for (step = 0; step <= 1024; step = step == 0 ? 64 : 4 * step) {
		less.rlim_cur = (address_space(pid) + (unsigned)step) * 1024;
		ck_assert_int_eq(prlimit(pid, RLIMIT_AS, &less, NULL), 0);
		crowd_comes(n);
		pen_expect_rest(&here.pen);
		talk(here.kept, here.kept_server);
		ck_assert_int_eq(prlimit(pid, RLIMIT_AS, &all, NULL), 0);
		crowd_goes(n);
		newcomer_is_served();
	}
	end();
}
END_TEST

/* ---- in a network of its own ---- */

static bool
leave_network(void)
{
	struct ifreq r = { .ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING };
	int fd, rc;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0)
		return false;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "lo");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	rc = ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
	return rc == 0;
}

/* From a port of its own, so that it takes none of those. */
static int
connect_by(uint16_t port)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(fd, (void *)&from, sizeof(from)), 0);
	ck_assert_int_eq(
	    connect(fd, (void *)&here.plain.addr, here.plain.len), 0);
	endpoint_set_deadline(fd, SOON);
	return fd;
}

START_TEST(local_ports)
{
	int i;

	if (!leave_network())
		SKIP("needs root and network namespaces");
	begin(quiet_service());
	write_file("/proc/sys/net/ipv4/ip_local_port_range",
	    text("40000 %d", 40000 + PORTS - 1));
	for (i = 0; i < 2 * PORTS; i++) {
		here.client[i] = connect_by((uint16_t)(20000 + i));
		(void)!send(here.client[i], "q", 1, MSG_NOSIGNAL);
	}
	WAIT_FOR(counter("plain", "closed_no_resources") >= PORTS / 2, SOON);
	pen_expect_rest(&here.pen);
	talk(here.kept, here.kept_server);
	/* no server is to blame */
	ck_assert_ptr_null(strstr(
	    endpoint_ask(&here.ctl, "service plain servers\n"), "blacklisted"));
	write_file("/proc/sys/net/ipv4/ip_local_port_range", "32768 60999");
	crowd_goes(2 * PORTS);
	end();
}
END_TEST

static int
connect_from6(unsigned last)
{
	struct sockaddr_in6 from = { .sin6_family = AF_INET6 };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	ck_assert_int_eq(
	    setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)), 0);
	ck_assert_int_eq(inet_pton(AF_INET6,
			     text("fd00:77::%x:%x", last >> 16, last & 0xffff),
			     &from.sin6_addr),
	    1);
	ck_assert_int_eq(bind(fd, (void *)&from, sizeof(from)), 0);
	ck_assert_int_eq(
	    connect(fd, (void *)&here.slow.addr, here.slow.len), 0);
	endpoint_set_deadline(fd, SOON);
	return fd;
}

/* A subscriber has 2^64 addresses, and is one client. */
START_TEST(addresses_of_one_network)
{
	enum { ALLOWED = 5 };
	const char *words[] = { "ip", "-6", "route", "add", "local",
		"fd00:77::/64", "dev", "lo", NULL };
	struct child ip;
	long before;
	int i, n = many();

	if (!leave_network())
		SKIP("needs root and network namespaces");
	NEED_PROGRAM("ip");
	child_start(&ip, words);
	if (child_wait(&ip, SOON) != 0)
		SKIP("this machine has no IPv6");
	begin(text("listen [::]:7777\nclient_conns %d", ALLOWED));
	endpoint_new(&here.slow, ENDPOINT_TCP6);
	((struct sockaddr_in6 *)(void *)&here.slow.addr)->sin6_port =
	    htons(7777);
	before = child_rss_kb(here.pen.child.pid);
	for (i = 0; i < n; i++)
		here.client[i] = connect_from6((unsigned)i * 7919);
	WAIT_FOR(
	    report_number(text("\n%s", endpoint_ask(&here.ctl, "statistics\n")),
		"\nlimit_refused ") == n - ALLOWED,
	    SOON);
	ck_assert_int_eq(sessions(), ALLOWED + 1);
	for (i = 0; i < ALLOWED; i++)
		here.served[i] = accept_one();
	pen_expect_rest(&here.pen);
	talk(here.kept, here.kept_server);
	newcomer_is_served();
	if (pen_is_plain())
		ck_assert_int_le(
		    child_rss_kb(here.pen.child.pid) - before, SLACK_KB);
	crowd_goes(n);
	for (i = 0; i < ALLOWED; i++)
		close(here.served[i]);
	end();
}
END_TEST

SUITE(test_exhaustion)
{
	Suite *s = suite_create("exhaustion");

	SUITE_ADD_LOOP(s, slow_in, 120, STAGES);
	SUITE_ADD(s, descriptors, 60);
	SUITE_ADD(s, memory, 60);
	SUITE_ADD(s, local_ports, 60);
	SUITE_ADD(s, addresses_of_one_network, 60);
	return s;
}
