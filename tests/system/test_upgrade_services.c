/* test_upgrade_services.c: an upgrade of a process with several services. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/visitors.h"
#include "support/wait.h"

enum { CLIENTS = 4, SERVERS = 3 };

static struct backend web, mail[SERVERS];
static struct endpoint front, mail_front, ctl;
static struct pen pen;
static const char *program, *conf;

/* Answers each byte with the one that is its name. */
static void
serve(struct backend *b, int fd)
{
	char word;

	while (recv(fd, &word, 1, 0) == 1)
		if (!backend_send(fd, b->arg, 1))
			return;
}

static void
prepare(void)
{
	static const char *const names[SERVERS] = { "A", "B", "C" };
	int i;

	backend_start(&web, ENDPOINT_TCP4, serve, "w");
	for (i = 0; i < SERVERS; i++)
		backend_start(&mail[i], ENDPOINT_TCP4, serve, names[i]);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&mail_front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	conf = scratch("pen.conf");
}

static void
end(pid_t new)
{
	int i;

	ck_assert_int_eq(child_wait(&pen.child, 20000), 0);
	upgrading_end(new);
	backend_stop(&web);
	for (i = 0; i < SERVERS; i++)
		backend_stop(&mail[i]);
}

/* The servers of the second service in that order. */
static void
write_conf(int a, int b, int c)
{
	write_file(conf,
	    text("listen %s\nserver add %s\nservice mail\nlisten %s\n"
		 "server add %s\nserver add %s\nserver add %s\n",
		front.text, web.at.text, mail_front.text, mail[a].at.text,
		mail[b].at.text, mail[c].at.text));
}

/* ---- clients ---- */

static char had; /* the server that all clients of the second service have */

/* Returns the name of the server, or 0. */
static char
ask(const struct endpoint *to)
{
	int fd = endpoint_try_connect(to);
	char word = 'x';
	bool good;

	if (fd < 0)
		return 0;
	good =
	    send(fd, &word, 1, MSG_NOSIGNAL) == 1 && recv(fd, &word, 1, 0) == 1;
	close(fd);
	return good ? word : '\0';
}

/* One half is each service's. */
static bool
has_its_server(int visitor, int nth)
{
	(void)nth;
	return visitor % 2 == 0 ? ask(&front) == 'w' : ask(&mail_front) == had;
}

static void
let_them_come(void)
{
	visitors_await(4 * CLIENTS);
}

/* ---- upgrades ---- */

/* Nobody is lost, clients of both services stay with their servers, and marks
 * of the operator stay on theirs. */
START_TEST(under_load)
{
	const char *said;
	pid_t pid;
	int i;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	write_conf(0, 1, 2);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	pid = pen.child.pid;
	had = ask(&mail_front);
	ck_assert_ptr_nonnull(strchr("ABC", had));
	i = had == 'B' ? 2 : 1;
	ck_assert_str_eq(
	    endpoint_ask(&ctl, text("service mail server %d drain\n", i)), "");
	visitors_begin(2 * CLIENTS, has_its_server);
	for (i = 0; i < (int)suite_amount(6, 2); i++) {
		let_them_come();
		/* they have other numbers now */
		write_conf(i % 2 == 0 ? 2 : 0, 1, i % 2 == 0 ? 0 : 2);
		pid = upgrading_go(&ctl, pid);
		let_them_come();
		said = endpoint_ask(&ctl, "service mail servers json\n");
		ck_assert_msg(
		    count_in(said, "\"state\":\"drain\"") == 1, "%s", said);
	}
	(void)visitors_end();
	said = endpoint_ask(&ctl, "servers json\n");
	ck_assert_msg(strstr(said, "\"state\":\"drain\"") == NULL, "%s", said);
	/* the mark stays when something else changes */
	ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
	said = endpoint_ask(&ctl, "service mail servers json\n");
	ck_assert_msg(count_in(said, "\"state\":\"drain\"") == 1, "%s", said);
	end(pid);
}
END_TEST

/* A service is renamed: nothing is known of it, and the other one is not taken
 * for it. */
START_TEST(another_name)
{
	const char *said;
	pid_t pid;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	write_conf(0, 1, 2);
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "service mail server 1 drain\n"), "");
	write_file(conf,
	    text("listen %s\nserver add %s\nservice post\nlisten %s\n"
		 "server add %s\n",
		front.text, mail[1].at.text, mail_front.text, mail[1].at.text));
	pid = upgrading_go(&ctl, pen.child.pid);
	said = endpoint_ask(&ctl, "servers json; service post servers json\n");
	ck_assert_msg(count_in(said, "\"state\":\"up\"") == 2, "%s", said);
	ck_assert_int_eq(ask(&front), 'B');
	ck_assert_int_eq(ask(&mail_front), 'B');
	ck_assert_ptr_null(
	    strstr(child_err(&pen.child), "inherited socket closed"));
	end(pid);
}
END_TEST

/* One that was removed goes on in the old process until its last client has
 * gone, and the new process does not hear of it. */
START_TEST(one_that_leaves)
{
	struct udp_server server;
	struct endpoint at;
	const char *file;
	int client;
	pid_t pid;

	program = upgrading_install();
	NEED_UPGRADES(program);
	prepare();
	udp_server_start(&server, ENDPOINT_TCP4, "u");
	udp_endpoint(&at, ENDPOINT_TCP4);
	file = text("listen %s\nserver add %s\n", front.text, web.at.text);
	write_file(conf,
	    text("%sservice ask\nudp\nudp_timeout 10\nlisten %s\n"
		 "server add %s\n",
		file, at.text, server.at.text));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	client = udp_client(&at);
	ck_assert_str_eq(udp_ask(client, "before", 10000), "ubefore");
	ck_assert_str_eq(endpoint_ask(&ctl, "service ask remove\n"), "");
	ck_assert_str_eq(udp_ask(client, "leaving", 10000), "uleaving");
	/* also after an upgrade that failed at the switch */
	upgrading_replace(program,
	    "#!/bin/sh\nprintf P >&3\nhead -c 500 <&3 >/dev/null\n"
	    "printf L >&3\nexit 1\n");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "upgrade\n"), "error: upgrade: "));
	ck_assert_str_eq(udp_ask(client, "failed", 10000), "ufailed");
	upgrading_replace(program, NULL);
	write_file(conf, file);
	pid = upgrading_go(&ctl, pen.child.pid);
	ck_assert_str_eq(udp_ask(client, "after", 10000), "uafter");
	ck_assert(!child_has_ended(&pen.child));
	ck_assert_ptr_null(
	    strstr(child_err(&pen.child), "inherited socket closed"));
	ck_assert_int_eq(ask(&front), 'w');
	close(client);
	WAIT_FOR(child_has_ended(&pen.child), 40000);
	end(pid);
	udp_server_stop(&server);
}
END_TEST

SUITE(test_upgrade_services)
{
	Suite *s = suite_create("upgrade_services");

	SUITE_ADD(s, under_load, 120);
	SUITE_ADD(s, another_name, 60);
	SUITE_ADD(s, one_that_leaves, 120);
	return s;
}
