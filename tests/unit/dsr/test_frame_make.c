/* test_frame_make.c: frames of our own are what they should be, byte by byte
 * where a kernel sent the same, and the parser knows them again. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "support/suite.h"
#include "unit/dsr/forge.h"

static void
same_as_sample(size_t n, const char *name)
{
	unsigned char want[SAMPLE_MAX];

	ck_assert_uint_eq(n, sample_bytes(sample_named(name), want));
	ck_assert_mem_eq(out, want, n);
}

/* RFC 1071, 3; a header that is an example everywhere */
START_TEST(sums)
{
	static const unsigned char rfc[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5,
		0xf6, 0xf7 };
	static const unsigned char head[] = { 0x45, 0, 0, 0x73, 0, 0, 0x40, 0,
		0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7 };
	static const unsigned char odd[] = { 0x12, 0x34, 0x56 };
	static unsigned char ones[65534];

	ck_assert_uint_eq(sum_end(sum_of(0, rfc, sizeof(rfc))), 0x220d);
	ck_assert_uint_eq(
	    sum_end(sum_of(sum_of(0, rfc, 4), rfc + 4, 4)), 0x220d);
	ck_assert_uint_eq(sum_end(sum_of(0, head, sizeof(head))), 0xb861);
	ck_assert_uint_eq(sum_end(sum_of(0, odd, sizeof(odd))), 0x97cb);
	ck_assert_uint_eq(sum_end(sum_of(0, odd, 0)), 0xffff);
	memset(ones, 0xff, sizeof(ones));
	ck_assert_uint_eq(sum_end(sum_of(0, ones, sizeof(ones))), 0);
	ck_assert_uint_eq(sum_end(sum_of(0xffffffff, ones, 2)), 0);
	ck_assert_uint_eq(sum_end(0x1ffff), 0xfffe);
}
END_TEST

START_TEST(arps)
{
	struct frame_head head = { mac_broadcast, one, 0 };
	struct frame f = sample("arp request");
	struct arp a, again;
	size_t n;

	ck_assert(frame_read_arp(&f, &a));
	ck_assert(a.request && mac_equal(&a.sender_mac, &one));
	ck_assert_mem_eq(a.sender, "\300\0\2\1", 4);
	ck_assert_mem_eq(a.target, "\300\0\2\2", 4);
	n = frame_make_arp(out, sizeof(out), &head, &a);
	same_as_sample(n, "arp request");

	f = sample("arp reply");
	ck_assert(frame_read_arp(&f, &a));
	ck_assert(!a.request && mac_equal(&a.target_mac, &one));
	head = frame_answer_head(&f);
	head.to = one;
	head.from = two;
	n = frame_make_arp(out, sizeof(out), &head, &a);
	same_as_sample(n, "arp reply");
	ck_assert_uint_eq(frame_make_arp(out, n, &head, &a), n);
	ck_assert_uint_eq(frame_make_arp(out, n - 1, &head, &a), 0);

	head.vlan = TAG;
	n = frame_make_arp(out, sizeof(out), &head, &a);
	f = made(n, FRAME_ARP);
	ck_assert_uint_eq(f.vlan, TAG);
	ck_assert(frame_read_arp(&f, &again));
	ck_assert_mem_eq(&a, &again, sizeof(a));
	ck_assert_uint_eq(frame_make_arp(out, n - 1, &head, &a), 0);
	f = sample("udp");
	ck_assert(!frame_read_arp(&f, &a));
}
END_TEST

