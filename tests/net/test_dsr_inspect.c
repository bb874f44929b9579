/* test_dsr_inspect.c: what --check finds around a director, each thing
 * provoked, and gone when the command that it prints was carried out. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/inspectrun.h"
#include "support/netrig.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct netrig_options two = { .servers = 2 };
static const struct netrig_options pair = { .servers = 2,
	.two_directors = true };
static const struct netrig_options tagged = { .servers = 2, .vlan = 100 };
static const struct netrig_options elsewhere = { .servers = 2, .beyond = 2 };
static struct netrig rig;

#define OF_3 "(192.168.100.3, 02:00:00:64:00:03)"
#define OF_4 "(fd00:64::4, 02:00:00:64:00:04)"
static struct inspectrun run = { .rig = &rig };

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

static const char *const own_ips[] = { "dsr_ip " NETRIG_DSR_IP4,
	"dsr_ip " NETRIG_DSR_IP6, NULL };

/* ---- the machine ---- */

static const char *
state_of(enum netrig_place where)
{
	return text("%s%s%s",
	    netrig_run(&rig, where, 10000, "ip", "-d", "link", NULL),
	    netrig_run(&rig, where, 10000, "ip", "maddr", NULL),
	    netrig_run(&rig, where, 10000, "ip", "addr", NULL));
}

START_TEST(nothing_is_wrong)
{
	const char *before;

	NEED_NETRIG(&rig, &two);
	before = state_of(NETRIG_DIRECTOR);
	is_fine(check());
	ck_assert_str_eq(state_of(NETRIG_DIRECTOR), before);
	/* Who has been asked knows nobody that it did not know. */
	ck_assert_str_eq(
	    netrig_run(&rig, NETRIG_SERVER, 10000, "ip", "neigh", NULL), "");
	ck_assert_str_eq(child_out(&run.child), "");
	is_fine(check_with(NULL, own_ips));
	netrig_down(&rig);
}
END_TEST

START_TEST(the_interface)
{
	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "link set eth0 down\nlink set eth0 addrgenmode none\n");
	EXPECT_AND_MEND({ NETRIG_DIRECTOR, "error: interface eth0 is down" });
	netrig_ip(&rig, NETRIG_SWITCH, "link set d1 down\n");
	WAIT_FOR(inspectrun_line(
		     check(), "error: interface eth0 has no carrier") != NULL,
	    10000);
	ck_assert_int_eq(run.child.status, 1);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "link set eth0 mtu 1400\nlink set eth0 promisc on\n");
	netrig_ip(&rig, NETRIG_SWITCH, "link set d1 up\n");
	WAIT_FOR(strstr(check(), "no carrier") == NULL, 20000);
	MEND_IN(child_err(&run.child),
	    { NETRIG_DIRECTOR, "warning: interface eth0 has an MTU of 1400" },
	    { NETRIG_DIRECTOR, "warning: interface eth0 is promiscuous" });
	is_fine(check());
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "link set eth0 down\nlink set eth0 name eth1\n");
	EXPECT_AND_MEND({ NETRIG_HOME, "error: no interface eth0" });
	netrig_down(&rig);
}
END_TEST

/* An address with a label is one of the interface's, too. */
START_TEST(own_addresses)
{
	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0 label eth0:1\n"
	    "addr add fe80::99/64 dev eth0 nodad\n"
	    "addr add fd00:64::99/64 dev eth0 nodad\n"
	    "addr add " NETRIG_VIP6 "/64 dev lo nodad\n"
	    "addr add " NETRIG_DSR_IP4 "/32 dev lo\n"
	    "addr add 192.168.100.3/32 dev lo\n"
	    "route add local 192.168.100.8/29 dev lo\n");
	MEND_IN(check_with(NULL, own_ips),
	    { NETRIG_DIRECTOR,
		"warning: interface eth0 has an IPv4 address, "
		"192.168.100.99:" },
	    { NETRIG_DIRECTOR, "warning: interface eth0 has an IPv6 address" },
	    { NETRIG_DIRECTOR, "error: VIP " NETRIG_VIP6 " is an address of" },
	    { NETRIG_DIRECTOR,
		"error: dsr_ip " NETRIG_DSR_IP4 " is an address of" },
	    { NETRIG_DIRECTOR, "error: a local route makes " NETRIG_VIP4 },
	    { NETRIG_HOME, "error: server 0 (192.168.100.3) is this machine" });
	EXPECT_AND_MEND(
	    { NETRIG_HOME, "error: server 0 (192.168.100.3) is this machine" });
	netrig_down(&rig);
}
END_TEST

