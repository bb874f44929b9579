/* test_dns.c: pen --dns before real name servers and before odd ones. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/child.h"
#include "system/nameserver.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SERVERS = 3 };

static struct child servers[SERVERS];
static struct endpoint places[SERVERS], front, ctl;
static struct pen pen;

/* ---- real ones ---- */

/* Each place is chosen just before its use: a free port may not stay so. */
static void
up_each(const char *option, const enum nameserver kinds[SERVERS])
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		udp_endpoint(&places[i], ENDPOINT_TCP4);
		nameserver_up(&servers[i], kinds[i], &places[i], i);
	}
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, option, "-C", ctl.text, "-O", "roundrobin",
	    front.text, places[0].text, places[1].text, places[2].text, NULL);
}

static void
up(const char *option, enum nameserver kind)
{
	up_each(option, (enum nameserver[SERVERS]){ kind, kind, kind });
}

static void
down(void)
{
	int i;

	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		if (servers[i].running)
			ck_assert_int_eq(child_stop(&servers[i], SIGTERM), 0);
}

static long
counter(const char *name)
{
	return report_number(
	    endpoint_ask(&ctl, "statistics\n"), text("\n%s ", name));
}

static const char *
dig(const char *a, const char *b, const char *c)
{
	return run_program(20000, "dig", text("@%s", udp_host(&front)), "-p",
	    text("%d", front.port), "+tries=1", "+short", a, b, c, NULL);
}

static const char *const ways[] = { "--dns", "-U", "-rU" };
enum { WAYS = 3 };

START_TEST(dig_and_its_ways)
{
	enum nameserver kind = (enum nameserver)(_i / WAYS);
	const char *said, *way = ways[_i % WAYS];
	int i, k = 0;

	NEED_PROGRAM(nameserver_program(kind));
	NEED_PROGRAM("dig");
	up(way, kind);
	for (i = 0; i < 6; i++)
		ck_assert_str_eq(dig("who.test", "TXT", "+noedns"),
		    text("\"server%d\"\n", i % SERVERS));
	/* an answer of more than 1,472 bytes, whole */
	for (said = dig("big.test", "TXT", "+bufsize=4096"); *said != '\0';
	     said++)
		k += *said == '\n';
	ck_assert_int_eq(k, NAMESERVER_BIG);
	if (strcmp(way, "--dns") == 0)
		ck_assert_str_eq(dig("a.test", "A", "+tcp"), "10.0.0.1\n");
	down();
}
END_TEST

/* A client that takes no more gets a sign that there is more, and asks again by
 * TCP. */
START_TEST(small_buffer_goes_to_tcp)
{
	enum nameserver kind = (enum nameserver)_i;
	const char *said;

	NEED_PROGRAM(nameserver_program(kind));
	NEED_PROGRAM("dig");
	up("--dns", kind);
	said = run_program(20000, "dig", text("@%s", udp_host(&front)), "-p",
	    text("%d", front.port), "+tries=1", "+bufsize=512", "big.test",
	    "TXT", NULL);
	ck_assert_msg(
	    strstr(said, "Truncated, retrying in TCP") != NULL, "%s", said);
	ck_assert_msg(
	    strstr(said, text(" ANSWER: %d,", NAMESERVER_BIG)) != NULL, "%s",
	    said);
	ck_assert_int_eq(counter("dns_queries"), 1);
	ck_assert_int_eq(counter("dns_failed"), 0);
	down();
}
END_TEST

/* Lines that dnsperf may ask. */
static const char *
questions(void)
{
	const char *path = scratch("questions");

	write_file(path, "a.test A\nwho.test TXT\na.test A\na.test A\n");
	return path;
}

static const char *
dnsperf(long n)
{
	return run_program(120000, "dnsperf", "-s", udp_host(&front), "-p",
	    text("%d", front.port), "-d", questions(), "-n", text("%ld", n / 4),
	    "-c", "20", NULL);
}

static long
bytes_to(int server)
{
	const char *s = strstr(endpoint_ask(&ctl, "servers\n"),
	    text("port %d ", places[server].port));

	return report_number(s, " sx ");
}

