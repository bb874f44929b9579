/* test_long_lists.c: files of very many access list entries are read while
 * traffic goes on. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { LINES = 200000, SOON = 60000 };

static struct endpoint front, ctl;
static struct backend b;
static struct pen pen;

/* Networks of /32 from 10.0.0.0 on, and then a line. */
static const char *
write_list(const char *name, const char *last)
{
	const char *path = scratch(name);
	FILE *f = fopen(path, "w");
	unsigned i;

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < LINES; i++)
		fprintf(f, "10.%u.%u.%u\n", i >> 16 & 255, i >> 8 & 255,
		    i & 255);
	fprintf(f, "%s\n", last);
	fclose(f);
	return path;
}

static void
write_config(const char *lists)
{
	write_file(scratch("pen.conf"),
	    text("listen %s\nserver add %s\n%s", front.text, b.at.text,
		lists));
}

static void
up(void)
{
	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	write_config("");
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-F", scratch("pen.conf"),
	    NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&b);
}

static int
begin(const char *line)
{
	int fd = endpoint_connect(&ctl);

	ck_assert_int_gt(send(fd, line, strlen(line), 0), 0);
	return fd;
}

static bool
has_answered(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static bool
says(const char *line, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", line)), what) != NULL;
}

START_TEST(others_are_served)
{
	const char *list, *answer;
	int fd, served = 0;

	up();
	list = write_list("list", "deny 127.0.0.9");
	fd = begin(text("acl long file %s; client_acl long\n", list));
	shutdown(fd, SHUT_WR);
	while (!has_answered(fd)) {
		ck_assert_str_eq(endpoint_hear(&front), "a");
		served++;
	}
	ck_assert_int_gt(served, 2);
	answer = endpoint_recv_all(fd);
	close(fd);
	ck_assert_str_eq(answer, "long\n");
	ck_assert(says("explain 127.0.0.9", text("\nline %d\n", LINES + 1)));
	ck_assert(says("explain 10.0.0.7", "\nline 8\n"));
	down();
}
END_TEST

START_TEST(wrong_lines_change_nothing)
{
	const char *list;

	up();
	list = write_list("list", "allow 127.0.0.1");
	ck_assert(says(text("acl long permit unix; acl long file %s", list),
	    text("error: acl: %s:%d: \"allow\" is not an address", list,
		LINES + 1)));
	ck_assert(says("client_acl long; explain 10.0.0.7", "\nentry none\n"));
	down();
}
END_TEST

/* A file of commands with two of them in a list, and one in another. */
START_TEST(reload_reads_all)
{
	const char *first, *second;

	up();
	first = write_list("first", "deny 127.0.0.9");
	second = write_list("second", "127.0.0.1");
	write_config(text("acl long deny 10.0.0.1\nacl long file %s\n"
			  "acl long file %s\nacl other file %s\n"
			  "client_acl long\n",
	    first, second, second));
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	ck_assert(says("explain 10.0.0.1", "\nentry 1\n"));
	ck_assert(says("explain 127.0.0.9", text("\nfile %s\n", first)));
	ck_assert(says("explain 127.0.0.1", text("\nfile %s\n", second)));
	ck_assert(says("client_acl other; explain 127.0.0.1",
	    text("\nline %d\n", LINES + 1)));
	ck_assert_str_eq(endpoint_hear(&front), "a");
	second = write_list("second", "deny 127.0.0.1");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(says("explain 127.0.0.1", "\nmatches deny 127.0.0.1"), SOON);
	down();
}
END_TEST

/* Those of the command line, long and short. */
START_TEST(reload_reads_given_lists)
{
	const char *list, *few = scratch("few");

	backend_start(&b, ENDPOINT_TCP4, backend_say, "a");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	list = write_list("list", "127.0.0.9");
	write_file(few, "127.0.0.8\n");
	write_config("client_acl long\n");
	pen_up(&pen, &ctl, "-r", "-C", ctl.text, "-O",
	    text("acl long deny 10.0.0.1; acl long file %s", list), "-O",
	    text("acl long deny file %s", few), "-F", scratch("pen.conf"),
	    NULL);
	ck_assert(says("explain 127.0.0.9", "\npermitted yes\n"));
	ck_assert(says("explain 127.0.0.8", "\npermitted no\n"));
	write_list("list", "deny 127.0.0.9");
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	ck_assert(says("explain 127.0.0.9", "\npermitted no\n"));
	ck_assert(says("explain 10.0.0.1", "\nentry 1\n"));
	write_file(few, "127.0.0.7\n");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(says("explain 127.0.0.7", "\npermitted no\n"), SOON);
	ck_assert(says("explain 127.0.0.8", "\npermitted yes\n"));
	ck_assert(says("explain 127.0.0.9", "\npermitted no\n"));
	/* one that is wrong changes nothing, as one in a file does */
	write_file(few, "127.0.0.x\n");
	ck_assert(says("reload", text("error: reload: acl: %s:1: ", few)));
	ck_assert(says("explain 127.0.0.7", "\npermitted no\n"));
	/* which reads what the file of -F names only */
	ck_assert_str_eq(endpoint_ask(&ctl, "diff\n"), "");
	down();
}
END_TEST

/* Who asked for it goes away. */
START_TEST(given_up)
{
	const char *list;
	int fd;

	up();
	list = write_list("list", "deny 127.0.0.9");
	fd = begin(text("acl long file %s; client_acl long\n", list));
	ck_assert_str_eq(endpoint_hear(&front), "a");
	endpoint_reset(fd);
	ck_assert_str_eq(endpoint_hear(&front), "a");
	ck_assert(says("pid", "\n"));
	down();
}
END_TEST

SUITE(test_long_lists)
{
	Suite *s = suite_create("long_lists");

	SUITE_ADD(s, others_are_served, 120);
	SUITE_ADD(s, wrong_lines_change_nothing, 120);
	SUITE_ADD(s, reload_reads_all, 180);
	SUITE_ADD(s, reload_reads_given_lists, 120);
	SUITE_ADD(s, given_up, 60);
	return s;
}
