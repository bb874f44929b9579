/* test_control_missing_argument.c: every command without its arguments, with
 * too many and with odd ones is answered, and pen goes on. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "control/language/command.h"
#include "control/registry.h"
#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct endpoint ctl;

static void
is_refused(const char *line)
{
	ck_assert_msg(
	    strncmp(endpoint_ask(&ctl, text("%s\n", line)), "error: ", 7) == 0,
	    "%s: not refused", line);
}

static bool
ends_it(const struct command *row)
{
	return strcmp(row->name, "exit") == 0 ||
	    strcmp(row->name, "shutdown") == 0 ||
	    strcmp(row->name, "upgrade") == 0;
}

/* Whatever it is answered, somebody is there afterwards. */
static void
survives(const char *line)
{
	(void)endpoint_ask(&ctl, line);
	ck_assert_str_eq(endpoint_ask(&ctl, "pending_max\n"), "0\n");
}

START_TEST(control_missing_argument)
{
	static const char *const odd[] = { "", " \"\"", " -1", " x",
		" 99999999999999999999", " 0 0 0 0 0", " '\xff\x01'" };
	const struct command *row;
	struct endpoint front;
	struct backend b;
	struct pen pen;
	size_t i;

	/* some of the words name files: not where somebody works */
	ck_assert_int_eq(chdir(scratch("")), 0);
	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	is_refused("no acl");
	is_refused("source");
	survives("ssl_client_renegotiation_interval\n");
	is_refused("acl");
	is_refused("server");
	is_refused("close");
	is_refused("connection");
	is_refused("socket");
	is_refused("include");
	is_refused("no");
	COMMAND_EACH (command_groups, row) {
		if (ends_it(row) || strcmp(row->name, "pending_max") == 0 ||
		    strcmp(row->name, "listen") == 0)
			continue;
		for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			survives(text("%s%s\n", row->name, odd[i]));
			survives(text("no %s%s\n", row->name, odd[i]));
		}
	}
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_control_missing_argument)
{
	Suite *s = suite_create("control_missing_argument");

	SUITE_ADD(s, control_missing_argument, 60);
	return s;
}
