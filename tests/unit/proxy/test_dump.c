/* test_dump.c: what -dd shows, byte by byte. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/log/dump.h"
#include "support/suite.h"

static struct stream from = { .fd = 7 };

/* What dump_bytes() writes to stderr, without the times of its lines. */
static const char *
shown(unsigned kind, const char *bytes, size_t n)
{
	static char all[8192];
	const char *path = scratch("dump"), *line, *next;
	int kept = dup(2), fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, 2), 2);
	dump_bytes(&kind, &from, bytes, n);
	ck_assert_int_eq(dup2(kept, 2), 2);
	close(kept);
	close(fd);
	all[0] = '\0';
	for (line = contents(path); *line != '\0'; line = next) {
		next = strchr(line, '\n') + 1;
		ck_assert_int_gt(next - line, 21);
		line += strlen("2000-01-01 00:00:00: ");
		strncat(all, line, (size_t)(next - line));
	}
	return all;
}

START_TEST(hex)
{
	log_level = LOG_LEVEL_DEBUG;
	ck_assert_str_eq(shown(DUMP_HEX, "", 0), "");
	ck_assert_str_eq(
	    shown(DUMP_HEX, "\0A\xff", 3), "data fd=7 at=0 00 41 ff\n");
	ck_assert_str_eq(shown(DUMP_HEX, "0123456789abcdefg", 17),
	    "data fd=7 at=0 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66\n"
	    "data fd=7 at=16 67\n");
}
END_TEST

START_TEST(ascii)
{
	char bytes[130], wanted[256];

	log_level = LOG_LEVEL_DEBUG;
	ck_assert_str_eq(shown(DUMP_ASCII, "a\0\r\n\x1b[1m\xc3\xa9 %s", 14),
	    "data fd=7 at=0 a....[1m.. %s.\n");
	memset(bytes, 'x', sizeof(bytes));
	snprintf(wanted, sizeof(wanted),
	    "data fd=7 at=0 %.64s\ndata fd=7 at=64 %.64s\ndata fd=7 at=128 "
	    "xx\n",
	    bytes, bytes);
	ck_assert_str_eq(shown(DUMP_ASCII, bytes, sizeof(bytes)), wanted);
}
END_TEST

/* Many lines in a second are all shown: a dump with holes is worth nothing. */
START_TEST(nothing_is_left_out)
{
	static char bytes[16 * 100];
	const char *all;
	int lines = 0;

	log_level = LOG_LEVEL_DEBUG;
	for (all = shown(DUMP_HEX, bytes, sizeof(bytes)); *all != '\0'; all++)
		lines += *all == '\n';
	ck_assert_int_eq(lines, 100);
}
END_TEST

START_TEST(quiet_below_debug)
{
	log_level = LOG_LEVEL_INFO;
	ck_assert_str_eq(shown(DUMP_HEX, "abc", 3), "");
	ck_assert_str_eq(shown(DUMP_ASCII, "abc", 3), "");
}
END_TEST

SUITE(test_dump)
{
	Suite *s = suite_create("dump");

	SUITE_ADD(s, hex, 10);
	SUITE_ADD(s, ascii, 10);
	SUITE_ADD(s, nothing_is_left_out, 10);
	SUITE_ADD(s, quiet_below_debug, 10);
	return s;
}
