/* test_offload.c: merged frames taken apart, checksums done. What the kernel
 * makes of the same frames is compared in test_link_merged. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "dsr/frame/frame.h"
#include "dsr/link/offload.h"
#include "support/suite.h"

enum { PIECE = 1000, DATA = 4500, MOST = 6000 };

static unsigned char bytes[MOST], out[MOST];
static struct link_frame merged;
static unsigned net, transport, head; /* of the frame that was made */

static void
put(unsigned at, unsigned value)
{
	bytes[at] = (unsigned char)(value >> 8);
	bytes[at + 1] = (unsigned char)value;
}

static void
make_ip(bool six, unsigned protocol, unsigned content)
{
	if (six) {
		put(net - 2, 0x86dd);
		bytes[net] = 0x60;
		put(net + 4, content);
		bytes[net + 6] = (unsigned char)protocol;
		bytes[net + 7] = 64;
		bytes[net + 8] = 0x20;
		bytes[net + 24] = 0x20;
		bytes[net + 39] = 1;
		return;
	}
	put(net - 2, 0x0800);
	bytes[net] = 0x45;
	put(net + 2, 20 + content);
	put(net + 4, 0xfffe);
	bytes[net + 8] = 64;
	bytes[net + 9] = (unsigned char)protocol;
	memcpy(bytes + net + 12, "\x0a\0\0\1\x0a\0\0\2", 8);
}

