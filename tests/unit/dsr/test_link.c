/* test_link.c: frames through a cable between two interfaces: the link is at
 * the near end, a plain packet socket at the far one. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dsr/frame/frame.h"
#include "dsr/link/link.h"
#include "dsr/open/link_open.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"
#include "unit/dsr/cable_fixture.h"

START_TEST(frames_for_our_addresses_come_up)
{
	unsigned next = 2;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_far_sends(&fixture, "192.168.100.11", 1, 100);
	link_fixture_far_sends(&fixture, "192.168.100.10", 2, 100);
	link_fixture_far_sends(&fixture, "192.168.200.10", 3, 100);
	link_fixture_far_sends(&fixture, "192.168.100.10", 4, 100);
	while (fixture.near.count.received < 2) {
		int n = link_fixture_receive(&fixture);

		for (int i = 0; i < n; i++, next += 2) {
			const struct link_frame *f = &fixture.list[i];

			ck_assert_uint_eq(link_fixture_number(f->bytes), next);
			ck_assert_uint_eq(f->length, 100);
			ck_assert_int_eq(f->offload.flags & LINK_CHECKSUM, 0);
			ck_assert_int_eq(f->offload.type, 0);
		}
		link_release(&fixture.near);
	}
	ck_assert_int_eq(
	    link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH), 0);
	ck_assert_uint_eq(fixture.near.count.received, 2);
}
END_TEST

START_TEST(questions_for_addresses_come_up)
{
	unsigned char f[120];
	struct link_frame back;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	/* ARP, to all */
	memset(f, 0, sizeof(f));
	memset(f, 0xff, 6);
	f[12] = 8;
	f[13] = 6;
	f[FRAME_HEAD + 7] = 1;
	veth_send(fixture.far, f, 42);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	ck_assert_uint_eq(fixture.list[0].length, 42);
	ck_assert_mem_eq(fixture.list[0].bytes, f, 42);
	/* and the answer goes back */
	back = fixture.list[0];
	memcpy(back.bytes, fixture.far_mac, 6);
	ck_assert_int_eq(link_send(&fixture.near, &back, 1), 1);
	link_release(&fixture.near);
	ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 42);
	ck_assert_mem_eq(f, fixture.far_mac, 6);
	/* a solicitation, to the group of the address */
	memset(f, 0, sizeof(f));
	memcpy(f, "\x33\x33\xff\0\0\x10", 6);
	f[12] = 0x86;
	f[13] = 0xdd;
	f[FRAME_HEAD] = 0x60;
	f[FRAME_HEAD + 6] = 58;
	f[FRAME_HEAD + 40] = 135;
	veth_send(fixture.far, f, 86);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	ck_assert_mem_eq(fixture.list[0].bytes, f, 86);
	link_release(&fixture.near);
}
END_TEST

START_TEST(what_this_machine_sends_does_not_come_up)
{
	unsigned char f[100];
	struct link_frame own = { .bytes = f };
	int other;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	own.length = link_fixture_make(&fixture, f, "192.168.100.10", 1, 100);
	ck_assert_int_eq(link_send(&fixture.near, &own, 1), 1);
	other = veth_open("near", false);
	veth_send(other, f, 100);
	close(other);
	ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 100);
	ck_assert_uint_eq(veth_receive(fixture.far, f, sizeof(f)), 100);
	link_fixture_far_sends(&fixture, "192.168.100.10", 2, 100);
	link_fixture_expect(&fixture, 2);
	ck_assert_uint_eq(fixture.near.count.sent, 1);
}
END_TEST

