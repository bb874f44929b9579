/* test_web.c: the pages about the program, as browsers and monitoring get
 * them. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

START_TEST(pages)
{
	web_fixture_begin("timeout", "3");
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	web_fixture_expect_status("/", 200);
	web_fixture_expect_in(web_fixture_get("/"),
	    "Content-Security-Policy: default-src 'none';");
	web_fixture_expect_in(web_fixture_get("/?a=b"), "<title>pen</title>");
	web_fixture_expect_in(
	    web_fixture_get("/plain"), "<caption>Servers</caption>");
	web_fixture_expect_status("/healthz", 200);
	web_fixture_expect_status("/readyz", 200);
	web_fixture_expect_status("/nothing", 404);
	web_fixture_expect_status("/../etc/passwd", 404);
	web_fixture_expect_status("//", 404);
	web_fixture_expect_status("//metrics", 404);
	web_fixture_expect_in(web_fixture_get("/metrics"),
	    "\npen_connections_accepted_total 1\n");
	web_fixture_expect_in(web_fixture_get("/metrics"),
	    "\npen_server_connects_total{server=\"0\"} 1\n");
	web_fixture_expect_in(web_fixture_get_from(&web_fixture.web, "/metrics",
				  "Accept: application/openmetrics-text\r\n"),
	    "# EOF\n");
	web_fixture_end();
}
END_TEST

/* What the page and programs read is what statistics say. */
START_TEST(status_as_json)
{
	const char *got;

	web_fixture_begin("timeout", "3");
	if (strstr(web_fixture_get("/status.json"), "built without Jansson") !=
	    NULL) {
		web_fixture_end();
		SKIP("built without Jansson");
	}
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	got = web_fixture_get("/status.json");
	web_fixture_expect_in(got, "\"accepted\":1,");
	web_fixture_expect_in(got, "\"state\":\"up\"");
	web_fixture_expect_in(got, "\"limits\":[{\"name\":\"sessions\"");
	web_fixture_expect_in(
	    web_fixture_get("/trend.json"), "{\"total sessions\":[");
	web_fixture_end();
}
END_TEST

/* What `statistics` tells stands in /metrics, and what a server is stands there
 * once. tests/unit/control/test_counters.c: each row has a metric. */
START_TEST(all_counters_are_metrics)
{
	static const char *const lines[] = { "pen_requests_retried_total 0",
		"pen_limit_exceeded_total 0",
		"pen_limit_connections_total{result=\"tarpitted\"} 0",
		"pen_limit_untracked_total 0", "pen_conn_rate_pauses_total 0",
		"pen_datagrams_dropped_total{reason=\"limit\"} 0",
		"pen_datagrams_dropped_total{reason=\"proxy\"} 0",
		"pen_checks_total 0", "pen_checks_running 0",
		"pen_config_last_reload_successful 1",
		"pen_tls_handshakes_failed_total{side=\"server\"} 0",
		"pen_dns_unsolicited_total 0", "pen_sessions_peak 1",
		"pen_server_state{server=\"0\",state=\"up\"} 1",
		"pen_server_state{server=\"0\",state=\"down\"} 0",
		"pen_server_down_seconds_total{server=\"0\"} 0.000000",
		"pen_server_connect_duration_seconds_count{server=\"0\"} 1",
		("pen_server_first_byte_duration_seconds_bucket"
		 "{server=\"0\",le=\"+Inf\"} 1") };
	const char *got;
	size_t i;

	web_fixture_begin("timeout", "3");
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	WAIT_FOR(strstr(got = web_fixture_get("/metrics"),
		     "\npen_server_sessions_closed_total{server=\"0\","
		     "end=\"good\"} 1\n") != NULL,
	    10000);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		web_fixture_expect_in(got, text("\n%s\n", lines[i]));
	web_fixture_expect_in(got, "\nprocess_cpu_seconds_total ");
	web_fixture_expect_in(got, "\nprocess_max_fds ");
	web_fixture_expect_in(got,
	    text("\npen_server_info{server=\"0\",name=\"127.0.0.1\","
		 "address=\"%s\"} 1\n",
		web_fixture.back.at.text));
	web_fixture_end();
}
END_TEST

/* A name is one word in the lists that penctl top reads, whatever is in it. */
START_TEST(names_are_words)
{
	web_fixture_begin("timeout", "3");
	web_fixture_command("server 1 address \"/tmp/a b; c 'd\"");
	web_fixture_expect_in(web_fixture_command("servers long"),
	    "\n1 name \"/tmp/a b; c 'd\" state ");
	web_fixture_expect_in(web_fixture_command("servers long"),
	    " addr \"/tmp/a b; c 'd\" port 0 ");
	web_fixture_end();
}
END_TEST

