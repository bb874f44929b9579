/* test_frame_fragment.c: packets in pieces, which put together are what they
 * were, and errors about tunnelled packets. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/frame/frame_bytes.h"
#include "support/framegen.h"
#include "support/suite.h"
#include "unit/dsr/forge.h"

enum { LONG = 3000 };

static unsigned char big[LONG + 200], whole[LONG + 200];

/* UDP of IPv4 with these options and flags, `content` bytes behind the header;
 * of IPv6 without options. */
static struct frame
make_long(unsigned family, const char *options, unsigned cut, size_t content)
{
	size_t option_n = strlen(options) / 2, i;
	unsigned char *ip = big + FRAME_HEAD;
	struct frame f;

	memset(big, 0, sizeof(big));
	unhex(big, FRAME_HEAD,
	    family == AF_INET ? "0200000000010200000000020800"
			      : "02000000000102000000000286dd");
	if (family == AF_INET) {
		unhex(ip, 20, "4500000012340000401100000a0000010a000002");
		ip[0] = (unsigned char)(0x45 + option_n / 4);
		put16(ip + 2, (uint32_t)(20 + option_n + content));
		put16(ip + 6, cut);
		unhex(ip + 20, option_n, options);
		ip += 20 + option_n;
	} else {
		unhex(ip, 40,
		    "6000000000001140"
		    "20010db8000000000000000000000001"
		    "20010db8000000000000000000000002");
		put16(ip + 4, (uint32_t)content);
		ip += 40;
	}
	for (i = 0; i < content; i++)
		ip[i] = (unsigned char)(i * 7 + i / 256);
	if ((cut & IP4_OFFSET) == 0)
		put16(ip + 4, (uint32_t)content);
	heal_ip4(big, (size_t)(ip - big) + content);
	frame_parse(&f, big, (size_t)(ip - big) + content);
	ck_assert_ptr_null(f.wrong);
	return f;
}

/* Where the content of a piece belongs, in the packet that is cut. */
static size_t
place(const struct frame *p, size_t first, bool *more)
{
	const unsigned char *ip = p->bytes + p->net;

	if (p->family == AF_INET) {
		*more = (get16(ip + 6) & IP4_MORE) != 0;
		return (size_t)(get16(ip + 6) & IP4_OFFSET) * 8 - first;
	}
	*more = ip[40 + 3] & 1;
	return get16(ip + 40 + 2) & 0xfff8U;
}

/* Cuts it and puts it together again. */
static void
check_pieces(const struct frame *f, unsigned mtu, bool last)
{
	bool ip4 = f->family == AF_INET, more = true;
	size_t head = ip4 ? (size_t)(f->bytes[f->net] & 15) * 4 : 40;
	size_t first =
	    ip4 ? (size_t)(get16(f->bytes + f->net + 6) & IP4_OFFSET) * 8 : 0;
	size_t done = 0, got = 0, n, at, content = f->packet - head;
	size_t heads = ip4 ? head : head + 8;
	struct frame p;

	while ((n = frame_fragment(out, sizeof(out), f, mtu, 77, &done)) > 0) {
		frame_parse(&p, out, n);
		ck_assert_msg(p.wrong == NULL, "mtu %u: %s", mtu, p.wrong);
		ck_assert_uint_le(p.packet, mtu);
		ck_assert_uint_eq(p.net + p.packet, n);
		ck_assert_uint_eq(p.fragment_id, ip4 ? 0x1234 : 77);
		at = place(&p, first, &more);
		ck_assert_uint_eq(at, got);
		memcpy(whole + got, out + p.net + heads, p.packet - heads);
		got += p.packet - heads;
		ck_assert_uint_eq(got, done);
		ck_assert(more || got == content);
		/* no room, no frame, nothing done */
		at = done - (p.packet - heads);
		ck_assert_uint_eq(
		    frame_fragment(out, n - 1, f, mtu, 77, &at), 0);
	}
	ck_assert_uint_eq(got, content);
	ck_assert(more == !last);
	ck_assert_mem_eq(whole, f->bytes + f->net + head, content);
}

