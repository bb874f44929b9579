/* test_queue.c: all servers are at their limits: with `queue` clients wait for
 * a place, and the one that has waited longest gets it. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000, WAITING = 4 };

static struct endpoint front, ctl;
static struct backend b[2];
static struct pen pen;
static int first, waiting[WAITING]; /* clients */

/* ---- what pen says ---- */

static long
counter(const char *name)
{
	return report_number(
	    endpoint_ask(&ctl, "statistics\n"), text("\n%s ", name));
}

static void
command(const char *line)
{
	ck_assert_ptr_null(
	    strstr(endpoint_ask(&ctl, text("%s\n", line)), "error"));
}

/* ---- clients ---- */

static void
is_served(int fd)
{
	endpoint_expect_echo(fd, "served");
}

/* One takes the only place, the others wait, in this order. */
static void
fill(int n)
{
	int i;

	first = endpoint_connect(&front);
	is_served(first);
	for (i = 0; i < n; i++) {
		waiting[i] = endpoint_connect(&front);
		WAIT_FOR(counter("queued") == i + 1, SOON);
	}
}

static void
up(const char *queue, const char *mode, const char *limits)
{
	int i;

	for (i = 0; i < 2; i++)
		backend_start(&b[i], ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "--queue", queue, "-O", mode,
	    front.text, text("%s:%s", b[0].at.text, limits), NULL);
}

static void
down(void)
{
	int i;

	pen_down(&pen);
	for (i = 0; i < 2; i++)
		backend_stop(&b[i]);
}

static void
leave(int n)
{
	int i;

	close(first);
	for (i = 0; i < n; i++)
		close(waiting[i]);
}

/* Of two, one is served now, the other one when that leaves. */
static void
are_served_in_turn(void)
{
	is_served(waiting[0]);
	WAIT_FOR(counter("queued") == 1, SOON);
	close(waiting[0]);
	is_served(waiting[1]);
	close(waiting[1]);
}

/* ---- order ---- */

/* The one that came first is served first; what it has said meanwhile is not
 * lost. On every loop, whichever limit it is, and though clients are
 * remembered. */
START_TEST(oldest_first)
{
	static const char *const modes[] = { "roundrobin", "no roundrobin",
		"hash", "balance leastconn", "poll" };
	static const char *const limits[] = { "1", "1:1" };
	char got[2] = "";
	int i;

	NEEDS_ONE_WORKER("each worker has its own queue");
	any_event_method();
	up("60", modes[_i / 2], limits[_i % 2]);
	/* a soft limit lets in who was there before */
	first = endpoint_connect_from(&front, "127.0.6.1");
	is_served(first);
	for (i = 0; i < WAITING; i++) {
		waiting[i] =
		    endpoint_connect_from(&front, text("127.0.7.%d", i + 1));
		endpoint_send(waiting[i], &"abcd"[i], 1);
		WAIT_FOR(counter("queued") == i + 1, SOON);
	}
	ck_assert_int_eq(counter("connecting"), 0);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "connections\n"), " state queued "));
	for (i = 0; i < WAITING; i++) {
		close(i == 0 ? first : waiting[i - 1]);
		endpoint_recv(waiting[i], got, 1);
		ck_assert_int_eq(got[0], "abcd"[i]);
		is_served(waiting[i]);
		ck_assert_int_eq(b[0].accepted, i + 2);
		WAIT_FOR(counter("queued") == (WAITING - 1 - i), SOON);
	}
	ck_assert_int_eq(counter("queued_total"), WAITING);
	close(waiting[WAITING - 1]);
	down();
}
END_TEST

/* A client that the server knows waits for its hard limit alone, behind one
 * that it does not know; newcomers do not overtake it. */
START_TEST(known_client_at_the_hard_limit)
{
	int second, last;

	up("60", "no roundrobin", "1:2");
	first = endpoint_connect(&front);
	is_served(first);
	second = endpoint_connect(&front);
	is_served(second);
	waiting[0] = endpoint_connect_from(&front, "127.0.7.1");
	WAIT_FOR(counter("queued") == 1, SOON);
	waiting[1] = endpoint_connect(&front);
	WAIT_FOR(counter("queued") == 2, SOON);
	close(second);
	is_served(waiting[1]);
	last = endpoint_connect(&front);
	WAIT_FOR(counter("queued") == 2, SOON);
	leave(2);
	is_served(last);
	close(last);
	down();
}
END_TEST

/* A place becomes free and a client comes in the same wake-up of pen: who waits
 * has the place, not who came last. */
