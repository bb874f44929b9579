/* test_sink.c: lines to files and sockets. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/sink.h"
#include "support/fixture.h"
#include "support/suite.h"
#include "support/veth.h"

static uint64_t lost;

static struct sink *
opened(struct sink *s)
{
	ck_assert_msg(s != NULL, "%s", fixture.e.text);
	lost = 0;
	sink_count_lost(s, &lost);
	return s;
}

static void
put(struct sink *s, const char *line)
{
	sink_put(s, line, strlen(line));
}

/* It is there after a second, and what is left at the end. */
START_TEST(lines_of_a_file)
{
	const char *path = scratch("lines");
	struct sink *s;

	fixture_begin();
	s = opened(sink_open_file(fixture.loop, "lines", path, &fixture.e));
	ck_assert(!sink_is_datagram(s));
	put(s, "one\n");
	put(s, "two\n");
	ck_assert_str_eq(contents(path), "");
	RUN_UNTIL(file_has(path, "two"));
	put(s, "three\n");
	sink_close(s);
	ck_assert_str_eq(contents(path), "one\ntwo\nthree\n");
	fixture_end();
}
END_TEST

START_TEST(opened_anew)
{
	const char *path = scratch("lines"), *away = scratch("away");
	struct sink *s;

	fixture_begin();
	s = opened(sink_open_file(fixture.loop, "lines", path, &fixture.e));
	put(s, "old\n");
	ck_assert_int_eq(rename(path, away), 0);
	ck_assert_int_eq(sink_reopen(s, &fixture.e), 0);
	put(s, "new\n");
	sink_close(s);
	ck_assert_str_eq(contents(away), "old\n");
	ck_assert_str_eq(contents(path), "new\n");
	fixture_end();
}
END_TEST

/* A log may be larger than 32 bits tell, on any machine. */
START_TEST(beyond_two_gigabytes)
{
	const char *path = scratch("lines");
	const off_t before = (off_t)3 << 30;
	struct sink *s;
	struct stat st;

	fixture_begin();
	write_file(path, "");
	ck_assert_int_eq(truncate(path, before), 0);
	s = opened(sink_open_file(fixture.loop, "lines", path, &fixture.e));
	put(s, "one\n");
	sink_close(s);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, before + 4);
	fixture_end();
}
END_TEST

/* Who has the path makes the file: until then it goes on with its own. */
START_TEST(follows_another_file)
{
	const char *path = scratch("lines"), *away = scratch("away");
	struct sink *s;

	fixture_begin();
	s = opened(sink_open_file(fixture.loop, "lines", path, &fixture.e));
	ck_assert_int_eq(rename(path, away), 0);
	sink_follow(s);
	ck_assert_int_eq(access(path, F_OK), -1);
	put(s, "old\n");
	write_file(path, "theirs\n");
	sink_follow(s);
	put(s, "ours\n");
	sink_close(s);
	ck_assert_str_eq(contents(away), "old\n");
	ck_assert_str_eq(contents(path), "theirs\nours\n");
	fixture_end();
}
END_TEST

/* A pipe that nobody reads takes 64 KiB and holds nobody up; whole lines are
 * lost and counted, and its other writers see no flag of ours. */
START_TEST(shared_and_full)
{
	static char line[1001];
	struct sink *s;
	int fd[2], i;

	fixture_begin();
	ck_assert_int_eq(pipe(fd), 0);
	s = opened(sink_open_shared(fixture.loop, "lines", fd[1], &fixture.e));
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 2] = '\n';
	for (i = 0; i < 1000; i++)
		put(s, line);
	RUN_UNTIL(lost > 0);
	ck_assert_uint_ge(lost, 800);
	ck_assert_int_eq(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
	sink_close(s);
	ck_assert_int_eq(write(fd[1], "", 0), 0);
	close(fd[0]);
	close(fd[1]);
	fixture_end();
}
END_TEST

/* All that a pipe has, as text behind what is there. */
static void
take(int fd, char *all)
{
	size_t at = strlen(all);
	ssize_t n;

	while ((n = read(fd, all + at, 4096)) > 0)
		at += (size_t)n;
	all[at] = '\0';
}

/* A pipe that has no space for all of them. */
static int
narrow_pipe(const char *path)
{
	static char stuff[40 * 1024];
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, stuff, sizeof(stuff)), sizeof(stuff));
	return fd;
}

/* A line that fits half is completed when there is space again; those behind it
 * are lost, and the next one is whole; also if the file was not moved, but is
 * opened again. */
