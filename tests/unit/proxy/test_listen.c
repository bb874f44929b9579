/* test_listen.c: listeners that move, and the numbers of connections. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/rig.h"
#include "support/suite.h"

static struct spot other;

static struct frontend_address
address(const struct spot *s)
{
	return (struct frontend_address){ .at = rig_addr(s) };
}

static int
relisten(const struct spot *a, const struct spot *b)
{
	struct frontend_address list[2];
	unsigned n = 0;

	list[n++] = address(a);
	if (b != NULL)
		list[n++] = address(b);
	return frontend_relisten(rig.frontend, list, n, &rig.e);
}

static void
begin(void)
{
	rig_begin();
	rig_with(backend_echo, NULL);
	spot_new(&other, SPOT_TCP4);
}

static void
end(void)
{
	rig_end();
	backend_stop(&rig.backend);
}

static void
talks_at(const struct spot *at)
{
	int fd = spot_connect(at);

	spot_send(fd, "hello", 5);
	rig_hears(fd, "hello");
	close(fd);
}

START_TEST(listeners_move)
{
	int fd, waiting;

	begin();
	fd = rig_talks();
	ck_assert_int_eq(relisten(&rig.front, &other), 0);
	talks_at(&rig.front);
	talks_at(&other);
	/* who waits at the old place is served */
	waiting = spot_connect(&rig.front);
	ck_assert_int_eq(relisten(&other, NULL), 0);
	ck_assert(!spot_is_listening(&rig.front));
	spot_send(waiting, "hello", 5);
	rig_hears(waiting, "hello");
	talks_at(&other);
	/* who was connected still is */
	spot_send(fd, "again", 5);
	rig_hears(fd, "again");
	close(waiting);
	close(fd);
	end();
}
END_TEST

START_TEST(a_bad_move_changes_nothing)
{
	struct spot third;

	begin();
	spot_new(&third, SPOT_TCP4);
	ck_assert_int_eq(relisten(&third, &rig.backend.at), -1);
	ck_assert_msg(
	    strstr(rig.e.text, "already in use") != NULL, "%s", rig.e.text);
	ck_assert(!spot_is_listening(&third));
	talks_at(&rig.front);
	end();
}
END_TEST

/* The wildcard and an address of it stand in each other's way. */
START_TEST(out_of_its_own_way)
{
	struct frontend_address any;
	struct error e;

	begin();
	ck_assert_int_eq(
	    addr_parse_ip(&any.at, "0.0.0.0", (uint16_t)rig.front.port), 0);
	any.v6_only = false;
	ck_assert_msg(
	    frontend_relisten(rig.frontend, &any, 1, &e) == 0, "%s", e.text);
	talks_at(&rig.front);
	ck_assert_int_eq(relisten(&rig.front, NULL), 0);
	talks_at(&rig.front);
	end();
}
END_TEST

START_TEST(full_ones_stay_shut)
{
	int fd, late;

	rig_begin();
	rig.options.sessions_max = 1;
	rig_with(backend_echo, NULL);
	spot_new(&other, SPOT_TCP4);
	fd = rig_talks();
	ck_assert_int_eq(relisten(&other, NULL), 0);
	late = spot_connect(&other);
	spot_send(late, "hello", 5);
	rig_breathe();
	rig_breathe();
	ck_assert_uint_eq(rig_stats()->accepted, 1);
	close(fd);
	rig_hears(late, "hello");
	close(late);
	end();
}
END_TEST

/* ---- numbers ---- */

START_TEST(numbers)
{
	enum { MANY = 90 };
	struct connection_info info;
	int fds[MANY], i;
	bool seen[MANY] = { false };
	uint64_t from;

	begin();
	ck_assert(!frontend_connection(rig.frontend, 0, &info));
	ck_assert(!frontend_connection_next(rig.frontend, 0, &info));
	for (i = 0; i < MANY; i++)
		fds[i] = rig_talks();
	for (from = 0; frontend_connection_next(rig.frontend, from, &info);
	     from = info.number + UINT64_C(1)) {
		ck_assert_uint_lt(info.number, MANY);
		ck_assert(!seen[info.number]);
		seen[info.number] = true;
		ck_assert_str_eq(info.state, "relaying");
		ck_assert_uint_eq(info.up, 5);
		ck_assert_uint_eq(info.down, 5);
		ck_assert_uint_eq(info.server->index, 0);
		ck_assert_int_eq(
		    frontend_connection_of_fd(rig.frontend, info.down_fd),
		    info.number);
		ck_assert_int_eq(
		    frontend_connection_of_fd(rig.frontend, info.up_fd),
		    info.number);
	}
	for (i = 0; i < MANY; i++)
		ck_assert(seen[i]);
	ck_assert_int_eq(frontend_connection_of_fd(rig.frontend, -1), -1);
	/* numbers that are free are given again */
	ck_assert(frontend_close_connection(rig.frontend, 7));
	ck_assert(!frontend_close_connection(rig.frontend, 7));
	ck_assert(frontend_close_connection(rig.frontend, 3));
	ck_assert(!frontend_connection(rig.frontend, 3, &info));
	ck_assert(!frontend_close_connection(rig.frontend, UINT64_MAX));
	RUN_UNTIL(rig_stats()->sessions == MANY - 2);
	close(rig_talks());
	close(rig_talks());
	RUN_UNTIL(rig_stats()->sessions == MANY - 2);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	RUN_UNTIL(rig_stats()->sessions == 0);
	ck_assert(!frontend_connection_next(rig.frontend, 0, &info));
	close(rig_talks());
	ck_assert_uint_eq(rig_stats()->reasons[REASON_STOPPED], 2);
	end();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("listen");

	SUITE_ADD(s, listeners_move, 30);
	SUITE_ADD(s, a_bad_move_changes_nothing, 30);
	SUITE_ADD(s, out_of_its_own_way, 30);
	SUITE_ADD(s, full_ones_stay_shut, 30);
	SUITE_ADD(s, numbers, 30);
	return suite_main(s);
}
