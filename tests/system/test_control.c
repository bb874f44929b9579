/* test_control.c: the control socket and penctl, with silent, slow and rude
 * clients beside. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend server;
static struct endpoint front, ctl;
static struct pen pen;

static void
begin(void)
{
	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
up_with(const char *command)
{
	begin();
	pen_up(&pen, &front, "-r", "-O", command, "-C", ctl.text, front.text,
	    server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
up(const char *option)
{
	begin();
	if (option != NULL)
		pen_up(&pen, &front, "-r", option, "-C", ctl.text, front.text,
		    server.at.text, NULL);
	else
		pen_up(&pen, &front, "-r", "-C", ctl.text, front.text,
		    server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&server);
}

/* One line, one answer, closed by pen. */
static const char *
ask(const char *line)
{
	const char *answer;
	int fd = endpoint_connect(&ctl);

	endpoint_send(fd, line, strlen(line));
	answer = endpoint_recv_all(fd);
	close(fd);
	return answer;
}

START_TEST(one_line_one_answer)
{
	up(NULL);
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	ck_assert_str_eq(ask("blacklist 5\n"), "5\n");
	ck_assert_str_eq(ask("blacklist\r\n"), "5\n");
	ck_assert_str_eq(ask("mode\nblacklist\n"),
	    "no hash roundrobin no stubborn no weight no prio\n");
	ck_assert_str_eq(ask("\n"), "");
	ck_assert_str_eq(ask("# nothing\n"), "");
	ck_assert_str_eq(ask("blaklist\n"),
	    "error: unknown command \"blaklist\" (did you mean blacklist?)\n");
	ck_assert_str_eq(ask("no acl\n"), "error: no acl: expects N\n");
	ck_assert_str_eq(
	    ask("source\n"), "error: source: expects IP [IP ...]\n");
	ck_assert_str_eq(ask("control\n"), text("%s\n", ctl.text));
	ck_assert_str_eq(ask("pid\n"), text("%d\n", (int)pen.child.pid));
	ck_assert_str_eq(
	    ask("exit\n"), "Exit is not enabled; restart with -X flag\n");
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	down();
}
END_TEST

/* What the commands change is true for traffic and counters at once. */
START_TEST(servers_change_while_running)
{
	struct backend second;
	int i;

	up(NULL);
	backend_start(&second, ENDPOINT_TCP4, backend_say, "second");
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	WAIT_FOR(strstr(ask("servers\n"), " conn 0 ") != NULL &&
		strstr(ask("servers\n"), "rx 5") != NULL,
	    5000);
	ck_assert_str_eq(ask("servers\n"),
	    text("0 addr 127.0.0.1 port %d conn 0 max 0 hard 0 weight 0 prio 0 "
		 "sx 0 rx 5\n",
		server.at.port));
	ck_assert_str_eq(
	    ask(text("server 1 address 127.0.0.1 port %d\n", second.at.port)),
	    "");
	ck_assert_str_eq(ask("prio\n"), "");
	ck_assert_str_eq(ask("server 0 prio 9\n"), "");
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(endpoint_hear(&front), "second");
	ck_assert_str_eq(ask("server 1 address localhost\n"), "");
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(endpoint_hear(&front), "second");
	backend_stop(&second);
	down();
}
END_TEST

/* Hundreds that say nothing, one that dribbles, one without an end. */
START_TEST(rude_clients)
{
	enum { SILENT = 400 };
	static char flood[70000];
	int fds[SILENT], i, slow, rude;
	const char *answer;

	up(NULL);
	for (i = 0; i < SILENT; i++)
		fds[i] = endpoint_connect(&ctl);
	slow = endpoint_connect(&ctl);
	endpoint_send(slow, "mo", 2);
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	memset(flood, 'x', sizeof(flood));
	rude = endpoint_connect(&ctl);
	send(rude, flood, sizeof(flood), MSG_NOSIGNAL);
	answer = endpoint_recv_all(rude);
	ck_assert_str_eq(answer, "error: line longer than 65536 bytes\n");
	close(rude);
	endpoint_send(slow, "de\n", 3);
	ck_assert_str_eq(endpoint_recv_all(slow),
	    "no hash roundrobin no stubborn no weight no prio\n");
	close(slow);
	ck_assert_int_lt(pen_fds(&pen), 300);
	for (i = 0; i < SILENT; i++)
		close(fds[i]);
	WAIT_FOR(pen_fds(&pen) < 30 * (1 + pen_workers()), 5000);
	down();
}
END_TEST

