/* test_proxy_header.c: headers of the PROXY protocol, as others write them, as
 * pen does, cut short anywhere, and wrong in any way. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/proxy_header_wire.h"
#include "support/suite.h"

static struct proxy_header header;
static const char *why;
static char bytes[PROXY_HEADER_MAX + 64], seen[2][PEER_TEXT_MAX];

/* From the heap and exactly as long, so that tools see a read beyond it. */
static ssize_t
read_exactly(const char *from, size_t n, bool datagram)
{
	char *copy = malloc(n + 1);
	ssize_t used;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy + 1, from, n);
	header.datagram = datagram;
	used = proxy_header_read(&header, copy + 1, n, &why);
	ck_assert_int_le(used, (ssize_t)n);
	peer_format(&header.client, seen[0]);
	peer_format(&header.server, seen[1]);
	free(copy);
	return used;
}

static ssize_t
read_text(const char *text)
{
	return read_exactly(text, strlen(text), false);
}

/* ---- version 1 ---- */

static void
line_says(const char *line, const char *client, const char *server)
{
	char more[200];
	size_t n = strlen(line), i;

	ck_assert_int_eq(read_text(line), (ssize_t)n);
	ck_assert_str_eq(seen[0], client);
	ck_assert_str_eq(seen[1], server);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(read_exactly(line, i, false), 0);
	snprintf(more, sizeof(more), "%sGET /\r\n", line);
	ck_assert_int_eq(read_text(more), (ssize_t)n);
}

static void
nobody(const char *line)
{
	ck_assert_int_eq(read_text(line), (ssize_t)strlen(line));
	ck_assert_int_eq(header.client.family, 0);
}

START_TEST(lines)
{
	line_says("PROXY TCP4 192.0.2.1 192.0.2.254 40000 443\r\n",
	    "192.0.2.1:40000", "192.0.2.254:443");
	line_says("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
	    "255.255.255.255:65535", "255.255.255.255:65535");
	line_says("PROXY TCP6 2001:db8::1 ::1 0 25\r\n", "[2001:db8::1]:0",
	    "[::1]:25");
	line_says("PROXY TCP6 ::ffff:192.0.2.1 ::ffff:192.0.2.2 1 2\r\n",
	    "192.0.2.1:1", "192.0.2.2:2");
	line_says("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
	    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
	    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
	nobody("PROXY UNKNOWN\r\n");
	nobody("PROXY UNKNOWN what ever comes here is of no interest 1 2\r\n");
}
END_TEST

static void
wrong(const char *text, const char *phrase)
{
	ck_assert_int_eq(read_text(text), -1);
	ck_assert_str_eq(why, phrase);
}

START_TEST(wrong_lines)
{
	static const char six[] = "its line does not have six words";
	static const char address[] =
	    "an address is invalid, or of another family";
	char longest[120];

	wrong("GET / HTTP/1.0\r\n", "it is missing");
	wrong("PROXY\tTCP4", "it is missing");
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n", six);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n", six);
	wrong("PROXY TCP4  192.0.2.1 192.0.2.2 1\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n", six);
	wrong("PROXY TCP4\r\n", six);
	wrong("PROXY \r\n", six);
	wrong("PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
	    "neither TCP4, TCP6 nor UNKNOWN");
	wrong("PROXY TCP4 ::1 ::2 1 2\r\n", address);
	wrong("PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 ::2 1 2\r\n", address);
	wrong("PROXY TCP6 fe80::1%lo ::2 1 2\r\n", address);
	wrong("PROXY TCP4 192.0.02.1 192.0.2.2 1 2\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 1 \r\n", address);
	wrong("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
	    "its line does not end with CR LF");
	ck_assert_int_eq(
	    read_exactly("PROXY UNKNOWN\0x\r\n", 17, false), -1);
	ck_assert_str_eq(why, "its line contains a NUL");
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "PROXY UNKNOWN ", 14);
	ck_assert_int_eq(read_exactly(longest, 106, false), 0);
	ck_assert_int_eq(read_exactly(longest, 107, false), -1);
	memcpy(longest + 105, "\r\n", 2);
	ck_assert_int_eq(read_exactly(longest, 107, false), 107);
	memcpy(longest + 105, "xx\r\n", 4);
	ck_assert_int_eq(read_exactly(longest, 109, false), -1);
	ck_assert_str_eq(why, "its line is too long");
}
END_TEST

