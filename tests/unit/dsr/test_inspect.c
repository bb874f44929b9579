/* test_inspect.c: what is said of a machine, and with which command. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/inspect/inspect_finding.h"
#include "support/suite.h"
#include "unit/dsr/findings.h"

static struct inspect_machine m;
static struct inspect_request w;
static struct peer vip[2];
static struct inspect_server server[2];
static struct inspect_address address[4];
static struct inspect_route route[2];

/* All is well: one VIP of each family, two servers. */
static void
setup(void)
{
	memset(&m, 0, sizeof(m));
	memset(&w, 0, sizeof(w));
	memset(address, 0, sizeof(address));
	memset(route, 0, sizeof(route));
	m.exists = true;
	m.mtu = 1500;
	m.address = address;
	m.route = route;
	vip[0] = ip("192.0.2.10");
	vip[1] = ip("2001:db8::10");
	server[0] = (struct inspect_server){ ip("192.0.2.3"), 0, "a" };
	server[1] = (struct inspect_server){ ip("192.0.2.4"), 1, "b" };
	w.interface = "eth0";
	w.vip = vip;
	w.vips = 2;
	w.server = server;
	w.servers = 2;
}

/* How many findings there are. */
static unsigned
judge(void)
{
	found_n = 0;
	inspect_judge_machine(&m, &w, hear, found);
	return found_n;
}

/* The one finding, and the command for it. */
static void
expect(
    enum finding_level level, bool at_start, const char *what, const char *fix)
{
	ck_assert_uint_eq(judge(), 1);
	ck_assert_int_eq(found[0].level, level);
	ck_assert_int_eq(found[0].at_start, at_start);
	ck_assert_msg(strncmp(found[0].what, what, strlen(what)) == 0, "%s",
	    found[0].what);
	ck_assert_str_eq(found[0].fix, fix);
}

static void
add(const char *interface, const char *words, unsigned prefix)
{
	struct inspect_address *a = &address[m.addresses++];

	strcpy(a->interface, interface);
	a->ip = ip(words);
	a->prefix = prefix;
}

START_TEST(a_machine_that_is_right)
{
	ck_assert_uint_eq(judge(), 0);
	add("lo", "127.0.0.1", 8);
	add("lo", "::1", 128);
	add("eth1", "192.0.2.99", 24);
	m.offloads = INSPECT_GRO | INSPECT_RXVLAN;
	m.lacks = INSPECT_ADMIN | INSPECT_BPF;
	route[0].way = route[1].way = INSPECT_ROUTE;
	w.link = "packet";
	ck_assert_uint_eq(judge(), 0);
}
END_TEST

START_TEST(an_interface)
{
	m.down = true;
	expect(FINDING_ERROR, true, "interface eth0 is down",
	    "ip link set eth0 up");
	m.down = false;
	m.no_carrier = true;
	expect(FINDING_ERROR, true, "interface eth0 has no carrier", "");
	m.promiscuous = m.no_ethernet = true;
	expect(FINDING_ERROR, false, "interface eth0 is not Ethernet", "");
	m.exists = false;
	expect(FINDING_ERROR, false, "no interface eth0", "ip link");
}
END_TEST

START_TEST(an_mtu)
{
	m.mtu = 1499;
	expect(FINDING_WARNING, false, "interface eth0 has an MTU of 1499",
	    "ip link set eth0 mtu 1500");
	m.mtu = 1279;
	expect(FINDING_ERROR, true, "interface eth0 has an MTU of 1279",
	    "ip link set eth0 mtu 1500");
	w.vips = 1;
	expect(FINDING_WARNING, false, "interface eth0 has an MTU of 1279",
	    "ip link set eth0 mtu 1500");
	m.mtu = 9000;
	ck_assert_uint_eq(judge(), 0);
	m.mtu = 0; /* not known */
	ck_assert_uint_eq(judge(), 0);
}
END_TEST