/* Only its owner may use it; a TCP port of a root process is refused. */
START_TEST(who_may_command)
{
	struct endpoint other;
	struct stat st;

	up(NULL);
	ck_assert_int_eq(stat(ctl.text, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	down();
	ck_assert_int_eq(access(ctl.text, F_OK), -1);
	if (geteuid() != 0)
		SKIP("needs root");
	endpoint_new(&other, ENDPOINT_TCP4);
	pen_expect_failure("refused as root", "-f", "-C", other.text,
	    front.text, "127.0.0.1:9", NULL);
}
END_TEST

/* With poll and select, which tell again and again what is not taken. */
static void
does_not_read(const char *method)
{
	static const char line[] = "help\n";
	char lines[100 * 1024];
	size_t i, sent = 0;
	ssize_t n = 1;
	int fd;

	up_with(method);
	fd = endpoint_connect(&ctl);
	for (i = 0; i < sizeof(lines); i++)
		lines[i] = line[i % (sizeof(line) - 1)];
	endpoint_send(fd, "prompt\n", 7);
	while (n > 0 && sent < sizeof(lines)) {
		n = send(fd, lines + sent, sizeof(lines) - sent, MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
	}
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	pen_expect_rest(&pen);
	close(fd);
	down();
}

/* Of clients that are gone before their answer, none keeps a descriptor until
 * it would have been silent for too long. */
START_TEST(client_gone_before_answer)
{
	enum { MANY = 40 };
	int i, fd, alone;

	up(NULL);
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	alone = pen_fds(&pen);
	pen_freeze(&pen);
	for (i = 0; i < MANY; i++) {
		fd = endpoint_connect(&ctl);
		endpoint_send(fd, "help\n", 5);
		close(fd);
	}
	pen_thaw(&pen);
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	ck_assert_int_lt(pen_fds(&pen), alone + MANY / 2);
	down();
}
END_TEST

START_TEST(client_that_does_not_read)
{
	any_event_method();
	does_not_read("poll");
	does_not_read("select");
}
END_TEST

START_TEST(exit_when_allowed)
{
	int fd;

	up("-X");
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "exit\n", 5);
	close(fd);
	WAIT_FOR(child_has_ended(&pen.child), 5000);
	ck_assert_int_eq(pen.child.status, 0);
	ck_assert(child_has_said(&pen.child, ": stopped reason=\"by uid="));
	ck_assert_int_eq(access(ctl.text, F_OK), -1);
	backend_stop(&server);
}
END_TEST

/* ---- levels ---- */

/* Each socket has its own. */
START_TEST(sockets_have_levels)
{
	struct endpoint look, operate;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&look, ENDPOINT_UNIX);
	endpoint_new(&operate, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "--control-level", "read",
	    "-C", look.text, "-O", "control_level operate", "-C", operate.text,
	    front.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl) && endpoint_is_listening(&look) &&
		endpoint_is_listening(&operate),
	    5000);
	ck_assert_str_eq(endpoint_ask(&look, "blacklist\n"), "30\n");
	ck_assert_str_eq(endpoint_ask(&look, "server 0 drain\n"),
	    "error: server: needs the level operate, yours is read\n");
	ck_assert_str_eq(
	    endpoint_ask(&look, "dsr\n"), "error: dsr: dsr_if is not set\n");
	ck_assert_str_eq(endpoint_ask(&look, "dsr takeover\n"),
	    "error: dsr: needs the level operate, yours is read\n");
	ck_assert_str_eq(endpoint_ask(&operate, "server 0 drain\n"), "");
	ck_assert_str_eq(endpoint_ask(&operate, "blacklist 5\n"),
	    "error: blacklist: needs the level admin, yours is operate\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "blacklist 5\n"), "5\n");
	ck_assert_str_eq(
	    endpoint_ask(&look, "control\n"), text("%s\n", operate.text));
	down();
}
END_TEST

/* The words of a check may be a password. */
START_TEST(readers_see_no_secrets)
{
	static const char *const lines[] = { "show settings", "check", "diff",
		"show settings json", "check json", "diff json",
		"service shop check", "service shop; show settings" };
	const char *conf = scratch("pen.conf"), *program;
	struct endpoint look, other;
	const char *reply;
	size_t i;

	program = scratch_program("probe", "exit 0\n");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&look, ENDPOINT_UNIX);
	write_file(conf,
	    text(
		"listen %s\nserver 0 address 127.0.0.1 port 9\n"
		"check exec %s secret\nservice shop\nlisten %s\n"
		"server 0 address 127.0.0.1 port 9 check send secret expect x\n"
		"check exec %s secret\n",
		front.text, program, other.text, program));
	pen_up(&pen, &front, "-C", ctl.text, "--control-level", "read", "-C",
	    look.text, "-F", conf, NULL);
	WAIT_FOR(endpoint_is_listening(&look), 5000);
	ck_assert_str_eq(ask("check exec /bin/true secret 2\n"), "");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		reply = ask(text("%s\n", lines[i]));
		ck_assert_msg(strstr(reply, "secret") != NULL ||
			strstr(reply, "built without") != NULL,
		    "%s: %s", lines[i], reply);
		reply = endpoint_ask(&look, text("%s\n", lines[i]));
		ck_assert_msg(strstr(reply, "secret") == NULL &&
			(strstr(reply, "exec ...") != NULL ||
			    strncmp(lines[i], "diff", 4) == 0 ||
			    strstr(reply, "built without") != NULL),
		    "%s: %s", lines[i], reply);
	}
	pen_down(&pen);
}
END_TEST

