/* test_user.c: numbers of users by name, from a file of their form. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/user.h"
#include "support/suite.h"

static struct error e;

static const char *
users(void)
{
	write_file(scratch("users"),
	    "root:x:0:0:root:/root:/bin/sh\n"
	    "rooter:x:17:\n"
	    "bad:x\n"
	    "odd:x:12x:\n"
	    "last:x:4294967295");
	return scratch("users");
}

static void
is(const char *word, uint32_t wanted)
{
	uint32_t id;

	ck_assert_msg(user_find(users(), word, &id, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(id, wanted);
}

static void
refuses(const char *word)
{
	uint32_t id = 77;

	ck_assert_int_eq(user_find(users(), word, &id, &e), -1);
	ck_assert_uint_eq(id, 77);
}

START_TEST(names_and_numbers)
{
	is("33", 33);
	is("root", 0);
	is("rooter", 17);
	is("last", 4294967295u);
	refuses("roo");
	refuses("bad");
	refuses("odd");
	refuses("");
	refuses("4294967296");
	refuses("x");
}
END_TEST

START_TEST(files_that_are_missing)
{
	uint32_t id;

	ck_assert_int_eq(
	    user_find(scratch("nowhere"), "root", &id, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "No such file"));
	ck_assert_int_eq(user_find(scratch("nowhere"), "5", &id, &e), 0);
}
END_TEST

SUITE(test_user)
{
	Suite *s = suite_create("user");

	SUITE_ADD(s, names_and_numbers, 10);
	SUITE_ADD(s, files_that_are_missing, 10);
	return s;
}