START_TEST(pieces)
{
	unsigned mtu;
	struct frame f;
	size_t done = 0;

	for (mtu = 68; mtu < 1600; mtu += mtu < 100 ? 1 : 37) {
		f = make_long(AF_INET, "", 0, LONG);
		check_pieces(&f, mtu, true);
		/* a piece itself: in the middle, and the last */
		f = make_long(AF_INET, "", IP4_MORE | 100, 1480);
		check_pieces(&f, mtu, false);
		f = make_long(AF_INET, "", 100, 1501);
		check_pieces(&f, mtu, true);
		f = make_long(AF_INET6, "", 0, LONG - 1);
		check_pieces(&f, mtu, true);
	}
	f = make_long(AF_INET, "", 0, LONG);
	ck_assert_uint_eq(
	    frame_fragment(out, sizeof(out), &f, 27, 0, &done), 0);
	ck_assert_uint_eq(done, 0);
	f.kind = FRAME_BAD;
	ck_assert_uint_eq(
	    frame_fragment(out, sizeof(out), &f, 1000, 0, &done), 0);
}
END_TEST

/* Record route is for the first alone, a security label for all. */
START_TEST(options)
{
	struct frame f =
	    make_long(AF_INET, "07070400000000018204010100000000", 0, 100);
	size_t done = 0, n;

	n = frame_fragment(out, sizeof(out), &f, 84, 0, &done);
	ck_assert_uint_eq(n, FRAME_HEAD + 84);
	ck_assert_mem_eq(out + FRAME_HEAD + 20, f.bytes + FRAME_HEAD + 20, 16);
	n = frame_fragment(out, sizeof(out), &f, 84, 0, &done);
	ck_assert_uint_gt(n, 0);
	ck_assert_mem_eq(
	    out + FRAME_HEAD + 20, "\1\1\1\1\1\1\1\1\x82\4\1\1\0\0\0\0", 16);
	check_pieces(&f, 84, true);
}
END_TEST

/* ---- errors ---- */

/* The router's answer to a tunnelled packet; `packet` is in `whole`. */
static struct frame
make_error(unsigned family, unsigned mtu, struct tunnel *t)
{
	struct frame_head head = { two, one, 0 };
	struct frame f = make_long(AF_INET, "", IP4_DONT_FRAGMENT, 1400), outer,
		     e;
	bool ip4 = family == AF_INET;
	struct peer router = peer(ip4 ? "192.0.2.99" : "2001:db8::99", 0);
	size_t n;

	*t =
	    (struct tunnel){ .from = peer(ip4 ? "192.0.2.1" : "2001:db8::a", 0),
		    .to = peer(ip4 ? "192.0.2.7" : "2001:db8::7", 0) };
	n = frame_make_tunnel(whole, sizeof(whole), &head, &f, t);
	frame_parse(&outer, whole, n);
	ck_assert_ptr_null(outer.wrong);
	n = frame_make_too_big(out, sizeof(out), &outer, &router, mtu);
	ck_assert_uint_gt(n, 0);
	frame_parse(&e, out, n);
	ck_assert_int_eq(e.kind, FRAME_ICMP);
	return e;
}

/* With another sum, as the router would have written it. */
static void
heal_icmp(const struct frame *f)
{
	unsigned char *p = out + f->transport, *ip = out + f->net;
	size_t n = f->net + f->packet - f->transport;

	put16(p + 2, 0);
	put16(p + 2,
	    sum_end(sum_of(sum_icmp(f->family, ip + 8, ip + 24, n), p, n)));
}

static void
expect_refused(struct frame *f, size_t at, unsigned char byte)
{
	unsigned char was = out[at];
	struct tunnel_error e;

	out[at] = byte;
	heal_icmp(f);
	frame_parse(f, out, f->length);
	ck_assert_msg(!frame_read_tunnel_error(f, &e), "byte %zu", at);
	out[at] = was;
	heal_icmp(f);
	frame_parse(f, out, f->length);
	ck_assert(frame_read_tunnel_error(f, &e));
}

