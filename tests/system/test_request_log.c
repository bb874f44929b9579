/* test_request_log.c: a line for each request of HTTP, as the operator sees
 * it, whoever answered. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 20000, HEADS = 256 * 1024 };

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define LAST(path) \
	"GET " path " HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"

/* ---- a server that answers by path ---- */

static const struct answer {
	const char *path, *says;
	bool ends; /* the connection */
} answers_by_path[] = {
	{ "/500", "HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad", false },
	{ "/chunks",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "4\r\nwith\r\n0\r\n\r\n",
	    false },
	{ "/half", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", true },
	{ "/endless", "HTTP/1.1 200 OK\r\n\r\nall of it", true },
	{ "/hints",
	    "HTTP/1.1 103 Early Hints\r\n\r\n"
	    "HTTP/1.1 204 No Content\r\n\r\n",
	    false },
	{ "/nothing", "", true },
	{ "/x",
	    "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"
	    "Content-Length: 2\r\n\r\nok",
	    false },
	{ "/", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false },
};

/* Returns whether the connection goes on. */
static bool
answer(int fd, const char *head)
{
	const char *path = strchr(head, ' ');
	const struct answer *a = answers_by_path;
	char one;

	if (path == NULL)
		return false;
	path++;
	if (strncmp(path, "/hang", 5) == 0)
		return recv(fd, &one, 1, 0) > 0;
	while (strncmp(path, a->path, strlen(a->path)) != 0)
		a++;
	return backend_send(fd, a->says, strlen(a->says)) && !a->ends;
}

static void
serve(struct backend *b, int fd)
{
	char *bytes = malloc(HEADS), *end;
	size_t n = 0;
	ssize_t got;
	bool on = bytes != NULL;

	(void)b;
	while (on && (got = recv(fd, bytes + n, HEADS - 1 - n, 0)) > 0) {
		n += (size_t)got;
		bytes[n] = '\0';
		while (on && (end = strstr(bytes, "\r\n\r\n")) != NULL) {
			on = answer(fd, bytes);
			n -= (size_t)(end + 4 - bytes);
			memmove(bytes, end + 4, n + 1);
		}
	}
	free(bytes);
}

/* ---- pen in front of it ---- */

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;
static const char *log_path;

static void
up_with(const char *commands)
{
	log_path = scratch("requests");
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O",
	    text("request_log %s", log_path), "-O", commands, front.text,
	    back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

#define SHORT \
	"request_format '{method} {path} {protocol} {status} {body} {reason}'"

/* All that the client gets until the end. */
static const char *
ask(const char *request)
{
	return endpoint_hear_after(&front, request);
}

static void
lines_are(const char *wanted)
{
	int n = count_in(wanted, "\n");

	WAIT_FOR(count_in(contents(log_path), "\n") >= n, SOON);
	ck_assert_str_eq(contents(log_path), wanted);
}

static void
matches(const char *line, const char *pattern)
{
	regex_t r;

	ck_assert_int_eq(regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(
	    regexec(&r, line, 0, NULL, 0) == 0, "%s: %s", pattern, line);
	regfree(&r);
}

/* ---- formats ---- */

#define TIME "[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}(:[0-9]{2}){3} [+-][0-9]{4}"
#define MS   "[0-9]+\\.[0-9]{3}"

static const char visit[] = "GET /a?b=c&d HTTP/1.1\r\nHost: a.test\r\n"
			    "User-Agent: probe/1.0 (a)\r\n"
			    "Referer: http://b.test/x\r\n"
			    "Connection: close\r\n\r\n";

static const char *const formats[][2] = {
	{ "common",
	    "^127\\.0\\.0\\.1 - - \\[" TIME "\\] \"GET /a\\?b=c&d HTTP/1\\.1\" "
	    "200 2\n$" },
	{ "combined",
	    "^127\\.0\\.0\\.1 - - \\[" TIME "\\] \"GET /a\\?b=c&d HTTP/1\\.1\" "
	    "200 2 \"http://b\\.test/x\" \"probe/1\\.0 \\(a\\)\"\n$" },
	{ "logfmt",
	    "^time=[^ ]+ reason=done client=127\\.0\\.0\\.1:[0-9]+ "
	    "port=[0-9]+ method=GET path=\"/a\\?b=c&d\" protocol=HTTP/1\\.1 "
	    "host=a\\.test status=200 server=127\\.0\\.0\\.1:[0-9]+ up=[0-9]+ "
	    "down=40 first_ms=" MS " ms=" MS " referer=http://b\\.test/x "
	    "user_agent=\"probe/1\\.0 \\(a\\)\"\n$" },
	{ "json",
	    "^\\{\"time\":\"[^\"]+\",\"reason\":\"done\","
	    "\"client\":\"127\\.0\\.0\\.1:[0-9]+\",\"port\":[0-9]+,"
	    "\"method\":\"GET\",\"path\":\"/a\\?b=c&d\","
	    "\"protocol\":\"HTTP/1\\.1\",\"host\":\"a\\.test\",\"status\":200,"
	    "\"server\":\"127\\.0\\.0\\.1:[0-9]+\",\"up\":[0-9]+,\"down\":40,"
	    "\"first_ms\":" MS ",\"ms\":" MS ","
	    "\"referer\":\"http://b\\.test/x\","
	    "\"user_agent\":\"probe/1\\.0 \\(a\\)\"\\}\n$" },
	{ "'{client_ip} {client_port} {epoch} [{retries}] {request}'",
	    "^127\\.0\\.0\\.1 [0-9]+ [0-9]+ \\[-\\] GET /a\\?b=c&d "
	    "HTTP/1\\.1\n$" },
};

START_TEST(format)
{
	up_with(text("request_format %s", formats[_i][0]));
	ck_assert_ptr_nonnull(strstr(ask(visit), "ok"));
	WAIT_FOR(count_in(contents(log_path), "\n") == 1, SOON);
	matches(contents(log_path), formats[_i][1]);
	down();
}
END_TEST

/* As web servers write it, unless another one is set. */
START_TEST(combined_by_default)
{
	up_with("retry 3");
	ask(LAST("/"));
	WAIT_FOR(count_in(contents(log_path), "\n") == 1, SOON);
	matches(contents(log_path), "\"GET / HTTP/1\\.1\" 200 2 \"-\" \"-\"");
	down();
}
END_TEST

/* ---- one line for each ---- */

static void
exchange(int fd, const char *request, const char *end)
{
	char got[4096];
	size_t n = 0;

	endpoint_send(fd, request, strlen(request));
	do {
		endpoint_recv(fd, got + n, 1);
		got[++n] = '\0';
		ck_assert_uint_lt(n, sizeof(got) - 1);
	} while (strstr(got, end) == NULL);
}

START_TEST(kept_connection)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/500"), "bad");
	exchange(fd, GET("/chunks"), "0\r\n\r\n");
	exchange(fd, GET("/hints"), "204 No Content\r\n\r\n");
	exchange(fd, GET("/good"), "ok");
	lines_are("GET /500 HTTP/1.1 500 3 done\n"
		  "GET /chunks HTTP/1.1 200 14 done\n"
		  "GET /hints HTTP/1.1 204 0 done\n"
		  "GET /good HTTP/1.1 200 2 done\n");
	close(fd);
	down();
	ck_assert_int_eq(count_in(contents(log_path), "\n"), 4);
}
END_TEST

START_TEST(pipelined)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	exchange(
	    fd, GET("/1") GET("/500") GET("/3") GET("/chunks"), "0\r\n\r\n");
	lines_are("GET /1 HTTP/1.1 200 2 done\n"
		  "GET /500 HTTP/1.1 500 3 done\n"
		  "GET /3 HTTP/1.1 200 2 done\n"
		  "GET /chunks HTTP/1.1 200 14 done\n");
	close(fd);
	down();
}
END_TEST

START_TEST(with_a_body)
{
	static char request[HEADS];
	size_t n;

	up_with("request_format '{method} {path} {status} {up}'");
	n = (size_t)sprintf(request,
	    "POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000\r\n"
	    "Connection: close\r\n\r\n");
	memset(request + n, 'b', 1000);
	ask(request);
	down();
	matches(contents(log_path), "^POST /p 200 1[0-9]{3}\n$");
}
END_TEST

/* ---- answers of pen's own ---- */

static void
asks(const char *commands, const char *then, const char *request,
    const char *line)
{
	up_with(text("%s;%s", commands, SHORT));
	if (then != NULL)
		pen_answers(&ctl, then, "");
	ask(request);
	WAIT_FOR(count_in(contents(log_path), "\n") >= 1, SOON);
	ck_assert_msg(strstr(contents(log_path), line) != NULL &&
		count_in(contents(log_path), "\n") == 1,
	    "%s: %s", line, contents(log_path));
	down();
}

static const struct own {
	const char *commands, *request, *line, *then;
} own[] = {
	{ "retry 3", "nonsense\r\n\r\n", "- - - 400 ", NULL },
	{ "retry 3", "GET /a HTTP/1.1\r\nBad Name: x\r\n\r\n",
	    "GET /a HTTP/1.1 400 ", NULL },
	{ "retry 3", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 400 ", NULL },
	{ "retry 3", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "GET / HTTP/2.0 505 ",
	    NULL },
	{ "retry 3", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
	    "CONNECT a:1 HTTP/1.1 501 ", NULL },
	{ "hello_timeout 1", "GET /slow HTTP/1.1\r\nHost: a\r\n",
	    "GET /slow HTTP/1.1 408 ", NULL },
	{ "acl 1 deny 127.0.0.1;client_acl 1;http_status", GET("/x"), " 403 ",
	    NULL },
	{ "http_status;retry 0;retry_requests 0", GET("/nothing"),
	    "GET /nothing HTTP/1.1 502 ", NULL },
	{ "http_status", GET("/x"), " 503 ", "server 0 maint" },
};
enum { OWN = sizeof(own) / sizeof(own[0]) };

START_TEST(own_answer)
{
	asks(own[_i].commands, own[_i].then, own[_i].request, own[_i].line);
	if (strstr(own[_i].line, " 50") != NULL)
		ck_assert_ptr_null(strstr(contents(log_path), " 0 "));
}
END_TEST

/* A header section that is too long has a line with its beginning. */
START_TEST(too_long_a_header)
{
	static char request[HEADS];
	int fd;

	up_with(SHORT);
	strcpy(request, "GET /much HTTP/1.1\r\nHost: a\r\nX: ");
	memset(request + strlen(request), 'x', 40000);
	fd = endpoint_connect(&front);
	endpoint_send(fd, request, strlen(request));
	WAIT_FOR(file_has(log_path, "GET /much HTTP/1.1 431 "), SOON);
	close(fd);
	down();
}
END_TEST

/* Without pages a client is reset, and its request has a line all the same. */
START_TEST(without_a_page)
{
	int fd;

	up_with("retry 0;" SHORT);
	pen_answers(&ctl, "server 0 maint", "");
	fd = endpoint_connect(&front);
	/* it may be reset while it sends */
	(void)send(fd, GET("/x"), strlen(GET("/x")), MSG_NOSIGNAL);
	close(fd);
	fd = endpoint_connect(&front);
	close(fd);
	down();
	ck_assert_int_le(count_in(contents(log_path), "\n"), 1);
}
END_TEST

/* What came before a wrong request is answered, and has its line. */
START_TEST(wrong_one_behind)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	endpoint_send(
	    fd, GET("/1") "wrong\r\n\r\n", strlen(GET("/1") "wrong\r\n\r\n"));
	ck_assert_ptr_nonnull(strstr(endpoint_recv_all(fd), " 400 "));
	close(fd);
	WAIT_FOR(count_in(contents(log_path), "\n") == 2, SOON);
	matches(contents(log_path),
	    "^GET /1 HTTP/1\\.1 200 2 done\n- - - 400 [0-9]+ bad_request\n$");
	down();
}
END_TEST

/* ---- ends ---- */

START_TEST(client_leaves)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	endpoint_send(fd, GET("/hang"), strlen(GET("/hang")));
	WAIT_FOR(atomic_load(&back.open) == 1, SOON);
	endpoint_reset(fd);
	lines_are("GET /hang HTTP/1.1 499 0 client_reset\n");
	down();
}
END_TEST

