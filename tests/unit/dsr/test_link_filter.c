/* test_link_filter.c: the program for the kernel, run by the kernel on the
 * datagrams of a pair of sockets, which needs no privileges. */
#include "config.h"

#include <check.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "dsr/link/link_filter.h"
#include "support/suite.h"

static const struct mac ours = { { 2, 0, 0, 0xaa, 0xbb, 0xcc } };
static int ends[2];
static struct link_program program;
static struct peer vip[3000];
static struct link_net net[2000];
static struct link_filter filter = { .address = vip, .net = net };
static unsigned char frame[128];

static void
add(const char *address)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, address, 80), 0);
	peer_from_addr(&vip[filter.count++], &a);
}

static void
add_net(const char *address, unsigned bits)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, address, 0), 0);
	peer_from_addr(&net[filter.nets].ip, &a);
	net[filter.nets++].bits = (uint8_t)bits;
}

static void
attach(void)
{
	struct sock_fprog s = { .len = (unsigned short)program.count,
		.filter = (void *)program.at };

	ck_assert_int_eq(
	    setsockopt(ends[1], SOL_SOCKET, SO_ATTACH_FILTER, &s, sizeof(s)),
	    0);
}

static void
up(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	filter.count = filter.nets = 0;
	add("192.168.100.10");
	add("2001:db8::10");
	add("192.168.100.11");
	add("2001:db8::1:11");
	ck_assert(link_filter_write(&program, &filter, &ours));
	attach();
}

static void
down(void)
{
	close(ends[0]);
	close(ends[1]);
}

/* Begins a frame to us; returns where its payload goes. */
static unsigned char *
begin(unsigned type, bool tagged)
{
	unsigned char *at = frame + 12;

	memset(frame, 0, sizeof(frame));
	memcpy(frame, ours.byte, 6);
	if (tagged) {
		at[0] = 0x81;
		at[3] = 5;
		at += 4;
	}
	at[0] = (unsigned char)(type >> 8);
	at[1] = (unsigned char)type;
	return at + 2;
}

static void
ip4(const char *to, bool tagged)
{
	unsigned char *ip = begin(0x0800, tagged);
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, to, 0), 0);
	ip[0] = 0x45;
	ip[9] = 6;
	memcpy(ip + 16, &a.u.in.sin_addr, 4);
}

static void
ip6(const char *to, bool tagged, int next, int type)
{
	unsigned char *ip = begin(0x86dd, tagged);
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, to, 0), 0);
	ip[0] = 0x60;
	ip[6] = (unsigned char)next;
	ip[40] = (unsigned char)type;
	memcpy(ip + 24, &a.u.in6.sin6_addr, 16);
}

static void
arp(int operation, bool tagged)
{
	unsigned char *a = begin(0x0806, tagged);

	a[7] = (unsigned char)operation;
}

/* Whether the first n bytes of the frame come through whole. */
static bool
passes_cut(size_t n)
{
	unsigned char got[256];
	ssize_t r;

	ck_assert_int_eq(send(ends[0], frame, n, 0), (int)n);
	r = recv(ends[1], got, sizeof(got), MSG_DONTWAIT);
	ck_assert(r < 0 || r == (ssize_t)n);
	return r > 0;
}

static bool
passes(void)
{
	return passes_cut(sizeof(frame));
}

START_TEST(addresses_of_ours_and_no_others)
{
	static const struct {
		const char *to;
		bool in;
	} row[] = {
		{ "192.168.100.10", true },
		{ "192.168.100.11", true },
		{ "192.168.100.12", false },
		{ "10.168.100.10", false },
		{ "2001:db8::10", true },
		{ "2001:db8::1:11", true },
		{ "2001:db8::11", false },
		{ "2001:db8::1:10", false },
		{ "2001:db9::10", false },
		{ "2001:db8:1::10", false },
		{ "2001:db8::1:0:0:10", false },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		for (int tagged = 0; tagged < 2; tagged++) {
			if (strchr(row[i].to, ':') != NULL)
				ip6(row[i].to, tagged, 6, 0);
			else
				ip4(row[i].to, tagged);
			ck_assert_msg(passes() == row[i].in, "%s tagged=%d",
			    row[i].to, tagged);
		}
	}
}
END_TEST

