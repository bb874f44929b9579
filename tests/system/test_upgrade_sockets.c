/* test_upgrade_sockets.c: the listening sockets of an upgrade, their files and
 * the clients in their backlogs. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/upgrading.h"
#include "support/wait.h"

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *program, *conf;

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
}

/* The one service listens on `listen`; `first` and `last` are lines around. */
static void
configure(const char *first, const char *listen, const char *last)
{
	write_file(conf,
	    text("%scontrol %s\nservice a\nlisten %s\nserver add %s\n%s", first,
		ctl.text, listen, back.at.text, last));
}

static void
up(void)
{
	pen_up(&pen, &front, "-F", conf, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 10000);
}

static void
end(pid_t pid)
{
	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(pid);
	backend_stop(&back);
}

/* ---- files ---- */

static void
refuses(const char *first, const char *last, const char *why)
{
	const char *said;

	configure(first, front.text, last);
	said = endpoint_ask(&ctl, "upgrade\n");
	ck_assert_msg(strstr(said, why) != NULL, "%s", said);
	ck_assert_str_eq(endpoint_ask(&front, "hello"), "hello");
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "pid\n"), text("%d\n", (int)pen.child.pid));
}

/* They are the old process's while it serves. */
START_TEST(failed_one_leaves_files)
{
	const char *other = text("service b\nserver add %s\n", "127.0.0.1:9");

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	configure("", front.text, "");
	up();
	refuses("", text("%slisten %s\n", other, back.at.text),
	    "address already in use");
	refuses("",
	    text("%slisten %s\ncheck exec %s\n", other, scratch("b"),
		scratch("none")),
	    "service b: ");
	refuses(text("control %s/sub/ctl\n", scratch("none")), "",
	    "No such file or directory");
	pen_down(&pen);
	ck_assert_int_ne(access(front.text, F_OK), 0);
	ck_assert_int_ne(access(ctl.text, F_OK), 0);
	backend_stop(&back);
}
END_TEST

/* One that another program has put there is not pen's to remove. */
START_TEST(file_of_another_program_stays)
{
	pid_t pid;
	int fd;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	configure("", front.text, "");
	up();
	ck_assert_int_eq(unlink(front.text), 0);
	fd = endpoint_listen(&front, 1);
	pid = upgrading_go(&ctl, pen.child.pid);
	end(pid);
	ck_assert_int_eq(access(front.text, F_OK), 0);
	ck_assert_int_ne(access(ctl.text, F_OK), 0);
	close(fd);
}
END_TEST

/* A cleaner of /run has removed it: nobody can connect, which was not said. */
START_TEST(removed_file_is_reported)
{
	const char *said = "socket file was removed, no client can connect "
			   "until pen is restarted file=";

	prepare();
	configure("", front.text, "");
	up();
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	ck_assert(!child_has_said(&pen.child, said));
	ck_assert_int_eq(unlink(front.text), 0);
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	WAIT_FOR(child_has_said(&pen.child, text("%s%s", said, front.text)),
	    5000);
	ck_assert(!child_has_said(&pen.child, text("%s%s", said, ctl.text)));
	ck_assert_int_eq(unlink(ctl.text), 0);
	kill(pen.child.pid, SIGHUP);
	WAIT_FOR(
	    child_has_said(&pen.child, text("%s%s", said, ctl.text)), 5000);
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

START_TEST(files_have_the_new_mode)
{
	pid_t pid;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	configure("control_mode 0666\n", front.text, "listen_mode 0666\n");
	up();
	ck_assert_uint_eq(endpoint_mode(&front), 0666);
	configure("control_mode 0600\n", front.text, "listen_mode 0640\n");
	pid = upgrading_go(&ctl, pen.child.pid);
	ck_assert_uint_eq(endpoint_mode(&front), 0640);
	ck_assert_uint_eq(endpoint_mode(&ctl), 0600);
	end(pid);
}
END_TEST

/* ---- sockets that the new configuration has not ---- */

/* Clients in its backlog are the old process's, and so is the file. */
START_TEST(address_is_removed)
{
	enum { CLIENTS = 5 };
	struct endpoint gone;
	int fd[CLIENTS], i;
	char word;
	pid_t pid;

	NEEDS_ONE_WORKER("clients in backlogs of workers are not served");
	program = upgrading_install();
	NEED_UPGRADES(program);
	if (!endpoint_has_kind((enum endpoint_kind)_i))
		return;
	prepare();
	endpoint_new(&gone, (enum endpoint_kind)_i);
	configure("", text("%s,%s", front.text, gone.text), "conn_max 2\n");
	up();
	for (i = 0; i < CLIENTS; i++) {
		fd[i] = endpoint_connect(&gone);
		endpoint_send(fd[i], "x", 1);
	}
	configure("", front.text, "conn_max 2\n");
	pid = upgrading_go(&ctl, pen.child.pid);
	for (i = 0; i < CLIENTS; i++) {
		endpoint_recv(fd[i], &word, 1);
		close(fd[i]);
	}
	ck_assert_int_lt(endpoint_try_connect(&gone), 0);
	end(pid);
	if (_i == ENDPOINT_UNIX)
		ck_assert_int_ne(access(gone.text, F_OK), 0);
}
END_TEST

SUITE(test_upgrade_sockets)
{
	Suite *s = suite_create("upgrade_sockets");
	TCase *c = tcase_create("address_is_removed");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, address_is_removed, 0, ENDPOINT_KINDS);
	suite_add_tcase(s, c);
	SUITE_ADD(s, failed_one_leaves_files, 60);
	SUITE_ADD(s, files_have_the_new_mode, 60);
	SUITE_ADD(s, file_of_another_program_stays, 60);
	SUITE_ADD(s, removed_file_is_reported, 30);
	return s;
}