START_TEST(modes_of_an_interface)
{
	m.promiscuous = true;
	expect(FINDING_WARNING, false, "interface eth0 is promiscuous",
	    "ip link set eth0 promisc off");
	m.promiscuous = false;
	m.offloads = INSPECT_LRO;
	expect(FINDING_WARNING, false, "large receive offload of eth0",
	    "ethtool -K eth0 lro off");
	m.offloads = INSPECT_GRO | INSPECT_RXVLAN;
	w.link = "pcap";
	expect(FINDING_WARNING, false, "generic receive offload of eth0",
	    "ethtool -K eth0 gro off");
	w.link = NULL;
	ck_assert_uint_eq(judge(), 0);
	w.fast = LINK_FAST_AUTO;
	expect(FINDING_NOTE, false, "the fast path needs tags in frames",
	    "ethtool -K eth0 rxvlan off");
	/* where it stays as it is */
	w.no_flows = true;
	ck_assert_uint_eq(judge(), 0);
	w.no_flows = false;
	m.xdp = true;
	ck_assert_uint_eq(judge(), 0);
	m.xdp = false;
	m.no_xdp = true;
	ck_assert_uint_eq(judge(), 0);
}
END_TEST

START_TEST(a_fast_path)
{
	m.peer_refuses = true;
	ck_assert_uint_eq(judge(), 0);
	w.fast = LINK_FAST_AUTO;
	ck_assert_uint_eq(judge(), 0);
	w.fast = LINK_FAST_ON;
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect: the veth peer of eth0 drops frames "
	    "that XDP programs send; to run there",
	    "ethtool -K peer gro on");
	strcpy(m.peer, "veth7");
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect: the veth peer of eth0",
	    "ethtool -K veth7 gro on");
	ck_assert_ptr_null(strstr(found[0].what, "to run there"));
	w.link = "packet";
	ck_assert_uint_eq(judge(), 1);
	/* one reason is enough */
	m.xdp = true;
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect: another XDP program", "");
	w.link = "pcap";
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect with dsr_link pcap", "no dsr_link");
	m.xdp = false;
	m.no_xdp = true;
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect: this pen was built without "
	    "libbpf",
	    "./configure --with-libbpf");
	m.no_xdp = m.peer_refuses = false;
	w.link = NULL;
	ck_assert_uint_eq(judge(), 0);
	m.peer_unknown = true;
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect: only since Linux 6.3", "");
	m.peer_unknown = false;
	w.no_flows = true;
	expect(FINDING_WARNING, false,
	    "dsr_fast_path has no effect with dsr_flows 0",
	    "dsr_flows 1000000");
	w.fast = LINK_FAST_AUTO;
	ck_assert_uint_eq(judge(), 0);
}
END_TEST

START_TEST(addresses_of_the_interface)
{
	add("eth0", "192.0.2.99", 24);
	expect(FINDING_WARNING, true,
	    "interface eth0 has an IPv4 address, 192.0.2.99:",
	    "ip -4 addr flush dev eth0");
	add("eth0", "192.0.2.98", 24);
	expect(FINDING_WARNING, true,
	    "interface eth0 has an IPv4 address, 192.0.2.99 and others:",
	    "ip -4 addr flush dev eth0");
	/* none of that family is served */
	w.vip = vip + 1;
	w.vips = 1;
	ck_assert_uint_eq(judge(), 0);
	add("eth0", "fe80::1", 64);
	expect(FINDING_WARNING, true,
	    "interface eth0 has an IPv6 address, fe80::1:",
	    "sysctl -w net.ipv6.conf.eth0.disable_ipv6=1");
	w.interface = "eth0.7";
	strcpy(address[2].interface, w.interface);
	expect(FINDING_WARNING, true,
	    "interface eth0.7 has an IPv6 address, fe80::1:",
	    "sysctl -w net/ipv6/conf/eth0.7/disable_ipv6=1");
}
END_TEST

#define MACVLAN                                               \
	"ip link add pen0 link eth0 type macvlan mode bridge; " \
	"ip link set pen0 addrgenmode none; ip link set pen0 up"

