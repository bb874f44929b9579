/* test_dsr_web.c: the session that Pen's users know: a page of 1,024,000 bytes
 * at servers that answer for themselves, and a director that carries nothing
 * but questions. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"

enum { PAGE = 1024000, SERVERS = 2 };

static const struct net_fixture_options two = { .servers = SERVERS };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct nginx web[SERVERS];

/* Starts nginx at port 80 of all the server's addresses, the VIPs among them;
 * /page begins with the server's number. */
static void
web_up(unsigned i)
{
	static char page[PAGE + 1];

	net_fixture_enter(&fixture, NET_FIXTURE_SERVER + i);
	nginx_up_with(&web[i], text("server %u", i), "",
	    "listen *:80 backlog=4096; listen [::]:80 backlog=4096;");
	net_fixture_leave(&fixture);
	memset(page, 'x', PAGE);
	page[0] = (char)('0' + i);
	write_file(text("%s/page", web[i].root), page);
}

static long
web_requests(unsigned i)
{
	long n;

	net_fixture_enter(&fixture, NET_FIXTURE_SERVER + i);
	n = nginx_requests(&web[i]);
	net_fixture_leave(&fixture);
	return n;
}

static void
begin(const char *where, const char *vip, const char *first, const char *second)
{
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		web_up(i);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, vip, "-r", where, first,
	    second, NULL);
}

static void
end(void)
{
	unsigned i;

	dsrpen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		nginx_down(&web[i]);
	net_fixture_down(&fixture);
}

static void
expect_curl(const char *url)
{
	unsigned seen[SERVERS] = { 0 }, i, n;
	const char *page;

	/* A hash of the client's port may take a while to find the other. */
	for (n = 0; n < 20; n++) {
		page = net_fixture_run(&fixture, NET_FIXTURE_CLIENT, 20000,
		    "curl", "-sfg", url, NULL);
		ck_assert_uint_eq(strlen(page), PAGE);
		ck_assert(page[0] >= '0' && page[0] < '0' + SERVERS);
		ck_assert_uint_eq(strspn(page + 1, "x"), PAGE - 1);
		seen[page[0] - '0']++;
	}
	printf("curl:");
	for (i = 0; i < SERVERS; i++) {
		printf(" %u", seen[i]);
		ck_assert_uint_gt(seen[i], 0);
		if (!dsrpen_is_classic())
			ck_assert_uint_eq(seen[i], n / SERVERS);
	}
	printf("\n");
}

static struct net_fixture_counters
since(struct net_fixture_counters before, enum net_fixture_place where)
{
	struct net_fixture_counters c =
	    net_fixture_counters(&fixture, where, "eth0");

	c.rx_bytes -= before.rx_bytes;
	c.tx_bytes -= before.tx_bytes;
	c.rx_packets -= before.rx_packets;
	c.tx_packets -= before.tx_packets;
	return c;
}

/* The client's own frames are all that may come by: what it has sent, and for
 * each of them one is sent on. */
static void
expect_no_answers(struct net_fixture_counters client,
    struct net_fixture_counters director, unsigned long long answers)
{
	unsigned long long slack = client.tx_bytes / 20 + 10000;

	ck_assert_uint_ge(client.rx_bytes, answers);
	ck_assert_uint_le(director.rx_bytes, client.tx_bytes + slack);
	ck_assert_uint_le(director.tx_bytes, client.tx_bytes + slack);
	ck_assert_uint_ge(director.tx_bytes + slack, client.tx_bytes);
	ck_assert_uint_lt(director.rx_bytes + director.tx_bytes, answers / 4);
	printf("director: %llu bytes in %llu frames for %llu bytes of answers,"
	       " 1 : %llu\n",
	    director.rx_bytes, director.rx_packets, client.rx_bytes,
	    client.rx_bytes / (director.rx_bytes + 1));
}

static void
expect_ab(const char *url)
{
	long requests = suite_amount(1000, 100), did[SERVERS], all = 0;
	struct net_fixture_counters client, director;
	unsigned i;
	const char *out;

	for (i = 0; i < SERVERS; i++)
		did[i] = web_requests(i);
	client = net_fixture_counters(&fixture, NET_FIXTURE_CLIENT, "eth0");
	director = net_fixture_counters(&fixture, NET_FIXTURE_DIRECTOR, "eth0");
	out = net_fixture_run(&fixture, NET_FIXTURE_CLIENT, 100000, "ab", "-q",
	    "-n", text("%ld", requests), "-c", "20", url, NULL);
	client = since(client, NET_FIXTURE_CLIENT);
	director = since(director, NET_FIXTURE_DIRECTOR);
	ck_assert_int_eq(report_number(out, "Complete requests:"), requests);
	ck_assert_int_eq(report_number(out, "Failed requests:"), 0);
	ck_assert_int_eq(report_number(out, "Document Length:"), PAGE);
	ck_assert_ptr_null(strstr(out, "Non-2xx responses:"));
	for (i = 0; i < SERVERS; i++) {
		did[i] = web_requests(i) - did[i] - 1;
		all += did[i];
		ck_assert_int_ge(did[i],
		    dsrpen_is_classic() ? requests / SERVERS / 2
					: requests / SERVERS - 1);
	}
	ck_assert_int_eq(all, requests);
	printf("ab: %ld requests a second, split %ld : %ld\n",
	    report_number(out, "Requests per second:"), did[0], did[1]);
	expect_no_answers(
	    client, director, (unsigned long long)requests * PAGE);
}

START_TEST(published_session)
{
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("ab");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &two);
	begin(NET_FIXTURE_VIP4 ":0", NET_FIXTURE_VIP4, net_fixture_server4(0),
	    net_fixture_server4(1));
	expect_curl("http://" NET_FIXTURE_VIP4 "/page");
	expect_ab("http://" NET_FIXTURE_VIP4 "/page");
	end();
}
END_TEST

START_TEST(same_over_ipv6)
{
	NEED_DSR_OF_OURS("IPv6");
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("ab");
	NEED_NET_FIXTURE(&fixture, &two);
	begin("[" NET_FIXTURE_VIP6 "]:0", NET_FIXTURE_VIP6,
	    net_fixture_server6(0), net_fixture_server6(1));
	expect_curl("http://[" NET_FIXTURE_VIP6 "]/page");
	expect_ab("http://[" NET_FIXTURE_VIP6 "]/page");
	end();
}
END_TEST

SUITE(test_dsr_web)
{
	Suite *s = suite_create("dsr_web");

	SUITE_ADD(s, published_session, 180);
	SUITE_ADD(s, same_over_ipv6, 180);
	return s;
}
