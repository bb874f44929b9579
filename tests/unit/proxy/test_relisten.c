/* test_relisten.c: moving the listeners of a frontend that serves: who stays,
 * who goes, who stands in the way, and that no client is lost. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/fixture.h"
#include "support/suite.h"

static struct endpoint any; /* all of IPv4, the port of fixture.front */
static struct endpoint second, file; /* another port; a Unix socket */

/* All sessions are over, `n` of them for this reason and none for another. */
static void
ended(enum reason why, uint64_t n)
{
	RUN_UNTIL(
	    fixture_stats()->accepted >= n && fixture_stats()->sessions == 0);
	ck_assert_uint_eq(fixture_stats()->accepted, n);
	ck_assert_uint_eq(fixture_stats()->reasons[why], n);
}

static struct frontend_address
at(const struct endpoint *s)
{
	return (struct frontend_address){ .at = fixture_addr(s) };
}

/* Moves them, and commits that. */
static int
relisten(const struct frontend_address *list, unsigned n)
{
	int rc = frontend_relisten(fixture.frontend, list, n, &fixture.e);

	if (rc == 0)
		frontend_relistened(fixture.frontend);
	return rc;
}

/* Moves to these places, up to the first NULL. */
static int
move_to(const struct endpoint *a, const struct endpoint *b,
    const struct endpoint *c)
{
	const struct endpoint *const endpoints[] = { a, b, c };
	struct frontend_address list[3];
	unsigned n = 0;

	while (n < 3 && endpoints[n] != NULL) {
		list[n] = at(endpoints[n]);
		n++;
	}
	fixture.e.text[0] = '\0';
	return relisten(list, n);
}

static void
begin_moves(void)
{
	fixture_begin();
	endpoint_at_host(&any, &fixture.front, "0.0.0.0");
	endpoint_new(&second, ENDPOINT_TCP4);
	endpoint_new(&file, ENDPOINT_UNIX);
	fixture_with(backend_echo, NULL);
}

static void
end_moves(void)
{
	fixture_end();
	backend_stop(&fixture.backend);
}

static void
greet(const struct endpoint *s)
{
	int fd = endpoint_connect(s);

	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	close(fd);
}

static bool
refuses(const struct endpoint *s)
{
	int fd = endpoint_try_connect(s);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

START_TEST(moved)
{
	int inside;

	begin_moves();
	inside = fixture_talks();
	ck_assert_msg(move_to(&second, &file, NULL) == 0, "%s", fixture.e.text);
	ck_assert(refuses(&fixture.front));
	greet(&second);
	greet(&file);
	/* one goes, one stays, one comes; twice named is once meant */
	ck_assert_msg(move_to(&file, &fixture.front, &fixture.front) == 0, "%s",
	    fixture.e.text);
	ck_assert(refuses(&second));
	greet(&file);
	greet(&fixture.front);
	ck_assert_msg(
	    move_to(&fixture.front, NULL, NULL) == 0, "%s", fixture.e.text);
	ck_assert_int_eq(access(file.text, F_OK), -1);
	/* those inside noticed nothing */
	endpoint_send(inside, "still", 5);
	fixture_hears(inside, "still");
	close(inside);
	ended(REASON_DONE, 5);
	/* and nowhere at all */
	ck_assert_int_eq(relisten(NULL, 0), 0);
	ck_assert(refuses(&fixture.front));
	end_moves();
}
END_TEST

/* Before the start nobody is served, after it everybody. */
START_TEST(moved_before_the_start)
{
	int fd;

	fixture_begin();
	endpoint_new(&second, ENDPOINT_TCP4);
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(0, &fixture.backend.at);
	fixture.frontend = frontend_new(
	    fixture.loop, fixture.pool, &fixture.options, &fixture.e);
	ck_assert_ptr_nonnull(fixture.frontend);
	ck_assert_int_eq(move_to(&fixture.front, &second, NULL), 0);
	fd = endpoint_connect(&second);
	fixture_breathe();
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->accepted, 0);
	ck_assert(refuses(&fixture.front));
	frontend_start(fixture.frontend);
	endpoint_send(fd, "late", 4);
	fixture_hears(fd, "late");
	close(fd);
	ended(REASON_DONE, 1);
	end_moves();
}
END_TEST

/* A listener that stays is the same one: who waits there is not moved. */
START_TEST(stays_open)
{
	int fd;

	begin_moves();
	ck_assert_int_eq(move_to(&fixture.front, &second, NULL), 0);
	fd = endpoint_connect(&fixture.front);
	ck_assert_int_eq(move_to(&fixture.front, NULL, NULL), 0);
	ck_assert_uint_eq(fixture_stats()->accepted, 0);
	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	close(fd);
	ended(REASON_DONE, 1);
	end_moves();
}
END_TEST

