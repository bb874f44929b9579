/* test_web.c: the pages about the program, as browsers and monitoring get
 * them. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct backend back;
static struct spot front, web, ctl;
static struct pen pen;

static const char *
command(const char *line)
{
	return spot_ask(&ctl, text("%s\n", line));
}

static void
begin(const char *more, const char *value)
{
	backend_start(&back, SPOT_TCP4, backend_say, "served");
	spot_new(&front, SPOT_TCP4);
	spot_new(&web, SPOT_TCP4);
	spot_new(&ctl, SPOT_UNIX);
	pen_up(&pen, &front, "-C", ctl.text, "-O", text("web %s", web.text),
	    "-O", text("%s %s", more, value), "-r", front.text, back.at.text,
	    NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

/* The whole answer of a path. */
static const char *
get_with(const struct spot *at, const char *path, const char *header)
{
	int fd = spot_connect(at);
	const char *got,
	    *request = text("GET %s HTTP/1.1\r\nHost: x\r\n"
			    "%sConnection: close\r\n\r\n",
		path, header);

	spot_send(fd, request, strlen(request));
	got = spot_recv_all(fd);
	close(fd);
	return got;
}

static const char *
get(const char *path)
{
	return get_with(&web, path, "");
}

static void
expect_status(const char *path, int status)
{
	const char *got = get(path);

	ck_assert_msg(
	    strncmp(got, text("HTTP/1.1 %d ", status), 13) == 0, "%s", got);
}

static void
expect_in(const char *got, const char *what)
{
	ck_assert_msg(strstr(got, what) != NULL, "no \"%s\" in: %s", what, got);
}

START_TEST(pages)
{
	begin("timeout", "3");
	ck_assert_str_eq(spot_hear(&front), "served");
	expect_status("/", 200);
	expect_in(get("/"), "Content-Security-Policy: default-src 'none';");
	expect_in(get("/?a=b"), "<title>pen</title>");
	expect_status("/healthz", 200);
	expect_status("/readyz", 200);
	expect_status("/nothing", 404);
	expect_status("/../etc/passwd", 404);
	expect_in(get("/metrics"), "\npen_connections_accepted_total 1\n");
	expect_in(get("/metrics"),
	    text("pen_server_connects_total{server=\"0\",name=\"127.0.0.1\","
		 "address=\"%s\"} 1\n",
		back.at.text));
	expect_in(get_with(&web, "/metrics",
		      "Accept: application/openmetrics-text\r\n"),
	    "# EOF\n");
	end();
}
END_TEST

/* What the page and programs read is what statistics say. */
START_TEST(status_as_json)
{
	const char *got;

	begin("timeout", "3");
	if (strstr(get("/status.json"), "built without Jansson") != NULL) {
		end();
		SKIP("built without Jansson");
	}
	ck_assert_str_eq(spot_hear(&front), "served");
	got = get("/status.json");
	expect_in(got, "\"accepted\":1,");
	expect_in(got, "\"state\":\"up\"");
	expect_in(got, "\"limits\":[{\"name\":\"sessions\"");
	expect_in(get("/trend.json"), "{\"total sessions\":[");
	end();
}
END_TEST

/* Prometheus takes nothing else, and refuses all for one byte. */
START_TEST(metrics_are_utf8)
{
	begin("timeout", "3");
	command("server 1 address /tmp/a\xff");
	expect_in(get("/metrics"), "name=\"/tmp/a\xc3\xbf\"");
	end();
}
END_TEST

/* Without a server that is up there is no use in new clients. */
START_TEST(readiness)
{
	begin("blacklist", "100");
	command("server 0 drain");
	expect_status("/readyz", 503);
	expect_status("/healthz", 200);
	command("server 0 up");
	expect_status("/readyz", 200);
	end();
}
END_TEST

