/* test_services_metrics.c: what monitoring reads of several services in one
 * process. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/certs.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { MANY = 100 };

static struct endpoint front_b;

static void
do_command(const char *line)
{
	ck_assert_str_eq(web_fixture_command(line), "");
}

static void
add_b(void)
{
	endpoint_new(&front_b, ENDPOINT_TCP4);
	do_command("service add b");
	web_fixture_command(text("service b listen %s", front_b.text));
	web_fixture_command(text("service b server 0 address 127.0.0.1 port %d",
	    web_fixture.back.at.port));
	WAIT_FOR(endpoint_is_listening(&front_b), 10000);
}

/* Of "default" and "b", which have the same server. */
static void
begin(void)
{
	web_fixture_begin("timeout", "3");
	add_b();
}

static void
remove_b(void)
{
	do_command("service b remove");
	WAIT_FOR(
	    strstr(web_fixture_get("/metrics"), "{service=") == NULL, 10000);
}

static int
times(const char *in, const char *what)
{
	int n = 0;

	while ((in = strstr(in, what)) != NULL) {
		in += strlen(what);
		n++;
	}
	return n;
}

/* The next line with that beginning. */
static const char *
line_at(const char *from, const char *begins)
{
	const char *at = strstr(from, text("\n%s", begins));

	return at != NULL ? at + 1 : NULL;
}

/* A family has one head, and its lines follow that. */
static void
expect_families(const char *metrics)
{
	const char *at = metrics;
	size_t n;

	while ((at = line_at(at, "# TYPE ")) != NULL) {
		n = strcspn(at + 7, " ");
		ck_assert_int_eq(
		    times(metrics, text("\n%.*s ", (int)n + 7, at)), 1);
	}
}

START_TEST(labels)
{
	static const char *const lines[] = {
		"pen_connections_accepted_total{service=\"default\"} 0",
		"pen_connections_accepted_total{service=\"b\"} 1",
		"pen_sessions_closed_total{service=\"b\",reason=\"server_up\"}"
		" 0",
		"pen_server_up{service=\"default\",server=\"0\"} 1",
		"pen_server_connects_total{service=\"b\",server=\"0\"} 1",
		"pen_connect_duration_seconds_count{service=\"b\"} 1",
		"pen_connect_duration_seconds_bucket{service=\"default\","
		"le=\"+Inf\"} 0",
		"pen_draining 0",
		"pen_sessions_max_all 5000",
		"pen_log_lines_lost_total{log=\"sessions\"} 0",
		"pen_log_lines_lost_total{log=\"pen\"} 0",
	};
	const char *got;
	size_t i;

	begin();
	ck_assert_str_eq(web_fixture_command("conn_max_all 5000"), "5000\n");
	ck_assert_str_eq(endpoint_hear(&front_b), "served");
	got = web_fixture_get("/metrics");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		web_fixture_expect_in(got, text("\n%s\n", lines[i]));
	web_fixture_expect_in(got, "\npen_info{service=\"b\",version=");
	web_fixture_expect_in(got, "\nprocess_start_time_seconds ");
	expect_families(got);
	web_fixture_end();
}
END_TEST

START_TEST(one_has_no_label)
{
	const char *got;

	web_fixture_begin("timeout", "3");
	ck_assert_ptr_null(strstr(web_fixture_get("/metrics"), "service="));
	add_b();
	remove_b();
	got = web_fixture_get("/metrics");
	web_fixture_expect_in(got, "\npen_server_up{server=\"0\"} 1\n");
	expect_families(got);
	web_fixture_end();
}
END_TEST

