/* test_log.c: levels, the shape of lines, the limit of each call site. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

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

/* The journal has the time, and takes the level of a line from its begin. */
START_TEST(levels_for_the_journal)
{
	const char *path = catch_stderr();
	struct stat st;

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	setenv("JOURNAL_STREAM", "1:2", 1);
	log_find_journal();
	ck_assert_str_eq(log_prefix(LOG_LEVEL_ERROR), "");
	log_info("with a time");
	setenv("JOURNAL_STREAM",
	    text("%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino),
	    1);
	log_find_journal();
	log_info("informed n=1");
	log_warn("warned");
	log_error("failed");
	unsetenv("JOURNAL_STREAM");
	ck_assert_str_eq(log_prefix(LOG_LEVEL_ERROR), "<3>");
	log_find_journal();
	ck_assert_str_eq(contents(path) + 21,
	    "with a time\n<6>informed n=1\n<4>warned\n<3>failed\n");
}
END_TEST

static const char *
last_line(const char *path)
{
	const char *all = contents(path), *at = all + strlen(all) - 1;

	while (at > all && at[-1] != '\n')
		at--;
	return at;
}

/* What follows the time. */
static void
expect_json(const char *path, const char *line)
{
	const char *at = last_line(path);

	ck_assert_msg(strncmp(at, "{\"time\":\"2", 10) == 0, "%s", at);
	at = strstr(at, "\",");
	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at + 2, line);
}

START_TEST(lines_of_json)
{
	const char *path = catch_stderr();
	char long_message[1000];

	log_use_json(true);
	log_info("hello");
	expect_json(path, "\"level\":\"info\",\"message\":\"hello\"}\n");
	log_warn("it failed error=\"a \"b\" c\" server=7 at=10.0.0.1:80 n=007");
	expect_json(path,
	    "\"level\":\"warning\",\"message\":\"it failed\","
	    "\"error\":\"a 'b' c\",\"server\":7,\"at\":\"10.0.0.1:80\","
	    "\"n\":\"007\"}\n");
	log_info("a\tb \"c\\d\" none= words=of it x=\"\"");
	expect_json(path,
	    "\"level\":\"info\",\"message\":\"a\\tb \\\"c\\\\d\\\"\","
	    "\"none\":\"\",\"words\":\"of it\",\"x\":\"\"}\n");
	memset(long_message, '\\', sizeof(long_message) - 1);
	long_message[sizeof(long_message) - 1] = '\0';
	log_info("m a=%s b=1", long_message);
	ck_assert_ptr_nonnull(strstr(last_line(path), "\\\",\"b\":1}\n"));
	log_use_json(false);
	log_info("text");
	ck_assert_str_eq(last_line(path) + 21, "text\n");
}
END_TEST

START_TEST(quotes)
{
	const char *path = catch_stderr();

	log_info("failed error=\"%s\" server=%d why=\"%s\"",
	    "\"/a b\": No such \"file\"", 3, "\033[m");
	ck_assert_str_eq(contents(path) + 21,
	    "failed error=\"'/a b': No such 'file'\" server=3 why=\"?[m\"\n");
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
	ck_assert_int_eq(count_in(lines, "\n"), 2);
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
	ck_assert_int_eq(count_in(line, "\n"), 1);
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
	ck_assert_int_eq(count_in(lines, "\n"), 10);
	ck_assert_ptr_nonnull(strstr(lines, "burst 9\n"));
	/* other sites are not cut */
	log_write(&other, LOG_LEVEL_WARN, "elsewhere");
	ck_assert(file_has(path, ": elsewhere\n"));
	WAIT_FOR(second_now() > second, 3000);
	log_write(&site, LOG_LEVEL_WARN, "again");
	lines = strstr(contents(path), "elsewhere\n");
	ck_assert_int_eq(count_in(lines, "\n"), 3);
	ck_assert_ptr_nonnull(
	    strstr(lines, ": similar lines not shown count=15\n"));
	ck_assert_ptr_nonnull(strstr(lines, ": again\n"));
	/* and that has been said, in this second and in any other */
	log_write(&site, LOG_LEVEL_WARN, "and again");
	site.second--;
	log_write(&site, LOG_LEVEL_WARN, "and again");
	ck_assert_int_eq(count_in(contents(path), "similar"), 1);
}
END_TEST

