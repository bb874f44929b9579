/* test_first_tls.c: the names in a ClientHello: those of real clients, whole,
 * cut at every byte, split into records, corrupted; and generated ones. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/first.h"
#include "support/corrupt.h"
#include "support/suite.h"

/* ---- real ones ---- */

/* openssl s_client -servername www.example.org -alpn h2,http/1.1 */
static const char of_openssl[] =
    "160301014e0100014a03030f65788dc33391d8b0c1fd8752a0c63a0b450f8c86"
    "2df922197073d7f06e87b9203be159a32224dbd8488f5bfd7aa462ee7558e6d0"
    "8f5d61b53c0d9eb4e4c523e4003e130213031301c02cc030009fcca9cca8ccaa"
    "c02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d"
    "009c003d003c0035002f00ff010000c300000014001200000f7777772e657861"
    "6d706c652e6f7267000b000403000102000a00160014001d0017001e00190018"
    "01000101010201030104002300000010000e000c02683208687474702f312e31"
    "0016000000170000000d002a0028040305030603080708080809080a080b0804"
    "08050806040105010601030303010302040205020602002b0009080304030303"
    "020301002d00020101003300260024001d00209adc91b091eb5d370edd793956"
    "6f68e8b05f18e616a786bb05d59877323b0554";

/* curl https://a.b.example.net/ */
static const char of_curl[] =
    "1603010200010001fc0303373fcf09e6d4102d12f7405b853e1ca22358095851"
    "ccfa694aa5400e738e09b620576325c48a8a6a52ff4b7037cd20e5766d7a9440"
    "94f7a0cb8527506839b2de8f003e130213031301c02cc030009fcca9cca8ccaa"
    "c02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d"
    "009c003d003c0035002f00ff0100017500000014001200000f612e622e657861"
    "6d706c652e6e6574000b000403000102000a00160014001d0017001e00190018"
    "010001010102010301040010000e000c02683208687474702f312e3100160000"
    "0017000000310000000d002a0028040305030603080708080809080a080b0804"
    "08050806040105010601030303010302040205020602002b0009080304030303"
    "020301002d00020101003300260024001d0020d7e4c9c556de76e936de6e34ce"
    "b99c11ddfed82fff7c38b04be76d9c5ab69e6a001500ae000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000";

static size_t
unhex(const char *hex, char *bytes)
{
	size_t n;
	unsigned x;

	for (n = 0; hex[2 * n] != '\0'; n++) {
		char two[3] = { hex[2 * n], hex[2 * n + 1], '\0' };

		x = (unsigned)strtoul(two, NULL, 16);
		bytes[n] = (char)x;
	}
	return n;
}

static enum first_verdict
read_tls(const char *bytes, size_t n, struct first *f)
{
	static const struct first_wants wants = { .hello = true };

	return first_read(bytes, n, &wants, f);
}

static void
expect_real(const char *bytes, size_t n, const char *name)
{
	static const unsigned char alpn[] = "\x02h2\x08http/1.1";
	struct first f;

	ck_assert_int_eq(read_tls(bytes, n, &f), FIRST_KNOWN);
	ck_assert_int_eq(f.protocol, FIRST_TLS);
	ck_assert_str_eq(f.sni, name);
	ck_assert_uint_eq(f.alpn_length, sizeof(alpn) - 1);
	ck_assert_mem_eq(f.alpn, alpn, sizeof(alpn) - 1);
}

static const struct {
	const char *hex, *name;
} real[] = {
	{ of_openssl, "www.example.org" },
	{ of_curl, "a.b.example.net" },
};

START_TEST(real_ones)
{
	char bytes[4096];
	struct first f;
	size_t n, i;

	n = unhex(real[_i].hex, bytes);
	expect_real(bytes, n, real[_i].name);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(read_tls(bytes, i, &f), FIRST_MORE);
		ck_assert_str_eq(f.sni, "");
	}
	/* what comes behind it is not read */
	memset(bytes + n, 0xff, 40);
	expect_real(bytes, n + 40, real[_i].name);
}
END_TEST

/* The same message in records of `size` bytes. */
static size_t
split(const char *bytes, size_t n, size_t size, char *out)
{
	size_t at = 5, made = 0, part;

	for (; at < n; at += part) {
		part = n - at < size ? n - at : size;
		memcpy(out + made, bytes, 3);
		out[made + 3] = (char)(part >> 8);
		out[made + 4] = (char)part;
		memcpy(out + made + 5, bytes + at, part);
		made += 5 + part;
	}
	return made;
}

START_TEST(split_over_records)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 5, 43, 100, 200 };
	char bytes[4096], records[4096 * 6];
	struct first f;
	size_t n, k, i, made;

	n = unhex(real[_i].hex, bytes);
	for (k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		made = split(bytes, n, sizes[k], records);
		expect_real(records, made, real[_i].name);
		for (i = 0; i < made; i++)
			ck_assert_int_eq(read_tls(records, i, &f), FIRST_MORE);
	}
}
END_TEST

