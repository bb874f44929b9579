/* test_systemd.c: pen as a service of systemd: sockets that were opened for it,
 * and what it tells about itself. The test plays systemd. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/manager.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct manager manager;
static struct pen pen;
static const char *const *env;

static void
prepare(void)
{
	static const char *list[] = { "NOTIFY_SOCKET", NULL, NULL };

	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	manager_begin(&manager, false);
	manager_read(&manager);
	list[1] = manager.name;
	env = list;
}

static void
finish(void)
{
	manager_end(&manager);
	backend_stop(&back);
}

static bool
is_ready(void)
{
	ck_assert_msg(!child_has_ended(&pen.child), "pen ended with %d: %s",
	    pen.child.status, child_err(&pen.child));
	return manager_has_heard(&manager, "READY=1\n");
}

static void
up(const int *fds, int count, const char *front, const char *ctl)
{
	struct child_gifts gifts = { .fds = fds, .count = count, .env = env };

	manager_forget(&manager);
	pen_start_given(&pen, &gifts, "-f", "-r", "-C", ctl, front,
	    back.at.text, NULL);
	WAIT_FOR(is_ready(), 60000);
}

static void
down(void)
{
	pen_down(&pen);
	ck_assert(manager_has_heard(&manager, "|STOPPING=1\n"));
}

/* ---- sockets ---- */

/* Clients that come while nobody serves wait for who does: the socket is the
 * one that was passed. The files stay systemd's. */
START_TEST(sockets_outlive_pen)
{
	struct endpoint front, ctl;
	int fds[2], waiting, i;

	if (!endpoint_has_kind((enum endpoint_kind)_i))
		return;
	prepare();
	endpoint_new(&front, (enum endpoint_kind)_i);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	fds[0] = endpoint_listen(&front, 16);
	fds[1] = endpoint_listen(&ctl, 16);
	for (i = 0; i < 2; i++) {
		waiting = endpoint_connect(&front);
		up(fds, 2, front.text, ctl.text);
		ck_assert_str_eq(endpoint_recv_all(waiting), "served");
		close(waiting);
		ck_assert_str_eq(endpoint_hear(&front), "served");
		ck_assert_str_eq(endpoint_ask(&ctl, "pid\n"),
		    text("%ld\n", (long)pen.child.pid));
		down();
		if (front.port == 0 && (enum endpoint_kind)_i == ENDPOINT_UNIX)
			ck_assert_int_eq(access(front.text, F_OK), 0);
		ck_assert_int_eq(access(ctl.text, F_OK), 0);
	}
	pen_expect_quiet(&pen);
	close(fds[0]);
	close(fds[1]);
	finish();
}
END_TEST

START_TEST(datagram_sockets)
{
	struct child_gifts gifts = { .count = 1 };
	struct udp_server server;
	struct endpoint front;
	char answer[16];
	int fd, client;

	prepare();
	udp_server_start(&server, ENDPOINT_TCP4, "one ");
	udp_endpoint(&front, ENDPOINT_TCP4);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&front.addr, front.len), 0);
	gifts.fds = &fd;
	gifts.env = env;
	client = udp_client(&front);
	endpoint_send(client, "early", 5);
	pen_start_given(
	    &pen, &gifts, "-f", "-U", front.text, server.at.text, NULL);
	WAIT_FOR(is_ready(), 60000);
	WAIT_FOR(atomic_load(&server.received) == 1, 10000);
	endpoint_recv(client, answer, strlen("one early"));
	ck_assert_mem_eq(answer, "one early", strlen("one early"));
	ck_assert_str_eq(udp_ask(client, "late", 10000), "one late");
	pen_down(&pen);
	pen_expect_quiet(&pen);
	close(client);
	close(fd);
	udp_server_stop(&server);
	finish();
}
END_TEST

/* It is said, and closed: a client is refused rather than left waiting. */
START_TEST(what_matches_nothing)
{
	struct endpoint front, ctl, other;
	int fds[3], i;

	prepare();
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	fds[0] = endpoint_listen(&other, 16);
	fds[1] = endpoint_listen(&front, 16);
	fds[2] = open("/dev/null", O_RDONLY);
	up(fds, 3, front.text, ctl.text);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	ck_assert(child_has_said(&pen.child,
	    text("inherited socket closed address=%s kind=stream "
		 "error=\"pen has no such listening address\"",
		other.text)));
	ck_assert(child_has_said(
	    &pen.child, "inherited descriptor closed fd=5 name= error="));
	ck_assert_int_eq(endpoint_try_connect(&other), -1);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	down();
	finish();
}
END_TEST

