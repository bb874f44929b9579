/* test_each_setting.c: each setting that the program lists, changed alone while
 * it serves, by a command and by a reload: it has the effect that it has in a
 * process that starts with it, or it is refused; and it can be taken back.
 *
 * A new setting is tested without a line here if its arguments in the help say
 * what it takes; setting_values.c has the values of the others. */
#include "config.h"

#include <check.h>
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/setting_values.h"

enum { SOON = 20000, LEAST_OF_SERVER = 13 };
/* Settings that there are at least: the list is not empty by mistake. */
static const int least[SETTING_BASES] = { 80, 25, 7 };

static struct backend server;
static struct endpoint other; /* for pages and peers */
static const char *conf;

/* One that runs all the time, and one that is started with the setting. */
static struct instance {
	struct pen pen;
	struct endpoint front, ctl;
	enum setting_base base;
	bool up;
} serving, fresh;

/* In JSON, of the one that runs without any; NULL: this build has none. */
static const char *settings;
/* Behind "service a" instead of in front of all services. */
static bool of_service;

/* ---- what there is ---- */

static const char *
ask(const struct instance *p, const char *line)
{
	return pen_ask(&p->ctl, line);
}

static const char *
prefix(void)
{
	return of_service ? "service a " : "";
}

/* In JSON. What conn_max is in force never gets smaller while it serves: the
 * number is left out. */
static const char *
settings_of(const struct instance *p)
{
	const char *all = ask(p, text("%sshow settings json", prefix())),
		   *at = strstr(all, "\"conn_max\":");

	if (at == NULL)
		return NULL;
	at += strlen("\"conn_max\":");
	return text("%.*s0%s", (int)(at - all), all,
	    at + strspn(at, "0123456789"));
}

static const char *
arguments_of(const char *name)
{
	return setting_arguments(
	    name, ask(&serving, text("help %s", name)));
}

/* The command that changes it. NULL: it is an option alone. */
static const char *
line_for(const char *name)
{
	const char *args = arguments_of(name);
	const char *all =
	    ask(&serving, text("%sshow settings json", prefix()));

	return args != NULL
	    ? setting_line(name, args, setting_in_json(all, name))
	    : NULL;
}

/* ---- files and processes ---- */

static void
write_conf(const struct instance *p, const char *line)
{
	write_file(conf,
	    text("acl 7 permit 127.0.0.0/8\n%slisten %s\nblacklist 0\n"
		 "server 0 address 127.0.0.1 port %d\n%s%s\n",
		of_service ? "service a\n" : "", p->front.text, server.at.port,
		setting_base_lines(p->base), line));
}

static void
up(struct instance *p)
{
	pen_up(&p->pen, &p->front, "-C", p->ctl.text, "-F", conf, NULL);
	p->up = true;
}

static void
down(struct instance *p)
{
	if (p->up)
		pen_down(&p->pen);
	p->up = false;
}

static void
serve_with(enum setting_base base)
{
	down(&serving);
	serving.base = fresh.base = base;
	write_conf(&serving, "");
	up(&serving);
	settings = settings_of(&serving);
}

/* What a start with that line would have in force. */
static const char *
printed_by_start(const char *line)
{
	struct pen p;
	int status;

	write_conf(&serving, line);
	pen_start(
	    &p, "-C", serving.ctl.text, "-F", conf, "--print-all", NULL);
	status = child_wait(&p.child, SOON);
	ck_assert_msg(
	    status == 0, "%s: %d, %s", line, status, child_err(&p.child));
	return child_out(&p.child);
}

static const char *
printed(void)
{
	const char *path = scratch("printed"), *said;

	(void)unlink(path);
	said = ask(&serving, text("write all %s", path));
	ck_assert_str_eq(said, "");
	return contents(path);
}

/* ---- what can be seen ---- */

/* Answers with what has come, as a response. What is no request may have no
 * end. */
