/* test_environment.c: what a program inherits, and what is added. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "support/suite.h"

static struct environment e;

/* The value of a variable, or NULL. */
static const char *
find(const char *name)
{
	size_t n = strlen(name);
	char **entry;

	for (entry = e.list; *entry != NULL; entry++)
		if (strncmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return *entry + n + 1;
	return NULL;
}

extern char **environ;

START_TEST(inherited_and_added)
{
	static char *empty[] = { NULL };
	int i;

	environ = empty;
	environment_init(&e);
	environment_add(&e, "PEN_PORT", "%d", 80);
	ck_assert_str_eq(e.list[0], "PEN_PORT=80");
	ck_assert_ptr_null(e.list[1]);
	environment_fini(&e);

	setenv("HOME", "/root", 1);
	setenv("HOMER", "other", 1);
	setenv("LC_TIME", "C", 1);
	setenv("LISTEN_PID", "1", 1);
	setenv("NOTIFY_SOCKET", "x", 1);
	setenv("PEN_STATE", "old", 1);
	setenv("API_TOKEN", "secret", 1);
	environment_init(&e);
	ck_assert_str_eq(find("HOME"), "/root");
	ck_assert_str_eq(find("LC_TIME"), "C");
	ck_assert_ptr_null(find("HOMER"));
	ck_assert_ptr_null(find("LISTEN_PID"));
	ck_assert_ptr_null(find("NOTIFY_SOCKET"));
	ck_assert_ptr_null(find("PEN_STATE"));
	ck_assert_ptr_null(find("API_TOKEN"));
	for (i = 0; i < 200; i++)
		environment_add(&e, text("N%d", i), "%s=%d", "value", i);
	ck_assert(!e.failed);
	ck_assert_str_eq(find("N199"), "value=199");
	ck_assert_uint_eq(e.count, 202);
	ck_assert_ptr_null(e.list[202]);
	environment_fini(&e);
}
END_TEST

SUITE(test_environment)
{
	Suite *s = suite_create("environment");

	SUITE_ADD(s, inherited_and_added, 10);
	return s;
}
