/* test_top_table.c: servers of several pens as one list, in order, as lines of
 * any width. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "tools/top_table.h"

static struct top_table before, now, view;

static void
begin(void)
{
	top_table_init(&before);
	top_table_init(&now);
	top_table_init(&view);
}

static void
end(void)
{
	top_table_fini(&before);
	top_table_fini(&now);
	top_table_fini(&view);
}

static void
add(struct top_table *t, unsigned pen, int number, const char *name,
    const char *state, int sessions, int bytes)
{
	ck_assert_int_eq(
	    top_table_add(t, pen, "",
		text("%d name %s state %s since 2026-01-01T00:00:00+00:00 "
		     "age_s 90 reason \"check connect: no\" changes 1 share "
		     "100 role regular addr 10.0.0.1 port 80 conn %d max 0 "
		     "hard 0 weight 0 prio 0 sx %d rx 0 connects 5 failures 3 "
		     "rate 1.5",
		    number, name, state, sessions, bytes)),
	    0);
}

START_TEST(names_with_blanks)
{
	begin();
	add(&now, 0, 0, "\"a b; conn 9\"", "up", 2, 0);
	ck_assert_uint_eq(now.count, 1);
	ck_assert_str_eq(now.list[0].name, "a b; conn 9");
	ck_assert_str_eq(now.list[0].state, "up");
	ck_assert_double_eq(now.list[0].sessions, 2);
	end();
}
END_TEST

START_TEST(ports_stand_behind_addresses)
{
	static const char *const addrs[][2] = { { "10.0.0.1", "10.0.0.1:9" },
		{ "::1", "[::1]:9" }, { "fe80::1%eth0", "[fe80::1%eth0]:9" },
		{ "/run/a:b", "/run/a:b:9" } };
	unsigned i;

	begin();
	for (i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++) {
		ck_assert_int_eq(
		    top_table_add(&now, 0, "",
			text("%u name a state up addr %s port 9", i,
			    addrs[i][0])),
		    0);
		ck_assert_str_eq(now.list[i].at, addrs[i][1]);
	}
	end();
}
END_TEST

/* Of several pens the greater share. */
START_TEST(errors_stand_beside_the_state)
{
	char line[TOP_LINE];

	begin();
	ck_assert_int_eq(top_table_add(&now, 0, "",
			     "0 name a state up addr a port 1 conn 0 "
			     "http_5xx 9 http_errors 37"),
	    0);
	ck_assert_int_eq(top_table_add(&now, 1, "",
			     "0 name a state up addr a port 1 conn 0 "
			     "http_5xx 9 http_errors 12"),
	    0);
	ck_assert_int_eq(top_table_add(&now, 0, "",
			     "1 name b state down addr b port 1 conn 0 "
			     "http_5xx 9 http_errors 100"),
	    0);
	top_table_settle(&now, &before, 1000);
	ck_assert_uint_eq(now.count, 2);
	ck_assert_ptr_nonnull(
	    strstr(top_table_line(line, &now.list[0], 80), " up 37% 5xx "));
	ck_assert_ptr_nonnull(
	    strstr(top_table_line(line, &now.list[1], 80), " down "));
	ck_assert_ptr_nonnull(strstr(top_table_sums(line, &now, 2),
	    "1 of 2 up, 2 with errors (5xx), 0 sessions"));
	end();
}
END_TEST

START_TEST(several_pens_add_up)
{
	begin();
	add(&before, 0, 0, "a", "up", 1, 1000);
	add(&before, 1, 7, "a", "up", 1, 500);
	top_table_settle(&before, &now, 1000);
	add(&now, 0, 0, "a", "up", 2, 2000);
	add(&now, 0, 1, "b", "up", 5, 0);
	add(&now, 1, 7, "a", "down", 3, 1500);
	top_table_settle(&now, &before, 3000);
	ck_assert_uint_eq(now.count, 2);
	ck_assert_str_eq(now.list[0].name, "a");
	ck_assert_str_eq(now.list[0].state, "down");
	ck_assert_str_eq(now.list[0].reason, "check connect: no");
	ck_assert_double_eq(now.list[0].sessions, 5);
	ck_assert_double_eq(now.list[0].failures, 6);
	ck_assert_int_eq(now.list[0].number[0], 0);
	ck_assert_int_eq(now.list[0].number[1], 7);
	ck_assert_int_eq(now.list[1].number[1], -1);
	ck_assert_int_eq((int)now.list[0].up_s, 1000);
	end();
}
END_TEST

/* What a pen has passed on since its start came not in this moment. */
START_TEST(pen_that_comes_back_is_no_rate)
{
	struct top_table both;

	begin();
	top_table_init(&both);
	add(&before, 0, 0, "a", "up", 1, 1000);
	top_table_settle(&before, &now, 1000);
	add(&now, 0, 0, "a", "up", 1, 2000);
	add(&now, 1, 0, "a", "up", 1, 900000);
	top_table_settle(&now, &before, 2000);
	ck_assert_int_eq((int)now.list[0].up_s, 0);
	add(&both, 0, 0, "a", "up", 1, 3000);
	add(&both, 1, 0, "a", "up", 1, 901000);
	top_table_settle(&both, &now, 3000);
	ck_assert_int_eq((int)both.list[0].up_s, 2000);
	top_table_fini(&both);
	end();
}
END_TEST

