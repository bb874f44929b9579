/* test_lost_requests.c: servers die with requests that they have taken, and
 * clients get their answers from another one. The servers are processes. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#define REQUEST(method) \
	method " / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

enum { SERVERS = 2, CLIENTS = 20 };

static struct endpoint front, ctl, at[SERVERS];
static struct pen pen, server[SERVERS];

static void
begin_with(const char *option)
{
	const char *workers = getenv("PEN_TEST_WORKERS");
	int i;

	/* to freeze a server is to stop one process */
	(void)unsetenv("PEN_TEST_WORKERS");
	for (i = 0; i < SERVERS; i++) {
		endpoint_new(&at[i], ENDPOINT_TCP4);
		pen_up(&server[i], &at[i], "-O", "dummy", at[i].text, NULL);
	}
	if (workers != NULL)
		(void)setenv("PEN_TEST_WORKERS", workers, 1);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-d", "-d", option, "-C", ctl.text,
	    front.text, at[0].text, at[1].text, NULL);
}

static void
begin(void)
{
	begin_with("-r");
}

static void
end(void)
{
	pen_down(&pen);
	pen_down(&server[1]);
}

static long
count(const char *name)
{
	const char *all = text("\n%s", endpoint_ask(&ctl, "statistics\n"));
	const char *found = strstr(all, text("\n%s ", name));

	ck_assert_ptr_nonnull(found);
	return strtol(found + strlen(name) + 2, NULL, 10);
}

static void
kill_server(int i)
{
	pen_kill(&server[i]);
	ck_assert_int_eq(child_wait(&server[i].child, 5000), 1000 + SIGKILL);
}

static void
ask_all(int fd[CLIENTS], const char *what)
{
	int i;

	for (i = 0; i < CLIENTS; i++) {
		fd[i] = endpoint_connect(&front);
		endpoint_send(fd[i], what, strlen(what));
	}
}

/* Frozen, the kernel takes clients for it all the same; their requests are with
 * it when it is killed. */
START_TEST(frozen_and_killed)
{
	const char *answer;
	int fd[CLIENTS], i;

	begin();
	pen_freeze(&server[0]);
	ask_all(fd, REQUEST("GET"));
	WAIT_FOR(
	    count("accepted") == CLIENTS && count("connecting") == 0, 5000);
	kill_server(0);
	for (i = 0; i < CLIENTS; i++) {
		answer = endpoint_recv_all(fd[i]);
		ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0,
		    "client %d got: %s", i, answer);
		ck_assert_ptr_nonnull(strstr(answer, at[1].text));
		close(fd[i]);
	}
	ck_assert_int_eq(count("requests_retried"), CLIENTS / SERVERS);
	WAIT_FOR(count("closed_done") == CLIENTS, 5000);
	ck_assert(child_has_said(&pen.child, "request retried client="));
	ck_assert(child_has_said(
	    &pen.child, text(" failures=1 tried=%s\n", at[0].text)));
	end();
}
END_TEST

START_TEST(posts_are_lost)
{
	int fd[CLIENTS], i, lost = 0;
	char byte;

	begin();
	pen_freeze(&server[0]);
	ask_all(fd, REQUEST("POST"));
	WAIT_FOR(
	    count("accepted") == CLIENTS && count("connecting") == 0, 5000);
	kill_server(0);
	for (i = 0; i < CLIENTS; i++) {
		lost += recv(fd[i], &byte, 1, 0) <= 0;
		close(fd[i]);
	}
	ck_assert_int_eq(lost, CLIENTS / SERVERS);
	ck_assert_int_eq(count("requests_retried"), 0);
	end();
}
END_TEST

static const char *const ways[] = { "-r", "-H", "-P", "--workers=2" };

