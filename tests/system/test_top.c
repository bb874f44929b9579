/* test_top.c: penctl top and watch: plain lines, and on terminals of three
 * widths, typed at through tmux. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/ctl.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/terminal.h"

static struct backend back[2];
static struct endpoint front[2], ctl[2];
static struct pen pen[2];
static struct child c;

static int
run(const char *const argv[])
{
	child_start(&c, argv);
	return child_wait(&c, 20000);
}
#define PENCTL(...) run((const char *[]){ ctl_client(), __VA_ARGS__, NULL })

/* Two servers behind each of so many pens. */
static void
begin(int pens)
{
	int i;

	unsetenv("PENCTL");
	for (i = 0; i < 2; i++)
		backend_start(&back[i], ENDPOINT_TCP4, backend_echo, NULL);
	for (i = 0; i < pens; i++) {
		endpoint_new(&front[i], ENDPOINT_TCP4);
		endpoint_new(&ctl[i], ENDPOINT_UNIX);
		pen_up(&pen[i], &front[i], "-r", "-C", ctl[i].text,
		    front[i].text, back[0].at.text, back[1].at.text, NULL);
		WAIT_FOR(endpoint_is_listening(&ctl[i]), 10000);
	}
}

static void
end(int pens)
{
	int i;

	for (i = 0; i < pens; i++)
		pen_down(&pen[i]);
	for (i = 0; i < 2; i++)
		backend_stop(&back[i]);
}

/* ---- plain lines ---- */

START_TEST(top_in_a_pipe)
{
	begin(1);
	ck_assert_int_eq(PENCTL("-n", "2", "-i", "0.1", ctl[0].text, "top"), 0);
	ck_assert_int_eq(count_in(child_out(&c), "2 of 2 up, 0 sessions"), 2);
	ck_assert_int_eq(count_in(child_out(&c), back[0].at.text), 2);
	ck_assert_int_eq(count_in(child_out(&c), "NAME"), 2);
	ck_assert_int_eq(count_in(child_out(&c), "\033"), 0);
	ck_assert_int_eq(PENCTL("/no/such/socket", "top"), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "No such file"));
	ck_assert_int_eq(PENCTL("-i", "0", ctl[0].text, "top"), 2);
	ck_assert_int_eq(PENCTL("-n", "x", ctl[0].text, "top"), 2);
	end(1);
}
END_TEST

/* A server is one line, whichever pen it serves. */
START_TEST(top_of_several_pens)
{
	int fd[3], i;

	begin(2);
	for (i = 0; i < 3; i++) {
		fd[i] = endpoint_connect(&front[i % 2]);
		endpoint_expect_echo(fd[i], "hello");
	}
	ck_assert_str_eq(endpoint_ask(&ctl[1], "server 0 drain\n"), "");
	ck_assert_int_eq(
	    PENCTL("-n", "1", ctl[0].text, "top", ctl[1].text), 0);
	ck_assert_ptr_nonnull(
	    strstr(child_out(&c), "1 of 2 up, 3 sessions"));
	ck_assert_int_eq(count_in(child_out(&c), back[0].at.text), 1);
	ck_assert_int_eq(count_in(child_out(&c), " drain "), 1);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	end(2);
}
END_TEST

/* Another service with server 0. */
static void
add_shop(void)
{
	ck_assert_str_eq(endpoint_ask(&ctl[0], "service add shop\n"), "");
	ck_assert_str_eq(endpoint_ask(&ctl[0],
			     text("service shop server 0 address 127.0.0.1 "
				  "port %d\n",
				 back[0].at.port)),
	    "");
}

/* All services are listed, or the one that is named. */
START_TEST(top_of_several_services)
{
	begin(1);
	add_shop();
	ck_assert_str_eq(
	    endpoint_ask(&ctl[0], "service shop server 0 drain\n"), "");
	ck_assert_int_eq(PENCTL("-n", "1", ctl[0].text, "top"), 0);
	ck_assert_ptr_nonnull(strstr(child_out(&c), "2 of 3 up, 0 sessions"));
	ck_assert_int_eq(count_in(child_out(&c), "default/127.0.0.1"), 2);
	ck_assert_int_eq(count_in(child_out(&c), "shop/127.0.0.1"), 1);
	ck_assert_int_eq(
	    PENCTL("-n", "1", ctl[0].text, "service", "shop", "top"), 0);
	ck_assert_ptr_nonnull(strstr(child_out(&c), "0 of 1 up, 0 sessions"));
	ck_assert_int_eq(
	    PENCTL("-n", "1", ctl[0].text, "service", "none", "top"), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), " of none"));
	end(1);
}
END_TEST