/* What another user is answered at the socket, into `answer`. */
static void
ask_as_nobody(const char *line, char *answer, size_t size)
{
	const struct passwd *pw = getpwnam("nobody");
	int fd[2], status;
	ssize_t n;
	pid_t child;

	ck_assert_int_eq(pipe(fd), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		int s = pw != NULL && setgid(pw->pw_gid) == 0 &&
			setuid(pw->pw_uid) == 0
		    ? endpoint_try_connect(&ctl)
		    : -1;

		if (s < 0 || send(s, line, strlen(line), 0) < 0)
			_exit(1);
		while ((n = recv(s, answer, size, 0)) > 0)
			if (write(fd[1], answer, (size_t)n) != n)
				_exit(1);
		_exit(0);
	}
	close(fd[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	n = read(fd[0], answer, size - 1);
	answer[n > 0 ? n : 0] = '\0';
	close(fd[0]);
}

/* Whom only the mode of the file lets in may read. */
START_TEST(users_have_levels)
{
	char answer[256];

	if (geteuid() != 0)
		SKIP("needs root");
	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "--control-mode", "0666", "-C", ctl.text,
	    front.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ask_as_nobody("blacklist\n", answer, sizeof(answer));
	ck_assert_str_eq(answer, "30\n");
	ask_as_nobody("blacklist 5\n", answer, sizeof(answer));
	ck_assert_str_eq(
	    answer, "error: blacklist: needs the level admin, yours is read\n");
	ck_assert_str_eq(ask("blacklist 5\n"), "5\n");
	down();
}
END_TEST

static bool
is_of(const char *path, uid_t user)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == user;
}

static void
expect_owner(const char *path, const struct passwd *pw)
{
	struct stat st;

	WAIT_FOR(is_of(path, pw->pw_uid), 5000);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq((int)st.st_gid, (int)pw->pw_gid);
	ck_assert_int_eq((int)(st.st_mode & 0777), 0660);
}

/* Files of all sockets are of the user and group of -u, who can use them. */
START_TEST(sockets_have_the_user)
{
	const struct passwd *pw = getpwnam("nobody");
	struct endpoint listens, web;
	char answer[256];

	if (geteuid() != 0 || pw == NULL)
		SKIP("needs root, and the user nobody");
	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&listens, ENDPOINT_UNIX);
	endpoint_new(&web, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-u", "nobody", "--control-mode", "0660",
	    "--listen-mode", "0660", "--web-mode", "0660", "--web", web.text,
	    "-C", ctl.text, text("%s,%s", front.text, listens.text),
	    server.at.text, NULL);
	expect_owner(listens.text, pw);
	expect_owner(web.text, pw);
	expect_owner(ctl.text, pw);
	ask_as_nobody("blacklist 5\n", answer, sizeof(answer));
	ck_assert_str_eq(answer, "5\n");
	down();
}
END_TEST