/* ---- version 2 ---- */

/* A header with that command and family, and a body; its length is right. */
static size_t
make(int command, int family, const void *body, size_t n)
{
	memcpy(bytes, PROXY_SIGNATURE, 12);
	bytes[12] = (char)command;
	bytes[13] = (char)family;
	bytes[14] = (char)(n >> 8);
	bytes[15] = (char)n;
	memcpy(bytes + 16, body, n);
	return 16 + n;
}

#define MAKE(command, family, body) \
	make(command, family, body, sizeof(body) - 1)
#define FOUR "\300\0\2\1\300\0\2\2\x9c\x40\1\xbb"

static void
is_wrong(size_t n, bool datagram, const char *phrase)
{
	ck_assert_int_eq(read_exactly(bytes, n, datagram), -1);
	ck_assert_str_eq(why, phrase);
}

START_TEST(families)
{
	char path[2 * 108] = "/run/client", six[36] = { 0 };
	size_t n = MAKE(0x21, 0x11, FOUR), i;

	ck_assert_int_eq(read_exactly(bytes, n, false), 28);
	ck_assert_str_eq(seen[0], "192.0.2.1:40000");
	ck_assert_str_eq(seen[1], "192.0.2.2:443");
	ck_assert_int_eq(header.client.family, AF_INET);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(read_exactly(bytes, i, false), 0);
		ck_assert_int_eq(read_exactly(bytes, i, true), -1);
	}
	six[15] = 1, six[31] = 2, six[33] = 3, six[35] = 4;
	n = make(0x21, 0x21, six, 36);
	ck_assert_int_eq(read_exactly(bytes, n + 5, false), 52);
	ck_assert_str_eq(seen[0], "[::1]:3");
	ck_assert_str_eq(seen[1], "[::2]:4");
	memset(path + 108, 'x', 108);
	n = make(0x21, 0x31, path, 216);
	header.datagram = false;
	ck_assert_int_eq(proxy_header_read(&header, bytes, n, &why), 232);
	ck_assert_int_eq(header.client.family, AF_UNIX);
	ck_assert_int_eq(header.server.family, AF_UNIX);
}
END_TEST

/* A header that says nothing of the client: the connection's addresses
 * count. */
START_TEST(no_addresses)
{
	static const struct {
		int command, family;
	} kinds[] = { { 0x20, 0 }, { 0x20, 0x11 }, { 0x20, 0xff }, { 0x21, 0 },
		{ 0x21, 0x10 }, { 0x21, 0x01 } };
	size_t i, n;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = MAKE(kinds[i].command, kinds[i].family, "");
		ck_assert_int_eq(read_exactly(bytes, n + 3, false), 16);
		ck_assert_int_eq(header.client.family, 0);
	}
	n = MAKE(0x20, 0, "whatever");
	ck_assert_int_eq(read_exactly(bytes, n, false), 24);
	ck_assert_int_eq(read_exactly(bytes, n, true), 24);
	ck_assert_int_eq(header.client.family, 0);
}
END_TEST

