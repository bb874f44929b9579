/* table_log.c: rows of the command table: what pen writes of its clients. */
#include "config.h"

#include "control/plan/table.h"

const struct command rows_log[] = {
	{ .name = "session_log",
	    .kind = KIND_FILE,
	    .offset = AT(session_log.to),
	    .flags = ROW_NO,
	    .option = "session-log",
	    .args = "[auto|off|log|FILE|stdout|stderr|syslog[:HOST:PORT]|"
		    "journal|udp:HOST:PORT]",
	    .help =
		"one line per finished session; the default: off in the "
		"background, in the foreground pen's own log, ten a second "
		"at most" },
	{ .name = "log_format",
	    .kind = KIND_TEXT,
	    .offset = AT(session_log.format),
	    .flags = ROW_NO,
	    .option = "log-format",
	    .args = "[logfmt|jsonl|common|TEMPLATE]",
	    .help = "format of that line; a template has {fields}" },
	{ .name = "log_sample",
	    .kind = KIND_NUMBER,
	    .offset = AT(session_log.sample),
	    .max = 1000000000,
	    .option = "log-sample",
	    .args = "[N]",
	    .help =
		"log one session in N, and all that end with an error; 0: "
		"errors only" },
	{ .name = "web",
	    .kind = KIND_TEXT,
	    .offset = AT(web),
	    .flags = ROW_NO,
	    .option = "web",
	    .args = "[[ADDRESS:]PORT|/PATH]",
	    .help =
		"serve a status page, /metrics for Prometheus, "
		"/status.json, /healthz, /readyz" },
	{ .name = "web_mode",
	    .kind = KIND_MODE,
	    .offset = AT(web_mode),
	    .flags = ROW_NO,
	    .option = "web-mode",
	    .args = "[MODE]",
	    .help = "file mode of the Unix socket of the status page" },
	{ .name = "web_acl",
	    .kind = KIND_ACL,
	    .offset = AT(web_acl),
	    .flags = ROW_NO,
	    .noun = "an access list",
	    .none = "-1",
	    .option = "web-acl",
	    .args = "[LIST]",
	    .help = "access list for clients of the status page; -1: none" },
	{ .name = "web_stats",
	    .kind = KIND_FILE,
	    .offset = AT(web_stats),
	    .flags = ROW_NO,
	    .letter = 'w',
	    .option = "web-stats",
	    .args = "[FILE]",
	    .help = "file for the status page, written on SIGUSR1" },
	{ .name = "log",
	    .kind = KIND_FILE,
	    .offset = AT(log),
	    .flags = ROW_NO,
	    .letter = 'l',
	    .option = "log",
	    .args = "[FILE|HOST:PORT]",
	    .help = "log of requests, to a file or by UDP to penlogd" },
	{ .name = NULL },
};
