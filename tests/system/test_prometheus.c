/* test_prometheus.c: a real Prometheus scrapes pen each second, and knows what
 * pen has counted. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

static struct endpoint at;
static struct child prometheus;

static void
start_prometheus(void)
{
	const char *file = scratch("prometheus.yml");

	endpoint_new(&at, ENDPOINT_TCP4);
	write_file(file,
	    text("global: { scrape_interval: 1s, scrape_timeout: 1s }\n"
		 "scrape_configs:\n"
		 "  - job_name: pen\n"
		 "    static_configs: [ { targets: ['%s'] } ]\n",
		web_fixture.web.text));
	child_start(&prometheus,
	    (const char *const[]){ "prometheus", text("--config.file=%s", file),
		text("--storage.tsdb.path=%s", scratch("tsdb")),
		text("--web.listen-address=%s", at.text), NULL });
	WAIT_FOR(
	    child_has_ended(&prometheus) || endpoint_is_listening(&at), 20000);
	ck_assert_msg(
	    !child_has_ended(&prometheus), "%s", child_err(&prometheus));
}

/* What Prometheus answers to an expression; "" when it knows of none. */
static const char *
value(const char *expression)
{
	const char *got = web_fixture_get_from(
	    &at, text("/api/v1/query?query=%s", expression), "");
	const char *from = strstr(got, "\"value\":[");

	from = from != NULL ? strstr(from, ",\"") : NULL;
	return from != NULL
	    ? text("%.*s", (int)strcspn(from + 2, "\""), from + 2)
	    : "";
}

static void
expect_value(const char *expression, uint64_t wanted)
{
	const char *text_wanted = text("%" PRIu64, wanted);

	WAIT_FOR(strcmp(value(expression), text_wanted) == 0, 30000);
}

/* What pen itself says. */
static uint64_t
counter(const char *name)
{
	const char *got = web_fixture_command("statistics");
	const char *line = strstr(got, text("\n%s ", name));

	ck_assert_msg(line != NULL, "no %s in: %s", name, got);
	return strtoull(line + strlen(name) + 2, NULL, 10);
}

START_TEST(knows_what_pen_counts)
{
	enum { SESSIONS = 100 };
	int i;

	NEED_PROGRAM("prometheus");
	web_fixture_begin("timeout", "3");
	start_prometheus();
	/* its second server has what formats need to escape */
	web_fixture_command("server 1 address \"/tmp/a\\\"b\\\\c\xc3\xa5\"");
	web_fixture_command("server 1 drain");
	for (i = 0; i < SESSIONS; i++)
		ck_assert_str_eq(endpoint_hear(&web_fixture.front), "served");
	expect_value("pen_connections_accepted_total", SESSIONS);
	expect_value("sum(pen_sessions_closed_total)", SESSIONS);
	expect_value("sum(pen_server_connects_total)", SESSIONS);
	expect_value("pen_session_duration_seconds_count", SESSIONS);
	expect_value(
	    "pen_bytes_total%7Bdirection=%22down%22%7D", counter("bytes_down"));
	expect_value(
	    "sum(pen_server_received_bytes_total)", counter("bytes_down"));
	expect_value("pen_server_up%7Bserver=%221%22%7D", 0);
	expect_value("min_over_time(up[1m])", 1);
	child_stop(&prometheus, 15);
	web_fixture_end();
}
END_TEST

/* It asks for OpenMetrics, in which the family of a counter has no suffix. */
START_TEST(reads_openmetrics)
{
	NEED_PROGRAM("prometheus");
	web_fixture_begin("timeout", "3");
	start_prometheus();
	expect_value("up", 1);
	web_fixture_expect_in(
	    web_fixture_get_from(
		&at, "/api/v1/metadata?metric=pen_connections_accepted", ""),
	    "\"type\":\"counter\"");
	child_stop(&prometheus, 15);
	web_fixture_end();
}
END_TEST

/* How long a scrape takes is measured by tests/bench/web_cost.py. */
START_TEST(many_servers)
{
	enum { SERVERS = 1000 };

	NEED_PROGRAM("prometheus");
	web_fixture_begin("timeout", "3");
	web_fixture_add_servers(SERVERS);
	start_prometheus();
	expect_value("count(pen_server_up)", SERVERS);
	printf("%d servers: a scrape took %s s\n", SERVERS,
	    value("min_over_time(scrape_duration_seconds[1m])"));
	child_stop(&prometheus, 15);
	web_fixture_end();
}
END_TEST

SUITE(test_prometheus)
{
	Suite *s = suite_create("prometheus");

	SUITE_ADD(s, knows_what_pen_counts, 60);
	SUITE_ADD(s, reads_openmetrics, 60);
	SUITE_ADD(s, many_servers, 60);
	return s;
}