static void
mirror(struct backend *b, int fd)
{
	enum { NO_MORE_MS = 50 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char request[4096] = "", response[5000];
	size_t got = 0;
	ssize_t n;

	(void)b;
	do {
		n = recv(fd, request + got, sizeof(request) - 1 - got, 0);
		if (n <= 0)
			break;
		got += (size_t)n;
		request[got] = '\0';
	} while (strstr(request, "\r\n\r\n") == NULL &&
	    poll(&p, 1, NO_MORE_MS) == 1);
	if (got == 0)
		return;
	n = snprintf(response, sizeof(response),
	    "HTTP/1.1 200 OK\r\nContent-Length: %zd\r\n"
	    "Connection: close\r\n\r\n%s",
	    (ssize_t)strlen(request), request);
	(void)backend_send(fd, response, (size_t)n);
}

/* Ports and times differ, and identifiers of requests. */
static const char *
without_numbers(char *s)
{
	char *from = s, *to = s;
	size_t n;

	while ((from = strstr(from, "X-Trace: ")) != NULL) {
		from += strlen("X-Trace: ");
		n = strspn(from, "0123456789abcdef");
		memset(from, '0', n);
	}
	for (from = s; *from != '\0'; from++)
		if (!isdigit((unsigned char)*from))
			*to++ = isprint((unsigned char)*from) ? *from : '?';
		else if (to == s || to[-1] != '#')
			*to++ = '#';
	*to = '\0';
	return text("%s", s);
}

/* What a client gets, and its server has got. */
static const char *
seen_by_client(const struct endpoint *front)
{
	static const char request[] = "GET /x HTTP/1.1\r\nHost: a.test\r\n"
				      "Connection: close\r\n\r\n";
	char answer[8192];
	size_t got = 0;
	ssize_t n;
	int fd = endpoint_connect(front);

	endpoint_send(fd, request, strlen(request));
	while ((n = recv(fd, answer + got, sizeof(answer) - 1 - got, 0)) > 0)
		got += (size_t)n;
	close(fd);
	answer[got] = '\0';
	return without_numbers(answer);
}

static const char *
seen(const struct instance *p)
{
	return text("%s%s", settings_of(p), seen_by_client(&p->front));
}

struct view {
	const char *seen;
	int fds;
};

/* Of a process that starts with the line. */
static struct view
view_of_start(const char *line)
{
	struct view v;

	write_conf(&fresh, line);
	up(&fresh);
	v.seen = seen(&fresh);
	v.fds = pen_fds_at_rest(&fresh.pen);
	down(&fresh);
	return v;
}

/* All of it would be too long for a message. */
static void
are_equal(const char *how, const char *line, const char *now,
    const char *wanted)
{
	enum { BEFORE = 40, SHOWN = 200 };
	size_t same = 0, from;

	while (now[same] != '\0' && now[same] == wanted[same])
		same++;
	from = same > BEFORE ? same - BEFORE : 0;
	ck_assert_msg(now[same] == wanted[same],
	    "%s by %s: \"%.*s\", by a start: \"%.*s\"", line, how, SHOWN,
	    now + from, SHOWN, wanted + from);
}

static void
looks_as(const char *how, const char *line, const struct view *v)
{
	long long end = wait_now_ms() + wait_scaled(SOON);
	int fds;

	are_equal(how, line, seen(&serving), v->seen);
	while ((fds = pen_fds(&serving.pen)) != v->fds && wait_now_ms() < end)
		wait_nap();
	ck_assert_msg(fds == v->fds, "%s by %s: %d descriptors, not %d", line,
	    how, fds, v->fds);
}

/* ---- one setting ---- */

static void
is_in_force(const char *how, const char *line, const char *wanted)
{
	are_equal(how, line, printed(), wanted);
}

static const char *
reload_with(const char *line)
{
	write_conf(&serving, line);
	return ask(&serving, "reload");
}

static void
is_refused(const char *said, const char *line, const char *why)
{
	ck_assert_msg(strncmp(said, "error: ", 7) == 0 &&
		strstr(said, why) != NULL,
	    "%s: %s", line, said);
}

/* A reload refuses it, too, and nothing has changed. */
static void
stays_refused(const char *line, const char *why, const char *before)
{
	is_refused(reload_with(line), line, why);
	is_in_force("refusal", line, before);
	ck_assert_str_eq(reload_with(""), "");
}

static void
takes_back(const char *line, const char *before)
{
	ck_assert_str_eq(reload_with(""), "");
	is_in_force("reload without it", line, before);
	are_equal(
	    "reload without it", line, settings_of(&serving), settings);
}

/* In force as in a process that starts with it, by either way. */
static void
has_its_effect(const char *line, const char *before, const char *wanted)
{
	/* pages and peers of both would be at one address: one at a time */
	struct view v = view_of_start(line);

	ck_assert_str_eq(reload_with(line), "");
	is_in_force("reload", line, wanted);
	looks_as("reload", line, &v);
	takes_back(line, before);
	(void)ask(&serving, text("%s%s", prefix(), line));
	is_in_force("command", line, wanted);
	looks_as("command", line, &v);
	takes_back(line, before);
}

/* Returns whether it is one that a running process takes. With light loads one
 * of four is tried in full. */
static bool
try_line(const char *line, bool may_fail)
{
	static int count;
	static const char *const refusals[] = { "can be set only at startup",
		"applies to the whole process",
		"only at a start or an upgrade" };
	const char *before = printed(), *wanted, *said;
	size_t i;

	said = ask(&serving, text("%s%s", prefix(), line));
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strstr(said, refusals[i]) != NULL) {
			is_refused(said, line, refusals[i]);
			stays_refused(
			    line, may_fail ? "" : refusals[i], before);
			return false;
		}
	if (may_fail && strncmp(said, "error: ", 7) == 0) {
		stays_refused(line, "", before);
		return false;
	}
	ck_assert_msg(strncmp(said, "error", 5) != 0, "%s: %s", line, said);
	wanted = printed_by_start(line);
	ck_assert_msg(strcmp(wanted, before) != 0, "%s changes nothing", line);
	is_in_force("command", line, wanted);
	takes_back(line, before);
	if (!suite_is_light() || count++ % 4 == 0)
		has_its_effect(line, before, wanted);
	return true;
}