START_TEST(ndp_frames)
{
	struct frame_head head = { two, one, 0 };
	struct frame f = sample("solicitation");
	struct ndp d, again;
	uint8_t group[16];
	unsigned i;
	size_t n;

	ck_assert(frame_read_ndp(&f, &d));
	ck_assert(!d.advertisement && d.has_mac && mac_equal(&d.mac, &one));
	ck_assert_mem_eq(d.from, f.from.ip, 16);
	ndp_group(group, d.target);
	ck_assert_mem_eq(d.to, group, 16);
	n = frame_make_ndp(out, sizeof(out), &head, &d);
	same_as_sample(n, "solicitation");
	ck_assert_uint_eq(frame_make_ndp(out, n - 1, &head, &d), 0);

	/* not with an address of its own for nobody, nor to anyone but a
	 * group: RFC 4861, 7.1.1 */
	memset(d.from, 0, 16);
	n = frame_make_ndp(out, sizeof(out), &head, &d);
	f = made(n, FRAME_NDP);
	ck_assert(!frame_read_ndp(&f, &d));
	f = sample("solicitation of nobody");
	ck_assert(frame_read_ndp(&f, &d) && !d.has_mac);
	memcpy(d.to, d.target, 16);
	f = made(frame_make_ndp(out, sizeof(out), &head, &d), FRAME_NDP);
	ck_assert(!frame_read_ndp(&f, &d));

	head = (struct frame_head){ one, two, 0 };
	f = sample("advertisement");
	ck_assert(frame_read_ndp(&f, &d));
	ck_assert(d.advertisement && d.solicited && d.override && !d.router);
	ck_assert(d.has_mac && mac_equal(&d.mac, &two));
	n = frame_make_ndp(out, sizeof(out), &head, &d);
	ck_assert_uint_eq(n, 86);
	ck_assert_mem_eq(out + 14, bytes + 14, n - 14);
	/* to all: must not be called solicited */
	memcpy(d.to, ndp_all_nodes, 16);
	head.vlan = TAG;
	f = made(frame_make_ndp(out, sizeof(out), &head, &d), FRAME_NDP);
	ck_assert(!frame_read_ndp(&f, &d));
	d.solicited = false;
	d.router = true;
	f = made(frame_make_ndp(out, sizeof(out), &head, &d), FRAME_NDP);
	ck_assert_mem_eq(out, "\x33\x33\0\0\0\1\2\0\0\0\0\2\x81\0", 14);
	ck_assert(frame_read_ndp(&f, &d));
	ck_assert(d.router && !d.solicited && d.override);
	for (i = 0; i < 8; i++) {
		d.router = (i & 1) != 0;
		d.override = (i & 2) != 0;
		d.has_mac = (i & 4) != 0;
		n = frame_make_ndp(out, sizeof(out), &head, &d);
		f = made(n, FRAME_NDP);
		ck_assert(frame_read_ndp(&f, &again));
		ck_assert(again.router == d.router && !again.solicited &&
		    again.override == d.override && again.has_mac == d.has_mac);
	}
	f = sample("router solicitation");
	ck_assert(!frame_read_ndp(&f, &d));
	f = sample("echo6");
	ck_assert(!frame_read_ndp(&f, &d));
}
END_TEST

/* Replaces a byte of a valid one and makes its sum right again. */
static bool
valid_with(const char *name, size_t at, unsigned char byte)
{
	struct frame f = sample(name);
	unsigned char *p = bytes + f.transport;
	size_t n = f.packet - 40;
	struct ndp d;

	bytes[at] = byte;
	put16(p + 2, 0);
	put16(p + 2,
	    sum_end(
		sum_of(sum_icmp(AF_INET6, bytes + 22, bytes + 38, n), p, n)));
	frame_parse(&f, bytes, f.length);
	return frame_read_ndp(&f, &d);
}

