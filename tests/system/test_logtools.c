/* test_logtools.c: penlog, penlogd and mergelogs, beside classic Pen's where
 * these are there and right. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/child.h"
#include "support/mounts.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 10000, SECOND_0 = 1700000000 };

/* ---- programs ---- */

/* Ours stands beside pen. */
static const char *
ours(const char *name)
{
	const char *pen = getenv("PEN");

	return text("%.*s%s", (int)(strlen(pen) - strlen("pen")), pen, name);
}

static const char *
classic(const char *name)
{
	const char *path = text("/usr/bin/%s", name);

	return access(path, X_OK) == 0 ? path : NULL;
}

/* What a command of the shell prints, all of which must go well. */
static const char *
output_of(const char *command)
{
	static char said[1 << 20];
	FILE *f = popen(command, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	ck_assert_msg(pclose(f) == 0, "%s", command);
	return text("%s", said);
}

static unsigned state = 7;

static int
draw(int n)
{
	state = state * 1103515245u + 12345u;
	return (int)((state >> 16) % (unsigned)n);
}

/* ---- mergelogs ---- */

static const char *
web_line(time_t when, const char *request, int mark)
{
	char at[40];
	struct tm tm;

	strftime(at, sizeof(at), "%d/%b/%Y:%H:%M:%S +0000",
	    gmtime_r(&when, &tm));
	return text("10.9.9.9 - - [%s] \"%s\" 200 %d \"-\" \"x\"\n", at,
	    request, mark);
}

/* Draws logs of pen and of three web servers, whose clocks are up to two
 * seconds behind. The first two lines belong to no visit: classic Pen's writes
 * a wrong hour into the second line that it prints. */
static void
draw_logs(void)
{
	FILE *pen = fopen(scratch("pen.log"), "w"), *web[3];
	int i, s, n = 5 + draw(200), behind[3] = { draw(3), draw(3), draw(3) };
	time_t now = SECOND_0;

	for (s = 0; s < 3; s++)
		web[s] = fopen(scratch(text("web%d", s)), "w");
	fputs(web_line(now - 100, "GET /first HTTP/1.1", -1), web[0]);
	fputs(web_line(now - 99, "GET /second HTTP/1.1", -2), web[0]);
	for (i = 0; i < n; i++) {
		const char *request = text("GET /%d HTTP/1.1", draw(20));

		now += draw(4);
		s = draw(3);
		fprintf(pen, "192.168.%d.%d %ld 10.0.0.%d %s\n", draw(9),
		    draw(250), (long)now, s, request);
		if (draw(5) == 0)
			request = "GET /nobody HTTP/1.1";
		fputs(web_line(now - behind[s], request, i), web[s]);
	}
	for (s = 0; s < 3; s++)
		fclose(web[s]);
	fclose(pen);
}

static const char *
merge(const char *program, const char *options)
{
	return output_of(text("TZ=UTC %s %s -p %s 10.0.0.0:%s 10.0.0.1:%s "
			      "10.0.0.2:%s",
	    program, options, scratch("pen.log"), scratch("web0"),
	    scratch("web1"), scratch("web2")));
}

static const char *
behind_second_line(const char *log)
{
	const char *at = strstr(log, "/second");

	ck_assert_ptr_nonnull(at);
	return strchr(at, '\n') + 1;
}

START_TEST(merges_as_classic)
{
	const char *program = classic("mergelogs");
	int i, rounds = suite_rounds(40);

	if (program == NULL)
		SKIP("classic Pen is not installed");
	for (i = 0; i < rounds; i++) {
		const char *a, *b;

		draw_logs();
		a = merge(program, "");
		b = merge(ours("mergelogs"), "");
		ck_assert_str_eq(
		    behind_second_line(b), behind_second_line(a));
	}
}
END_TEST

/* Zones, IPv6, quotes, what is no log, and a jitter that matters. */
START_TEST(merges_what_classic_cannot)
{
	const char *said;

	write_file(scratch("pen.log"),
	    "2001:db8::7 1700000000 ::1 GET /a HTTP/1.1\n"
	    "no line\n"
	    "192.168.1.2 1700000003 ::1 GET /\"b\" HTTP/1.1\n");
	write_file(scratch("web0"),
	    "10.9.9.9 - - [14/Nov/2023:23:13:20 +0100] \"GET /a HTTP/1.1\" 1\n"
	    "garbage\n"
	    "10.9.9.9 - u [14/Nov/2023:22:13:20 +0000] \"GET /\\\"b\\\" "
	    "HTTP/1.1\" 2\n");
	said = output_of(text("%s -j 3 -r %s -p %s '[0:0::1]:%s' 2>%s",
	    ours("mergelogs"), scratch("rejects"), scratch("pen.log"),
	    scratch("web0"), scratch("errors")));
	ck_assert_str_eq(said,
	    "2001:db8::7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a HTTP/1.1\" "
	    "1\n"
	    "192.168.1.2 - u [14/Nov/2023:22:13:20 +0000] \"GET /\\\"b\\\" "
	    "HTTP/1.1\" 2\n");
	ck_assert(file_has(scratch("errors"), "mergelogs: 2 lines skipped"));
	ck_assert(file_has(scratch("rejects"), "garbage\n"));
	said = output_of(text("%s -p %s '[::1]:%s' 2>%s", ours("mergelogs"),
	    scratch("pen.log"), scratch("web0"), scratch("errors")));
	ck_assert_ptr_nonnull(strstr(said, "\n::1 - u ["));
}
END_TEST

/* A directory opens, and cannot be read. */
START_TEST(file_that_cannot_be_read)
{
	write_file(scratch("pen.log"), "192.168.1.2 1 10.0.0.1 GET /\n");
	write_file(scratch("web0"), web_line(1, "GET /", 1));
	ck_assert_str_eq(output_of(text("%s -p %s 10.0.0.1:%s 2>&1 || echo $?",
			     ours("mergelogs"), scratch("pen.log"),
			     scratch("."))),
	    text("mergelogs: %s: Is a directory\n1\n", scratch(".")));
	ck_assert_str_eq(
	    output_of(text("%s -p %s 10.0.0.1:%s 2>&1 >%s || echo $?",
		ours("mergelogs"), scratch("."), scratch("web0"),
		scratch("out"))),
	    text("mergelogs: %s: Is a directory\n1\n", scratch(".")));
	/* it is merged all the same */
	ck_assert_str_eq(contents(scratch("out")),
	    "10.0.0.1 - - [01/Jan/1970:00:00:01 +0000] \"GET /\" 200 1 \"-\" "
	    "\"x\"\n");
}
END_TEST

/* The last line may fit again: what was lost before it is an error all the
 * same, at once. */
START_TEST(merges_to_a_full_disk)
{
	if (access("/dev/full", W_OK) < 0)
		SKIP("there is no /dev/full");
	write_file(scratch("pen.log"), "192.168.1.2 1 10.0.0.1 GET /\n");
	write_file(scratch("line"), web_line(1, "GET /", 1));
	ck_assert_str_eq(
	    output_of(text("yes \"$(cat %s)\" | (timeout 20 %s -p %s "
			   "10.0.0.1:- 2>&1 >/dev/full || echo $?)",
		scratch("line"), ours("mergelogs"), scratch("pen.log"))),
	    "mergelogs: output: No space left on device\n1\n");
}
END_TEST

START_TEST(merges_more_than_it_remembers)
{
	FILE *pen = fopen(scratch("pen.log"), "w");
	FILE *web = fopen(scratch("web0"), "w");
	const char *said;
	int i;

	for (i = 0; i < 5000; i++) {
		fprintf(pen, "192.168.%d.%d %d 10.0.0.1 GET /%d HTTP/1.1\n",
		    i / 250, i % 250, SECOND_0 + i, i);
		fputs(web_line(SECOND_0 + i, text("GET /%d HTTP/1.1", i), i),
		    web);
	}
	fclose(pen);
	fclose(web);
	said = output_of(text("%s -n 10 -p %s 10.0.0.1:%s | grep -c ^192.168",
	    ours("mergelogs"), scratch("pen.log"), scratch("web0")));
	ck_assert_str_eq(said, "5000\n");
}
END_TEST

/* ---- penlogd ---- */

struct penlogd {
	struct child child;
	const char *log;
	struct sockaddr_in at;
	int fd; /* from which both kinds of lines come */
};

static void
free_port(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	ck_assert_int_eq(bind(fd, (struct sockaddr *)at, sizeof(*at)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)at, &len), 0);
	close(fd);
}

