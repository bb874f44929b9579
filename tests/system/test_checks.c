/* test_checks.c: health checks: what is down is left out before a client comes,
 * and is back when it answers. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct pen pen;
static struct spot front, ctl;
static struct backend a, b;

/* ---- the rig ---- */

/* Two servers that say who they are; fast checks. */
#define BEGIN(...)                                                          \
	do {                                                                \
		spot_new(&front, SPOT_TCP4);                                \
		spot_new(&ctl, SPOT_UNIX);                                  \
		pen_up(&pen, &front, "-r", "-b", "0", "-C", ctl.text, "-O", \
		    "check_interval 50ms", "-O", "check_timeout 5", "-O",   \
		    "check_fall 2", __VA_ARGS__, front.text, a.at.text,     \
		    b.at.text, NULL);                                       \
	} while (0)

static const char *
ask(const char *command)
{
	return spot_ask(&ctl, text("%s\n", command));
}

/* Whether "checks" says that of the server. */
static bool
says(unsigned server, const char *what)
{
	char line[400];
	const char *all = ask("checks"), *at = all;
	size_t n;

	for (; *at != '\0'; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, at);
		if (strncmp(line, text("%u check ", server), 8) == 0)
			return strstr(line, what) != NULL;
	}
	return false;
}

#define BECOMES(server, what) WAIT_FOR(says(server, what), 10000)

/* Clients are all served by this one. */
static void
expect_only(const char *who)
{
	int i;

	for (i = 0; i < 6; i++)
		ck_assert_str_eq(spot_hear(&front), who);
}

static void
start_both(void)
{
	backend_start(&a, SPOT_TCP4, backend_say, "a");
	backend_start(&b, SPOT_TCP4, backend_say, "b");
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}

/* ---- who is left out ---- */

START_TEST(dead_server_gets_no_client)
{
	struct spot at;

	start_both();
	BEGIN("-O", "check connect");
	BECOMES(1, "state healthy result ok");
	backend_stop(&b);
	BECOMES(1, "state unhealthy result failed");
	ck_assert(says(1, "reason Connection refused"));
	expect_only("a");
	/* no client has met it */
	ck_assert_ptr_null(strstr(child_err(&pen.child), "server failed"));
	ck_assert_ptr_nonnull(strstr(child_err(&pen.child),
	    "server down server=1 name=127.0.0.1 "
	    "reason=\"check connect: Connection refused\" was=up"));
	at = b.at;
	backend_start_at(&b, &at, backend_say, "b");
	BECOMES(1, "state healthy");
	WAIT_FOR(strcmp(spot_hear(&front), "b") == 0, 5000);
	end();
}
END_TEST

/* Servers are not asked unless that is wanted. */
START_TEST(nobody_is_asked_without_a_setting)
{
	start_both();
	BEGIN("-O", "check_lazy");
	ck_assert_ptr_nonnull(strstr(ask("checks"), "no check is set"));
	pen_expect_rest(&pen);
	ck_assert_int_eq(a.accepted + b.accepted, 0);
	end();
}
END_TEST

START_TEST(checks_leave_nothing_open)
{
	int before;

	start_both();
	BEGIN("-O", "check connect");
	BECOMES(0, "result ok");
	BECOMES(1, "result ok");
	ask("no check");
	before = child_fds(pen.child.pid);
	if (before < 0)
		SKIP("descriptors cannot be counted here");
	ask("check connect");
	BECOMES(0, "result ok");
	backend_stop(&b);
	BECOMES(1, "state unhealthy");
	ask("no check");
	WAIT_FOR(child_fds(pen.child.pid) <= before, 5000);
	pen_expect_rest(&pen);
	end();
}
END_TEST

SUITE(test_checks)
{
	Suite *s = suite_create("checks");

	SUITE_ADD(s, dead_server_gets_no_client, 20);
	SUITE_ADD(s, nobody_is_asked_without_a_setting, 20);
	SUITE_ADD(s, checks_leave_nothing_open, 20);
	return s;
}
