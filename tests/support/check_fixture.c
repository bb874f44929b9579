/* check_fixture.c: one checker at a time. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/core/frontend_core.h"
#include "support/check_fixture.h"

enum { HOUR_MS = 3600000, PROGRAMS = 8 };

struct checker *check_fixture;
struct programs *check_fixture_programs;
uint16_t check_fixture_port;

void
check_fixture_begin(const struct endpoint *at)
{
	check_fixture_port = 0;
	fixture_begin();
	fixture_add_server(0, at);
}

void
check_fixture_front(uint64_t timeout_ms)
{
	struct checker_options o = { .interval_ms = HOUR_MS,
		.timeout_ms = timeout_ms,
		.running_max = PROGRAMS };

	fixture_front();
	check_fixture_programs =
	    programs_new(fixture.loop, PROGRAMS, &fixture.e);
	ck_assert_ptr_nonnull(check_fixture_programs);
	check_fixture = checker_new(
	    fixture.loop, fixture.pool, frontend_core_of(fixture.frontend));
	ck_assert_ptr_nonnull(check_fixture);
	checker_set_programs(check_fixture, check_fixture_programs);
	ck_assert_int_eq(checker_reserve(check_fixture, server_slot(0)), 0);
	checker_set_options(check_fixture, &o);
}

/* Returns what is known of server 0. */
static struct checker_report
report(void)
{
	struct checker_report r = { .result = CHECK_NONE };

	(void)checker_report(check_fixture, server_slot(0), &r);
	return r;
}

void
check_fixture_stop(void)
{
	struct checker_target none = { .spec = NULL };

	checker_set(check_fixture, server_slot(0), &none, false);
}

static void
expect(const char *words, enum check_result result, const char *reason)
{
	struct checker_target t = {
		.spec = check_spec_read(words, &fixture.e),
		.port = check_fixture_port
	};

	ck_assert_msg(t.spec != NULL, "%s: %s", words, fixture.e.text);
	check_fixture_stop();
	checker_set(check_fixture, server_slot(0), &t, true);
	check_spec_drop(t.spec);
	RUN_UNTIL(report().result != CHECK_NONE);
	ck_assert_msg(
	    report().result == result && strcmp(report().reason, reason) == 0,
	    "%s: %s: %s", words, report().result == CHECK_GOOD ? "good" : "bad",
	    report().reason);
}

void
check_fixture_good(const char *words, const char *reason)
{
	expect(words, CHECK_GOOD, reason);
}

void
check_fixture_bad(const char *words, const char *reason)
{
	expect(words, CHECK_BAD, reason);
}

void
check_fixture_refuses(const char *words, const char *why)
{
	struct error e;

	ck_assert_ptr_null(check_spec_read(words, &e));
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", words, e.text);
}

void
check_fixture_end(void)
{
	checker_free(check_fixture);
	programs_free(check_fixture_programs);
	fixture_end();
}