/* They have no word with it: whatever they send then is answered. */
START_TEST(unused_and_killed)
{
	const char *answer;
	int fd[CLIENTS], i;

	begin_with(ways[_i]);
	pen_freeze(&server[0]);
	ask_all(fd, "");
	WAIT_FOR(
	    count("accepted") == CLIENTS && count("connecting") == 0, 5000);
	kill_server(0);
	for (i = 0; i < CLIENTS; i++) {
		endpoint_send(fd[i], REQUEST("POST"), strlen(REQUEST("POST")));
		answer = endpoint_recv_all(fd[i]);
		ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0,
		    "client %d got: %s", i, answer);
		ck_assert_ptr_nonnull(strstr(answer, at[1].text));
		close(fd[i]);
	}
	ck_assert_int_eq(count("requests_retried"), 0);
	WAIT_FOR(count("closed_done") == CLIENTS, 5000);
	end();
}
END_TEST

/* ---- a server leaves at the moment of the request ---- */

enum { TRIALS = 20, MANY_TRIALS = 200 };

static struct backend back[SERVERS];
static atomic_bool leaves[SERVERS], go_on;

/* Closes when it is told to and nothing was asked; answers in two parts. */
static void
leave_or_answer(struct backend *b, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char request[1000];

	while (poll(&p, 1, 1) == 0)
		if (atomic_load(&leaves[b - back]))
			return;
	if (recv(fd, request, sizeof(request), 0) <= 0 ||
	    !backend_send(fd, "0123456789", 10))
		return;
	while (!atomic_load(&go_on) && !atomic_load(&b->stopping))
		wait_nap();
	(void)backend_send(fd, "0123456789", 10);
}

/* Which one has the session; -1: none. */
static int
who_has_it(void)
{
	const char *all = endpoint_ask(&ctl, "servers\n");

	if (strstr(all, " conn 1 ") == NULL)
		return -1;
	return strncmp(strchr(all, '\n') + 1, "1 addr", 6) == 0 &&
	    strstr(strchr(all, '\n'), " conn 1 ") != NULL;
}

/* While pen sees neither, the client asks, and then the server closes all that
 * it has: the event of the connection that pen leaves, for one that was opened
 * in advance, is not told of that one. */
static void
one_trial(void)
{
	char answer[10];
	int fd, had;

	WAIT_FOR(strcmp(endpoint_ask(&ctl, "idlers\n"), "Idlers: 2/2\n") == 0,
	    20000);
	fd = endpoint_connect(&front);
	WAIT_FOR((had = who_has_it()) >= 0, 10000);
	WAIT_FOR(strcmp(endpoint_ask(&ctl, "idlers\n"), "Idlers: 2/2\n") == 0,
	    20000);
	pen_freeze(&pen);
	endpoint_send(fd, REQUEST("GET"), strlen(REQUEST("GET")));
	atomic_store(&leaves[had], true);
	WAIT_FOR(back[had].open == 0, 10000);
	atomic_store(&leaves[had], false);
	atomic_store(&go_on, false);
	pen_thaw(&pen);
	endpoint_recv(fd, answer, 10);
	atomic_store(&go_on, true);
	endpoint_recv(fd, answer, 10);
	endpoint_expect_end(fd);
	close(fd);
}

START_TEST(answers_are_whole)
{
	int i, trials = getenv("PEN_TEST_FULL") != NULL ? MANY_TRIALS : TRIALS;

	if (*child_status_line(getpid(), "State") == '\0')
		SKIP("states of processes cannot be read here");
	for (i = 0; i < SERVERS; i++)
		backend_start(&back[i], ENDPOINT_TCP4, leave_or_answer, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-b", "0", "-O", "idlers 2", "-C", ctl.text,
	    front.text, back[0].at.text, back[1].at.text, NULL);
	for (i = 0; i < trials; i++)
		one_trial();
	pen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		backend_stop(&back[i]);
}
END_TEST

SUITE(test_lost_requests)
{
	Suite *s = suite_create("lost_requests");

	SUITE_ADD(s, frozen_and_killed, 20);
	SUITE_ADD(s, posts_are_lost, 20);
	SUITE_ADD_LOOP(
	    s, unused_and_killed, 20, sizeof(ways) / sizeof(ways[0]));
	SUITE_ADD(s, answers_are_whole, 60);
	return s;
}