START_TEST(a_tag_is_where_it_was)
{
	unsigned char plain[200], f[204], other[204];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_make(&fixture, plain, "192.168.100.10", 7, 200);
	memcpy(f, plain, 12);
	memcpy(f + 12, "\x81\0\x60\x05", 4);
	memcpy(f + 16, plain + 12, 188);
	veth_send(fixture.far, f, 204);
	ck_assert_int_eq(link_fixture_receive(&fixture), 1);
	ck_assert_uint_eq(fixture.list[0].length, 204);
	ck_assert_mem_eq(fixture.list[0].bytes, f, 204);
	/* the far end is a link, too, to see the tag of what is sent on */
	{
		struct link end;
		struct error e;

		ck_assert_int_eq(
		    link_open(&end, "packet", "far", &fixture.filter, &e), 0);
		memcpy(fixture.list[0].bytes, fixture.far_mac, 6);
		memcpy(other, fixture.list[0].bytes, 204);
		ck_assert_int_eq(link_send(&fixture.near, fixture.list, 1), 1);
		link_release(&fixture.near);
		WAIT_FOR(
		    link_receive(&end, fixture.list, LINK_FIXTURE_BATCH) == 1,
		    5000);
		ck_assert_uint_eq(fixture.list[0].length, 204);
		ck_assert_mem_eq(fixture.list[0].bytes, other, 204);
		link_close(&end);
	}
}
END_TEST

/* A bridge takes tags out of frames and leaves it to a card to put them back;
 * in these cables there is none. It takes a while to pass anything on. */
static bool
comes_by_bridge(int from, const unsigned char *f, size_t n)
{
	veth_send(from, f, n);
	return link_receive(&fixture.near, fixture.list, LINK_FIXTURE_BATCH) >
	    0;
}

START_TEST(a_tag_beside_the_frame_is_in_it)
{
	unsigned char plain[100], f[104];
	int from;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (system("ip link add bridge type bridge forward_delay 0 "
		   "2>/dev/null") != 0)
		SKIP("no bridges");
	veth_ip("link add name before type veth peer name behind");
	veth_ip("link set before addrgenmode none up");
	veth_ip("link set behind addrgenmode none master bridge up");
	veth_ip("link set far master bridge");
	veth_ip("link set bridge addrgenmode none up");
	from = veth_open("before", false);
	link_fixture_make(&fixture, plain, "192.168.100.10", 3, 100);
	memcpy(f, plain, 12);
	memcpy(f + 12, "\x81\0\x20\x4d", 4);
	memcpy(f + 16, plain + 12, 88);
	WAIT_FOR(comes_by_bridge(from, f, sizeof(f)), 5000);
	close(from);
	ck_assert_uint_eq(fixture.list[0].length, 104);
	ck_assert_mem_eq(fixture.list[0].bytes, f, 104);
	link_release(&fixture.near);
}
END_TEST

/* All of a batch goes back to where it came from. */
static unsigned
send_back(unsigned n, unsigned *next)
{
	for (unsigned i = 0; i < n; i++) {
		if (link_fixture_number(fixture.list[i].bytes) != (*next)++)
			ck_abort_msg("number %u after %u",
			    link_fixture_number(fixture.list[i].bytes),
			    *next - 2);
		memcpy(fixture.list[i].bytes, fixture.far_mac, 6);
	}
	if (link_send(&fixture.near, fixture.list, n) != (int)n)
		ck_abort_msg("not all of %u were sent", n);
	link_release(&fixture.near);
	return n;
}

START_TEST(ten_thousand_both_ways_in_order)
{
	/* as many as the plain socket at the far end holds without
	 * privileges */
	enum { ALL = 10000, PORTION = 50 };
	unsigned next = 0, back = 0;
	unsigned char f[1600];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned sent = 0; sent < ALL;) {
		unsigned n = 0;

		for (unsigned end = sent + PORTION; sent < end; sent++)
			link_fixture_far_sends(
			    &fixture, "192.168.100.10", sent, 60 + sent % 1454);
		while (n < PORTION)
			n += send_back(
			    (unsigned)link_fixture_receive(&fixture), &next);
		for (unsigned end = back + PORTION; back < end; back++) {
			size_t size = veth_receive(fixture.far, f, sizeof(f));

			if (size != 60 + back % 1454 ||
			    link_fixture_number(f) != back)
				ck_abort_msg("%zu bytes of number %u, not %u",
				    size, link_fixture_number(f), back);
		}
	}
	ck_assert_uint_eq(fixture.near.count.received, ALL);
	ck_assert_uint_eq(fixture.near.count.sent, ALL);
	link_refresh(&fixture.near);
	ck_assert_uint_eq(fixture.near.count.missed, 0);
}
END_TEST