/* With the addresses of up(). */
static void
check_nets(const char *const *in, const char *const *out)
{
	ck_assert(link_filter_write(&program, &filter, &ours));
	attach();
	for (int wanted = 0; wanted < 2; wanted++) {
		const char *const *at = wanted ? in : out;

		for (; *at != NULL; at++) {
			for (int tagged = 0; tagged < 2; tagged++) {
				if (strchr(*at, ':') != NULL)
					ip6(*at, tagged, 6, 0);
				else
					ip4(*at, tagged);
				ck_assert_msg(passes() == (wanted != 0),
				    "%s tagged=%d", *at, tagged);
			}
		}
	}
}

START_TEST(nets_of_any_length)
{
	static const char *const in[] = { "192.168.100.10", "10.1.2.3",
		"10.0.0.0", "10.255.255.255", "172.16.4.0", "172.16.7.255",
		"1.2.3.4", "2001:db8::10", "fd00::1",
		"fd00:0:0:0:ffff:ffff:ffff:ffff",
		"fd01:2:3:4:5::", "fd01:2:3:4:5:1fff:ffff:ffff", "fd02::1",
		"fd03::7ff", NULL };
	static const char *const out[] = { "192.168.100.12", "9.255.255.255",
		"11.0.0.0", "172.16.3.255", "172.16.8.0", "1.2.3.5", "1.2.3.3",
		"2001:db8::12", "fd00:0:0:1::", "fcff::1",
		"fd01:2:3:4:5:2000::", "fd01:2:3:4:4:1fff::",
		"fd01:2:3:5:5:1fff::", "fd02::2", "fd02:1::1", "fd03::800",
		"fd03::1:0:0", NULL };

	add_net("10.0.0.0", 8);
	add_net("172.16.4.0", 22);
	add_net("1.2.3.4", 32);
	add_net("fd00::", 64);
	add_net("fd01:2:3:4:5::", 83);
	add_net("fd02::1", 128);
	add_net("fd03::", 117);
	check_nets(in, out);
}
END_TEST

START_TEST(all_of_one_family)
{
	static const char *const in[] = { "0.0.0.0", "255.255.255.255",
		"128.0.0.1", "2001:db8::10", NULL };
	static const char *const out[] = { "::", "2001:db8::12",
		"ffff::", NULL };
	static const char *const in6[] = { "::", "2001:db8::12", "fd00::1",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "192.168.100.10",
		NULL };
	static const char *const out6[] = { "10.0.0.0", "192.168.100.12",
		NULL };

	add_net("0.0.0.0", 0);
	check_nets(in, out);
	filter.nets = 0;
	add_net("::", 0);
	check_nets(in6, out6);
}
END_TEST

START_TEST(too_many_nets_let_all_of_ip_in)
{
	filter.count = 0;
	while (filter.nets < 400)
		add_net(text("2001:db8:%x::", filter.nets), 48);
	ck_assert(link_filter_write(&program, &filter, &ours));
	ck_assert_uint_le(program.count, LINK_PROGRAM_MAX);
	while (filter.nets < 420)
		add_net(text("10.%u.0.0", filter.nets - 400), 16);
	ck_assert(!link_filter_write(&program, &filter, &ours));
	ck_assert_uint_le(program.count, 64);
}
END_TEST

START_TEST(requests_and_replies_of_arp)
{
	for (int tagged = 0; tagged < 2; tagged++) {
		for (int operation = 0; operation < 10; operation++) {
			arp(operation, tagged);
			ck_assert(
			    passes() == (operation == 1 || operation == 2));
		}
	}
}
END_TEST

START_TEST(discovery_of_neighbours)
{
	for (int tagged = 0; tagged < 2; tagged++) {
		for (int type = 0; type < 256; type++) {
			ip6("ff02::1:ff00:10", tagged, 58, type);
			ck_assert_msg(passes() == (type >= 133 && type <= 137),
			    "%d", type);
		}
		ip6("ff02::1", tagged, 17, 135);
		ck_assert(!passes());
	}
}
END_TEST

/* Behind a hop-by-hop header of one option; none but queries. */
START_TEST(queries_for_groups)
{
	for (int tagged = 0; tagged < 2; tagged++) {
		for (int type = 0; type < 256; type++) {
			ip6("ff02::1", tagged, 0, 58);
			frame[14 + 4 * tagged + 48] = (unsigned char)type;
			ck_assert_msg(passes() == (type == 130), "%d", type);
		}
		frame[14 + 4 * tagged + 48] = 130;
		ck_assert(passes_cut((size_t)(14 + 4 * tagged + 49)));
		ck_assert(!passes_cut((size_t)(14 + 4 * tagged + 48)));
		frame[14 + 4 * tagged + 41] = 1; /* more options */
		ck_assert(!passes());
		frame[14 + 4 * tagged + 41] = 0;
		frame[14 + 4 * tagged + 40] = 17;
		ck_assert(!passes());
		/* what is for us passes all the same */
		ip6("2001:db8::10", tagged, 0, 58);
		ck_assert(passes());
	}
}
END_TEST

