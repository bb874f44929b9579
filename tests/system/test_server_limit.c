/* test_server_limit.c: a service has at most 4,096 servers; one more is one
 * clear error, wherever it is added, and changes nothing. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/names_fixture.h"

enum { MOST = 4096, SOON = 30000 };

#define LIMIT "a service has at most 4096 servers"

static struct endpoint front, ctl;
static struct pen pen;

/* A file that adds so many servers, after a first line. */
static const char *
write_config(const char *first, int servers)
{
	const char *path = scratch("pen.conf");
	FILE *f = fopen(path, "w");
	int i;

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", first);
	for (i = 0; i < servers; i++)
		fprintf(f, "server add 10.0.%d.%d:80\n", i >> 8, i & 255);
	fclose(f);
	return path;
}

static const char *
ask(const char *line)
{
	return endpoint_ask(&ctl, text("%s\n", line));
}

static bool
has_server(int number)
{
	return strcmp(ask(text("server %d up", number)), "") == 0;
}

/* The line of the last server is named; all that fit are served. */
START_TEST(file)
{
	const char *conf;

	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = write_config("timeout 5", MOST + 1);
	pen_expect_failure(text("%s:%d: server: " LIMIT "\n", conf, MOST + 2),
	    "-f", "-F", conf, front.text, NULL);
	write_config("timeout 5", MOST);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, front.text, NULL);
	ck_assert(has_server(MOST - 1));
	write_config("timeout 7", MOST + 1);
	ck_assert_str_eq(ask("reload"),
	    text("error: reload: %s:%d: server: " LIMIT "\n", conf, MOST + 2));
	ck_assert_str_eq(ask("timeout"), "5\n");
	pen_down(&pen);
}
END_TEST

START_TEST(command)
{
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, "-F",
	    write_config("timeout 5", MOST - 1), front.text, NULL);
	ck_assert_str_eq(ask("server add 10.1.0.1:80"), "4095\n");
	ck_assert_str_eq(
	    ask("server add 10.1.0.2:80"), "error: server: " LIMIT "\n");
	ck_assert_str_eq(ask("server 4096 address 10.1.0.2 port 80"),
	    "error: server: \"4096\" is not a number from 0 to 4095: " LIMIT
	    "\n");
	ck_assert(!has_server(MOST));
	ck_assert_str_eq(ask("server 7 remove"), "");
	ck_assert_str_eq(ask("server add 10.1.0.2:80"), "7\n");
	pen_down(&pen);
}
END_TEST

START_TEST(command_line)
{
	const char *said;

	endpoint_new(&front, ENDPOINT_UNIX);
	pen_expect_failure("server: \"4096\" is not a number from 0 to 4095: "
			   LIMIT "\n",
	    "-f", "-O", "server 4096 address 10.0.0.1", front.text,
	    "10.0.0.1:80", NULL);
	said = run_program(SOON, "sh", "-c",
	    text("%s -f %s $(seq -f 10.0.0.1:%%g 1 %d) 2>&1 || true",
		getenv("PEN"), front.text, MOST + 1),
	    NULL);
	ck_assert_msg(strstr(said, LIMIT "\n") != NULL, "%.300s", said);
}
END_TEST

/* DNS answers with more addresses than there are numbers: at the start, and
 * later, when the name keeps those that it had. */
START_TEST(name)
{
	static struct names_fixture fixture;
	const char *conf, *error;

	names_fixture_begin(&fixture);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.2", NULL);
	conf = write_config("server add web.test*:80", MOST - 1);
	error = text("%s:1: server \"web.test*\" has more addresses than "
		     "numbers are free: " LIMIT,
	    conf);
	pen_expect_failure(text("%s\n", error), "-f", "--resolver",
	    fixture.names.text, "-F", conf, fixture.front.text, NULL);
	write_config("server add web.test*:80", MOST - 2);
	pen_up(&fixture.pen, &fixture.front, "-C", fixture.ctl.text,
	    "--resolver", fixture.names.text, "--resolve-interval", "0.05",
	    "-F", conf, fixture.front.text, NULL);
	nameserver_set(&fixture.names, NAME, "127.0.0.1", "127.0.0.2",
	    "127.0.0.3", NULL);
	WAIT_FOR(names_fixture_said(&fixture, LIMIT) > 0, SOON);
	ck_assert_int_gt(names_fixture_said(&fixture,
			     "addresses of names not changed error="),
	    0);
	ck_assert_str_eq(
	    endpoint_ask(&fixture.ctl, "server 127.0.0.2:80 up\n"), "");
	names_fixture_end(&fixture);
}
END_TEST

SUITE(test_server_limit)
{
	Suite *s = suite_create("server_limit");

	SUITE_ADD(s, file, 60);
	SUITE_ADD(s, command, 60);
	SUITE_ADD(s, command_line, 60);
	SUITE_ADD(s, name, 120);
	return s;
}
