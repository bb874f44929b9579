/* table_limits.c: rows of the command table:
 * how many connections may come, of all clients and of each. */
#include "config.h"

#include "base/rate_limit.h"
#include "control/value/choices.h"
#include "control/plan/table.h"

const struct command rows_limits[] = {
	{ .name = "client_conns",
	    .kind = KIND_NUMBER,
	    .offset = AT(frontend.limits.conns),
	    .help = "maximum concurrent connections per client; 0: unlimited" },
	{ .name = "client_rate",
	    .kind = KIND_RATE,
	    .offset = AT(frontend.limits.rate),
	    .help = "maximum new connections, or datagrams, per client in SEC "
		    "seconds; 0: unlimited" },
	{ .name = "client_prefix4",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(frontend.limits.prefix4),
	    .min = 1,
	    .max = 32,
	    .args = "[BITS]",
	    .help = "prefix length that makes one IPv4 client, for limits" },
	{ .name = "client_prefix6",
	    .kind = KIND_UNSIGNED,
	    .offset = AT(frontend.limits.prefix6),
	    .min = 1,
	    .max = 128,
	    .args = "[BITS]",
	    .help = "prefix length that makes one IPv6 client, for limits" },
	{ .name = "client_limit_action",
	    .kind = KIND_CHOICE,
	    .offset = AT(frontend.limits.action),
	    .choices = choices_limit_action,
	    .help = "action for connections over the client's limits" },
	{ .name = "client_limit_time",
	    .kind = KIND_SECONDS,
	    .offset = AT(frontend.limits.wait_ms),
	    .min = 1,
	    .help = "how long such connections are delayed or tarpitted" },
	{ .name = "client_limit_max",
	    .kind = KIND_NUMBER,
	    .offset = AT(frontend.limits.wait_max),
	    .help = "maximum connections delayed or tarpitted at a time; "
		    "others are refused" },
	{ .name = "client_limit_table",
	    .kind = KIND_NUMBER,
	    .offset = AT(frontend.limits.sources_max),
	    .min = 1,
	    .max = 1 << 24,
	    .help = "size of the table that counts connections per client" },
	{ .name = "client_exempt_acl",
	    .kind = KIND_ACL,
	    .offset = AT(client_exempt_acl),
	    .flags = ROW_NO,
	    .none = "-1",
	    .help = "access list of clients without limits; -1: none" },
	{ .name = "conn_rate",
	    .kind = KIND_RATE,
	    .offset = AT(frontend.limits.all),
	    .help =
		"maximum rate of accepted connections, others wait; 0: no "
		"limit" },
	{ .name = NULL },
};
