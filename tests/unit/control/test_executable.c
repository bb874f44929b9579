/* test_executable.c: where the program is that was started. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/life/executable.h"
#include "support/suite.h"

static struct executable x;
static struct error e;
static const char *dir;

static void
prepare(void)
{
	static unsigned count;

	dir = scratch(text("bin%u", ++count));
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	write_file(text("%s/pen", dir), "");
	write_file(text("%s/other", dir), "");
	ck_assert_int_eq(chmod(text("%s/pen", dir), 0755), 0);
}

static void
started_as(const char *name)
{
	char *argv[] = { (char *)(uintptr_t)name, (char *)(uintptr_t) "-f",
		NULL };

	executable_fini(&x);
	executable_note(&x, 2, argv);
	/* the list is its own: getopt(3) changes the order of ours */
	argv[1] = argv[0];
	ck_assert_str_eq(x.argv[0], name);
	ck_assert_str_eq(x.argv[1], "-f");
	ck_assert_ptr_null(x.argv[2]);
}

START_TEST(paths)
{
	prepare();
	started_as(text("%s/pen", dir));
	ck_assert_str_eq(x.path, text("%s/pen", dir));
	ck_assert_int_eq(executable_check(&x, &e), 0);
	/* of the directory that was the working one then */
	ck_assert_int_eq(chdir(dir), 0);
	started_as("./pen");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_str_eq(x.path, text("%s/./pen", dir));
	ck_assert_int_eq(executable_check(&x, &e), 0);
	executable_fini(&x);
}
END_TEST

START_TEST(names)
{
	prepare();
	setenv("PATH", text("/no/such:%s/other:%s", dir, dir), 1);
	started_as("pen");
	ck_assert_str_eq(x.path, text("%s/pen", dir));
	started_as("other"); /* cannot be executed */
	ck_assert_int_eq(executable_check(&x, &e), -1);
	ck_assert_str_eq(e.text,
	    "cannot find the file of this program; start it by its full path");
	/* an empty directory is the working one */
	ck_assert_int_eq(chdir(dir), 0);
	setenv("PATH", ":/no/such", 1);
	started_as("pen");
	ck_assert_int_eq(executable_check(&x, &e), 0);
	executable_fini(&x);
}
END_TEST

START_TEST(what_is_there_later)
{
	const char *path;

	prepare();
	path = text("%s/pen", dir);
	started_as(path);
	/* another version, by a link */
	ck_assert_int_eq(rename(path, text("%s/pen-2", dir)), 0);
	ck_assert_int_eq(executable_check(&x, &e), -1);
	ck_assert_str_eq(
	    e.text, text("\"%s\": No such file or directory", path));
	ck_assert_int_eq(symlink("pen-2", path), 0);
	ck_assert_int_eq(executable_check(&x, &e), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(executable_check(&x, &e), -1);
	ck_assert_str_eq(e.text, text("\"%s\": Permission denied", path));
	executable_fini(&x);
}
END_TEST

SUITE(test_executable)
{
	Suite *s = suite_create("executable");

	SUITE_ADD(s, paths, 10);
	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, what_is_there_later, 10);
	return s;
}