START_TEST(forwarding)
{
	NEED_NETRIG(&rig, &two);
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv4/ip_forward", "1");
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv6/conf/all/forwarding", "1");
	EXPECT_AND_MEND({ NETRIG_DIRECTOR,
			    "warning: the system forwards IPv4 that comes "
			    "through eth0" },
	    { NETRIG_HOME,
		"warning: the system forwards IPv6 that comes through eth0" });
	netrig_set(&rig, NETRIG_DIRECTOR, "ipv4/conf/eth0/forwarding", "1");
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "link add out type veth peer name far\nlink set out up\n"
	    "link set far up\naddr add 10.9.9.1/24 dev out\n"
	    "route add default via 10.9.9.2\n"
	    "addr add fd09::1/64 dev out nodad\n"
	    "route add default via fd09::2\n");
	EXPECT_AND_MEND({ NETRIG_DIRECTOR,
			    "error: the system forwards IPv4 that comes "
			    "through eth0" },
	    { NETRIG_DIRECTOR,
		"error: the system forwards IPv6 that comes through eth0" });
	is_fine(check());
	netrig_down(&rig);
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
	NEED_NETRIG(&rig, &two);
	netrig_ip(
	    &rig, NETRIG_DIRECTOR, "addr add 192.168.100.99/24 dev eth0\n");
	report = check_with(bare, NULL);
	MEND_IN(report, { NETRIG_HOME, "error: no right to raw sockets" },
	    { NETRIG_HOME, "warning: interface eth0 has an" });
	ck_assert_ptr_nonnull(
	    strstr(report, "; fix: setcap cap_net_raw+ep $(command -v pen)\n"));
	ck_assert_ptr_null(strstr(report, "frames are moved"));
	netrig_down(&rig);
}
END_TEST

/* ---- the segment ---- */

/* Servers answer for a VIP: they have it on lo, but are not told to be silent,
 * or they have it on eth0. */
START_TEST(servers)
{
	static const char *const tunnels[] = { "dsr_forward tunnel", NULL };

	NEED_NETRIG(&rig, &two);
	netrig_set(&rig, NETRIG_SERVER, "ipv4/conf/all/arp_ignore", "0");
	netrig_ip(&rig, NETRIG_SERVER + 1,
	    "addr add " NETRIG_VIP6 "/64 dev eth0 nodad\n");
	netrig_ip(&rig, NETRIG_CLIENT,
	    "addr add 192.168.100.3/32 dev eth0\n"
	    "addr add fd00:64::4/128 dev eth0 nodad\n");
	EXPECT_AND_MEND(
	    { NETRIG_SERVER,
		"error: server 0 " OF_3 " answers for VIP " NETRIG_VIP4 },
	    { NETRIG_SERVER + 1,
		"error: server 1 " OF_4 " answers for VIP " NETRIG_VIP6 },
	    { NETRIG_CLIENT,
		"warning: server 0 (192.168.100.3) is 2 machines" },
	    { NETRIG_CLIENT, "warning: server 1 (fd00:64::4) is 2 machines" });
	ck_assert_ptr_nonnull(
	    strstr(netrig_run(&rig, NETRIG_SERVER + 1, 10000, "ip", "addr",
		       "show", "dev", "lo", NULL),
		NETRIG_VIP6 "/128"));
	netrig_ip(&rig, NETRIG_SERVER + 1, "link set eth0 down\n");
	netrig_ip(&rig, NETRIG_SERVER,
	    "addr add fd00:64::4/128 dev eth0 nodad\n"
	    "addr add " NETRIG_VIP4 "/24 dev eth0\n");
	EXPECT_AND_MEND(
	    { NETRIG_SERVER,
		"error: server 0 " OF_3 " answers for VIP " NETRIG_VIP4 },
	    { NETRIG_HOME,
		"warning: servers 0 (192.168.100.3) and 1 (fd00:64::4)"
		" have one hardware address, 02:00:00:64:00:03:" });
	netrig_ip(&rig, NETRIG_SERVER, "link set eth0 down\n");
	EXPECT_AND_MEND(
	    { NETRIG_HOME,
		"warning: server 0 (192.168.100.3) does not answer ARP" },
	    { NETRIG_HOME,
		"warning: server 1 (fd00:64::4) does not answer NDP" },
	    { NETRIG_HOME, "error: no server answers" });
	/* those that get tunnels may be elsewhere */
	is_fine(check_with(NULL, tunnels));
	netrig_down(&rig);
}
END_TEST

