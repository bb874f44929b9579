/* test_dsr_tunnel.c: packets in packets to servers beyond a router: all
 * families inside and outside, through a gateway and by the kernel's route. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/decap.h"
#include "support/dsrnet.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct dsrnet net;

enum { BY_IP4, BY_IP6, BY_MAC, BY_ROUTE };

/* Inside, outside, and to whom next. */
struct way {
	bool inner6, outer6;
	int hop;
};

static const char *
gateway(int hop)
{
	switch (hop) {
	case BY_IP4:
		return "dsr_gateway 192.168.100.9";
	case BY_IP6:
		return "dsr_gateway fd00:64::9";
	case BY_MAC:
		return "dsr_gateway 02:00:00:64:00:09";
	default:
		return "no dsr_gateway";
	}
}

static const char *
server(const struct way *w, unsigned i)
{
	return w->outer6 ? text("[%s]", net_fixture_far6(i))
			 : net_fixture_far4(i);
}

static bool
macs_are_known(void)
{
	return strstr(dsrpen_ask(&net.pen, "dsr"), "unknown") == NULL;
}

static void
begin(const struct way *w, int type)
{
	const char *vip = net_fixture_vip(w->inner6);

	dsrnet_open(&net, &fixture, vip, type);
	dsrpen_up(&net.pen, &fixture, NET_FIXTURE_DIRECTOR, vip,
	    type == SOCK_DGRAM ? "-rU" : "-r", "-Odsr_forward tunnel",
	    "-Odsr_ip " NET_FIXTURE_DSR_IP4, "-Odsr_ip " NET_FIXTURE_DSR_IP6,
	    text("-O%s", gateway(w->hop)),
	    w->inner6 ? text("[%s]:0", vip) : text("%s:0", vip), server(w, 0),
	    server(w, 1), NULL);
	WAIT_FOR(macs_are_known(), 5000);
}

static void
end(void)
{
	unsigned i;

	dsrpen_down(&net.pen);
	for (i = 0; i < fixture.is.servers; i++)
		close(net.at[i]);
}

static unsigned long
counter(const char *name)
{
	const char *s = dsrpen_ask(&net.pen, "dsr");

	return (unsigned long)report_number(s, name);
}

/* Full packets do not fit, so the client must have been told, and go on. */
static void
expect_streams(const struct way *w)
{
	size_t n = (size_t)suite_amount(4 << 20, 1 << 20);
	unsigned i, seen = 0;
	int near, far;

	begin(w, SOCK_STREAM);
	for (i = 0; i < 2; i++) {
		seen |= 1U << dsrnet_connect(&net, &near, &far);
		dsrnet_pass(near, far, n);
		dsrnet_pass(far, near, n);
		close(near);
		close(far);
	}
	ck_assert_uint_eq(seen, 3);
	ck_assert_uint_gt(counter("too_big"), 0);
	ck_assert_uint_gt(counter("tunnelled"), n / 1500);
	ck_assert_uint_eq(counter("dropped_malformed"), 0);
	end();
}

/* Fragments of the client's are larger than what fits. */
static void
expect_datagrams(const struct way *w)
{
	unsigned i, seen = 0;
	int near;

	begin(w, SOCK_DGRAM);
	for (i = 0; i < 4; i++) {
		near = dsrnet_dial(&net);
		seen |= 1U << dsrnet_echo(&net, near, 100, 100);
		dsrnet_echo(&net, near, 1200, 4000);
		close(near);
	}
	ck_assert_uint_eq(seen, 3);
	end();
}

static const struct net_fixture_options two = { .servers = 2, .beyond = 2 };

#define WAY(name, inner, outer, next)                               \
	START_TEST(name)                                            \
	{                                                           \
		static const struct way w = { inner, outer, next }; \
		NEED_TUNNELS(&fixture, &two);                       \
		if (w.hop == BY_ROUTE)                              \
			net_fixture_make_route(&fixture);           \
		expect_streams(&w);                                 \
		expect_datagrams(&w);                               \
		net_fixture_down(&fixture);                         \
	}                                                           \
	END_TEST

WAY(gateway_4_in_4, false, false, BY_IP4)
WAY(gateway_4_in_6, false, true, BY_IP6)
WAY(gateway_6_in_4, true, false, BY_MAC)
WAY(gateway_6_in_6, true, true, BY_IP4)
WAY(route_4_in_4, false, false, BY_ROUTE)
WAY(route_4_in_6, false, true, BY_ROUTE)
WAY(route_6_in_4, true, false, BY_ROUTE)
WAY(route_6_in_6, true, true, BY_ROUTE)

SUITE(test_dsr_tunnel)
{
	Suite *s = suite_create("dsr_tunnel");

	SUITE_ADD(s, gateway_4_in_4, 60);
	SUITE_ADD(s, gateway_4_in_6, 60);
	SUITE_ADD(s, gateway_6_in_4, 60);
	SUITE_ADD(s, gateway_6_in_6, 60);
	SUITE_ADD(s, route_4_in_4, 60);
	SUITE_ADD(s, route_4_in_6, 60);
	SUITE_ADD(s, route_6_in_4, 60);
	SUITE_ADD(s, route_6_in_6, 60);
	return s;
}