/* ---- generated ones ---- */

/* What a hello is made of; extensions as bytes. */
static struct bytes extensions, message, record;

static void
put_extension(unsigned type, const void *data, size_t n)
{
	bytes_add_number(&extensions, 2, type);
	bytes_add_number(&extensions, 2, n);
	bytes_add(&extensions, data, n);
}

static void
put_name(const char *name)
{
	size_t n = strlen(name);
	static struct bytes data;

	data.n = 0;
	bytes_add_number(&data, 2, n + 3);
	bytes_add_number(&data, 1, 0);
	bytes_add_number(&data, 2, n);
	bytes_add(&data, name, n);
	put_extension(0, data.at, data.n);
}

static void
put_alpn(const char *list, size_t n)
{
	static struct bytes data;

	data.n = 0;
	bytes_add_number(&data, 2, n);
	bytes_add(&data, list, n);
	put_extension(16, data.at, data.n);
}

/* A hello around the extensions, with `session` bytes of a session ID and
 * cipher suites of `suites` bytes; without extensions if there are none. */
static void
make_hello(size_t session, size_t suites)
{
	static struct bytes body;

	body.n = 0;
	bytes_add_number(&body, 2, 0x0303);
	bytes_fill(&body, 0x5a, 32);
	bytes_add_number(&body, 1, session);
	bytes_fill(&body, 0x11, session);
	bytes_add_number(&body, 2, suites);
	bytes_fill(&body, 0x0a, suites);
	bytes_add(&body, "\x01\x00", 2);
	if (extensions.n > 0) {
		bytes_add_number(&body, 2, extensions.n);
		bytes_add(&body, extensions.at, extensions.n);
	}
	message.n = record.n = 0;
	bytes_add_number(&message, 1, 1);
	bytes_add_number(&message, 3, body.n);
	bytes_add(&message, body.at, body.n);
	record_add(&record, RECORD_HANDSHAKE, message.at, message.n);
}

static enum first_verdict
read_made(struct first *f)
{
	make_hello(32, 8);
	extensions.n = 0;
	return read_tls((const char *)record.at, record.n, f);
}

START_TEST(without_names)
{
	struct first f;

	ck_assert_int_eq(read_made(&f), FIRST_KNOWN);
	ck_assert_str_eq(f.sni, "");
	put_alpn("\x03"
		 "foo",
	    4);
	ck_assert_int_eq(read_made(&f), FIRST_KNOWN);
	ck_assert_str_eq(f.sni, "");
	ck_assert_uint_eq(f.alpn_length, 4);
}
END_TEST

/* GREASE, an ECH whose name is not to be seen, and what is not known. */
START_TEST(other_extensions_are_passed_over)
{
	struct first f;

	put_extension(0x0a0a, "", 0);
	put_extension(
	    0xfe0d, "\x00\x00\x01\x00\x01\x41\x42\x43\x44\x45\x46\x47\x48", 13);
	put_name("Public.Example.ORG.");
	put_alpn("\x02\x1a\x1a\x02h2", 6);
	put_extension(0xfafa, "\x00", 1);
	ck_assert_int_eq(read_made(&f), FIRST_KNOWN);
	ck_assert_str_eq(f.sni, "public.example.org");
	ck_assert_uint_eq(f.alpn_length, 6);
}
END_TEST

/* Each of these is read by some as one thing and by others as another. */
START_TEST(wrong_ones_name_nobody)
{
	struct first f;
	int i;

	for (i = 0; i < 11; i++) {
		put_alpn("\x02h2", 3);
		switch (i) {
		case 0:
			put_name("");
			break;
		case 1:
			put_name("a..b");
			break;
		case 2:
			put_name("a/b");
			break;
		case 3:
			put_name("one.example");
			put_name("two.example");
			break;
		case 4:
			put_alpn("\x02h3", 3);
			break;
		case 5: /* two names in one list */
			put_extension(0,
			    "\x00\x08\x00\x00\x01"
			    "a\x00\x00\x01"
			    "b",
			    10);
			break;
		case 6: /* a byte behind the list */
			put_extension(0,
			    "\x00\x04\x00\x00\x01"
			    "ab",
			    7);
			break;
		case 7: /* a list that ends within a name */
			put_extension(0,
			    "\x00\x04\x00\x00\x02"
			    "ab",
			    6);
			break;
		case 8:
			put_extension(0, "", 0);
			break;
		case 9: /* only names of types that nobody knows */
			put_extension(0,
			    "\x00\x04\x01\x00\x01"
			    "a",
			    6);
			break;
		case 10:
			put_extension(0, "\x00\x00", 2);
			break;
		}
		ck_assert_msg(read_made(&f) == FIRST_WRONG, "case %d", i);
		ck_assert_int_eq(f.protocol, FIRST_TLS);
		ck_assert_str_eq(f.sni, "");
		ck_assert_uint_eq(f.alpn_length, 0);
	}
}
END_TEST