/* On TCP an access list says who may come in. */
START_TEST(control_over_tcp)
{
	int fd;
	char c;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-u", "nobody", "-C", text("%d", ctl.port),
	    "-O", "acl 1 deny 127.0.0.2", "-O", "acl 1 permit 127.0.0.0/8",
	    "--control-acl", "1", front.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ck_assert_str_eq(ask("blacklist 4\n"), "4\n");
	fd = endpoint_connect_from(&ctl, "127.0.0.2");
	ck_assert_int_le(recv(fd, &c, 1, 0), 0);
	close(fd);
	ck_assert_str_eq(ask("control_acl 0\n"), "0\n");
	fd = endpoint_connect_from(&ctl, "127.0.0.2");
	endpoint_send(fd, "blacklist\n", 10);
	ck_assert_str_eq(endpoint_recv_all(fd), "4\n");
	close(fd);
	down();
}
END_TEST

/* Nor does anybody get from there to a Unix socket, which would let him. */
START_TEST(files_over_tcp)
{
	static const char *const lines[] = { "session_log /tmp/x",
		"log_format common; log /tmp/x", "web_stats /tmp/x",
		"geoip /tmp/x",
		"write /tmp/x", "include /tmp/x", "acl 3 file /tmp/x",
		"on_state /bin/true", "control /tmp/x", "upgrade",
		"server 0 address /tmp/x", "server add /tmp/x",
		"emergency /tmp/x" };
	size_t i;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-u", "nobody", "-C", ctl.text, front.text,
	    server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(ask(text("%s\n", lines[i])),
				  "not on TCP: only in a file, on the "
				  "command line or on a Unix socket\n") != NULL,
		    "%s", lines[i]);
	/* nor is a socket made where a client wants it */
	ck_assert_ptr_nonnull(strstr(ask("web /tmp/x\n"), "not on TCP"));
	ck_assert_ptr_nonnull(strstr(ask("listen /tmp/x\n"), "not on TCP"));
	ck_assert_ptr_nonnull(
	    strstr(ask(text("listen %s,/tmp/x\n", front.text)), "not on TCP"));
	ck_assert_str_eq(
	    ask(text("listen %s\n", front.text)), text("%s\n", front.text));
	ck_assert_str_eq(ask("no session_log\n"), "");
	ck_assert_str_eq(ask("control\n"), text("%s\n", ctl.text));
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	down();
}
END_TEST

/* An empty list lets nobody in on TCP, but for list 0, which is named when no
 * list is. */