/* ---- all of them ---- */

static void
begin(bool service)
{
	of_service = service;
	backend_start(&server, ENDPOINT_TCP4, mirror, NULL);
	endpoint_new(&serving.front, ENDPOINT_TCP4);
	endpoint_new(&serving.ctl, ENDPOINT_UNIX);
	endpoint_new(&fresh.front, ENDPOINT_TCP4);
	endpoint_new(&fresh.ctl, ENDPOINT_UNIX);
	endpoint_new(&other, ENDPOINT_TCP4);
	conf = scratch("pen.conf");
	setting_values_begin(&other);
}

START_TEST(each_setting_of_a_server)
{
	const char *help, *line;
	int tried = 0;

	NEEDS_ONE_WORKER("a change reaches each worker by itself");
	begin(_i > 0);
	serve_with(SETTING_PLAIN);
	help = arguments_of("server");
	while ((line = setting_line_of_server(&help)) != NULL) {
		tried += try_line(line, false);
		serve_with(SETTING_PLAIN); /* no failure is remembered */
	}
	ck_assert_int_ge(tried, LEAST_OF_SERVER);
	down(&serving);
	backend_stop(&server);
}
END_TEST

START_TEST(each_setting)
{
	enum setting_base base = (enum setting_base)(_i % SETTING_BASES);
	const char *rest, *name, *line;
	int tried = 0;

	NEEDS_ONE_WORKER("a change reaches each worker by itself");
	begin(_i >= SETTING_BASES);
	serve_with(base);
	if (settings == NULL)
		SKIP("needs JSON");
	for (rest = settings; (name = setting_next_name(&rest)) != NULL;) {
		if (setting_base_for(name) != base ||
		    (line = line_for(name)) == NULL)
			continue;
		tried += try_line(line, setting_may_lack(name));
	}
	ck_assert(!try_line("poll", false)); /* "method" in JSON */
	ck_assert_int_ge(tried, least[base]);
	down(&serving);
	backend_stop(&server);
}
END_TEST

SUITE(test_each_setting)
{
	Suite *s = suite_create("each_setting");

	SUITE_ADD_LOOP(s, each_setting, 300, 2 * SETTING_BASES);
	SUITE_ADD_LOOP(s, each_setting_of_a_server, 60, 2);
	return s;
}
