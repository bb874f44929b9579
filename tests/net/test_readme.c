/* test_readme.c: each command of README.md has a row in a test_readme_X, which
 * runs it as it is typed, and each row is a command. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "net/readme.h"
#include "net/readme_fixture.h"
#include "support/child.h"
#include "support/suite.h"

/* These build and test pen, as whoever runs this has done. */
static const struct example elsewhere[] = {
	{ .line = "sh examples/quickstart.sh",
	    .elsewhere = "quickstart_shows_what_it_says" },
	{ .line = "sh tests/run.sh", .elsewhere = "it runs this" },
	{ .line = "autoreconf -fi", .elsewhere = "it makes configure" },
	{ .line = "./configure && make && make check && sudo make install",
	    .elsewhere = "it builds pen" },
	{ .line = NULL },
};

static const struct example *const lists[] = { readme_web, readme_tls,
	readme_others, readme_running, readme_dsr, elsewhere };

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

static bool
has_row(const char *line)
{
	const struct example *e;
	int i;

	for (i = 0; i < LISTS; i++)
		for (e = lists[i]; e->line != NULL; e++)
			if (strcmp(e->line, line) == 0)
				return true;
	return false;
}

START_TEST(each_command_has_a_row)
{
	static struct readme readme;
	size_t i;

	readme_read(&readme);
	for (i = 0; i < readme.n; i++)
#ifndef HAVE_MAXMINDDB
		if (strstr(readme.commands[i].line, "--geoip") == NULL)
#endif
			ck_assert_msg(has_row(readme.commands[i].line),
			    "not tested: %s", readme.commands[i].line);
	ck_assert_uint_gt(readme.n, 30);
}
END_TEST

START_TEST(each_row_is_a_command)
{
	static struct readme readme;
	const struct example *e;
	int i;

	readme_read(&readme);
	for (i = 0; i < LISTS; i++)
		for (e = lists[i]; e->line != NULL; e++)
			ck_assert_msg(readme_find(&readme, e->line) != NULL,
			    "README.md has no such line: %s", e->line);
}
END_TEST

/* zsh refuses a pattern that matches nothing, as [::]:80. */
START_TEST(any_shell_takes_them)
{
	static struct readme readme;
	size_t i;
	char c;

	readme_read(&readme);
	for (i = 0; i < readme.n; i++) {
		c = readme_risky_character(readme.commands[i].line);
		ck_assert_msg(
		    c == '\0', "%c in: %s", c, readme.commands[i].line);
	}
}
END_TEST

static void
succeed(struct child *c, const char *const argv[])
{
	child_start(c, argv);
	ck_assert_msg(
	    child_wait(c, 60000) == 0, "%s%s", child_out(c), child_err(c));
}

static void
find_first(const char *pen)
{
	setenv("PATH",
	    text(
		"%.*s:%s", (int)(strrchr(pen, '/') - pen), pen, getenv("PATH")),
	    1);
}

/* All but the build. */
START_TEST(quickstart_shows_what_it_says)
{
	const char *dir = getenv("SRCDIR"), *pen = getenv("PEN");
	const char *argv[] = { "sh", NULL, NULL, NULL };
	struct child c;

	NEED_PROGRAM("curl");
	ck_assert(dir != NULL && pen != NULL && strrchr(pen, '/') != NULL);
	argv[1] = text("%s/examples/quickstart.sh", dir);
	argv[2] = text("%.*s", (int)(strrchr(pen, '/') - pen), pen);
	succeed(&c, argv);
	ck_assert_ptr_nonnull(strstr(child_out(&c), " down "));
	ck_assert_ptr_nonnull(strstr(child_out(&c), " drain "));
	ck_assert_ptr_nonnull(strstr(child_out(&c), "reason=done"));
}
END_TEST

/* As in the examples of a package: without the source, with pen in the PATH. */
START_TEST(quickstart_without_the_source)
{
	const char *dir = getenv("SRCDIR"), *pen = getenv("PEN");
	const char *argv[] = { "sh", NULL, NULL };
	struct child c;

	NEED_PROGRAM("curl");
	ck_assert(dir != NULL && pen != NULL && strrchr(pen, '/') != NULL);
	argv[1] = scratch("quickstart.sh");
	write_file(
	    argv[1], contents(text("%s/examples/quickstart.sh", dir)));
	find_first(pen);
	succeed(&c, argv);
	ck_assert_ptr_nonnull(strstr(child_out(&c), "all is stopped"));
}
END_TEST

START_TEST(quickstart_in_a_directory_of_two_words)
{
	const char *dir = getenv("SRCDIR"), *pen = getenv("PEN");
	const char *argv[] = { "sh", NULL, NULL, NULL };
	struct child c;

	NEED_PROGRAM("curl");
	ck_assert(dir != NULL && pen != NULL && strrchr(pen, '/') != NULL);
	ck_assert_int_eq(mkdir(scratch("two words"), 0700), 0);
	setenv("TMPDIR", scratch("two words"), 1);
	argv[1] = text("%s/examples/quickstart.sh", dir);
	argv[2] = text("%.*s", (int)(strrchr(pen, '/') - pen), pen);
	succeed(&c, argv);
}
END_TEST

/* One that does not have --version, as classic Pen. */
START_TEST(quickstart_with_an_older_pen)
{
	const char *file = scratch("quickstart.sh"), *pen = scratch("pen");
	const char *argv[] = { "sh", file, NULL };
	struct child c;

	NEED_PROGRAM("curl");
	write_file(pen, "#!/bin/sh\necho usage:\nexit 1\n");
	ck_assert_int_eq(chmod(pen, 0700), 0);
	write_file(file,
	    contents(text("%s/examples/quickstart.sh", getenv("SRCDIR"))));
	find_first(pen);
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, 60000), 1);
	ck_assert_str_eq(child_err(&c),
	    text("quickstart: %s is an older program of that name\n", pen));
}
END_TEST

SUITE(test_readme)
{
	Suite *s = suite_create("readme");

	SUITE_ADD(s, each_command_has_a_row, 10);
	SUITE_ADD(s, each_row_is_a_command, 10);
	SUITE_ADD(s, any_shell_takes_them, 10);
	SUITE_ADD(s, quickstart_shows_what_it_says, 120);
	SUITE_ADD(s, quickstart_without_the_source, 120);
	SUITE_ADD(s, quickstart_in_a_directory_of_two_words, 120);
	SUITE_ADD(s, quickstart_with_an_older_pen, 60);
	return s;
}