START_TEST(newcomer_of_the_same_wake_up)
{
	char got[3];
	int newcomer;

	up("60", "roundrobin", "1:1");
	fill(1);
	pen_freeze(&pen);
	endpoint_reset(first);
	newcomer = endpoint_connect(&front);
	endpoint_send(newcomer, "new", 3);
	pen_thaw(&pen);
	is_served(waiting[0]);
	WAIT_FOR(counter("queued") == 1, SOON);
	ck_assert_int_eq(b[0].accepted, 2);
	ck_assert_int_eq(counter("queued_total"), 2);
	close(waiting[0]);
	endpoint_recv(newcomer, got, 3);
	ck_assert_int_eq(memcmp(got, "new", 3), 0);
	is_served(newcomer);
	close(newcomer);
	down();
}
END_TEST

/* Who comes when a place is free and nobody waits does not wait, nor count. */
START_TEST(nobody_waits_for_nothing)
{
	up("60", "roundrobin", "1:1");
	fill(0);
	close(first);
	WAIT_FOR(counter("closed_done") == 1, SOON);
	fill(0);
	ck_assert_int_eq(counter("queued_total"), 0);
	close(first);
	down();
}
END_TEST

/* ---- ends ---- */

START_TEST(waiting_has_an_end)
{
	long long began = wait_now_ms();

	up("1", "roundrobin", "1:1");
	fill(1);
	endpoint_expect_reset(waiting[0]);
	ck_assert_int_ge(wait_now_ms() - began, 900);
	WAIT_FOR(counter("closed_queue_timeout") == 1, SOON);
	WAIT_FOR(counter("queued") == 0, SOON);
	is_served(first);
	leave(1);
	down();
}
END_TEST

/* A time set anew reaches those that wait. */
START_TEST(time_set_anew)
{
	up("60", "roundrobin", "1:1");
	fill(2);
	command("queue 0");
	endpoint_expect_reset(waiting[0]);
	endpoint_expect_reset(waiting[1]);
	WAIT_FOR(counter("closed_queue_timeout") == 2, SOON);
	leave(2);
	down();
}
END_TEST

/* Who breaks off gives up its turn. */
START_TEST(leaving_clients)
{
	up("60", "roundrobin", "1:1");
	fill(3);
	endpoint_send(waiting[0], "x", 1);
	endpoint_reset(waiting[0]);
	WAIT_FOR(counter("queued") == 2, SOON);
	WAIT_FOR(counter("closed_client_reset") == 1, SOON);
	close(first);
	is_served(waiting[1]);
	WAIT_FOR(counter("queued") == 1, SOON);
	ck_assert_int_eq(b[0].accepted, 2);
	close(waiting[1]);
	is_served(waiting[2]);
	close(waiting[2]);
	down();
}
END_TEST

/* One that has ended, having said something or nothing, still wants its
 * answer. */
START_TEST(half_closed_client)
{
	up("60", "roundrobin", "1:1");
	fill(2);
	endpoint_send(waiting[0], "question", 8);
	shutdown(waiting[0], SHUT_WR);
	shutdown(waiting[1], SHUT_WR);
	close(first);
	ck_assert_str_eq(endpoint_recv_all(waiting[0]), "question");
	ck_assert_str_eq(endpoint_recv_all(waiting[1]), "");
	ck_assert_int_eq(b[0].accepted, 3);
	leave(2);
	down();
}
END_TEST

START_TEST(closed_by_command)
{
	NEEDS_ONE_WORKER("the number is of the worker that serves the client");
	up("60", "roundrobin", "1:1");
	fill(2);
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "connection 1\n"), "server = -1\n"));
	command("close 1");
	endpoint_expect_reset(waiting[0]);
	WAIT_FOR(counter("queued") == 1, SOON);
	close(first);
	is_served(waiting[1]);
	close(waiting[1]);
	down();
}
END_TEST

/* The end of pen is the end of those that wait. */
START_TEST(stopped)
{
	up("60", "roundrobin", "1:1");
	fill(2);
	down();
	endpoint_expect_reset(waiting[0]);
	endpoint_expect_reset(waiting[1]);
}
END_TEST

/* The same on loops that do not report errors to who wants to read, and with
 * words before the reset: its turn costs no server anything. */
START_TEST(client_resets_unseen)
{
	any_event_method();
	up("60", "poll;roundrobin", "1:1");
	fill(2);
	endpoint_send(waiting[0], "x", 1);
	/* it was heard, and is listened to no more */
	WAIT_FOR(counter("queued") == 2, SOON);
	endpoint_reset(waiting[0]);
	close(first);
	is_served(waiting[1]);
	WAIT_FOR(counter("closed_client_reset") == 1, SOON);
	ck_assert_int_eq(b[0].accepted, 2);
	close(waiting[1]);
	down();
}
END_TEST

