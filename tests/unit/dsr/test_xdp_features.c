/* test_xdp_features.c: what an end of a cable can do with XDP is a matter of
 * what there is at the other one. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "dsr/open/link_open.h"
#include "dsr/flows/dsr_flows.h"
#include "dsr/frame/frame.h"
#include "dsr/inspect/inspect.h"
#include "dsr/xdp/xdp_features.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"
#include "unit/dsr/cable_fixture.h"

/* Whether a program at that end can send. */
static bool
can_send(const char *end)
{
	enum xdp_peer peer = xdp_peer(if_nametoindex(end));

	ck_assert_int_ne(peer, XDP_PEER_UNKNOWN);
	return peer == XDP_PEER_TAKES;
}

START_TEST(the_other_end_needs_gro)
{
	const char *missing = veth_up();

	if (missing != NULL)
		SKIP(missing);
	if (xdp_peer(if_nametoindex("near")) == XDP_PEER_UNKNOWN)
		SKIP("this kernel does not tell");
	veth_feature("far", ETHTOOL_SGRO, false);
	ck_assert(!can_send("near"));
	veth_feature("far", ETHTOOL_SGRO, true);
	ck_assert(can_send("near"));
	ck_assert(!can_send("far"));
	veth_feature("far", ETHTOOL_SGRO, false);
	ck_assert(!can_send("near"));
}
END_TEST

static struct inspect_machine
look(bool fast)
{
	struct inspect_request w = { .interface = "near",
		.fast = fast ? LINK_FAST_ON : LINK_FAST_AUTO };
	struct inspect_machine m;

	ck_assert_int_eq(inspect_machine_read(&m, &w), 0);
	ck_assert(m.exists && !m.no_xdp && !m.xdp);
	inspect_machine_free(&m);
	return m;
}

/* The other end is named while it is here. */
START_TEST(an_inspection_sees_the_other_end)
{
	const char *missing = veth_up();

	if (missing != NULL)
		SKIP(missing);
	veth_feature("far", ETHTOOL_SGRO, false);
	ck_assert_str_eq(look(true).peer, "far");
	ck_assert_str_eq(look(false).peer, "");
	ck_assert(!look(false).peer_refuses);
	if (xdp_peer(if_nametoindex("near")) == XDP_PEER_UNKNOWN) {
		ck_assert(look(true).peer_unknown);
		SKIP("this kernel does not tell");
	}
	ck_assert(look(true).peer_refuses);
	veth_feature("far", ETHTOOL_SGRO, true);
	ck_assert(!look(true).peer_refuses);
}
END_TEST

START_TEST(no_such_interface)
{
	uint64_t features = 7;

	ck_assert_int_eq(xdp_features(2000000000, &features), -1);
	ck_assert_msg(
	    errno == ENODEV || errno == ENOENT, "%s", strerror(errno));
	ck_assert_int_eq(xdp_features(0, &features), -1);
	ck_assert_uint_eq(features, 7);
}
END_TEST

/* As the link knows after some refreshes. */
static bool
can_send_back(void)
{
	for (unsigned i = 0; i < 8; i++)
		link_refresh(&fixture.near);
	return !fixture.near.fast_fails;
}

/* The link's own program counts for the other end. */
START_TEST(a_link_asks_about_the_other_end)
{
	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (xdp_peer((unsigned)fixture.near.ifindex) == XDP_PEER_UNKNOWN) {
		ck_assert(!can_send_back());
		SKIP("this kernel does not tell");
	}
	veth_feature("far", ETHTOOL_SGRO, false);
	ck_assert(!can_send_back());
	ck_assert(can_send("far"));
	veth_feature("far", ETHTOOL_SGRO, true);
	ck_assert(can_send_back());
}
END_TEST

/* An ACK from the far end to the first VIP, of a flow that the link is told
 * of. */
static size_t
make_carried(unsigned char *frame, size_t room)
{
	const struct peer client = { .family = AF_INET,
		.port = 40000,
		.ip = { [10] = 0xff, 0xff, 192, 168, 100, 1 } };
	struct frame_head head = { .to = fixture.near.mac };
	struct tcp_segment ack = { .seq = 1, .ack = 2, .flags = FRAME_ACK };
	struct peer vip = fixture.vip[0];
	struct dsr_key key;

	vip.port = 80;
	memcpy(head.from.byte, fixture.far_mac, sizeof(fixture.far_mac));
	dsr_key_make(&key, &client, &vip, IPPROTO_TCP);
	ck_assert_int_eq(fixture.near.fast->add(&fixture.near, &key, 3, 7), 0);
	return frame_make_tcp(frame, room, &head, &client, &vip, &ack);
}

/* With GRO alone at the other end nothing but the frame itself wakes it. */
START_TEST(what_is_passed_on_arrives)
{
	const struct mac server = { { 2, 0, 0, 9, 9, 9 } };
	const struct link_entry entry = { .to = server,
		.longest = 1514,
		.epoch = 7 };
	unsigned char frame[256], got[2048];
	size_t n;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	veth_feature("far", ETHTOOL_SGRO, true);
	if (!can_send_back())
		SKIP("this kernel does not tell");
	fixture.near.fast->set_entry(&fixture.near, 3, &entry);
	n = make_carried(frame, sizeof(frame));
	ck_assert_uint_gt(n, 0);
	veth_send(fixture.far, frame, n);
	WAIT_FOR(fixture.near.fast->totals(&fixture.near).frames == 1, 5000);
	ck_assert_uint_eq(veth_receive(fixture.far, got, sizeof(got)), n);
	ck_assert_mem_eq(got, server.byte, 6);
	ck_assert_mem_eq(got + 6, fixture.near.mac.byte, 6);
	ck_assert_mem_eq(got + 12, frame + 12, n - 12);
}
END_TEST

SUITE(test_xdp_features)
{
	Suite *s = suite_create("xdp_features");
	TCase *plain = tcase_create("plain"), *link = tcase_create("link");

	tcase_add_test(plain, the_other_end_needs_gro);
	tcase_add_test(plain, an_inspection_sees_the_other_end);
	tcase_add_test(plain, no_such_interface);
	suite_add_tcase(s, plain);
	tcase_add_checked_fixture(link, up_fast, down);
	tcase_add_test(link, a_link_asks_about_the_other_end);
	tcase_add_test(link, what_is_passed_on_arrives);
	suite_add_tcase(s, link);
	return s;
}
