/* test_route.c: what the kernel makes of packets for tunnels, as the far end of
 * a cable sees them. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dsr/forward/route.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"

enum { HEAD = 14, INNER = 1000, MTU = 1500 };

static struct route *route;
static int far;
static unsigned char inner[4000], frame[2000];

static struct peer
peer(const char *ip)
{
	struct peer p;
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, ip, 0), 0);
	peer_from_addr(&p, &a);
	return p;
}

/* The near end has addresses, and knows where the others are. */
static const char *
up(void)
{
	static const char *const lines[] = { "link set lo up",
		"addr add 10.9.0.1/24 dev near",
		"addr add fd09::1/64 dev near nodad",
		"neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev near",
		"neigh add fd09::2 lladdr 02:00:00:00:00:02 dev near",
		"route add 10.10.0.0/16 via 10.9.0.2 mtu 1400",
		"route add fd10::/16 via fd09::2 mtu 1400" };
	const char *why = veth_up();
	struct error e;
	size_t i;

	if (why != NULL)
		return why;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		veth_ip("%s", lines[i]);
	far = veth_open("far", false);
	for (i = 0; i < sizeof(inner); i++)
		inner[i] = (unsigned char)(i * 7);
	route = route_open(&e);
	ck_assert_msg(route != NULL, "%s", e.text);
	return NULL;
}

static void
down(void)
{
	route_close(route);
	close(far);
}

/* What was not taken, since the last time that was asked. */
static struct frame_count lost;

static void
expect_lost(unsigned packets, unsigned bytes)
{
	ck_assert_uint_eq(lost.frames, packets);
	ck_assert_uint_eq(lost.bytes, bytes);
	memset(&lost, 0, sizeof(lost));
}

static void
flush(void)
{
	route_flush(route, &lost);
}

static void
put(const char *to, unsigned family, uint8_t class, bool may_fragment, size_t n)
{
	struct peer p = peer(to);
	struct route_packet packet = { .to = &p,
		.bytes = inner,
		.length = n,
		.family = family,
		.class = class,
		.may_fragment = may_fragment };

	route_send(route, &packet, &lost);
}

/* The next frame of a tunnel; its IP header. */
static const unsigned char *
next(size_t *n)
{
	const unsigned char *ip = frame + HEAD;

	for (;;) {
		*n = veth_receive(far, frame, sizeof(frame));
		if (frame[12] == 8 && frame[13] == 0 &&
		    (ip[9] == 4 || ip[9] == 41))
			return ip;
		if (frame[12] == 0x86 && (ip[6] == 4 || ip[6] == 41))
			return ip;
	}
}

START_TEST(headers)
{
	const unsigned char *ip;
	const char *why = up();
	struct peer own = peer("10.9.0.1"), own6 = peer("fd09::1");
	unsigned i;
	size_t n;

	if (why != NULL)
		SKIP(why);
	for (i = 0; i < 4; i++) {
		unsigned family = i & 1 ? AF_INET6 : AF_INET;
		bool cut = (i & 2) != 0;

		put("10.9.0.2", family, 0xb9, cut, INNER);
		flush();
		expect_lost(0, 0);
		ip = next(&n);
		ck_assert_uint_eq(n, HEAD + 20 + INNER);
		ck_assert_uint_eq(ip[0], 0x45);
		ck_assert_uint_eq(ip[1], 0xb9);
		ck_assert_uint_eq(ip[6], cut ? 0 : 0x40);
		ck_assert_uint_eq(ip[8], 64);
		ck_assert_uint_eq(ip[9], i & 1 ? 41 : 4);
		ck_assert_mem_eq(ip + 12, own.ip + 12, 4);
		ck_assert_mem_eq(ip + 20, inner, INNER);
		put("fd09::2", family, 0xb9, cut, INNER);
		flush();
		expect_lost(0, 0);
		ip = next(&n);
		ck_assert_uint_eq(n, HEAD + 40 + INNER);
		ck_assert_uint_eq((ip[0] << 4 | ip[1] >> 4) & 0xff, 0xb9);
		ck_assert_uint_eq(ip[6], i & 1 ? 41 : 4);
		ck_assert_uint_eq(ip[7], 64);
		ck_assert_mem_eq(ip + 8, own6.ip, 16);
		ck_assert_mem_eq(ip + 40, inner, INNER);
	}
	down();
}
END_TEST