/* Counters begin anew; who waits still waits, and is served. */
START_TEST(counters_cleared)
{
	up("60", "roundrobin", "1:1");
	fill(2);
	command("clear counters");
	WAIT_FOR(counter("queued") == 2, SOON);
	close(first);
	are_served_in_turn();
	down();
}
END_TEST

/* The only server is restarted just as their turn comes. */
START_TEST(refused_at_its_turn)
{
	struct endpoint at;

	up("60", "retry 0;roundrobin", "1:1");
	fill(2);
	at = b[0].at;
	backend_stop(&b[0]);
	close(first);
	WAIT_FOR(
	    child_has_said(&pen.child, "server blacklisted server=0"), SOON);
	WAIT_FOR(counter("queued") == 2, SOON);
	backend_start_at(&b[0], &at, backend_echo, NULL);
	are_served_in_turn();
	down();
}
END_TEST

/* ---- places ---- */

/* What makes places lets in as many as there are. */
START_TEST(places_by_command)
{
	static const struct {
		const char *command; /* NULL: a server is added */
		int served;
	} t[] = {
		{ "server 0 max 3 hard 3", 2 },
		{ "server 0 max 0 hard 0", 3 },
		{ "server 1 up", 1 },
		{ "server 1 max 2 hard 2; server 1 up", 2 },
		{ NULL, 1 },
	};
	const char *add;
	int i;

	up("60", "roundrobin", "1:1");
	add = text("server add %s:1:1", b[1].at.text);
	command(add);
	command("server 1 down");
	fill(3);
	command(t[_i].command != NULL ? t[_i].command : add);
	for (i = 0; i < t[_i].served; i++)
		is_served(waiting[i]);
	WAIT_FOR(counter("queued") == (3 - t[_i].served), SOON);
	ck_assert_int_eq(b[0].accepted + b[1].accepted, 1 + t[_i].served);
	leave(3);
	down();
}
END_TEST

static const char *
config(const char *limits)
{
	return text("listen %s\nserver 0 address 127.0.0.1 port %d %s\n"
		    "roundrobin\nqueue 60\n",
	    front.text, b[0].at.port, limits);
}