START_TEST(who_may)
{
	begin("web_acl", "3");
	expect_status("/", 403); /* an empty list that was named */
	command("acl 3 permit 127.0.0.1");
	expect_status("/", 200);
	command("no acl 3");
	command("acl 3 permit 192.0.2.1");
	expect_status("/metrics", 403);
	end();
}
END_TEST

/* It can be moved and ended while pen runs. */
START_TEST(moves)
{
	struct spot unix_web;

	spot_new(&unix_web, SPOT_UNIX);
	begin("timeout", "3");
	command(text("web %s", unix_web.text));
	ck_assert(!spot_is_listening(&web));
	expect_in(get_with(&unix_web, "/healthz", ""), "\r\n\r\nok\n");
	command("no web");
	ck_assert_int_lt(access(unix_web.text, F_OK), 0);
	end();
}
END_TEST

/* Only what is asked for is answered: no bodies, no other methods. */
START_TEST(bad_requests)
{
	static const char *const bad[] = {
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
		"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n",
		"nonsense\r\n\r\n",
	};
	size_t i;

	begin("timeout", "3");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = spot_connect(&web);
		const char *got;

		spot_send(fd, bad[i], strlen(bad[i]));
		got = spot_recv_all(fd);
		ck_assert_msg(strstr(got, " 200 ") == NULL, "%s", got);
		close(fd);
	}
	expect_status("/healthz", 200);
	end();
}
END_TEST

/* Clients that say nothing, or not all, take 64 descriptors at most, and those
 * of the traffic do not notice. */
START_TEST(silent_clients)
{
	enum { MANY = 200 };
	int fds[MANY], i, before;

	begin("timeout", "3");
	before = child_fds(pen.child.pid);
	for (i = 0; i < MANY; i++) {
		fds[i] = spot_connect(&web);
		if (i % 2 == 0)
			spot_send(fds[i], "GET / HT", 8);
	}
	for (i = 0; i < 20; i++)
		ck_assert_str_eq(spot_hear(&front), "served");
	ck_assert_int_le(child_fds(pen.child.pid), before + 64 + 8);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	expect_status("/healthz", 200);
	WAIT_FOR(child_fds(pen.child.pid) <= before + 1, 60000);
	end();
}
END_TEST

/* Pen goes on without, and accepts again when there are some. */
START_TEST(out_of_descriptors)
{
	enum { FILES = 40, MANY = 60 };
	int fds[MANY], i;

	backend_start(&back, SPOT_TCP4, backend_say, "served");
	spot_new(&front, SPOT_TCP4);
	spot_new(&web, SPOT_TCP4);
	pen_start_limited(&pen, FILES, "-f", "-O", text("web %s", web.text),
	    "-r", front.text, back.at.text, NULL);
	pen_wait_ready(&pen, &front);
	for (i = 0; i < MANY; i++)
		fds[i] = spot_connect(&web);
	WAIT_FOR(child_fds(pen.child.pid) >= FILES, 10000);
	pen_expect_rest(&pen);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	expect_status("/healthz", 200);
	end();
}
END_TEST

/* Reads to the end, however long, and says whether `what` was in it. */
static bool
comes(int fd, const char *what)
{
	enum { MOST = 8 << 20 };
	char *all = calloc(1, MOST);
	size_t n = 0;
	ssize_t got;
	bool found;

	ck_assert_ptr_nonnull(all);
	while (n < MOST - 1 && (got = read(fd, all + n, MOST - 1 - n)) > 0)
		n += (size_t)got;
	found = strstr(all, what) != NULL;
	free(all);
	return found;
}

