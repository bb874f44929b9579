/* test_doubts.c: what a plan holds without effect is said, in few lines. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/doubts.h"
#include "support/suite.h"

enum { MANY = 8000 };

static struct plan *plan;

/* Servers that are as good as the same: each has a port of its own. */
static void
add_servers(unsigned n, uint64_t soft, uint64_t hard, enum server_forward f)
{
	struct server_plan *s;
	unsigned i;

	for (i = 0; i < n; i++) {
		s = plan_server(plan, i);
		ck_assert_ptr_nonnull(s);
		ck_assert_int_eq(plan_set_text(&s->host, "127.0.0.1"), 0);
		s->port = (uint16_t)(1000 + i);
		s->set.soft = soft;
		s->set.hard = hard;
		s->set.forward = f;
	}
}

static const char *
printed(void)
{
	struct buffer b;
	const char *kept;

	buffer_init(&b);
	doubts_print(plan, &b);
	ck_assert_int_eq(buffer_append(&b, "", 1), 0);
	kept = text("%s", buffer_bytes(&b));
	buffer_fini(&b);
	return kept;
}

/* A line about each of thousands would be compared with each of the plan before,
 * at every command. */
START_TEST(many_servers_are_few_lines)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(MANY, 5, 3, SERVER_FORWARD_TUNNEL);
	ck_assert_str_eq(printed(),
	    "server 0: max 5 has no effect with hard 3\n"
	    "server 1: max 5 has no effect with hard 3\n"
	    "server 2: max 5 has no effect with hard 3\n"
	    "server 3: max 5 has no effect with hard 3\n"
	    "server 4: max 5 has no effect with hard 3\n"
	    "server 5: max 5 has no effect with hard 3\n"
	    "server 6: max 5 has no effect with hard 3\n"
	    "server 7: max 5 has no effect with hard 3\n"
	    "7992 more servers: max has no effect with a lower hard\n"
	    "server 0: forward tunnel has no effect without dsr_if\n"
	    "server 1: forward tunnel has no effect without dsr_if\n"
	    "server 2: forward tunnel has no effect without dsr_if\n"
	    "server 3: forward tunnel has no effect without dsr_if\n"
	    "server 4: forward tunnel has no effect without dsr_if\n"
	    "server 5: forward tunnel has no effect without dsr_if\n"
	    "server 6: forward tunnel has no effect without dsr_if\n"
	    "server 7: forward tunnel has no effect without dsr_if\n"
	    "7992 more servers: forward has no effect without dsr_if\n");
	plan_free(plan);
}
END_TEST

START_TEST(eight_are_all_named)
{
	plan = plan_new();
	ck_assert_ptr_nonnull(plan);
	add_servers(8, 5, 3, SERVER_FORWARD_AS_SET);
	ck_assert_ptr_nonnull(strstr(printed(), "server 7: max 5"));
	ck_assert_ptr_null(strstr(printed(), "more servers"));
	plan_free(plan);
}
END_TEST

SUITE(test_doubts)
{
	Suite *s = suite_create("doubts");

	SUITE_ADD(s, many_servers_are_few_lines, 10);
	SUITE_ADD(s, eight_are_all_named, 10);
	return s;
}
