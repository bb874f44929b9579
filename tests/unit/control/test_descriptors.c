/* test_descriptors.c: the budget of descriptors is never overdrawn. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/words.h"
#include "control/life/descriptors.h"
#include "proxy/dns/dns.h"
#include "support/suite.h"

/* At the least: standard files, loop, log. */
enum { LEAST_OWN = 6 };

static const struct {
	size_t limit;
	uint64_t sessions, idlers;
	unsigned servers;
	bool udp, dns;
} cases[] = {
	{ 256, 0, 0, 2, false, false },
	{ 512, 0, 0, 2, false, false },
	{ 512, 0, 100, 2, false, false },
	{ 512, 240, 100, 2, false, false },
	{ 512, 1000, 1000, 2, false, false },
	{ 1024, 0, 0, 10, true, true },
	{ 1024, 0, 0, 100, true, true },
	{ 1024, 0, 0, 10, true, false },
	{ 4096, 100, 0, 3, false, false },
	{ 524288, 0, 0, 1000, false, false },
	{ 524288, 0, 10000, 1000, true, true },
	{ 1048576, 400000, 0, 2, false, false },
};

static struct plan *
plan_of(int i)
{
	struct plan *plan = plan_new();
	struct config *c;

	ck_assert_ptr_nonnull(plan);
	c = plan_edit_config(plan);
	c->conn_max = cases[i].sessions;
	c->idlers = cases[i].idlers;
	c->udp = cases[i].udp;
	c->frontend.dns.on = cases[i].dns;
	plan->servers.slots = server_slot(cases[i].servers);
	plan->listen.count = 1;
	return plan;
}

/* With as many of each kind as there may be, nothing is lacking; a plan that
 * asks for no number of sessions leaves some for pipes. */
START_TEST(never_overdrawn)
{
	struct plan *plan = plan_of(_i);
	struct frontend_options *o = &plan_edit_config(plan)->frontend;
	struct descriptors d =
	    descriptors_share(cases[_i].limit, plan->process, plan, 0);
	size_t each = cases[_i].udp && !cases[_i].dns ? 1 : 2;
	size_t used = LEAST_OWN + plan->listen.count + d.control;

	descriptors_settle(cases[_i].limit, 1, plan->process, plan, 0, o);
	if (cases[_i].dns)
		used += DNS_SOCKETS * (size_t)cases[_i].servers;
	ck_assert_uint_ge(d.control, 8);
	ck_assert_uint_ge(o->sessions_max, 1);
	ck_assert_uint_le(o->preopened, cases[_i].idlers);
	if (o->sessions_max > 1)
		ck_assert_uint_le(used + each * o->sessions_max + o->preopened +
			2 * o->kernel_pipes_max,
		    cases[_i].limit);
	if (cases[_i].sessions > 0)
		ck_assert_uint_le(o->sessions_max, cases[_i].sessions);
	else if (o->sessions_max > 1)
		ck_assert_uint_gt(o->kernel_pipes_max, 0);
	plan->servers.slots = SLOTS_SPECIAL;
	plan_free(plan);
}
END_TEST

/* What is wanted and fits is not touched. */
START_TEST(what_fits_stays)
{
	struct plan *plan = plan_of(3);

	plan_edit_config(plan)->conn_max = 150;
	descriptors_settle(512, 1, plan->process, plan, 0,
	    &plan_edit_config(plan)->frontend);
	ck_assert_uint_eq(plan->config->frontend.sessions_max, 150);
	ck_assert_uint_eq(plan->config->frontend.preopened, 100);
	plan->servers.slots = SLOTS_SPECIAL;
	plan_free(plan);
}
END_TEST

/* Where nothing is left for sessions, nothing is left for pipes. */
START_TEST(no_pipes_out_of_nothing)
{
	struct plan *plan = plan_of(6);

	descriptors_settle(1024, 1, plan->process, plan, 0,
	    &plan_edit_config(plan)->frontend);
	ck_assert_uint_eq(plan->config->frontend.sessions_max, 1);
	ck_assert_uint_eq(plan->config->frontend.kernel_pipes_max, 0);
	plan->servers.slots = SLOTS_SPECIAL;
	plan_free(plan);
}
END_TEST

/* As many as run at a time, or as there are servers. */
START_TEST(checks_have_theirs)
{
	struct plan *plan = plan_of(9);
	size_t without =
	    descriptors_share(524288, plan->process, plan, 0).sessions;

	ck_assert_int_eq(
	    text_set(&plan_edit_config(plan)->checks.text, "connect"), 0);
	ck_assert_uint_eq(
	    descriptors_share(524288, plan->process, plan, 0).sessions,
	    without - 256 / 2);
	plan->servers.slots = server_slot(8);
	ck_assert_uint_eq(
	    descriptors_share(524288, plan->process, plan, 0).sessions,
	    without - 10 / 2);
	plan->servers.slots = SLOTS_SPECIAL;
	plan_free(plan);
}
END_TEST

SUITE(test_descriptors)
{
	Suite *s = suite_create("descriptors");
	TCase *c = tcase_create("budget");

	tcase_add_loop_test(
	    c, never_overdrawn, 0, sizeof(cases) / sizeof(*cases));
	suite_add_tcase(s, c);
	SUITE_ADD(s, what_fits_stays, 10);
	SUITE_ADD(s, no_pipes_out_of_nothing, 10);
	SUITE_ADD(s, checks_have_theirs, 10);
	return s;
}