/* A client that does not read a long answer, or goes away within it. */
START_TEST(slow_readers)
{
	static const char ask[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	int fds[20], i;

	begin("timeout", "3");
	for (i = 1; i < 1000; i++)
		command(text("server %d address 127.0.0.1 port %d", i, i));
	for (i = 0; i < 20; i++) {
		fds[i] = spot_connect(&web);
		spot_send(fds[i], ask, sizeof(ask) - 1);
	}
	ck_assert_str_eq(spot_hear(&front), "served");
	for (i = 0; i < 20; i++)
		close(fds[i]);
	fds[0] = spot_connect(&web);
	spot_send(fds[0], ask, sizeof(ask) - 1);
	ck_assert(
	    comes(fds[0], "pen_server_received_bytes_total{server=\"999\""));
	close(fds[0]);
	end();
}
END_TEST

/* Resident memory in kB after it has grown by no more than `most`; builds that
 * change its sizes find leaks in their own way. */
static void
expect_growth(long before, long most)
{
	long now = child_rss_kb(pen.child.pid);

	ck_assert_msg(!pen_is_plain() || now - before < most,
	    "resident %ld kB, then %ld kB", before, now);
}

/* A change of something else costs nothing that stays. */
START_TEST(changes)
{
	long before;
	int i;

	begin("timeout", "3");
	for (i = 0; i < 50; i++)
		command(text("timeout %d", 3 + i % 2));
	before = child_rss_kb(pen.child.pid);
	for (i = 0; i < 400; i++)
		command(text("timeout %d", 3 + i % 2));
	expect_growth(before, 800);
	expect_status("/healthz", 200);
	end();
}
END_TEST

/* Begins a long answer, which a Unix socket has no room for. */
static int
ask_for_long(const struct spot *at)
{
	static char ask[8192];
	int fd = spot_connect(at), n;

	n = snprintf(ask, sizeof(ask),
	    "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Long: %07000d\r\n\r\n", 1);
	spot_send(fd, ask, (size_t)n);
	spot_recv(fd, ask, 100);
	return fd;
}

static void
begin_long(struct spot *unix_web)
{
	int i;

	spot_new(unix_web, SPOT_UNIX);
	begin("timeout", "3");
	for (i = 1; i < 1000; i++)
		command(text("server %d address 127.0.0.1 port %d", i, i));
	command(text("web %s", unix_web->text));
}

/* As many as that, and then there is rest. Returns resident memory in kB. */
static long
leave_answers(const struct spot *at, int n)
{
	int fds = child_fds(pen.child.pid);

	while (n-- > 0)
		close(ask_for_long(at));
	WAIT_FOR(child_fds(pen.child.pid) <= fds, 60000);
	return child_rss_kb(pen.child.pid);
}

/* Clients that go away within a long answer leave nothing behind. */
START_TEST(gone_within_answer)
{
	enum { MANY = 250 };
	struct spot at;
	long before;

	begin_long(&at);
	before = leave_answers(&at, MANY);
	(void)leave_answers(&at, MANY);
	expect_growth(before, MANY * 4);
	expect_in(get_with(&at, "/healthz", ""), "\r\n\r\nok\n");
	end();
}
END_TEST

/* What a client sends while it is answered is not collected. */
START_TEST(sends_within_answer)
{
	enum { MOST = 16 << 20 };
	static char bytes[65536];
	struct spot at;
	ssize_t n;
	size_t sent = 0;
	struct pollfd p = { .events = POLLOUT };
	int fd;

	begin_long(&at);
	fd = p.fd = ask_for_long(&at);
	/* until it is not taken within a second, or pen ends it */
	while (sent < MOST && poll(&p, 1, 1000) == 1 &&
	    (n = send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL)) >
		0)
		sent += (size_t)n;
	ck_assert_uint_lt(sent, MOST);
	close(fd);
	end();
}
END_TEST

