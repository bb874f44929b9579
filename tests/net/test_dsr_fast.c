/* test_dsr_fast.c: flows that the kernel passes on itself get where they
 * should, are counted, and end as others do. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrfast.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "support/wait.h"

enum { MUCH = 20000000, SEGMENT = 1448 };
enum { DATAGRAMS = 3000, BURST = 50 };

static const struct net_fixture_options one = { .servers = 1 };
static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;
static struct dsrnet net;

static const char *
ask(const char *line)
{
	return dsrfast_ask(&net, line);
}

static long
count(const char *name)
{
	return dsrfast_count(&net, name);
}

/* ---- what it is for ---- */

START_TEST(uploads_and_downloads)
{
	int near, far;
	unsigned who;
	long received;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_STREAM);
	who = dsrfast_connect(&net, &near, &far);
	received = count("received");
	dsrnet_pass(near, far, MUCH);
	ck_assert_int_gt(count("fast_frames"), MUCH / SEGMENT);
	ck_assert_int_gt(count("fast_bytes"), MUCH);
	ck_assert_int_lt(count("received") - received, MUCH / SEGMENT / 10);
	dsrnet_pass(far, near, MUCH);
	ck_assert_int_lt(count("received") - received, MUCH / SEGMENT / 10);
	ck_assert(!net_fixture_is_readable(net.at[1 - who]));
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

/* Takes what is there of the datagrams, which are whole, each once. */
static unsigned
take_datagrams(int fd, bool seen[DATAGRAMS])
{
	static unsigned char bytes[DSRFAST_SIZE + 1];
	uint32_t number;
	unsigned n = 0;

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) == DSRFAST_SIZE) {
		memcpy(&number, bytes, sizeof(number));
		if (number >= DATAGRAMS || seen[number])
			ck_abort_msg("datagram %u again", (unsigned)number);
		seen[number] = true;
		pattern_check(number, 4, bytes + 4, DSRFAST_SIZE - 4);
		n++;
	}
	return n;
}

START_TEST(datagrams)
{
	static unsigned char bytes[DSRFAST_SIZE];
	static bool seen[DATAGRAMS];
	unsigned who, left;
	uint32_t i;
	long received;
	int near;

	NEED_DSRFAST(&net, &fixture, &two, net_fixture_vip(_i), SOCK_DGRAM);
	memset(seen, 0, sizeof(seen));
	near = dsrnet_dial(&net);
	who = dsrfast_echo(&net, near);
	received = count("received");
	for (i = 0, left = 0; i < DATAGRAMS; i++) {
		memcpy(bytes, &i, sizeof(i));
		pattern_fill(i, 4, bytes + 4, DSRFAST_SIZE - 4);
		if (send(near, bytes, DSRFAST_SIZE, 0) != DSRFAST_SIZE)
			ck_abort_msg("datagram: %s", strerror(errno));
		if (++left == BURST)
			WAIT_FOR(
			    (left -= take_datagrams(net.at[who], seen)) == 0,
			    10000);
	}
	ck_assert_int_ge(count("fast_frames"), DATAGRAMS);
	ck_assert_int_lt(count("received") - received, DATAGRAMS / 10);
	ck_assert(!net_fixture_is_readable(net.at[1 - who]));
	close(near);
	dsrnet_end(&net);
}
END_TEST

/* ---- flows end ---- */

struct pair {
	struct sockaddr_storage own, peer;
	socklen_t len;
};

static struct pair
pair_of(int fd)
{
	struct pair p;
	socklen_t len = sizeof(p.peer);

	p.len = sizeof(p.own);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&p.own, &p.len), 0);
	ck_assert_int_eq(getpeername(fd, (struct sockaddr *)&p.peer, &len), 0);
	return p;
}

/* A connection from where another one, which is over, was from. */
static int
dial_again(const struct pair *p)
{
	int fd, on = 1;

	net_fixture_enter(&fixture, NET_FIXTURE_CLIENT);
	fd = socket(p->own.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	net_fixture_leave(&fixture);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&p->own, p->len), 0);
	ck_assert(connect(fd, (const struct sockaddr *)&p->peer, p->len) == 0 ||
	    errno == EINPROGRESS);
	return fd;
}

/* The server's end first, so that its own is not the one that waits; or a
 * RST. */