/* The director has another interface, which leads to them. */
START_TEST(servers_elsewhere)
{
	static const char *const tunnels[] = { "dsr_forward tunnel", NULL };

	NEED_NETRIG(&rig, &elsewhere);
	run.beyond = true;
	netrig_make_route(&rig);
	EXPECT_AND_MEND(
	    { NETRIG_HOME,
		text("warning: server 0 (%s) does not answer ARP for %s, the "
		     "route there leads through eth1: ",
		    netrig_far4(0), netrig_far4(0)) },
	    { NETRIG_HOME,
		text("warning: server 1 (%s) does not answer NDP for %s, the "
		     "route there leads through eth1: ",
		    netrig_far6(1), netrig_far6(1)) },
	    { NETRIG_HOME, "error: no server answers" });
	ck_assert_ptr_nonnull(
	    strstr(child_err(&run.child), "; fix: dsr_forward tunnel\n"));
	is_fine(check_with(NULL, tunnels));
	run.beyond = false;
	netrig_down(&rig);
}
END_TEST

/* A server's own address is not to be taken from it for dsr_ip. */
START_TEST(addresses_that_are_taken)
{
	static const char *const servers_ip[] = { "dsr_ip 192.168.100.3",
		NULL };

	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_CLIENT,
	    "addr add " NETRIG_VIP4 "/32 dev eth0\n"
	    "addr add " NETRIG_VIP6 "/128 dev eth0 nodad\n"
	    "addr add " NETRIG_DSR_IP4 "/32 dev eth0\n"
	    "addr add " NETRIG_DSR_IP6 "/128 dev eth0 nodad\n");
	MEND_IN(check_with(NULL, own_ips),
	    { NETRIG_CLIENT,
		"error: VIP " NETRIG_VIP4 " is taken: 02:00:00:64:00:01" },
	    { NETRIG_CLIENT,
		"error: VIP " NETRIG_VIP6 " is taken: 02:00:00:64:00:01" },
	    { NETRIG_CLIENT,
		"error: dsr_ip " NETRIG_DSR_IP4
		" is taken: 02:00:00:64:00:01" },
	    { NETRIG_CLIENT,
		"error: dsr_ip " NETRIG_DSR_IP6
		" is taken: 02:00:00:64:00:01" });
	MEND_IN(check_with(NULL, servers_ip),
	    { NETRIG_HOME, "error: dsr_ip 192.168.100.3 is taken: server 0" });
	ck_assert_ptr_null(strstr(child_err(&run.child), "fix:"));
	netrig_down(&rig);
}
END_TEST

/* Another director has the VIPs, which may be meant; the one of this machine is
 * no other. */
START_TEST(another_director)
{
	static const char *const shared[] = { "no dsr_announce", NULL };
	const char *at = NETRIG_VIP4 ":0,[" NETRIG_VIP6 "]:0";
	struct dsrpen other;

	NEED_DSR_OF_OURS("--check");
	NEED_NETRIG(&rig, &pair);
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR2, NETRIG_VIP4, at,
	    netrig_server4(0), NULL);
	EXPECT_AND_MEND(
	    { NETRIG_HOME,
		"error: VIP " NETRIG_VIP4 " is taken: 02:00:00:64:00:07" },
	    { NETRIG_HOME,
		"error: VIP " NETRIG_VIP6 " is taken: 02:00:00:64:00:07" });
	MEND_IN(check_with(NULL, shared),
	    { NETRIG_HOME,
		"warning: VIP " NETRIG_VIP4 " is taken: 02:00:00:64:00:07" },
	    { NETRIG_HOME,
		"warning: VIP " NETRIG_VIP6 " is taken: 02:00:00:64:00:07" });
	dsrpen_down(&other);
	/* XDP would take the answers */
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR, NETRIG_VIP4, "-O",
	    "dsr_link packet", at, netrig_server4(0), NULL);
	is_fine(check());
	dsrpen_down(&other);
	netrig_down(&rig);
}
END_TEST