/* Prometheus' own tool finds nothing to complain about. */
START_TEST(promtool)
{
	const char *file = scratch("metrics"), *got;
	char answer[4096];
	FILE *f;

	NEED_PROGRAM("promtool");
	begin("timeout", "3");
	ck_assert_str_eq(spot_hear(&front), "served");
	/* the older protocol has no chunks */
	got =
	    strstr(spot_ask(&web, "GET /metrics HTTP/1.0\r\n\r\n"), "\r\n\r\n");
	ck_assert_ptr_nonnull(got);
	write_file(file, got + 4);
	f = popen(text("promtool check metrics <%s 2>&1", file), "r");
	ck_assert_ptr_nonnull(f);
	answer[fread(answer, 1, sizeof(answer) - 1, f)] = '\0';
	ck_assert_msg(pclose(f) == 0 && answer[0] == '\0', "%s", answer);
	end();
}
END_TEST

/* Each metric that an example names is one. */
static void
expect_known(const char *file, const char *metrics)
{
	const char *at = contents(file);
	int known = 0;
	size_t n;

	for (; (at = strstr(at, "pen_")) != NULL; at += n, known++) {
		n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		ck_assert_msg(strstr(metrics, text("%.*s", (int)n, at)) != NULL,
		    "%s: %.*s", file, (int)n, at);
	}
	ck_assert_int_gt(known, 3);
}

/* The configuration, the alerts and the dashboard in examples. */
START_TEST(examples_of_prometheus)
{
	const char *dir = getenv("SRCDIR");
	const char *metrics;

	dir = text("%s/examples/prometheus", dir != NULL ? dir : ".");
	NEED_PROGRAM("promtool");
	begin("timeout", "3");
	ck_assert_str_eq(spot_hear(&front), "served");
	metrics = get("/metrics");
	expect_known(text("%s/alerts.yml", dir), metrics);
	expect_known(text("%s/alerts_test.yml", dir), metrics);
	expect_known(text("%s/grafana.json", dir), metrics);
	ck_assert_int_eq(system(text("cd %s && promtool check config "
				     "prometheus.yml >/dev/null",
			     dir)),
	    0);
	ck_assert_int_eq(system(text("cd %s && promtool test rules "
				     "alerts_test.yml >/dev/null",
			     dir)),
	    0);
	end();
}
END_TEST

/* The page in a browser: a server's state is in the document, and what
 * strangers have chosen is text. */
START_TEST(browser)
{
	const char *dom;

	NEED_PROGRAM("chromium");
	begin("timeout", "3");
	if (strstr(get("/status.json"), "built without Jansson") != NULL) {
		end();
		SKIP("built without Jansson");
	}
	command("server 1 address <script>document.title=1</script> port 1");
	command("server 0 drain");
	dom = scratch("dom");
	ck_assert_int_eq(
	    system(text("HOME=%s timeout 100 chromium --headless=new "
			"--no-sandbox --disable-gpu --virtual-time-budget=8000 "
			"--user-data-dir=%s --dump-dom http://%s/ >%s "
			"2>/dev/null",
		scratch(""), scratch("profile"), web.text, dom)),
	    0);
	expect_in(contents(dom), "class=\"state drain\">drain<");
	expect_in(contents(dom), "<title>pen</title>");
	end();
}
END_TEST

SUITE(test_web)
{
	Suite *s = suite_create("web");

	SUITE_ADD(s, pages, 60);
	SUITE_ADD(s, status_as_json, 60);
	SUITE_ADD(s, metrics_are_utf8, 60);
	SUITE_ADD(s, readiness, 60);
	SUITE_ADD(s, who_may, 60);
	SUITE_ADD(s, moves, 60);
	SUITE_ADD(s, bad_requests, 60);
	SUITE_ADD(s, silent_clients, 120);
	SUITE_ADD(s, out_of_descriptors, 60);
	SUITE_ADD(s, slow_readers, 120);
	SUITE_ADD(s, changes, 60);
	SUITE_ADD(s, gone_within_answer, 120);
	SUITE_ADD(s, sends_within_answer, 60);
	SUITE_ADD(s, promtool, 60);
	SUITE_ADD(s, examples_of_prometheus, 60);
	SUITE_ADD(s, browser, 120);
	return s;
}
