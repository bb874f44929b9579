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
static const struct net_fixture_options pair = { .servers = 2,
	.two_directors = true };
static const struct net_fixture_options tagged = { .servers = 2, .vlan = 100 };
static const struct net_fixture_options elsewhere = { .servers = 2,
	.beyond = 2 };
static struct net_fixture fixture;

#define OF_3 "(192.168.100.3, 02:00:00:64:00:03)"
#define OF_4 "(fd00:64::4, 02:00:00:64:00:04)"
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
	ck_assert_ptr_null(strstr(report, "frames are moved"));
	net_fixture_down(&fixture);
}
END_TEST

/* ---- the segment ---- */

/* Servers answer for a VIP: they have it on lo, but are not told to be silent,
 * or they have it on eth0. */
START_TEST(servers)
{
	static const char *const tunnels[] = { "dsr_forward tunnel", NULL };

	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_set(
	    &fixture, NET_FIXTURE_SERVER, "ipv4/conf/all/arp_ignore", "0");
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER + 1,
	    "addr add " NET_FIXTURE_VIP6 "/64 dev eth0 nodad\n");
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    "addr add 192.168.100.3/32 dev eth0\n"
	    "addr add fd00:64::4/128 dev eth0 nodad\n");
	EXPECT_AND_MEND(
	    { NET_FIXTURE_SERVER,
		"error: server 0 " OF_3 " answers for VIP " NET_FIXTURE_VIP4 },
	    { NET_FIXTURE_SERVER + 1,
		"error: server 1 " OF_4 " answers for VIP " NET_FIXTURE_VIP6 },
	    { NET_FIXTURE_CLIENT,
		"warning: server 0 (192.168.100.3) is 2 hosts" },
	    { NET_FIXTURE_CLIENT,
		"warning: server 1 (fd00:64::4) is 2 hosts" });
	ck_assert_ptr_nonnull(
	    strstr(net_fixture_run(&fixture, NET_FIXTURE_SERVER + 1, 10000,
		       "ip", "addr", "show", "dev", "lo", NULL),
		NET_FIXTURE_VIP6 "/128"));
	net_fixture_ip(
	    &fixture, NET_FIXTURE_SERVER + 1, "link set eth0 down\n");
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER,
	    "addr add fd00:64::4/128 dev eth0 nodad\n"
	    "addr add " NET_FIXTURE_VIP4 "/24 dev eth0\n");
	EXPECT_AND_MEND(
	    { NET_FIXTURE_SERVER,
		"error: server 0 " OF_3 " answers for VIP " NET_FIXTURE_VIP4 },
	    { NET_FIXTURE_HOME,
		"warning: servers 0 (192.168.100.3) and 1 (fd00:64::4)"
		" have one hardware address, 02:00:00:64:00:03:" });
	net_fixture_ip(&fixture, NET_FIXTURE_SERVER, "link set eth0 down\n");
	EXPECT_AND_MEND(
	    { NET_FIXTURE_HOME,
		"warning: server 0 (192.168.100.3) does not answer ARP" },
	    { NET_FIXTURE_HOME,
		"warning: server 1 (fd00:64::4) does not answer NDP" },
	    { NET_FIXTURE_HOME, "error: no server answers" });
	/* those that get tunnels may be elsewhere */
	is_fine(check_with(NULL, tunnels));
	net_fixture_down(&fixture);
}
END_TEST

/* The director has another interface, which leads to them. */
START_TEST(servers_elsewhere)
{
	static const char *const tunnels[] = { "dsr_forward tunnel", NULL };

	NEED_NET_FIXTURE(&fixture, &elsewhere);
	run.beyond = true;
	net_fixture_make_route(&fixture);
	EXPECT_AND_MEND(
	    { NET_FIXTURE_HOME,
		text("warning: server 0 (%s) does not answer ARP for %s, the "
		     "route there leads through eth1: ",
		    net_fixture_far4(0), net_fixture_far4(0)) },
	    { NET_FIXTURE_HOME,
		text("warning: server 1 (%s) does not answer NDP for %s, the "
		     "route there leads through eth1: ",
		    net_fixture_far6(1), net_fixture_far6(1)) },
	    { NET_FIXTURE_HOME, "error: no server answers" });
	ck_assert_ptr_nonnull(
	    strstr(child_err(&run.child), "; fix: dsr_forward tunnel\n"));
	is_fine(check_with(NULL, tunnels));
	run.beyond = false;
	net_fixture_down(&fixture);
}
END_TEST

