/* test_frame_mld.c: queries of multicast listener discovery, and reports, byte
 * by byte. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "dsr/frame/frame.h"
#include "dsr/frame/frame_bytes.h"
#include "support/suite.h"

static const struct mac own = { { 2, 0, 0, 0, 0, 0xee } };
static const uint8_t link_local[16] = { 0xfe, 0x80, [15] = 9 },
		     nobody[16] = { 0 },
		     group[16] = { 0xff, 2, [11] = 1, 0xff, 1, 2, 3 },
		     all_nodes[16] = { 0xff, 2, [15] = 1 };

static unsigned char bytes[256];
static struct mld_query q;

/* A query with this much of MLD, from a router; `at` is where MLD begins. */
static size_t
query(size_t size, const uint8_t about[16], unsigned code, uint16_t vlan)
{
	struct frame_head head = { .to = own, .from = own, .vlan = vlan };
	size_t at = head_size(&head), n = 8 + size;
	unsigned char *p = bytes + make_head(bytes, &head, TYPE_IP6);
	static const unsigned char alert[8] = { 58, 0, 5, 2, 0, 0, 1, 0 };

	memset(p, 0, 40 + n);
	p[0] = 0x60;
	p[5] = (unsigned char)n;
	p[7] = 1;
	memcpy(p + 8, link_local, 16);
	memcpy(p + 24, all_nodes, 16);
	memcpy(p + 40, alert, 8);
	p += 48;
	p[0] = 130;
	put16(p + 4, code);
	memcpy(p + 8, about, 16);
	return at + 48;
}

static void
sum_up(size_t at, size_t size)
{
	unsigned char *p = bytes + at;

	put16(p + 2, 0);
	put16(p + 2,
	    sum_end(sum_of(
		sum_icmp(AF_INET6, bytes + at - 40, bytes + at - 24, size), p,
		size)));
}

static bool
is_query(size_t at, size_t size)
{
	struct frame f;

	frame_parse(&f, bytes, at + size);
	return f.kind == FRAME_ICMP && frame_read_mld_query(&f, &q);
}

START_TEST(queries)
{
	static const struct {
		unsigned code;
		uint32_t ms, ms_v1;
	} codes[] = { { 0, 0, 0 }, { 1000, 1000, 1000 },
		{ 0x7fff, 32767, 32767 }, { 0x8000, 32768, 0x8000 },
		{ 0x8001, 32776, 0x8001 }, { 0xffff, 8387584, 0xffff } };
	uint16_t vlan = _i == 0 ? 0 : 77;
	size_t at, i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		at = query(24, nobody, codes[i].code, vlan);
		sum_up(at, 24);
		ck_assert(is_query(at, 24));
		ck_assert(q.v1);
		ck_assert_uint_eq(q.delay_ms, codes[i].ms_v1);
		ck_assert_mem_eq(q.group, nobody, 16);
		at = query(28, group, codes[i].code, vlan);
		sum_up(at, 28);
		ck_assert(is_query(at, 28));
		ck_assert(!q.v1);
		ck_assert_uint_eq(q.delay_ms, codes[i].ms);
		ck_assert_mem_eq(q.group, group, 16);
	}
	/* about two sources: the group counts */
	at = query(60, group, 1, vlan);
	bytes[at + 27] = 2;
	sum_up(at, 60);
	ck_assert(is_query(at, 60));
}
END_TEST

/* From beyond the segment, or not as routers send them. */
START_TEST(no_queries)
{
	static const struct {
		int at; /* of the byte that is changed; from MLD on */
		unsigned char value;
	} wrong[] = { { 0, 131 }, { 0, 132 }, { 0, 143 }, { -41, 2 },
		{ -41, 64 }, { -40, 0x20 }, { -39, 0xc0 }, { -6, 1 },
		{ -3, 7 } };
	size_t at, i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		at = query(28, nobody, 1000, 0);
		bytes[(int)at + wrong[i].at] = wrong[i].value;
		sum_up(at, 28);
		ck_assert_msg(!is_query(at, 28), "%d", wrong[i].at);
	}
	at = query(28, nobody, 1000, 0);
	sum_up(at, 28);
	bytes[at + 3] ^= 1;
	ck_assert(!is_query(at, 28));
	/* no length of either version */
	for (i = 8; i < 28; i++) {
		at = query(i, nobody, 1000, 0);
		sum_up(at, i);
		ck_assert_int_eq(is_query(at, i), i == 24);
	}
}
END_TEST

/* The frame, after the MACs, in full. */
static void
expect(const struct mld_report *r, uint16_t vlan, const uint8_t to[16],
    const unsigned char *mld, size_t size)
{
	struct frame_head head = { .to = own, .from = own, .vlan = vlan };
	size_t n = frame_make_mld_report(bytes, sizeof(bytes), &head, r);
	size_t at = n - size;
	struct frame f;
	struct mac m;

	ck_assert_uint_eq(n, head_size(&head) + 48 + size);
	frame_parse(&f, bytes, n);
	ck_assert_int_eq(f.kind, FRAME_ICMP);
	ck_assert(frame_checksum_ok(&f));
	ck_assert_uint_eq(f.vlan, vlan);
	m = frame_mac_from(&f);
	ck_assert_mem_eq(&m, &own, sizeof(m));
	m = frame_mac_to(&f);
	ck_assert_uint_eq(m.byte[0] << 8 | m.byte[1], 0x3333);
	ck_assert_mem_eq(m.byte + 2, to + 12, 4);
	ck_assert_mem_eq(f.to.ip, to, 16);
	ck_assert_mem_eq(f.from.ip, r->from, 16);
	ck_assert_uint_eq(bytes[f.net + 7], 1);
	ck_assert_mem_eq(bytes + at - 8, "\x3a\0\5\2\0\0\1\0", 8);
	put16(bytes + at + 2, 0);
	ck_assert_mem_eq(bytes + at, mld, size);
	ck_assert(!frame_read_mld_query(&f, &q));
}

START_TEST(reports)
{
	static const uint8_t routers[16] = { 0xff, 2, [15] = 2 },
			     v2[16] = { 0xff, 2, [15] = 0x16 };
	struct mld_report r = { .state = MLD_JOIN };
	uint16_t vlan = _i == 0 ? 0 : 77;
	unsigned char mld[28] = { 143, [7] = 1, [8] = 4 }, old[24] = { 131 };

	memcpy(mld + 12, group, 16);
	memcpy(old + 8, group, 16);
	memcpy(r.group, group, 16);
	expect(&r, vlan, v2, mld, sizeof(mld)); /* from :: */
	memcpy(r.from, link_local, 16);
	r.state = MLD_IS_MEMBER;
	mld[8] = 2;
	expect(&r, vlan, v2, mld, sizeof(mld));
	r.state = MLD_LEAVE;
	mld[8] = 3;
	expect(&r, vlan, v2, mld, sizeof(mld));
	r.v1 = true;
	old[0] = 132;
	expect(&r, vlan, routers, old, sizeof(old));
	r.state = MLD_JOIN;
	old[0] = 131;
	expect(&r, vlan, group, old, sizeof(old));
	ck_assert_uint_eq(
	    frame_make_mld_report(bytes, 80, &(struct frame_head){ .to = own },
		&r),
	    0);
}
END_TEST

SUITE(test_frame_mld)
{
	Suite *s = suite_create("frame_mld");

	SUITE_ADD_LOOP(s, queries, 10, 2);
	SUITE_ADD(s, no_queries, 10);
	SUITE_ADD_LOOP(s, reports, 10, 2);
	return s;
}