/* What dnsperf says when each question got its answer. */
static void
expect_no_loss(const char *said, long n)
{
	ck_assert_int_eq(report_number(said, "Queries completed:"), n);
	ck_assert_int_eq(report_number(said, "Queries lost:"), 0);
	ck_assert_ptr_nonnull(strstr(said, text("NOERROR %ld (100", n)));
}

/* Each within 1 %. */
static void
expect_thirds(void)
{
	long all = bytes_to(0) + bytes_to(1) + bytes_to(2);
	int i;

	for (i = 0; i < SERVERS; i++)
		ck_assert_int_lt(labs(3 * bytes_to(i) - all), all / 100 + 100);
}

START_TEST(nothing_is_lost)
{
	long n = suite_amount(40000, 4000);
	int fds;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dnsperf");
	up("--dns", NAMESERVER_UNBOUND);
	expect_no_loss(dnsperf(n), n);
	expect_thirds();
	ck_assert_int_eq(counter("dns_failed"), 0);
	/* the sockets to a server that is removed go with it */
	fds = pen_fds(&pen);
	ck_assert_str_eq(endpoint_ask(&ctl, "server 1 remove\n"), "");
	if (fds >= 0 && pen_is_plain())
		WAIT_FOR(pen_fds(&pen) <= fds - 10, 10000);
	down();
}
END_TEST

static long
services_number(const char *name)
{
	return report_number(
	    endpoint_ask(&ctl, "services\n"), text(" %s ", name));
}

/* As many as dnsperf has got of each. */
START_TEST(codes_are_counted)
{
	long n = suite_amount(4000, 400);
	const char *path = scratch("codes"), *said;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dnsperf");
	up("--dns", NAMESERVER_UNBOUND);
	write_file(path, "a.test A\nnone.test A\na.test A\na.test A\n");
	said = run_program(120000, "dnsperf", "-s", udp_host(&front), "-p",
	    text("%d", front.port), "-d", path, "-n", text("%ld", n / 4), "-c",
	    "20", NULL);
	ck_assert_int_eq(report_number(said, "Queries completed:"), n);
	ck_assert_int_eq(report_number(said, "NXDOMAIN "), n / 4);
	WAIT_FOR(counter("dns_answers_nxdomain") == n / 4, 10000);
	WAIT_FOR(counter("dns_answers_noerror") == n - n / 4, 10000);
	ck_assert_int_eq(counter("dns_answers_servfail"), 0);
	ck_assert_int_eq(counter("dns_answers_other"), 0);
	ck_assert_int_eq(services_number("queries"), n);
	ck_assert_int_gt(services_number("answer_p50_us"), 0);
	ck_assert_int_ge(
	    services_number("answer_p99_us"), services_number("answer_p50_us"));
	ck_assert_str_eq(endpoint_ask(&ctl, "clear counters\n"), "");
	ck_assert_int_eq(counter("dns_answers_noerror"), 0);
	ck_assert_int_eq(services_number("answer_p99_us"), 0);
	down();
}
END_TEST

/* Their speeds differ, their shares do not. */
START_TEST(mixed_servers)
{
	static const enum nameserver kinds[SERVERS] = { NAMESERVER_UNBOUND,
		NAMESERVER_NSD, NAMESERVER_KNOTD };
	long n = suite_amount(20000, 4000);
	int i;

	for (i = 0; i < SERVERS; i++)
		NEED_PROGRAM(nameserver_program(kinds[i]));
	NEED_PROGRAM("dnsperf");
	up_each("--dns", kinds);
	expect_no_loss(dnsperf(n), n);
	expect_thirds();
	ck_assert_int_eq(counter("dns_queries"), n);
	ck_assert_int_eq(counter("dns_failed"), 0);
	down();
}
END_TEST

START_TEST(a_server_is_killed)
{
	long n = suite_amount(60000, 8000);
	struct child c;

	NEED_PROGRAM("unbound");
	NEED_PROGRAM("dnsperf");
	up("--dns", NAMESERVER_UNBOUND);
	child_start(&c,
	    (const char *[]){ child_find("dnsperf"), "-s", udp_host(&front),
		"-p", text("%d", front.port), "-d", questions(), "-n",
		text("%ld", n / 4), "-c", "20", NULL });
	WAIT_FOR(counter("dns_queries") > n / 20, 20000);
	child_stop(&servers[1], SIGKILL);
	ck_assert_int_eq(child_wait(&c, 120000), 0);
	expect_no_loss(child_out(&c), n);
	ck_assert_int_gt(counter("retries"), 0);
	down();
}
END_TEST

