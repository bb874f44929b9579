/* test_log.c: levels, the shape of lines, the limit of each call site. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "support/suite.h"
#include "support/wait.h"

/* From here on stderr is this file. */
static const char *
catch_stderr(void)
{
	const char *path = scratch("stderr");

	log_level = LOG_LEVEL_INFO; /* tests may share a process */
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	return path;
}

static size_t
count(const char *lines, const char *what)
{
	size_t n = 0;

	while ((lines = strstr(lines, what)) != NULL) {
		lines += strlen(what);
		n++;
	}
	return n;
}

/* "YYYY-MM-DD HH:MM:SS: " and the message, nothing else. */
START_TEST(shape)
{
	const char *path = catch_stderr(), *line;
	int year, month, day, hour, minute, second, length = 0;

	log_info("hello n=%d text=\"%s\"", 7, "%d");
	line = contents(path);
	ck_assert_int_eq(sscanf(line, "%4d-%2d-%2d %2d:%2d:%2d: %n", &year,
			     &month, &day, &hour, &minute, &second, &length),
	    6);
	ck_assert_int_eq(length, 21);
	ck_assert_str_eq(line + length, "hello n=7 text=\"%d\"\n");
}
END_TEST

static int
touch(int *touched)
{
	return ++*touched;
}

START_TEST(levels)
{
	const char *path = catch_stderr(), *lines;
	int touched = 0;

	ck_assert_int_eq(log_level, LOG_LEVEL_INFO);
	log_debug("too much %d", touch(&touched));
	ck_assert_int_eq(touched, 0);
	log_level = LOG_LEVEL_DEBUG;
	log_debug("debugging %d", touch(&touched));
	ck_assert_int_eq(touched, 1);
	log_level = LOG_LEVEL_ERROR;
	log_info("too much");
	log_warn("too much");
	log_error("failing");
	lines = contents(path);
	ck_assert_uint_eq(count(lines, "\n"), 2);
	ck_assert_ptr_nonnull(strstr(lines, "debugging 1\n"));
	ck_assert_ptr_nonnull(strstr(lines, "failing\n"));
}
END_TEST

START_TEST(long_lines)
{
	const char *path = catch_stderr(), *line;
	char message[3000];

	memset(message, 'x', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	log_info("%s", message);
	line = contents(path);
	ck_assert_uint_eq(strlen(line), 21 + 1023 + 1);
	ck_assert_uint_eq(count(line, "\n"), 1);
}
END_TEST

static uint64_t
second_now(void)
{
	return clock_monotonic_ms() / 1000;
}

/* 25 lines of one site within one second, as far as the machine allows; false
 * when the second was over before they were. */
static bool
burst(struct log_site *site, enum log_level level)
{
	uint64_t second = second_now();
	int i;

	*site = (struct log_site){ .second = 0 };
	for (i = 0; i < 25; i++)
		log_write(site, level, "burst %d", i);
	return second_now() == second;
}

START_TEST(ten_lines_a_second)
{
	struct log_site site, other = { .second = 0 };
	const char *path, *lines;
	uint64_t second;

	do {
		path = catch_stderr();
		second = second_now();
	} while (!burst(&site, LOG_LEVEL_WARN));
	lines = contents(path);
	ck_assert_uint_eq(count(lines, "\n"), 10);
	ck_assert_ptr_nonnull(strstr(lines, "burst 9\n"));
	/* other sites are not cut */
	log_write(&other, LOG_LEVEL_WARN, "elsewhere");
	ck_assert(file_has(path, ": elsewhere\n"));
	WAIT_FOR(second_now() > second, 3000);
	log_write(&site, LOG_LEVEL_WARN, "again");
	lines = strstr(contents(path), "elsewhere\n");
	ck_assert_uint_eq(count(lines, "\n"), 3);
	ck_assert_ptr_nonnull(
	    strstr(lines, ": similar lines not shown count=15\n"));
	ck_assert_ptr_nonnull(strstr(lines, ": again\n"));
	/* and that has been said, in this second and in any other */
	log_write(&site, LOG_LEVEL_WARN, "and again");
	site.second--;
	log_write(&site, LOG_LEVEL_WARN, "and again");
	ck_assert_uint_eq(count(contents(path), "similar"), 1);
}
END_TEST

START_TEST(debug_lines_have_no_limit)
{
	const char *path = catch_stderr();
	struct log_site site;
	int i;

	(void)burst(&site, LOG_LEVEL_DEBUG);
	ck_assert_uint_eq(count(contents(path), "burst"), 25);
	for (i = 0; i < 25; i++)
		log_write(NULL, LOG_LEVEL_WARN, "no site");
	ck_assert_uint_eq(count(contents(path), "no site"), 25);
}
END_TEST

START_TEST(syslog_instead_of_stderr)
{
	const char *path = catch_stderr();

	log_info("before");
	log_use_syslog("pen-test");
	log_info("after");
	log_error("after");
	ck_assert_uint_eq(count(contents(path), "\n"), 1);
	ck_assert(file_has(path, "before"));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("log");

	SUITE_ADD(s, shape, 10);
	SUITE_ADD(s, levels, 10);
	SUITE_ADD(s, long_lines, 10);
	SUITE_ADD(s, ten_lines_a_second, 30);
	SUITE_ADD(s, debug_lines_have_no_limit, 10);
	SUITE_ADD(s, syslog_instead_of_stderr, 10);
	return suite_main(s);
}
