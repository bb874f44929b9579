/* test_same_shape.c: side by side with classic Pen in the same situations: the
 * replies that scripts parse have the same shape. Needs Debian's package of Pen
 * 0.34.1. */
#include "config.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/classic.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct twin ours, classic;
static struct backend one;
static struct endpoint dead;

static void
answer(struct backend *b, int fd)
{
	char c[8];

	(void)b;
	if (recv(fd, c, sizeof(c), MSG_WAITALL) == sizeof(c))
		(void)backend_send(fd, "answer", 6);
}

/* With another server that is not there, or the one alone. */
static void
start_both(const char *const options[], bool with_dead)
{
	const char *servers[] = { one.at.text, with_dead ? dead.text : NULL,
		NULL };

	backend_start(&one, ENDPOINT_TCP4, answer, NULL);
	endpoint_new(&dead, ENDPOINT_TCP4);
	twin_start_ours(&ours, options, servers);
	twin_start_classic(&classic, options, servers);
}

static void
stop_both(void)
{
	twin_stop(&ours);
	twin_stop(&classic);
	backend_stop(&one);
}

/* ---- shapes ---- */

/* Each number becomes N. */
static const char *
shape(const char *from)
{
	char *to = strdup(from), *t = to;
	const char *made;

	while (*from != '\0') {
		if (!isdigit((unsigned char)*from)) {
			*t++ = *from++;
			continue;
		}
		*t++ = 'N';
		from += strspn(from, "0123456789");
	}
	*t = '\0';
	made = text("%s", to);
	free(to);
	return made;
}

static bool
is_same(const char *command, bool exact)
{
	const char *line = text("%s\n", command);
	const char *a = endpoint_ask(&ours.ctl, line);
	const char *b = endpoint_ask(&classic.ctl, line);

	return strcmp(exact ? a : shape(a), exact ? b : shape(b)) == 0;
}

/* Counters may lag behind the end of a connection. */
static void
compare(const char *command, bool exact)
{
	long long end = wait_now_ms() + wait_scaled(3000);

	while (!is_same(command, exact)) {
		if (wait_now_ms() > end)
			ck_abort_msg("%s\nours:    %sclassic: %s", command,
			    endpoint_ask(&ours.ctl, text("%s\n", command)),
			    endpoint_ask(&classic.ctl, text("%s\n", command)));
		wait_nap();
	}
}

/* What can be told apart by its words alone, and what must be the same. */
static void
compare_all(void)
{
	static const struct {
		const char *command;
		bool exact;
	} rows[] = {
		{ "servers", true },
		{ "mode", true },
		{ "recent", true },
		{ "recent 300", true },
		{ "connection 0", false },
		{ "conn_max 1000", false },
		{ "clients_max", false },
		{ "blacklist", true },
		{ "timeout", true },
		{ "tracking", true },
		{ "idle_timeout", true },
		{ "idlers", true },
		{ "debug", true },
		{ "client_acl", true },
		{ "control_acl", true },
		{ "pid", false },
		{ "log", true },
		{ "web_stats", true },
		{ "socket 99", true },
		{ "close 1000000", true },
		{ "connection 100000", true },
		{ "pending_max 50", true },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		compare(rows[i].command, rows[i].exact);
	ck_assert_str_eq(
	    endpoint_ask(&ours.ctl, "control\n"), text("%s\n", ours.ctl.text));
	ck_assert_str_eq(endpoint_ask(&classic.ctl, "control\n"),
	    text("%s\n", classic.ctl.text));
	ck_assert_str_eq(
	    endpoint_ask(&ours.ctl, "listen\n"), text("%s\n", ours.front.text));
	ck_assert_str_eq(endpoint_ask(&classic.ctl, "listen\n"),
	    text("%s\n", classic.front.text));
}

static void
emit_both(const char *command)
{
	const char *line = text("%s\n", command);

	ck_assert_str_eq(endpoint_ask(&ours.ctl, line), "");
	ck_assert_str_eq(endpoint_ask(&classic.ctl, line), "");
}

/* A client that leaves its end open: classic Pen may forget the answer else. */
static void
visit(const struct twin *t)
{
	int fd = endpoint_connect(&t->front);

	endpoint_send(fd, "question", 8);
	ck_assert_str_eq(endpoint_recv_all(fd), "answer");
	close(fd);
}

static void
visit_both(void)
{
	visit(&ours);
	visit(&classic);
}

START_TEST(as_time_goes_on)
{
	static const char *const none[] = { NULL };

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(none, false);
	compare_all();
	visit_both();
	compare_all();
	visit_both();
	compare_all();
	emit_both("server 0 max 5 hard 6 weight 2 prio 3");
	compare_all();
	compare("blacklist 7", true);
	compare("timeout 8", true);
	compare("tracking 9", true);
	compare("idle_timeout 600", true);
	compare("debug 1", true);
	compare("debug 0", true);
	compare("client_acl 2", true);
	compare("control_acl 0", true);
#ifdef HAVE_MAXMINDDB
	emit_both("acl 3 permit country SE");
	emit_both("acl 3 deny country us");
#endif
	emit_both("http");
	emit_both("no http");
	if (geteuid() == 0) {
		emit_both("transparent");
		emit_both("no transparent");
	}
	emit_both("acl 3 permit 2001:db8::/32");
	emit_both("no acl 3");
	stop_both();
}
END_TEST

/* A client that may be unlucky: classic Pen breaks some off whose server is not
 * there, and begins its turns with the second server. */
static void
knock(const struct twin *t)
{
	char bytes[16];
	int fd = endpoint_connect(&t->front);

	endpoint_send(fd, "question", 8);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	close(fd);
}

/* The dead server is tried, and left alone for a while. */
START_TEST(blacklisted)
{
	static const char *const turns[] = { "-r", NULL };
	int i;

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(turns, true);
	for (i = 0; i < 3; i++) {
		knock(&ours);
		knock(&classic);
	}
	compare("servers", false);
	compare("mode", true);
	compare("blacklist", true);
	stop_both();
}
END_TEST

START_TEST(modes)
{
	static const char *const commands[] = { "hash", "roundrobin",
		"stubborn", "weight", "prio", "no hash", "no roundrobin",
		"no stubborn", "no weight", "no prio" };
	static const char *const none[] = { NULL };
	size_t i;

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(none, false);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		emit_both(commands[i]);
		compare("mode", true);
	}
	stop_both();
}
END_TEST

