/* test_reason.c: every reason has a name of its own, and a status. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/log/reason.h"
#include "support/suite.h"

START_TEST(names)
{
	int r, o;

	for (r = 0; r < REASONS; r++) {
		const char *name = reason_name((enum reason)r);

		ck_assert_ptr_nonnull(name);
		ck_assert_uint_gt(strlen(name), 0);
		ck_assert_uint_eq(
		    strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		ck_assert_str_ne(name, "unknown");
		for (o = 0; o < r; o++)
			ck_assert_str_ne(name, reason_name((enum reason)o));
	}
	ck_assert_str_eq(reason_name(REASON_DONE), "done");
	ck_assert_str_eq(reason_name(REASON_STOPPED), "stopped");
	ck_assert_str_eq(reason_name(REASONS), "unknown");
}
END_TEST

START_TEST(statuses)
{
	int r;

	for (r = 0; r < REASONS; r++) {
		unsigned status = reason_status((enum reason)r, false);

		ck_assert_msg(status >= 200 && status < 600, "%s: %u",
		    reason_name((enum reason)r), status);
	}
	ck_assert_uint_eq(reason_status(REASON_DONE, false), 200);
	ck_assert_uint_eq(reason_status(REASON_IDLE_TIMEOUT, false), 408);
	ck_assert_uint_eq(reason_status(REASON_IDLE_TIMEOUT, true), 200);
	ck_assert_uint_eq(reason_status(REASONS, false), 500);
}
END_TEST

/* Nobody is reset at the end of a session that ended well. */
START_TEST(resets)
{
	int r;

	for (r = 0; r < REASONS; r++) {
		const struct reason_row *row = &reason_rows[r];

		ck_assert_msg(row->status >= 400 ||
			(row->resets_client == RESET_NEVER &&
			    !row->resets_server),
		    "%s", row->name);
	}
}
END_TEST

SUITE(test_reason)
{
	Suite *s = suite_create("reason");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, statuses, 10);
	SUITE_ADD(s, resets, 10);
	return s;
}