/* Prometheus takes nothing else, and refuses all for one byte. */
START_TEST(metrics_are_utf8)
{
	web_fixture_begin("timeout", "3");
	web_fixture_command("server 1 address /tmp/a\xff");
	web_fixture_expect_in(
	    web_fixture_get("/metrics"), "name=\"/tmp/a\xc3\xbf\"");
	web_fixture_end();
}
END_TEST

/* Without a server that is up there is no use in new clients. */
START_TEST(readiness)
{
	web_fixture_begin("blacklist", "100");
	web_fixture_command("server 0 drain");
	web_fixture_expect_status("/readyz", 503);
	web_fixture_expect_status("//readyz", 404);
	web_fixture_expect_status("/healthz", 200);
	web_fixture_command("server 0 up");
	web_fixture_expect_status("/readyz", 200);
	web_fixture_end();
}
END_TEST

START_TEST(who_may)
{
	web_fixture_begin("web_acl", "3");
	web_fixture_expect_status("/", 403); /* an empty list that was named */
	web_fixture_command("acl 3 permit 127.0.0.1");
	web_fixture_expect_status("/", 200);
	web_fixture_command("no acl 3");
	web_fixture_command("acl 3 permit 192.0.2.1");
	web_fixture_expect_status("/metrics", 403);
	web_fixture_end();
}
END_TEST

/* List 0 is that of the service's clients and of control. */
START_TEST(list_0_is_of_others)
{
	web_fixture_begin("acl", "0 permit 192.0.2.1");
	web_fixture_expect_status("/", 200);
	web_fixture_command("web_acl 0");
	web_fixture_expect_status("/", 403);
	web_fixture_command("no web_acl");
	web_fixture_expect_status("/", 200);
	web_fixture_end();
}
END_TEST

