/* test_dsr_first.c: what comes before a director knows where its servers
 * are. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

/* A frame with "hello" in it. */
enum { PORT = 7007, BURST = 5, HELD = 3, DATAGRAM = 14 + 20 + 8 + 5 };

static const struct net_fixture_options one = { .servers = 1 };
static struct net_fixture fixture;
static struct dsrpen pen;
/* At the server; at the switch, where the director is plugged in: one at its
 * own end would not see what XDP takes. */
static struct net_fixture_tap tap, before;

static long
count(const char *name)
{
	return report_number(dsrpen_ask(&pen, "dsr"), name);
}

/* Server 0 answers the director's question for its address, in place of its
 * kernel, which was told not to. */
static void
answer(void)
{
	static const uint8_t reply[42] = { 2, 0, 0, 0x64, 0, 2, 2, 0, 0, 0x64,
		0, 3, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0x64, 0, 3, 192,
		168, 100, 3, 2, 0, 0, 0x64, 0, 2 };

	net_fixture_tap_send(&tap, reply, sizeof(reply));
}

/* How many more have gone to the director. */
static int
datagrams(void)
{
	int n = 0;

	while (net_fixture_tap_next(&before))
		n += before.outgoing && before.length > 34 &&
		    before.bytes[12] == 8 && before.bytes[13] == 0 &&
		    before.bytes[23] == IPPROTO_UDP;
	return n;
}

static unsigned
read_all(int fd)
{
	char got[64];
	unsigned n = 0;

	while (recv(fd, got, sizeof(got), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

/* A datagram is sent once and for all: it comes or does not. */
START_TEST(frames_wait_for_the_address)
{
	unsigned got = 0;
	int near, far, i;

	NEED_DSR_OF_OURS("first frames");
	NEED_NET_FIXTURE(&fixture, &one);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER, "link set eth0 arp off\n");
	net_fixture_tap(&tap, &fixture, NET_FIXTURE_SERVER, "eth0");
	net_fixture_tap(&before, &fixture, NET_FIXTURE_SWITCH, "d1");
	far = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, NET_FIXTURE_VIP4, PORT);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, NET_FIXTURE_VIP4, PORT);
	for (i = 0; i < BURST; i++)
		ck_assert_int_eq(send(near, "hello", 5, 0), 5);
	/* the answer comes behind them, and before their time is over */
	WAIT_FOR((i -= datagrams()) == 0, 5000);
	ck_assert(!net_fixture_is_readable(far));
	answer();
	WAIT_FOR((got += read_all(far)) == HELD, 5000);
	ck_assert_int_eq(count("held"), HELD);
	ck_assert_int_eq(count("forwarded"), HELD);
	ck_assert_int_eq(count("dropped_neighbor"), BURST - HELD);
	ck_assert_int_eq(
	    count("dropped_neighbor_bytes"), (BURST - HELD) * DATAGRAM);
	/* the next one is not held */
	ck_assert_int_eq(send(near, "hello", 5, 0), 5);
	WAIT_FOR((got += read_all(far)) == HELD + 1, 5000);
	ck_assert_int_eq(count("held"), HELD);
	net_fixture_tap_close(&tap);
	net_fixture_tap_close(&before);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(not_for_ever)
{
	int near;

	NEED_DSR_OF_OURS("first frames");
	NEED_NET_FIXTURE(&fixture, &one);
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER, "link set eth0 arp off\n");
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, NET_FIXTURE_VIP4, PORT);
	ck_assert_int_eq(send(near, "hello", 5, 0), 5);
	WAIT_FOR(count("held") == 1, 5000);
	WAIT_FOR(count("dropped_neighbor") == 1, 5000);
	ck_assert_int_eq(count("dropped_neighbor_bytes"), DATAGRAM);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* What it counts is there for Prometheus, too. */
static void
expect_metrics(void)
{
	static const char *const lines[] = { "pen_dsr_forwarded_bytes_total ",
		"pen_dsr_dropped_total{reason=\"no_server\"} 0\n",
		"pen_dsr_fast_flows 0\n",
		/* also those that wait no longer */
		"# TYPE pen_dsr_pending_total counter\n",
		"pen_dsr_link_dropped_total{reason=\"missed\"} 0\n",
		"pen_dsr_neighbor_requests_total ",
		"pen_dsr_flows_in_state{state=\"established\"} 0\n" };
	static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
	const char *got;
	struct endpoint web;
	size_t i;
	int fd;

	endpoint_new(&web, ENDPOINT_UNIX);
	(void)dsrpen_ask(&pen, text("web %s", web.text));
	fd = endpoint_connect(&web);
	endpoint_send(fd, request, sizeof(request) - 1);
	got = endpoint_recv_all(fd);
	close(fd);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(got, text("\n%s", lines[i])) != NULL,
		    "no %s in: %s", lines[i], got);
}