static void
close_both(int near, int far, bool with_reset)
{
	struct linger none = { .l_onoff = 1, .l_linger = 0 };
	char byte;

	if (with_reset)
		ck_assert_int_eq(setsockopt(near, SOL_SOCKET, SO_LINGER, &none,
				     sizeof(none)),
		    0);
	else
		close(far);
	WAIT_FOR(with_reset || recv(near, &byte, 1, 0) == 0, 5000);
	close(near);
	if (with_reset)
		close(far);
}

static long
of_server(const char *name)
{
	return report_number(ask("servers"), text(" %s ", name));
}

/* Bytes count when a flow is gone, which the next one from there brings
 * about. Where that begins so soon that the server still waits for bytes of the
 * one before, a SYN and a RST are of that one. */
static void
expect_end(int i)
{
	enum { SYN_AND_RST = 2 * 94 };
	int near, far, next;
	struct pair p;
	long bytes, sent;

	(void)dsrfast_connect(&net, &near, &far);
	ck_assert_int_eq(of_server("conn"), 1);
	p = pair_of(near);
	close_both(near, far, i / 2 == 1);
	WAIT_FOR(count(i / 2 == 1 ? "flows_close" : "flows_fin") == 1, 5000);
	ck_assert_int_eq(of_server("conn"), 0);
	ck_assert_int_eq(count("fast_flows"), 0);
	bytes = count("forwarded_bytes") + count("fast_bytes");
	ck_assert_int_gt(bytes, DSRFAST_SOME);
	next = dial_again(&p);
	WAIT_FOR(net_fixture_is_connected(next), 5000);
	sent = of_server("sx");
	ck_assert_int_ge(sent, bytes);
	ck_assert_int_le(sent, bytes + SYN_AND_RST);
	ck_assert_int_eq(of_server("conn"), 1);
	close(next);
}

START_TEST(ends_are_seen)
{
	NEED_DSRFAST(
	    &net, &fixture, &one, net_fixture_vip(_i % 2), SOCK_STREAM);
	expect_end(_i);
	dsrnet_end(&net);
}
END_TEST

/* Sends for more than `ms` datagrams that the server gets. */
static void
keep_busy(int near, unsigned who, long long ms)
{
	long long end = wait_now_ms() + ms;

	while (wait_now_ms() < end) {
		ck_assert_uint_eq(
		    dsrnet_echo(&net, near, DSRFAST_SIZE, DSRFAST_SIZE), who);
		wait_nap();
	}
}

/* Of two flows the one in use stays, though only the kernel sees that. */
START_TEST(the_idle_one_makes_room)
{
	int busy, idle, late;
	unsigned who;
	long opened;

	NEED_DSRFAST_WITH(&net, &fixture, &one, net_fixture_vip(_i), SOCK_DGRAM,
	    "-Odsr_fast_path on; dsr_flows 2");
	busy = dsrnet_dial(&net);
	idle = dsrnet_dial(&net);
	late = dsrnet_dial(&net);
	who = dsrfast_echo(&net, busy);
	keep_busy(busy, who, 1500);
	(void)dsrfast_echo(&net, idle);
	keep_busy(busy, who, 2500);
	ck_assert_int_eq(count("fast_flows"), 2);
	(void)dsrnet_echo(&net, late, DSRFAST_SIZE, DSRFAST_SIZE);
	ck_assert_int_eq(count("fast_flows"), 1);
	opened = count("flows_opened");
	ck_assert_int_eq(opened, 3);
	(void)dsrfast_echo(&net, busy);
	ck_assert_int_eq(count("flows_opened"), opened);
	(void)dsrnet_echo(&net, idle, DSRFAST_SIZE, DSRFAST_SIZE);
	ck_assert_int_eq(count("flows_opened"), opened + 1);
	close(busy);
	close(idle);
	close(late);
	dsrnet_end(&net);
}
END_TEST

SUITE(test_dsr_fast)
{
	Suite *s = suite_create("dsr_fast");

	DSRFAST_ADD(s, uploads_and_downloads, 2);
	DSRFAST_ADD(s, datagrams, 2);
	DSRFAST_ADD(s, ends_are_seen, 4);
	DSRFAST_ADD(s, the_idle_one_makes_room, 2);
	return s;
}