START_TEST(mode_of_the_socket)
{
	struct endpoint unix_web;
	struct stat st;

	endpoint_new(&unix_web, ENDPOINT_UNIX);
	web_fixture_begin("web_mode", "0660");
	web_fixture_command(text("web %s", unix_web.text));
	ck_assert_int_eq(stat(unix_web.text, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	web_fixture_end();
}
END_TEST

/* As the manual opens the pages to other hosts, while they are there; and
 * back. */
START_TEST(moves_to_all_addresses)
{
	int port;

	web_fixture_begin("timeout", "3");
	port = web_fixture.web.port;
	ck_assert_str_eq(web_fixture_command(text("web 0.0.0.0:%d", port)), "");
	web_fixture_expect_status("/healthz", 200);
	/* to this host, but all of the file is refused */
	write_file(scratch("file"),
	    text("web %d\nlisten %s\n", port, web_fixture.back.at.text));
	web_fixture_expect_in(
	    web_fixture_command(text("include %s", scratch("file"))),
	    "error: ");
	web_fixture_expect_status("/healthz", 200);
	ck_assert_str_eq(
	    web_fixture_command("web"), text("0.0.0.0:%d\n", port));
	ck_assert_str_eq(web_fixture_command(text("web %d", port)), "");
	web_fixture_expect_status("/healthz", 200);
	web_fixture_end();
}
END_TEST

/* It can be moved and ended while pen runs. */
START_TEST(moves)
{
	struct endpoint unix_web;

	endpoint_new(&unix_web, ENDPOINT_UNIX);
	web_fixture_begin("timeout", "3");
	web_fixture_command(text("web %s", unix_web.text));
	ck_assert(!endpoint_is_listening(&web_fixture.web));
	web_fixture_expect_in(
	    web_fixture_get_from(&unix_web, "/healthz", ""), "\r\n\r\nok\n");
	web_fixture_command("no web");
	ck_assert_int_lt(access(unix_web.text, F_OK), 0);
	web_fixture_end();
}
END_TEST

/* A page from elsewhere whose name was made to lead to this machine gets
 * nothing, nor does a request with two hosts, or none. */
static void
expect_hosts(void)
{
	static const char misdirected[] = "421 Misdirected Request\r\n";
	static const struct {
		const char *header;
		const char *status;
	} asks[] = { { "Host: localhost", "200 OK" },
		{ "Host: 127.0.0.1:80", "200 OK" },
		{ "Host: [::1]:80", "200 OK" },
		{ "Host: evil.example", misdirected },
		{ "Host: evil.example:80", misdirected },
		{ "Host: localhost\r\nHost: evil.example", "400 Bad Request" },
		{ "X: y", "400 Bad Request" } };
	const char *got, *ask;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		ask = text("GET /status.json HTTP/1.1\r\n%s\r\n"
			   "Connection: close\r\n\r\n",
		    asks[i].header);
		fd = endpoint_connect(&web_fixture.web);
		endpoint_send(fd, ask, strlen(ask));
		got = endpoint_recv_all(fd);
		close(fd);
		ck_assert_msg(strncmp(got, "HTTP/1.1 ", 9) == 0 &&
			strncmp(got + 9, asks[i].status,
			    strlen(asks[i].status)) == 0,
		    "%s: %s", asks[i].header, got);
	}
}

static bool
gets(const char *host, const char *status)
{
	const char *ask = text("GET /healthz HTTP/1.1\r\nHost: %s\r\n"
			       "Connection: close\r\n\r\n",
	    host);
	const char *got;
	int fd = endpoint_connect(&web_fixture.web);

	endpoint_send(fd, ask, strlen(ask));
	got = endpoint_recv_all(fd);
	close(fd);
	return strncmp(got + strlen("HTTP/1.1 "), status, 3) == 0;
}

/* A proxy in front passes on the name that its clients use. */
START_TEST(hosts_that_are_set)
{
	web_fixture_begin("timeout", "3");
	ck_assert(gets("status.example.com", "421"));
	(void)web_fixture_command(
	    "web_host pen.example.com,status.example.com");
	ck_assert(gets("status.example.com", "200"));
	ck_assert(gets("PEN.example.com:8080", "200"));
	ck_assert(gets("127.0.0.1", "200"));
	ck_assert(gets("example.com", "421"));
	(void)web_fixture_command("no web_host");
	ck_assert(gets("status.example.com", "421"));
	web_fixture_end();
}
END_TEST

START_TEST(other_hosts)
{
	web_fixture_begin("timeout", "3");
	expect_hosts();
	/* the clients come by IPv4 all the same */
	if (strcmp(web_fixture_command(
		       text("no web; web [::]:%d", web_fixture.web.port)),
		"") == 0)
		expect_hosts();
	web_fixture_end();
}
END_TEST

/* OpenMetrics only for those who want it. */
START_TEST(media_types)
{
	web_fixture_begin("timeout", "3");
	ck_assert_ptr_null(strstr(
	    web_fixture_get_from(&web_fixture.web, "/metrics",
		"Accept: application/openmetrics-text;q=0, text/plain\r\n"),
	    "# EOF"));
	ck_assert_ptr_null(
	    strstr(web_fixture_get_from(&web_fixture.web, "/metrics",
		       "Accept: application/openmetrics-text;"
		       "q=0.2, text/plain;q=0.5\r\n"),
		"# EOF"));
	web_fixture_expect_in(web_fixture_get_from(&web_fixture.web, "/metrics",
				  "Accept: application/openmetrics-text;q=0.5, "
				  "text/plain;q=0.3\r\n"),
	    "# EOF");
	web_fixture_end();
}
END_TEST

/* The header alone (RFC 9110, 9.3.2), as monitoring requests it. */
START_TEST(head_has_no_body)
{
	static const char *const paths[] = { "/", "/healthz", "/readyz",
		"/metrics", "/status.json", "/nothing" };
	const char *got;
	size_t i;

	web_fixture_begin("timeout", "3");
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = endpoint_connect(&web_fixture.web);

		got = text(
		    "HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n", paths[i]);
		endpoint_send(fd, got, strlen(got));
		got = endpoint_recv_all(fd);
		ck_assert_ptr_nonnull(strstr(got, "HTTP/1.1 "));
		ck_assert_msg(strcmp(strstr(got, "\r\n\r\n"), "\r\n\r\n") == 0,
		    "%s has a body", paths[i]);
		close(fd);
	}
	web_fixture_end();
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

	web_fixture_begin("timeout", "3");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = endpoint_connect(&web_fixture.web);
		const char *got;

		endpoint_send(fd, bad[i], strlen(bad[i]));
		got = endpoint_recv_all(fd);
		ck_assert_msg(strstr(got, " 200 ") == NULL, "%s", got);
		close(fd);
	}
	web_fixture_expect_status("/healthz", 200);
	web_fixture_end();
}
END_TEST

