/* test_dsr_inspect.c: what --check finds around a director, each thing
 * provoked, and gone when the command that it prints was carried out. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/inspectrun.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;

static struct inspectrun run = { .fixture = &fixture };

static const char *
check_with(const char *const before[], const char *const settings[])
{
	return inspectrun_check(&run, before, settings);
}

static const char *
check(void)
{
	return check_with(NULL, NULL);
}

#define MEND_IN(report, ...) INSPECTRUN_MEND(&run, report, __VA_ARGS__)
#define EXPECT_AND_MEND(...) MEND_IN(check(), __VA_ARGS__)

static void
is_fine(const char *report)
{
	inspectrun_is_fine(&run, report);
}

static const char *const own_ips[] = { "dsr_ip " NET_FIXTURE_DSR_IP4,
	"dsr_ip " NET_FIXTURE_DSR_IP6, NULL };

/* ---- the machine ---- */

static const char *
state_of(enum net_fixture_place where)
{
	return text("%s%s%s",
	    net_fixture_run(&fixture, where, 10000, "ip", "-d", "link", NULL),
	    net_fixture_run(&fixture, where, 10000, "ip", "maddr", NULL),
	    net_fixture_run(&fixture, where, 10000, "ip", "addr", NULL));
}

START_TEST(nothing_is_wrong)
{
	const char *before;

	NEED_NET_FIXTURE(&fixture, &two);
	before = state_of(NET_FIXTURE_DIRECTOR);
	is_fine(check());
	ck_assert_str_eq(state_of(NET_FIXTURE_DIRECTOR), before);
	/* Who has been asked knows nobody that it did not know. */
	ck_assert_str_eq(net_fixture_run(&fixture, NET_FIXTURE_SERVER, 10000,
			     "ip", "neigh", NULL),
	    "");
	ck_assert_str_eq(child_out(&run.child), "");
	is_fine(check_with(NULL, own_ips));
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(the_interface)
{
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link set eth0 down\nlink set eth0 addrgenmode none\n");
	EXPECT_AND_MEND(
	    { NET_FIXTURE_DIRECTOR, "error: interface eth0 is down" });
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH, "link set d1 down\n");
	WAIT_FOR(inspectrun_line(
		     check(), "error: interface eth0 has no carrier") != NULL,
	    10000);
	ck_assert_int_eq(run.child.status, 1);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link set eth0 mtu 1400\nlink set eth0 promisc on\n");
	net_fixture_ip(&fixture, NET_FIXTURE_SWITCH, "link set d1 up\n");
	WAIT_FOR(strstr(check(), "no carrier") == NULL, 20000);
	MEND_IN(child_err(&run.child),
	    { NET_FIXTURE_DIRECTOR,
		"warning: interface eth0 has an MTU of 1400" },
	    { NET_FIXTURE_DIRECTOR, "warning: interface eth0 is promiscuous" });
	is_fine(check());
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link set eth0 down\nlink set eth0 name eth1\n");
	EXPECT_AND_MEND({ NET_FIXTURE_HOME, "error: no interface eth0" });
	net_fixture_down(&fixture);
}
END_TEST

