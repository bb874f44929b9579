/* test_readme.c: each command of README.md is run as it is typed, in a network
 * that has the names it speaks of, and is looked at from outside. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "net/readme.h"
#include "net/readmerig.h"
#include "support/suite.h"

/* These build and test pen: whoever runs this has done so. */
static const struct example elsewhere[] = {
	{ .line = "sh examples/quickstart.sh", .elsewhere = "it builds pen" },
	{ .line = "sh tests/run.sh", .elsewhere = "it runs this" },
	{ .line = "autoreconf -fi", .elsewhere = "it makes configure" },
	{ .line = "./configure && make && make check && sudo make install",
	    .elsewhere = "it builds pen" },
	{ .line = NULL },
};

static const struct example *const lists[] = { readme_web, readme_tls,
	readme_others, readme_running, readme_dsr, elsewhere };

enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

/* The n-th of all rows; NULL: there are not so many. */
static const struct example *
row(int n)
{
	const struct example *e;
	int i;

	for (i = 0; i < LISTS; i++)
		for (e = lists[i]; e->line != NULL; e++)
			if (n-- == 0)
				return e;
	return NULL;
}

static int
rows(void)
{
	int n = 0;

	while (row(n) != NULL)
		n++;
	return n;
}

static bool
has_row(const char *line)
{
	int i, n = rows();

	for (i = 0; i < n; i++)
		if (strcmp(row(i)->line, line) == 0)
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
	int i, n = rows();

	readme_read(&readme);
	for (i = 0; i < n; i++)
		ck_assert_msg(readme_find(&readme, row(i)->line) != NULL,
		    "README.md has no such line: %s", row(i)->line);
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

START_TEST(command)
{
	const struct example *e = row(_i);
	const char *why;

	if (e->check == NULL)
		return;
	printf("%s\n", e->line);
	why = readmerig_run(e);
	if (why != NULL)
		SKIP(text("%s: %s", e->line, why));
}
END_TEST

SUITE(test_readme)
{
	Suite *s = suite_create("readme");

	SUITE_ADD(s, each_command_has_a_row, 10);
	SUITE_ADD(s, each_row_is_a_command, 10);
	SUITE_ADD(s, any_shell_takes_them, 10);
	SUITE_ADD_LOOP(s, command, 120, rows());
	return s;
}