/* No command cuts the operator off: the interface has the only default route,
 * or the address that the session came to. */
START_TEST(addresses_that_are_needed)
{
	add("eth0", "192.0.2.99", 24);
	m.session = ip("192.0.2.98");
	strcpy(m.way[0], "eth1");
	expect(FINDING_WARNING, true, "interface eth0 has an IPv4 address",
	    "ip -4 addr flush dev eth0");
	strcpy(m.way[0], "eth0");
	expect(FINDING_WARNING, true,
	    "interface eth0 has an IPv4 address, 192.0.2.99: the kernel would "
	    "answer clients as well; as this host is reached by it, set dsr_if "
	    "pen0",
	    MACVLAN);
	m.way[0][0] = '\0';
	m.session = ip("192.0.2.99");
	expect(FINDING_WARNING, true, "interface eth0 has an IPv4 address",
	    MACVLAN);
	address[0].ip = m.session = ip("2001:db8::99");
	expect(FINDING_WARNING, true, "interface eth0 has an IPv6 address",
	    MACVLAN);
	m.addresses = 0;
	m.forwards[1] = true;
	strcpy(m.way[1], "eth0");
	expect(FINDING_WARNING, true, "the kernel forwards IPv6",
	    MACVLAN "; sysctl -w net.ipv6.conf.pen0.disable_ipv6=1");
}
END_TEST

START_TEST(an_address_that_is_needed)
{
	w.vips = 1;
	add("eth1", "192.0.2.10", 24);
	strcpy(m.way[0], "eth1");
	expect(FINDING_ERROR, true, "VIP 192.0.2.10 is an address of", "");
	add("eth1", "192.0.2.11", 24);
	expect(FINDING_ERROR, true, "VIP 192.0.2.10 is an address of",
	    "ip addr del 192.0.2.10/24 dev eth1");
	m.session = ip("192.0.2.10");
	expect(FINDING_ERROR, true,
	    "VIP 192.0.2.10 is an address of this host's eth1: the kernel also "
	    "answers for it; as this host is reached by it, give eth1 another",
	    "");
	vip[0] = ip("192.0.2.20");
	w.own[0] = m.session;
	expect(FINDING_ERROR, true, "dsr_ip 192.0.2.10 is an address of", "");
}
END_TEST

START_TEST(addresses_that_should_be_elsewhere)
{
	add("lo", "192.0.2.10", 32);
	route[0].way = INSPECT_LOCAL;
	expect(FINDING_ERROR, true,
	    "VIP 192.0.2.10 is an address of this host's lo",
	    "ip addr del 192.0.2.10/32 dev lo");
	m.addresses = 0;
	route[0].net = ip("192.0.2.0");
	route[0].prefix = 28;
	expect(FINDING_ERROR, true, "a local route makes 192.0.2.10",
	    "ip route del local 192.0.2.0/28");
	route[0].way = INSPECT_NO_ROUTE;
	add("eth1", "2001:db8::10", 64);
	expect(FINDING_ERROR, true,
	    "VIP 2001:db8::10 is an address of this host's eth1",
	    "ip addr del 2001:db8::10/64 dev eth1");
	m.addresses = 0;
	w.own[0] = ip("192.0.2.2");
	ck_assert_uint_eq(judge(), 0);
	add("eth1", "192.0.2.2", 24);
	expect(FINDING_ERROR, true,
	    "dsr_ip 192.0.2.2 is an address of this host's eth1",
	    "ip addr del 192.0.2.2/24 dev eth1");
	m.addresses = 0;
	add("eth1", "192.0.2.4", 24);
	expect(FINDING_ERROR, false, "server 1 (b) is this host", "");
	m.addresses = 0;
	server[1].ip = vip[0];
	expect(FINDING_ERROR, false, "server 1 (b) is a VIP", "");
}
END_TEST

