/* test_http_counts.c: what servers answer counts for each of them, by class:
 * however it arrives, and whatever becomes of pen. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/certs.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 20000, HEAD_MAX = 4096 };

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define LAST(path) \
	"GET " path " HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
#define OK   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define OOPS "HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad"
#define SWITCHING                                           \
	"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n" \
	"Upgrade: websocket\r\n\r\n"

/* ---- a server that answers by path ---- */

static const struct answer {
	const char *path, *says;
	bool ends; /* the connection */
} answers_by_path[] = {
	{ "/500", OOPS, false },
	{ "/503", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", false },
	{ "/302", "HTTP/1.1 302 Go\r\nContent-Length: 0\r\n\r\n", false },
	{ "/404", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", false },
	{ "/chunks",
	    "HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "28\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	    "\r\n0\r\n\r\n",
	    false },
	{ "/head", "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n", false },
	{ "/hints",
	    "HTTP/1.1 103 Early Hints\r\n\r\n"
	    "HTTP/1.1 204 No Content\r\n\r\n",
	    false },
	{ "/half", "HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nhalf",
	    true },
	{ "/endless", "HTTP/1.1 500 Oops\r\n\r\nall of it", true },
	{ "/nothing", "", true },
	{ "/wrong", "SSH-2.0\r\n\r\n", true },
	{ "/socket", SWITCHING OOPS OOPS, false },
	{ "/", OK, false },
};

/* Returns whether the connection goes on. */
static bool
answer(int fd, const char *head)
{
	const char *path = strchr(head, ' ');
	const struct answer *a = answers_by_path;

	if (path == NULL)
		return false;
	while (strncmp(path + 1, a->path, strlen(a->path)) != 0)
		a++;
	return backend_send(fd, a->says, strlen(a->says)) && !a->ends;
}

static void
serve(struct backend *b, int fd)
{
	char bytes[HEAD_MAX], *end;
	size_t n = 0;
	ssize_t got;
	bool on = true;

	(void)b;
	while (on && (got = recv(fd, bytes + n, HEAD_MAX - 1 - n, 0)) > 0) {
		n += (size_t)got;
		bytes[n] = '\0';
		while (on && (end = strstr(bytes, "\r\n\r\n")) != NULL) {
			on = answer(fd, bytes);
			n -= (size_t)(end + 4 - bytes);
			memmove(bytes, end + 4, n + 1);
		}
	}
}

/* ---- pen in front of it ---- */

static struct backend back;
static struct endpoint front, ctl;
static struct pen pen;

static void
prepare(void)
{
	backend_start(&back, ENDPOINT_TCP4, serve, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static void
up(const char *commands)
{
	prepare();
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O", commands,
	    front.text, back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

/* All that the client gets until the end. */
static const char *
ask(const char *request)
{
	return endpoint_hear_after(&front, request);
}

/* On a connection that stays. */
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

/* What the server that is `number` has counted: "1xx 2xx 3xx 4xx 5xx". */
static const char *
counted(unsigned number, const char *service)
{
	const char *all = pen_ask(&ctl, text("%sservers long", service));
	const char *line =
	    strstr(text("\n%s", all), text("\n%u name ", number));
	unsigned n[5];

	ck_assert_msg(line != NULL, "%s", all);
	line = strstr(line, " http_1xx ");
	ck_assert_msg(line != NULL, "%s", all);
	ck_assert_int_eq(sscanf(line,
			     " http_1xx %u http_2xx %u http_3xx %u http_4xx %u "
			     "http_5xx %u",
			     &n[0], &n[1], &n[2], &n[3], &n[4]),
	    5);
	return text("%u %u %u %u %u", n[0], n[1], n[2], n[3], n[4]);
}

static void
counts(const char *wanted)
{
	WAIT_FOR(strcmp(counted(0, ""), wanted) == 0, SOON);
}

/* ---- each answer counts once ---- */

/* Also by class for the service, and in /metrics. */
START_TEST(kept_connection)
{
	struct endpoint web;
	const char *got;
	int fd;

	endpoint_new(&web, ENDPOINT_TCP4);
	up(text("web %s", web.text));
	counts("0 0 0 0 0");
	fd = endpoint_connect(&front);
	exchange(fd, GET("/500"), "bad");
	exchange(fd, GET("/302"), "\r\n\r\n");
	exchange(fd, GET("/404"), "\r\n\r\n");
	exchange(fd, GET("/hints"), "204 No Content\r\n\r\n");
	exchange(fd, GET("/"), "ok");
	exchange(fd, GET("/chunks"), "\r\n0\r\n\r\n");
	exchange(fd, "HEAD /head HTTP/1.1\r\nHost: a.test\r\n\r\n", "\r\n\r\n");
	exchange(fd, GET("/"), "ok");
	close(fd);
	counts("1 3 1 1 3");
	got = endpoint_ask(&web, "GET /metrics HTTP/1.0\r\n\r\n");
	ck_assert_msg(
	    strstr(got, "# TYPE pen_server_http_responses counter\n") != NULL ||
		strstr(got,
		    "# TYPE pen_server_http_responses_total counter\n") != NULL,
	    "%s", got);
	ck_assert_msg(
	    strstr(got,
		"\npen_server_http_responses_total{server=\"0\",class=\"4xx\"} "
		"1\n"
		"pen_server_http_responses_total{server=\"0\",class=\"5xx\"} "
		"3\n") != NULL,
	    "%s", got);
	pen_answers(&ctl, "statistics", "\nhttp_5xx 3\n");
	pen_answers(&ctl, "clear counters", "");
	counts("0 0 0 0 0");
	down();
}
END_TEST

START_TEST(pipelined)
{
	int fd;

	up("retry 3");
	fd = endpoint_connect(&front);
	exchange(
	    fd, GET("/") GET("/500") GET("/404") GET("/503") GET("/end"), "ok");
	shutdown(fd, SHUT_WR);
	endpoint_recv_all(fd);
	close(fd);
	counts("0 2 0 1 2");
	down();
}
END_TEST

/* Bytes after 101 are of another protocol. */
START_TEST(switched)
{
	int fd;

	up("retry 3");
	fd = endpoint_connect(&front);
	exchange(fd,
	    "GET /socket HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\n"
	    "Upgrade: websocket\r\n\r\n",
	    "badHTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad");
	close(fd);
	counts("1 0 0 0 0");
	down();
}
END_TEST

/* Before the request is complete. */
START_TEST(early)
{
	int fd;

	up("retry 3");
	fd = endpoint_connect(&front);
	exchange(fd,
	    "POST /500 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\nab",
	    "bad");
	counts("0 0 0 0 1");
	close(fd);
	down();
}
END_TEST

/* Its status came, whatever became of the rest. */
START_TEST(server_ends)
{
	static const struct {
		const char *path, *counts, *own;
	} ends[] = { { LAST("/half"), "0 0 0 0 1", "0" },
		{ LAST("/endless"), "0 0 0 0 1", "0" },
		{ LAST("/nothing"), "0 0 0 0 0", "1" },
		{ LAST("/wrong"), "0 0 0 0 0", "1" } };

	up("http_status;retry 0;retry_requests 0");
	ask(ends[_i].path);
	counts(ends[_i].counts);
	pen_answers(
	    &ctl, "statistics", text("\nhttp_own_5xx %s\n", ends[_i].own));
	down();
}
END_TEST

/* Pen's own answers are no server's. */
START_TEST(own_answers)
{
	up("http_status;retry 0");
	ask("GET / HTTP/1.1\r\n\r\n");
	pen_answers(&ctl, "server 0 maint", "");
	ask(LAST("/"));
	counts("0 0 0 0 0");
	pen_answers(&ctl, "statistics",
	    "\nhttp_own_3xx 0\nhttp_own_4xx 1\nhttp_own_5xx 1\n");
	down();
}
END_TEST

/* A client that gets another server for its next request, on the same
 * connection. */
START_TEST(next_server)
{
	struct backend other;
	int fd;

	NEEDS_ONE_WORKER("each of them begins with another server");
	prepare();
	backend_start(&other, ENDPOINT_TCP4, serve, NULL);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, front.text,
	    back.at.text, other.at.text, NULL);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/500"), "bad");
	WAIT_FOR(strcmp(counted(0, ""), "0 0 0 0 1") == 0, SOON);
	backend_stop(&back);
	WAIT_FOR(atomic_load(&back.open) == 0, SOON);
	exchange(fd, GET("/"), "ok");
	close(fd);
	WAIT_FOR(strcmp(counted(1, ""), "0 1 0 0 0") == 0, SOON);
	WAIT_FOR(strcmp(counted(0, ""), "0 0 0 0 1") == 0, SOON);
	pen_down(&pen);
	backend_stop(&other);
}
END_TEST

/* ---- of pen ---- */

/* Without `http` there is nothing to report. */
START_TEST(without_http)
{
	prepare();
	pen_up(
	    &pen, &front, "-r", "-C", ctl.text, front.text, back.at.text, NULL);
	ask(LAST("/half"));
	ck_assert_ptr_null(strstr(pen_ask(&ctl, "servers long"), "http_"));
	down();
}
END_TEST

START_TEST(each_service)
{
	const char *conf = scratch("pen.conf");
	struct endpoint more;

	prepare();
	endpoint_new(&more, ENDPOINT_TCP4);
	write_file(conf,
	    text("listen %s\nhttp\nserver 0 address 127.0.0.1 port %d\n"
		 "service one\nlisten %s\nhttp\n"
		 "server 0 address 127.0.0.1 port %d\n",
		front.text, back.at.port, more.text, back.at.port));
	pen_up(&pen, &front, "-C", ctl.text, "-F", conf, NULL);
	ask(LAST("/endless"));
	front = more;
	ask(LAST("/half"));
	ask(LAST("/half"));
	counts("0 0 0 0 1");
	ck_assert_str_eq(counted(0, "service one "), "0 0 0 0 2");
	/* a reload keeps them */
	write_file(conf, text("%s\nserver 0 weight 2\n", contents(conf)));
	pen_answers(&ctl, "reload", "");
	counts("0 0 0 0 1");
	ck_assert_str_eq(counted(0, "service one "), "0 0 0 0 2");
	down();
}
END_TEST

START_TEST(upgrade)
{
	const char *program = upgrading_install();
	pid_t new;

	NEED_UPGRADES(program);
	up("retry 3");
	ask(LAST("/half"));
	ask(LAST("/endless"));
	counts("0 0 0 0 2");
	new = upgrading_go(&ctl, pen.child.pid);
	counts("0 0 0 0 2");
	ask(LAST("/half"));
	counts("0 0 0 0 3");
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* ---- those that answer with errors ---- */

/* In `services` and `servers long`, though the server stays up; from three
 * errors on, and only above the threshold. */
START_TEST(errors_are_reported)
{
	int fd;

	up("http_errors 50");
	fd = endpoint_connect(&front);
	exchange(fd, GET("/500"), "bad");
	exchange(fd, GET("/503"), "\r\n\r\n");
	counts("0 0 0 0 2");
	pen_answers(&ctl, "services", " http_errors \"\"");
	exchange(fd, GET("/500"), "bad");
	counts("0 0 0 0 3");
	pen_answers(&ctl, "services", " http_errors \"0 127.0.0.1 100%\"");
	pen_answers(&ctl, "services", " state up ");
	pen_answers(&ctl, "servers long", " http_errors 100");
	exchange(fd, GET("/hints") GET("/404"), "404 No\r\nContent-Length: 0");
	counts("1 1 0 1 3");
	pen_answers(&ctl, "services", " http_errors \"0 127.0.0.1 60%\"");
	exchange(fd, GET("/"), "ok");
	counts("1 2 0 1 3");
	pen_answers(&ctl, "services", " http_errors \"\"");
	pen_answers(&ctl, "http_errors 2", "2");
	pen_answers(&ctl, "servers long", " http_errors 50");
	pen_answers(&ctl, "http_errors 0", "0");
	pen_answers(&ctl, "servers long", " http_errors 0");
	close(fd);
	down();
}
END_TEST

/* What the old process has counted is not of the last minute. */
START_TEST(errors_before_an_upgrade)
{
	const char *program = upgrading_install();
	pid_t new;
	int i;

	NEED_UPGRADES(program);
	up("retry 3");
	for (i = 0; i < 4; i++)
		ask(LAST("/half"));
	counts("0 0 0 0 4");
	pen_answers(&ctl, "services", " http_errors \"0 127.0.0.1 100%\"");
	new = upgrading_go(&ctl, pen.child.pid);
	counts("0 0 0 0 4");
	pen_answers(&ctl, "services", " http_errors \"\"");
	for (i = 0; i < 3; i++)
		ask(LAST("/half"));
	counts("0 0 0 0 7");
	pen_answers(&ctl, "services", " http_errors \"0 127.0.0.1 100%\"");
	upgrading_end(new);
	backend_stop(&back);
}
END_TEST

/* ---- TLS to servers ---- */

static bool
oops(struct tls_echo *s, SSL *ssl)
{
	char bytes[HEAD_MAX];

	(void)s;
	return SSL_read(ssl, bytes, sizeof(bytes)) > 0 &&
	    SSL_write(ssl, OOPS, sizeof(OOPS) - 1) > 0 &&
	    SSL_read(ssl, bytes, sizeof(bytes)) > 0;
}

START_TEST(server_with_tls)
{
	struct tls_echo_options o = { .talk = oops };
	struct cert *cert = cert_new(&(struct cert_wish){ .name = "a.test" });
	const char *pem = cert_write_all(cert, scratch("cert.pem"));
	struct tls_echo server;
	int fd;

	tls_echo_start(&server, pem, pem, &o);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-H", "-C", ctl.text, "-O",
	    "ssl_upstream;no ssl_upstream_verify", front.text,
	    server.backend.at.text, NULL);
	fd = endpoint_connect(&front);
	exchange(fd, GET("/"), "bad");
	close(fd);
	counts("0 0 0 0 1");
	pen_down(&pen);
	tls_echo_stop(&server);
	cert_free(cert);
}
END_TEST

SUITE(test_http_counts)
{
	Suite *s = suite_create("http_counts");

	SUITE_ADD(s, kept_connection, 30);
	SUITE_ADD(s, pipelined, 30);
	SUITE_ADD(s, switched, 30);
	SUITE_ADD(s, early, 30);
	SUITE_ADD_LOOP(s, server_ends, 30, 4);
	SUITE_ADD(s, own_answers, 30);
	SUITE_ADD(s, next_server, 60);
	SUITE_ADD(s, without_http, 30);
	SUITE_ADD(s, each_service, 30);
	SUITE_ADD(s, upgrade, 60);
	SUITE_ADD(s, errors_are_reported, 30);
	SUITE_ADD(s, errors_before_an_upgrade, 60);
	SUITE_ADD(s, server_with_tls, 30);
	return s;
}
