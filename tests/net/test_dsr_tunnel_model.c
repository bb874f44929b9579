/* test_dsr_tunnel_model.c: frames of all kinds to a director with tunnels: what
 * leaves is the packet that came, as it was and without padding, in a header
 * that says where the tunnel ends; or its pieces, or the news that it is too
 * big. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/dsrmodel.h"
#include "support/suite.h"

enum { PORT = 7007, HEAD = 14, LINK = 1500 };
enum { GATEWAY = 9 }; /* the last byte of its MAC; nobody has it */

static unsigned
get16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Of RFC 1071; over what contains its own it is 0. */
static unsigned
sum(const unsigned char *p, size_t n, unsigned long start)
{
	size_t i;

	for (i = 0; i < n; i++)
		start += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return ~(unsigned)start & 0xffff;
}

/* ---- the outer header ---- */

static bool
is_outer4(const struct net_fixture_tap *out)
{
	return get16(out->bytes + 12) == 0x0800;
}

static size_t
outer_size(const struct net_fixture_tap *out)
{
	return is_outer4(out) ? 20 : 40;
}

static int
server_of(const struct net_fixture_tap *out)
{
	const unsigned char *ip = out->bytes + HEAD;
	unsigned protocol = is_outer4(out) ? ip[9] : ip[6];

	if (protocol != 4 && protocol != 41)
		return -1;
	return ip[is_outer4(out) ? 19 : 39] - 3;
}

/* RFC 2003, 3.1; the rest is for the reader of the content. */
static bool
is_outer_ip4(const struct net_fixture_tap *out, const unsigned char *inner)
{
	const unsigned char *ip = out->bytes + HEAD;
	bool v6 = inner[0] >> 4 == 6;
	bool may_fragment = !v6 && (inner[6] & 0x40) == 0;
	unsigned class =
	    v6 ? (unsigned)((inner[0] << 4 | inner[1] >> 4) & 0xff) : inner[1];

	return ip[0] == 0x45 && ip[1] == class &&
	    get16(ip + 2) == out->length - HEAD &&
	    get16(ip + 6) == (may_fragment ? 0 : 0x4000) &&
	    (may_fragment || get16(ip + 4) == 0) && ip[8] == 64 &&
	    ip[9] == (v6 ? 41 : 4) && sum(ip, 20, 0) == 0 &&
	    memcmp(ip + 12, "\300\250\144\2\300\250\144", 7) == 0;
}

/* RFC 2473, 5.1 */
static bool
is_outer_ip6(const struct net_fixture_tap *out, const unsigned char *inner)
{
	static const unsigned char from[16] = { 0xfd, 0, 0, 0x64, [15] = 2 };
	const unsigned char *ip = out->bytes + HEAD;
	bool v6 = inner[0] >> 4 == 6;
	unsigned class =
	    v6 ? (unsigned)((inner[0] << 4 | inner[1] >> 4) & 0xff) : inner[1];

	return ip[0] >> 4 == 6 &&
	    (unsigned)((ip[0] << 4 | ip[1] >> 4) & 0xff) == class &&
	    get16(ip + 4) == out->length - HEAD - 40 &&
	    ip[6] == (v6 ? 41 : 4) && ip[7] == 64 &&
	    memcmp(ip + 8, from, 16) == 0 && memcmp(ip + 24, from, 15) == 0;
}

static bool
is_outer(const struct net_fixture_tap *out, const unsigned char *inner)
{
	uint8_t own[6], to[6] = { 2, 0, 0, 0x64, 0, GATEWAY };
	int server = server_of(out);

	net_fixture_mac(NET_FIXTURE_DIRECTOR, own);
	return memcmp(out->bytes, to, 6) == 0 &&
	    memcmp(out->bytes + 6, own, 6) == 0 && server >= 0 &&
	    server < DSRMODEL_SERVERS &&
	    (is_outer4(out) ? is_outer_ip4(out, inner)
			    : is_outer_ip6(out, inner));
}

/* ---- what is inside ---- */

static unsigned char whole[FRAMEGEN_MAX];
static size_t got; /* of the content of a packet in pieces */