START_TEST(wrong_binary)
{
	is_wrong(MAKE(0x11, 0x11, FOUR), false,
	    "its version or command is unknown");
	is_wrong(MAKE(0x22, 0x11, FOUR), false,
	    "its version or command is unknown");
	is_wrong(MAKE(0x21, 0x41, FOUR), false,
	    "its family or transport is unknown");
	is_wrong(MAKE(0x21, 0x13, FOUR), false,
	    "its family or transport is unknown");
	is_wrong(MAKE(0x21, 0x12, FOUR), false, "it is for datagrams");
	is_wrong(MAKE(0x21, 0x11, FOUR), true, "it is for connections");
	is_wrong(MAKE(0x21, 0x21, FOUR), false, "its addresses are truncated");
	is_wrong(MAKE(0x21, 0x31, FOUR), false, "its addresses are truncated");
	is_wrong(make(0x21, 0x11, FOUR, 11), false,
	    "its addresses are truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\1"), false, "a TLV is truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\1\0"), false, "a TLV is truncated");
	is_wrong(
	    MAKE(0x21, 0x11, FOUR "\1\0\2h"), false, "a TLV is truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\1\0\2h2\1\0\2h2"), false,
	    "a TLV comes twice");
	is_wrong(MAKE(0x21, 0x11, FOUR "\1\0\0\1\0\0"), false,
	    "a TLV comes twice");
	is_wrong(MAKE(0x21, 0x11, FOUR "\x20\0\4\1\0\0\0"), false,
	    "a TLV is truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\x20\0\x7\1\0\0\0\0\x21\0"), false,
	    "a TLV is truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\x20\0\xa\1\0\0\0\0\x21\0\0\x22\0"),
	    false, "a TLV is truncated");
	is_wrong(MAKE(0x21, 0x11, FOUR "\3\0\4\0\0\0\0"), false,
	    "the checksum is wrong");
	is_wrong(MAKE(0x21, 0x11, FOUR "\3\0\3\0\0\0"), false,
	    "the checksum is wrong");
	(void)make(0x21, 0x11, FOUR, 12);
	bytes[14] = 0x3f, bytes[15] = (char)0xf0;
	ck_assert_int_eq(read_exactly(bytes, 28, false), 0);
	bytes[15]++;
	is_wrong(28, false, "it is too long");
	bytes[3] = 1;
	is_wrong(28, false, "it is missing");
	is_wrong(0, true, "it is missing");
	ck_assert_int_eq(read_exactly("PROXY UNKNOWN\r\n", 15, true), -1);
}
END_TEST

static void
text_is(struct proxy_text t, const char *expected)
{
	ck_assert_uint_eq(t.n, strlen(expected));
	ck_assert_int_eq(memcmp(t.at, expected, t.n), 0);
}

static struct proxy_text
text_of(const char *text)
{
	return (struct proxy_text){ text, strlen(text) };
}

/* Of proxy-protocol.txt's TLVs; those that pen does not know are skipped. */
START_TEST(tlvs)
{
	size_t n = MAKE(0x21, 0x11,
	    FOUR "\1\0\2h2"
		 "\x30\0\3net"
		 "\2\0\4a.tt"
		 "\4\0\0"
		 "\5\0\2id"
		 "\x20\0\x1c\7\0\0\0\1"
		 "\x21\0\7TLSv1.3"
		 "\x22\0\2cn"
		 "\x23\0\1c"
		 "\x24\0\1s");
	struct proxy_tls *t = &header.tls;

	header.datagram = false;
	bytes[16 + 12 + 5 + 6 + 7 + 3 + 5 + 2] = 5 + 10 + 5 + 4 + 4;
	ck_assert_int_eq(
	    proxy_header_read(&header, bytes, n, &why), (ssize_t)n);
	text_is(header.alpn, "h2");
	text_is(header.sni, "a.tt");
	text_is(header.id, "id");
	ck_assert(t->on && t->certificate && !t->resumed);
	ck_assert_uint_eq(t->verified, 1);
	text_is(t->version, "TLSv1.3");
	text_is(t->name, "cn");
	text_is(t->cipher, "c");
}
END_TEST