/* A server's own address is not to be taken from it for dsr_ip. */
START_TEST(addresses_that_are_taken)
{
	static const char *const servers_ip[] = { "dsr_ip 192.168.100.3",
		NULL };

	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT,
	    "addr add " NET_FIXTURE_VIP4 "/32 dev eth0\n"
	    "addr add " NET_FIXTURE_VIP6 "/128 dev eth0 nodad\n"
	    "addr add " NET_FIXTURE_DSR_IP4 "/32 dev eth0\n"
	    "addr add " NET_FIXTURE_DSR_IP6 "/128 dev eth0 nodad\n");
	MEND_IN(check_with(NULL, own_ips),
	    { NET_FIXTURE_CLIENT,
		"error: VIP " NET_FIXTURE_VIP4 " is taken: 02:00:00:64:00:01" },
	    { NET_FIXTURE_CLIENT,
		"error: VIP " NET_FIXTURE_VIP6 " is taken: 02:00:00:64:00:01" },
	    { NET_FIXTURE_CLIENT,
		"error: dsr_ip " NET_FIXTURE_DSR_IP4
		" is taken: 02:00:00:64:00:01" },
	    { NET_FIXTURE_CLIENT,
		"error: dsr_ip " NET_FIXTURE_DSR_IP6
		" is taken: 02:00:00:64:00:01" });
	MEND_IN(check_with(NULL, servers_ip),
	    { NET_FIXTURE_HOME,
		"error: dsr_ip 192.168.100.3 is taken: server 0" });
	ck_assert_ptr_null(strstr(child_err(&run.child), "fix:"));
	net_fixture_down(&fixture);
}
END_TEST

/* Another director has the VIPs, which may be meant; the one of this machine is
 * no other. */