/* ---- odd ones ---- */

/* id, flags, one question: a.test A IN */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
enum { QUERY = sizeof(query) - 1 };

static struct udp_server one, two;

static void
up_odd(const char *option)
{
	udp_server_start(&one, ENDPOINT_TCP4, "");
	udp_server_start(&two, ENDPOINT_TCP4, "");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-O", option, "-O",
	    "dns_timeout 1", front.text, one.at.text, two.at.text, NULL);
}

static void
down_odd(void)
{
	pen_down(&pen);
	udp_server_stop(&one);
	udp_server_stop(&two);
}

/* The servers give the query back as it is: no answer. Both are asked, then the
 * client is told. */
START_TEST(no_answer_is_servfail)
{
	char got[512];
	int fd;

	up_odd("dns_retry 0.1");
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), QUERY);
	ck_assert_int_eq(memcmp(got, query, 2), 0);
	ck_assert_int_eq(got[2] & 0x80, 0x80);
	ck_assert_int_eq(got[3] & 0x0f, 2);
	ck_assert_int_eq(memcmp(got + 12, query + 12, QUERY - 12), 0);
	ck_assert_int_eq(atomic_load(&one.received), 1);
	ck_assert_int_eq(atomic_load(&two.received), 1);
	/* counted after it is sent, which a worker does by itself */
	WAIT_FOR(counter("dns_answers_servfail") == 1, 10000);
	ck_assert_int_eq(counter("dns_unsolicited"), 2);
	ck_assert_int_eq(counter("dns_failed"), 1);
	ck_assert_int_eq(counter("dns_answers_noerror"), 0);
	ck_assert_int_eq(counter("dns_waiting"), 0);
	pen_answers(&ctl, "services", " queries 1 servfail 1 ");
	close(fd);
	down_odd();
}
END_TEST

/* A dns_retry set anew counts for queries that wait already. */
START_TEST(retry_set_anew)
{
	char got[512];
	int fd;

	up_odd("dns_retry 60");
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	WAIT_FOR(counter("dns_waiting") == 1, 10000);
	ck_assert_str_eq(endpoint_ask(&ctl, "dns_retry 0.1\n"), "0.100\n");
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), QUERY);
	ck_assert_int_eq(got[3] & 0x0f, 2);
	ck_assert_int_eq(counter("dns_failed"), 1);
	close(fd);
	down_odd();
}
END_TEST

/* It cannot take TCP and UDP, and said that the address was in use. */
START_TEST(no_dns_on_a_path)
{
	endpoint_new(&front, ENDPOINT_UNIX);
	pen_expect_failure("with dns a Unix socket is not possible", "--dns",
	    front.text, "127.0.0.1:53", NULL);
	pen_expect_failure("with dns a Unix socket is not possible", "--check",
	    "--dns", text("127.0.0.1:1,%s", front.text), "127.0.0.1:53", NULL);
}
END_TEST

/* Its UDP port works, so the log has to name what does not. */
START_TEST(server_without_tcp)
{
	int fd;

	udp_endpoint(&places[0], ENDPOINT_TCP4);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-O", "retry 0", front.text,
	    places[0].text, NULL);
	fd = endpoint_connect(&front);
	WAIT_FOR(child_has_said(
		     &pen.child, "reason=\"TCP: Connection refused\""),
	    5000);
	close(fd);
	pen_down(&pen);
}
END_TEST

/* What a service has for TCP alone is warned of again when a server gets it. */
START_TEST(server_gets_tls_by_tcp_alone)
{
	const char *warning = "ssl_upstream does not apply to DNS queries "
			      "over UDP";

	udp_endpoint(&places[0], ENDPOINT_TCP4);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-O", "ssl_upstream",
	    front.text, places[0].text, NULL);
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 tls off\n"), "");
	ck_assert_int_eq(count_in(child_err(&pen.child), warning), 1);
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 tls default\n"), "");
	WAIT_FOR(count_in(child_err(&pen.child), warning) == 2, 5000);
	pen_down(&pen);
}
END_TEST