/* The wildcard and one address of the same port, both ways. */
START_TEST(in_the_way)
{
	struct endpoint other;

	begin_moves();
	endpoint_at_host(&other, &fixture.front, "127.0.0.2");
	ck_assert_msg(move_to(&any, NULL, NULL) == 0, "%s", fixture.e.text);
	greet(&other);
	ck_assert_msg(
	    move_to(&fixture.front, &second, NULL) == 0, "%s", fixture.e.text);
	ck_assert(refuses(&other));
	greet(&fixture.front);
	/* two stand in the way of one */
	ck_assert_msg(
	    move_to(&fixture.front, &other, NULL) == 0, "%s", fixture.e.text);
	greet(&other);
	ck_assert_msg(move_to(&any, NULL, NULL) == 0, "%s", fixture.e.text);
	greet(&other);
	greet(&fixture.front);
	/* one that stays is no reason to close anything */
	ck_assert_int_eq(move_to(&any, &fixture.front, NULL), -1);
	ck_assert_ptr_nonnull(strstr(fixture.e.text, fixture.front.text));
	greet(&other);
	ended(REASON_DONE, 6);
	end_moves();
}
END_TEST

/* One cannot be opened: everything is as before, even the one that would have
 * had to be closed first. */
START_TEST(nothing_changes_on_failure)
{
	struct endpoint other, taken, far;
	int fd;

	begin_moves();
	endpoint_at_host(&other, &fixture.front, "127.0.0.2");
	endpoint_at_host(&far, &fixture.front, "192.0.2.1");
	endpoint_new(&taken, ENDPOINT_TCP4);
	fd = endpoint_listen(&taken, 1);
	ck_assert_int_eq(move_to(&any, &file, NULL), 0);
	ck_assert_int_eq(move_to(&fixture.front, &second, &taken), -1);
	ck_assert_ptr_nonnull(strstr(fixture.e.text, taken.text));
	ck_assert_ptr_nonnull(strstr(fixture.e.text, "in use"));
	ck_assert(refuses(&second));
	greet(&other);
	greet(&fixture.front);
	greet(&file);
	/* not this machine's: closing the old one would not help */
	ck_assert_int_eq(move_to(&far, NULL, NULL), -1);
	ck_assert_ptr_nonnull(strstr(fixture.e.text, far.text));
	greet(&other);
	ended(REASON_DONE, 4);
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	ck_assert(refuses(&fixture.front));
	greet(&second);
	close(fd);
	end_moves();
}
END_TEST

/* Somebody else holds the address too: found out only after the old one was
 * closed, which is opened again. */
START_TEST(closed_and_opened_again)
{
	struct endpoint other, third;
	int fd;

	begin_moves();
	endpoint_at_host(&other, &fixture.front, "127.0.0.2");
	endpoint_at_host(&third, &fixture.front, "127.0.0.3");
	fd = endpoint_listen(&other, 1);
	ck_assert_int_eq(move_to(&fixture.front, &third, NULL), 0);
	ck_assert_int_eq(move_to(&any, &second, NULL), -1);
	ck_assert_ptr_nonnull(strstr(fixture.e.text, any.text));
	ck_assert_ptr_nonnull(strstr(fixture.e.text, "in use"));
	greet(&fixture.front);
	greet(&third);
	ck_assert(refuses(&second));
	ended(REASON_DONE, 2);
	close(fd);
	ck_assert_msg(move_to(&any, &second, NULL) == 0, "%s", fixture.e.text);
	greet(&other);
	greet(&second);
	end_moves();
}
END_TEST

/* Who waits in a backlog when its listener is closed is served, be it closed
 * for good or out of the way. */
START_TEST(nobody_is_lost)
{
	int fds[20], i;

	begin_moves();
	if (_i == 1)
		ck_assert_int_eq(move_to(&any, NULL, NULL), 0);
	for (i = 0; i < 20; i++) {
		fds[i] = endpoint_connect(&fixture.front);
		endpoint_send(fds[i], "hello", 5);
	}
	ck_assert_int_eq(
	    move_to(_i == 0 ? &second : &fixture.front, NULL, NULL), 0);
	ck_assert_uint_eq(fixture_stats()->accepted, 20);
	for (i = 0; i < 20; i++) {
		fixture_hears(fds[i], "hello");
		close(fds[i]);
	}
	ended(REASON_DONE, 20);
	end_moves();
}
END_TEST