START_TEST(half_a_line)
{
	static char line[1001], all[256 * 1024];
	const char *path = scratch(text("fifo%d", _i));
	int fd = narrow_pipe(path), i;
	struct sink *s;
	char *at;

	fixture_begin();
	s = opened(sink_open_file(fixture.loop, "lines", path, &fixture.e));
	memset(line, 'x', sizeof(line) - 1);
	line[0] = '<';
	line[sizeof(line) - 3] = '>';
	line[sizeof(line) - 2] = '\n';
	for (i = 0; i < 40; i++)
		put(s, line);
	RUN_UNTIL(lost > 0);
	if (_i == 1)
		ck_assert_int_eq(sink_reopen(s, &fixture.e), 0);
	ck_assert_int_eq(read(fd, all, 40 * 1024), 40 * 1024);
	all[0] = '\0';
	take(fd, all);
	ck_assert_int_eq(all[strlen(all) - 1], 'x'); /* half of it */
	put(s, line);
	RUN_UNTIL((take(fd, all), all[strlen(all) - 1] == '\n'));
	for (at = all, i = 0; *at != '\0'; at += sizeof(line) - 1, i++)
		ck_assert_int_eq(memcmp(at, line, sizeof(line) - 1), 0);
	ck_assert_uint_eq((uint64_t)i + lost, 41);
	sink_close(s);
	close(fd);
	fixture_end();
}
END_TEST

static int
daemon_at(const char *path)
{
	struct addr a;
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	(void)unlink(path);
	ck_assert_int_eq(addr_parse_unix(&a, path), 0);
	ck_assert_int_eq(bind(fd, &a.u.sa, a.len), 0);
	return fd;
}

/* A log daemon that was started again has the next line. */
START_TEST(local_daemon_comes_back)
{
	const char *path = scratch("daemon");
	int fd = daemon_at(path);
	struct addr a;
	struct sink *s;
	char got[64];

	fixture_begin();
	ck_assert_int_eq(addr_parse_unix(&a, path), 0);
	s = opened(sink_open_datagram(fixture.loop, "lines", &a, &fixture.e));
	ck_assert(sink_is_datagram(s));
	put(s, "one");
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), 3);
	close(fd);
	put(s, "lost");
	ck_assert_uint_eq(lost, 1);
	fd = daemon_at(path);
	RUN_UNTIL((put(s, "four"), recv(fd, got, 4, MSG_DONTWAIT) == 4));
	sink_close(s);
	close(fd);
	fixture_end();
}
END_TEST

#ifdef HAVE_LINK_PACKET

/* The address that lines left from is gone, as with another lease of DHCP. */
START_TEST(from_another_address)
{
	const char *why = veth_up();
	struct addr a;
	struct sink *s;

	if (why != NULL)
		SKIP(why);
	veth_ip("link set lo up");
	veth_ip("addr add 10.9.0.1/24 dev near");
	fixture_begin();
	ck_assert_int_eq(addr_parse_ip(&a, "10.9.0.9", 514), 0);
	s = opened(sink_open_datagram(fixture.loop, "lines", &a, &fixture.e));
	put(s, "one");
	veth_ip("addr del 10.9.0.1/24 dev near");
	veth_ip("addr add 10.9.0.2/24 dev near");
	put(s, "two");
	ck_assert_uint_eq(lost, 0);
	sink_close(s);
	fixture_end();
}
END_TEST

#endif

START_TEST(nowhere)
{
	struct addr a;

	fixture_begin();
	ck_assert_ptr_null(sink_open_file(
	    fixture.loop, "lines", "/nothing/at/all", &fixture.e));
	ck_assert_int_eq(addr_parse_unix(&a, scratch("none")), 0);
	ck_assert_ptr_null(
	    sink_open_datagram(fixture.loop, "lines", &a, &fixture.e));
	fixture_end();
}
END_TEST

SUITE(test_sink)
{
	Suite *s = suite_create("sink");

	SUITE_ADD(s, lines_of_a_file, 60);
	SUITE_ADD(s, opened_anew, 60);
	SUITE_ADD(s, follows_another_file, 60);
	SUITE_ADD(s, beyond_two_gigabytes, 60);
	SUITE_ADD(s, shared_and_full, 60);
	SUITE_ADD_LOOP(s, half_a_line, 60, 2);
	SUITE_ADD(s, local_daemon_comes_back, 60);
	SUITE_ADD(s, nowhere, 60);
#ifdef HAVE_LINK_PACKET
	SUITE_ADD(s, from_another_address, 60);
#endif
	return s;
}
