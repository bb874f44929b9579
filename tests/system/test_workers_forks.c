/* test_workers_forks.c: workers where there is no room for more processes: new
 * ones are there before old ones are told to go, all of them, or nothing
 * changes. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/visitors.h"
#include "support/wait.h"

enum { SOON = 30000, VISITORS = 4, WORKERS = 2, ALL = -1 };

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static pid_t leader;
static const char *conf;
static volatile int *forks; /* that still succeed; see forks_preload.c */

/* ---- what there is ---- */

/* A connection, a byte there and back, the end. */
static bool
visit_from(const char *host)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	const struct timeval limit = { .tv_sec = 20 };
	char byte = 0;
	bool good;
	int fd;

	inet_pton(AF_INET, host, &from.sin_addr);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	good = bind(fd, (const void *)&from, sizeof(from)) == 0 &&
	    connect(fd, (const void *)&front.addr, front.len) == 0 &&
	    send(fd, "x", 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1 &&
	    byte == 'x' && shutdown(fd, SHUT_WR) == 0 &&
	    recv(fd, &byte, 1, 0) == 0;
	close(fd);
	return good;
}

/* Each from another address. */
static bool
visit(int visitor, int nth)
{
	int number = visitor * 1000 + nth;
	char host[INET_ADDRSTRLEN];

	snprintf(host, sizeof(host), "127.8.%d.%d", number / 250 % 250,
	    number % 250 + 1);
	return visit_from(host);
}

static void
configure(int workers)
{
	write_file(conf,
	    text("listen %s\nserver add %s\nworkers %d\nsession_log off\n",
		front.text, back.at.text, workers));
}

static void
share_number(const char *path)
{
	const int all = ALL;
	FILE *f = fopen(path, "w+");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(&all, sizeof(all), 1, f), 1);
	ck_assert_int_eq(fflush(f), 0);
	forks = mmap(NULL, sizeof(*forks), PROT_READ | PROT_WRITE, MAP_SHARED,
	    fileno(f), 0);
	ck_assert_ptr_ne((const void *)(uintptr_t)forks, MAP_FAILED);
	fclose(f);
}

static const char *
children(void)
{
	return text("%s", child_children(leader));
}

static int
count_children(void)
{
	return count_in(children(), " ");
}

/* With the library, which is built beside this program. */
static void
up(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *path = scratch("forks");
	const char *env[] = { "LD_PRELOAD", NULL, "PEN_TEST_FORKS", path,
		NULL };
	struct child_gifts gifts = { .env = env };

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	env[1] = text("%s/forks.so", self);
	share_number(path);
	conf = scratch("pen.conf");
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	configure(WORKERS);
	pen_start_given(&pen, &gifts, "-f", "-C", ctl.text, "-F", conf, NULL);
	pen_wait_ready(&pen, &front);
	WAIT_FOR(endpoint_is_listening(&ctl), SOON);
	leader = pen.child.pid;
	ck_assert_int_eq(upgrading_pid(&ctl), leader); /* all have begun */
	ck_assert_int_eq(count_children(), WORKERS);
}

static void
down(void)
{
	if (leader == pen.child.pid)
		pen_down(&pen);
	else
		upgrading_end(leader);
	backend_stop(&back);
}

static void
workers_are(const char *pids, const char *number)
{
	ck_assert_str_eq(children(), pids);
	ck_assert_str_eq(pen_ask(&ctl, "workers"), text("%s\n", number));
}

#define NEED_FORKS()                                                         \
	do {                                                                 \
		if (!pen_is_plain())                                         \
			SKIP("needs pen without a sanitizer, or a wrapper"); \
	} while (0)

/* ---- a change ---- */

/* Room for `room` of four: by a command, and by a reload. */
START_TEST(no_room_changes_nothing)
{
	static const int rooms[] = { 0, 1, 3 };
	const char *before, *said;
	int room = rooms[_i / 2];
	bool reloads = _i % 2;

	NEED_FORKS();
	up();
	before = children();
	visitors_begin(VISITORS, visit);
	*forks = room;
	configure(4);
	said = pen_ask(&ctl, reloads ? "reload" : "workers 4");
	ck_assert_msg(strstr(said,
			  text("worker %d of 4 not started: %s", room + 1,
			      strerror(EAGAIN))) != NULL,
	    "%s", said);
	workers_are(before, "2");
	visitors_await(4 * VISITORS);
	*forks = ALL;
	said = pen_ask(&ctl, reloads ? "reload" : "workers 4");
	ck_assert_msg(strstr(said, "error") == NULL, "%s", said);
	WAIT_FOR(count_children() == 4, SOON);
	ck_assert_str_eq(pen_ask(&ctl, "workers"), "4\n");
	visitors_await(4 * VISITORS);
	(void)visitors_end();
	down();
}
END_TEST