/* A reader that stops, as head(1), is no error; a full disk is. */
static void
expect_ends(const char *command)
{
	const char *run = text(
		       "%s -i 0.1 %s %s", ctl_client(), ctl[0].text, command),
		   *status = scratch("status");

	child_start(&c,
	    (const char *const[]){ "/bin/sh", "-c",
		text("{ %s; echo $? >%s; } | head -n 1", run, status), NULL });
	ck_assert_int_eq(child_wait(&c, 20000), 0);
	ck_assert_str_eq(contents(status), "0\n");
	ck_assert_str_eq(child_err(&c), "");
	if (access("/dev/full", W_OK) < 0)
		return;
	child_start(&c,
	    (const char *const[]){
		"/bin/sh", "-c", text("exec %s >/dev/full", run), NULL });
	ck_assert_int_eq(child_wait(&c, 20000), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "No space"));
}

START_TEST(reader_stops)
{
	const char *args[CHILD_ARGS - 1] = { ctl_client(), NULL, "top" };
	size_t i;

	begin(1);
	expect_ends("top");
	expect_ends("watch servers");
	args[1] = ctl[0].text;
	for (i = 3; i + 1 < sizeof(args) / sizeof(args[0]); i++)
		args[i] = ctl[0].text;
	ck_assert_int_eq(run(args), 2);
	ck_assert_ptr_nonnull(strstr(child_err(&c), "too many addresses"));
	end(1);
}
END_TEST

START_TEST(watch_in_a_pipe)
{
	begin(1);
	ck_assert_int_eq(PENCTL("-n", "3", "-i", "0.1", ctl[0].text, "watch",
			     "blacklist"),
	    0);
	ck_assert_str_eq(child_out(&c), "30\n\n30\n\n30\n");
	ck_assert_int_eq(PENCTL(ctl[0].text, "watch", "bogus"), 1);
	ck_assert_int_eq(PENCTL(ctl[0].text, "watch"), 2);
	ck_assert_int_eq(PENCTL("/no/such/socket", "watch", "mode"), 2);
	end(1);
}
END_TEST

/* ---- terminals ---- */

static const char *tmux;

#define TMUX(...)                                                        \
	run((const char *[]){                                            \
	    "tmux", "-S", tmux, "-f", "/dev/null", __VA_ARGS__, NULL })

/* penctl on a terminal of that width. */
static void
sit_down(const char *name, const char *columns, const char *words)
{
	tmux = scratch(name);
	unsetenv("TMUX");
	ck_assert_int_eq(TMUX("new-session", "-d", "-x", columns, "-y", "10",
			     text("exec '%s' -i 0.2 '%s' %s", ctl_client(),
				 ctl[0].text, words)),
	    0);
}

static bool
shows(const char *what)
{
	return TMUX("capture-pane", "-p") == 0 &&
	    strstr(child_out(&c), what) != NULL;
}
#define SHOWS(what) WAIT_FOR(shows(what), 10000)

static void
type(const char *key)
{
	ck_assert_int_eq(TMUX("send-keys", key), 0);
}

static bool
is_gone(void)
{
	return TMUX("has-session") != 0;
}

static bool
drains(void)
{
	return strstr(endpoint_ask(&ctl[0], "servers long\n"),
		   " state drain ") != NULL;
}

static void
expect_columns(bool middle, bool wide)
{
	ck_assert(shows("STATE       SESSIONS"));
	ck_assert(shows("DOWN/S") == middle);
	ck_assert(shows("REASON") == wide);
}

/* Sorts, filters, pauses. */
static void
expect_keys(void)
{
	type("s");
	type("s");
	type("s");
	SHOWS("sessions");
	type("/");
	SHOWS("filter: _");
	type("nobody");
	SHOWS("filter: nobody_");
	type("Enter");
	WAIT_FOR(!shows("127.0.0.1"), 10000);
	type("/");
	SHOWS("filter: nobody_");
	for (int i = 0; i < 6; i++)
		type("BSpace");
	type("Enter");
	SHOWS("127.0.0.1");
	type("/");
	type("nobody");
	type("Enter");
	WAIT_FOR(!shows("127.0.0.1"), 10000);
	type("Escape");
	SHOWS("127.0.0.1");
	type("/");
	type("nobody");
	WAIT_FOR(!shows("127.0.0.1"), 10000);
	type("Escape");
	SHOWS("127.0.0.1");
	type("p");
	SHOWS("resume");
	type("p");
	SHOWS("pause");
}

