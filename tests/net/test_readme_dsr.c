/* test_readme_dsr.c: what README.md says of direct server return. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "net/readme_fixture.h"
#include "support/decap.h"
#include "support/suite.h"
#include "support/wait.h"

#define VIP "http://10.0.0.10/"

static void
both_answer(void)
{
	struct net_fixture_counters before, now;

	before =
	    net_fixture_counters(&readme_fixture, NET_FIXTURE_DIRECTOR, "eth0");
	expect_turns(VIP);
	/* What servers answer does not come by. */
	now =
	    net_fixture_counters(&readme_fixture, NET_FIXTURE_DIRECTOR, "eth0");
	ck_assert_uint_lt(now.rx_bytes - before.rx_bytes, 40000);
}

static bool
all_from_web2(void)
{
	return strcmp(fetch_names(3, VIP), "web2 web2 web2 ") == 0;
}

static void
sick_ones_get_none(void)
{
	expect_turns(VIP);
	machine_stop(readme_webs[0]);
	net_fixture_ip(&readme_fixture, NET_FIXTURE_SERVER,
	    "addr del 10.0.0.10/32 dev lo\n");
	WAIT_FOR(all_from_web2(), 30000);
}

static const char *
no_tunnels(void)
{
	const char *why =
	    decap_start(&readme_fixture, NET_FIXTURE_SERVER + WEB1);

	return why != NULL
	    ? why
	    : decap_start(&readme_fixture, NET_FIXTURE_SERVER + WEB2);
}

static void
tunnels_reach(void)
{
	ck_assert_int_eq(strncmp(fetch(VIP), "web", 3), 0);
}

const struct example readme_dsr[] = {
	{ .line = "pen -O \"dsr_if eth0\" -r 10.0.0.10:0 10.0.0.3 10.0.0.4",
	    .before = webs_up,
	    .check = both_answer },
	{ .line = "pen -O \"dsr_if eth0\" -O \"dsr_ip 10.0.0.2\""
		  " -O \"check dsr 80\" -r 10.0.0.10:0 10.0.0.3 10.0.0.4",
	    .before = webs_up,
	    .check = sick_ones_get_none },
	{ .line = "pen -O \"dsr_if eth0\" -O \"dsr_forward tunnel\""
		  " 10.0.0.10:0 web1 web2",
	    .lacks = no_tunnels,
	    .before = webs_up,
	    .check = tunnels_reach },
	{ .line = NULL },
};

README_SUITE(test_readme_dsr, readme_dsr)