static enum first_verdict
read_record(struct first *f)
{
	return read_tls((const char *)record.at, record.n, f);
}

START_TEST(lengths_that_do_not_fit)
{
	struct first f;

	put_name("a.example");
	make_hello(33, 8);
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	make_hello(0, 0);
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	make_hello(0, 3);
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	make_hello(0, 2);
	ck_assert_int_eq(read_record(&f), FIRST_KNOWN);
	record.at[5 + 4] = 2; /* SSL 2 */
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	make_hello(0, 2);
	record.at[5 + 4 + 2 + 32 + 1 + 2 + 2] = 0; /* no compression method */
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	make_hello(0, 2);
	bytes_add(&extensions, "\x00", 1); /* half a type */
	make_hello(0, 2);
	ck_assert_int_eq(read_record(&f), FIRST_WRONG);
	extensions.n = 0;
}
END_TEST

/* A record that is not of a handshake, within the message. */
START_TEST(records_of_another_kind)
{
	char bytes[4096], records[8192];
	struct first f;
	size_t n = unhex(of_curl, bytes), made;

	made = split(bytes, n, 100, records);
	records[105] = 23;
	ck_assert_int_eq(read_tls(records, made, &f), FIRST_WRONG);
	/* an empty one, which RFC 8446, 5.1 forbids */
	made = split(bytes, n, 100, records);
	memmove(records + 110, records + 105, made - 105);
	memcpy(records + 105, "\x16\x03\x01\x00\x00", 5);
	ck_assert_int_eq(read_tls(records, made + 5, &f), FIRST_WRONG);
}
END_TEST

/* No more than FIRST_MAX bytes are read, whatever the lengths say. */
START_TEST(too_long)
{
	static char bytes[3 * FIRST_MAX];
	struct first f;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "\x16\x03\x01\x40\x00\x01\xff\xff\xff\x03\x03", 11);
	memcpy(bytes + 5 + 16384, "\x16\x03\x01\x40\x00", 5);
	ck_assert_int_eq(read_tls(bytes, sizeof(bytes), &f), FIRST_MORE);
}
END_TEST

/* The ALPN names that do not fit are left out, whole. */
START_TEST(alpn_is_bounded)
{
	static char list[20 * 31];
	struct first f;
	size_t i;

	for (i = 0; i < 20; i++) {
		memset(list + i * 31, 'a' + (int)i, 31);
		list[i * 31] = 30;
	}
	put_alpn(list, sizeof(list));
	ck_assert_int_eq(read_made(&f), FIRST_KNOWN);
	ck_assert_uint_eq(f.alpn_length, FIRST_ALPN / 31 * 31);
	put_alpn("", 0);
	ck_assert_int_eq(read_made(&f), FIRST_WRONG);
}
END_TEST

/* Whatever comes: nothing is read beyond the bytes (they are alone in their
 * memory for sanitizers and valgrind), and a name is a name. */
START_TEST(mutations)
{
	struct dice d = { .seed = 41 };
	char bytes[4096], *alone;
	struct first f;
	size_t n, i;
	int round, rounds = suite_rounds(20000);

	for (round = 0; round < rounds; round++) {
		n = unhex(real[round % 2].hex, bytes);
		for (i = dice_below(&d, 4) + 1; i > 0; i--)
			bytes[dice_below(&d, n)] = (char)dice_roll(&d);
		if (dice_says(&d, 3))
			n = dice_below(&d, n) + 1;
		alone = malloc(n);
		memcpy(alone, bytes, n);
		(void)read_tls(alone, n, &f);
		free(alone);
		ck_assert_uint_lt(strlen(f.sni), FIRST_NAME);
		ck_assert_uint_eq(
		    strspn(f.sni, "abcdefghijklmnopqrstuvwxyz0123456789.-_[]:"),
		    strlen(f.sni));
		ck_assert_uint_le(f.alpn_length, FIRST_ALPN);
	}
}
END_TEST

SUITE(test_first_tls)
{
	Suite *s = suite_create("first_tls");
	TCase *c = tcase_create("real ones");

	tcase_add_loop_test(c, real_ones, 0, 2);
	tcase_add_loop_test(c, split_over_records, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, without_names, 10);
	SUITE_ADD(s, other_extensions_are_passed_over, 10);
	SUITE_ADD(s, wrong_ones_name_nobody, 10);
	SUITE_ADD(s, lengths_that_do_not_fit, 10);
	SUITE_ADD(s, records_of_another_kind, 10);
	SUITE_ADD(s, too_long, 10);
	SUITE_ADD(s, alpn_is_bounded, 10);
	SUITE_ADD(s, mutations, 30);
	return s;
}
