/* test_observe.c: servers that answer errors are taken out of rotation, but
 * never more than half of them. */
#include "config.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { SERVERS = 3, SOON = 30000 };

#define LAST "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"

static struct backend back[SERVERS];
/* Which answers of each server are errors. */
enum { NONE_BAD, ALL_BAD, HALF_BAD };
static atomic_int bad[SERVERS], turn;
static struct endpoint front, ctl, web;
static struct pen pen;
static struct child c;

static void
serve(struct backend *b, int fd)
{
	static const char well[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	static const char oops[] =
	    "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
	char request[1000];

	if (recv(fd, request, sizeof(request), 0) <= 0)
		return;
	if (atomic_load(&bad[b - back]) == ALL_BAD ||
	    (atomic_load(&bad[b - back]) == HALF_BAD &&
		atomic_fetch_add(&turn, 1) % 2 == 0))
		backend_send(fd, oops, sizeof(oops) - 1);
	else
		backend_send(fd, well, sizeof(well) - 1);
}

static void
up(const char *commands)
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		atomic_store(&bad[i], NONE_BAD);
		backend_start(&back[i], ENDPOINT_TCP4, serve, NULL);
	}
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O", commands,
	    front.text, back[0].at.text, back[1].at.text, back[2].at.text,
	    NULL);
}

static void
stop_servers(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}

static void
down(void)
{
	pen_down(&pen);
	stop_servers();
}

static bool
is_served(void)
{
	const char *said = endpoint_hear_after(&front, LAST);

	return strncmp(said, "HTTP/1.1 200", 12) == 0;
}

/* What pen reports of a server. */
static bool
has(int server, const char *what)
{
	const char *all = text("\n%s", pen_ask(&ctl, "servers long"));
	const char *line = strstr(all, text("\n%d name ", server)), *end;

	ck_assert_msg(line != NULL, "%s", all);
	end = strchr(line + 1, '\n');
	return strstr(text("%.*s", (int)(end - line), line), what) != NULL;
}

/* Clients go on until it has that state. */
static bool
becomes(int server, const char *state)
{
	(void)is_served();
	return has(server, text(" state %s ", state));
}

/* What an operator looks at: the list of services, that of servers, the status
 * page's data, metrics, and top. */
static bool
is_named_everywhere(void)
{
	const char *page = web_fixture_get_from(&web, "/status.json", "");

	(void)is_served();
	if (strstr(pen_ask(&ctl, "services"), " http_errors \"1 ") == NULL ||
	    has(1, " http_errors 0") ||
	    strstr(web_fixture_get_from(&web, "/metrics", ""),
		"{server=\"1\",class=\"5xx\"} 0\n") != NULL ||
	    (strstr(page, "without Jansson") == NULL &&
		count_in(page, "\"http_errors\":0") != SERVERS - 1))
		return false;
	child_start(&c,
	    (const char *[]){ ctl_client(), "-n", "1", ctl.text, "top", NULL });
	ck_assert_int_eq(child_wait(&c, SOON), 0);
	return strstr(child_out(&c), "% 5xx") != NULL;
}

/* One of three answers 500 to half of its requests: each place names it within
 * ten seconds; it keeps its clients. */
START_TEST(half_of_its_answers)
{
	long long began;

	endpoint_new(&web, ENDPOINT_TCP4);
	up(text("web %s", web.text));
	atomic_store(&bad[1], HALF_BAD);
	began = wait_now_ms();
	WAIT_FOR(is_named_everywhere(), 10000);
	printf("named after %lld ms\n", wait_now_ms() - began);
	ck_assert(has(0, " http_errors 0") && has(2, " http_errors 0"));
	ck_assert(has(1, " state up "));
	down();
}
END_TEST

static bool
all_serve_with_errors(void)
{
	const char *all;

	(void)is_served();
	all = pen_ask(&ctl, "servers long");
	return count_in(all, " state up ") == SERVERS &&
	    strstr(all, " http_errors 0") == NULL;
}

/* With observe it gets no more clients and is back by itself; when all are like
 * that, all serve. */