START_TEST(a_burst_waits_and_what_is_too_much_is_counted)
{
	enum { ALL = 20000 };
	unsigned n = 0;
	int got;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned i = 0; i < ALL; i++)
		link_fixture_far_sends(&fixture, "192.168.100.10", i, 60);
	while ((got = link_fixture_receive(&fixture)) > 0) {
		for (int i = 0; i < got; i++) {
			if (link_fixture_number(fixture.list[i].bytes) != n++)
				ck_abort_msg("number %u is missing", n - 1);
		}
		link_release(&fixture.near);
		if (got < LINK_FIXTURE_BATCH)
			break;
	}
	ck_assert_uint_gt(n, 5000);
	link_refresh(&fixture.near);
	ck_assert_uint_eq(n + fixture.near.count.missed, ALL);
	link_fixture_far_sends(&fixture, "192.168.100.10", 77, 60);
	link_fixture_expect(&fixture, 77);
}
END_TEST

START_TEST(what_cannot_be_sent_is_counted)
{
	unsigned char f[3][2000];
	struct link_frame some[3];

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned i = 0; i < 3; i++)
		some[i] = (struct link_frame){ .bytes = f[i],
			.length = link_fixture_make(&fixture, f[i], "10.0.0.1",
			    i, i == 1 ? 2000 : 100) };
	ck_assert_int_eq(link_send(&fixture.near, some, 3), 3);
	ck_assert_uint_eq(fixture.near.count.sent, 2);
	ck_assert_uint_eq(fixture.near.count.too_long, 1);
	ck_assert_uint_eq(veth_receive(fixture.far, f[1], 2000), 100);
	ck_assert_uint_eq(link_fixture_number(f[1]), 0);
	ck_assert_uint_eq(veth_receive(fixture.far, f[1], 2000), 100);
	ck_assert_uint_eq(link_fixture_number(f[1]), 2);
	some[0].length = 3;
	ck_assert_int_eq(link_send(&fixture.near, some, 1), 1);
	ck_assert_uint_eq(fixture.near.count.refused, 1);
}
END_TEST

static void
take(struct link *l)
{
	struct error e;

	ck_assert_msg(link_take(l, &fixture.filter, &e) == 0, "%s", e.text);
}

static void
send_from(struct link *l, unsigned number)
{
	unsigned char bytes[100];
	struct link_frame f = { .bytes = bytes };

	f.length = link_fixture_make(
	    &fixture, bytes, "192.168.100.77", number, sizeof(bytes));
	ck_assert_int_eq(link_send(l, &f, 1), 1);
}

/* ---- the interface gets another MAC ---- */

static void
expect_to_follow(const char *address)
{
	struct error e;

	veth_ip("link set near address %s", address);
	link_refresh(&fixture.near);
	ck_assert_msg(link_set_filter(&fixture.near, &fixture.filter, &e) == 0,
	    "%s", e.text);
	link_fixture_far_sends(&fixture, "192.168.100.10", 1, 100);
	link_fixture_expect(&fixture, 1);
}

START_TEST(another_mac_is_followed)
{
	unsigned char old[100];
	unsigned n;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	n = link_fixture_make(&fixture, old, "192.168.100.10", 2, sizeof(old));
	expect_to_follow("02:00:00:00:00:77");
	veth_send(fixture.far, old, n);
	link_fixture_far_sends(&fixture, "192.168.100.10", 3, 100);
	link_fixture_expect(&fixture, 3);
}
END_TEST

/* Two have the link in turn: a frame that comes meanwhile is not lost, and none
 * comes twice; chunks and slots go round more than once. */
