/* test_link_interface.c: what a link wants of its interface, and what becomes
 * of the link when that changes. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dsr/link/link_interface.h"
#include "dsr/open/link_open.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"
#include "unit/dsr/cable_fixture.h"

START_TEST(what_is_known_about_the_interface)
{
	uint8_t mac[6];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_mac("near", mac);
	ck_assert_mem_eq(fixture.near.mac.byte, mac, 6);
	ck_assert_uint_eq(fixture.near.mtu, 1500);
	ck_assert(fixture.near.up);
	ck_assert_str_eq(fixture.near.ops->name,
	    link_fixture_is_pcap(&fixture) ? "pcap" : "packet");
	if (fixture.near.fast != NULL)
		ck_assert_str_eq(fixture.near.mode, "native");
	else
		ck_assert_ptr_null(fixture.near.mode);
	veth_ip("link set near mtu 1400");
	link_refresh(&fixture.near);
	ck_assert_uint_eq(fixture.near.mtu, 1400);
}
END_TEST

START_TEST(addresses_change_while_it_is_open)
{
	struct error e;
	const char *said;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_far_sends(&fixture, "192.168.100.11", 1, 100);
	fixture.filter.count = 0;
	link_fixture_add(&fixture, "192.168.100.11");
	link_fixture_add(&fixture, "2001:db8::beef");
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	link_fixture_far_sends(&fixture, "192.168.100.10", 2, 100);
	link_fixture_far_sends(&fixture, "192.168.100.11", 3, 100);
	link_fixture_expect(&fixture, 3);
	said = veth_ip_says("maddr show dev near");
	ck_assert_ptr_nonnull(strstr(said, "33:33:ff:00:be:ef"));
	ck_assert_ptr_null(strstr(said, "33:33:ff:00:00:10"));
}
END_TEST

/* The kernel may take its time to let frames through. */
static bool
comes_again(void)
{
	unsigned char f[60];
	int n;

	link_fixture_make(&fixture, f, "192.168.100.10", 5, 60);
	(void)!send(fixture.far, f, sizeof(f), 0);
	n = link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH);
	link_release(&fixture.near);
	return n > 0;
}

START_TEST(an_interface_that_goes_down_is_told)
{
	unsigned char f[60];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_ip("link set near down");
	ck_assert_int_eq(link_fixture_receive(&fixture), -1);
	ck_assert_int_eq(errno, ENETDOWN);
	ck_assert(!fixture.near.up);
	ck_assert_int_eq(
	    link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH), 0);
	fixture.list[0] = (struct link_frame){ .bytes = f,
		.length = link_fixture_make(&fixture, f, "10.0.0.1", 1, 60) };
	ck_assert_int_eq(link_send(&fixture.near, fixture.list, 1), -1);
	ck_assert_int_eq(errno, ENETDOWN);
	veth_ip("link set near up");
	WAIT_FOR(comes_again(), 5000);
	ck_assert(fixture.near.up);
	veth_ip("link set far down");
	WAIT_FOR((link_refresh(&fixture.near), !fixture.near.up), 5000);
	veth_ip("link del near");
	ck_assert_int_eq(link_fixture_receive(&fixture), -1);
	ck_assert_int_eq(errno, ENODEV);
	fixture.list[0] = (struct link_frame){ .bytes = f, .length = 60 };
	ck_assert_int_eq(link_send(&fixture.near, fixture.list, 1), -1);
}
END_TEST

START_TEST(closing_leaves_the_interface_as_it_was)
{
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (link_fixture_is_pcap(&fixture)) {
		link_close(&fixture.near);
		ck_assert_int_eq(link_open(&fixture.near, "packet", "near",
				     &fixture.filter, &e),
		    0);
	}
	ck_assert_ptr_nonnull(
	    strstr(veth_ip_says("-d link show near"), "promiscuity 0"));
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	ck_assert_ptr_nonnull(
	    strstr(veth_ip_says("maddr show dev near"), "33:33:ff:00:00:10"));
	link_close(&fixture.near);
	ck_assert_ptr_nonnull(
	    strstr(veth_ip_says("-d link show near"), "promiscuity 0"));
	ck_assert_ptr_null(
	    strstr(veth_ip_says("maddr show dev near"), "33:33:ff:00:00:10"));
	ck_assert_int_eq(
	    link_open(&fixture.near,
		"packet",
		"near", &fixture.filter, &e),
	    0);
}
END_TEST

/* More groups than could be joined one by one. */
START_TEST(a_net_wants_all_groups)
{
	struct link_net net = {
		.ip.family = AF_INET6, .ip.ip = { 0xfd }, .bits = 64
	};
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (strstr(veth_ip_says("-d link show near"), "allmulti 0") == NULL)
		SKIP("this ip does not tell");
	fixture.filter.net = &net;
	fixture.filter.nets = 1;
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	ck_assert_ptr_nonnull(
	    strstr(veth_ip_says("-d link show near"), "allmulti 1"));
	fixture.filter.nets = 0;
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	ck_assert_ptr_nonnull(
	    strstr(veth_ip_says("-d link show near"), "allmulti 0"));
}
END_TEST

static const struct {
	const char *kind, *interface, *says;
} no_links[] = {
	{ NULL, "nowhere0", "nowhere0" },
	{ NULL, "an-interface-of-long-name", "an-interface-of-long-name" },
	{ "packet", "lo", "interface lo is not Ethernet" },
	{ "string", "near", "this build has no dsr_link \"string\"" },
	{ "xdp", "near",
	    "there is no dsr_link xdp: leave it out; dsr_fast_path is on by "
	    "default" },
};

