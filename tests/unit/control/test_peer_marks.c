/* test_peer_marks.c: marks that a peer reports, while they wait to be set. */
#include "config.h"

#include <check.h>

#include "control/apply/services.h"
#include "control/peers/peer_marks.h"
#include "support/ask.h"
#include "support/pooladmin.h"
#include "support/suite.h"

static const struct peer a = { .family = AF_INET, .ip = { [15] = 1 } };
static const struct peer b = { .family = AF_INET, .ip = { [15] = 2 } };

static struct pen *pen;
static struct peer_marks marks;

static void
begin(void)
{
	char answer[256];
	struct error e;

	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(ask_pen(pen,
			     "server 0 address 10.0.0.1 port 80;"
			     "server 1 address 10.0.0.2 port 80;"
			     "server 2 address 10.0.0.3 port 80",
			     answer, sizeof(answer), &e),
	    0);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
}

static void
end(void)
{
	peer_marks_fini(&marks);
	pen_free(pen);
}

static struct server *
server(unsigned number)
{
	return pool_server(pen->service->pool, number);
}

static void
report(const struct peer *who, unsigned number, enum server_admin admin)
{
	peer_marks_add(&marks, pen->service, server(number), admin, who);
}

static void
set_all(void)
{
	while (marks.count > 0)
		peer_marks_set(&marks);
}

/* The last report counts: none may follow for a long time. */
START_TEST(ended_before_it_was_set)
{
	begin();
	report(&a, 0, SERVER_DRAINING);
	report(&a, 0, SERVER_ENABLED);
	set_all();
	ck_assert_int_eq(server(0)->admin, SERVER_ENABLED);
	report(&a, 0, SERVER_DRAINING);
	report(&a, 0, SERVER_DISABLED);
	set_all();
	ck_assert_int_eq(server(0)->admin, SERVER_DISABLED);
	end();
}
END_TEST

/* However often a peer reports, no more waits than there are servers. */
START_TEST(reports_that_repeat)
{
	int i;

	begin();
	for (i = 0; i < 1000; i++) {
		report(&a, 0, SERVER_DRAINING);
		report(&b, 0, SERVER_DRAINING);
		report(&a, 1, SERVER_DISABLED);
	}
	ck_assert_uint_eq(marks.count, 3);
	set_all();
	ck_assert_int_eq(server(0)->admin, SERVER_DRAINING);
	ck_assert_int_eq(server(1)->admin, SERVER_DISABLED);
	end();
}
END_TEST

/* A peer that has gone may come back from another address. */
START_TEST(marks_that_remain)
{
	begin();
	report(&a, 0, SERVER_DRAINING);
	report(&a, 1, SERVER_DRAINING);
	set_all();
	ck_assert_uint_eq(peer_marks_warn(pen, &a), 2);
	ck_assert_uint_eq(peer_marks_warn(pen, &b), 0);
	report(&b, 0, SERVER_ENABLED);
	report(&a, 1, SERVER_ENABLED);
	set_all();
	ck_assert_uint_eq(peer_marks_warn(pen, &a), 1);
	end();
}
END_TEST

/* A mark never takes the last server that is up: it waits until another one is,
 * until it ends, or its peer does. */
START_TEST(last_server_stays)
{
	unsigned i;

	begin();
	for (i = 0; i < 3; i++)
		report(&a, i, SERVER_DISABLED);
	for (i = 0; i < 10; i++)
		peer_marks_set(&marks);
	ck_assert_int_eq(server_state(server(0)), SERVER_MAINT);
	ck_assert_int_eq(server_state(server(1)), SERVER_MAINT);
	ck_assert_int_eq(server_state(server(2)), SERVER_UP);
	ck_assert_uint_eq(marks.count, 1);
	/* what the operator here does comes first */
	pool_set_admin(pen->service->pool, server(0), SERVER_ENABLED);
	set_all();
	ck_assert_int_eq(server_state(server(0)), SERVER_UP);
	ck_assert_int_eq(server_state(server(2)), SERVER_MAINT);
	/* one that is not up is not taken */
	report(&b, 0, SERVER_DRAINING);
	peer_marks_set(&marks);
	ck_assert_uint_eq(marks.count, 1);
	ck_assert_int_eq(server_state(server(0)), SERVER_UP);
	report(&b, 0, SERVER_ENABLED);
	set_all();
	ck_assert_int_eq(server_state(server(0)), SERVER_UP);
	report(&b, 0, SERVER_DRAINING);
	peer_marks_set(&marks);
	peer_marks_end(&marks, &a);
	ck_assert_uint_eq(marks.count, 1);
	peer_marks_end(&marks, &b);
	ck_assert_uint_eq(marks.count, 0);
	end();
}
END_TEST

/* A mark that waits is not for the next server in that slot. */
START_TEST(another_server_in_its_slot)
{
	char answer[256];
	struct error e;

	begin();
	pool_set_admin(pen->service->pool, server(0), SERVER_DISABLED);
	pool_set_admin(pen->service->pool, server(1), SERVER_DISABLED);
	report(&a, 2, SERVER_DISABLED);
	peer_marks_set(&marks);
	ck_assert_uint_eq(marks.count, 1);
	ck_assert_int_eq(ask_pen(pen, "server 2 address 10.0.0.9", answer,
			     sizeof(answer), &e),
	    0);
	pool_set_admin(pen->service->pool, server(0), SERVER_ENABLED);
	set_all();
	ck_assert_int_eq(server_state(server(2)), SERVER_UP);
	end();
}
END_TEST

SUITE(test_peer_marks)
{
	Suite *s = suite_create("peer_marks");

	SUITE_ADD(s, ended_before_it_was_set, 10);
	SUITE_ADD(s, reports_that_repeat, 10);
	SUITE_ADD(s, marks_that_remain, 10);
	SUITE_ADD(s, last_server_stays, 10);
	SUITE_ADD(s, another_server_in_its_slot, 10);
	return s;
}