START_TEST(only_frames_to_us_or_to_groups)
{
	ip4("192.168.100.10", false);
	frame[5] ^= 1;
	ck_assert(!passes());
	frame[5] ^= 1;
	frame[2] ^= 1;
	ck_assert(!passes());
	memset(frame, 0xff, 6);
	ck_assert(passes());
	memset(frame, 0, 6);
	frame[0] = 1;
	ck_assert(passes());
	frame[0] = 2;
	ck_assert(!passes());
}
END_TEST

START_TEST(cut_and_foreign_frames_stay_outside)
{
	ip4("192.168.100.10", false);
	for (size_t n = 1; n < 34; n++)
		ck_assert(!passes_cut(n));
	ck_assert(passes_cut(34));
	ip6("2001:db8::10", true, 6, 0);
	for (size_t n = 1; n < 58; n++)
		ck_assert(!passes_cut(n));
	ck_assert(passes_cut(59));
	ip4("192.168.100.10", false);
	frame[13] = 1;
	ck_assert(!passes());
	/* two tags */
	ip4("192.168.100.10", true);
	memmove(frame + 16, frame + 12, 64);
	ck_assert(!passes());
}
END_TEST

START_TEST(too_many_addresses_let_all_of_ip_in)
{
	filter.count = 0;
	while (filter.count < 2000)
		add(text("10.0.%u.%u", filter.count / 250, filter.count % 250));
	ck_assert(link_filter_write(&program, &filter, &ours));
	while (filter.count < 3000)
		add(text("10.0.%u.%u", filter.count / 250, filter.count % 250));
	ck_assert(!link_filter_write(&program, &filter, &ours));
	attach();
	ip4("172.16.0.1", false);
	ck_assert(passes());
	ip6("2001:db8::99", true, 6, 0);
	ck_assert(passes());
	arp(9, false);
	ck_assert(!passes());
	frame[0] ^= 4;
	arp(1, false);
	ck_assert(passes());
}
END_TEST

START_TEST(as_many_as_a_program_holds)
{
	filter.count = 0;
	while (filter.count < 440)
		add(text("2001:db8::%x", filter.count));
	ck_assert(link_filter_write(&program, &filter, &ours));
	ck_assert_uint_le(program.count, LINK_PROGRAM_MAX);
	add("10.0.0.1");
	ck_assert(link_filter_write(&program, &filter, &ours));
	filter.count = 0;
	for (unsigned i = 0; i < 30; i++)
		add(text("2001:db8::%x", i));
	add("10.0.0.1");
	/* the jump over IPv6 is longer than 255 */
	ck_assert(link_filter_write(&program, &filter, &ours));
	attach();
	ip4("10.0.0.1", false);
	ck_assert(passes());
	ip6("2001:db8::1d", false, 17, 0);
	ck_assert(passes());
	ip6("2001:db8::1e", false, 17, 0);
	ck_assert(!passes());
}
END_TEST

SUITE(test_link_filter)
{
	Suite *s = suite_create("link_filter");
	TCase *t = tcase_create("link_filter");

	tcase_add_checked_fixture(t, up, down);
	tcase_set_timeout(t, 20);
	tcase_add_test(t, addresses_of_ours_and_no_others);
	tcase_add_test(t, nets_of_any_length);
	tcase_add_test(t, all_of_one_family);
	tcase_add_test(t, too_many_nets_let_all_of_ip_in);
	tcase_add_test(t, requests_and_replies_of_arp);
	tcase_add_test(t, discovery_of_neighbours);
	tcase_add_test(t, queries_for_groups);
	tcase_add_test(t, only_frames_to_us_or_to_groups);
	tcase_add_test(t, cut_and_foreign_frames_stay_outside);
	tcase_add_test(t, too_many_addresses_let_all_of_ip_in);
	tcase_add_test(t, as_many_as_a_program_holds);
	suite_add_tcase(s, t);
	return s;
}