START_TEST(another_director)
{
	static const char *const shared[] = { "no dsr_announce", NULL };
	const char *at = NET_FIXTURE_VIP4 ":0,[" NET_FIXTURE_VIP6 "]:0";
	struct dsrpen other;

	NEED_DSR_OF_OURS("--check");
	NEED_NET_FIXTURE(&fixture, &pair);
	dsrpen_up(&other, &fixture, NET_FIXTURE_DIRECTOR2, NET_FIXTURE_VIP4, at,
	    net_fixture_server4(0), NULL);
	EXPECT_AND_MEND(
	    { NET_FIXTURE_HOME,
		"error: VIP " NET_FIXTURE_VIP4 " is taken: 02:00:00:64:00:07" },
	    { NET_FIXTURE_HOME,
		"error: VIP " NET_FIXTURE_VIP6
		" is taken: 02:00:00:64:00:07" });
	MEND_IN(check_with(NULL, shared),
	    { NET_FIXTURE_HOME,
		"warning: VIP " NET_FIXTURE_VIP4
		" is taken: 02:00:00:64:00:07" },
	    { NET_FIXTURE_HOME,
		"warning: VIP " NET_FIXTURE_VIP6
		" is taken: 02:00:00:64:00:07" });
	dsrpen_down(&other);
	/* XDP would take the answers */
	dsrpen_up(&other, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-O", "dsr_link packet", at, net_fixture_server4(0), NULL);
	is_fine(check());
	dsrpen_down(&other);
	net_fixture_down(&fixture);
}
END_TEST

/* One on this machine that takes all frames, unless it is the one that is
 * asked about. */
START_TEST(another_director_here)
{
	struct dsrpen other;

	NEED_DSR_OF_OURS("--check");
	NEED_NET_FIXTURE(&fixture, &two);
	dsrpen_up(&other, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4_B,
	    NET_FIXTURE_VIP4_B ":0", net_fixture_server4(0), NULL);
	if (strstr(dsrpen_ask(&other, &fixture, "dsr"), "\nlink xdp\n") == NULL)
		SKIP("no link by XDP");
	EXPECT_AND_MEND({ NET_FIXTURE_HOME,
	    text("error: process %d takes all frames of eth0 by XDP: two "
		 "directors on one interface both need dsr_link packet; fix: "
		 "dsr_link packet",
		(int)other.child.pid) });
	ck_assert_str_eq(
	    dsrpen_ask(&other, &fixture, "listen " NET_FIXTURE_VIP4 ":80"),
	    NET_FIXTURE_VIP4 ":80\n");
	EXPECT_AND_MEND({ NET_FIXTURE_HOME,
	    "warning: an XDP program, perhaps of a running director" });
	dsrpen_down(&other);
	/* by packets: XDP would take its frames */
	dsrpen_up(&other, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4_B,
	    "-O", "dsr_link packet", NET_FIXTURE_VIP4_B ":0",
	    net_fixture_server4(0), NULL);
	ck_assert_ptr_nonnull(inspectrun_line(
	    check(), "note: frames are moved by packet; not by xdp: "));
	dsrpen_down(&other);
	net_fixture_down(&fixture);
}
END_TEST

static bool
has_ended_while_asked(struct net_fixture_tap *client)
{
	uint8_t mac[6];

	(void)net_fixture_who_has(
	    client, NET_FIXTURE_CLIENT, NET_FIXTURE_VIP4, mac);
	return child_has_ended(&run.child);
}

/* A client asks for the VIP meanwhile, so that the tag is known. */
START_TEST(a_tagged_segment)
{
	struct net_fixture_tap client;

	NEED_NET_FIXTURE(&fixture, &tagged);
	net_fixture_tap(&client, &fixture, NET_FIXTURE_CLIENT, "eth0");
	inspectrun_start(&run, NULL, NULL);
	WAIT_FOR(has_ended_while_asked(&client), 20000);
	is_fine(child_err(&run.child));
	net_fixture_tap_close(&client);
	net_fixture_down(&fixture);
}
END_TEST

/* A datagram through the director, or two seconds without it. */
static bool
is_passed_on(int near, int far)
{
	long long since = wait_now_ms();
	char byte;

	ck_assert_int_eq(send(near, "x", 1, 0), 1);
	while (recv(far, &byte, 1, MSG_DONTWAIT) != 1)
		if (wait_now_ms() - since > wait_scaled(2000))
			return false;
	return true;
}

/* A director that has no right to XDP serves; root, who has it, asks. */
START_TEST(a_director_that_serves)
{
	unsigned passed = 0, lost = 0;
	struct dsrpen pen;
	int near, far;

	NEED_DSR_OF_OURS("--check");
	NEED_NET_FIXTURE(&fixture, &two);
	far = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_DGRAM, NET_FIXTURE_VIP4, 7007);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-O",
	    "dsr_link packet", NET_FIXTURE_VIP4 ":0,[" NET_FIXTURE_VIP6 "]:0",
	    net_fixture_server4(0), NULL);
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, NET_FIXTURE_VIP4, 7007);
	ck_assert(is_passed_on(near, far));
	inspectrun_start(&run, NULL, NULL);
	while (!child_has_ended(&run.child))
		if (is_passed_on(near, far))
			passed++;
		else
			lost++;
	is_fine(child_err(&run.child));
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_gt(passed, 0);
	close(near);
	close(far);
	dsrpen_down(&pen);
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
	SUITE_ADD(s, servers, 60);
	SUITE_ADD(s, servers_elsewhere, 60);
	SUITE_ADD(s, addresses_that_are_taken, 60);
	SUITE_ADD(s, another_director, 60);
	SUITE_ADD(s, another_director_here, 60);
	SUITE_ADD(s, a_tagged_segment, 30);
	SUITE_ADD(s, a_director_that_serves, 30);
	SUITE_ADD(s, starting_tells_the_worst, 30);
	return s;
}