/* All that are under way have a line. */
START_TEST(client_leaves_several)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/1") GET("/hang") GET("/3"), "ok");
	endpoint_reset(fd);
	lines_are("GET /1 HTTP/1.1 200 2 done\n"
		  "GET /hang HTTP/1.1 499 0 client_reset\n"
		  "GET /3 HTTP/1.1 499 0 client_reset\n");
	down();
}
END_TEST

START_TEST(client_leaves_in_a_header)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	endpoint_send(fd, "GET /part HTTP/1.1\r\nHo", 22);
	WAIT_FOR(report_number(pen_ask(&ctl, "statistics"), "\naccepted ") == 1,
	    SOON);
	close(fd);
	WAIT_FOR(count_in(contents(log_path), "\n") == 1, SOON);
	matches(contents(log_path), "^GET /part HTTP/1\\.1 499 0 client_reset");
	down();
}
END_TEST

START_TEST(server_ends)
{
	up_with("retry_requests 0;" SHORT);
	ask(GET("/endless"));
	ask(GET("/half"));
	lines_are("GET /endless HTTP/1.1 200 9 done\n"
		  "GET /half HTTP/1.1 200 4 truncated\n");
	down();
}
END_TEST

static void
drop(struct backend *b, int fd)
{
	char request[1000];

	(void)b;
	(void)recv(fd, request, sizeof(request), 0);
}

