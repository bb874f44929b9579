/* test_dsr_snooping.c: a switch that passes groups only to ports that have
 * reported them, with a querier: it gets to know where the groups of our IPv6
 * addresses are needed, and where no longer. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

/* Those of NET_FIXTURE_VIP6, its second one, dsr_ip of both directors. */
#define GROUP	"ff02::1:ff00:10"
#define GROUP_B "ff02::1:ff00:11"
#define OWN	"ff02::1:ff00:2"
#define OWN_B	"ff02::1:ff00:7"

static const struct net_fixture_options pair = { .servers = 1,
	.two_directors = true };
static struct net_fixture fixture;
static struct dsrpen first, second;

#define NEED_SNOOPING()                                               \
	do {                                                          \
		NEED_DSR_OF_OURS("IPv6");                             \
		NEED_PROGRAM("bridge");                               \
		NEED_NET_FIXTURE(&fixture, &pair);                    \
		if (fixture.is.own_switch)                            \
			SKIP("this kernel's bridge has no snooping"); \
		snoop();                                              \
	} while (0)

/* A second after a query ports without a report get nothing. */
static void
snoop(void)
{
	net_fixture_set(
	    &fixture, NET_FIXTURE_SWITCH, "ipv6/conf/br0/disable_ipv6", "0");
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH,
	    "link set br0 type bridge mcast_snooping 1 mcast_querier 1"
	    " mcast_mld_version 2 mcast_query_response_interval 100"
	    " mcast_startup_query_interval 100 mcast_query_interval 300"
	    " mcast_last_member_interval 20\n");
}

/* Reports that the switch has of that group. */
static unsigned
ports_with(const char *group)
{
	const char *at = net_fixture_run(&fixture, NET_FIXTURE_SWITCH, 10000,
	    "bridge", "mdb", "show", "dev", "br0", NULL);
	const char *word = text("grp %s ", group);
	unsigned n = 0;

	for (; (at = strstr(at, word)) != NULL; at += strlen(word))
		n++;
	return n;
}

static void
start(struct dsrpen *p, enum net_fixture_place where, const char *own,
    const char *standby)
{
	dsrpen_start(p, &fixture, where, NET_FIXTURE_VIP6, "-h", "-O",
	    text("dsr_ip %s", own), "-O", standby, "[" NET_FIXTURE_VIP6 "]:0",
	    net_fixture_server6(0), NULL);
}

/* A datagram of a client that does not know the hardware address. */
static bool
passes(void)
{
	int at = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, NET_FIXTURE_VIP6, 53);
	int from;
	long long end;
	bool got;

	net_fixture_run(&fixture, NET_FIXTURE_CLIENT, 10000, "ip", "-6",
	    "neigh", "flush", "dev", "eth0", NULL);
	from = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, NET_FIXTURE_VIP6, 53);
	(void)send(from, "x", 1, 0);
	end = wait_now_ms() + wait_scaled(10000);
	while (!(got = net_fixture_is_readable(at)) && wait_now_ms() < end)
		usleep(1000);
	close(at);
	close(from);
	return got;
}

START_TEST(groups_follow_the_director)
{
	NEED_SNOOPING();
	start(&first, NET_FIXTURE_DIRECTOR, NET_FIXTURE_DSR_IP6,
	    "no dsr_standby");
	start(&second, NET_FIXTURE_DIRECTOR2, NET_FIXTURE_DSR_IP6_B,
	    "dsr_standby");
	WAIT_FOR(ports_with(GROUP) == 1, 20000);
	WAIT_FOR(ports_with(OWN) == 1 && ports_with(OWN_B) == 1, 20000);
	ck_assert(passes());
	(void)dsrpen_ask(&second, "dsr takeover");
	WAIT_FOR(ports_with(GROUP) == 2, 20000);
	(void)dsrpen_ask(&first, "dsr standby");
	WAIT_FOR(ports_with(GROUP) == 1, 20000);
	ck_assert(passes());
	/* another address */
	(void)dsrpen_ask(&second,
	    "listen [" NET_FIXTURE_VIP6 "]:0,[" NET_FIXTURE_VIP6_B "]:0");
	WAIT_FOR(ports_with(GROUP_B) == 1, 20000);
	(void)dsrpen_ask(&second, "listen [" NET_FIXTURE_VIP6 "]:0");
	WAIT_FOR(ports_with(GROUP_B) == 0, 20000);
	dsrpen_down(&second);
	WAIT_FOR(ports_with(GROUP) == 0, 20000);
	WAIT_FOR(ports_with(OWN_B) == 0, 20000);
	ck_assert_uint_eq(ports_with(OWN), 1);
	dsrpen_down(&first);
	net_fixture_down(&fixture);
}
END_TEST

/* A switch that was just switched on learns from the answers to its query,
 * and one whose cable comes back at once. MLDv1, too. */
START_TEST(groups_are_reported_when_queried)
{
	NEED_SNOOPING();
	if (_i == 1)
		net_fixture_ip(&fixture, NET_FIXTURE_SWITCH,
		    "link set br0 type bridge mcast_mld_version 1\n");
	start(&first, NET_FIXTURE_DIRECTOR, NET_FIXTURE_DSR_IP6,
	    "no dsr_standby");
	WAIT_FOR(ports_with(GROUP) == 1, 20000);
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH,
	    "link set br0 type bridge mcast_snooping 0\n");
	WAIT_FOR(ports_with(GROUP) == 0, 20000);
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH,
	    "link set br0 type bridge mcast_snooping 1 mcast_querier 1\n");
	WAIT_FOR(ports_with(GROUP) == 1, 20000);
	ck_assert(passes());
	dsrpen_down(&first);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_snooping)
{
	Suite *s = suite_create("dsr_snooping");

	SUITE_ADD(s, groups_follow_the_director, 60);
	SUITE_ADD_LOOP(s, groups_are_reported_when_queried, 60, 2);
	return s;
}
