/* test_relisten.c: moving the listeners of a frontend that serves: who stays,
 * who goes, who stands in the way, and that no client is lost. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/rig.h"
#include "support/suite.h"

static struct spot any;		 /* all of IPv4, the port of rig.front */
static struct spot second, file; /* another port; a Unix socket */

/* All sessions are over, `n` of them for this reason and none for another. */
static void
ended(enum reason why, uint64_t n)
{
	RUN_UNTIL(rig_stats()->accepted >= n && rig_stats()->sessions == 0);
	ck_assert_uint_eq(rig_stats()->accepted, n);
	ck_assert_uint_eq(rig_stats()->reasons[why], n);
}

static struct frontend_address
at(const struct spot *s)
{
	return (struct frontend_address){ .at = rig_addr(s) };
}

/* Moves to these places, up to the first NULL. */
static int
move_to(const struct spot *a, const struct spot *b, const struct spot *c)
{
	const struct spot *const spots[] = { a, b, c };
	struct frontend_address list[3];
	unsigned n = 0;

	while (n < 3 && spots[n] != NULL) {
		list[n] = at(spots[n]);
		n++;
	}
	rig.e.text[0] = '\0';
	return frontend_relisten(rig.frontend, list, n, &rig.e);
}

static void
begin_moves(void)
{
	rig_begin();
	spot_at_host(&any, &rig.front, "0.0.0.0");
	spot_new(&second, SPOT_TCP4);
	spot_new(&file, SPOT_UNIX);
	rig_with(backend_echo, NULL);
}

static void
end_moves(void)
{
	rig_end();
	backend_stop(&rig.backend);
}

static void
greet(const struct spot *s)
{
	int fd = spot_connect(s);

	spot_send(fd, "hello", 5);
	rig_hears(fd, "hello");
	close(fd);
}

static bool
refuses(const struct spot *s)
{
	int fd = spot_try_connect(s);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

START_TEST(moved)
{
	int inside;

	begin_moves();
	inside = rig_talks();
	ck_assert_msg(move_to(&second, &file, NULL) == 0, "%s", rig.e.text);
	ck_assert(refuses(&rig.front));
	greet(&second);
	greet(&file);
	/* one goes, one stays, one comes; twice named is once meant */
	ck_assert_msg(
	    move_to(&file, &rig.front, &rig.front) == 0, "%s", rig.e.text);
	ck_assert(refuses(&second));
	greet(&file);
	greet(&rig.front);
	ck_assert_msg(move_to(&rig.front, NULL, NULL) == 0, "%s", rig.e.text);
	ck_assert_int_eq(access(file.text, F_OK), -1);
	/* those inside noticed nothing */
	spot_send(inside, "still", 5);
	rig_hears(inside, "still");
	close(inside);
	ended(REASON_DONE, 5);
	/* and nowhere at all */
	ck_assert_int_eq(frontend_relisten(rig.frontend, NULL, 0, &rig.e), 0);
	ck_assert(refuses(&rig.front));
	end_moves();
}
END_TEST

/* Before the start nobody is served, after it everybody. */
START_TEST(moved_before_the_start)
{
	int fd;

	rig_begin();
	spot_new(&second, SPOT_TCP4);
	backend_start(&rig.backend, SPOT_TCP4, backend_echo, NULL);
	rig_add_server(0, &rig.backend.at);
	rig.frontend = frontend_new(rig.loop, rig.pool, &rig.options, &rig.e);
	ck_assert_ptr_nonnull(rig.frontend);
	ck_assert_int_eq(move_to(&rig.front, &second, NULL), 0);
	fd = spot_connect(&second);
	rig_breathe();
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 0);
	ck_assert(refuses(&rig.front));
	ck_assert_int_eq(frontend_start(rig.frontend), 0);
	spot_send(fd, "late", 4);
	rig_hears(fd, "late");
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
	ck_assert_int_eq(move_to(&rig.front, &second, NULL), 0);
	fd = spot_connect(&rig.front);
	ck_assert_int_eq(move_to(&rig.front, NULL, NULL), 0);
	ck_assert_uint_eq(rig_stats()->accepted, 0);
	spot_send(fd, "hello", 5);
	rig_hears(fd, "hello");
	close(fd);
	ended(REASON_DONE, 1);
	end_moves();
}
END_TEST

/* The wildcard and one address of the same port, both ways. */
START_TEST(in_the_way)
{
	struct spot other;

	begin_moves();
	spot_at_host(&other, &rig.front, "127.0.0.2");
	ck_assert_msg(move_to(&any, NULL, NULL) == 0, "%s", rig.e.text);
	greet(&other);
	ck_assert_msg(
	    move_to(&rig.front, &second, NULL) == 0, "%s", rig.e.text);
	ck_assert(refuses(&other));
	greet(&rig.front);
	/* two stand in the way of one */
	ck_assert_msg(move_to(&rig.front, &other, NULL) == 0, "%s", rig.e.text);
	greet(&other);
	ck_assert_msg(move_to(&any, NULL, NULL) == 0, "%s", rig.e.text);
	greet(&other);
	greet(&rig.front);
	/* one that stays is no reason to close anything */
	ck_assert_int_eq(move_to(&any, &rig.front, NULL), -1);
	ck_assert_ptr_nonnull(strstr(rig.e.text, rig.front.text));
	greet(&other);
	ended(REASON_DONE, 6);
	end_moves();
}
END_TEST