/* The same when no more are to be let in: those who wait come in all the same,
 * and the new listener waits until there is room. */
START_TEST(nobody_is_lost_when_full)
{
	int fds[4], i, late;

	fixture_begin();
	endpoint_new(&second, ENDPOINT_TCP4);
	fixture.options.sessions_max = 2;
	fixture_with(backend_echo, NULL);
	fds[0] = fixture_talks();
	if (_i == 1)
		fds[1] = fixture_talks();
	/* reached before, or by those who wait */
	for (i = _i == 1 ? 2 : 1; i < 4; i++)
		fds[i] = endpoint_connect(&fixture.front);
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	ck_assert_uint_eq(fixture_stats()->sessions, 4);
	late = endpoint_connect(&second);
	endpoint_send(late, "late", 4);
	for (i = 0; i < 4; i++) {
		endpoint_send(fds[i], "again", 5);
		fixture_hears(fds[i], "again");
	}
	ck_assert_uint_eq(fixture_stats()->accepted, 4);
	close(fds[0]);
	close(fds[1]);
	RUN_UNTIL(fixture_stats()->sessions == 2);
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->accepted, 4);
	close(fds[2]);
	fixture_hears(late, "late");
	close(fds[3]);
	close(late);
	ended(REASON_DONE, 5);
	end_moves();
}
END_TEST

/* The last place is taken by one who waits where a listener closes: those that
 * stay, and those that come, wait until there is room. */
START_TEST(full_meanwhile)
{
	int inside, waiting, late[2], i;

	fixture_begin();
	endpoint_new(&second, ENDPOINT_TCP4);
	endpoint_new(&file, ENDPOINT_UNIX);
	fixture.options.sessions_max = 2;
	fixture_with(backend_echo, NULL);
	ck_assert_int_eq(move_to(&fixture.front, &second, NULL), 0);
	inside = fixture_talks();
	waiting = endpoint_connect(&fixture.front);
	ck_assert_int_eq(move_to(&second, &file, NULL), 0);
	ck_assert_uint_eq(fixture_stats()->sessions, 2);
	late[0] = endpoint_connect(&second);
	late[1] = endpoint_connect(&file);
	endpoint_send(waiting, "hello", 5);
	fixture_hears(waiting, "hello");
	fixture_breathe();
	ck_assert_uint_eq(fixture_stats()->accepted, 2);
	close(inside);
	close(waiting);
	for (i = 0; i < 2; i++) {
		endpoint_send(late[i], "late", 4);
		fixture_hears(late[i], "late");
		close(late[i]);
	}
	ended(REASON_DONE, 4);
	end_moves();
}
END_TEST

static int moved_in_callback;

static void
on_order(struct watch *w, unsigned ready)
{
	(void)ready;
	moved_in_callback += move_to(&second, NULL, NULL) == 0;
	watch_stop(fixture.loop, w);
}

/* Another watch's callback closes the listener that a client has just come to,
 * in the same wake-up. Memory checkers watch. */
START_TEST(in_a_callback)
{
	struct watch w;
	int order[2], fd;

	begin_moves();
	moved_in_callback = 0;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, order), 0);
	watch_init(&w);
	ck_assert_int_eq(
	    watch_start(fixture.loop, &w, order[0], READY_READ, on_order), 0);
	endpoint_send(order[1], "x", 1);
	fd = endpoint_connect(&fixture.front);
	endpoint_send(fd, "hello", 5);
	fixture_hears(fd, "hello");
	RUN_UNTIL(moved_in_callback == 1);
	ck_assert(refuses(&fixture.front));
	greet(&second);
	close(fd);
	ended(REASON_DONE, 2);
	close(order[0]);
	close(order[1]);
	end_moves();
}
END_TEST

static void
add_loop(Suite *s, const char *name, const TTest *test)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, test, 0, 2);
	suite_add_tcase(s, c);
}

SUITE(test_relisten)
{
	Suite *s = suite_create("relisten");

	SUITE_ADD(s, moved, 30);
	SUITE_ADD(s, moved_before_the_start, 30);
	SUITE_ADD(s, stays_open, 30);
	SUITE_ADD(s, in_the_way, 30);
	SUITE_ADD(s, nothing_changes_on_failure, 30);
	SUITE_ADD(s, closed_and_opened_again, 30);
	add_loop(s, "nobody_is_lost", nobody_is_lost);
	add_loop(s, "nobody_is_lost_when_full", nobody_is_lost_when_full);
	SUITE_ADD(s, full_meanwhile, 30);
	SUITE_ADD(s, in_a_callback, 30);
	return s;
}
