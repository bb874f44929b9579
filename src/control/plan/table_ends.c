/* table_ends.c: rows of the command table: how drained sessions end, and which
 * servers their clients get then. */
#include "config.h"

#include "control/value/choices.h"
#include "control/plan/table.h"

const struct command rows_ends[] = {
	{ .name = "drain_timeout",
	    .kind = KIND_SECONDS,
	    OF_PROCESS(drain_ms),
	    .help =
		"time limit for sessions to finish when draining; 0: none" },
	{ .name = "failback",
	    .kind = KIND_CHOICE,
	    .offset = AT(pool.failback),
	    .choices = choices_failback,
	    .help = "when clients return to the server that they were moved "
		    "away from" },
	{ .name = "max_age",
	    .kind = KIND_SECONDS,
	    .offset = AT(frontend.end.max_age_ms),
	    .help = "age at which sessions are drained; 0: never" },
	{ .name = "on_down",
	    .kind = KIND_CHOICE,
	    .offset = AT(pool.on_down),
	    .choices = choices_on_down,
	    .help = "keep or reset a server's sessions when it goes down" },
	{ .name = "on_up",
	    .kind = KIND_CHOICE,
	    .offset = AT(pool.on_up),
	    .choices = choices_on_up,
	    .help = "keep or end sessions on servers of lower priority when a "
		    "better server comes up" },
	{ .name = "quiet_end",
	    .kind = KIND_CHOICE,
	    .offset = AT(frontend.end.quiet),
	    .choices = choices_quiet_end,
	    .help = "which sessions pen may close early, when idle between "
		    "requests" },
	{ .name = "quiet_time",
	    .kind = KIND_SECONDS,
	    .offset = AT(frontend.end.quiet_ms),
	    .min = 1,
	    .help = "how long a session must be silent to be idle between "
		    "requests" },
	{ .name = NULL },
};
