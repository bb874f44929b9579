/* table_choosing.c: rows of the command table:
 * who serves the next client: algorithms and servers. */
#include "config.h"

#include "control/command.h"
#include "control/table.h"

const struct command rows_choosing[] = {
	{ .name = "roundrobin", .kind = KIND_FLAG,
	    .offset = AT(mode.roundrobin), .letter = 'r',
	    .option = "round-robin",
	    .help = "each server in turn; clients are not remembered" },
	{ .name = "hash", .kind = KIND_FLAG, .offset = AT(mode.hash),
	    .letter = 'h', .option = "hash",
	    .help = "by a hash of the client's address; with -r also of its "
		"port" },
	{ .name = "weight", .kind = KIND_FLAG, .offset = AT(mode.weight),
	    .letter = 'W', .option = "weight",
	    .help = "least connections relative to weight" },
	{ .name = "prio", .kind = KIND_FLAG, .offset = AT(mode.prio),
	    .help = "the lowest priority number first" },
	{ .name = "stubborn", .kind = KIND_FLAG, .offset = AT(mode.stubborn),
	    .letter = 's', .option = "stubborn",
	    .help = "no second choice: close when the first is unavailable" },
	{ .name = "balance", .kind = KIND_NAME, .offset = AT(mode.balance),
	    .names = balance_name, .noun = "algorithm", .none = "default",
	    .after = after_balance, .tell = tell_balance, .option = "balance",
	    .args = "NAME",
	    .help = "algorithm by name: #; default: as the modes say" },
	{ .name = "sticky", .kind = KIND_TRISTATE, .offset = AT(mode.sticky),
	    .flags = ROW_NO, .tell = tell_sticky, .option = "sticky",
	    .help = "remember the server each client used last" },
	{ .name = "tracking", .kind = KIND_SECONDS,
	    .offset = AT(pool.tracking_ms), .max = LONG_MS, .letter = 'T',
	    .option = "tracking", .args = "[SEC]",
	    .help = "how long a client is remembered; 0: until its slot is "
		"needed" },
	{ .name = "clients_max", .kind = KIND_NUMBER,
	    .offset = AT(pool.clients_max), .min = 1, .max = 1 << 30,
	    .flags = ROW_GROWS, .letter = 'c', .option = "clients-max",
	    .args = "[N]",
	    .help = "clients remembered; only grows" },
	{ .name = "hash_prefix6", .kind = KIND_UNSIGNED,
	    .offset = AT(pool.hash_prefix6), .min = 1, .max = 128,
	    .option = "hash-prefix6", .args = "[BITS]",
	    .help = "leading bits of an IPv6 address that the hash sees" },
	{ .name = "sticky_prefix6", .kind = KIND_UNSIGNED,
	    .offset = AT(pool.sticky_prefix6), .min = 1, .max = 128,
	    .option = "sticky-prefix6", .args = "[BITS]",
	    .help = "leading bits of an IPv6 address that make one client to "
		"remember" },
	{ .name = "blacklist", .kind = KIND_SECONDS,
	    .offset = AT(pool.blacklist_ms), .max = LONG_MS, .letter = 'b',
	    .option = "blacklist", .args = "[SEC]",
	    .help = "how long a server that failed is out of rotation while "
		"others are there" },
	{ .name = "mode", .kind = KIND_REPORT, .flags = ROW_LOOK,
	    .run = run_mode,
	    .help = "prints the modes in force" },
	{ .name = NULL },
};

const struct command rows_servers[] = {
	{ .name = "server", .kind = KIND_CHANGE, .flags = ROW_OPERATE,
	    .run = run_server,
	    .args = "N|all [acl A] [address IP] [port P] [max S] [hard H] "
		    "[blacklist SEC] [weight W] [prio P] [tls on|off] "
		    "[forward mac|tunnel] [up|drain|down|remove] | add SPEC",
	    .help = "sets up, adds or removes a server; N may be new" },
	{ .name = "servers", .kind = KIND_REPORT, .flags = ROW_LOOK,
	    .run = run_servers,
	    .help = "prints the servers" },
	{ .name = "emergency", .kind = KIND_CHANGE,
	    .flags = ROW_NO | ROW_OPERATE, .run = run_emergency, .letter = 'e',
	    .option = "emergency", .args = "[HOST:PORT]",
	    .help = "server for when all others are unavailable" },
	{ .name = "abuse", .kind = KIND_CHANGE, .flags = ROW_NO | ROW_OPERATE,
	    .run = run_abuse, .letter = 'B', .option = "abuse",
	    .args = "[HOST:PORT]",
	    .help = "server for clients that the client ACL denies" },
	{ .name = "acl", .kind = KIND_CHANGE, .flags = ROW_NO | ROW_OPERATE,
	    .run = run_acl, .args = "N permit|deny unix|ADDRESS[/LEN] [MASK]",
	    .help = "adds an entry to access list 0..9; no acl N empties it" },
	{ .name = "client_acl", .kind = KIND_INT, .offset = AT(pool.client_acl),
	    .max = 9, .option = "client-acl", .args = "[N]",
	    .help = "the access list clients must pass" },
	{ .name = "source", .kind = KIND_SOURCE, .offset = AT(frontend.source),
	    .flags = ROW_NO, .option = "source", .args = "IP [IP ...]",
	    .help = "local addresses towards servers, used in turn" },
	{ .name = NULL },
};
