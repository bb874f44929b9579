/* test_frame_tunnel.c: packets in packets, and answers to what does not fit. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "support/framegen.h"
#include "support/framemodel.h"
#include "support/suite.h"
#include "unit/dsr/forge.h"


/* The answer is an error about that very flow, as the client will see it. */
static void
check_too_big(const char *name, bool tagged, const struct peer *who)
{
	struct frame f = sample(name), a;
	size_t n;

	if (tagged)
		frame_parse(&f, bytes, put_tag(bytes, f.length, TAG));
	n = frame_make_too_big(out, sizeof(out), &f, who, 1400);
	a = answer(n, &f, FRAME_ERROR);
	ck_assert_uint_eq(a.protocol, f.protocol);
	ck_assert(same_peer(&a.to, &f.from) && same_peer(&a.from, &f.to));
	ck_assert_mem_eq(out + a.net + (f.family == AF_INET ? 12 : 8),
	    ip_of_peer(who == NULL ? &f.to : who),
	    f.family == AF_INET ? 4 : 16);
	if (f.family == AF_INET) {
		ck_assert_uint_eq(get16(out + a.transport), 0x0304);
		ck_assert_uint_eq(get32(out + a.transport + 4), 1400);
	} else {
		ck_assert_uint_eq(get16(out + a.transport), 0x0200);
		ck_assert_uint_eq(get32(out + a.transport + 4), 1400);
	}
	ck_assert_mem_eq(out + a.transport + 8, f.bytes + f.net, f.packet);
	ck_assert_uint_eq(frame_make_too_big(out, n - 1, &f, who, 1400), 0);
}

static size_t
too_big_with(const char *name, size_t at, unsigned char byte)
{
	struct frame f = sample(name);

	bytes[at] = byte;
	heal_ip4(bytes, f.length);
	frame_parse(&f, bytes, f.length);
	ck_assert(f.kind == FRAME_ICMP || f.kind == FRAME_FRAGMENT);
	return frame_make_too_big(out, sizeof(out), &f, NULL, 1400);
}

/* Errors and questions among ICMP; later fragments. */
static void
too_big_kinds(void)
{
	ck_assert_uint_gt(too_big_with("echo", 34, 8), 0);
	ck_assert_uint_gt(too_big_with("echo", 34, 13), 0);
	ck_assert_uint_eq(too_big_with("echo", 34, 4), 0);
	ck_assert_uint_eq(too_big_with("echo", 34, 5), 0);
	ck_assert_uint_eq(too_big_with("quote of an echo", 34, 3), 0);
	ck_assert_uint_eq(too_big_with("quote of an echo", 34, 11), 0);
	ck_assert_uint_eq(too_big_with("quote of an echo", 34, 12), 0);
	ck_assert_uint_gt(too_big_with("echo6", 54, 128), 0);
	ck_assert_uint_eq(too_big_with("echo6", 54, 127), 0);
	ck_assert_uint_gt(too_big_with("tcp6, the last fragment", 21, 9), 0);
	ck_assert_uint_eq(too_big_with("tcp, the last fragment", 20, 0x40), 0);
}

START_TEST(too_big)
{
	static const char *const none[] = { "udp, first fragment",
		"udp, a middle fragment", "icmp, first fragment",
		"port unreachable", "quote of an echo", "redirect", "too big6",
		"quote of a later fragment6", "solicitation", "arp request",
		"lldp", "listener report" };
	struct peer own = peer("192.0.2.200", 0), own6 = peer("2001:db8::c", 0);
	struct frame f;
	size_t i;

	check_too_big("udp", false, NULL);
	check_too_big("syn", true, &own);
	check_too_big("tcp behind ah", false, NULL);
	check_too_big("udp6", true, NULL);
	check_too_big("tcp6 behind all", false, &own6);
	check_too_big("udp6, first fragment", false, NULL);
	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		f = sample(none[i]);
		ck_assert_msg(
		    frame_make_too_big(out, sizeof(out), &f, NULL, 1400) == 0,
		    "%s", none[i]);
	}
	too_big_kinds();
	f = sample("syn");
	ck_assert_uint_eq(
	    frame_make_too_big(out, sizeof(out), &f, &own6, 1400), 0);
	/* never less than any network carries */
	f = sample("syn6");
	f = answer(frame_make_too_big(out, sizeof(out), &f, NULL, 1200), &f,
	    FRAME_ERROR);
	ck_assert_uint_eq(get32(out + f.transport + 4), 1280);
	/* to one machine only */
	f = sample("syn");
	bytes[0] |= 1;
	ck_assert_uint_eq(
	    frame_make_too_big(out, sizeof(out), &f, NULL, 1400), 0);
	f = sample("syn");
	memcpy(bytes + 30, "\344\0\0\1", 4);
	heal_ip4(bytes, f.length);
	frame_parse(&f, bytes, f.length);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert_uint_eq(
	    frame_make_too_big(out, sizeof(out), &f, NULL, 1400), 0);
	f = sample("syn");
	memset(bytes + 26, 0, 4);
	heal_ip4(bytes, f.length);
	frame_parse(&f, bytes, f.length);
	ck_assert_uint_eq(
	    frame_make_too_big(out, sizeof(out), &f, NULL, 1400), 0);
}
END_TEST