/* Bit by bit: RFC 9260, appendix A. */
static uint32_t
crc32c(const char *at, size_t n)
{
	uint32_t crc = UINT32_MAX;
	int bit;

	for (; n > 0; n--, at++) {
		crc ^= (unsigned char)*at;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~crc;
}

START_TEST(checksums)
{
	uint32_t crc;
	size_t n, i;

	ck_assert_uint_eq(crc32c("123456789", 9), 0xe3069283);
	n = MAKE(0x21, 0x11, FOUR "\3\0\4\0\0\0\0\1\0\2h2");
	crc = htonl(crc32c(bytes, n));
	memcpy(bytes + 31, &crc, 4);
	ck_assert_int_eq(read_exactly(bytes, n, false), (ssize_t)n);
	for (i = 16; i < n; i++) {
		if (i == 28)
			continue; /* it would be another TLV */
		bytes[i] ^= 4;
		ck_assert_int_eq(read_exactly(bytes, n, false), -1);
		bytes[i] ^= 4;
	}
}
END_TEST

/* ---- written, and read again ---- */

static struct proxy_header
full(const char *client, const char *server)
{
	struct proxy_header h = { .sni = text_of("www.example.org"),
		.alpn = text_of("http/1.1"),
		.id = text_of("0123456789abcdef"),
		.tls = { .on = true,
		    .certificate = true,
		    .verified = 7,
		    .version = text_of("TLSv1.3"),
		    .cipher = text_of("TLS_AES_256_GCM_SHA384"),
		    .name = text_of("client one") } };
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, client, 40000), 0);
	peer_from_addr(&h.client, &a);
	ck_assert_int_eq(addr_parse_ip(&a, server, 443), 0);
	peer_from_addr(&h.server, &a);
	return h;
}

static void
comes_back(const struct proxy_header *h)
{
	char out[PROXY_HEADER_MAX];
	size_t n = proxy_header_write(out, PROXY_V2, h), i;

	header.datagram = h->datagram;
	ck_assert_int_eq(
	    proxy_header_read(&header, out, n, &why), (ssize_t)n);
	ck_assert_int_eq(memcmp(&header.client, &h->client, sizeof(h->client)),
	    0);
	ck_assert_int_eq(memcmp(&header.server, &h->server, sizeof(h->server)),
	    0);
	text_is(header.sni, "www.example.org");
	text_is(header.alpn, "http/1.1");
	text_is(header.id, "0123456789abcdef");
	ck_assert(header.tls.on && header.tls.certificate);
	ck_assert(header.tls.resumed == h->tls.resumed);
	ck_assert_uint_eq(header.tls.verified, 7);
	text_is(header.tls.version, "TLSv1.3");
	text_is(header.tls.cipher, "TLS_AES_256_GCM_SHA384");
	text_is(header.tls.name, "client one");
	for (i = 0; i < n; i++)
		ck_assert_int_eq(
		    read_exactly(out, i, h->datagram), h->datagram ? -1 : 0);
}

START_TEST(round_trips)
{
	struct proxy_header h = full("192.0.2.1", "192.0.2.2");

	comes_back(&h);
	h.datagram = true;
	comes_back(&h);
	h = full("2001:db8::1", "::1");
	h.tls.resumed = true;
	comes_back(&h);
	h = full("192.0.2.1", "2001:db8::2"); /* the one is told mapped */
	comes_back(&h);
}
END_TEST

static void
line_is(const struct proxy_header *h, const char *expected)
{
	char out[PROXY_HEADER_MAX];
	size_t n = proxy_header_write(out, PROXY_V1, h);

	ck_assert_uint_eq(n, strlen(expected));
	ck_assert_int_eq(memcmp(out, expected, n), 0);
}

START_TEST(written_lines)
{
	struct proxy_header h = full("192.0.2.1", "192.0.2.2");

	line_is(&h, "PROXY TCP4 192.0.2.1 192.0.2.2 40000 443\r\n");
	h = full("2001:db8::1", "::1");
	line_is(&h, "PROXY TCP6 2001:db8::1 ::1 40000 443\r\n");
	h = full("192.0.2.1", "::1");
	line_is(&h, "PROXY TCP6 ::ffff:192.0.2.1 ::1 40000 443\r\n");
	h.client.family = AF_UNIX;
	line_is(&h, "PROXY UNKNOWN\r\n");
	h.client.family = 0;
	line_is(&h, "PROXY UNKNOWN\r\n");
}
END_TEST