static void
say(struct penlogd *p, const char *what)
{
	(void)sendto(p->fd, what, strlen(what), 0, (struct sockaddr *)&p->at,
	    sizeof(p->at));
}

/* Says it until it is in the log: it may not listen yet. */
static bool
says(struct penlogd *p, const char *what)
{
	say(p, what);
	return file_has(p->log, what);
}

static void
penlogd_up(struct penlogd *p, const char *program, const char *log)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const char *port;

	free_port(&p->at);
	port = text("%d", ntohs(p->at.sin_port));
	p->log = scratch(log);
	p->fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    bind(p->fd, (struct sockaddr *)&own, sizeof(own)), 0);
	child_start(&p->child,
	    (const char *const[]){
		program, "-f", "-b", "-l", p->log, "-n", "1000", port, NULL });
	WAIT_FOR(says(p, "10.0.0.1 - - [x] \"GET /probe HTTP/1.1\" 0\n"), SOON);
}

static void
penlogd_down(struct penlogd *p)
{
	ck_assert_int_eq(child_stop(&p->child, SIGTERM), 0);
	close(p->fd);
}

/* The log without the lines that it began with. */
static const char *
log_of(const struct penlogd *p)
{
	const char *log = contents(p->log), *at;

	while ((at = strstr(log, "/probe")) != NULL)
		log = strchr(at, '\n') + 1;
	return log;
}

