/* test_handover.c: the state that one pen hands to the next, whole and
 * corrupted.
 * */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "control/handover/handover.h"
#include "support/suite.h"

static struct buffer out;
static struct handover_writer w;
static struct handover_reader r;
static struct handover_record record;

/* One of each kind of payload, a type from the future, and the end. */
static void
write_all(void)
{
	struct addr a;
	unsigned i;

	buffer_init(&out);
	handover_begin(&w, &out);
	handover_open(&w, HANDOVER_SERVER);
	handover_add_number(&w, 0x0123456789abcdef, 8);
	handover_add_number(&w, 0xfffe, 2);
	handover_add_text(&w, "a server");
	ck_assert_int_eq(addr_parse_ip(&a, "fe80::1", 80), 0);
	handover_add_addr(&w, &a);
	handover_close(&w);
	handover_open(&w, (enum handover_type)4711);
	for (i = 0; i < 100; i++)
		handover_add_number(&w, i, 4);
	handover_close(&w);
	handover_open(&w, HANDOVER_COUNTER);
	ck_assert_int_eq(addr_parse_unix(&a, "/a/path"), 0);
	handover_add_addr(&w, &a);
	handover_close(&w);
	handover_open(&w, HANDOVER_END);
	handover_close(&w);
	ck_assert(!w.failed);
}

static void
check_server(void)
{
	char text_[256], host[ADDR_TEXT_MAX];
	struct addr a;

	ck_assert_uint_eq(record.type, HANDOVER_SERVER);
	ck_assert_uint_eq(
	    handover_get_number(&record, 8), 0x0123456789abcdef);
	ck_assert_uint_eq(handover_get_number(&record, 2), 0xfffe);
	handover_get_text(&record, text_);
	ck_assert_str_eq(text_, "a server");
	handover_get_addr(&record, &a);
	ck_assert_str_eq(addr_format(&a, host), "[fe80::1]:80");
	ck_assert(!record.bad && record.left == 0);
	/* behind its end there is nothing */
	ck_assert_uint_eq(handover_get_number(&record, 4), 0);
	ck_assert(record.bad);
}

/* However the bytes come. */
START_TEST(all_that_was_written)
{
	size_t step = _i == 0 ? 1 : _i == 1 ? 7 : 100000, at, n;
	char host[ADDR_TEXT_MAX];
	struct addr a;
	int records = 0;

	write_all();
	handover_reader_init(&r);
	for (at = 0; at < buffer_length(&out); at += n) {
		n = buffer_length(&out) - at;
		n = n < step ? n : step;
		ck_assert_int_eq(
		    handover_feed(&r, buffer_bytes(&out) + at, n), 0);
		while (handover_next(&r, &record))
			switch (++records) {
			case 1:
				check_server();
				break;
			case 2:
				ck_assert_uint_eq(record.type, 4711);
				break;
			default:
				handover_get_addr(&record, &a);
				ck_assert_str_eq(
				    addr_format(&a, host), "/a/path");
			}
	}
	ck_assert_int_eq(records, 3);
	ck_assert(r.ended);
	ck_assert_ptr_null(r.error);
	/* what follows is nobody's */
	ck_assert_int_eq(handover_feed(&r, "x", 1), 0);
	ck_assert(!handover_next(&r, &record));
	handover_reader_fini(&r);
	buffer_fini(&out);
}
END_TEST

/* ---- corrupted ---- */

/* Reads it with every kind of question. Returns the number of records. */
static int
read_all(const void *bytes, size_t n)
{
	char text_[256];
	struct addr a;
	int records = 0;

	handover_reader_init(&r);
	(void)handover_feed(&r, bytes, n);
	while (handover_next(&r, &record)) {
		records++;
		while (!record.bad && record.left > 0) {
			handover_get_addr(&record, &a);
			ck_assert_uint_le(a.len, sizeof(a.u));
			handover_get_text(&record, text_);
			(void)handover_get_number(&record, 1 + record.left % 8);
		}
	}
	return records;
}

START_TEST(every_truncation)
{
	size_t n;
	int before = 0, now;

	write_all();
	for (n = 0; n < buffer_length(&out); n++) {
		now = read_all(buffer_bytes(&out), n);
		ck_assert_int_ge(now, before);
		before = now;
		ck_assert(!r.ended);
		ck_assert_ptr_null(r.error);
		handover_reader_fini(&r);
	}
	ck_assert_int_eq(before, 3);
	buffer_fini(&out);
}
END_TEST

/* No bit can change without being noticed: what is behind it is not read. */
START_TEST(every_bit)
{
	char *copy;
	size_t bit, n;

	write_all();
	n = buffer_length(&out);
	copy = malloc(n);
	for (bit = 0; bit < 8 * n; bit++) {
		memcpy(copy, buffer_bytes(&out), n);
		copy[bit / 8] ^= (char)(1 << bit % 8);
		(void)read_all(copy, n);
		ck_assert_msg(!r.ended, "bit %zu of %zu", bit, 8 * n);
		handover_reader_fini(&r);
	}
	free(copy);
	buffer_fini(&out);
}
END_TEST

/* Bytes that are right in front and random behind, and records whose check is
 * right and whose payload is not. */
START_TEST(random_bytes)
{
	struct buffer b;
	unsigned seed = 1, i, k, n;
	unsigned char bytes[300];

	for (i = 0; i < 20000; i++) {
		n = (unsigned)rand_r(&seed) % sizeof(bytes);
		for (k = 0; k < n; k++)
			bytes[k] = (unsigned char)(rand_r(&seed) >> 7);
		buffer_init(&b);
		handover_begin(&w, &b);
		if (i % 2 == 0) {
			handover_open(&w, HANDOVER_CLIENTS);
			handover_add(&w, bytes, n);
			handover_close(&w);
		} else {
			handover_add(&w, bytes, n);
		}
		(void)read_all(buffer_bytes(&b), buffer_length(&b));
		handover_reader_fini(&r);
		buffer_fini(&b);
	}
}
END_TEST

static const char *
error_of(const void *bytes, size_t n)
{
	const char *error;

	(void)read_all(bytes, n);
	error = r.error;
	handover_reader_fini(&r);
	return error;
}

START_TEST(what_is_not_understood)
{
	static const unsigned char endless[] = "penstate\1\0\0\0"
					       "\xff\xff\xff\xff\2\0........";

	ck_assert_str_eq(error_of("GET / HTTP/1.0\r\n", 16),
	    "not the state of a pen process");
	ck_assert_str_eq(error_of("penstate\2\0\0\0", 12),
	    "a version that this process does not know");
	ck_assert_str_eq(error_of(endless, sizeof(endless) - 1),
	    "a record that is too long");
	ck_assert_ptr_null(error_of("", 0));
}
END_TEST

SUITE(test_handover)
{
	Suite *s = suite_create("handover");
	TCase *c = tcase_create("all_that_was_written");

	tcase_add_loop_test(c, all_that_was_written, 0, 3);
	suite_add_tcase(s, c);
	SUITE_ADD(s, every_truncation, 30);
	SUITE_ADD(s, every_bit, 60);
	SUITE_ADD(s, random_bytes, 60);
	SUITE_ADD(s, what_is_not_understood, 10);
	return s;
}