static void
check_errors(unsigned family)
{
	struct tunnel t;
	struct frame f = make_error(family, 1380, &t);
	struct tunnel_error e;
	size_t quote = f.transport + 8, size = family == AF_INET ? 6 : 4;
	bool ip4 = family == AF_INET;

	ck_assert(frame_read_tunnel_error(&f, &e));
	ck_assert_uint_eq(e.mtu, 1380);
	ck_assert(peer_same_host(&e.to, &t.to));
	/* another error; of another protocol; not longer than what fits */
	expect_refused(&f, f.transport, ip4 ? 11 : 3);
	expect_refused(&f, f.transport + 1 - !ip4, 1);
	expect_refused(&f, quote + (ip4 ? 9 : 6), IPPROTO_UDP);
	expect_refused(&f, f.transport + size + (ip4 ? 0 : 2), 0x10);
	/* a wrong sum */
	out[f.transport + 2] ^= 1;
	ck_assert(!frame_read_tunnel_error(&f, &e));
	out[f.transport + 2] ^= 1;
	ck_assert(frame_read_tunnel_error(&f, &e));
	/* about something that was not in a tunnel */
	f = sample(ip4 ? "quote of an echo" : "quote of a later fragment6");
	ck_assert(!frame_read_tunnel_error(&f, &e));
	f = sample(ip4 ? "syn" : "syn6");
	ck_assert(!frame_read_tunnel_error(&f, &e));
}

START_TEST(errors)
{
	check_errors(AF_INET);
	check_errors(AF_INET6);
}
END_TEST

/* RFC 1191, 5: 0 from old routers. */
START_TEST(errors_without_size)
{
	struct tunnel_error e;
	struct tunnel t;
	struct frame f = make_error(AF_INET, 1380, &t);

	put16(out + f.transport + 6, 0);
	heal_icmp(&f);
	ck_assert(frame_read_tunnel_error(&f, &e));
	ck_assert_uint_eq(e.mtu, 1006);
	put16(out + f.transport + 8 + 2, 68);
	heal_icmp(&f);
	ck_assert(!frame_read_tunnel_error(&f, &e));
	put16(out + f.transport + 8 + 2, 69);
	heal_icmp(&f);
	ck_assert(frame_read_tunnel_error(&f, &e));
	ck_assert_uint_eq(e.mtu, 68);
}
END_TEST

/* Cut anywhere, nothing is read beyond the end: of memory of its own. */
START_TEST(errors_cut)
{
	struct tunnel_error e;
	struct tunnel t;
	struct frame f, cut;
	unsigned char *exact;
	size_t n, family, said = 0;

	for (family = 0; family < 2; family++) {
		f = make_error(family == 0 ? AF_INET : AF_INET6, 1380, &t);
		for (n = f.transport; n < f.length; n++) {
			exact = malloc(n);
			memcpy(exact, out, n);
			if (family == 0) {
				put16(exact + f.net + 2, (uint32_t)(n - f.net));
				heal_ip4(exact, n);
			} else {
				put16(exact + f.net + 4,
				    (uint32_t)(n - f.net - 40));
			}
			frame_parse(&cut, exact, n);
			said += frame_read_tunnel_error(&cut, &e);
			free(exact);
		}
	}
	ck_assert_uint_le(said, 2);
}
END_TEST

/* Whatever comes: pieces of good packets are good, and fit. */
START_TEST(of_any_frame)
{
	static struct framegen g = { .anybody = true };
	static struct framegen_frame m;
	struct tunnel_error e;
	struct frame f, p;
	size_t n, done;
	uint64_t i;

	for (i = 0; i < (uint64_t)suite_rounds(4000); i++) {
		framegen_seed(&g, i);
		framegen_next(&g, &m);
		if (i % 2 != 0)
			framegen_corrupt(&g, &m);
		frame_parse(&f, m.bytes, m.length);
		(void)frame_read_tunnel_error(&f, &e);
		if (f.kind == FRAME_BAD || f.family != AF_INET || f.packet == 0)
			continue;
		done = 0;
		while ((n = frame_fragment(
			    out, sizeof(out), &f, 84, 0, &done)) > 0) {
			frame_parse(&p, out, n);
			if (p.packet > 84 ||
			    (p.kind == FRAME_BAD &&
				strcmp(p.wrong, "fragment") != 0 &&
				strcmp(p.wrong, "transport") != 0))
				ck_abort_msg("frame %d: %s", (int)i, p.wrong);
		}
	}
}
END_TEST

SUITE(test_frame_fragment)
{
	Suite *s = suite_create("frame_fragment");

	SUITE_ADD(s, pieces, 20);
	SUITE_ADD(s, options, 10);
	SUITE_ADD(s, errors, 10);
	SUITE_ADD(s, errors_without_size, 10);
	SUITE_ADD(s, errors_cut, 10);
	SUITE_ADD(s, of_any_frame, 20);
	return s;
}