/* That only holds what the process has. */
START_TEST(first_does_not_listen)
{
	const char *config = scratch("pen.conf"), *got;
	struct web_fixture *w = &web_fixture;

	endpoint_new(&front_b, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	write_file(config,
	    text("web %s\nservice b\nlisten %s\nserver 0 address 127.0.0.1 "
		 "port 9\n",
		w->web.text, front_b.text));
	pen_up(&w->pen, &front_b, "-F", config, NULL);
	got = web_fixture_get("/metrics");
	ck_assert_ptr_null(strstr(got, "\"default\""));
	web_fixture_expect_in(got, "\npen_panic{service=\"b\"} 0\n");
	web_fixture_expect_status("/readyz", 200);
	web_fixture_expect_status("/readyz?service=default", 503);
	pen_down(&w->pen);
}
END_TEST

/* All that comes until the end, however long; the caller's. */
static char *
read_long(int fd)
{
	enum { LONGEST = 8 << 20 };
	char *all = malloc(LONGEST + 1);
	size_t n = 0;
	ssize_t got;

	ck_assert_ptr_nonnull(all);
	while ((got = read(fd, all + n, LONGEST - n)) > 0)
		n += (size_t)got;
	ck_assert_int_eq((int)got, 0);
	all[n] = '\0';
	return all;
}

static int
ask_for_metrics(const char *header)
{
	const char *ask = text("GET /metrics HTTP/1.0\r\n%s\r\n", header);
	int fd = endpoint_connect(&web_fixture.web);

	endpoint_send(fd, ask, strlen(ask));
	return fd;
}

/* An answer that is under way when services go is whole. */
START_TEST(services_go_meanwhile)
{
	char byte, *got;
	int fd, i;

	web_fixture_begin("timeout", "3");
	for (i = 0; i < MANY; i++)
		do_command(text("service add s%d", i));
	fd = ask_for_metrics("Accept: application/openmetrics-text\r\n");
	ck_assert_int_eq(recv(fd, &byte, 1, MSG_PEEK), 1);
	for (i = 0; i < MANY; i += 2)
		do_command(text("service s%d remove", i));
	got = read_long(fd);
	close(fd);
	ck_assert_ptr_nonnull(strstr(got, "\n# EOF\n"));
	ck_assert_ptr_nonnull(strstr(got, "{service=\"s1\""));
	/* Some went before the walk had come to them. */
	ck_assert_int_lt(
	    times(got, "{service=\"s98\""), times(got, "{service=\"s99\""));
	expect_families(got);
	free(got);
	web_fixture_end();
}
END_TEST

/* A service without a server that is up does not make the others unready, when
 * one of these is asked for. */
START_TEST(readiness)
{
	begin();
	web_fixture_expect_status("/readyz", 200);
	web_fixture_command("service b server 0 drain");
	web_fixture_expect_status("/readyz", 200);
	web_fixture_expect_in(web_fixture_get("/readyz?all"),
	    "\r\n\r\nno server of b is up\n");
	web_fixture_expect_status("/readyz?all", 503);
	web_fixture_expect_status("/readyz?service=b", 503);
	web_fixture_expect_status("/readyz?service=default", 200);
	web_fixture_expect_status("/readyz?service=c", 404);
	remove_b();
	web_fixture_expect_status("/readyz?all", 200);
	web_fixture_expect_status("/readyz?service=default", 200);
	web_fixture_expect_status("/readyz?service=b", 404);
	web_fixture_end();
}
END_TEST

START_TEST(status_as_json)
{
	const char *got;

	begin();
	got = web_fixture_get("/status.json");
	if (strstr(got, "built without Jansson") != NULL) {
		web_fixture_end();
		SKIP("built without Jansson");
	}
	web_fixture_expect_in(
	    got, "\"services\":[{\"service\":\"default\",\"state\":\"up\"");
	web_fixture_expect_in(got,
	    text("{\"service\":\"b\",\"state\":\"up\",\"listen\":\"%s\","
		 "\"up\":1,\"servers\":1,\"sessions\":0,",
		front_b.text));
	remove_b();
	ck_assert_ptr_null(
	    strstr(web_fixture_get("/status.json"), "\"services\""));
	web_fixture_end();
}
END_TEST

/* From the first `what` on, to the end of its object. */
static const char *
object_behind(const char *got, const char *what)
{
	const char *at = strstr(got, what);

	ck_assert_msg(at != NULL, "%s: %s", what, got);
	return text("%.*s", (int)strcspn(at, "}"), at);
}

/* The pages are about one service where one is named; what the list has of each
 * is its own. */
START_TEST(pages_of_one)
{
	struct endpoint nobody;
	const char *row;
	int fd;

	begin();
	if (strstr(web_fixture_get("/status.json"), "without Jansson") !=
	    NULL) {
		web_fixture_end();
		SKIP("built without Jansson");
	}
	ck_assert_str_eq(endpoint_hear(&front_b), "served");
	endpoint_new(&nobody, ENDPOINT_TCP4);
	do_command("service b pending_max 30");
	web_fixture_command(
	    text("service b server 1 address 127.0.0.1 port %d", nobody.port));
	do_command("service b server 0 drain");
	fd = endpoint_connect(&front_b);
	endpoint_expect_reset(fd);
	close(fd);
	row = object_behind(
	    web_fixture_get("/status.json"), "{\"service\":\"b\",\"state\"");
	web_fixture_expect_in(row, "\"connecting_max\":30,");
	web_fixture_expect_in(row, "\"failed\":1,");
	web_fixture_expect_in(row, "\"answers\":1,\"certificate\":null,");
	row = object_behind(web_fixture_get("/status.json"),
	    "{\"service\":\"default\",\"state\"");
	web_fixture_expect_in(row, "\"failed\":0,");
	row = web_fixture_get("/status.json?service=b");
	web_fixture_expect_in(row, text("\"listen\":\"%s\",", front_b.text));
	web_fixture_expect_in(row, "\"accepted\":2,");
	web_fixture_expect_in(row, "\"connecting\",\"now\":0,\"max\":30}");
	web_fixture_expect_in(row, "\"changes\":[{\"service\":\"b\",");
	web_fixture_expect_in(row, "[{\"server\":0,\"addr\":");
	web_fixture_expect_in(row, text("\"port\":%d,", nobody.port));
	web_fixture_expect_status("/status.json?service=c", 404);
	web_fixture_expect_in(
	    web_fixture_get("/trend.json?service=b"), "{\"total sessions\":[");
	web_fixture_expect_status("/trend.json?service=c", 404);
	web_fixture_end();
}
END_TEST

/* Whether there is a sample in which clients have got bytes. */
static bool
has_down(const char *path)
{
	const char *at = strstr(web_fixture_get(path), "\"total down\":[");

	ck_assert_ptr_nonnull(at);
	at = strchr(at, '[') + 1;
	return at[strspn(at, "0,")] != ']';
}

/* One has its own, and those of all are sums. */
START_TEST(trends_of_one)
{
	begin();
	ck_assert(!has_down("/trend.json?service=b"));
	ck_assert_str_eq(endpoint_hear(&front_b), "served");
	WAIT_FOR(has_down("/trend.json?service=b"), 20000);
	ck_assert(!has_down("/trend.json?service=default"));
	ck_assert(has_down("/trend.json"));
	web_fixture_end();
}
END_TEST

/* It is there from the start on. */
START_TEST(certificate_of_one)
{
	const char *config = scratch("pen.conf"), *got;
	struct web_fixture *w = &web_fixture;
	struct cert *c =
	    cert_new(&(struct cert_wish){ .name = "shop.test", .days = 3 });

	endpoint_new(&front_b, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	write_file(config,
	    text("web %s\nservice shop\nlisten %s\nssl_cert %s\nserver 0 "
		 "address 127.0.0.1 port 9\n",
		w->web.text, front_b.text, cert_write_all(c, "shop.pem")));
	cert_free(c);
	pen_up(&w->pen, &front_b, "-F", config, NULL);
	got = web_fixture_get("/status.json");
	if (strstr(got, "without Jansson") != NULL) {
		pen_down(&w->pen);
		SKIP("built without Jansson");
	}
	web_fixture_expect_in(
	    got, "\"certificate\":\"shop.test\",\"certificate_days\":");
	web_fixture_expect_in(web_fixture_get("/status.json?service=shop"),
	    "\"certificate\":{\"name\":\"shop.test\",\"days\":");
	pen_down(&w->pen);
}
END_TEST

/* Each is under its name, in the page that -w writes and in the log. */
START_TEST(page_and_statistics)
{
	const char *got;

	begin();
	ck_assert_str_eq(endpoint_hear(&front_b), "served");
	got = web_fixture_command("status");
	web_fixture_expect_in(got, "<h2>service default</h2>");
	web_fixture_expect_in(got, "<h2>service b</h2>");
	ck_assert_int_eq(times(got, "<caption>Counters</caption>"), 2);
	ck_assert_int_eq(times(got, "<th class=\"n\">connects</th>"), 2);
	/* of both services, in the table of services, and of their servers */
	ck_assert_int_eq(times(got, "data-label=\"state\">up</td>"), 4);
	/* it begins as the live page does */
	ck_assert_ptr_nonnull(strstr(got, "<body>"));
	web_fixture_expect_in(web_fixture_get("/"),
	    text("%.*s", (int)(strstr(got, "<body>") - got), got));
	web_fixture_expect_in(
	    web_fixture_command("service b statistics"), "\naccepted 1\n");
	web_fixture_expect_in(
	    web_fixture_command("statistics"), "\naccepted 0\n");
	web_fixture_end();
}
END_TEST

/* Prometheus' own tool finds nothing to complain about. */
START_TEST(promtool)
{
	const char *file = scratch("metrics"), *got;
	char answer[4096];
	int fd;
	FILE *f;

	NEED_PROGRAM("promtool");
	begin();
	fd = ask_for_metrics("");
	got = strstr(endpoint_recv_all(fd), "\r\n\r\n");
	close(fd);
	ck_assert_ptr_nonnull(got);
	write_file(file, got + 4);
	f = popen(text("promtool check metrics <%s 2>&1", file), "r");
	ck_assert_ptr_nonnull(f);
	answer[fread(answer, 1, sizeof(answer) - 1, f)] = '\0';
	ck_assert_msg(pclose(f) == 0 && answer[0] == '\0', "%s", answer);
	web_fixture_end();
}
END_TEST

SUITE(test_services_metrics)
{
	Suite *s = suite_create("services_metrics");

	SUITE_ADD(s, labels, 60);
	SUITE_ADD(s, one_has_no_label, 60);
	SUITE_ADD(s, first_does_not_listen, 60);
	SUITE_ADD(s, services_go_meanwhile, 120);
	SUITE_ADD(s, readiness, 60);
	SUITE_ADD(s, status_as_json, 60);
	SUITE_ADD(s, trends_of_one, 60);
	SUITE_ADD(s, pages_of_one, 60);
	SUITE_ADD(s, certificate_of_one, 60);
	SUITE_ADD(s, page_and_statistics, 60);
	SUITE_ADD(s, promtool, 60);
	return s;
}
