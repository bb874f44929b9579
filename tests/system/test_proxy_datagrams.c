/* test_proxy_datagrams.c: datagrams of clients behind proxies: a PROXY header
 * of each says whose it is, and the answers find their way back. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/child.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/wait.h"
#include "system/nameserver.h"

enum { SOON = 10000, HEAD = 28 };

static struct udp_server a, b;
static struct endpoint front, ctl;
static struct pen pen;

static void
up(const char *option, const char *settings)
{
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, option, "-U", "-C", ctl.text, "-O",
	    "acl edge permit 127.0.0.0/8", "-O", "accept_proxy edge", "-O",
	    settings, front.text, a.at.text, b.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	udp_server_stop(&a);
	udp_server_stop(&b);
}

static bool
says(const char *line, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", line)), what) != NULL;
}

/* A datagram of that client, 192.0.2.N. */
static void
send_of(int fd, int n, const char *what)
{
	char bytes[HEAD + 100] = "\r\n\r\n\0\r\nQUIT\n\x21\x12\0\x0c"
				 "\300\0\2\0\300\0\2\376\x9c\x40\0\x35";

	bytes[19] = (char)n;
	strcpy(bytes + HEAD, what);
	ck_assert_int_gt(send(fd, bytes, HEAD + strlen(what), 0), 0);
}

static const char *
answer(int fd)
{
	char bytes[200];
	ssize_t n = recv(fd, bytes, sizeof(bytes) - 1, 0);

	ck_assert_int_gt(n, 0);
	bytes[n] = '\0';
	return text("%s", bytes);
}

/* Two clients by one socket of the proxy are two; one by two sockets gets each
 * answer where the question came from. */
START_TEST(flows)
{
	int one, two;
	const char *first, *second;

	up("-s", "udp_timeout 60");
	one = udp_client(&front);
	two = udp_client(&front);
	send_of(one, 1, "x");
	first = answer(one);
	send_of(one, 2, "x");
	second = answer(one);
	ck_assert_str_ne(first, second); /* they take turns */
	send_of(one, 1, "x");
	ck_assert_str_eq(answer(one), first);
	send_of(two, 2, "x");
	ck_assert_str_eq(answer(two), second); /* and are remembered */
	ck_assert(says("statistics", "flows 3\n"));
	ck_assert(says("flows", "192.0.2.2:40000"));
	ck_assert(says("statistics", "dropped_proxy 0\n"));
	close(one);
	close(two);
	down();
}
END_TEST

/* Each by itself; servers are told whom the proxy has named. */
START_TEST(told_on)
{
	unsigned char got[256];
	int fd;

	up("-r", "udp_proxy every");
	fd = udp_client(&front);
	send_of(fd, 9, "x");
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), 2 + HEAD + 1);
	ck_assert_int_eq(memcmp(got + 2 + 16, "\300\0\2\x09", 4), 0);
	send_of(fd, 9, "y");
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), 2 + HEAD + 1);
	close(fd);
	down();
}
END_TEST

START_TEST(refused)
{
	int fd;

	up("-s", "acl 3 deny 192.0.2.66/32;client_acl 3");
	fd = udp_client(&front);
	send_of(fd, 66, "x");
	WAIT_FOR(says("statistics", "dropped_no_server 1\n"), SOON);
	ck_assert_int_eq(send(fd, "no header", 9, 0), 9);
	ck_assert_int_eq(send(fd, "", 0, 0), 0);
	ck_assert_int_eq(send(fd, "PROXY UNKNOWN\r\nx", 16, 0), 16);
	WAIT_FOR(says("statistics", "dropped_proxy 3\n"), SOON);
	endpoint_ask(&ctl, "acl 4 permit 192.0.2.1;accept_proxy 4\n");
	send_of(fd, 1, "x");
	WAIT_FOR(says("statistics", "dropped_proxy 4\n"), SOON);
	ck_assert_int_eq(a.received + b.received, 0);
	close(fd);
	down();
}
END_TEST

/* The process that takes over knows clients, not flows: the next datagram
 * names its client, who goes back to its server. */
START_TEST(upgraded)
{
	const char *first, *second;
	pid_t pid;
	int fd;

	NEED_UPGRADES(upgrading_install());
	up("-s", "udp_timeout 2");
	fd = udp_client(&front);
	send_of(fd, 1, "x");
	first = answer(fd);
	send_of(fd, 2, "x");
	second = answer(fd);
	pid = upgrading_go(&ctl, pen.child.pid);
	ck_assert(says("statistics", "flows 0\n"));
	send_of(fd, 2, "x");
	ck_assert_str_eq(answer(fd), second);
	send_of(fd, 1, "x");
	ck_assert_str_eq(answer(fd), first);
	close(fd);
	/* the old one ends with its flows */
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	udp_server_stop(&a);
	udp_server_stop(&b);
}
END_TEST

/* ---- dnsdist in front ---- */

static struct child dnsdist, unbound;
static struct endpoint balancer, served;

static void
dnsdist_up(void)
{
	const char *conf = scratch("dnsdist.conf");

	udp_endpoint(&balancer, ENDPOINT_TCP4);
	write_file(conf,
	    text("setLocal('%s')\nsetACL({'127.0.0.0/8'})\n"
		 "newServer({address='%s', useProxyProtocol=true, "
		 "checkName='a.test.', checkInterval=1})\n",
		balancer.text, front.text));
	child_start(&dnsdist,
	    (const char *[]){ child_find("dnsdist"), "--supervised",
		"--disable-syslog", "-C", conf, NULL });
	WAIT_FOR(child_has_ended(&dnsdist) ||
		child_has_said(&dnsdist, "as 'up'") ||
		file_has(dnsdist.out, "as 'up'"),
	    SOON);
	ck_assert_msg(dnsdist.running, "dnsdist: %s", child_err(&dnsdist));
}

