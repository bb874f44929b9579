/* test_dsr_inspect_fast.c: what --check finds that keeps a fast path from doing
 * anything. */
#include "config.h"

#include <check.h>
#ifdef HAVE_XDP
#include <linux/ethtool.h>
#endif
#include <string.h>

#include "support/dsrpen.h"
#include "support/inspectrun.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/veth.h"

static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;
static struct inspectrun run = { .fixture = &fixture };

/* What is asked for on the machine; how it ends depends on the build. */
START_TEST(fast_path)
{
	static const char *const none[] = { "dsr_fast_path on", "dsr_flows 0",
		NULL };

	NEED_NET_FIXTURE(&fixture, &two);
	INSPECTRUN_MEND(&run, inspectrun_check(&run, NULL, none),
	    { NET_FIXTURE_HOME, "warning: dsr_fast_path has no effect: " },
	    { NET_FIXTURE_HOME,
		"warning: dsr_fast_path has no effect with dsr_flows 0; fix: "
		"dsr_flows 1000000" });
#ifdef HAVE_XDP
	ck_assert_ptr_nonnull(inspectrun_line(child_err(&run.child),
	    "warning: dsr_fast_path has no effect: the veth peer"));
#else
	ck_assert_ptr_nonnull(inspectrun_line(child_err(&run.child),
	    "warning: dsr_fast_path has no effect: this pen was built without "
	    "libbpf; fix: ./configure --with-libbpf"));
#endif
	net_fixture_down(&fixture);
}
END_TEST

#ifdef HAVE_XDP
static void
merge_at_the_switch(bool on)
{
	net_fixture_enter(&fixture, NET_FIXTURE_SWITCH);
	veth_feature("d1", ETHTOOL_SGRO, on);
	net_fixture_leave(&fixture);
}

/* The switch is another machine. */
START_TEST(fast_path_of_a_cable)
{
	static const char *const on[] = { "dsr_fast_path on", NULL };
	const char *report, *line;

	NEED_NET_FIXTURE(&fixture, &two);
	merge_at_the_switch(true);
	report = inspectrun_check(&run, NULL, on);
	if (strstr(report, "this kernel does not tell") != NULL)
		SKIP("this kernel does not tell");
	inspectrun_is_fine(&run, report);
	merge_at_the_switch(false);
	report = inspectrun_check(&run, NULL, on);
	INSPECTRUN_MEND(&run, report,
	    { NET_FIXTURE_HOME,
		"warning: dsr_fast_path has no effect: the veth peer" });
	line = inspectrun_line(report, "warning: ");
	ck_assert_ptr_nonnull(
	    strstr(line, "; to run there; fix: ethtool -K peer gro on"));
	net_fixture_down(&fixture);
}
END_TEST

static void
start_director(struct dsrpen *pen, const char *listen)
{
	const char *vip = text("%.*s", (int)strcspn(listen, ":"), listen);

	dsrpen_up(pen, &fixture, NET_FIXTURE_DIRECTOR, vip, "-r", "-O",
	    "dsr_fast_path on", listen, net_fixture_server4(0), NULL);
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(pen, "dsr"), "\nmode native\n"));
}

/* The program of the running director is no other one. */
START_TEST(fast_path_of_a_director)
{
	static const char *const on[] = { "dsr_fast_path on", NULL };
	struct dsrpen pen;

	NEED_NET_FIXTURE(&fixture, &two);
	merge_at_the_switch(true);
	inspectrun_is_fine(&run, inspectrun_check(&run, NULL, on));
	start_director(&pen, NET_FIXTURE_VIP4 ":80");
	inspectrun_is_fine(&run, inspectrun_check(&run, NULL, on));
	dsrpen_down(&pen);
	start_director(&pen, NET_FIXTURE_VIP4_B ":80");
	INSPECTRUN_MEND(&run, inspectrun_check(&run, NULL, on),
	    { NET_FIXTURE_HOME,
		"warning: dsr_fast_path has no effect: another XDP program is "
		"attached to eth0" });
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST
#endif

SUITE(test_dsr_inspect_fast)
{
	Suite *s = suite_create("dsr_inspect_fast");

	SUITE_ADD(s, fast_path, 60);
#ifdef HAVE_XDP
	SUITE_ADD(s, fast_path_of_a_cable, 60);
	SUITE_ADD(s, fast_path_of_a_director, 60);
#endif
	return s;
}