/* An address with a label is one of the interface's, too. */
START_TEST(own_addresses)
{
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0 label eth0:1\n"
	    "addr add fe80::99/64 dev eth0 nodad\n"
	    "addr add fd00:64::99/64 dev eth0 nodad\n"
	    "addr add " NET_FIXTURE_VIP6 "/64 dev lo nodad\n"
	    "addr add " NET_FIXTURE_DSR_IP4 "/32 dev lo\n"
	    "addr add 192.168.100.3/32 dev lo\n"
	    "route add local 192.168.100.8/29 dev lo\n");
	MEND_IN(check_with(NULL, own_ips),
	    { NET_FIXTURE_DIRECTOR,
		"warning: interface eth0 has an IPv4 address, "
		"192.168.100.99:" },
	    { NET_FIXTURE_DIRECTOR,
		"warning: interface eth0 has an IPv6 address" },
	    { NET_FIXTURE_DIRECTOR,
		"error: VIP " NET_FIXTURE_VIP6 " is an address of" },
	    { NET_FIXTURE_DIRECTOR,
		"error: dsr_ip " NET_FIXTURE_DSR_IP4 " is an address of" },
	    { NET_FIXTURE_DIRECTOR,
		"error: a local route makes " NET_FIXTURE_VIP4 },
	    { NET_FIXTURE_HOME,
		"error: server 0 (192.168.100.3) is this host" });
	EXPECT_AND_MEND({ NET_FIXTURE_HOME,
	    "error: server 0 (192.168.100.3) is this host" });
	net_fixture_down(&fixture);
}
END_TEST

START_TEST(forwarding)
{
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_set(&fixture, NET_FIXTURE_DIRECTOR, "ipv4/ip_forward", "1");
	net_fixture_set(
	    &fixture, NET_FIXTURE_DIRECTOR, "ipv6/conf/all/forwarding", "1");
	EXPECT_AND_MEND({ NET_FIXTURE_DIRECTOR,
			    "warning: the kernel forwards IPv4 that arrives "
			    "on eth0" },
	    { NET_FIXTURE_HOME,
		"warning: the kernel forwards IPv6 that arrives on eth0" });
	net_fixture_set(
	    &fixture, NET_FIXTURE_DIRECTOR, "ipv4/conf/eth0/forwarding", "1");
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "link add out type veth peer name far\nlink set out up\n"
	    "link set far up\naddr add 10.9.9.1/24 dev out\n"
	    "route add default via 10.9.9.2\n"
	    "addr add fd09::1/64 dev out nodad\n"
	    "route add default via fd09::2\n");
	EXPECT_AND_MEND({ NET_FIXTURE_DIRECTOR,
			    "error: the kernel forwards IPv4 that arrives "
			    "on eth0" },
	    { NET_FIXTURE_DIRECTOR,
		"error: the kernel forwards IPv6 that arrives on eth0" });
	is_fine(check());
	net_fixture_down(&fixture);
}
END_TEST

/* What is found without rights is found, and the exit says that it is not
 * all. */
START_TEST(without_rights)
{
	static const char *const bare[] = { "setpriv", "--bounding-set",
		"-net_raw", NULL };
	const char *report;

	NEED_PROGRAM("setpriv");
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0\n");
	report = check_with(bare, NULL);
	MEND_IN(report, { NET_FIXTURE_HOME, "error: no right to raw sockets" },
	    { NET_FIXTURE_HOME, "warning: interface eth0 has an" });
	ck_assert_ptr_nonnull(
	    strstr(report, "; fix: setcap cap_net_raw+ep $(command -v pen)\n"));
	net_fixture_down(&fixture);
}
END_TEST

/* ---- at the start ---- */

START_TEST(starting_tells_the_worst)
{
	struct dsrpen pen;

	NEED_DSR_OF_OURS("warnings");
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0\n"
	    "link set eth0 promisc on\n");
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	ck_assert(child_has_said(&pen.child,
	    "interface eth0 has an IPv4 address, 192.168.100.99: "));
	ck_assert(
	    child_has_said(&pen.child, "fix=\"ip -4 addr flush dev eth0\""));
	ck_assert(!child_has_said(&pen.child, "promiscuous"));
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_inspect)
{
	Suite *s = suite_create("dsr_inspect");

	SUITE_ADD(s, nothing_is_wrong, 60);
	SUITE_ADD(s, the_interface, 90);
	SUITE_ADD(s, own_addresses, 60);
	SUITE_ADD(s, forwarding, 60);
	SUITE_ADD(s, without_rights, 30);
	SUITE_ADD(s, starting_tells_the_worst, 30);
	return s;
}