static const char *
dig(const char *from, const char *how)
{
	return run_program(60000, "dig", "+tries=1", "+time=3", how, "-b", from,
	    "-p", text("%d", balancer.port),
	    text("@%s", udp_host(&balancer)), "a.test", "A", NULL);
}

START_TEST(behind_dnsdist)
{
	NEED_PROGRAM("dnsdist");
	NEED_PROGRAM("dig");
	NEED_PROGRAM(nameserver_program(NAMESERVER_UNBOUND));
	udp_endpoint(&served, ENDPOINT_TCP4);
	nameserver_up(&unbound, NAMESERVER_UNBOUND, &served, 0);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, _i == 0 ? "--dns" : "-U", "-C", ctl.text, "-O",
	    "acl edge permit 127.0.0.0/8", "-O", "accept_proxy edge", "-O",
	    "acl 3 deny 127.0.0.9/32;client_acl 3", front.text, served.text,
	    NULL);
	dnsdist_up();
	ck_assert_ptr_nonnull(strstr(dig("127.0.0.8", "+notcp"), "NOERROR"));
	ck_assert(says("statistics", "dropped_proxy 0\n"));
	if (_i == 0)
		ck_assert_ptr_nonnull(
		    strstr(dig("127.0.0.8", "+tcp"), "NOERROR"));
	else
		ck_assert(says("flows", "127.0.0.8:"));
	ck_assert(says("recent 60", "127.0.0.8 ") || _i == 0);
	/* the client that is denied is the one behind dnsdist */
	child_start(&dnsdist,
	    (const char *[]){ "dig", "+tries=1", "+time=1", "-b", "127.0.0.9",
		"-p", text("%d", balancer.port),
		text("@%s", udp_host(&balancer)), "a.test", NULL });
	WAIT_FOR(says("statistics", "dropped_no_server 1\n") ||
		says("statistics", "dns_failed 1\n"),
	    SOON);
	pen_down(&pen);
}
END_TEST

/* More bytes of headers than all memory for datagrams has: each is passed over,
 * and leaves the memory as it was. */
START_TEST(long_headers)
{
	enum { TLV = 8000, MANY = 300, AT_ONCE = 5 };
	static char bytes[HEAD + 3 + TLV + 1] =
	    "\r\n\r\n\0\r\nQUIT\n\x21\x12\x1f\x4f"
	    "\300\0\2\1\300\0\2\376\x9c\x40\0\x35"
	    "\4\x1f\x40";
	int fd, i;

	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-O",
	    "acl edge permit 127.0.0.0/8", "-O", "accept_proxy edge",
	    front.text, a.at.text, NULL);
	fd = udp_client(&front);
	for (i = 1; i <= MANY; i++) {
		ck_assert_int_gt(send(fd, bytes, sizeof(bytes), 0), 0);
		if (i % AT_ONCE == 0)
			WAIT_FOR(says("statistics",
				     text("dns_malformed %d\n", i)),
			    SOON);
	}
	close(fd);
	pen_down(&pen);
	udp_server_stop(&a);
}
END_TEST

/* ---- a name server behind, which wants to know its clients ---- */

static void
ask_from(const char *host, const char *how)
{
	ck_assert_str_eq(
	    run_program(60000, "dig", "+tries=1", "+short", how, "-b", host,
		"-p", text("%d", front.port), text("@%s", udp_host(&front)),
		"a.test", "A", NULL),
	    "10.0.0.1\n");
	WAIT_FOR(child_has_said(&unbound, text("%s a.test. A IN", host)), SOON);
}

START_TEST(dns_told)
{
	struct endpoint named;

	NEED_PROGRAM("dig");
	NEED_PROGRAM(nameserver_program(NAMESERVER_UNBOUND));
	udp_endpoint(&served, ENDPOINT_TCP4);
	udp_endpoint(&named, ENDPOINT_TCP4);
	nameserver_up_with(&unbound, NAMESERVER_UNBOUND, &served, 0,
	    text("server:\ninterface: %s@%d\nproxy-protocol-port: %d\n"
		 "log-queries: yes\n",
		udp_host(&named), named.port, named.port));
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "--udp-proxy",
	    _i == 0 ? "first" : "every", "--proxy-protocol", "2", front.text,
	    named.text, NULL);
	ask_from("127.0.0.8", "+notcp");
	ask_from("127.0.0.9", "+notcp");
	ask_from("127.0.0.10", "+tcp");
	pen_down(&pen);
	ck_assert_int_eq(child_stop(&unbound, SIGTERM), 0);
}
END_TEST

SUITE(test_proxy_datagrams)
{
	Suite *s = suite_create("proxy_datagrams");
	TCase *loops = tcase_create("modes");

	tcase_set_timeout(loops, 60);
	tcase_add_loop_test(loops, behind_dnsdist, 0, 2);
	tcase_add_loop_test(loops, dns_told, 0, 2);
	SUITE_ADD(s, flows, 30);
	SUITE_ADD(s, told_on, 30);
	SUITE_ADD(s, refused, 30);
	SUITE_ADD(s, upgraded, 60);
	SUITE_ADD(s, long_headers, 60);
	suite_add_tcase(s, loops);
	return s;
}
