/* test_dashboard.c: the dashboard and the alerts in examples: promtool
 * evaluates each expression of the dashboard over what pen reports, and each
 * has a value; each alert has advice and a test. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/certs.h"
#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { EXPRESSION_MAX = 2000 };

static const char *
example(const char *file)
{
	const char *dir = getenv("SRCDIR");

	return contents(text("%s/examples/prometheus/%s",
	    dir != NULL ? dir : ".", file));
}

/* ---- what pen reports ---- */

static void
answer_200(struct backend *b, int fd)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	char request[4096];

	(void)b;
	if (recv(fd, request, sizeof(request), 0) > 0)
		backend_send(fd, ok, sizeof(ok) - 1);
}

/* A service with HTTP, one of whose servers is down, one with TLS, and one of
 * DNS. */
static const char *
configuration(const char *certificate)
{
	struct web_fixture *w = &web_fixture;
	struct endpoint unused, secure, names;

	endpoint_new(&unused, ENDPOINT_TCP4);
	endpoint_new(&secure, ENDPOINT_TCP4);
	endpoint_new(&names, ENDPOINT_TCP4);
	return text("web %s\ncontrol %s\n"
		    "service site\nlisten %s\nhttp\nconn_max 100\n"
		    "check connect\ncheck_interval 0.3\ncheck_fall 1\n"
		    "server 0 address 127.0.0.1 port %d max 10\n"
		    "server 1 address 127.0.0.1 port %d\n"
		    "service secure\nlisten %s\nssl_cert %s\n"
		    "server 0 address 127.0.0.1 port %d\n"
		    "service names\nlisten %s\ndns\n"
		    "server 0 address 127.0.0.1 port %d\n",
	    w->web.text, w->ctl.text, w->front.text, w->back.at.port,
	    unused.port, secure.text, certificate, w->back.at.port, names.text,
	    unused.port);
}

/* The older protocol has no chunks. */
static const char *
scrape(void)
{
	const char *got = endpoint_ask(
	    &web_fixture.web, "GET /metrics HTTP/1.0\r\n\r\n");

	got = strstr(got, "\r\n\r\n");
	ck_assert_ptr_nonnull(got);
	return got + 4;
}

static bool
is_reported(const char *what)
{
	return strstr(scrape(), what) != NULL;
}