/* The same words in both forms. */
static void
expect_json(void)
{
#ifdef HAVE_JANSSON
	const char *said = dsrpen_ask(&pen, "dsr json");

	ck_assert_ptr_nonnull(strstr(said, "{\"interface\":\"eth0\""));
	ck_assert_ptr_nonnull(strstr(said, ",\"fast_path\":false,"));
	ck_assert_ptr_nonnull(strstr(
	    said, ",\"fast_flows\":0,\"fast_frames\":0,\"fast_bytes\":0,"));
	ck_assert_ptr_nonnull(strstr(
	    said, ",\"dropped_no_server\":0,\"dropped_no_server_bytes\":0,"));
	ck_assert_ptr_nonnull(strstr(said,
	    ",\"flows_established\":0,\"servers\":[{\"server\":0,"
	    "\"mac\":\"02:00:00:64:00:03\",\"forward\":\"mac\"},"
	    "{\"server\":1,\"mac\":null,\"forward\":\"mac\"}],"
	    "\"neighbors\":[{\"address\":"));
	ck_assert_ptr_nonnull(
	    strstr(said, "{\"address\":\"192.168.100.99\",\"mac\":null,"));
	ck_assert_ptr_nonnull(strstr(said, "}]}\n"));
#endif
}

START_TEST(what_it_tells)
{
	const char *said;

	NEED_DSR_OF_OURS("a report");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), "192.168.100.99",
	    NULL);
	WAIT_FOR(strstr(dsrpen_ask(&pen, "dsr"),
		     "\n0 mac 02:00:00:64:00:03 forward mac\n"
		     "1 mac unknown forward mac\n") != NULL,
	    5000);
	said = dsrpen_ask(&pen, "dsr");
	ck_assert_ptr_nonnull(strstr(said, "\nlink_missed 0\n"));
	ck_assert_ptr_nonnull(strstr(said, "\nflows_established 0\n"));
	ck_assert_ptr_nonnull(strstr(said,
	    "\n192.168.100.3 mac 02:00:00:64:00:03 state reachable age "));
	ck_assert_ptr_nonnull(
	    strstr(said, "\n192.168.100.99 mac unknown state "));
	ck_assert_ptr_nonnull(strstr(said, "\nfast_path no\n"));
	ck_assert_ptr_nonnull(
	    strstr(said, "\nfast_flows 0\nfast_frames 0\nfast_bytes 0\n"));
	ck_assert_ptr_nonnull(strstr(said,
	    "\ndropped_no_server 0\ndropped_no_server_bytes 0\n"
	    "dropped_neighbor "));
	said = dsrpen_ask(&pen, "statistics");
	ck_assert_ptr_nonnull(strstr(said, "\ndsr_received "));
	ck_assert_ptr_nonnull(strstr(said, "\ndsr_fast_frames 0\n"));
	ck_assert_ptr_nonnull(
	    strstr(said, "\ndsr_dropped_no_server_bytes 0\n"));
	expect_json();
	expect_metrics();
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* Pen does without, and says why. */
START_TEST(fast_path_without_flows)
{
	NEED_DSR_OF_OURS("a fast path");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    "-O", "dsr_fast_path on", "-O", "dsr_flows 0",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	ck_assert(child_has_said(&pen.child,
	    "dsr_fast_path has no effect: dsr_flows is 0 link=packet"));
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(&pen, "dsr"), "\nfast_path no\n"));
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* The two outside the list as well. */
START_TEST(removed_servers_are_not_asked_for)
{
	static const char *const rows[] = { "server 1 address", "emergency",
		"abuse" };
	static const char *const ends[] = { "server 1 remove", "no emergency",
		"no abuse" };
	int i;

	NEED_DSR_OF_OURS("neighbours");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	for (i = 0; i < 3; i++) {
		(void)dsrpen_ask(&pen, text("%s 192.168.100.9%d", rows[i], i));
		WAIT_FOR(strstr(dsrpen_ask(&pen, "dsr"),
			     text("\n192.168.100.9%d mac", i)) != NULL,
		    5000);
		(void)dsrpen_ask(&pen, ends[i]);
		WAIT_FOR(strstr(dsrpen_ask(&pen, "dsr"),
			     text("\n192.168.100.9%d mac", i)) == NULL,
		    5000);
	}
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_first)
{
	Suite *s = suite_create("dsr_first");

	SUITE_ADD(s, frames_wait_for_the_address, 60);
	SUITE_ADD(s, not_for_ever, 60);
	SUITE_ADD(s, what_it_tells, 60);
	SUITE_ADD(s, fast_path_without_flows, 60);
	SUITE_ADD(s, removed_servers_are_not_asked_for, 60);
	return s;
}