/* One on this machine that takes all frames, unless it is the one that is
 * asked about. */
START_TEST(another_director_here)
{
	struct dsrpen other;

	NEED_DSR_OF_OURS("--check");
	NEED_NETRIG(&rig, &two);
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR, NETRIG_VIP4_B,
	    NETRIG_VIP4_B ":0", netrig_server4(0), NULL);
	if (strstr(dsrpen_ask(&other, &rig, "dsr"), "\nlink xdp\n") == NULL)
		SKIP("no link by XDP");
	EXPECT_AND_MEND({ NETRIG_HOME,
	    text("error: process %d takes all frames of eth0 by XDP: two "
		 "directors on one interface both need dsr_link packet; fix: "
		 "dsr_link packet",
		(int)other.child.pid) });
	ck_assert_str_eq(dsrpen_ask(&other, &rig, "listen " NETRIG_VIP4 ":80"),
	    NETRIG_VIP4 ":80\n");
	EXPECT_AND_MEND({ NETRIG_HOME,
	    "warning: an XDP program, perhaps of a running director" });
	dsrpen_down(&other);
	/* by packets: XDP would take its frames */
	dsrpen_up(&other, &rig, NETRIG_DIRECTOR, NETRIG_VIP4_B, "-O",
	    "dsr_link packet", NETRIG_VIP4_B ":0", netrig_server4(0), NULL);
	ck_assert_ptr_nonnull(inspectrun_line(
	    check(), "note: frames are moved by packet; not by xdp: "));
	dsrpen_down(&other);
	netrig_down(&rig);
}
END_TEST

static bool
has_ended_while_asked(struct netrig_tap *client)
{
	uint8_t mac[6];

	(void)netrig_who_has(client, NETRIG_CLIENT, NETRIG_VIP4, mac);
	return child_has_ended(&run.child);
}

/* A client asks for the VIP meanwhile, so that the tag is known. */
START_TEST(a_tagged_segment)
{
	struct netrig_tap client;

	NEED_NETRIG(&rig, &tagged);
	netrig_tap(&client, &rig, NETRIG_CLIENT, "eth0");
	inspectrun_start(&run, NULL, NULL);
	WAIT_FOR(has_ended_while_asked(&client), 20000);
	is_fine(child_err(&run.child));
	netrig_tap_close(&client);
	netrig_down(&rig);
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
	NEED_NETRIG(&rig, &two);
	far = netrig_listen(&rig, NETRIG_SERVER, SOCK_DGRAM, NETRIG_VIP4, 7007);
	dsrpen_up(&pen, &rig, NETRIG_DIRECTOR, NETRIG_VIP4, "-O",
	    "dsr_link packet", NETRIG_VIP4 ":0,[" NETRIG_VIP6 "]:0",
	    netrig_server4(0), NULL);
	near = netrig_dial(&rig, NETRIG_CLIENT, SOCK_DGRAM, NETRIG_VIP4, 7007);
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
	netrig_down(&rig);
}
END_TEST

/* ---- at the start ---- */

START_TEST(starting_tells_the_worst)
{
	struct dsrpen pen;

	NEED_DSR_OF_OURS("warnings");
	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr add 192.168.100.99/24 dev eth0\n"
	    "link set eth0 promisc on\n");
	dsrpen_up(&pen, &rig, NETRIG_DIRECTOR, NETRIG_VIP4, NETRIG_VIP4 ":0",
	    netrig_server4(0), NULL);
	ck_assert(child_has_said(&pen.child,
	    "interface eth0 has an IPv4 address, 192.168.100.99: "));
	ck_assert(
	    child_has_said(&pen.child, "fix=\"ip -4 addr flush dev eth0\""));
	ck_assert(!child_has_said(&pen.child, "promiscuous"));
	dsrpen_down(&pen);
	netrig_down(&rig);
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