/* The line names the server that answered, and how many had failed. */
START_TEST(retried)
{
	struct backend dropper;

	log_path = scratch("requests");
	backend_start(&dropper, ENDPOINT_TCP4, drop, NULL);
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-H", "-O", "prio", "-O",
	    text("request_log %s;request_format '{status} {retries} {server}'",
		log_path),
	    front.text, text("%s:0:0:0:1", dropper.at.text),
	    text("%s:0:0:0:2", back.at.text), NULL);
	ask(LAST("/x"));
	lines_are(text("200 1 %s\n", back.at.text));
	pen_down(&pen);
	backend_stop(&back);
	backend_stop(&dropper);
}
END_TEST

/* ---- hostile bytes ---- */

static const char hostile[] =
    "GET /\"x\\y\" HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n"
    "User-Agent: \" 200 \\ \xff\xc2\x9b\t=\r\nReferer: a\\\"b\r\n\r\n";
/* what is refused may be anything */
static const char refused[] = "GET /\x1b[2J\x01 \x7f\xff\"\\ HTTP/1.1\r\n"
			      "User-Agent: \x1b]0;x\x07\n\r\r\n\r\n";

static const char *const all_formats[] = { "common", "combined", "logfmt",
	"json", "'{path} {user_agent} {referer} {request}'" };