START_TEST(half_of_them_observed)
{
	long long began;
	int i, got;

	up("observe 5xx 3/60; blacklist 2");
	atomic_store(&bad[1], HALF_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	atomic_store(&bad[1], NONE_BAD);
	got = atomic_load(&back[1].accepted);
	WAIT_FOR(is_served() && atomic_load(&back[1].accepted) > got, SOON);
	/* what it was out for is over */
	began = wait_now_ms();
	WAIT_FOR(is_served() && wait_now_ms() - began > 2500, SOON);
	ck_assert(has(1, " state up "));
	ck_assert_int_eq(
	    count_in(child_err(&pen.child), "server blacklisted server=1"), 1);
	pen_answers(&ctl, "blacklist 300", "");
	for (i = 0; i < SERVERS; i++)
		atomic_store(&bad[i], HALF_BAD);
	WAIT_FOR(all_serve_with_errors(), SOON);
	down();
}
END_TEST

/* One of three: its clients go to the others. */
START_TEST(one_of_three)
{
	int i, got;

	up("observe 5xx 3/60; blacklist 300");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	ck_assert(has(1, " errors (5xx) in "));
	got = atomic_load(&back[1].accepted);
	for (i = 0; i < 20; i++)
		ck_assert(is_served());
	ck_assert_int_eq(atomic_load(&back[1].accepted), got);
	ck_assert(has(0, " state up ") && has(2, " state up "));
	WAIT_FOR(
	    child_has_said(&pen.child, "server blacklisted server=1"), SOON);
	down();
}
END_TEST

/* It comes back by itself. */
START_TEST(back_after_a_time)
{
	int got;

	up("observe 5xx 3/60; blacklist 1");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	atomic_store(&bad[1], NONE_BAD);
	WAIT_FOR(has(1, " reason \"blacklist time expired\" "), SOON);
	got = atomic_load(&back[1].accepted);
	WAIT_FOR(is_served() && atomic_load(&back[1].accepted) > got, SOON);
	ck_assert(has(1, " state up "));
	down();
}
END_TEST

static long
checks(void)
{
	const char *at = strstr(pen_ask(&ctl, "statistics"), "\nchecks ");

	ck_assert_ptr_nonnull(at);
	return strtol(at + 8, NULL, 10);
}

/* Its checks were good before. */
START_TEST(good_checks)
{
	long before;

	up("check connect; check_interval 0.1; check_rise 1; blacklist 300; "
	   "observe 5xx 3/60");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "suspect"), SOON);
	before = checks();
	WAIT_FOR(checks() > before + 5 * SERVERS, SOON);
	ck_assert(has(1, " state suspect "));
	down();
}
END_TEST

/* When the others fail as well, all serve. */
START_TEST(most_of_them)
{
	up("observe 5xx 3/600; blacklist 300");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	atomic_store(&bad[0], ALL_BAD);
	WAIT_FOR(becomes(1, "up"), SOON);
	ck_assert(has(1, " reason \"others answer errors (5xx), too\" "));
	ck_assert(has(0, " state up ") && has(2, " state up "));
	down();
}
END_TEST

START_TEST(switched_off)
{
	up("observe 5xx 3/60; blacklist 300");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	pen_answers(&ctl, "observe off", "");
	ck_assert(has(1, " state up "));
	ck_assert(has(1, " reason \"no longer observed\" "));
	down();
}
END_TEST

/* It stays out: no client gets it. */
START_TEST(upgrade)
{
	const char *program = upgrading_install();
	pid_t new;
	int got;

	NEED_UPGRADES(program);
	up("observe 5xx 3/60; blacklist 300");
	atomic_store(&bad[1], ALL_BAD);
	WAIT_FOR(becomes(1, "blacklisted"), SOON);
	got = atomic_load(&back[1].accepted);
	new = upgrading_go(&ctl, pen.child.pid);
	ck_assert(is_served() && is_served() && is_served());
	ck_assert_int_eq(atomic_load(&back[1].accepted), got);
	ck_assert(has(1, " state blacklisted "));
	ck_assert(has(1, " errors (5xx) in "));
	pen_answers(&ctl, "observe off", "");
	ck_assert(has(1, " state up "));
	upgrading_end(new);
	stop_servers();
}
END_TEST

SUITE(test_observe)
{
	Suite *s = suite_create("observe");

	SUITE_ADD(s, half_of_its_answers, 60);
	SUITE_ADD(s, half_of_them_observed, 60);
	SUITE_ADD(s, one_of_three, 60);
	SUITE_ADD(s, back_after_a_time, 60);
	SUITE_ADD(s, good_checks, 60);
	SUITE_ADD(s, most_of_them, 60);
	SUITE_ADD(s, switched_off, 60);
	SUITE_ADD(s, upgrade, 60);
	return s;
}