static void
say_lines(struct penlogd *p, unsigned seed)
{
	int i;

	state = seed;
	for (i = 0; i < 400; i++) {
		int server = draw(2) ? 1 : 9, path = draw(30);

		if (draw(2) == 0)
			say(p,
			    text("+ 192.168.0.%d 127.0.0.%d GET /%d HTTP/1.1\n",
				draw(250), server, path));
		else
			say(p,
			    text("10.0.0.1 - - [x] \"GET /%d HTTP/1.1\" %d\n",
				path, i));
		/* the socket of either must not overflow */
		if (i % 20 == 19)
			WAIT_FOR(says(p, text("10.0.0.1 - - [x] "
					      "\"GET /mark HTTP/1.1\" m%d\n",
					     i)),
			    SOON);
	}
}

/* Marks may come several times. */
static const char *
without_marks(const char *log)
{
	char *copy = strdup(log), *to = copy, *line = copy, *end;
	const char *result;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (strstr(line, "/mark") == NULL) {
			memmove(to, line, (size_t)(end - line));
			to += end - line;
			*to++ = '\n';
		}
	}
	*to = '\0';
	result = text("%s", copy);
	free(copy);
	return result;
}

START_TEST(joins_as_classic)
{
	struct penlogd p, q;
	const char *a, *b;

	if (classic("penlogd") == NULL)
		SKIP("classic Pen is not installed");
	penlogd_up(&p, classic("penlogd"), "classic.log");
	penlogd_up(&q, ours("penlogd"), "ours.log");
	say_lines(&p, 3);
	say_lines(&q, 3);
	penlogd_down(&p);
	penlogd_down(&q);
	a = without_marks(log_of(&p));
	b = without_marks(log_of(&q));
	ck_assert_uint_gt(strlen(a), 5000);
	ck_assert_ptr_nonnull(strstr(a, "\n192.168.0."));
	ck_assert_str_eq(b, a);
}
END_TEST