/* By the operator, for as long as it says, at once; 0 takes it back. */
START_TEST(taken_out)
{
	static const char *const turns[] = { "-r", NULL };
	struct backend two;
	int i;

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(turns, true);
	backend_start_at(&two, &dead, answer, NULL);
	emit_both("server 0 blacklist 600");
	for (i = 0; i < 4; i++)
		visit_both();
	ck_assert_int_eq(one.accepted, 0);
	ck_assert_int_eq(two.accepted, 8);
	compare("blacklist", true);
	emit_both("server 0 blacklist 0");
	for (i = 0; i < 4; i++)
		visit_both();
	ck_assert_int_eq(one.accepted, 4);
	ck_assert_int_eq(two.accepted, 12);
	emit_both("server 0 blacklist 1");
	WAIT_FOR((visit(&ours), one.accepted == 5), 10000);
	WAIT_FOR((visit(&classic), one.accepted == 6), 10000);
	stop_both();
	backend_stop(&two);
}
END_TEST

/* What classic Pen writes, ours reads. */
START_TEST(its_files)
{
	static const char *const options[] = { "-b", "7", "-t", "4", NULL };
	const char *path = scratch("classic.conf");
	struct child c;

	if (!classic_is_there())
		SKIP("classic Pen 0.34.1 is not installed");
	start_both(options, true);
	emit_both("acl 1 permit 10.0.0.0 255.0.0.0");
	emit_both("server 0 max 5 hard 6");
	write_file(path, "");
	ck_assert_int_eq(chmod(path, 0666), 0);
	(void)endpoint_ask(&classic.ctl, text("write %s\n", path));
	ck_assert_ptr_nonnull(strstr(contents(path), "server 0 "));
	child_start(&c,
	    (const char *[]){
		getenv("PEN"), "--print", "-F", path, ours.front.text, NULL });
	ck_assert_msg(child_wait(&c, 10000) == 0, "%s", child_err(&c));
	ck_assert_ptr_nonnull(strstr(child_out(&c), "\nblacklist 7\n"));
	ck_assert_ptr_nonnull(strstr(child_out(&c), "\ntimeout 4\n"));
	ck_assert_ptr_nonnull(
	    strstr(child_out(&c), "\nacl 1 permit 10.0.0.0 255.0.0.0\n"));
	ck_assert_ptr_nonnull(strstr(child_out(&c),
	    text("server 0 address 127.0.0.1 port %d max 5 hard 6",
		one.at.port)));
	stop_both();
}
END_TEST

SUITE(test_same_shape)
{
	Suite *s = suite_create("same_shape");

	SUITE_ADD(s, as_time_goes_on, 60);
	SUITE_ADD(s, blacklisted, 60);
	SUITE_ADD(s, taken_out, 60);
	SUITE_ADD(s, modes, 60);
	SUITE_ADD(s, its_files, 60);
	return s;
}