/* The same, after one server. */
START_TEST(tries_limit_servers)
{
	char got[512];
	int fd;

	up_odd("dns_retry 0.1");
	ck_assert_str_eq(endpoint_ask(&ctl, "tries 1\n"), "1\n");
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), QUERY);
	ck_assert_int_eq(got[3] & 0x0f, 2);
	ck_assert_int_eq(
	    atomic_load(&one.received) + atomic_load(&two.received), 1);
	ck_assert_int_eq(counter("dns_failed"), 1);
	close(fd);
	down_odd();
}
END_TEST

START_TEST(no_messages)
{
	char bytes[512] = { 0 };
	int fd, n, sent = 0;

	up_odd("dns_retry 0.1");
	fd = udp_client(&front);
	memcpy(bytes, query, QUERY);
	for (n = 0; n < QUERY; n++, sent++)
		ck_assert_int_eq(send(fd, bytes, (size_t)n, 0), n);
	bytes[2] |= (char)0x80; /* an answer to nothing */
	ck_assert_int_eq(send(fd, bytes, QUERY, 0), QUERY);
	sent++;
	WAIT_FOR(counter("dns_malformed") == sent, 10000);
	ck_assert_int_eq(
	    atomic_load(&one.received) + atomic_load(&two.received), 0);
	close(fd);
	down_odd();
}
END_TEST

/* Ids and ports of what the servers get cannot be foretold. */
START_TEST(hard_to_guess)
{
	enum { MANY = 400 };
	int sink = socket(AF_INET, SOCK_DGRAM, 0), fd, i, ports = 0, same = 0;
	static unsigned char seen[65536];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	unsigned id, before = 0;
	struct endpoint at;
	char got[512];

	udp_endpoint(&at, ENDPOINT_TCP4);
	ck_assert_int_eq(bind(sink, (struct sockaddr *)&at.addr, at.len), 0);
	endpoint_set_deadline(sink, 10000);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, front.text, at.text, NULL);
	fd = udp_client(&front);
	for (i = 0; i < MANY; i++) {
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
		ck_assert_int_eq(recvfrom(sink, got, sizeof(got), 0,
				     (struct sockaddr *)&from, &len),
		    QUERY);
		id = (unsigned)(unsigned char)got[0] << 8 |
		    (unsigned char)got[1];
		same += id == before || id == before + 1 || id == 0x1234;
		before = id;
		ports += seen[from.sin_port] == 0;
		seen[from.sin_port] = 1;
	}
	ck_assert_int_le(same, 5);
	ck_assert_int_ge(ports, 10);
	close(fd);
	close(sink);
	pen_down(&pen);
}
END_TEST

SUITE(test_dns)
{
	Suite *s = suite_create("dns");
	TCase *dig_case = tcase_create("dig");

	tcase_set_timeout(dig_case, 60);
	tcase_add_loop_test(
	    dig_case, dig_and_its_ways, 0, NAMESERVER_KINDS * WAYS);
	tcase_add_loop_test(
	    dig_case, small_buffer_goes_to_tcp, 0, NAMESERVER_KINDS);
	suite_add_tcase(s, dig_case);
	SUITE_ADD(s, nothing_is_lost, 120);
	SUITE_ADD(s, codes_are_counted, 60);
	SUITE_ADD(s, mixed_servers, 60);
	SUITE_ADD(s, a_server_is_killed, 120);
	SUITE_ADD(s, no_answer_is_servfail, 30);
	SUITE_ADD(s, retry_set_anew, 30);
	SUITE_ADD(s, no_dns_on_a_path, 10);
	SUITE_ADD(s, server_without_tcp, 30);
	SUITE_ADD(s, server_gets_tls_by_tcp_alone, 30);
	SUITE_ADD(s, tries_limit_servers, 30);
	SUITE_ADD(s, no_messages, 30);
	SUITE_ADD(s, hard_to_guess, 30);
	return s;
}