/* ---- what it tells ---- */

START_TEST(reload_is_told)
{
	const char *conf = scratch("pen.conf");
	struct child_gifts gifts = { .count = 0 };
	struct endpoint front;

	prepare();
	gifts.env = env;
	endpoint_new(&front, ENDPOINT_TCP4);
	write_file(conf,
	    text("listen %s\nserver add %s\n", front.text, back.at.text));
	pen_start_given(&pen, &gifts, "-f", "-F", conf, NULL);
	WAIT_FOR(is_ready(), 60000);
	ck_assert(manager_has_heard(&manager, "STATUS=serving, 0 sessions"));
	manager_forget(&manager);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), 10000);
	ck_assert(manager_has_heard(&manager, "|RELOADING=1\nMONOTONIC_USEC="));
	/* what is refused is over, too */
	write_file(conf, "nonsense\n");
	manager_forget(&manager);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), 10000);
	ck_assert(child_has_said(&pen.child, "configuration not reloaded"));
	down();
	finish();
}
END_TEST

/* Nothing to reload is soon done. A process that does not run tells nothing. */
START_TEST(watchdog)
{
	struct child_gifts gifts = { .count = 0 };
	const char *list[] = { "NOTIFY_SOCKET", NULL, "WATCHDOG_USEC", "50000",
		NULL };
	struct endpoint front;
	int n;

	prepare();
	list[1] = manager.name;
	gifts.env = list;
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_start_given(
	    &pen, &gifts, "-f", "-r", front.text, back.at.text, NULL);
	WAIT_FOR(is_ready(), 60000);
	WAIT_FOR(manager_count(&manager, "|WATCHDOG=1\n") >= 3, 10000);
	manager_forget(&manager);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), 10000);
	pen_freeze(&pen);
	WAIT_FOR(strncmp(child_status_line(pen.child.pid, "State"), "T", 1) ==
		0, 10000);
	n = manager_count(&manager, "|WATCHDOG=1\n");
	poll(NULL, 0, 200);
	ck_assert_int_eq(manager_count(&manager, "|WATCHDOG=1\n"), n);
	pen_thaw(&pen);
	WAIT_FOR(manager_count(&manager, "|WATCHDOG=1\n") > n, 10000);
	down();
	finish();
}
END_TEST

/* In the background the command ends when the service is ready, and it is the
 * child that tells. */
START_TEST(background)
{
	struct child_gifts gifts = { .count = 1 };
	struct endpoint front;
	int fd;

	prepare();
	endpoint_new(&front, ENDPOINT_TCP4);
	fd = endpoint_listen(&front, 16);
	gifts.fds = &fd;
	gifts.env = env;
	pen_start_given(&pen, &gifts, "-p", scratch("pid"), "-r", front.text,
	    back.at.text, NULL);
	ck_assert_int_eq(child_wait(&pen.child, 60000), 0);
	WAIT_FOR(manager_has_heard(&manager, "|READY=1\n"), 10000);
	ck_assert_str_eq(contents(scratch("pid")),
	    text("%ld\n", (long)manager.sender));
	ck_assert_str_eq(endpoint_hear(&front), "served");
	ck_assert_int_eq(kill(manager.sender, SIGTERM), 0);
	WAIT_FOR(manager_has_heard(&manager, "|STOPPING=1\n"), 10000);
	close(fd);
	finish();
}
END_TEST

/* After an upgrade the manager is told who the service is; the sockets that it
 * passed stay its own. */
START_TEST(upgrade)
{
	const char *list[] = { "NOTIFY_SOCKET", NULL, "WATCHDOG_USEC", "100000",
		NULL };
	const char *program = upgrading_install();
	struct endpoint front, ctl;
	pid_t new;
	int fds[2];

	NEED_UPGRADES(program);
	prepare();
	list[1] = manager.name;
	env = list;
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	fds[0] = endpoint_listen(&front, 16);
	fds[1] = endpoint_listen(&ctl, 16);
	up(fds, 2, front.text, ctl.text);
	manager_forget(&manager);
	new = upgrading_go(&ctl, pen.child.pid);
	WAIT_FOR(manager_has_heard(
		     &manager, text("|MAINPID=%ld\n", (long)new)),
	    10000);
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	WAIT_FOR(manager_has_heard(&manager, "READY=1\n"), 10000);
	ck_assert(!manager_has_heard(&manager, "STOPPING"));
	manager_forget(&manager);
	WAIT_FOR(manager_count(&manager, "WATCHDOG=1\n") >= 2, 10000);
	ck_assert_int_eq(manager.sender, new);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	upgrading_end(new);
	ck_assert(manager_has_heard(&manager, "STOPPING=1\n"));
	ck_assert_int_eq(access(front.text, F_OK), 0);
	close(fds[0]);
	close(fds[1]);
	finish();
}
END_TEST

