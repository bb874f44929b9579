/* test_number.c: numbers are whole words in range, or errors. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "support/suite.h"

static void
expect(const char *word, uint64_t min, uint64_t max, uint64_t wanted)
{
	uint64_t v = 99;

	ck_assert_msg(number_parse(word, min, max, &v) == 0, "\"%s\"", word);
	ck_assert_uint_eq(v, wanted);
}

static void
refuse(const char *word, uint64_t min, uint64_t max, int wanted)
{
	uint64_t v = 99;

	errno = 0;
	ck_assert_msg(number_parse(word, min, max, &v) == -1, "\"%s\"", word);
	ck_assert_int_eq(errno, wanted);
	ck_assert_uint_eq(v, 99);
}

START_TEST(plain)
{
	expect("0", 0, 10, 0);
	expect("10", 0, 10, 10);
	expect("007", 0, 10, 7);
	expect("18446744073709551615", 0, UINT64_MAX, UINT64_MAX);
	refuse("18446744073709551616", 0, UINT64_MAX, ERANGE);
	refuse("99999999999999999999999", 0, UINT64_MAX, ERANGE);
	refuse("11", 0, 10, ERANGE);
	refuse("0", 1, 10, ERANGE);
	refuse("", 0, 10, EINVAL);
	refuse("-1", 0, 10, EINVAL);
	refuse("+1", 0, 10, EINVAL);
	refuse(" 1", 0, 10, EINVAL);
	refuse("1 ", 0, 10, EINVAL);
	refuse("0x1", 0, 10, EINVAL);
	refuse("one", 0, 10, EINVAL);
}
END_TEST

static void
size(const char *word, uint64_t wanted)
{
	uint64_t v = 99;

	ck_assert_int_eq(number_parse_size(word, 0, UINT64_MAX, &v), 0);
	ck_assert_uint_eq(v, wanted);
}

START_TEST(sizes)
{
	uint64_t v = 99;

	size("7", 7);
	size("4k", 4096);
	size("4M", 4 << 20);
	size("2g", UINT64_C(2) << 30);
	ck_assert_int_eq(number_parse_size("4x", 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(number_parse_size("k", 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(number_parse_size("4kk", 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(
	    number_parse_size("18446744073709551615g", 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(number_parse_size("2k", 0, 2047, &v), -1);
	ck_assert_uint_eq(v, 99);
}
END_TEST

static void
ms(const char *word, uint64_t wanted)
{
	uint64_t v = 99;

	ck_assert_msg(
	    number_parse_ms(word, 0, UINT64_MAX, &v) == 0, "\"%s\"", word);
	ck_assert_uint_eq(v, wanted);
}

START_TEST(seconds)
{
	static const char *const bad[] = { "", "1.", ".5", "1.2345", "1,5",
		"1w", "1.5ms", "1.5h", "5 m", "213503982335d", "-1", "1.x",
		"99999999999999999999" };
	uint64_t v = 99;
	size_t i;

	ms("3", 3000);
	ms("0", 0);
	ms("0.5", 500);
	ms("1.25", 1250);
	ms("0.001", 1);
	ms("200ms", 200);
	ms("5s", 5000);
	ms("5m", 300000);
	ms("2h", 7200000);
	ms("1d", 86400000);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(number_parse_ms(bad[i], 0, UINT64_MAX, &v) == -1,
		    "\"%s\"", bad[i]);
	/* a number of seconds whose milliseconds would wrap around */
	ck_assert_int_eq(
	    number_parse_ms("18446744073709552", 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_int_eq(number_parse_ms("3", 0, 2999, &v), -1);
	ck_assert_int_eq(errno, ERANGE);
	ck_assert_uint_eq(v, 99);
}
END_TEST

START_TEST(hexadecimal)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	int c;

	for (c = 0; c < 256; c++) {
		const char *at = c != 0 ? strchr(digits, c) : NULL;
		int value = at == NULL ? -1 : (int)(at - digits);

		ck_assert_int_eq(
		    number_hex_digit((char)c), value > 15 ? value - 6 : value);
	}
}
END_TEST

START_TEST(as_digits)
{
	static const uint64_t numbers[] = { 0, 7, 10, 99, 100, 65535, 1000000,
		UINT64_MAX };
	char got[NUMBER_TEXT_MAX + 1], wanted[NUMBER_TEXT_MAX + 1];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		got[number_format(got, numbers[i])] = '\0';
		snprintf(wanted, sizeof(wanted), "%llu",
		    (unsigned long long)numbers[i]);
		ck_assert_str_eq(got, wanted);
	}
}
END_TEST

START_TEST(digits)
{
	ck_assert(number_is_digits("0"));
	ck_assert(number_is_digits("18446744073709551616"));
	ck_assert(!number_is_digits("-1"));
	ck_assert(!number_is_digits("1 "));
	ck_assert(!number_is_digits("1a"));
}
END_TEST

START_TEST(sums_and_differences)
{
	uint64_t a[] = { 1, UINT64_MAX, 7 };
	const uint64_t b[] = { 2, 1, 5 };

	numbers_add(a, b, 2);
	ck_assert_uint_eq(a[0], 3);
	ck_assert_uint_eq(a[1], 0);
	ck_assert_uint_eq(a[2], 7);
	numbers_subtract(a, b, 2);
	ck_assert_uint_eq(a[0], 1);
	ck_assert_uint_eq(a[1], UINT64_MAX);
	ck_assert_uint_eq(a[2], 7);
}
END_TEST

START_TEST(any_but_zero)
{
	const uint64_t a[] = { 0, 0, 1 };

	ck_assert(!numbers_any(a, 0));
	ck_assert(!numbers_any(a, 2));
	ck_assert(numbers_any(a, 3));
	ck_assert(numbers_any(a + 2, 1));
}
END_TEST

START_TEST(members_of_either_size)
{
	const struct {
		uint64_t wide;
		uint32_t narrow, next;
	} s = { UINT64_MAX - 1, UINT32_MAX - 1, 7 };

	ck_assert_uint_eq(number_at(&s, 0, 8), UINT64_MAX - 1);
	ck_assert_uint_eq(number_at(&s, 8, 4), UINT32_MAX - 1);
	ck_assert_uint_eq(number_at(&s, 12, 4), 7);
}
END_TEST

SUITE(test_number)
{
	Suite *s = suite_create("number");

	SUITE_ADD(s, plain, 10);
	SUITE_ADD(s, sizes, 10);
	SUITE_ADD(s, seconds, 10);
	SUITE_ADD(s, hexadecimal, 10);
	SUITE_ADD(s, as_digits, 10);
	SUITE_ADD(s, digits, 10);
	SUITE_ADD(s, sums_and_differences, 10);
	SUITE_ADD(s, any_but_zero, 10);
	SUITE_ADD(s, members_of_either_size, 10);
	return s;
}