enum { FORMATS = sizeof(all_formats) / sizeof(all_formats[0]) };

START_TEST(hostile_bytes)
{
	const char *c;

	up_with(text("request_format %s", all_formats[_i]));
	ask(hostile);
	ask(refused);
	WAIT_FOR(count_in(contents(log_path), "\n") >= 2, SOON);
	down();
	ck_assert_int_eq(count_in(contents(log_path), "\n"), 2);
	for (c = contents(log_path); *c != '\0'; c++)
		ck_assert_msg(
		    *c == '\n' || ((unsigned char)*c >= ' ' && *c != 0x7f),
		    "%s", contents(log_path));
	if (strcmp(all_formats[_i], "combined") == 0)
		ck_assert_ptr_nonnull(strstr(contents(log_path),
		    "\"GET /\\\"x\\\\y\\\" HTTP/1.1\" 200 2 \"a\\\\\\\"b\" "
		    "\"\\\" 200 \\\\ \xff\xc2\x9b\\x09=\"\n"));
}
END_TEST

START_TEST(long_values)
{
	static char request[HEADS];
	const char *got;
	size_t n;

	up_with("request_format json");
	n = (size_t)sprintf(request, "GET /");
	memset(request + n, '"', 9000);
	n += 9000;
	n += (size_t)sprintf(request + n,
	    " HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nUser-Agent: ");
	memset(request + n, '\xff', 9000);
	n += 9000;
	n += (size_t)sprintf(request + n, "\r\nReferer: ");
	memset(request + n, '\xfe', 9000);
	strcpy(request + n + 9000, "\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(ask(request), "ok"));
	WAIT_FOR(count_in(contents(log_path), "\n") == 1, SOON);
	got = contents(log_path);
	ck_assert_int_eq(count_in(got, "\\\""), 2047);
	ck_assert_int_eq(count_in(got, "\\u00ff"), 512);
	ck_assert_int_eq(count_in(got, "\\u00fe"), 1024);
	ck_assert_ptr_nonnull(strstr(got, "\"}\n"));
	down();
}
END_TEST

/* ---- where lines go ---- */

static long
lost(void)
{
	return report_number(
	    pen_ask(&ctl, "statistics"), "\nrequest_lines_lost ");
}

START_TEST(full_disk)
{
	if (access("/dev/full", W_OK) < 0)
		SKIP("no /dev/full");
	up_with("request_log /dev/full");
	ck_assert_ptr_nonnull(strstr(ask(LAST("/")), "ok"));
	ck_assert_ptr_nonnull(strstr(ask(LAST("/")), "ok"));
	WAIT_FOR(lost() == 2, SOON);
	ck_assert(child_has_said(&pen.child, "request log lines dropped "));
	ck_assert_ptr_nonnull(strstr(ask(LAST("/")), "ok"));
	down();
}
END_TEST

static void
exchange_many(int fd, int times)
{
	while (times-- > 0)
		exchange(fd, GET("/"), "ok");
}

START_TEST(pipe_without_reader)
{
	const char *path = scratch("fifo");
	int fd, client;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
#ifdef F_SETPIPE_SZ
	ck_assert_int_eq(fcntl(fd, F_SETPIPE_SZ, 4096), 4096);
#endif
	up_with(text("request_log %s", path));
	client = endpoint_connect(&front);
	WAIT_FOR((exchange_many(client, 100), lost() > 0), SOON);
	exchange_many(client, 100);
	close(client);
	close(fd);
	down();
}
END_TEST

START_TEST(reopened)
{
	const char *old = scratch("old");

	up_with(SHORT);
	ask(LAST("/1"));
	WAIT_FOR(file_has(log_path, "/1"), SOON);
	ck_assert_int_eq(rename(log_path, old), 0);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(access(log_path, F_OK) == 0, SOON);
	ask(LAST("/2"));
	down();
	ck_assert_str_eq(contents(old), "GET /1 HTTP/1.1 200 2 done\n");
	ck_assert_str_eq(contents(log_path), "GET /2 HTTP/1.1 200 2 done\n");
}
END_TEST

/* One in ten of those that went well, and each that did not. */
START_TEST(sample)
{
	int fd, i;

	NEEDS_ONE_WORKER("each has a count of its own");
	up_with("log_sample 10;" SHORT);
	fd = endpoint_connect(&front);
	for (i = 0; i < 30; i++)
		exchange(fd, GET("/"), "ok");
	exchange(fd, GET("/500"), "bad");
	close(fd);
	down();
	ck_assert_int_eq(count_in(contents(log_path), " 200 2 done\n"), 3);
	ck_assert_int_eq(count_in(contents(log_path), " 500 3 done\n"), 1);
}
END_TEST

/* It comes and goes at run time, also for connections that are there. */
START_TEST(at_run_time)
{
	int fd;

	up_with(SHORT);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/1"), "ok");
	ck_assert_str_eq(pen_ask(&ctl, "no request_log"), "");
	exchange(fd, GET("/2"), "ok");
	ck_assert_str_eq(pen_ask(&ctl, text("request_log %s", log_path)), "");
	exchange(fd, GET("/3"), "ok");
	pen_answers(&ctl, "request_format '{x}'",
	    "request_format: \"{x}\": no field \"x\"");
	pen_answers(&ctl, "request_format '{tried}'",
	    "field \"tried\" is of sessions: log_format has it");
	ck_assert_str_eq(pen_ask(&ctl, "request_format '{path}'"), "");
	exchange(fd, GET("/4"), "ok");
	close(fd);
	down();
	ck_assert_str_eq(contents(log_path),
	    "GET /1 HTTP/1.1 200 2 done\nGET /3 HTTP/1.1 200 2 done\n/4\n");
}
END_TEST

/* Each service has its own, or none. */
START_TEST(each_service_has_its_own)
{
	const char *conf = scratch("pen.conf"), *one = scratch("one");
	struct endpoint more[2];
	int i;

	log_path = scratch("requests");
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	for (i = 0; i < 2; i++)
		endpoint_new(&more[i], ENDPOINT_TCP4);
	write_file(conf,
	    text("listen %s\nhttp\nrequest_log %s\nrequest_format {path}\n"
		 "server 0 address 127.0.0.1 port %d\nservice one\nlisten "
		 "%s\nhttp\n"
		 "request_log %s\nrequest_format '{service} {path}'\n"
		 "server 0 address 127.0.0.1 port %d\nservice two\nlisten "
		 "%s\nhttp\n"
		 "server 0 address 127.0.0.1 port %d\n",
		front.text, log_path, back.at.port, more[0].text, one,
		back.at.port, more[1].text, back.at.port));
	pen_up(&pen, &front, "-F", conf, NULL);
	ask(LAST("/0"));
	front = more[0];
	ask(LAST("/1"));
	front = more[1];
	ask(LAST("/2"));
	down();
	ck_assert_str_eq(contents(log_path), "/0\n");
	ck_assert_str_eq(contents(one), "one /1\n");
}
END_TEST

START_TEST(without_http)
{
	const char *file = scratch("requests");
	int fd;

	endpoint_new(&front, ENDPOINT_TCP4);
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	pen_up(&pen, &front, "-O", text("request_log %s", file), front.text,
	    back.at.text, NULL);
	WAIT_FOR(child_has_said(
		     &pen.child, "request_log has no effect without http"),
	    SOON);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/"), "ok");
	close(fd);
	down();
	ck_assert_str_eq(contents(file), "");
	pen_expect_failure("request_log: \"on\": neither a destination nor a "
			   "file",
	    "-f", "-H", "-O", "request_log on", front.text, "127.0.0.1:1",
	    NULL);
}
END_TEST

/* ---- by number, and for other programs ---- */

static long
answered(const char *class)
{
	return report_number(
	    pen_ask(&ctl, "statistics"), text("\nhttp_%s ", class));
}

static void
load(const char *program, const char *arg, long requests)
{
	(void)run_program(120000, program, "-q", "-n", text("%ld", requests),
	    "-c", "20", arg, text("http://127.0.0.1:%d/x", front.port), NULL);
}

/* As many lines as the servers have answered; two programs read all of them. */
START_TEST(read_by_others)
{
	const char *out;
	long n = suite_amount(2000, 200);
	int lines;

	NEED_PROGRAM("ab");
	up_with("request_format combined");
	load("ab", "-k", n);
	load("ab", "-d", n / 10);
	ask(hostile);
	ask(refused);
	ask(LAST("/500"));
	WAIT_FOR(strncmp(pen_ask(&ctl, "statistics"), "sessions 0\n", 11) == 0,
	    SOON);
	n = answered("2xx") + answered("5xx") + 1;
	down();
	lines = count_in(contents(log_path), "\n");
	ck_assert_int_eq(lines, n);
	if (child_find("fail2ban-regex") == NULL)
		SKIP("fail2ban-regex is not installed");
	out = run_program(120000, "fail2ban-regex", log_path,
	    "^<HOST> - \\S+ (?:\\[\\])? ?\".*\" \\d+ \\d+ \".*\" \".*\"$",
	    NULL);
	ck_assert_msg(strstr(out,
			  text("Lines: %d lines, 0 ignored, %d matched, "
			       "0 missed",
			      lines, lines)) != NULL,
	    "%s", out);
	if (child_find("goaccess") == NULL)
		SKIP("goaccess is not installed");
	out = scratch("report.json");
	(void)run_program(120000, "goaccess", log_path, "--log-format=COMBINED",
	    "--no-global-config", "-o", out, NULL);
	ck_assert_int_eq(
	    report_number(contents(out), "\"total_requests\": "), lines);
	ck_assert_int_eq(
	    report_number(contents(out), "\"failed_requests\": "), 0);
}
END_TEST

START_TEST(workers)
{
	const char *got;
	long n = suite_amount(2000, 200);

	NEED_PROGRAM("ab");
	up_with("workers 2;" SHORT);
	load("ab", "-k", n);
	load("ab", "-d", n / 10);
	down();
	got = contents(log_path);
	ck_assert_int_eq(count_in(got, "\n"), n + n / 10);
	ck_assert_int_eq(
	    count_in(got, " /x HTTP/1.0 200 2 done\n"), n + n / 10);
}
END_TEST

SUITE(test_request_log)
{
	Suite *s = suite_create("request_log");

	SUITE_ADD_LOOP(
	    s, format, 30, (int)(sizeof(formats) / sizeof(*formats)));
	SUITE_ADD(s, combined_by_default, 30);
	SUITE_ADD(s, kept_connection, 30);
	SUITE_ADD(s, pipelined, 30);
	SUITE_ADD(s, with_a_body, 60);
	SUITE_ADD_LOOP(s, own_answer, 30, OWN);
	SUITE_ADD(s, too_long_a_header, 30);
	SUITE_ADD(s, without_a_page, 30);
	SUITE_ADD(s, wrong_one_behind, 30);
	SUITE_ADD(s, client_leaves, 30);
	SUITE_ADD(s, client_leaves_several, 30);
	SUITE_ADD(s, client_leaves_in_a_header, 30);
	SUITE_ADD(s, server_ends, 30);
	SUITE_ADD(s, retried, 30);
	SUITE_ADD_LOOP(s, hostile_bytes, 30, FORMATS);
	SUITE_ADD(s, long_values, 30);
	SUITE_ADD(s, full_disk, 30);
	SUITE_ADD(s, pipe_without_reader, 60);
	SUITE_ADD(s, reopened, 30);
	SUITE_ADD(s, sample, 30);
	SUITE_ADD(s, at_run_time, 30);
	SUITE_ADD(s, each_service_has_its_own, 30);
	SUITE_ADD(s, without_http, 30);
	SUITE_ADD(s, read_by_others, 300);
	SUITE_ADD(s, workers, 120);
	return s;
}