/* Several lines in a datagram, IPv6, a file that was moved away. */
START_TEST(joins_and_opens_again)
{
	struct penlogd p;

	penlogd_up(&p, ours("penlogd"), "a.log");
	say(&p,
	    "+ 2001:DB8::1 127.0.0.1 GET /a HTTP/1.1\r\n"
	    "+ 192.168.0.2 127.0.0.1 GET /b HTTP/1.1");
	say(&p,
	    "10.0.0.1 - - [x] \"GET /a HTTP/1.1\" 1\n"
	    "10.0.0.1 - - [x] \"GET /b HTTP/1.1\" 2");
	WAIT_FOR(file_has(p.log,
		     "2001:db8::1 - - [x] \"GET /a HTTP/1.1\" 1\n"
		     "192.168.0.2 - - [x] \"GET /b HTTP/1.1\" 2\n"),
	    SOON);
	ck_assert_int_eq(rename(p.log, scratch("old.log")), 0);
	ck_assert_int_eq(kill(p.child.pid, SIGHUP), 0);
	WAIT_FOR(says(&p, "10.0.0.1 - - [x] \"GET /c HTTP/1.1\" 3\n"), SOON);
	penlogd_down(&p);
}
END_TEST

/* Sends lines without a pause, until it is killed. */
static pid_t
pour(const struct penlogd *p)
{
	char line[1000] = "+ 192.168.0.2 127.0.0.1 GET /";
	size_t n = strlen(line);
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(60);
	memset(line + n, 'x', sizeof(line) - n);
	for (;;)
		(void)sendto(p->fd, line, sizeof(line), 0,
		    (const struct sockaddr *)&p->at, sizeof(p->at));
}

/* More come than it can take: it obeys all the same. */
START_TEST(obeys_in_a_flood)
{
	enum { SENDERS = 4 };
	pid_t sender[SENDERS];
	struct penlogd p;
	int i;

	penlogd_up(&p, ours("penlogd"), "flood.log");
	for (i = 0; i < SENDERS; i++)
		sender[i] = pour(&p);
	ck_assert_int_eq(rename(p.log, scratch("old.log")), 0);
	ck_assert_int_eq(kill(p.child.pid, SIGHUP), 0);
	WAIT_FOR(access(p.log, F_OK) == 0, SOON);
	ck_assert_int_eq(child_stop(&p.child, SIGTERM), 0);
	for (i = 0; i < SENDERS; i++) {
		kill(sender[i], SIGKILL);
		ck_assert_int_eq(waitpid(sender[i], NULL, 0), sender[i]);
	}
	close(p.fd);
}
END_TEST

static char got[1 << 20];
static size_t got_n;

static void
read_more(int reader)
{
	ssize_t more;

	while ((more = read(reader, got + got_n, sizeof(got) - 1 - got_n)) > 0)
		got_n += (size_t)more;
	got[got_n] = '\0';
}

/* Its output goes on while a reader reads it; false until `what` has come, at
 * the beginning of a line. What was read is forgotten then. */
static bool
comes(struct penlogd *p, int reader, const char *what)
{
	say(p, what);
	read_more(reader);
	if (strstr(got, text("\n%s", what)) == NULL)
		return false;
	got_n = 0;
	return true;
}

static bool
has_lost(struct penlogd *p, const char *line)
{
	int i;

	for (i = 0; i < 100; i++)
		say(p, line);
	return child_has_said(&p->child, "lines are lost");
}

/* A pipe without a reader is refused. One that is not read loses lines, which
 * is reported once, and the first line after them begins a line. Nothing waits
 * for it. */