/* What is as long as may be fits; what is longer is left out. */
START_TEST(limits)
{
	static char x[1000];
	struct proxy_text most = { x, PROXY_TEXT_MAX };
	struct proxy_header h = { .sni = most,
		.alpn = most,
		.id = { x, PROXY_ID_MAX },
		.tls = { true, true, true, 1, most, most, most } };
	char out[PROXY_HEADER_MAX];
	size_t n;

	memset(x, 'x', sizeof(x));
	h.client.family = AF_INET6;
	n = proxy_header_write(out, PROXY_V2, &h);
	ck_assert_uint_le(n, PROXY_HEADER_MAX);
	header.datagram = false;
	ck_assert_int_eq(
	    proxy_header_read(&header, out, n, &why), (ssize_t)n);
	ck_assert_uint_eq(header.sni.n, PROXY_TEXT_MAX);
	ck_assert_uint_eq(header.tls.name.n, PROXY_TEXT_MAX);
	h.id.n++;
	h.sni.n = sizeof(x);
	h.tls.name.n = sizeof(x);
	n = proxy_header_write(out, PROXY_V2, &h);
	ck_assert_int_eq(
	    proxy_header_read(&header, out, n, &why), (ssize_t)n);
	ck_assert_uint_eq(header.sni.n + header.id.n + header.tls.name.n, 0);
	ck_assert_uint_eq(header.alpn.n, PROXY_TEXT_MAX);
	h.client.family = AF_UNIX;
	ck_assert_uint_eq(proxy_header_write(out, PROXY_V2, &h), 16);
	ck_assert_int_eq(memcmp(out + 12, "\x20\0\0\0", 4), 0);
	header.datagram = false;
	ck_assert_int_eq(proxy_header_read(&header, out, 16, &why), 16);
	ck_assert_int_eq(header.client.family, 0);
}
END_TEST

/* ---- whatever may come ---- */

static bool
is_inside(struct proxy_text t, const char *from, size_t n)
{
	return t.n == 0 || (t.at >= from && t.at + t.n <= from + n);
}

static void
survives(const char *from, size_t n, bool datagram)
{
	char *copy = malloc(n);
	ssize_t used;

	memcpy(copy, from, n);
	header.datagram = datagram;
	used = proxy_header_read(&header, copy, n, &why);
	ck_assert_int_ge(used, -1);
	ck_assert_int_le(used, (ssize_t)n);
	ck_assert(used >= 0 || (why != NULL && *why != '\0'));
	if (used > 0) {
		const struct proxy_text texts[] = { header.sni, header.alpn,
			header.id, header.tls.version, header.tls.cipher,
			header.tls.name };
		size_t i;

		for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			ck_assert(is_inside(texts[i], copy, (size_t)used));
	}
	free(copy);
}

/* Good headers with some bytes changed, cut anywhere. A seed that fails is in
 * the message of the test. */
START_TEST(mutations)
{
	struct proxy_header h = full("192.0.2.1", "2001:db8::2");
	char good[PROXY_HEADER_MAX], bad[PROXY_HEADER_MAX];
	long rounds = suite_amount(200000, 20000), i;
	unsigned seed = 1, k;
	size_t n;

	for (i = 0; i < rounds; i++) {
		n = proxy_header_write(
		    good, i % 3 == 0 ? PROXY_V1 : PROXY_V2, &h);
		memcpy(bad, good, n);
		for (k = 0; k < 1 + (unsigned)i % 4; k++)
			bad[(unsigned)rand_r(&seed) % n] =
			    (char)(rand_r(&seed) >> 7);
		if (i % 5 == 0)
			n = 1 + (unsigned)rand_r(&seed) % n;
		survives(bad, n, i % 7 == 0);
	}
}
END_TEST

SUITE(test_proxy_header)
{
	Suite *s = suite_create("proxy_header");

	SUITE_ADD(s, lines, 10);
	SUITE_ADD(s, wrong_lines, 10);
	SUITE_ADD(s, families, 10);
	SUITE_ADD(s, no_addresses, 10);
	SUITE_ADD(s, wrong_binary, 10);
	SUITE_ADD(s, tlvs, 10);
	SUITE_ADD(s, checksums, 10);
	SUITE_ADD(s, round_trips, 10);
	SUITE_ADD(s, written_lines, 10);
	SUITE_ADD(s, limits, 10);
	SUITE_ADD(s, mutations, 60);
	return s;
}