START_TEST(forwarding)
{
	m.forwards[0] = true;
	expect(FINDING_WARNING, true,
	    "the kernel forwards IPv4 that arrives on eth0: it may report",
	    "sysctl -w net.ipv4.conf.eth0.forwarding=0");
	route[1].way = INSPECT_ROUTE; /* of the other family */
	expect(FINDING_WARNING, true,
	    "the kernel forwards IPv4 that arrives on eth0: it may report",
	    "sysctl -w net.ipv4.conf.eth0.forwarding=0");
	route[0].way = INSPECT_ROUTE;
	expect(FINDING_ERROR, true,
	    "the kernel forwards IPv4 that arrives on eth0: it also forwards",
	    "sysctl -w net.ipv4.conf.eth0.forwarding=0");
	m.forwards[0] = false;
	m.forwards[1] = true;
	expect(FINDING_ERROR, true,
	    "the kernel forwards IPv6 that arrives on eth0: it also forwards",
	    "sysctl -w net.ipv6.conf.eth0.disable_ipv6=1");
	m.ip6_off = true;
	ck_assert_uint_eq(judge(), 0);
	m.ip6_off = false;
	w.vips = 1;
	ck_assert_uint_eq(judge(), 0);
}
END_TEST

START_TEST(a_kind_of_link_that_does_not_exist)
{
	w.link = "xdp";
	m.no_link = true;
	expect(FINDING_ERROR, false, "this build has no dsr_link xdp",
	    "no dsr_link");
}
END_TEST

START_TEST(rights)
{
	m.lacks = INSPECT_RAW | INSPECT_ADMIN | INSPECT_BPF;
	expect(FINDING_ERROR, false, "no right to raw sockets",
	    "setcap cap_net_raw+ep $(command -v pen)");
	m.lacks = INSPECT_BPF;
	ck_assert_uint_eq(judge(), 0);
	w.fast = LINK_FAST_ON;
	expect(FINDING_ERROR, false,
	    "no right to load an XDP program (CAP_BPF)",
	    "setcap cap_net_raw,cap_net_admin,cap_bpf+ep $(command -v pen)");
}
END_TEST

/* This machine, whatever it is, can be looked at without rights. */
START_TEST(looking)
{
	struct inspect_machine here;
	unsigned i, own = 0;

	w.interface = "lo";
	vip[0] = ip("127.0.0.1");
	ck_assert_int_eq(inspect_machine_read(&here, &w), 0);
	ck_assert(here.exists);
	ck_assert(here.no_ethernet);
	for (i = 0; i < here.addresses; i++)
		own += strcmp(here.address[i].interface, "lo") == 0 &&
		    here.address[i].prefix == 8 &&
		    who_has_same_ip(&here.address[i].ip, &vip[0]);
	if (!here.down) {
		ck_assert_uint_eq(own, 1);
#ifdef HAVE_LINK_PACKET
		ck_assert_int_eq(here.route[0].way, INSPECT_LOCAL);
#endif
	}
	inspect_machine_free(&here);
	w.interface = "none";
	ck_assert_int_eq(inspect_machine_read(&here, &w), 0);
	ck_assert(!here.exists);
	inspect_machine_free(&here);
}
END_TEST

SUITE(test_inspect)
{
	Suite *s = suite_create("inspect");
	TCase *c = tcase_create("machine");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, a_machine_that_is_right);
	tcase_add_test(c, an_interface);
	tcase_add_test(c, an_mtu);
	tcase_add_test(c, modes_of_an_interface);
	tcase_add_test(c, a_fast_path);
	tcase_add_test(c, addresses_of_the_interface);
	tcase_add_test(c, addresses_that_are_needed);
	tcase_add_test(c, an_address_that_is_needed);
	tcase_add_test(c, addresses_that_should_be_elsewhere);
	tcase_add_test(c, forwarding);
	tcase_add_test(c, a_kind_of_link_that_does_not_exist);
	tcase_add_test(c, rights);
	tcase_add_test(c, looking);
	suite_add_tcase(s, c);
	return s;
}