static const char *
metrics_of_pen(void)
{
	struct cert_wish wish = { .name = "a.test" };
	struct web_fixture *w = &web_fixture;
	struct cert *cert = cert_new(&wish);
	const char *got;

	backend_start(&w->back, ENDPOINT_TCP4, answer_200, NULL);
	endpoint_new(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	write_file(scratch("pen.conf"),
	    configuration(cert_write_all(cert, "a.pem")));
	pen_up(&w->pen, &w->front, "-F", scratch("pen.conf"), NULL);
	endpoint_ask(&w->front,
	    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	WAIT_FOR(is_reported("pen_server_up{service=\"site\",server=\"1\"} "
			     "0\n") &&
		is_reported("pen_server_first_byte_duration_seconds_bucket{"
			    "service=\"site\""),
	    5000);
	got = scrape();
	web_fixture_end();
	cert_free(cert);
	return got;
}

/* Of direct return, which needs an interface, and of peers. */
static const char more_metrics[] =
    "pen_dsr_standby{service=\"d\"} 0\n"
    "pen_dsr_forwarded_total{service=\"d\"} 1\n"
    "pen_dsr_fast_forwarded_total{service=\"d\"} 1\n"
    "pen_dsr_forwarded_bytes_total{service=\"d\"} 1\n"
    "pen_dsr_fast_forwarded_bytes_total{service=\"d\"} 1\n"
    "pen_dsr_flows{service=\"d\"} 1\n"
    "pen_dsr_flows_max{service=\"d\"} 1\n"
    "pen_dsr_dropped_total{service=\"d\",reason=\"no_server\"} 1\n"
    "pen_dsr_link_dropped_total{service=\"d\",reason=\"missed\"} 1\n"
    "pen_dsr_neighbor_failures_total{service=\"d\"} 1\n"
    "pen_dsr_neighbor_conflicts_total{service=\"d\"} 1\n"
    "pen_peers{direction=\"to\"} 1\n";

/* ---- a test for promtool ---- */

static bool
ends_with(const char *line, size_t n, const char *tail)
{
	size_t m = strlen(tail);

	return n >= m && strncmp(line + n - m, tail, m) == 0;
}

/* Each line is a series of ten minutes; counters grow. */
static void
add_series(FILE *f, const char *metrics)
{
	const char *line, *labels, *value, *end;

	for (line = metrics; *line != '\0'; line = end + 1) {
		size_t name = strcspn(line, "{ "), n;

		end = line + strcspn(line, "\n");
		for (value = end; value > line && value[-1] != ' '; value--)
			;
		if (*line == '#')
			continue;
		labels = line[name] == '{' ? line + name + 1 : NULL;
		n = labels != NULL ? (size_t)(value - 2 - labels) : 0;
		fprintf(f,
		    "  - series: '%.*s{instance=\"a\",job=\"pen\"%s%.*s}'\n",
		    (int)name, line, labels != NULL ? "," : "", (int)n,
		    labels != NULL ? labels : "");
		if (ends_with(line, name, "_total") ||
		    ends_with(line, name, "_bucket"))
			fprintf(f, "    values: '0+60x40'\n");
		else
			fprintf(f, "    values: '%.*sx40'\n",
			    (int)(end - value), value);
	}
}

/* The variables of Grafana have these values. */
static const char *
variable(const char **at)
{
	static const char *const words[][2] = { { "$__rate_interval", "1m" },
		{ "$__range", "10m" }, { "$instance", ".*" },
		{ "$service", ".*" }, { "$server", ".*" } };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(*at, words[i][0], strlen(words[i][0])) == 0) {
			*at += strlen(words[i][0]);
			return words[i][1];
		}
	ck_abort_msg("no variable: %.30s", *at);
	return NULL;
}

/* The expression in a string of JSON, which begins there. */
static const char *
expression(const char *at)
{
	char to[EXPRESSION_MAX + 16];
	size_t n = 0;

	while (*at != '"') {
		ck_assert_int_lt(n, EXPRESSION_MAX);
		if (*at == '$') {
			n += (size_t)sprintf(to + n, "%s", variable(&at));
			continue;
		}
		at += *at == '\\';
		to[n++] = *at++;
	}
	to[n] = '\0';
	return text("%s", to);
}

/* Adds the expressions of panels from there on, up to `end`. */
static int
add_expressions(FILE *f, const char *from, const char *end)
{
	static const char key[] = "\"expr\": \"";
	const char *at = from;
	int n = 0;

	for (; (at = strstr(at, key)) != NULL && at < end; n++) {
		at += sizeof(key) - 1;
		fprintf(f,
		    "  - expr: 'count(%s) > bool 0'\n    eval_time: 10m\n"
		    "    exp_samples: [{labels: '{}', value: 1}]\n",
		    expression(at));
	}
	return n;
}

static const char *
run_promtool(const char *file)
{
	FILE *f = popen(text("promtool test rules %s 2>&1", file), "r");
	char answer[4000];

	ck_assert_ptr_nonnull(f);
	answer[fread(answer, 1, sizeof(answer) - 1, f)] = '\0';
	return pclose(f) == 0 ? "" : text("failed: %s", answer);
}

static FILE *
begin_test(const char *file)
{
	FILE *f = fopen(file, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
	    "rule_files: []\nevaluation_interval: 15s\ntests:\n"
	    "- interval: 15s\n  input_series:\n");
	return f;
}

/* ---- the tests ---- */

static const char *const rows[] = { "All", "Servers", "HTTP", "TLS", "DNS",
	"Direct server return", "pen" };
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* A row of panels by its title. */
static const char *
row_at(const char *json, int i)
{
	const char *at = i < ROWS
	    ? strstr(json,
		  text("\"title\": \"%s\",\n   \"type\": \"row\"", rows[i]))
	    : json + strlen(json);

	ck_assert_msg(at != NULL, "no row \"%s\"", rows[i]);
	return at;
}

/* Rows in this order, each with panels whose expressions have values. */
START_TEST(each_expression_has_a_value)
{
	const char *json = example("grafana.json"), *answer;
	const char *file = scratch("test.yml");
	FILE *f;
	int i;

	NEED_PROGRAM("promtool");
	f = begin_test(file);
	add_series(f, metrics_of_pen());
	add_series(f, more_metrics);
	fprintf(f, "  promql_expr_test:\n");
	for (i = 0; i < ROWS; i++) {
		int n = add_expressions(
		    f, row_at(json, i), row_at(json, i + 1));

		ck_assert_msg(n >= 3, "row \"%s\" has %d", rows[i], n);
	}
	ck_assert_int_eq(fclose(f), 0);
	answer = run_promtool(file);
	ck_assert_msg(*answer == '\0', "%s", answer);
}
END_TEST

/* One that has none is found. */
START_TEST(one_without_a_value_is_found)
{
	static const char panel[] = "\"expr\": \"pen_none{a=\\\"$server\\\"}\"";
	const char *file = scratch("test.yml");
	FILE *f;

	NEED_PROGRAM("promtool");
	f = begin_test(file);
	add_series(f, more_metrics);
	fprintf(f, "  promql_expr_test:\n");
	ck_assert_int_eq(add_expressions(f, panel, panel + sizeof(panel)), 1);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_ptr_nonnull(strstr(run_promtool(file), "count(pen_none{"));
}
END_TEST

static int
count_of(const char *json, const char *what)
{
	int n = 0;

	for (; (json = strstr(json, what)) != NULL; json++)
		n++;
	return n;
}

/* With 120 servers a panel has no more than ten lines of servers, or thirty
 * rows of states; what is seldom looked at is collapsed, and costs nothing. */
START_TEST(many_servers_stay_readable)
{
	static const char legend[] =
	    "\"legendFormat\": \"{{service}} {{server}}";
	const char *json = example("grafana.json"), *at = json;

	for (; (at = strstr(at, legend)) != NULL; at++) {
		const char *expr = at;

		while (strncmp(expr, "\"expr\"", 6) != 0)
			expr--;
		ck_assert_msg(count_of(text("%.*s", (int)(at - expr), expr),
				  "topk(10, ") +
			    count_of(text("%.*s", (int)(at - expr), expr),
				"bottomk(30, ") ==
			1,
		    "%.*s", (int)(at - expr), expr);
	}
	ck_assert_int_ge(count_of(json, "topk(10, "), 10);
	ck_assert_int_ge(count_of(json, "\"type\": \"state-timeline\""), 4);
	ck_assert_int_eq(count_of(json, "\"collapsed\": true"), 4);
	ck_assert_int_eq(count_of(json, "\"type\": \"row\""), ROWS);
}
END_TEST

/* An alert wakes a person, who reads what to do; and a test shows when. */
START_TEST(each_alert_has_advice_and_a_test)
{
	static const char key[] = "- alert: ";
	const char *alerts = example("alerts.yml"), *at = alerts;
	const char *tests = example("alerts_test.yml");
	int n = 0;

	for (; (at = strstr(at, key)) != NULL; n++) {
		const char *next = strstr(at + 1, key);
		size_t length = next != NULL ? (size_t)(next - at) : strlen(at);
		const char *rule = text("%.*s", (int)length, at), *shown;
		const char *name = text("%.*s", (int)strcspn(rule, "\n") - 9,
		    rule + sizeof(key) - 1);

		ck_assert_msg(strstr(rule, " description: \"") != NULL,
		    "%s: no advice", name);
		/* the first line after a name is of alerts that are expected */
		shown = strstr(tests,
		    text("alertname: %s\n        exp_alerts:", name));
		ck_assert_msg(shown != NULL, "%s: no test", name);
		at += length;
		if (next == NULL)
			break;
	}
	ck_assert_int_gt(n, 15);
}
END_TEST

SUITE(test_dashboard)
{
	Suite *s = suite_create("dashboard");

	SUITE_ADD(s, each_expression_has_a_value, 60);
	SUITE_ADD(s, one_without_a_value_is_found, 60);
	SUITE_ADD(s, many_servers_stay_readable, 30);
	SUITE_ADD(s, each_alert_has_advice_and_a_test, 30);
	return s;
}