START_TEST(empty_list_closes_tcp)
{
	struct endpoint tcp;
	char c;
	int fd;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-u", "nobody", "-C", ctl.text, "-C",
	    tcp.text, front.text, server.at.text, NULL);
	WAIT_FOR(
	    endpoint_is_listening(&ctl) && endpoint_is_listening(&tcp), 5000);
	ck_assert_str_eq(endpoint_ask(&tcp, "blacklist\n"), "30\n");
	ck_assert_str_eq(ask("control_acl 2\n"), "2\n");
	fd = endpoint_connect(&tcp);
	(void)send(fd, "blacklist\n", 10, MSG_NOSIGNAL);
	ck_assert_int_le(recv(fd, &c, 1, 0), 0);
	close(fd);
	ck_assert_str_eq(ask("acl 2 permit 127.0.0.1\n"), "");
	ck_assert_str_eq(
	    endpoint_ask(&tcp, "no acl 2; acl 2 permit 127.0.0.0/8\n"), "");
	ck_assert_str_eq(endpoint_ask(&tcp, "blacklist\n"), "30\n");
	down();
}
END_TEST

/* Who may operate does not become who may all, by another socket's list. */
START_TEST(operators_leave_the_control_list)
{
	static const char refusal[] =
	    "acl: needs the level admin, yours is operate, because control_acl "
	    "uses this list\n";
	struct endpoint tcp;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-u", "nobody", "-C", tcp.text, "-O",
	    "control_level operate operate", "-C", ctl.text, "-O",
	    "acl 1 permit 127.0.0.2", "-O", "control_acl 1", front.text,
	    server.at.text, NULL);
	WAIT_FOR(
	    endpoint_is_listening(&ctl) && endpoint_is_listening(&tcp), 5000);
	ck_assert_str_eq(ask("no acl 1\n"), text("error: no %s", refusal));
	ck_assert_str_eq(
	    ask("acl 1 permit 127.0.0.1\n"), text("error: %s", refusal));
	ck_assert_str_eq(ask("acl 2 permit 127.0.0.1; no acl 0\n"), "");
	down();
}
END_TEST

/* Nor by a server that is a control socket, which would let pen itself in. */
START_TEST(operators_name_no_unix_socket)
{
	static const char *const lines[] = { "server 0 address",
		"server all max 5 address", "server add", "emergency", "abuse",
		"service default server 0 address" };
	struct endpoint other;
	size_t i;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&other, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-O", "control_level operate operate", "-C",
	    ctl.text, front.text, server.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(
		    strstr(ask(text("%s %s\n", lines[i], other.text)),
			"needs the level admin, yours is operate\n") != NULL,
		    "%s", lines[i]);
	ck_assert_ptr_nonnull(
	    strstr(ask("acl 3 file /etc/passwd\n"), "the level admin"));
	ck_assert_str_eq(endpoint_hear(&front), "hello");
	down();
}
END_TEST

/* Nor is one whose port clients come to at another address. */
START_TEST(control_ports_of_clients_are_no_servers)
{
	struct endpoint tcp;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	pen_expect_failure("server 0 is pen's own control socket ", "-f", "-u",
	    "nobody", "-C", tcp.text,
	    text("127.0.0.2:%d,127.0.0.2:%d", front.port, tcp.port),
	    "127.0.0.1:0", NULL);
}
END_TEST

/* However it is named; nor is one the target of a check. */
START_TEST(control_sockets_are_no_servers)
{
	struct endpoint tcp;
	const char *names[6];
	size_t i;

	backend_start(&server, ENDPOINT_TCP4, backend_say, "hello");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	endpoint_new(&tcp, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-u", "nobody", "-C", ctl.text, "-C",
	    text("0.0.0.0:%d", tcp.port), front.text, server.at.text, NULL);
	WAIT_FOR(
	    endpoint_is_listening(&ctl) && endpoint_is_listening(&tcp), 5000);
	names[0] = ctl.text;
	names[1] = text("127.0.0.1:%d", tcp.port);
	names[2] = text("0.0.0.0:%d", tcp.port);
	names[3] = text("[::ffff:127.0.0.1]:%d", tcp.port);
	names[4] = text("[::ffff:0.0.0.0]:%d", tcp.port);
	names[5] = text("localhost:%d", tcp.port);
	/* the sandbox refuses the first for another reason */
	i = getenv("PEN_TEST_SANDBOX") != NULL;
	for (; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(
		    strstr(ask(text("server add %s\n", names[i])),
			"error: server 1 is pen's own control socket "),
		    "%s", names[i]);
		ck_assert_ptr_nonnull(
		    strstr(ask(text("emergency %s\n", names[i])),
			"the emergency server is pen's own control socket "));
	}
	ck_assert_ptr_nonnull(
	    strstr(ask(text("server 0 check_port %d\n", tcp.port)),
		"server 0 is pen's own control socket "));
	ck_assert_ptr_nonnull(strstr(ask(text("check_port %d\n", tcp.port)),
	    "server 0 is pen's own control socket "));
	ck_assert_ptr_nonnull(strstr(
	    ask(text("server 1 address 10.1.1.1 port %d check_address "
		     "127.0.0.1\n",
		tcp.port)),
	    "server 1 is pen's own control socket "));
	ck_assert_str_eq(ask(text("server add 127.0.0.1:%d\n", server.at.port)),
	    "1\n");
	down();
}
END_TEST

