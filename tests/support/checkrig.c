/* checkrig.c: one checker at a time. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/core/frontend_core.h"
#include "support/checkrig.h"

enum { HOUR_MS = 3600000, PROGRAMS = 8 };

struct checker *checkrig;
struct programs *checkrig_programs;

void
checkrig_begin(const struct spot *at)
{
	rig_begin();
	rig_add_server(0, at);
}

void
checkrig_front(uint64_t timeout_ms)
{
	struct checker_options o = { .interval_ms = HOUR_MS,
		.timeout_ms = timeout_ms,
		.running_max = PROGRAMS };

	rig_front();
	checkrig_programs = programs_new(rig.loop, PROGRAMS, &rig.e);
	ck_assert_ptr_nonnull(checkrig_programs);
	checkrig =
	    checker_new(rig.loop, rig.pool, frontend_core_of(rig.frontend));
	ck_assert_ptr_nonnull(checkrig);
	checker_set_programs(checkrig, checkrig_programs);
	ck_assert_int_eq(checker_reserve(checkrig, server_slot(0)), 0);
	checker_set_options(checkrig, &o);
}

/* Returns what is known of server 0. */
static struct checker_report
report(void)
{
	struct checker_report r = { .result = CHECK_NONE };

	(void)checker_report(checkrig, server_slot(0), &r);
	return r;
}

void
checkrig_stop(void)
{
	struct checker_target none = { .spec = NULL };

	checker_set(checkrig, server_slot(0), &none, false);
}

static void
expect(const char *words, enum check_result result, const char *reason)
{
	struct checker_target t = { .spec = check_spec_read(words, &rig.e) };

	ck_assert_msg(t.spec != NULL, "%s: %s", words, rig.e.text);
	checkrig_stop();
	checker_set(checkrig, server_slot(0), &t, true);
	check_spec_drop(t.spec);
	RUN_UNTIL(report().result != CHECK_NONE);
	ck_assert_msg(
	    report().result == result && strcmp(report().reason, reason) == 0,
	    "%s: %s: %s", words, report().result == CHECK_GOOD ? "good" : "bad",
	    report().reason);
}

void
checkrig_good(const char *words, const char *reason)
{
	expect(words, CHECK_GOOD, reason);
}

void
checkrig_bad(const char *words, const char *reason)
{
	expect(words, CHECK_BAD, reason);
}

void
checkrig_refuses(const char *words, const char *why)
{
	struct error e;

	ck_assert_ptr_null(check_spec_read(words, &e));
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", words, e.text);
}

void
checkrig_end(void)
{
	checker_free(checkrig);
	programs_free(checkrig_programs);
	rig_end();
}
