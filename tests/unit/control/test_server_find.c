/* test_server_find.c: servers named by number, by host, by path and by address;
 * and how long that takes with many. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "control/language/command.h"
#include "control/pen.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;

static void
takes(const char *line)
{
	char answer[1024];

	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
}

static void
refuses(const char *line, const char *why)
{
	char answer[1024];

	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == -1,
	    "%s: taken", line);
	ck_assert_str_eq(e.text, why);
}

static void
begin(void)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(
	    spec_parse_listen(&pen->plan->listen, "10.0.0.99:8080",
		RESOLVE_NAMES, &e),
	    0);
	takes("server 0 address 10.0.0.1; server 1 address 10.0.0.2 port 81");
	takes("server 2 address 10.0.0.2 port 82; server 3 address ::1");
	takes("server 4 address /run/web.sock; server 5 address localhost");
}

/* `line` gives exactly this server the weight 7. */
static void
means(const char *word, unsigned number)
{
	unsigned i;

	takes(text("server %s weight 7", word));
	for (i = 0; i < pool_count(pen->service->pool); i++)
		ck_assert_uint_eq(
		    pool_server(pen->service->pool, i)->set.weight,
		    i == number ? 7 : 0);
	takes("server all weight 0");
}

START_TEST(by_whatever_is_known)
{
	begin();
	means("1", 1);
	means("10.0.0.1", 0);
	means("10.0.0.1:8080", 0);
	means("10.0.0.2:82", 2);
	means("::1", 3);
	means("0:0::1", 3);
	means("[::1]", 3);
	means("[::1]:8080", 3);
	means("/run/web.sock", 4);
	means("localhost", 5);
	means("LocalHost:8080", 5);
	/* the address that the name has */
	means("127.0.0.1", 5);
	pen_free(pen);
}
END_TEST

START_TEST(not_one)
{
	begin();
	refuses("server 10.0.0.2 drain",
	    "server: \"10.0.0.2\" matches several servers: 1 (10.0.0.2:81), 2 "
	    "(10.0.0.2:82); use a number");
	refuses("server loaclhost drain",
	    "server: there is no server \"loaclhost\" (did you mean "
	    "localhost?)");
	refuses("server 10.0.0.1:81 drain",
	    "server: there is no server \"10.0.0.1:81\" (did you mean "
	    "10.0.0.1?)");
	refuses("server backend drain",
	    "server: there is no server \"backend\" (\"server add backend\" "
	    "adds it)");
	refuses("server 11 drain",
	    "server: there is no server 11 (the last is 5; \"server 11 "
	    "address HOST\" adds it)");
	refuses("server 4096 drain",
	    "server: \"4096\" is not a number from 0 to 4095: a service has "
	    "at most 4096 servers");
	refuses("server [::1 drain", "server: \"[::1\" is not a server");
	takes("server 5 remove; server 4 remove");
	refuses("server 5 drain",
	    "server: there is no server 5 (the last is 3; \"server 5 address "
	    "HOST\" adds it)");
	pen_free(pen);
}
END_TEST

/* Four are listed. */
START_TEST(too_many)
{
	static const char host[] = "2001:db8:1111:2222:3333:4444:5555:6666";
	const char *list = "";
	int i;

	begin();
	for (i = 0; i < 5; i++) {
		takes(text("server add [%s]:%d", host, 10000 + i));
		if (i < 4)
			list = text("%s%s%d ([%s]:%d)", list,
			    i > 0 ? ", " : "", 6 + i, host, 10000 + i);
	}
	refuses(text("server %s drain", host),
	    text("server: \"%s\" matches several servers: %s ..; use a number",
		host, list));
	pen_free(pen);
}
END_TEST

/* Servers are found as they are now. */
START_TEST(after_changes)
{
	begin();
	takes("server 0 address 10.0.0.9");
	means("10.0.0.9", 0);
	refuses("server 10.0.0.1 drain",
	    "server: there is no server \"10.0.0.1\" (did you mean "
	    "10.0.0.9?)");
	takes("server 10.0.0.2:81 remove");
	means("10.0.0.2", 2);
	takes("server 1 address /run/web.sock");
	refuses("server /run/web.sock drain",
	    "server: \"/run/web.sock\" matches several servers: 1 "
	    "(/run/web.sock), 4 (/run/web.sock); use a number");
	pen_free(pen);
}
END_TEST

/* In a file a line finds the servers of the lines before it. */
START_TEST(in_a_file)
{
	const char *path;

	begin();
	path = scratch("servers.conf");
	write_file(
	    path, "server add 10.0.7.1:80\nserver 10.0.7.1 weight 3 drain\n");
	takes(text("include %s", path));
	ck_assert_str_eq(plan_server(pen->plan, 6)->host, "10.0.7.1");
	ck_assert_uint_eq(plan_server(pen->plan, 6)->set.weight, 3);
	write_file(path, "server 10.0.7.2 drain\nserver add 10.0.7.2:80\n");
	refuses(text("include %s", path),
	    text("include: %s:1: server: there is no server \"10.0.7.2\" (did "
		 "you mean 10.0.0.2?)",
		path));
	pen_free(pen);
}
END_TEST

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A walk over all of them, printed, and judged by a wide bound. */
START_TEST(among_many)
{
	long n = suite_amount(SERVERS_MAX, 2000), i;
	double best = 1e9, us;
	const char *path;
	FILE *f;

	begin();
	path = scratch("many.conf");
	f = fopen(path, "w");
	for (i = 100; i < n; i++)
		fprintf(f, "server %ld address 10.1.%ld.%ld port 80\n", i,
		    i / 250, i % 250);
	fclose(f);
	takes(text("include %s", path));
	for (i = 0; i < 20; i++) {
		us = now_us();
		takes(text("server 10.1.%ld.%ld weight %ld", (n - 1) / 250,
		    (n - 1) % 250, i));
		us = now_us() - us;
		best = us < best ? us : best;
	}
	printf("a server among %ld by address: %.0f us\n", n, best);
	ck_assert(best < 50000); /* as in valgrind */
	pen_free(pen);
}
END_TEST

SUITE(test_server_find)
{
	Suite *s = suite_create("server_find");

	SUITE_ADD(s, by_whatever_is_known, 10);
	SUITE_ADD(s, not_one, 10);
	SUITE_ADD(s, too_many, 10);
	SUITE_ADD(s, after_changes, 10);
	SUITE_ADD(s, in_a_file, 10);
	SUITE_ADD(s, among_many, 60);
	return s;
}