START_TEST(pipe_is_full)
{
	static const char many[] =
	    "10.0.0.1 - - [x] \"GET /many HTTP/1.1\" 1\n",
			  last[] =
			      "10.0.0.1 - - [x] \"GET /last HTTP/1.1\" 2\n";
	struct penlogd p = { .log = scratch("pipe") };
	const char *args[] = { ours("penlogd"), "-f", "-l", p.log, NULL, NULL };
	int reader;

	ck_assert_int_eq(mkfifo(p.log, 0600), 0);
	free_port(&p.at);
	args[4] = text("%d", ntohs(p.at.sin_port));
	p.fd = socket(AF_INET, SOCK_DGRAM, 0);
	child_start(&p.child, args);
	ck_assert_int_eq(child_wait(&p.child, SOON), 1);
	reader = open(p.log, O_RDONLY | O_NONBLOCK);
	child_start(&p.child, args);
	WAIT_FOR(has_lost(&p, many), SOON);
	(void)has_lost(&p, many);
	WAIT_FOR(comes(&p, reader, last), SOON);
	close(reader);
	(void)has_lost(&p, many);
	reader = open(p.log, O_RDONLY | O_NONBLOCK);
	WAIT_FOR(comes(&p, reader, last), SOON);
	ck_assert_ptr_null(
	    strstr(strstr(child_err(&p.child), "are lost") + 1, "are lost"));
	close(reader);
	ck_assert_int_eq(child_stop(&p.child, SIGTERM), 0);
	close(p.fd);
}
END_TEST

/* By a limit of the process (ulimit -f). */
START_TEST(file_may_not_grow)
{
	struct penlogd p;

	child_limit_files(8192);
	penlogd_up(&p, ours("penlogd"), "small");
	child_limit_files(RLIM_INFINITY);
	WAIT_FOR(
	    has_lost(&p, "10.0.0.1 - - [x] \"GET /many HTTP/1.1\" 1\n"),
	    SOON);
	penlogd_down(&p);
}
END_TEST

#ifdef F_SETPIPE_SZ
/* Each line that was read is one of these from its beginning, if not to its
 * end. */
static bool
lines_begin_as(const char *line)
{
	const char *at = got;
	size_t n;

	for (; *at != '\0'; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		if (strncmp(at, line, n) != 0)
			return false;
	}
	return true;
}

/* Of a datagram of more lines than a buffer has the first buffer finds no room,
 * but the rest does: what is lost is reported all the same, and joins no
 * lines. */
START_TEST(pipe_is_full_for_a_moment)
{
	static const char line[] = "10.0.0.1 - - [x] \"GET /one HTTP/1.1\" 1\n";
	struct penlogd p = { .log = scratch("small") };
	const char *args[] = { ours("penlogd"), "-f", "-l", p.log, NULL, NULL };
	char many[4096 + 10 * sizeof(line)] = "";
	size_t n = sizeof(line) - 1, i;
	struct pollfd has_one = { .events = POLLIN };
	int reader;

	for (i = 0; i + n < sizeof(many); i += n)
		memcpy(many + i, line, n + 1);
	ck_assert_int_eq(mkfifo(p.log, 0600), 0);
	free_port(&p.at);
	args[4] = text("%d", ntohs(p.at.sin_port));
	p.fd = socket(AF_INET, SOCK_DGRAM, 0);
	reader = has_one.fd = open(p.log, O_RDONLY | O_NONBLOCK);
	ck_assert_int_gt(fcntl(reader, F_SETPIPE_SZ, 4096), 0);
	child_start(&p.child, args);
	WAIT_FOR((say(&p, line), poll(&has_one, 1, 0) > 0), SOON);
	say(&p, many);
	WAIT_FOR(child_has_said(&p.child, "lines are lost"), SOON);
	ck_assert_int_eq(child_stop(&p.child, SIGTERM), 0);
	read_more(reader);
	ck_assert(lines_begin_as(line));
	close(reader);
	close(p.fd);
}
END_TEST
#endif