START_TEST(what_cannot_be_opened_says_why)
{
	struct link l;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	ck_assert_int_eq(link_open(&l, no_links[_i].kind,
			     no_links[_i].interface, &fixture.filter, &e),
	    -1);
	ck_assert_msg(
	    strstr(e.text, no_links[_i].says) != NULL, "%s", e.text);
	ck_assert_ptr_nonnull(link_kind(0));
	ck_assert_ptr_null(link_kind(99));
}
END_TEST

/* What a program does with a link after it has become nobody. */
static int
as_nobody(void)
{
	unsigned char f[100];
	struct link_frame own = { .bytes = f };
	struct error e;
	uint64_t sent = fixture.near.count.sent;

	if (setresgid(65534, 65534, 65534) != 0 ||
	    setresuid(65534, 65534, 65534) != 0)
		return 2;
	link_fixture_add(&fixture, "2001:db8::77");
	own.length = link_fixture_make(&fixture, f, "10.0.0.1", 1, 100);
	return link_set_filter(&fixture.near, &fixture.filter, &e) != 0 ||
	    link_send(&fixture.near, &own, 1) != 1 ||
	    fixture.near.count.sent != sent + 1 ||
	    link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH) != 1;
}

START_TEST(no_privileges_are_needed_once_it_is_open)
{
	int status;
	pid_t pid;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_far_sends(&fixture, "192.168.100.10", 1, 100);
	pid = fork();
	if (pid == 0)
		_exit(as_nobody());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		SKIP("nobody else to become");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* ---- features ---- */

enum { BOTH = ETH_FLAG_RXVLAN | ETH_FLAG_TXVLAN };

/* The flags of "near"; `off` are switched off first. */
static uint32_t
flags_without(uint32_t off)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq r = { .ifr_name = "near", .ifr_data = (void *)&v };

	ck_assert_int_eq(ioctl(fixture.far, SIOCETHTOOL, &r), 0);
	if (off != 0) {
		v.cmd = ETHTOOL_SFLAGS;
		v.data &= ~off;
		ck_assert_int_eq(ioctl(fixture.far, SIOCETHTOOL, &r), 0);
	}
	return v.data & BOTH;
}

static void
switch_off(struct link *l, uint32_t feature)
{
	ck_assert(interface_switch_off(l, l->changes, feature, "a test"));
	ck_assert_uint_eq(flags_without(0) & feature, 0);
}

START_TEST(a_feature_is_switched_back)
{
	struct link *l = &fixture.near;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (flags_without(0) != BOTH)
		SKIP("this veth has no features for tags");
	switch_off(l, ETH_FLAG_RXVLAN);
	switch_off(l, ETH_FLAG_TXVLAN);
	interface_switch_back(l, l->changes, ETH_FLAG_RXVLAN);
	ck_assert_uint_eq(flags_without(0), ETH_FLAG_RXVLAN);
	ck_assert_uint_eq(l->changes->features, ETH_FLAG_TXVLAN);
	/* that the operator has it so does not change */
	flags_without(ETH_FLAG_RXVLAN);
	switch_off(l, ETH_FLAG_RXVLAN);
	interface_switch_back(l, l->changes, ETH_FLAG_RXVLAN);
	ck_assert_uint_eq(flags_without(0), 0);
}
END_TEST

/* The second process may switch off more than the first one did. */
START_TEST(features_of_two_processes_come_back)
{
	struct link next;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (flags_without(0) != BOTH)
		SKIP("this veth has no features for tags");
	switch_off(&fixture.near, ETH_FLAG_TXVLAN);
	link_fixture_open_again(&fixture, &next);
	fixture.near.paused = true;
	switch_off(&next, ETH_FLAG_RXVLAN);
	fixture.near.left = true;
	link_close(&fixture.near);
	ck_assert_uint_eq(flags_without(0), 0);
	ck_assert_int_eq(link_take(&next, &fixture.filter, &e), 0);
	link_close(&next);
	ck_assert_uint_eq(flags_without(0), BOTH);
	ck_assert_int_eq(
	    link_open(&fixture.near, NULL, "near", &fixture.filter, &e), 0);
}
END_TEST

/* Then it is the first process's, which goes on, with all that it switched
 * off. */
START_TEST(what_cannot_be_taken_stays_as_it_is)
{
	struct link next;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (flags_without(0) != BOTH)
		SKIP("this veth has no features for tags");
	switch_off(&fixture.near, ETH_FLAG_TXVLAN);
	link_fixture_open_again(&fixture, &next);
	fixture.near.paused = true;
	veth_ip("link del near");
	link_fixture_add(&fixture, "2001:db8::77");
	ck_assert_int_eq(link_take(&next, &fixture.filter, &e), -1);
	ck_assert(next.paused);
	ck_assert_uint_eq(next.changes->features, 0);
	link_close(&next);
}
END_TEST

static void
add_tests(TCase *t, const char *kind)
{
	tcase_add_test(t, what_is_known_about_the_interface);
	tcase_add_test(t, an_interface_that_goes_down_is_told);
	tcase_add_test(t, closing_leaves_the_interface_as_it_was);
	if (strcmp(kind, "pcap") == 0)
		return;
	tcase_add_test(t, addresses_change_while_it_is_open);
	tcase_add_test(t, no_privileges_are_needed_once_it_is_open);
	if (strcmp(kind, "packet") != 0)
		return;
	tcase_add_test(t, a_net_wants_all_groups);
	tcase_add_loop_test(t, what_cannot_be_opened_says_why, 0,
	    sizeof(no_links) / sizeof(no_links[0]));
	tcase_add_test(t, a_feature_is_switched_back);
	tcase_add_test(t, features_of_two_processes_come_back);
	tcase_add_test(t, what_cannot_be_taken_stays_as_it_is);
}

SUITE(test_link_interface)
{
	Suite *s = suite_create("link_interface");

	cable_cases(s, add_tests);
	return s;
}