/* Another program takes the room between the change and the first, or third,
 * of the new ones: the old ones serve, and it is tried again. */
START_TEST(room_that_is_lost_ends_none)
{
	const char *before;

	NEED_FORKS();
	up();
	before = children();
	visitors_begin(VISITORS, visit);
	*forks = 4 + _i; /* the first four see whether there is room */
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "workers 4"), "error"));
	WAIT_FOR(
	    child_has_said(&pen.child, "workers not changed workers=4"), SOON);
	ck_assert_str_eq(children(), before);
	visitors_await(4 * VISITORS);
	*forks = ALL;
	WAIT_FOR(count_children() == 4, SOON);
	visitors_await(4 * VISITORS);
	(void)visitors_end();
	down();
}
END_TEST

/* Nothing is lost of the client table, the limits, or what a change is. */
START_TEST(all_is_as_before)
{
	int fd;

	NEED_FORKS();
	up();
	ck_assert_str_eq(pen_ask(&ctl, "server 0 hard 1"), "");
	*forks = 4;
	(void)pen_ask(&ctl, "workers 4");
	WAIT_FOR(
	    child_has_said(&pen.child, "workers not changed workers=4"), SOON);
	fd = endpoint_connect_from(&front, "127.0.1.1");
	endpoint_expect_echo(fd, "one");
	ck_assert(!visit_from("127.0.1.2"));
	close(fd);
	ck_assert_str_eq(pen_ask(&ctl, "workers 2"), "2\n");
	*forks = ALL;
	ck_assert_str_eq(pen_ask(&ctl, "server 0 hard 0"), "");
	ck_assert_int_eq(count_children(), WORKERS);
	fd = endpoint_connect_from(&front, "127.0.1.2");
	endpoint_expect_echo(fd, "two");
	close(fd);
	down();
}
END_TEST

/* One worker cannot read what its leader has read, and there is no room for
 * others: it serves as before, and all is tried again. */
START_TEST(one_that_cannot_change_serves_on)
{
	const char *before, *list = scratch("list");
	pid_t worker;

	NEED_FORKS();
	up();
	before = children();
	worker = (pid_t)atol(before);
	ck_assert_int_gt(worker, 1);
	kill(worker, SIGSTOP);
	write_file(list, "permit 127.0.0.0/8\n");
	ck_assert_ptr_null(
	    strstr(pen_ask(&ctl, text("acl 1 file %s", list)), "error"));
	ck_assert_int_eq(unlink(list), 0);
	*forks = _i;
	kill(worker, SIGCONT);
	WAIT_FOR(
	    child_has_said(&pen.child, "worker has not made a change"), SOON);
	WAIT_FOR(
	    child_has_said(&pen.child, "workers not changed workers=2"), SOON);
	ck_assert_str_eq(children(), before);
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "server 0 weight 2"), "error"));
	visitors_begin(VISITORS, visit);
	visitors_await(4 * VISITORS);
	*forks = ALL;
	WAIT_FOR(strcmp(children(), before) != 0 && count_children() == WORKERS,
	    SOON);
	visitors_await(4 * VISITORS);
	(void)visitors_end();
	down();
}
END_TEST

/* ---- an upgrade ---- */

/* The new process has no room for its workers, or only for one, which has no
 * clients: all stays, and the reason is in the answer, and in the log. */
START_TEST(an_upgrade_without_room)
{
	const char *before, *said, *why;

	NEED_FORKS();
	NEED_UPGRADES(upgrading_install());
	up();
	before = children();
	visitors_begin(VISITORS, visit);
	*forks = _i;
	said = pen_ask(&ctl, "upgrade");
	why = text("worker not started: %s", strerror(EAGAIN));
	ck_assert_msg(strstr(said, why) != NULL, "%s", said);
	said = strstr(child_err(&pen.child), "upgrade failed");
	ck_assert_msg(said != NULL && strstr(said, why) != NULL, "%s", said);
	workers_are(before, "2");
	visitors_await(4 * VISITORS);
	*forks = ALL;
	leader = upgrading_go(&ctl, leader);
	visitors_await(4 * VISITORS);
	(void)visitors_end();
	down();
}
END_TEST

SUITE(test_workers_forks)
{
	Suite *s = suite_create("workers_forks");
	TCase *c = tcase_create("no_room_changes_nothing");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, no_room_changes_nothing, 0, 6);
	suite_add_tcase(s, c);
	c = tcase_create("room_that_is_lost_ends_none");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, room_that_is_lost_ends_none, 0, 3);
	suite_add_tcase(s, c);
	c = tcase_create("an_upgrade_without_room");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, an_upgrade_without_room, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, all_is_as_before, 60);
	SUITE_ADD_LOOP(s, one_that_cannot_change_serves_on, 60, 2);
	return s;
}