/* ---- sessions ---- */

START_TEST(a_session_stays_open)
{
	int fd;

	up(NULL);
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "prompt\nblacklist 3\nnonsense\n", 28);
	endpoint_send(fd, "blacklist; timeout\n# nothing\nqu", 31);
	endpoint_send(fd, "it\nblacklist\n", 13);
	ck_assert_str_eq(endpoint_recv_all(fd),
	    "pen> 3\npen> error: unknown command \"nonsense\"\npen> 3\n3\n"
	    "pen> pen> ");
	close(fd);
	/* an end ends it too, and what has no newline is still a line */
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "prompt\nblacklist"), "pen> 3\npen> ");
	/* without a prompt one line is all */
	ck_assert_str_eq(endpoint_ask(&ctl, "blacklist\ntimeout\n"), "3\n");
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, "blacklist\0 5\n", 13);
	ck_assert_str_eq(
	    endpoint_recv_all(fd), "error: a line with a NUL byte\n");
	close(fd);
	down();
}
END_TEST

/* What was sent before the client's end is carried out, however much it is. */
START_TEST(all_lines_before_the_end)
{
	enum { LINES_ = 100 };
	const char *all = "prompt\n", *answer = "pen> ";
	int i;

	up(NULL);
	for (i = 1; i <= LINES_; i++) {
		all = text("%sserver 0 max %d\n", all, i);
		answer = text("%spen> ", answer);
	}
	ck_assert_str_eq(endpoint_ask(&ctl, all), answer);
	ck_assert_ptr_nonnull(strstr(ask("servers\n"), " max 100 "));
	down();
}
END_TEST

/* A list that is longer than any buffer, for one who reads it late: with epoll,
 * which tells of new room by itself, and with poll, which must be asked. */