START_TEST(another_process_takes_over)
{
	struct link next, mine;
	unsigned i, turn;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	link_fixture_far_sends(&fixture, "192.168.100.10", 1, 100);
	link_fixture_expect(&fixture, 1);
	link_fixture_open_again(&fixture, &next);
	send_from(&next, 1);
	ck_assert_uint_eq(next.count.sent, 0);
	mine = fixture.near;
	for (turn = 0; turn < 4; turn++) {
		mine.paused = next.paused = true;
		link_fixture_far_sends(&fixture, "192.168.100.10", 2, 100);
		fixture.near = turn % 2 == 0 ? next : mine;
		take(&fixture.near);
		link_fixture_expect(&fixture, 2);
		for (i = 3; i < 5000; i++) {
			link_fixture_far_sends(
			    &fixture, "192.168.100.10", i, 100);
			link_fixture_expect(&fixture, i);
			send_from(&fixture.near, i);
		}
	}
	ck_assert_uint_eq(fixture.near.count.refused, 0);
	next.paused = true;
	fixture.near = next;
	take(&fixture.near);
	expect_to_follow("02:00:00:00:00:77");
	next.left = true;
	link_close(&next);
	fixture.near = mine;
}
END_TEST

/* Its counters begin at zero. */
START_TEST(what_was_missed_before_is_not_counted_again)
{
	struct link next;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	for (unsigned i = 0; i < 20000; i++)
		link_fixture_far_sends(&fixture, "192.168.100.10", i, 60);
	link_refresh(&fixture.near);
	link_fixture_open_again(&fixture, &next);
	link_refresh(&next);
	ck_assert_uint_gt(fixture.near.count.missed, 0);
	ck_assert_uint_eq(next.count.missed, 0);
	next.left = true;
	link_close(&next);
}
END_TEST

static bool
interface_has(const char *command, const char *what)
{
	return strstr(veth_ip_says("%s", command), what) != NULL;
}

/* Else the next one could never leave them. */
START_TEST(groups_go_with_the_process_that_joined_them)
{
	struct link_net net = {
		.ip.family = AF_INET6, .ip.ip = { 0xfd }, .bits = 64
	};
	struct link next;
	struct error e;

	if (fixture.missing != NULL)
		SKIP(fixture.missing);
	if (!interface_has("-d link show near", "allmulti 0"))
		SKIP("this ip does not tell");
	fixture.filter.net = &net;
	fixture.filter.nets = 1;
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	link_fixture_open_again(&fixture, &next);
	take(&next);
	fixture.near.left = true;
	link_close(&fixture.near);
	fixture.near = next;
	ck_assert(interface_has("-d link show near", "allmulti 1"));
	ck_assert(interface_has("maddr show dev near", "33:33:ff:00:00:10"));
	fixture.filter.nets = 0;
	fixture.filter.count = 1;
	ck_assert_int_eq(
	    link_set_filter(&fixture.near, &fixture.filter, &e), 0);
	ck_assert(interface_has("-d link show near", "allmulti 0"));
	ck_assert(!interface_has("maddr show dev near", "33:33:ff:00:00:10"));
}
END_TEST

static void
add_tests(TCase *t, const char *kind)
{
	tcase_add_test(t, frames_for_our_addresses_come_up);
	tcase_add_test(t, questions_for_addresses_come_up);
	tcase_add_test(t, what_this_machine_sends_does_not_come_up);
	tcase_add_test(t, a_tag_is_where_it_was);
	tcase_add_test(t, a_tag_beside_the_frame_is_in_it);
	tcase_add_test(t, ten_thousand_both_ways_in_order);
	tcase_add_test(t, what_cannot_be_sent_is_counted);
	if (strcmp(kind, "pcap") == 0)
		return;
	tcase_add_test(t, a_burst_waits_and_what_is_too_much_is_counted);
	tcase_add_test(t, another_mac_is_followed);
	tcase_add_test(t, another_process_takes_over);
	tcase_add_test(t, what_was_missed_before_is_not_counted_again);
	tcase_add_test(t, groups_go_with_the_process_that_joined_them);
}

SUITE(test_link)
{
	Suite *s = suite_create("link");

	cable_cases(s, add_tests);
	return s;
}