/* Only an answer of yes does it. */
static void
expect_drain(void)
{
	type("Down");
	type("d");
	SHOWS("? y or n");
	type("n");
	SHOWS("q quit");
	ck_assert(!drains());
	type("d");
	SHOWS("? y or n");
	type("y");
	WAIT_FOR(drains(), 10000);
	SHOWS(" drain ");
	type("u");
	SHOWS("? y or n");
	type("y");
	WAIT_FOR(!drains(), 10000);
}

START_TEST(top_at_three_widths)
{
	static const char *const widths[] = { "58", "80", "140" };

#ifndef HAVE_NCURSES
	SKIP("built without ncurses");
#endif
	NEED_PROGRAM("tmux");
	begin(1);
	sit_down(text("tmux%d", _i), widths[_i], "top");
	SHOWS("2 of 2 up");
	expect_columns(_i >= 1, _i >= 2);
	expect_keys();
	expect_drain();
	type("q");
	WAIT_FOR(is_gone(), 10000);
	end(1);
}
END_TEST

/* Server 0 of another service is another server. */
START_TEST(top_drains_in_its_service)
{
#ifndef HAVE_NCURSES
	SKIP("built without ncurses");
#endif
	NEED_PROGRAM("tmux");
	begin(1);
	add_shop();
	sit_down("tmux", "80", "top");
	SHOWS("3 of 3 up");
	type("/");
	type("shop");
	type("Enter");
	WAIT_FOR(!shows("default/"), 10000);
	type("d");
	SHOWS("shop/127.0.0.1");
	type("y");
	WAIT_FOR(strstr(endpoint_ask(&ctl[0], "service shop servers long\n"),
		     " state drain ") != NULL,
	    10000);
	ck_assert(!drains());
	type("q");
	WAIT_FOR(is_gone(), 10000);
	end(1);
}
END_TEST

/* Why a pen did not answer is shown until it does. */
START_TEST(top_forgets_what_is_over)
{
#ifndef HAVE_NCURSES
	SKIP("built without ncurses");
#endif
	NEED_PROGRAM("tmux");
	begin(1);
	sit_down("tmux", "140", "top");
	SHOWS("2 of 2 up");
	pen_down(&pen[0]);
	SHOWS(ctl[0].text);
	pen_up(&pen[0], &front[0], "-r", "-C", ctl[0].text, front[0].text,
	    back[0].at.text, back[1].at.text, NULL);
	SHOWS("2 of 2 up");
	SHOWS("q quit");
	type("q");
	WAIT_FOR(is_gone(), 10000);
	end(1);
}
END_TEST

/* It ends with its terminal, also where SIGHUP is ignored, as by nohup(1). */
START_TEST(top_ends_with_its_terminal)
{
	static struct terminal t;

#ifndef HAVE_NCURSES
	SKIP("built without ncurses");
#endif
	begin(1);
	setenv("TERM", "xterm", 1);
	terminal_start(&t,
	    (const char *const[]){ "/bin/sh", "-c",
		text("trap '' HUP; exec '%s' '%s' top", ctl_client(),
		    ctl[0].text),
		NULL });
	WAIT_FOR(terminal_shows(&t, "2 of 2 up"), 10000);
	close(t.fd);
	ck_assert_int_eq(child_wait(&t.child, 10000), 0);
	end(1);
}
END_TEST

/* Lines are cut; the screen has what pen says now. */
START_TEST(watch_on_a_terminal)
{
	NEED_PROGRAM("tmux");
	begin(1);
	sit_down("tmux", "40", "watch servers");
	SHOWS("0 addr 127.0.0.1");
	ck_assert(!shows("weight"));
	ck_assert(!shows("\n2 addr"));
	ck_assert_str_eq(
	    endpoint_ask(&ctl[0], "server 2 address 10.9.8.7\n"), "");
	SHOWS("\n2 addr 10.9.8.7");
	type("C-c");
	WAIT_FOR(is_gone(), 10000);
	end(1);
}
END_TEST

SUITE(test_top)
{
	Suite *s = suite_create("top");
	TCase *t = tcase_create("top_at_three_widths");

	SUITE_ADD(s, top_in_a_pipe, 60);
	SUITE_ADD(s, top_of_several_pens, 60);
	SUITE_ADD(s, top_of_several_services, 60);
	SUITE_ADD(s, top_drains_in_its_service, 60);
	SUITE_ADD(s, top_forgets_what_is_over, 60);
	SUITE_ADD(s, top_ends_with_its_terminal, 60);
	SUITE_ADD(s, reader_stops, 60);
	SUITE_ADD(s, watch_in_a_pipe, 60);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, top_at_three_widths, 0, 3);
	suite_add_tcase(s, t);
	SUITE_ADD(s, watch_on_a_terminal, 60);
	return s;
}