/* The header's sum, which frames that are read must have. */
static void
sum_ip(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += (unsigned)bytes[net + i] << 8 | bytes[net + i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put(net + 10, (unsigned)(~sum & 0xffff));
}

static void
make(unsigned type, unsigned tag, bool six, unsigned data)
{
	bool udp = type == LINK_GSO_UDP;

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = 2;
	bytes[6] = 2;
	if (tag > 0) {
		put(12, 0x8100);
		put(14, 7);
	}
	net = 14 + tag;
	transport = net + (six ? 40 : 20);
	head = transport + (udp ? 8 : 32);
	make_ip(six, udp ? 17 : 6, head - transport + data);
	if (!six)
		sum_ip();
	put(transport, 1024);
	put(transport + 2, 80);
	if (udp) {
		put(transport + 4, 8 + data);
	} else {
		put(transport + 6,
		    0xfc00); /* sequence: wraps in the low half */
		bytes[transport + 12] = 0x80;
		bytes[transport + 13] =
		    0x80 | FRAME_ACK | FRAME_PSH | FRAME_FIN;
		memset(bytes + transport + 20, 1, 12);
	}
	for (unsigned i = 0; i < data; i++)
		bytes[head + i] = (unsigned char)(i * 13 + i / 256);
	merged = (struct link_frame){ .bytes = bytes,
		.length = head + data,
		.offload = { .flags = LINK_CHECKSUM,
		    .type = (uint8_t)type,
		    .segment_size = PIECE,
		    .sum_start = (uint16_t)transport,
		    .sum_offset = udp ? 6 : 16 } };
}

static unsigned
sequence(const unsigned char *f)
{
	const unsigned char *p = f + transport + 4;

	return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 |
	    (unsigned)p[2] << 8 | p[3];
}

/* The i-th piece is whole and has its part of the data. */
static void
expect_piece(unsigned i, unsigned here)
{
	struct frame f;

	ck_assert_uint_eq(
	    offload_segment(out, sizeof(out), &merged, i), head + here);
	frame_parse(&f, out, head + here);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert_uint_eq(f.packet, head - net + here);
	ck_assert_uint_eq(f.from.port, 1024);
	ck_assert(frame_checksum_ok(&f));
	ck_assert_mem_eq(out + head, bytes + head + i * PIECE, here);
	ck_assert_uint_eq(offload_segment(out, head + here - 1, &merged, i), 0);
}

static const struct {
	unsigned type, tag;
	bool six;
} shape[] = {
	{ LINK_GSO_TCP4, 0, false },
	{ LINK_GSO_TCP4, 4, false },
	{ LINK_GSO_TCP6, 0, true },
	{ LINK_GSO_TCP6, 4, true },
	{ LINK_GSO_UDP, 0, false },
	{ LINK_GSO_UDP, 4, true },
};
enum { SHAPES = sizeof(shape) / sizeof(shape[0]) };

START_TEST(each_piece_is_a_frame)
{
	make(shape[_i].type, shape[_i].tag, shape[_i].six, DATA);
	ck_assert_uint_eq(offload_segments(&merged), 5);
	for (unsigned i = 0; i < 4; i++)
		expect_piece(i, PIECE);
	expect_piece(4, DATA - 4 * PIECE);
	ck_assert_uint_eq(offload_segment(out, sizeof(out), &merged, 5), 0);
	/* no rest */
	make(shape[_i].type, shape[_i].tag, shape[_i].six, 2 * PIECE);
	ck_assert_uint_eq(offload_segments(&merged), 2);
	expect_piece(1, PIECE);
}
END_TEST

START_TEST(what_tells_pieces_apart)
{
	static const unsigned flags[] = { 0x80 | FRAME_ACK, FRAME_ACK,
		FRAME_ACK, FRAME_ACK, FRAME_ACK | FRAME_PSH | FRAME_FIN };

	make(LINK_GSO_TCP4 | LINK_GSO_ECN, 0, false, DATA);
	for (unsigned i = 0; i < 5; i++) {
		offload_segment(out, sizeof(out), &merged, i);
		ck_assert_uint_eq(out[transport + 13], flags[i]);
		ck_assert_uint_eq(sequence(out), 0xfc00 + i * PIECE);
		ck_assert_uint_eq((unsigned)(out[net + 4] << 8 | out[net + 5]),
		    (0xfffe + i) & 0xffff);
	}
}
END_TEST

START_TEST(udp_without_a_sum_stays_so)
{
	make(LINK_GSO_UDP, 0, false, DATA);
	merged.offload.flags = 0;
	ck_assert_uint_gt(offload_segment(out, sizeof(out), &merged, 1), 0);
	ck_assert_uint_eq(out[transport + 6], 0);
	ck_assert_uint_eq(out[transport + 7], 0);
}
END_TEST

START_TEST(a_missing_sum_is_done)
{
	struct frame f;

	make(LINK_GSO_TCP4, 0, false, 300);
	merged.offload.type = 0;
	/* 10.0.0.1 and 10.0.0.2, protocol 6, 332 bytes */
	put(transport + 16, 0x0a00 + 1 + 0x0a00 + 2 + 6 + 332);
	ck_assert_uint_eq(offload_segments(&merged), 1);
	frame_parse(&f, bytes, merged.length);
	ck_assert(!frame_checksum_ok(&f));
	ck_assert(offload_finish(&merged));
	ck_assert(frame_checksum_ok(&f));
	/* nothing is left to do */
	ck_assert(offload_finish(&merged));
	ck_assert(frame_checksum_ok(&f));
}
END_TEST

START_TEST(what_does_not_fit_the_frame_is_refused)
{
	make(LINK_GSO_TCP4, 0, false, DATA);
	merged.offload.segment_size = 0;
	ck_assert_uint_eq(offload_segments(&merged), 0);
	ck_assert_uint_eq(offload_segment(out, sizeof(out), &merged, 0), 0);
	make(LINK_GSO_TCP4, 0, false, DATA);
	merged.offload.type = LINK_GSO_UDP;
	ck_assert_uint_eq(offload_segments(&merged), 0);
	merged.offload.type = 3;
	ck_assert_uint_eq(offload_segments(&merged), 0);
	make(LINK_GSO_TCP4, 0, false, 0);
	ck_assert_uint_eq(offload_segments(&merged), 0);
	make(LINK_GSO_TCP4, 0, false, DATA);
	bytes[transport + 12] = 0xf0;
	merged.length = head;
	ck_assert_uint_eq(offload_segments(&merged), 0);
	make(LINK_GSO_TCP4, 0, false, DATA);
	merged.offload.sum_start = 65535;
	merged.offload.sum_offset = 65535;
	ck_assert(!offload_finish(&merged));
	merged.offload.sum_start = (uint16_t)(merged.length - 17);
	merged.offload.sum_offset = 16;
	ck_assert(!offload_finish(&merged));
	merged.offload.sum_start--;
	ck_assert(offload_finish(&merged));
}
END_TEST

SUITE(test_offload)
{
	Suite *s = suite_create("offload");
	TCase *t = tcase_create("offload");

	tcase_add_loop_test(t, each_piece_is_a_frame, 0, SHAPES);
	tcase_add_test(t, what_tells_pieces_apart);
	tcase_add_test(t, udp_without_a_sum_stays_so);
	tcase_add_test(t, a_missing_sum_is_done);
	tcase_add_test(t, what_does_not_fit_the_frame_is_refused);
	suite_add_tcase(s, t);
	return s;
}