START_TEST(runs_in_the_background)
{
	struct sockaddr_in at;
	const char *pid = scratch("pid");

	free_port(&at);
	(void)output_of(text("%s -p %s -l %s %d", ours("penlogd"), pid,
	    scratch("b.log"), ntohs(at.sin_port)));
	ck_assert_int_gt(atoi(contents(pid)), 1);
	ck_assert_int_eq(kill(atoi(contents(pid)), SIGTERM), 0);
	WAIT_FOR(access(pid, F_OK) != 0, SOON);
}
END_TEST

/* ---- penlog ---- */

START_TEST(sends_lines)
{
	struct sockaddr_in at;
	char line[100];
	int fd = socket(AF_INET, SOCK_DGRAM, 0), i;
	struct timeval patience = { .tv_sec = 10 };

	free_port(&at);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)output_of(text("printf 'a 1\\nb 2\\nc 3' | %s 127.0.0.1 %d "
			     "127.0.0.1",
	    ours("penlog"), ntohs(at.sin_port)));
	for (i = 0; i < 3; i++) {
		ssize_t n = recv(fd, line, sizeof(line) - 1, 0);

		ck_assert_int_gt(n, 0);
		line[n] = '\0';
		ck_assert_str_eq(line, text("%c %d%s", 'a' + i, 1 + i,
					   i < 2 ? "\n" : ""));
	}
	close(fd);
}
END_TEST

/* Of a host that has an IPv6 address, too. */
START_TEST(sends_from_an_address)
{
	const char *hosts = scratch("hosts");

	write_file(hosts, "::1 loghost\n127.0.0.1 loghost\n");
	if (!mounts_private() ||
	    system(text("mount --bind %s /etc/hosts", hosts)) != 0)
		SKIP("mounts cannot be private");
	ck_assert_str_eq(output_of(text("echo a | %s loghost 9 127.0.0.1 2>&1 "
					"|| echo $?",
			     ours("penlog"))),
	    "");
}
END_TEST

START_TEST(bad_ports_and_inputs)
{
	struct sockaddr_in at;

	free_port(&at);
	ck_assert_str_eq(output_of(text("%s 127.0.0.1 99999 2>&1 </dev/null || "
					"echo $?",
			     ours("penlog"))),
	    "penlog: 99999: not a port\n1\n");
	ck_assert_str_eq(
	    output_of(text("%s 127.0.0.1 %d 2>&1 <&- || echo $?",
		ours("penlog"), ntohs(at.sin_port))),
	    "penlog: standard input: Bad file descriptor\n1\n");
}
END_TEST

SUITE(test_logtools)
{
	Suite *s = suite_create("logtools");

	SUITE_ADD(s, merges_as_classic, 60);
	SUITE_ADD(s, merges_what_classic_cannot, 20);
	SUITE_ADD(s, file_that_cannot_be_read, 10);
	SUITE_ADD(s, merges_to_a_full_disk, 30);
	SUITE_ADD(s, merges_more_than_it_remembers, 30);
	SUITE_ADD(s, joins_as_classic, 60);
	SUITE_ADD(s, joins_and_opens_again, 30);
	SUITE_ADD(s, obeys_in_a_flood, 30);
	SUITE_ADD(s, pipe_is_full, 30);
	SUITE_ADD(s, file_may_not_grow, 30);
#ifdef F_SETPIPE_SZ
	SUITE_ADD(s, pipe_is_full_for_a_moment, 30);
#endif
	SUITE_ADD(s, runs_in_the_background, 30);
	SUITE_ADD(s, sends_from_an_address, 20);
	SUITE_ADD(s, bad_ports_and_inputs, 20);
	SUITE_ADD(s, sends_lines, 30);
	return s;
}
