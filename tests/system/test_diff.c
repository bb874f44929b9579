/* test_diff.c: what a reload would change, of a text that penctl reads from its
 * standard input. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"

enum { SOON = 20000 };

static struct endpoint front, ctl;
static struct pen pen;
static struct child c;
static const char *conf, *next;

static void
up(void)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
	next = scratch("next.conf");
	write_file(conf,
	    text("listen %s\ncontrol %s\nblacklist 31\n"
		 "server 0 address 127.0.0.1 port 9\n",
		front.text, ctl.text));
	pen_up(&pen, &front, "-F", conf, NULL);
}

/* Returns the status of penctl, which reads the file `next`. */
static int
diff(const char *options, const char *file)
{
	write_file(next, file);
	ck_assert_int_eq(setenv("PENCTL_PROGRAM", ctl_client(), 1), 0);
	child_start(&c,
	    (const char *[]){ "sh", "-c",
		text("exec \"$PENCTL_PROGRAM\" %s %s diff - <%s", options,
		    ctl.text, next),
		NULL });
	return child_wait(&c, SOON);
}

static void
expect_refusal(const char *file, const char *says)
{
	ck_assert_int_ne(diff("", file), 0);
	ck_assert_str_eq(child_out(&c), "");
	ck_assert_msg(strstr(child_err(&c), says) != NULL, "%s in %s", says,
	    child_err(&c));
}

/* The same as of a file that pen reads, with quotes, comments, continued lines
 * and those of other systems; nothing changes. */
START_TEST(as_of_a_file)
{
	const char *file;

	up();
	file = text("listen %s\ncontrol %s  # \"here\"\r\n\n"
		    "server 0 address 127.0.0.1 \\\nport 9 weight 2\n"
		    "web_stats \"a \\\"b\\\\\"; timeout 4",
	    front.text, ctl.text);
	ck_assert_int_eq(diff("", file), 0);
	ck_assert_str_eq(child_err(&c), "");
	ck_assert_str_eq(
	    child_out(&c), pen_ask(&ctl, text("diff %s", next)));
	ck_assert_ptr_nonnull(strstr(child_out(&c), "+blacklist 31\n"));
	ck_assert_ptr_nonnull(strstr(child_out(&c), "-timeout 4\n"));
	ck_assert_int_eq(diff("-j", file), 0);
	ck_assert_str_eq(
	    child_out(&c), pen_ask(&ctl, text("diff %s json", next)));
	ck_assert_str_eq(pen_ask(&ctl, "blacklist; diff"), "31\n");
	ck_assert_int_eq(diff("", contents(conf)), 0);
	ck_assert_str_eq(child_out(&c), "");
	pen_down(&pen);
}
END_TEST

/* Errors name the line; names of files are those of pen. */
START_TEST(refused)
{
	char *large = calloc(1, 70000);

	ck_assert_ptr_nonnull(large);
	up();
	expect_refusal("listen 1\n\nserver 0 weigth 2\n",
	    "error: diff: -:3: server: \"weigth\": expected acl");
	expect_refusal("include none.conf\n",
	    "error: diff: -:1: include: \"none.conf\": No such file");
	expect_refusal("\n\n", "error: diff: ");
	memset(large, '\n', 69999);
	expect_refusal(large, "penctl: standard input: longer than a command");
	pen_answers(&ctl, "diff -",
	    "error: diff: - is the standard input of penctl");
	pen_answers(&ctl, "diff - a b", "error: diff: expects [FILE]");
	pen_down(&pen);
	free(large);
}
END_TEST

SUITE(test_diff)
{
	Suite *s = suite_create("diff");

	SUITE_ADD(s, as_of_a_file, 60);
	SUITE_ADD(s, refused, 60);
	return s;
}
