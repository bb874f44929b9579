/* test_reload_keeps_sessions.c: a reload leaves sessions, counters and servers
 * that stay alone; a bad file changes nothing; under load, a thousand reloads
 * that add, change and remove servers cost no request. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct endpoint front, ctl;
static struct pen pen;
static const char *conf;

static const char *
ask(const char *line)
{
	return endpoint_ask(&ctl, text("%s\n", line));
}

static void
up(void)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(
	    &pen, &front, "-r", "-F", conf, "-C", ctl.text, front.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

START_TEST(reload_keeps_sessions)
{
	struct backend one, two;
	int fd;

	conf = scratch("pen.conf");
	backend_start(&one, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&two, ENDPOINT_TCP4, backend_echo, NULL);
	write_file(conf,
	    text("server add %s\nserver add %s\n", one.at.text, two.at.text));
	up();
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "before");
	/* the first is gone from the file, in which the second comes first
	 * now */
	write_file(conf, text("server add %s\n", two.at.text));
	ck_assert_str_eq(ask("reload"), "");
	endpoint_expect_echo(fd, "removed");
	ck_assert_ptr_nonnull(strstr(ask("servers"),
	    text("1 addr 127.0.0.1 port %d conn 0", two.at.port)));
	ck_assert_ptr_nonnull(strstr(ask("servers"),
	    text("0 addr 127.0.0.1 port %d conn 1", one.at.port)));
	/* half of a bad file would take the second away, too */
	write_file(
	    conf, text("server add %s\nserver 1 weight heavy\n", one.at.text));
	ck_assert_str_eq(ask("reload"),
	    text("error: reload: %s:2: server: \"heavy\" is not a number "
		 "from 0 to 65535\n",
		conf));
	endpoint_expect_echo(fd, "refused");
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(child_has_said(&pen.child, "pen.conf:2"), 5000);
	endpoint_expect_echo(fd, "refused again");
	close(fd);
	WAIT_FOR(strstr(ask("servers"), "0 addr 0.0.0.0 port 0") != NULL, 5000);
	pen_down(&pen);
	backend_stop(&one);
	backend_stop(&two);
}
END_TEST

/* Two servers stay; a third comes, changes and goes. */
static void
write_round(const struct nginx *a, const struct nginx *b, const struct nginx *c,
    int round)
{
	const char *more = "";

	if (round % 3 != 0)
		more = text("server 2 address 127.0.0.1 port %d weight %d\n",
		    c->at.port, round % 7);
	write_file(conf,
	    text("server 0 address 127.0.0.1 port %d\n"
		 "server 1 address 127.0.0.1 port %d max %d\n%s",
		a->at.port, b->at.port, 1000 + round % 2, more));
}

START_TEST(thousand_reloads_under_load)
{
	int rounds = (int)suite_amount(1000, 100), i;
	struct nginx a, b, c;
	struct child wrk;
	const char *said;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("wrk");
	conf = scratch("pen.conf");
	nginx_up(&a, "one");
	nginx_up(&b, "two");
	nginx_up(&c, "three");
	write_round(&a, &b, &c, 0);
	up();
	child_start(&wrk,
	    (const char *[]){ child_find("wrk"), "-t1", "-c100", "-d1h",
		text("http://%s/", front.text), NULL });
	for (i = 1; i <= rounds; i++) {
		write_round(&a, &b, &c, i);
		ck_assert_str_eq(ask("reload"), "");
	}
	ck_assert(!child_has_ended(&wrk));
	child_stop(&wrk, SIGINT);
	said = child_out(&wrk);
	ck_assert_msg(strstr(said, "requests in") != NULL, "%s", said);
	ck_assert_msg(strstr(said, "Socket errors") == NULL &&
		strstr(said, "Non-2xx") == NULL,
	    "%s", said);
	pen_down(&pen);
	nginx_down(&a);
	nginx_down(&b);
	nginx_down(&c);
}
END_TEST

SUITE(test_reload_keeps_sessions)
{
	Suite *s = suite_create("reload_keeps_sessions");

	SUITE_ADD(s, reload_keeps_sessions, 30);
	SUITE_ADD(s, thousand_reloads_under_load, 90);
	return s;
}
