/* dsrfast.c: gates open a moment after pen has begun: flows are kept going
 * until the kernel has them. */
#include "config.h"

#include <check.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "support/dsrfast.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { ECHOES = 40 };

/* Before Linux 6.3 nobody says whether a cable takes what XDP sends. */
static bool
kernel_is_too_old(void)
{
	struct utsname u;
	long major, minor;
	char *dot;

	ck_assert_int_eq(uname(&u), 0);
	major = strtol(u.release, &dot, 10);
	minor = *dot == '.' ? strtol(dot + 1, NULL, 10) : 0;
	return major < 6 || (major == 6 && minor < 3);
}

void
dsrfast_switch_merges(const struct dsrnet *n, bool on)
{
	net_fixture_feature(
	    n->fixture, NET_FIXTURE_SWITCH, "d1", ETHTOOL_SGRO, on);
}

const char *
dsrfast_missing(void)
{
#ifdef HAVE_XDP
	return NULL;
#else
	return "built without libbpf";
#endif
}

const char *
dsrfast_begin(struct dsrnet *n, struct net_fixture *fixture, const char *vip,
    int type, const char *option)
{
	const char *said;

	n->fixture = fixture;
	n->option = option;
	dsrfast_switch_merges(n, true);
	dsrnet_begin(n, fixture, vip, type);
	said = dsrfast_ask(n, "dsr");
	if (strstr(said, "\nmode native\n") == NULL)
		return "this system has no XDP for veth";
	if (strstr(said, "\nfast_path yes\n") != NULL)
		return NULL;
	ck_assert_msg(
	    kernel_is_too_old(), "no fast path: %s", child_err(&n->pen.child));
	return "the kernel is too old for a fast path into a cable";
}

const char *
dsrfast_ask(const struct dsrnet *n, const char *line)
{
	const char *answer = dsrpen_ask(&n->pen, line);

	ck_assert_msg(strstr(answer, "error") == NULL, "%s: %s", line, answer);
	return answer;
}

long
dsrfast_count(const struct dsrnet *n, const char *name)
{
	return report_number(dsrfast_ask(n, "dsr"), text("\n%s ", name));
}

bool
dsrfast_passes(const struct dsrnet *n, int near, int far, long before)
{
	dsrnet_pass(near, far, DSRFAST_SOME);
	return dsrfast_count(n, "fast_frames") > before;
}

unsigned
dsrfast_connect(const struct dsrnet *n, int *near, int *far)
{
	unsigned who = dsrnet_connect(n, near, far);

	WAIT_FOR(dsrfast_passes(n, *near, *far, 0), 5000);
	ck_assert_int_eq(dsrfast_count(n, "fast_flows"), 1);
	return who;
}

static bool
echoes(const struct dsrnet *n, int near, unsigned who, long before)
{
	unsigned i;

	for (i = 0; i < ECHOES; i++)
		if (dsrnet_echo(n, near, DSRFAST_SIZE, DSRFAST_SIZE) != who)
			ck_abort_msg("another server than %u", who);
	return dsrfast_count(n, "fast_frames") > before;
}

unsigned
dsrfast_echo(const struct dsrnet *n, int near)
{
	unsigned who = dsrnet_echo(n, near, DSRFAST_SIZE, DSRFAST_SIZE);
	long before = dsrfast_count(n, "fast_frames");

	WAIT_FOR(echoes(n, near, who, before), 5000);
	return who;
}
