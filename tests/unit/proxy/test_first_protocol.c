/* test_first_protocol.c: which protocol first bytes are of, as soon as they
 * say, and never what they do not. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/wire/first.h"
#include "support/corrupt.h"
#include "support/suite.h"

/* The last byte of `bytes` is the one that decides. */
static const struct {
	const char *bytes;
	size_t n;
	enum first_protocol protocol;
} samples[] = {
#define SAMPLE(bytes, protocol)                    \
	{                                          \
		bytes, sizeof(bytes) - 1, protocol \
	}
	SAMPLE("SSH-", FIRST_SSH),
	SAMPLE("SSH ", FIRST_UNKNOWN + 100),
	SAMPLE("\x16\x03\x01\x02\x00\x01", FIRST_TLS),
	SAMPLE("\x16\x03\x03\x40\x00\x01", FIRST_TLS),
	SAMPLE("\x16\x03\x03\x40\x01", FIRST_UNKNOWN),
	SAMPLE("\x16\x03\x03\x00\x00", FIRST_UNKNOWN),
	SAMPLE("\x16\x03\x05", FIRST_UNKNOWN),
	SAMPLE("\x16\x03\x01\x02\x00\x02", FIRST_UNKNOWN),
	SAMPLE("\x16\x02", FIRST_UNKNOWN),
	SAMPLE("\x15", FIRST_UNKNOWN),
	SAMPLE("GET / HTTP/1.1\r\n", FIRST_HTTP),
	SAMPLE("get http://a/b HTTP/1.0\n", FIRST_HTTP),
	SAMPLE("PRI * HTTP/2.0\r\n", FIRST_HTTP),
	SAMPLE("OPTIONS * HTTP/1.1\r\n", FIRST_HTTP),
	SAMPLE("EHLO mail.example.org\r\n", FIRST_UNKNOWN),
	SAMPLE("GET / HTTP/1.\r\n", FIRST_UNKNOWN),
	SAMPLE("GET HTTP/1.1\r\n", FIRST_UNKNOWN),
	SAMPLE("USER \x01", FIRST_UNKNOWN),
	SAMPLE("QUIT\r", FIRST_UNKNOWN),
	SAMPLE(" ", FIRST_UNKNOWN),
	SAMPLE("\x00\x00\x00\x08\x04\xd2\x16\x2f", FIRST_POSTGRES),
	SAMPLE("\x00\x00\x00\x08\x04\xd2\x16\x30", FIRST_POSTGRES),
	SAMPLE("\x00\x00\x00\x10\x04\xd2\x16\x2e", FIRST_POSTGRES),
	SAMPLE("\x00\x00\x00\x54\x00\x03\x00\x00", FIRST_POSTGRES),
	SAMPLE("\x00\x00\x00\x54\x00\x03\x00\x02", FIRST_POSTGRES),
	SAMPLE("\x00\x00\x00\x09\x04\xd2\x16\x2f", FIRST_UNKNOWN),
	SAMPLE("\x00\x00\x00\x08\x04\xd2\x16\x31", FIRST_UNKNOWN),
	SAMPLE("\x00\x00\x00\x54\x00\x02\x00\x00", FIRST_UNKNOWN),
	SAMPLE("\x00\x00\x00\x07\x00\x03\x00\x00", FIRST_UNKNOWN),
	SAMPLE("\x00\x01", FIRST_UNKNOWN),
	SAMPLE("\xff", FIRST_UNKNOWN),
#undef SAMPLE
};

START_TEST(as_soon_as_they_say)
{
	enum first_protocol p;
	size_t i;

	if (samples[_i].protocol > FIRST_POSTGRES) { /* not before its line */
		ck_assert_int_eq(
		    first_protocol(samples[_i].bytes, samples[_i].n, &p),
		    FIRST_MORE);
		return;
	}
	for (i = 0; i < samples[_i].n; i++)
		ck_assert_int_eq(
		    first_protocol(samples[_i].bytes, i, &p), FIRST_MORE);
	ck_assert_int_eq(first_protocol(samples[_i].bytes, i, &p), FIRST_KNOWN);
	ck_assert_int_eq(p, samples[_i].protocol);
}
END_TEST

/* What was decided stays so with more bytes. */
START_TEST(more_bytes_change_nothing)
{
	struct dice d = { .seed = 7 };
	enum first_protocol was, is;
	enum first_verdict v;
	char bytes[64];
	size_t n, i;
	int round;

	for (round = 0; round < suite_rounds(20000); round++) {
		size_t k = dice_below(&d, sizeof(samples) / sizeof(*samples));

		n = samples[k].n;
		memcpy(bytes, samples[k].bytes, n);
		bytes[dice_below(&d, n)] = (char)dice_roll(&d);
		for (i = 0, v = FIRST_MORE; i < n; i++) {
			enum first_verdict w = first_protocol(bytes, i, &is);

			ck_assert(v == FIRST_MORE || (v == w && was == is));
			v = w;
			was = is;
		}
	}
}
END_TEST

START_TEST(words)
{
	ck_assert_str_eq(first_protocol_name(FIRST_POSTGRES), "postgres");
	ck_assert_str_eq(first_protocol_name(FIRST_UNKNOWN), "unknown");
}
END_TEST

SUITE(test_first_protocol)
{
	Suite *s = suite_create("first_protocol");
	TCase *c = tcase_create("samples");

	tcase_add_loop_test(
	    c, as_soon_as_they_say, 0, sizeof(samples) / sizeof(*samples));
	suite_add_tcase(s, c);
	SUITE_ADD(s, more_bytes_change_nothing, 10);
	SUITE_ADD(s, words, 10);
	return s;
}
