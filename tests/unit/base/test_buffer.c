/* test_buffer.c: bytes come out as they went in; an empty buffer owns none. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/suite.h"

START_TEST(in_order)
{
	struct buffer b;
	uint64_t x = 3, put = 0, got = 0;
	size_t n, k, most = 0, wrong = 0;
	char *at;
	int i;

	buffer_init(&b);
	for (i = 0; i < suite_rounds(20000); i++) {
		x = hash_mix(x + (uint64_t)i);
		n = x % 700;
		if (x >> 33 & 1) {
			at = buffer_reserve(&b, n);
			ck_assert_ptr_nonnull(at);
			for (k = 0; k < n; k++)
				at[k] = (char)(put++ % 251);
			buffer_added(&b, n);
		} else {
			n = n < buffer_length(&b) ? n : buffer_length(&b);
			for (k = 0; k < n; k++)
				wrong +=
				    buffer_bytes(&b)[k] != (char)(got++ % 251);
			buffer_consume(&b, n);
		}
		ck_assert_uint_eq(buffer_length(&b), put - got);
		most = buffer_length(&b) > most ? buffer_length(&b) : most;
		/* what was consumed does not pile up */
		ck_assert_uint_le(b.size, 8 * (most + 1024));
	}
	ck_assert_uint_eq(wrong, 0);
	buffer_fini(&b);
}
END_TEST

/* Many are filled only once. */
START_TEST(no_larger_than_needed_at_first)
{
	char bytes[5000] = { 0 };
	struct buffer b;

	buffer_init(&b);
	ck_assert_int_eq(buffer_append(&b, bytes, sizeof(bytes)), 0);
	ck_assert_uint_eq(b.size, sizeof(bytes));
	ck_assert_int_eq(buffer_append(&b, bytes, 1), 0);
	ck_assert_uint_eq(b.size, 2 * sizeof(bytes));
	buffer_fini(&b);
}
END_TEST

START_TEST(empty_owns_nothing)
{
	struct buffer b;

	buffer_init(&b);
	ck_assert_int_eq(buffer_append(&b, "hello", 5), 0);
	buffer_consume(&b, 2);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "llo", 3), 0);
	buffer_consume(&b, 3);
	ck_assert_ptr_null(b.data);
	ck_assert_ptr_null(buffer_bytes(&b));
	ck_assert_uint_eq(b.size, 0);
	ck_assert_ptr_null(buffer_reserve(&b, (size_t)-1));
	ck_assert_uint_eq(buffer_length(&b), 0);
	buffer_fini(&b);
}
END_TEST

/* What has been consumed counts too when sizes would wrap around. */
START_TEST(too_much_room)
{
	struct buffer b;

	buffer_init(&b);
	ck_assert_int_eq(buffer_append(&b, "hello", 5), 0);
	buffer_consume(&b, 3);
	errno = 0;
	ck_assert_ptr_null(buffer_reserve(&b, SIZE_MAX - 3));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(buffer_reserve(&b, SIZE_MAX / 2));
	ck_assert_uint_eq(buffer_length(&b), 2);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "lo", 2), 0);
	buffer_fini(&b);
}
END_TEST

START_TEST(nothing_appended)
{
	struct buffer b;

	buffer_init(&b);
	ck_assert_int_eq(buffer_append(&b, "", 0), 0);
	ck_assert_ptr_null(b.data);
	ck_assert_ptr_null(buffer_bytes(&b));
}
END_TEST

/* What was appended last goes; what was consumed before does not count. */
START_TEST(cut_at_the_end)
{
	struct buffer b;

	buffer_init(&b);
	buffer_cut(&b, 0);
	ck_assert_ptr_null(b.data);
	ck_assert_ptr_null(buffer_bytes(&b));
	ck_assert_int_eq(buffer_append(&b, "hello world", 11), 0);
	buffer_consume(&b, 3);
	buffer_cut(&b, 9);
	buffer_cut(&b, 8);
	ck_assert_uint_eq(buffer_length(&b), 8);
	buffer_cut(&b, 2);
	ck_assert_uint_eq(buffer_length(&b), 2);
	ck_assert_int_eq(buffer_append(&b, "!", 1), 0);
	ck_assert_uint_eq(buffer_length(&b), 3);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "lo!", 3), 0);
	buffer_cut(&b, 0);
	ck_assert_uint_eq(buffer_length(&b), 0);
	ck_assert_ptr_null(b.data);
	ck_assert_ptr_null(buffer_bytes(&b));
	ck_assert_int_eq(buffer_append(&b, "x", 1), 0);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "x", 1), 0);
	buffer_fini(&b);
}
END_TEST

/* What is shared is not allocated for each use. */
START_TEST(cleared_keeps_its_memory)
{
	struct buffer b;
	const char *data;

	buffer_init(&b);
	buffer_clear(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_int_eq(buffer_append(&b, "abc", 3), 0);
	data = b.data;
	buffer_clear(&b);
	ck_assert_uint_eq(buffer_length(&b), 0);
	ck_assert_int_eq(buffer_append(&b, "de", 2), 0);
	ck_assert_ptr_eq(buffer_bytes(&b), data);
	ck_assert_int_eq(memcmp(buffer_bytes(&b), "de", 2), 0);
	buffer_fini(&b);
}
END_TEST

SUITE(test_buffer)
{
	Suite *s = suite_create("buffer");

	SUITE_ADD(s, cleared_keeps_its_memory, 10);
	SUITE_ADD(s, in_order, 30);
	SUITE_ADD(s, no_larger_than_needed_at_first, 10);
	SUITE_ADD(s, empty_owns_nothing, 10);
	SUITE_ADD(s, too_much_room, 10);
	SUITE_ADD(s, nothing_appended, 10);
	SUITE_ADD(s, cut_at_the_end, 10);
	return s;
}