/* A change of something else costs nothing that stays. */
START_TEST(changes)
{
	long before;
	int i;

	web_fixture_begin("timeout", "3");
	for (i = 0; i < 50; i++)
		web_fixture_command(text("timeout %d", 3 + i % 2));
	before = pen_rss_kb(&web_fixture.pen);
	for (i = 0; i < 400; i++)
		web_fixture_command(text("timeout %d", 3 + i % 2));
	web_fixture_expect_growth(before, 800);
	web_fixture_expect_status("/healthz", 200);
	web_fixture_end();
}
END_TEST

/* The older protocol has no chunks. */
static const char *
get_plain(const char *path)
{
	const char *request = text("GET %s HTTP/1.0\r\n\r\n", path), *got;
	int fd = endpoint_connect(&web_fixture.web);

	endpoint_send(fd, request, strlen(request));
	got = strstr(endpoint_recv_all(fd), "\r\n\r\n");
	close(fd);
	ck_assert_ptr_nonnull(got);
	return got + 4;
}

/* Prometheus' own tool finds nothing to complain about. */
START_TEST(promtool)
{
	const char *file = scratch("metrics"), *got;
	char answer[4096];
	FILE *f;

	NEED_PROGRAM("promtool");
	web_fixture_begin("timeout", "3");
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	got = get_plain("/metrics");
	web_fixture_expect_in(got, "pen_server_received_bytes_total{");
	write_file(file, got);
	f = popen(text("promtool check metrics <%s 2>&1", file), "r");
	ck_assert_ptr_nonnull(f);
	answer[fread(answer, 1, sizeof(answer) - 1, f)] = '\0';
	ck_assert_msg(pclose(f) == 0 && answer[0] == '\0', "%s", answer);
	web_fixture_end();
}
END_TEST

/* Each metric that an example names is one: here, or of direct return,
 * peers and HTTP, which the manual names. */
static void
expect_known(const char *file, const char *metrics, const char *manual)
{
	const char *at = contents(file);
	int known = 0;
	size_t n;

	for (; (at = strstr(at, "pen_")) != NULL; at += n, known++) {
		n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		ck_assert_msg(
		    strstr(metrics, text("%.*s", (int)n, at)) != NULL ||
			strstr(manual, text("%.*s", (int)n, at)) != NULL,
		    "%s: %.*s", file, (int)n, at);
	}
	ck_assert_int_gt(known, 3);
}

/* The configuration, the alerts and the dashboard in examples. */
START_TEST(examples_of_prometheus)
{
	const char *dir = getenv("SRCDIR");
	const char *metrics, *manual;

	dir = text("%s/examples/prometheus", dir != NULL ? dir : ".");
	NEED_PROGRAM("promtool");
	web_fixture_begin("timeout", "3");
	ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	metrics = web_fixture_get("/metrics");
	manual = text("%s%s%s", contents(text("%s/../../man/pen-dsr.7", dir)),
	    contents(text("%s/../../man/pen-service.7", dir)),
	    contents(text("%s/../../man/pen-http.7", dir)));
	expect_known(text("%s/alerts.yml", dir), metrics, manual);
	expect_known(text("%s/alerts_test.yml", dir), metrics, manual);
	expect_known(text("%s/grafana.json", dir), metrics, manual);
	ck_assert_int_eq(system(text("cd %s && promtool check config "
				     "prometheus.yml >/dev/null",
			     dir)),
	    0);
	ck_assert_int_eq(system(text("cd %s && promtool test rules "
				     "alerts_test.yml >/dev/null",
			     dir)),
	    0);
	web_fixture_end();
}
END_TEST

SUITE(test_web)
{
	Suite *s = suite_create("web");

	SUITE_ADD(s, pages, 60);
	SUITE_ADD(s, status_as_json, 60);
	SUITE_ADD(s, all_counters_are_metrics, 60);
	SUITE_ADD(s, names_are_words, 60);
	SUITE_ADD(s, metrics_are_utf8, 60);
	SUITE_ADD(s, readiness, 60);
	SUITE_ADD(s, who_may, 60);
	SUITE_ADD(s, list_0_is_of_others, 30);
	SUITE_ADD(s, mode_of_the_socket, 30);
	SUITE_ADD(s, moves, 60);
	SUITE_ADD(s, moves_to_all_addresses, 60);
	SUITE_ADD(s, hosts_that_are_set, 30);
	SUITE_ADD(s, other_hosts, 60);
	SUITE_ADD(s, media_types, 60);
	SUITE_ADD(s, head_has_no_body, 60);
	SUITE_ADD(s, bad_requests, 60);
	SUITE_ADD(s, changes, 60);
	SUITE_ADD(s, promtool, 60);
	SUITE_ADD(s, examples_of_prometheus, 60);
	return s;
}