/* A list may have the same server twice. */
START_TEST(twins_of_one_pen_are_two)
{
	begin();
	add(&now, 0, 0, "a", "up", 2, 0);
	add(&now, 0, 1, "a", "up", 3, 0);
	top_table_settle(&now, &before, 1000);
	ck_assert_uint_eq(now.count, 2);
	end();
}
END_TEST

static const char *
names(enum top_order order, const char *filter)
{
	static char all[64];
	uint32_t i;

	ck_assert_int_eq(top_table_arrange(&view, &now, order, filter), 0);
	all[0] = '\0';
	for (i = 0; i < view.count; i++)
		strcat(all, view.list[i].name);
	return all;
}

START_TEST(orders_and_filters)
{
	begin();
	add(&now, 0, 0, "b", "up", 2, 0);
	add(&now, 0, 1, "c", "drain", 9, 0);
	add(&now, 0, 2, "a", "down", 1, 0);
	top_table_settle(&now, &before, 1000);
	ck_assert_str_eq(names(TOP_BY_NUMBER, ""), "bca");
	ck_assert_str_eq(names(TOP_BY_NAME, ""), "abc");
	ck_assert_str_eq(names(TOP_BY_STATE, ""), "acb");
	ck_assert_str_eq(names(TOP_BY_SESSIONS, ""), "cba");
	ck_assert_str_eq(names(TOP_BY_RATE, ""), "bca");
	ck_assert_str_eq(names(TOP_BY_SESSIONS, "d"), "ca");
	ck_assert_str_eq(names(TOP_BY_NUMBER, "10.0.0.1:80"), "bca");
	ck_assert_str_eq(names(TOP_BY_NUMBER, "nobody"), "");
	end();
}
END_TEST

/* No line is wider than it may be, nor lacks name, state and sessions. */
START_TEST(lines_of_any_width)
{
	char line[TOP_LINE];
	unsigned columns;

	begin();
	add(&now, 0, 0, "a-rather-long-name.of.a.server.example", "blacklisted",
	    12345, 0);
	top_table_settle(&now, &before, 1000);
	for (columns = 30; columns < 300; columns++) {
		top_table_line(line, &now.list[0], columns);
		ck_assert_uint_le(strlen(line), columns);
		ck_assert_ptr_nonnull(strstr(line, "a-rathe"));
		ck_assert_ptr_nonnull(strstr(line, " blacklisted"));
		ck_assert_ptr_nonnull(strstr(line, " 12345"));
		ck_assert(
		    (strstr(line, "10.0.0.1:80") != NULL) == (columns >= 110));
		top_table_headings(line, columns);
		ck_assert_uint_le(strlen(line), columns);
		ck_assert((strstr(line, "DOWN/S") != NULL) == (columns >= 70));
	}
	end();
}
END_TEST

/* Servers of one host differ in each line. */
START_TEST(ports_where_addresses_have_no_room)
{
	char line[TOP_LINE];
	unsigned columns;

	begin();
	ck_assert_int_eq(top_table_add(&now, 0, "",
			     "0 name 192.0.2.111 state up addr 192.0.2.111 "
			     "port 28411"),
	    0);
	for (columns = 50; columns < 200; columns++) {
		top_table_line(line, &now.list[0], columns);
		ck_assert_msg(strstr(line, ":28411") != NULL, "%s", line);
	}
	top_table_line(line, &now.list[0], 80);
	ck_assert_ptr_eq(strstr(line, "192.0.2.111:28411 "), line);
	top_table_line(line, &now.list[0], 120);
	ck_assert_ptr_eq(strstr(line, "192.0.2.111 "), line);
	end();
}
END_TEST

/* What a server's name or reason could do to a terminal. */
START_TEST(nothing_is_obeyed_by_a_terminal)
{
	char line[TOP_LINE];

	begin();
	ck_assert_int_eq(top_table_add(&now, 0, "",
			     "0 name \"\033[2J\" state up reason \"\007\""),
	    0);
	ck_assert_int_eq(top_table_add(&now, 0, "", "error: not today"), 0);
	ck_assert_int_eq(top_table_add(&now, 0, "", ""), 0);
	ck_assert_uint_eq(now.count, 1);
	top_table_line(line, &now.list[0], 120);
	ck_assert_ptr_null(strchr(line, '\033'));
	ck_assert_ptr_null(strchr(line, '\007'));
	end();
}
END_TEST

SUITE(test_top_table)
{
	Suite *s = suite_create("top_table");

	SUITE_ADD(s, names_with_blanks, 10);
	SUITE_ADD(s, ports_stand_behind_addresses, 10);
	SUITE_ADD(s, errors_stand_beside_the_state, 10);
	SUITE_ADD(s, several_pens_add_up, 10);
	SUITE_ADD(s, pen_that_comes_back_is_no_rate, 10);
	SUITE_ADD(s, twins_of_one_pen_are_two, 10);
	SUITE_ADD(s, orders_and_filters, 10);
	SUITE_ADD(s, lines_of_any_width, 10);
	SUITE_ADD(s, ports_where_addresses_have_no_room, 10);
	SUITE_ADD(s, nothing_is_obeyed_by_a_terminal, 10);
	return s;
}