/* One cannot be opened: everything is as before, even the one that would have
 * had to be closed first. */
START_TEST(nothing_changes_on_failure)
{
	struct spot other, taken, far;
	int fd;

	begin_moves();
	spot_at_host(&other, &rig.front, "127.0.0.2");
	spot_at_host(&far, &rig.front, "192.0.2.1");
	spot_new(&taken, SPOT_TCP4);
	fd = spot_listen(&taken, 1);
	ck_assert_int_eq(move_to(&any, &file, NULL), 0);
	ck_assert_int_eq(move_to(&rig.front, &second, &taken), -1);
	ck_assert_ptr_nonnull(strstr(rig.e.text, taken.text));
	ck_assert_ptr_nonnull(strstr(rig.e.text, "in use"));
	ck_assert(refuses(&second));
	greet(&other);
	greet(&rig.front);
	greet(&file);
	/* not this machine's: closing the old one would not help */
	ck_assert_int_eq(move_to(&far, NULL, NULL), -1);
	ck_assert_ptr_nonnull(strstr(rig.e.text, far.text));
	greet(&other);
	ended(REASON_DONE, 4);
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	ck_assert(refuses(&rig.front));
	greet(&second);
	close(fd);
	end_moves();
}
END_TEST

/* Somebody else holds the address too: found out only after the old one was
 * closed, which is opened again. */
START_TEST(closed_and_opened_again)
{
	struct spot other, third;
	int fd;

	begin_moves();
	spot_at_host(&other, &rig.front, "127.0.0.2");
	spot_at_host(&third, &rig.front, "127.0.0.3");
	fd = spot_listen(&other, 1);
	ck_assert_int_eq(move_to(&rig.front, &third, NULL), 0);
	ck_assert_int_eq(move_to(&any, &second, NULL), -1);
	ck_assert_ptr_nonnull(strstr(rig.e.text, any.text));
	ck_assert_ptr_nonnull(strstr(rig.e.text, "in use"));
	greet(&rig.front);
	greet(&third);
	ck_assert(refuses(&second));
	ended(REASON_DONE, 2);
	close(fd);
	ck_assert_msg(move_to(&any, &second, NULL) == 0, "%s", rig.e.text);
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
		fds[i] = spot_connect(&rig.front);
		spot_send(fds[i], "hello", 5);
	}
	ck_assert_int_eq(
	    move_to(_i == 0 ? &second : &rig.front, NULL, NULL), 0);
	ck_assert_uint_eq(rig_stats()->accepted, 20);
	for (i = 0; i < 20; i++) {
		rig_hears(fds[i], "hello");
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

	rig_begin();
	spot_new(&second, SPOT_TCP4);
	rig.options.sessions_max = 2;
	rig_with(backend_echo, NULL);
	fds[0] = rig_talks();
	if (_i == 1)
		fds[1] = rig_talks();
	/* reached before, or by those who wait */
	for (i = _i == 1 ? 2 : 1; i < 4; i++)
		fds[i] = spot_connect(&rig.front);
	ck_assert_int_eq(move_to(&second, NULL, NULL), 0);
	ck_assert_uint_eq(rig_stats()->sessions, 4);
	late = spot_connect(&second);
	spot_send(late, "late", 4);
	for (i = 0; i < 4; i++) {
		spot_send(fds[i], "again", 5);
		rig_hears(fds[i], "again");
	}
	ck_assert_uint_eq(rig_stats()->accepted, 4);
	close(fds[0]);
	close(fds[1]);
	RUN_UNTIL(rig_stats()->sessions == 2);
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 4);
	close(fds[2]);
	rig_hears(late, "late");
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

	rig_begin();
	spot_new(&second, SPOT_TCP4);
	spot_new(&file, SPOT_UNIX);
	rig.options.sessions_max = 2;
	rig_with(backend_echo, NULL);
	ck_assert_int_eq(move_to(&rig.front, &second, NULL), 0);
	inside = rig_talks();
	waiting = spot_connect(&rig.front);
	ck_assert_int_eq(move_to(&second, &file, NULL), 0);
	ck_assert_uint_eq(rig_stats()->sessions, 2);
	late[0] = spot_connect(&second);
	late[1] = spot_connect(&file);
	spot_send(waiting, "hello", 5);
	rig_hears(waiting, "hello");
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 2);
	close(inside);
	close(waiting);
	for (i = 0; i < 2; i++) {
		spot_send(late[i], "late", 4);
		rig_hears(late[i], "late");
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
	watch_stop(rig.loop, w);
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
	    watch_start(rig.loop, &w, order[0], READY_READ, on_order), 0);
	spot_send(order[1], "x", 1);
	fd = spot_connect(&rig.front);
	spot_send(fd, "hello", 5);
	rig_hears(fd, "hello");
	RUN_UNTIL(moved_in_callback == 1);
	ck_assert(refuses(&rig.front));
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