/* More than a call takes, in their order. */
START_TEST(batches)
{
	const char *why = up();
	const unsigned char *ip;
	unsigned i;
	size_t n;

	if (why != NULL)
		SKIP(why);
	for (i = 0; i < 200; i++)
		put("10.9.0.2", AF_INET, 0, false, 100 + i);
	flush();
	expect_lost(0, 0);
	for (i = 0; i < 200; i++) {
		ip = next(&n);
		ck_assert_uint_eq(ip[2] << 8 | ip[3], 20 + 100 + i);
	}
	flush();
	expect_lost(0, 0);
	down();
}
END_TEST

static struct route_error
heard(void)
{
	struct route_error e;

	WAIT_FOR(route_next_error(route, &e), 10000);
	return e;
}

/* A path that is narrower than the cable, as the kernel knows it. */
static struct peer
narrow(const char *ip)
{
	struct peer to = peer(ip);
	struct route_path w;

	ck_assert_int_eq(route_find(&to, &w), 0);
	ck_assert_uint_eq(w.mtu, 1400);
	return to;
}

static void
expect_news(const struct peer *to)
{
	struct route_error e = heard();

	ck_assert_int_eq(e.error, EMSGSIZE);
	ck_assert(peer_same_host(&e.to, to));
}

/* What does not fit is lost alone, and what was lost is told. */
START_TEST(too_big)
{
	const char *why = up();
	struct peer to;
	const unsigned char *ip;
	size_t n;

	if (why != NULL)
		SKIP(why);
	to = narrow("10.10.0.5");
	put("10.10.0.5", AF_INET, 0, false, 1380);
	put("10.10.0.5", AF_INET, 0, false, 1381);
	put("10.10.0.5", AF_INET, 0, false, 500);
	flush();
	expect_lost(1, 1381);
	next(&n);
	ck_assert_uint_eq(n, HEAD + 1400);
	next(&n);
	ck_assert_uint_eq(n, HEAD + 520);
	expect_news(&to);
	/* what may be cut is */
	put("10.10.0.5", AF_INET, 0, true, 3000);
	flush();
	expect_lost(0, 0);
	ip = next(&n);
	ck_assert_uint_eq(ip[6], 0x20);
	down();
}
END_TEST

START_TEST(too_big6)
{
	const char *why = up();
	struct peer to;
	size_t n;

	if (why != NULL)
		SKIP(why);
	to = narrow("fd10::5");
	put("fd10::5", AF_INET6, 0, false, 1361);
	put("fd10::5", AF_INET6, 0, false, 1360);
	flush();
	expect_lost(1, 1361);
	next(&n);
	ck_assert_uint_eq(n, HEAD + 1400);
	expect_news(&to);
	/* in two, which are IPv6's own kind */
	put("fd10::5", AF_INET6, 0, true, 1400);
	flush();
	expect_lost(0, 0);
	do
		n = veth_receive(far, frame, sizeof(frame));
	while (frame[HEAD + 6] != 44);
	ck_assert_uint_eq(frame[HEAD + 40], 41);
	down();
}
END_TEST

/* No route at all; and nobody at the address. */
START_TEST(nowhere)
{
	const char *why = up();
	struct peer none = peer("10.99.0.1"), nobody = peer("10.9.0.77");
	struct route_error e;
	struct route_path w;

	if (why != NULL)
		SKIP(why);
	ck_assert_int_eq(route_find(&none, &w), -1);
	ck_assert_int_eq(errno, ENETUNREACH);
	put("10.99.0.1", AF_INET, 0, false, 100);
	flush();
	expect_lost(1, 100);
	put("10.9.0.77", AF_INET, 0, false, 100);
	flush();
	expect_lost(0, 0);
	e = heard();
	ck_assert_int_eq(e.error, EHOSTUNREACH);
	ck_assert(peer_same_host(&e.to, &nobody));
	ck_assert_int_eq(route_find(&nobody, &w), 0);
	ck_assert(e.by.family == 0 || peer_same_host(&e.by, &w.from));
	down();
}
END_TEST

SUITE(test_route)
{
	Suite *s = suite_create("route");

	SUITE_ADD(s, headers, 20);
	SUITE_ADD(s, batches, 20);
	SUITE_ADD(s, too_big, 20);
	SUITE_ADD(s, too_big6, 20);
	SUITE_ADD(s, nowhere, 30);
	return s;
}