START_TEST(debug_lines_have_no_limit)
{
	const char *path = catch_stderr();
	struct log_site site;
	int i;

	(void)burst(&site, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(count_in(contents(path), "burst"), 0);
	log_level = LOG_LEVEL_DEBUG;
	(void)burst(&site, LOG_LEVEL_DEBUG);
	log_level = LOG_LEVEL_INFO;
	ck_assert_int_eq(count_in(contents(path), "burst"), 25);
	for (i = 0; i < 25; i++)
		log_write(NULL, LOG_LEVEL_WARN, "no site");
	ck_assert_int_eq(count_in(contents(path), "no site"), 25);
}
END_TEST

/* A log daemon of the test's own at `path`. */
static int
listen_as_daemon(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

/* The next message, "" when there is none. */
static const char *
heard(int fd)
{
	static char text[2048];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* RFC 3164: <daemon.info> is 30, <daemon.err> 27. */
START_TEST(syslog_instead_of_stderr)
{
	const char *path = catch_stderr(), *at = scratch("daemon");
	const char *line;
	int fd = listen_as_daemon(at);
	uint64_t lost = 0;

	log_info("before");
	log_open_syslog(at, "pen-test");
	log_use_syslog();
	log_info("after");
	line = heard(fd);
	ck_assert_msg(strncmp(line, "<30>", 4) == 0, "%s", line);
	ck_assert_str_eq(
	    line + 20, text("pen-test[%ld]: after", (long)getpid()));
	log_error("after");
	ck_assert_int_eq(strncmp(heard(fd), "<27>", 4), 0);
	log_use_facility(LOG_LOCAL3);
	log_error("after");
	ck_assert_int_eq(strncmp(heard(fd), "<155>", 5), 0);
	ck_assert_int_eq(log_facility(), LOG_LOCAL3);
	log_use_facility(LOG_DAEMON);
	ck_assert_int_eq(count_in(contents(path), "\n"), 1);
	ck_assert(file_has(path, "before"));
	/* the daemon is started again */
	close(fd);
	log_count_lost(&lost);
	log_info("nobody hears this");
	ck_assert_uint_eq(lost, 1);
	fd = listen_as_daemon(at);
	log_info("again");
	ck_assert_ptr_nonnull(strstr(heard(fd), "log lines lost count=1"));
	ck_assert_ptr_nonnull(strstr(heard(fd), "again"));
	ck_assert_uint_eq(lost, 1);
	close(fd);
	log_stop_counting_lost(&lost);
	log_info("nobody hears this either");
	ck_assert_uint_eq(lost, 1);
}
END_TEST

/* A daemon that does not read holds nobody. */
START_TEST(busy_daemon_is_not_waited_for)
{
	const char *at = scratch("busy");
	int fd = listen_as_daemon(at), i;

	log_level = LOG_LEVEL_INFO;
	log_open_syslog(at, "pen-test");
	log_use_syslog();
	for (i = 0; i < 5000; i++)
		log_write(NULL, LOG_LEVEL_WARN, "line %d", i);
	while (*heard(fd) != '\0')
		;
	log_write(NULL, LOG_LEVEL_WARN, "read again");
	ck_assert_ptr_nonnull(strstr(heard(fd), "log lines lost count="));
	ck_assert_ptr_nonnull(strstr(heard(fd), "read again"));
	close(fd);
}
END_TEST

/* Nor does a pipe that nobody reads. */
START_TEST(full_pipe_is_not_waited_for)
{
	int err = dup(STDERR_FILENO), end[2], i;
	char got[64 * 1024 + 1];
	ssize_t n;

	log_level = LOG_LEVEL_INFO;
	ck_assert_int_eq(pipe(end), 0);
	ck_assert_int_eq(dup2(end[1], STDERR_FILENO), STDERR_FILENO);
	for (i = 0; i < 5000; i++)
		log_write(NULL, LOG_LEVEL_WARN, "line %d", i);
	n = read(end[0], got, sizeof(got) - 1);
	log_write(NULL, LOG_LEVEL_WARN, "read again");
	ck_assert_int_eq(dup2(err, STDERR_FILENO), STDERR_FILENO);
	ck_assert_int_gt(n, 1000);
	ck_assert_int_eq(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
	while ((n = read(end[0], got, sizeof(got) - 1)) > 0) {
		got[n] = '\0';
		if (strstr(got, "read again") != NULL)
			break;
	}
	ck_assert_int_gt(n, 0);
	ck_assert_ptr_nonnull(strstr(got, "log lines lost count="));
	close(err);
	close(end[0]);
	close(end[1]);
}
END_TEST

SUITE(test_log)
{
	Suite *s = suite_create("log");

	SUITE_ADD(s, shape, 10);
	SUITE_ADD(s, levels_for_the_journal, 10);
	SUITE_ADD(s, lines_of_json, 10);
	SUITE_ADD(s, quotes, 10);
	SUITE_ADD(s, levels, 10);
	SUITE_ADD(s, long_lines, 10);
	SUITE_ADD(s, ten_lines_a_second, 30);
	SUITE_ADD(s, debug_lines_have_no_limit, 10);
	SUITE_ADD(s, full_pipe_is_not_waited_for, 10);
	SUITE_ADD(s, syslog_instead_of_stderr, 10);
	SUITE_ADD(s, busy_daemon_is_not_waited_for, 10);
	return s;
}