static void
expect_long_answer(const char *option)
{
	enum { SERVERS = 4096, TIMES = 5 };
	static const char lines[] =
	    "servers; servers; servers; servers; servers; pid\n";
	static char chunk[65536];
	const char *conf = scratch("pen.conf");
	FILE *f = fopen(conf, "w");
	size_t got = 0;
	ssize_t n, i;
	int fd, k;

	ck_assert_ptr_nonnull(f);
	for (k = 0; k < SERVERS; k++)
		fprintf(f, "server %d address 127.0.0.1 port 9\n", k);
	fclose(f);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(
	    &pen, &front, option, "-F", conf, "-C", ctl.text, front.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	fd = endpoint_connect(&ctl);
	endpoint_send(fd, lines, strlen(lines));
	for (k = 0; k < 20; k++)
		ck_assert_str_eq(ask("blacklist\n"), "30\n");
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		for (i = 0; i < n; i++)
			got += chunk[i] == '\n';
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(got, TIMES * SERVERS + 1);
	close(fd);
	pen_down(&pen);
}

START_TEST(long_answers)
{
	expect_long_answer("-r");
}
END_TEST

START_TEST(long_answers_by_poll)
{
	any_event_method();
	expect_long_answer("-P");
}
END_TEST

/* A file that is a pipe, or has a hole, is refused: nobody waits for it. */
START_TEST(strange_files)
{
	const char *path = scratch("pipe"), *line = text("include %s\n", path);
	FILE *f;

	up(NULL);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_str_eq(
	    ask(line), text("error: include: \"%s\": is a pipe\n", path));
	ck_assert_int_eq(unlink(path), 0);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fwrite("blacklist 7\n\0no keepalive\n", 1, 27, f);
	fclose(f);
	ck_assert_str_eq(ask(line),
	    text("error: include: \"%s\": contains a NUL byte in line 2\n",
		path));
	ck_assert_str_eq(ask("blacklist\n"), "30\n");
	down();
}
END_TEST

/* ---- penctl ---- */

static int
penctl(
    const char *first, const char *second, const char *third, const char **said)
{
	static struct child c;
	const char *path = text("%sctl", getenv("PEN"));
	const char *argv[] = { path, first, second, third, NULL };
	int status;

	child_start(&c, argv);
	status = child_wait(&c, 10000);
	*said = status == 0 ? child_out(&c) : child_err(&c);
	return status;
}

START_TEST(penctl_asks)
{
	const char *said;

	up(NULL);
	ck_assert_int_eq(penctl(ctl.text, "blacklist", "7", &said), 0);
	ck_assert_str_eq(said, "7\n");
	ck_assert_int_eq(penctl(ctl.text, "blacklist", NULL, &said), 0);
	ck_assert_str_eq(said, "7\n");
	ck_assert_int_eq(penctl(ctl.text, "blacklist", "a \"b\\", &said), 1);
	ck_assert_str_eq(said,
	    "error: blacklist: \"a \"b\\\" is not a valid duration (5, 0.5, "
	    "200ms, 5m, 2h)\n");
	ck_assert_int_eq(penctl(ctl.text, "tarpit", NULL, &said), 1);
	ck_assert_int_eq(penctl("/no/such/socket", "mode", NULL, &said), 2);
	ck_assert_int_eq(penctl("@", "mode", NULL, &said), 2);
	ck_assert_int_eq(setenv("PENCTL", ctl.text, 1), 0);
	ck_assert_int_eq(penctl("mode", NULL, NULL, &said), 0);
	ck_assert_str_eq(
	    said, "no hash roundrobin no stubborn no weight no prio\n");
	down();
}
END_TEST

SUITE(test_control)
{
	Suite *s = suite_create("control");

	SUITE_ADD(s, one_line_one_answer, 20);
	SUITE_ADD(s, servers_change_while_running, 20);
	SUITE_ADD(s, rude_clients, 30);
	SUITE_ADD(s, who_may_command, 20);
	SUITE_ADD(s, client_gone_before_answer, 30);
	SUITE_ADD(s, client_that_does_not_read, 30);
	SUITE_ADD(s, exit_when_allowed, 20);
	SUITE_ADD(s, sockets_have_levels, 20);
	SUITE_ADD(s, readers_see_no_secrets, 20);
	SUITE_ADD(s, sockets_have_the_user, 30);
	SUITE_ADD(s, users_have_levels, 20);
	SUITE_ADD(s, empty_list_closes_tcp, 20);
	SUITE_ADD(s, operators_leave_the_control_list, 20);
	SUITE_ADD(s, operators_name_no_unix_socket, 20);
	SUITE_ADD(s, control_sockets_are_no_servers, 20);
	SUITE_ADD(s, control_ports_of_clients_are_no_servers, 20);
	SUITE_ADD(s, control_over_tcp, 20);
	SUITE_ADD(s, files_over_tcp, 20);
	SUITE_ADD(s, a_session_stays_open, 20);
	SUITE_ADD(s, all_lines_before_the_end, 20);
	SUITE_ADD(s, long_answers, 60);
	SUITE_ADD(s, long_answers_by_poll, 60);
	SUITE_ADD(s, strange_files, 20);
	SUITE_ADD(s, penctl_asks, 30);
	return s;
}
