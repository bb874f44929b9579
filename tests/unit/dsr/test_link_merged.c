/* test_link_merged.c: frames longer than the MTU, and checksums left to do:
 * what comes with a description goes on with it, and is made right where the
 * way ahead cannot do that itself. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "dsr/frame/frame.h"
#include "dsr/link/link.h"
#include "dsr/open/link_open.h"
#include "dsr/link/offload.h"
#include "support/suite.h"
#include "support/veth.h"
#include "support/wait.h"

enum {
	PIECE = 1448,
	PIECES = 40,
	LAST = 100,
	HEADERS = 14 + 20 + 32,
	LONG = HEADERS + PIECE * (PIECES - 1) + LAST
};

static struct link near;
static int far;
static uint8_t far_mac[6];
static struct peer vip;
static const struct link_filter filter = { .address = &vip, .count = 1 };
static struct link_frame list[64];
static const char *missing;
/* Behind the description that packet sockets put in front. */
static unsigned char sent[sizeof(struct virtio_net_hdr) + LONG + 4];
static unsigned char got[sizeof(struct virtio_net_hdr) + LONG + 4];

static void
up(void)
{
	struct error e;
	struct addr a;

	missing = veth_up();
	if (missing != NULL)
		return;
	addr_parse_ip(&a, "192.168.100.10", 0);
	peer_from_addr(&vip, &a);
	far = veth_open("far", true);
	veth_mac("far", far_mac);
	if (link_open(&near, "packet", "near", &filter, &e) != 0)
		ck_abort_msg("%s", e.text);
}

static void
down(void)
{
	if (missing != NULL)
		return;
	link_close(&near);
	close(far);
}

static uint32_t
add(const unsigned char *b, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)b[i] << 8 | b[i + 1];
	return sum;
}

static uint16_t
fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void
set16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

/* What was sent, as a link's frame, without tag. */
static struct link_frame whole;
static unsigned char untagged[LONG];

/* TCP of that much data, its checksum left to do; `tag` bytes of one tag. */
static size_t
make(unsigned data, unsigned tag)
{
	unsigned char *f = sent + sizeof(struct virtio_net_hdr);
	unsigned char *ip = f + 14 + tag, *tcp = ip + 20;
	struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = (uint16_t)(34 + tag),
		.csum_offset = 16 };

	if (data > PIECE) {
		h.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		h.gso_size = PIECE;
		h.hdr_len = (uint16_t)(HEADERS + tag);
	}
	memset(sent, 0, sizeof(sent));
	memcpy(sent, &h, sizeof(h));
	memcpy(f, near.mac.byte, 6);
	memcpy(f + 6, far_mac, 6);
	if (tag > 0)
		memcpy(f + 12, "\x81\0\0\x05", 4);
	set16(ip - 2, 0x0800);
	ip[0] = 0x45;
	set16(ip + 2, 52 + data);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 6;
	memcpy(ip + 12, "\x0a\0\0\1\xc0\xa8\x64\x0a", 8);
	set16(ip + 10, (uint16_t)~fold(add(ip, 20, 0)));
	set16(tcp, 1000);
	set16(tcp + 2, 80);
	tcp[12] = 0x80;
	tcp[13] = 0x10;
	memset(tcp + 20, 1, 12); /* options that do nothing */
	for (unsigned i = 0; i < data; i++)
		tcp[32 + i] = (unsigned char)(i * 7 + i / 256);
	/* the pseudo header's sum */
	set16(tcp + 16, fold(add(ip + 12, 8, 6 + 32 + data)));
	whole = (struct link_frame){ .bytes = f, .length = HEADERS + data };
	memcpy(&whole.offload, &h, sizeof(h));
	if (tag > 0) {
		/* the far socket sees frames without their tags */
		memcpy(untagged, f, 12);
		memcpy(untagged + 12, ip - 2, HEADERS - 12 + data);
		whole.bytes = untagged;
		whole.offload.sum_start = 34;
	}
	return sizeof(h) + HEADERS + tag + data;
}

static void
receive_one(size_t length)
{
	struct pollfd p = { .fd = near.fd, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, (int)wait_scaled(5000)), 1);
	ck_assert_int_eq(link_receive(&near, list, 64), 1);
	ck_assert_uint_eq(list[0].length, length);
	ck_assert_mem_eq(
	    list[0].bytes, sent + sizeof(struct virtio_net_hdr), length);
}

static void
send_back(void)
{
	memcpy(list[0].bytes, far_mac, 6);
	memcpy(list[0].bytes + 6, near.mac.byte, 6);
	ck_assert_int_eq(link_send(&near, list, 1), 1);
	ck_assert_uint_eq(near.count.sent, 1);
	link_release(&near);
}