/* ---- the examples ---- */

/* Copies an example with the path of this pen in it. */
static void
install(const char *name)
{
	const char *top = getenv("SRCDIR"), *pen_path = getenv("PEN"), *at;
	const char *unit = contents(
	    text("%s/examples/%s", top != NULL ? top : "..", name));
	char absolute[4096], *copy;
	size_t room;

	ck_assert_ptr_nonnull(
	    realpath(pen_path != NULL ? pen_path : "./pen", absolute));
	ck_assert_str_ne(unit, "");
	room = strlen(unit) + 4 * sizeof(absolute);
	copy = calloc(1, room);
	while ((at = strstr(unit, "/usr/local/bin/pen")) != NULL) {
		snprintf(copy + strlen(copy), room - strlen(copy), "%.*s%s",
		    (int)(at - unit), unit, absolute);
		unit = at + strlen("/usr/local/bin/pen");
	}
	snprintf(copy + strlen(copy), room - strlen(copy), "%s", unit);
	write_file(scratch(name), copy);
	free(copy);
}

static const char *const units[] = { "pen.service", "pen@.service",
	"pen.socket" };

START_TEST(examples_are_right)
{
	const char *argv[] = { "systemd-analyze", "verify", "--man=no", NULL,
		NULL, NULL, NULL };
	struct child c;
	int i;

	NEED_PROGRAM("systemd-analyze");
	for (i = 0; i < 3; i++) {
		install(units[i]);
		argv[3 + i] = scratch(units[i]);
	}
	child_start(&c, argv);
	ck_assert_msg(child_wait(&c, 60000) == 0, "exit %d: %s", c.status,
	    child_err(&c));
	ck_assert_msg(
	    strstr(child_err(&c), "/pen") == NULL, "%s", child_err(&c));
}
END_TEST

/* systemd's own figure: 10 is no protection at all. */
START_TEST(examples_are_hardened)
{
	const char *argv[] = { "systemd-analyze", "security", "--offline=true",
		"--no-pager", "--threshold=15", NULL, NULL };
	const char *out, *end;
	struct child c;

	NEED_PROGRAM("systemd-analyze");
	install(units[_i]);
	argv[5] = scratch(units[_i]);
	child_start(&c, argv);
	child_wait(&c, 60000);
	if (strstr(child_err(&c), "--offline") != NULL)
		SKIP("this systemd-analyze reads no units that are not loaded");
	out = child_out(&c);
	end = strstr(out, "Overall exposure level");
	ck_assert_msg(c.status == 0, "exit %d: %s: %.80s", c.status, units[_i],
	    end != NULL ? end : child_err(&c));
}
END_TEST

START_TEST(example_makes_the_user)
{
	const char *top = getenv("SRCDIR");
	const char *argv[] = { "systemd-sysusers", NULL, NULL, NULL };
	const char *users = scratch("etc/passwd");
	struct child c;

	NEED_PROGRAM("systemd-sysusers");
	mkdir(scratch("etc"), 0755);
	argv[1] = text("--root=%s", scratch("."));
	argv[2] = realpath(text("%s/examples/pen.sysusers",
			       top != NULL ? top : ".."),
	    NULL);
	child_start(&c, argv);
	ck_assert_msg(child_wait(&c, 60000) == 0, "exit %d: %s", c.status,
	    child_err(&c));
	ck_assert_msg(strstr(contents(users), "pen:x:") != NULL, "%s: %s",
	    contents(users), child_err(&c));
	free((void *)(uintptr_t)argv[2]);
}
END_TEST

SUITE(test_systemd)
{
	Suite *s = suite_create("systemd");
	TCase *c = tcase_create("sockets_outlive_pen");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, sockets_outlive_pen, 0, ENDPOINT_KINDS);
	suite_add_tcase(s, c);
	SUITE_ADD(s, datagram_sockets, 60);
	SUITE_ADD(s, what_matches_nothing, 60);
	SUITE_ADD(s, reload_is_told, 60);
	SUITE_ADD(s, watchdog, 60);
	SUITE_ADD(s, background, 60);
	SUITE_ADD(s, upgrade, 60);
	SUITE_ADD(s, examples_are_right, 60);
	c = tcase_create("examples_are_hardened");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, examples_are_hardened, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, example_makes_the_user, 60);
	return s;
}