/* No answer is longer than it may be, and the room that is promised is
 * enough. */
START_TEST(too_big_long)
{
	static unsigned char big[3000];
	struct frame f;
	size_t n;

	n = unhex(big, sizeof(big),
	    "02000000000102000000000281002064080045000b00123440004011"
	    "0000c6336407c0000201138800500aec0000");
	put16(big + 28, 0);
	put16(big + 28, sum_end(sum_of(0, big + 18, 20)));
	frame_parse(&f, big, 18 + 0xb00);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	n = frame_make_too_big(out, FRAME_MADE_MAX, &f, NULL, 1400);
	f = made(n, FRAME_ERROR);
	ck_assert_uint_eq(f.packet, 576);
	n = unhex(big, sizeof(big),
	    "0200000000010200000000028100206486dd600000000b001140"
	    "20010db8000100000000000000000007"
	    "20010db8000000000000000000000001138800500b000000");
	frame_parse(&f, big, 18 + 40 + 0xb00);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	n = frame_make_too_big(out, FRAME_MADE_MAX, &f, NULL, 1400);
	ck_assert_uint_eq(n, FRAME_MADE_MAX);
	f = made(n, FRAME_ERROR);
	ck_assert_uint_eq(f.packet, 1280);
}
END_TEST

/* UDP behind an option of IPv6 that fills the quote, and behind one more. */
START_TEST(too_big_behind_long_headers)
{
	static unsigned char big[3000];
	struct frame f;
	size_t n;

	unhex(big, sizeof(big),
	    "02000000000102000000000286dd6000000008003c40"
	    "20010db8000100000000000000000007"
	    "20010db80000000000000000000000011193");
	unhex(big + 54 + 1184, 100, "1388005003600000");
	frame_parse(&f, big, 14 + 40 + 0x800);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	n = frame_make_too_big(out, FRAME_MADE_MAX, &f, NULL, 1400);
	(void)made(n, FRAME_ERROR);
	big[55]++;
	unhex(big + 54 + 1192, 100, "1388005003580000");
	frame_parse(&f, big, 14 + 40 + 0x800);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert_uint_eq(
	    frame_make_too_big(out, FRAME_MADE_MAX, &f, NULL, 1400), 0);
}
END_TEST

static void
check_outer4(const struct frame *f, const struct frame *outer)
{
	const unsigned char *in = f->bytes + f->net, *p = out + outer->net;
	bool may = f->family == AF_INET && (in[6] & 0x40) == 0;

	ck_assert_uint_eq(p[0], 0x45);
	ck_assert_uint_eq(
	    p[1], f->family == AF_INET ? in[1] : (get16(in) >> 4 & 0xff));
	ck_assert_uint_eq(get16(p + 6), may ? 0 : 0x4000);
	ck_assert_uint_eq(get16(p + 4), may ? 7 : 0);
}

static void
check_outer6(const struct frame *f, const struct frame *outer)
{
	const unsigned char *in = f->bytes + f->net, *p = out + outer->net;

	if (f->family == AF_INET6) {
		ck_assert_uint_eq(get32(p), get32(in));
	} else {
		ck_assert_uint_eq(get16(p) >> 4 & 0xff, in[1]);
		ck_assert_uint_eq(get32(p) & 0xfffff, 0);
	}
}

static void
check_tunnel(const struct frame *f, const struct peer *from,
    const struct peer *to, uint16_t vlan)
{
	struct frame_head head = { two, one, vlan };
	struct tunnel t = { .from = *from, .to = *to, .id = 7 };
	size_t n = frame_make_tunnel(out, sizeof(out), &head, f, &t);
	struct frame outer = made(n, FRAME_OTHER);

	ck_assert_uint_eq(
	    outer.protocol, f->family == AF_INET ? IPPROTO_IPIP : IPPROTO_IPV6);
	ck_assert(peer_same_host(&outer.from, from));
	ck_assert(peer_same_host(&outer.to, to));
	ck_assert_uint_eq(outer.vlan, vlan);
	ck_assert_uint_eq(
	    outer.packet, f->packet + frame_tunnel_adds(from->family));
	ck_assert_mem_eq(out + outer.transport, f->bytes + f->net, f->packet);
	if (from->family == AF_INET)
		check_outer4(f, &outer);
	else
		check_outer6(f, &outer);
	ck_assert_uint_eq(frame_make_tunnel(out, n - 1, &head, f, &t), 0);
	ck_assert_uint_eq(frame_make_tunnel(out, n, &head, f, &t), n);
}