START_TEST(a_long_frame_comes_and_goes_whole)
{
	struct virtio_net_hdr h;
	size_t n;

	if (missing != NULL)
		SKIP(missing);
	n = make(PIECE * (PIECES - 1) + LAST, 0);
	veth_send(far, sent, n);
	receive_one(LONG);
	ck_assert_uint_eq(near.count.merged, 1);
	ck_assert_uint_eq(list[0].offload.segment_size, PIECE);
	ck_assert_uint_eq(list[0].offload.sum_start, 34);
	ck_assert_uint_eq(list[0].offload.sum_offset, 16);
	ck_assert(list[0].offload.flags & LINK_CHECKSUM);
	send_back();
	ck_assert_uint_eq(veth_receive(far, got, sizeof(got)), n);
	memcpy(&h, got, sizeof(h));
	ck_assert_uint_eq(h.gso_size, PIECE);
	ck_assert_uint_eq(h.csum_start, 34);
	ck_assert_mem_eq(
	    got + sizeof(h) + 12, sent + sizeof(h) + 12, LONG - 12);
}
END_TEST

/* What the kernel has made of it is what we would have made. */
static void
expect_same(const unsigned char *f, unsigned n, unsigned i)
{
	static unsigned char own[LONG];

	memcpy(whole.bytes, far_mac, 6);
	memcpy(whole.bytes + 6, near.mac.byte, 6);
	if (whole.offload.type == 0) { /* one */
		ck_assert(offload_finish(&whole));
		ck_assert_uint_eq(whole.length, n);
		memcpy(own, whole.bytes, n);
	} else {
		ck_assert_uint_eq(
		    offload_segment(own, sizeof(own), &whole, i), n);
	}
	ck_assert_mem_eq(own, f, n);
}