/* The next piece of one of IPv4, as a router would cut it. */
static bool
is_piece(const unsigned char *piece, size_t n, const unsigned char *inner,
    size_t length, bool *more)
{
	size_t head = (size_t)(inner[0] & 15) * 4;
	unsigned cut = get16(inner + 6), now = get16(piece + 6);

	if (piece[0] != inner[0] || piece[1] != inner[1] ||
	    get16(piece + 2) != n || n <= head ||
	    memcmp(piece + 4, inner + 4, 2) != 0 ||
	    memcmp(piece + 8, inner + 8, 2) != 0 ||
	    memcmp(piece + 12, inner + 12, 8) != 0 ||
	    sum(piece, head, 0) != 0 ||
	    (now & 0x1fff) != (cut & 0x1fff) + got / 8 ||
	    got + n - head > length - head)
		return false;
	memcpy(whole + got, piece + head, n - head);
	got += n - head;
	*more = got < length - head;
	if (((now & 0x2000) != 0) != (*more || (cut & 0x2000) != 0))
		return false;
	if (*more)
		return n % 8 == head % 8;
	got = 0;
	return memcmp(whole, inner + head, length - head) == 0;
}

/* ICMP to the sender, from the VIP. */
static bool
is_too_big(const struct net_fixture_tap *out, const struct framegen_frame *m,
    size_t adds)
{
	const unsigned char *inner = m->bytes + m->net, *ip = out->bytes + HEAD;
	size_t width = m->v6 ? 16 : 4, from = m->v6 ? 8 : 12;
	size_t head = m->v6 ? 40 : 20, n = out->length - HEAD;
	const unsigned char *icmp = ip + head;
	unsigned long start = 0;
	size_t i;

	if (memcmp(out->bytes, m->bytes + 6, 6) != 0 ||
	    memcmp(out->bytes + 6, m->bytes, 6) != 0 || n <= head + 8 ||
	    memcmp(ip + from, inner + from + width, width) != 0 ||
	    memcmp(ip + from + width, inner + from, width) != 0)
		return false;
	if (m->v6) {
		start = 58 + (n - head);
		for (i = 8; i < 40; i += 2)
			start += get16(ip + i);
	}
	return ip[m->v6 ? 6 : 9] == (m->v6 ? 58 : 1) &&
	    get16(icmp) == (m->v6 ? 0x0200 : 0x0304) &&
	    get16(icmp + 6) == LINK - adds && sum(icmp, n - head, start) == 0 &&
	    memcmp(icmp + 8, inner, n - head - 8) == 0;
}

static bool
is_it(const struct net_fixture_tap *out, const struct framegen_frame *m,
    bool *more, size_t adds)
{
	const unsigned char *inner = m->bytes + m->net;
	size_t length = m->end - m->net, n;
	const unsigned char *content;

	*more = false;
	if (length > LINK - adds && (m->v6 || (inner[6] & 0x40) != 0))
		return is_too_big(out, m, adds);
	if (outer_size(out) != adds || !is_outer(out, inner) ||
	    out->length <= HEAD + adds)
		return false;
	n = out->length - HEAD - adds;
	content = out->bytes + HEAD + adds;
	if (length > LINK - adds)
		return n <= LINK - adds &&
		    is_piece(content, n, inner, length, more);
	return n == length && memcmp(content, inner, length) == 0;
}

static bool
is_it_in_4(const struct net_fixture_tap *out, const struct framegen_frame *m,
    bool *more)
{
	return is_it(out, m, more, 20);
}

static bool
is_it_in_6(const struct net_fixture_tap *out, const struct framegen_frame *m,
    bool *more)
{
	return is_it(out, m, more, 40);
}

#define OPTIONS                                                        \
	{                                                              \
		"dsr_forward tunnel", "dsr_gateway 02:00:00:64:00:09", \
		    "dsr_ip " NET_FIXTURE_DSR_IP4,                     \
		    "dsr_ip " NET_FIXTURE_DSR_IP6,                     \
	}

#define MODEL(name, inner6, outer6, where)                                \
	START_TEST(name)                                                  \
	{                                                                 \
		static const struct dsrmodel_way w = { .option = OPTIONS, \
			.other_family = (inner6) != (outer6),             \
			.is_it = (outer6) ? is_it_in_6 : is_it_in_4,      \
			.server_of = server_of };                         \
		NEED_DSRMODEL();                                          \
		dsrmodel_expect(&w, inner6, where);                       \
	}                                                                 \
	END_TEST

MODEL(frames4_in_4, false, false, PORT)
MODEL(frames4_in_6, false, true, 0)
MODEL(frames6_in_4, true, false, 0)
MODEL(frames6_in_6, true, true, PORT)

SUITE(test_dsr_tunnel_model)
{
	Suite *s = suite_create("dsr_tunnel_model");

	SUITE_ADD(s, frames4_in_4, 60);
	SUITE_ADD(s, frames4_in_6, 60);
	SUITE_ADD(s, frames6_in_4, 60);
	SUITE_ADD(s, frames6_in_6, 60);
	return s;
}