START_TEST(tunnels)
{
	struct frame_head head = { two, one, 0 };
	struct peer four = peer("192.0.2.1", 0), four2 = peer("192.0.2.9", 0),
		    six = peer("2001:db8::1", 0), six2 = peer("2001:db8::9", 0);
	struct tunnel four_to_four = { .from = four, .to = four2 },
		      four_to_six = { .from = four, .to = six };
	struct frame f;
	size_t i;

	for (i = 0; i < samples_n; i++) {
		f = sample(samples[i].name);
		if (f.packet == 0) {
			ck_assert_uint_eq(frame_make_tunnel(out, sizeof(out),
					      &head, &f, &four_to_four),
			    0);
			continue;
		}
		/* class and congestion bits, and a label */
		if (f.family == AF_INET6) {
			put32(bytes + 14, 0x6ba54321);
		} else {
			bytes[15] = 0xb9;
			heal_ip4(bytes, f.length);
		}
		frame_parse(&f, bytes, f.length);
		check_tunnel(&f, &four, &four2, 0);
		check_tunnel(&f, &six, &six2, 0);
		check_tunnel(&f, &four, &four2, TAG);
		check_tunnel(&f, &six, &six2, TAG);
	}
	f = sample("udp");
	ck_assert_uint_eq(
	    frame_make_tunnel(out, sizeof(out), &head, &f, &four_to_six), 0);
	frame_parse(&f, bytes, 20);
	ck_assert_int_eq(f.kind, FRAME_BAD);
	ck_assert_uint_eq(
	    frame_make_tunnel(out, sizeof(out), &head, &f, &four_to_four), 0);
}
END_TEST

/* The longest packets. */
START_TEST(tunnels_full)
{
	static unsigned char long_bytes[65600], long_out[65700];
	struct frame_head head = { two, one, 0 };
	struct peer ip4 = peer("192.0.2.1", 0), ip6 = peer("2001:db8::1", 0);
	struct tunnel four = { .from = ip4, .to = ip4 },
		      six = { .from = ip6, .to = ip6 };
	struct frame f = { .bytes = long_bytes,
		.length = sizeof(long_bytes),
		.kind = FRAME_OTHER,
		.net = FRAME_HEAD,
		.family = AF_INET };

	f.packet = 65515;
	ck_assert_uint_eq(
	    frame_make_tunnel(long_out, sizeof(long_out), &head, &f, &four),
	    65549);
	f.packet++;
	ck_assert_uint_eq(
	    frame_make_tunnel(long_out, sizeof(long_out), &head, &f, &four), 0);
	f.packet = 65535;
	ck_assert_uint_eq(
	    frame_make_tunnel(long_out, sizeof(long_out), &head, &f, &six),
	    65589);
	f.packet++;
	ck_assert_uint_eq(
	    frame_make_tunnel(long_out, sizeof(long_out), &head, &f, &six), 0);
}
END_TEST

/* What is made of any frame fits into the room it is given, to the byte, and is
 * no bad frame; no answer is given to an answer. */
static void
check_made_of(struct framegen_frame *m)
{
	unsigned char *made_here = malloc(FRAME_MADE_MAX);
	struct frame f, a;
	size_t n, again;
	unsigned char *exact;

	frame_parse(&f, m->bytes, m->length);
	n = frame_make_too_big(made_here, FRAME_MADE_MAX, &f, NULL, 1300);
	exact = malloc(n + 1);
	if (n > 0) {
		again = frame_make_too_big(exact, n, &f, NULL, 1300);
		frame_parse(&a, exact, n);
		if (again != n || memcmp(exact, made_here, n) != 0 ||
		    a.kind == FRAME_BAD || !framemodel_checksum_ok(&a) ||
		    frame_make_too_big(
			made_here, FRAME_MADE_MAX, &a, NULL, 1300) != 0)
			ck_abort_msg("too big: kind %d", (int)a.kind);
	}
	free(exact);
	free(made_here);
}

START_TEST(of_any_frame)
{
	static struct framegen g = { .anybody = true };
	static struct framegen_frame m;
	uint64_t i;

	for (i = 0; i < (uint64_t)suite_rounds(4000); i++) {
		framegen_seed(&g, i);
		framegen_next(&g, &m);
		if (i % 2 != 0)
			framegen_corrupt(&g, &m);
		check_made_of(&m);
	}
}
END_TEST

SUITE(test_frame_tunnel)
{
	Suite *s = suite_create("frame_tunnel");

	SUITE_ADD(s, too_big, 10);
	SUITE_ADD(s, too_big_long, 10);
	SUITE_ADD(s, too_big_behind_long_headers, 10);
	SUITE_ADD(s, tunnels, 10);
	SUITE_ADD(s, tunnels_full, 10);
	SUITE_ADD(s, of_any_frame, 60);
	return s;
}