/* The pieces of what was sent arrive, each as it must be on a wire. */
static void
expect_pieces(const unsigned char *data, unsigned all)
{
	unsigned at = 0;

	while (at < all) {
		size_t n = veth_receive(far, got, sizeof(got));
		unsigned char *f = got + sizeof(struct virtio_net_hdr);
		unsigned here = all - at < PIECE ? all - at : PIECE;
		struct frame parsed;

		ck_assert_uint_eq(
		    n, sizeof(struct virtio_net_hdr) + HEADERS + here);
		ck_assert(!(got[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM));
		frame_parse(&parsed, f, n - sizeof(struct virtio_net_hdr));
		ck_assert_int_eq(parsed.kind, FRAME_FLOW);
		ck_assert(frame_checksum_ok(&parsed));
		ck_assert_mem_eq(f + HEADERS, data + at, here);
		expect_same(f, HEADERS + here, at / PIECE);
		at += here;
	}
}

static void
no_help_from_the_card(void)
{
	veth_feature("near", ETHTOOL_STSO, false);
	veth_feature("near", ETHTOOL_SGSO, false);
	veth_feature("near", ETHTOOL_STXCSUM, false);
}

START_TEST(a_long_frame_is_split_for_a_plain_card)
{
	if (missing != NULL)
		SKIP(missing);
	no_help_from_the_card();
	veth_send(far, sent, make(PIECE * (PIECES - 1) + LAST, 0));
	receive_one(LONG);
	send_back();
	expect_pieces(sent + sizeof(struct virtio_net_hdr) + HEADERS,
	    PIECE * (PIECES - 1) + LAST);
}
END_TEST

START_TEST(a_checksum_left_to_do_is_done_for_a_plain_card)
{
	if (missing != NULL)
		SKIP(missing);
	no_help_from_the_card();
	veth_send(far, sent, make(500, 0));
	receive_one(HEADERS + 500);
	ck_assert_uint_eq(near.count.merged, 0);
	ck_assert(list[0].offload.flags & LINK_CHECKSUM);
	send_back();
	expect_pieces(sent + sizeof(struct virtio_net_hdr) + HEADERS, 500);
}
END_TEST

/* The far socket, unlike links, sees frames without their tags. */
START_TEST(a_long_frame_with_a_tag)
{
	static const unsigned data = PIECE * 2 + LAST;

	if (missing != NULL)
		SKIP(missing);
	no_help_from_the_card();
	veth_send(far, sent, make(data, 4));
	receive_one(HEADERS + 4 + data);
	ck_assert_uint_eq(list[0].offload.sum_start, 38);
	send_back();
	expect_pieces(sent + sizeof(struct virtio_net_hdr) + HEADERS + 4, data);
}
END_TEST

/* What one wake-up may find: long ones that wait in a queue of their own, as
 * many as it holds without privileges, between others. */
static void
take_turns(unsigned round)
{
	enum { ALL = 6 };
	static const unsigned data[ALL] = { 100, 20000, 100, 30000, PIECE,
		25000 };
	unsigned seen = 0;

	for (unsigned i = 0; i < ALL; i++) {
		size_t n = make(data[i], 0);

		sent[sizeof(struct virtio_net_hdr) + HEADERS] =
		    (unsigned char)(round + i);
		veth_send(far, sent, n);
	}
	while (seen < ALL) {
		int n;

		WAIT_FOR((n = link_receive(&near, list, 64)) > 0, 5000);
		for (int i = 0; i < n; i++, seen++) {
			ck_assert_uint_eq(list[i].length, HEADERS + data[seen]);
			ck_assert_uint_eq(list[i].bytes[HEADERS],
			    (unsigned char)(round + seen));
		}
		link_release(&near);
	}
}

START_TEST(long_frames_between_short_ones)
{
	if (missing != NULL)
		SKIP(missing);
	for (unsigned round = 0; round < 50; round++)
		take_turns(round);
	ck_assert_uint_eq(near.count.merged, 150);
	ck_assert_uint_eq(near.count.cut, 0);
}
END_TEST

/* The kernel tells of the end in place of the next long frame, not of none. */
START_TEST(long_frames_when_the_interface_was_down)
{
	enum { ALL = 3 };
	unsigned seen = 0, troubles = 0;
	int n;

	if (missing != NULL)
		SKIP(missing);
	for (unsigned i = 0; i < ALL; i++) {
		size_t size = make(20000 + i, 0);

		veth_send(far, sent, size);
	}
	veth_ip("link set near down");
	veth_ip("link set near up");
	while ((n = link_receive(&near, list, 64)) != 0) {
		if (n < 0) {
			ck_assert_int_eq(errno, ENETDOWN);
			troubles++;
			continue;
		}
		for (int i = 0; i < n; i++, seen++)
			ck_assert_uint_eq(
			    list[i].length, HEADERS + 20000 + seen);
		link_release(&near);
	}
	ck_assert_uint_eq(seen, ALL);
	ck_assert_uint_eq(troubles, 1);
	ck_assert_uint_eq(near.count.cut, 0);
	WAIT_FOR((link_refresh(&near), near.up), 5000);
	take_turns(0);
}
END_TEST

START_TEST(too_many_long_frames_are_counted)
{
	enum { ALL = 500 };
	size_t n;
	unsigned taken = 0;
	int got_now;

	if (missing != NULL)
		SKIP(missing);
	n = make(50000, 0);
	for (unsigned i = 0; i < ALL; i++)
		veth_send(far, sent, n);
	while ((got_now = link_receive(&near, list, 64)) > 0) {
		for (int i = 0; i < got_now; i++)
			ck_assert_uint_eq(list[i].length, HEADERS + 50000);
		taken += (unsigned)got_now;
		link_release(&near);
	}
	ck_assert_uint_gt(taken, 0);
	ck_assert_uint_gt(near.count.cut, 0);
	ck_assert_uint_eq(taken + near.count.cut, ALL);
	take_turns(0);
}
END_TEST

START_TEST(jumbo_frames)
{
	struct error e;

	if (missing != NULL)
		SKIP(missing);
	/* the ring was made for shorter ones; after that, for these */
	veth_ip("link set near mtu 9000");
	veth_ip("link set far mtu 9000");
	for (int again = 0; again < 2; again++) {
		make(100, 0);
		memset(sent, 0, sizeof(struct virtio_net_hdr));
		veth_send(far, sent, sizeof(struct virtio_net_hdr) + 9014);
		receive_one(9014);
		ck_assert_uint_eq(near.count.merged, 0);
		send_back();
		ck_assert_uint_eq(veth_receive(far, got, sizeof(got)),
		    sizeof(struct virtio_net_hdr) + 9014);
		link_close(&near);
		ck_assert_int_eq(
		    link_open(&near, "packet", "near", &filter, &e), 0);
	}
	ck_assert_uint_eq(near.mtu, 9000);
}
END_TEST

SUITE(test_link_merged)
{
	Suite *s = suite_create("link_merged");
	TCase *t = tcase_create("link_merged");

	tcase_add_checked_fixture(t, up, down);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_long_frame_comes_and_goes_whole);
	tcase_add_test(t, a_long_frame_is_split_for_a_plain_card);
	tcase_add_test(t, a_checksum_left_to_do_is_done_for_a_plain_card);
	tcase_add_test(t, a_long_frame_with_a_tag);
	tcase_add_test(t, long_frames_between_short_ones);
	tcase_add_test(t, long_frames_when_the_interface_was_down);
	tcase_add_test(t, too_many_long_frames_are_counted);
	tcase_add_test(t, jumbo_frames);
	suite_add_tcase(s, t);
	return s;
}
