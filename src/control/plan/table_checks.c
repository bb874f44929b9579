/* table_checks.c: rows of the command table: health checks. */
#include "config.h"

#include "control/value/choices.h"
#include "control/plan/table.h"
#include "proxy/check/check_spec.h"

const struct command rows_checks[] = {
	{ .name = "check",
	    .kind = KIND_CHECK,
	    .offset = AT(checks.text),
	    .after = after_check,
	    .names = check_spec_kind_name,
	    .none = "none",
	    .flags = ROW_NO | ROW_SECRETS,
	    .option = "check-servers",
	    .args = "[KIND ..]",
	    .help =
		"health check of servers, for example \"connect\" or \"http "
		"/health\"; KIND: #" },
	{ .name = "check_port",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(checks.port),
	    .max = UINT16_MAX,
	    .help = "port to check; 0: the port of the server" },
	{ .name = "check_interval",
	    .kind = KIND_SECONDS,
	    .offset = AT(checks.interval_ms),
	    .min = 1,
	    .help = "time between checks of a server" },
	{ .name = "check_interval_down",
	    .kind = KIND_SECONDS,
	    .offset = AT(checks.interval_down_ms),
	    .help = "time between checks of a server that is down; 0: grows "
		    "while it is down" },
	{ .name = "check_timeout",
	    .kind = KIND_SECONDS,
	    .offset = AT(checks.timeout_ms),
	    .min = 1,
	    .help = "timeout of a check" },
	{ .name = "check_rise",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(pool.health.rise),
	    .min = 1,
	    .max = 1 << 20,
	    .help = "consecutive successes that bring a server up" },
	{ .name = "check_fall",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(pool.health.fall),
	    .min = 1,
	    .max = 1 << 20,
	    .help = "consecutive failures that mark a server down" },
	{ .name = "check_initial",
	    .kind = KIND_CHOICE,
	    .offset = AT(checks.initial),
	    .choices = choices_check_initial,
	    .help =
		"state of a new server before its first checks; checked: down "
		"until one succeeds" },
	{ .name = "check_lazy",
	    .kind = KIND_FLAG,
	    .offset = AT(checks.lazy),
	    .help = "skip checks while clients reach the server" },
	{ .name = "panic",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(pool.panic),
	    .max = 100,
	    .args = "[PERCENT]",
	    .help = "use all servers when fewer than this percentage of the "
		    "checked ones is up; 0: never" },
	{ .name = "checks_max",
	    .kind = KIND_NUMBER,
	    .offset = AT(checks.running_max),
	    .min = 1,
	    .max = 1 << 16,
	    .help = "maximum checks that run at the same time" },
	{ .name = NULL },
};