/* A reload ends nobody's waiting, unless it makes places. */
START_TEST(reload)
{
	const char *path = scratch("pen.conf");

	backend_start(&b[0], ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(path, config("max 1 hard 1"));
	pen_up(&pen, &ctl, "-C", ctl.text, "-F", path, NULL);
	fill(2);
	command("reload");
	WAIT_FOR(counter("queued") == 2, SOON);
	write_file(path, config("max 2 hard 2"));
	command("reload");
	is_served(waiting[0]);
	WAIT_FOR(counter("queued") == 1, SOON);
	is_served(first);
	leave(2);
	pen_down(&pen);
	backend_stop(&b[0]);
}
END_TEST

/* A reload after which no server is full, as none may have clients: nobody
 * waits for a place that will not come, but has the emergency server if there
 * is one. */
START_TEST(reload_leaves_none_full)
{
	const char *path = scratch("pen.conf");
	int i;

	for (i = 0; i < 2; i++)
		backend_start(&b[i], ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_file(path, config("max 1 hard 1"));
	pen_up(&pen, &ctl, "-C", ctl.text, "-F", path, NULL);
	fill(2);
	write_file(path,
	    text("%s%s%s\n", config("max 1 hard 1 down"),
		_i == 1 ? "emergency " : "", _i == 1 ? b[1].at.text : ""));
	command("reload");
	for (i = 0; i < 2; i++)
		if (_i == 1)
			is_served(waiting[i]);
		else
			endpoint_expect_reset(waiting[i]);
	WAIT_FOR(counter("queued") == 0, SOON);
	WAIT_FOR(counter("closed_no_server") == (_i == 1 ? 0 : 2), SOON);
	ck_assert_int_eq(b[1].accepted, _i == 1 ? 2 : 0);
	is_served(first);
	leave(2);
	down();
}
END_TEST

/* A server comes back from its blacklisting, when nobody else comes or goes. */
START_TEST(server_comes_back)
{
	struct endpoint at;

	up("60", "roundrobin", "1:1");
	at = b[1].at;
	backend_stop(&b[1]);
	command(text("server add %s", at.text));
	fill(1);
	backend_start_at(&b[1], &at, backend_echo, NULL);
	is_served(waiting[0]);
	ck_assert_int_eq(b[1].accepted, 1);
	leave(1);
	down();
}
END_TEST

/* A place that the oldest may not have goes to the next one. */
START_TEST(access_lists)
{
	up("60", "roundrobin", "1:1");
	command("acl 1 deny 127.0.7.1; acl 1 permit 0.0.0.0/0");
	command(text("server add %s; server 1 acl 1 down", b[1].at.text));
	first = endpoint_connect(&front);
	is_served(first);
	waiting[0] = endpoint_connect_from(&front, "127.0.7.1");
	WAIT_FOR(counter("queued") == 1, SOON);
	waiting[1] = endpoint_connect_from(&front, "127.0.7.2");
	WAIT_FOR(counter("queued") == 2, SOON);
	command("server 1 up");
	is_served(waiting[1]);
	ck_assert_int_eq(b[1].accepted, 1);
	WAIT_FOR(counter("queued") == 1, SOON);
	close(first);
	is_served(waiting[0]);
	ck_assert_int_eq(b[0].accepted, 2);
	leave(2);
	down();
}
END_TEST

/* ---- who does not wait ---- */

START_TEST(who_does_not_wait)
{
	static const struct {
		const char *queue, *mode;
		const char *command;
	} t[] = {
		{ "0", "roundrobin", "mode" },
		{ "60", "stubborn", "mode" },
		{ "60", "roundrobin", "server 0 drain" },
		{ "60", "roundrobin", "acl 0 deny 0.0.0.0/0" },
	};

	up(t[_i].queue, t[_i].mode, "1:1");
	fill(0);
	command(t[_i].command);
	waiting[0] = endpoint_connect(&front);
	endpoint_expect_reset(waiting[0]);
	WAIT_FOR(
	    counter(_i == 3 ? "closed_denied" : "closed_no_server") == 1, SOON);
	ck_assert_int_eq(counter("queued_total"), 0);
	leave(1);
	down();
}
END_TEST

/* Who has had as many servers as it may waits for no other. */
START_TEST(tries_used_up)
{
	up("60", "roundrobin", "1:1");
	command("retry 0; tries 1");
	fill(0);
	command(text("server add %s", b[1].at.text));
	backend_stop(&b[1]);
	waiting[0] = endpoint_connect(&front);
	endpoint_expect_reset(waiting[0]);
	WAIT_FOR(counter("closed_no_server") == 1, SOON);
	ck_assert_int_eq(counter("queued_total"), 0);
	leave(1);
	pen_down(&pen);
	backend_stop(&b[0]);
}
END_TEST

/* The emergency server goes before waiting. */
START_TEST(emergency_server)
{
	up("60", "roundrobin", "1:1");
	command(text("emergency %s", b[1].at.text));
	fill(0);
	waiting[0] = endpoint_connect(&front);
	is_served(waiting[0]);
	ck_assert_int_eq(b[1].accepted, 1);
	ck_assert_int_eq(counter("queued_total"), 0);
	leave(1);
	down();
}
END_TEST

static void
add_each(Suite *s, const char *name, const TTest *test, int times)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, test, 0, times);
	suite_add_tcase(s, c);
}

SUITE(test_queue)
{
	Suite *s = suite_create("queue");

	add_each(s, "oldest_first", oldest_first, 10);
	SUITE_ADD(s, known_client_at_the_hard_limit, 30);
	SUITE_ADD(s, newcomer_of_the_same_wake_up, 30);
	SUITE_ADD(s, nobody_waits_for_nothing, 30);
	SUITE_ADD(s, waiting_has_an_end, 30);
	SUITE_ADD(s, time_set_anew, 30);
	SUITE_ADD(s, leaving_clients, 30);
	SUITE_ADD(s, client_resets_unseen, 30);
	SUITE_ADD(s, counters_cleared, 30);
	SUITE_ADD(s, refused_at_its_turn, 30);
	SUITE_ADD(s, half_closed_client, 30);
	SUITE_ADD(s, closed_by_command, 30);
	SUITE_ADD(s, stopped, 30);
	add_each(s, "places_by_command", places_by_command, 5);
	SUITE_ADD(s, reload, 30);
	add_each(s, "reload_leaves_none_full", reload_leaves_none_full, 2);
	SUITE_ADD(s, server_comes_back, 30);
	SUITE_ADD(s, access_lists, 30);
	add_each(s, "who_does_not_wait", who_does_not_wait, 4);
	SUITE_ADD(s, tries_used_up, 30);
	SUITE_ADD(s, emergency_server, 30);
	return s;
}