START_TEST(ndp_validity)
{
	struct frame f = sample("solicitation");
	struct ndp d;

	ck_assert(valid_with("solicitation", 60, 1));	     /* reserved */
	ck_assert(!valid_with("solicitation", 54, ND_LAST)); /* redirect */
	ck_assert(!valid_with("solicitation", 55, 1));	     /* code */
	ck_assert(!valid_with("solicitation", 62, 0xff));    /* group */
	ck_assert(!valid_with("solicitation", 79, 0));	     /* no length */
	ck_assert(!valid_with("solicitation", 79, 2));	     /* too long */
	ck_assert(valid_with("solicitation", 78, 9)); /* unknown: passed over */
	ck_assert(!valid_with("advertisement", 62, 0xff));
	ck_assert(!valid_with("advertisement", 79, 0));
	sample("solicitation");
	bytes[80] ^= 1;
	frame_parse(&f, bytes, f.length);
	ck_assert(!frame_read_ndp(&f, &d)); /* sum */
	/* an option nobody knows comes first */
	f = sample("solicitation");
	memmove(bytes + 94, bytes + 78, 8);
	memcpy(bytes + 78, "\016\2\1\2\3\4\5\6\1\1\3\4\5\6\7\010", 16);
	put16(bytes + 18, 48);
	put16(bytes + 56, 0);
	put16(bytes + 56,
	    sum_end(sum_of(sum_icmp(AF_INET6, bytes + 22, bytes + 38, 48),
		bytes + 54, 48)));
	frame_parse(&f, bytes, f.length + 16);
	ck_assert(frame_read_ndp(&f, &d));
	ck_assert(d.has_mac && mac_equal(&d.mac, &one));
}
END_TEST

static size_t
make_syn(size_t room, const struct frame_head *head, const struct peer *from,
    const struct peer *to, uint32_t seq)
{
	struct tcp_segment s = { .seq = seq,
		.window = 1000,
		.mss = from->family == AF_INET ? 1460 : 1440,
		.flags = FRAME_SYN };

	return frame_make_tcp(out, room, head, from, to, &s);
}

static void
check_syn(const char *from_ip, const char *to_ip, uint16_t vlan)
{
	struct frame_head head = { two, one, vlan };
	struct peer from = peer(from_ip, 40000), to = peer(to_ip, 80);
	struct tcp_segment s;
	struct mac m;
	size_t n = make_syn(sizeof(out), &head, &from, &to, 0xfedcba98);
	struct frame f = made(n, FRAME_FLOW);

	ck_assert(same_peer(&f.from, &from) && same_peer(&f.to, &to));
	ck_assert_uint_eq(f.vlan, vlan);
	ck_assert_uint_eq(f.tcp_flags, FRAME_SYN);
	ck_assert(frame_read_tcp(&f, &s));
	ck_assert_uint_eq(s.seq, 0xfedcba98);
	ck_assert_uint_eq(s.ack, 0);
	ck_assert_uint_eq(s.window, 1000);
	/* data offset 6, and the one option */
	ck_assert_uint_eq(n, f.transport + 24U);
	ck_assert_uint_eq(out[f.transport + 12], 0x60);
	ck_assert_uint_eq(get32(out + f.transport + 20),
	    0x02040000U + (f.family == AF_INET ? 1460 : 1440));
	ck_assert_uint_eq(out[f.net + (f.family == AF_INET ? 8 : 7)], 64);
	m = frame_mac_to(&f);
	ck_assert(mac_equal(&m, &two));
	ck_assert_uint_eq(make_syn(n - 1, &head, &from, &to, 1), 0);
	ck_assert_uint_eq(make_syn(n, &head, &from, &to, 1), n);
}

START_TEST(syns)
{
	struct frame_head head = { two, one, 0 };
	struct peer four = peer("192.0.2.1", 1), six = peer("2001:db8::1", 2),
		    nobody = { .port = 3 };

	check_syn("192.0.2.1", "192.0.2.2", 0);
	check_syn("192.0.2.1", "255.1.2.255", TAG);
	check_syn("2001:db8::1", "2001:db8:ffff::ffff", 0);
	check_syn("2001:db8::1", "fe80::1", TAG);
	ck_assert_uint_eq(make_syn(sizeof(out), &head, &four, &six, 1), 0);
	ck_assert_uint_eq(make_syn(sizeof(out), &head, &six, &four, 1), 0);
	ck_assert_uint_eq(make_syn(sizeof(out), &head, &nobody, &nobody, 1), 0);
}
END_TEST

SUITE(test_frame_make)
{
	Suite *s = suite_create("frame_make");

	SUITE_ADD(s, sums, 10);
	SUITE_ADD(s, arps, 10);
	SUITE_ADD(s, ndp_frames, 10);
	SUITE_ADD(s, ndp_validity, 10);
	SUITE_ADD(s, syns, 10);
	return s;
}
