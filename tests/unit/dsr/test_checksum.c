/* test_checksum.c: checksums left to do are done, and no others are touched. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/frame/checksum.h"
#include "dsr/frame/frame.h"
#include "support/suite.h"

enum { MOST = 1600 };

struct shape {
	bool six, udp, tag;
	bool extended; /* IPv6: destination options; IPv4: options */
	unsigned data;
};

static unsigned char bytes[MOST], was[MOST];
static unsigned net, transport, length, field;

static void
put(unsigned at, unsigned value)
{
	bytes[at] = (unsigned char)(value >> 8);
	bytes[at + 1] = (unsigned char)value;
}

static uint32_t
add(uint32_t sum, unsigned from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i & 1 ? bytes[from + i] : (uint32_t)bytes[from + i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* What the sender's kernel leaves in the field. */
static uint32_t
pseudo(const struct shape *s)
{
	uint32_t sum = length - transport + (s->udp ? 17U : 6U);

	return add(sum, net + (s->six ? 8 : 12), s->six ? 32 : 8);
}

static void
make_ip(const struct shape *s)
{
	unsigned protocol = s->udp ? 17 : 6;

	if (s->six) {
		put(net - 2, 0x86dd);
		bytes[net] = 0x60;
		put(net + 4, length - net - 40);
		bytes[net + 6] =
		    (unsigned char)(s->extended ? IPPROTO_DSTOPTS : protocol);
		if (s->extended) {
			bytes[net + 40] = (unsigned char)protocol;
			bytes[net + 42] = 1; /* PadN */
			bytes[net + 43] = 4;
		}
		bytes[net + 8] = bytes[net + 24] = 0xfd;
		bytes[net + 39] = 9;
		return;
	}
	put(net - 2, 0x0800);
	bytes[net] = s->extended ? 0x47 : 0x45;
	put(net + 2, length - net);
	bytes[net + 8] = 64;
	bytes[net + 9] = (unsigned char)protocol;
	memcpy(bytes + net + 12, "\x0a\x01\xff\xfe\x0a\xee\0\2", 8);
	put(net + 10, ~add(0, net, s->extended ? 28 : 20) & 0xffff);
}

/* The frame with the right checksum. */
static void
make(const struct shape *s)
{
	uint32_t sum;

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = bytes[6] = 2;
	net = 14;
	if (s->tag) {
		put(12, 0x8100);
		net = 18;
	}
	transport = net + (s->six ? 40 : 20) + (s->extended ? 8 : 0);
	field = transport + (s->udp ? 6 : 16);
	length = transport + (s->udp ? 8 : 20) + s->data;
	make_ip(s);
	for (unsigned i = transport; i < length; i++)
		bytes[i] = (unsigned char)rand();
	if (s->udp)
		put(transport + 4, length - transport);
	else
		bytes[transport + 12] = 5 << 4;
	put(field, 0);
	sum = ~add(pseudo(s), transport, length - transport) & 0xffff;
	put(field, sum == 0 ? 0xffff : sum);
}

static void
expect_untouched(const char *what)
{
	memcpy(was, bytes, sizeof(was));
	ck_assert_msg(!checksum_complete(bytes, length), "%s", what);
	ck_assert_mem_eq(bytes, was, sizeof(was));
}

static void
each_shape(void (*expect)(const struct shape *s))
{
	for (unsigned i = 0; i < 16 * 64; i++) {
		struct shape s = { .six = i & 1,
			.udp = i & 2,
			.tag = i & 4,
			.extended = i & 8,
			.data = (i >> 4) * 23 };

		expect(&s);
	}
}

static void
expect_done(const struct shape *s)
{
	struct frame f;

	make(s);
	frame_parse(&f, bytes, length);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert(frame_checksum_ok(&f));
	memcpy(was, bytes, sizeof(was));
	put(field, pseudo(s));
	ck_assert(checksum_complete(bytes, length));
	ck_assert_mem_eq(bytes, was, sizeof(was));
}

START_TEST(what_is_left_to_do_is_done)
{
	each_shape(expect_done);
}
END_TEST

static void
expect_left_alone(const struct shape *s)
{
	make(s);
	expect_untouched("right");
	bytes[field] ^= 0x10;
	expect_untouched("wrong");
	put(field, pseudo(s));
	put(transport + (s->udp ? 4 : 12), 0x2000);
	if (s->udp)
		expect_untouched("longer than the packet");
}

START_TEST(right_and_wrong_ones_are_left_alone)
{
	each_shape(expect_left_alone);
}
END_TEST

/* One in 65,536 frames has it: the field is the pseudo header's sum and
 * right. */
static void
expect_right_by_chance(const struct shape *s)
{
	uint32_t sum;

	if (s->data < 2)
		return;
	make(s);
	put(transport + (s->udp ? 8 : 20), 0);
	put(field, pseudo(s));
	sum = add(pseudo(s), transport, length - transport);
	put(transport + (s->udp ? 8 : 20), ~sum & 0xffff);
	expect_untouched("right by chance");
}

START_TEST(a_right_sum_that_looks_unfinished_is_left_alone)
{
	each_shape(expect_right_by_chance);
}
END_TEST

START_TEST(a_sum_of_zero_is_written_as_the_other_zero)
{
	struct shape s = { .udp = true, .data = 2 };
	uint32_t sum;

	make(&s);
	put(transport + 8, 0);
	put(field, pseudo(&s));
	sum = add(0, transport, length - transport);
	put(transport + 8, ~sum & 0xffff);
	ck_assert(checksum_complete(bytes, length));
	ck_assert_uint_eq(bytes[field], 0xff);
	ck_assert_uint_eq(bytes[field + 1], 0xff);
}
END_TEST

START_TEST(fragments_are_left_alone)
{
	struct shape s = { .udp = true, .data = 100 };

	make(&s);
	put(field, pseudo(&s));
	put(net + 6, 0x2000);
	expect_untouched("the first");
	put(net + 6, 5);
	expect_untouched("a later one");
	put(net + 6, 0x4000);
	ck_assert(checksum_complete(bytes, length));
}
END_TEST

/* Each length has memory of its own, so that sanitizers see its end. */
static void
expect_no_reading_behind(const struct shape *s)
{
	if (s->data > 23)
		return;
	make(s);
	put(field, pseudo(s));
	for (unsigned n = 0; n < length; n++) {
		unsigned char *cut = malloc(n + 1);

		memcpy(cut + 1, bytes, n);
		ck_assert(!checksum_complete(cut + 1, n));
		ck_assert_mem_eq(cut + 1, bytes, n);
		free(cut);
	}
}

START_TEST(cut_frames)
{
	each_shape(expect_no_reading_behind);
}
END_TEST

START_TEST(any_bytes)
{
	struct shape s = { .data = 40 };

	for (unsigned i = 0; i < 20000; i++) {
		s.six = i & 1;
		s.udp = i & 2;
		s.tag = i & 4;
		make(&s);
		for (unsigned k = 0; k < 1 + i % 5; k++)
			bytes[12 + (unsigned)rand() % (length - 12)] =
			    (unsigned char)rand();
		(void)checksum_complete(bytes, length);
	}
}
END_TEST

SUITE(test_checksum)
{
	Suite *s = suite_create("checksum");
	TCase *t = tcase_create("checksum");

	tcase_set_timeout(t, 20);
	tcase_add_test(t, what_is_left_to_do_is_done);
	tcase_add_test(t, right_and_wrong_ones_are_left_alone);
	tcase_add_test(t, a_right_sum_that_looks_unfinished_is_left_alone);
	tcase_add_test(t, a_sum_of_zero_is_written_as_the_other_zero);
	tcase_add_test(t, fragments_are_left_alone);
	tcase_add_test(t, cut_frames);
	tcase_add_test(t, any_bytes);
	suite_add_tcase(s, t);
	return s;
}
