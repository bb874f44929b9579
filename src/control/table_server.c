/* table_server.c: the settings of one server, as "server N NAME VALUE" takes
 * them, in the order of its help. Offsets are in struct server_plan, whose
 * first member is what the pool knows of it: struct server_settings. */
#include "config.h"

#include "control/choices.h"
#include "control/command.h"
#include "control/table.h"

#define AT_SERVER(member) offsetof(struct server_plan, member)

_Static_assert(AT_SERVER(set) == 0, "rows find it in struct server too");

const struct command rows_server[] = {
	{ .name = "acl",
	    .kind = KIND_INT,
	    .offset = AT_SERVER(set.acl),
	    .max = ACL_LISTS - 1,
	    .noun = "a number",
	    .flags = ROW_IF_SET,
	    .args = "A" },
	{ .name = "address",
	    .kind = KIND_HOST,
	    .offset = AT_SERVER(host),
	    .after = after_address,
	    .args = "IP" },
	{ .name = "port", .kind = KIND_PORT, .args = "P" },
	{ .name = "max",
	    .kind = KIND_NUMBER,
	    .offset = AT_SERVER(set.soft),
	    .max = UINT32_MAX,
	    .noun = "a number",
	    .args = "S" },
	{ .name = "hard",
	    .kind = KIND_NUMBER,
	    .offset = AT_SERVER(set.hard),
	    .max = UINT32_MAX,
	    .noun = "a number",
	    .args = "H" },
	{ .name = "blacklist",
	    .kind = KIND_SECONDS,
	    .offset = AT_SERVER(set.blacklist_ms),
	    .max = LONG_MS,
	    .after = after_blacklist,
	    .args = "SEC" },
	{ .name = "weight",
	    .kind = KIND_UNSIGNED,
	    .offset = AT_SERVER(set.weight),
	    .max = SERVER_WEIGHT_MAX,
	    .noun = "a number",
	    .args = "W" },
	{ .name = "prio",
	    .kind = KIND_INT,
	    .offset = AT_SERVER(set.prio),
	    .max = INT32_MAX,
	    .noun = "a number",
	    .args = "P" },
	{ .name = "tls",
	    .kind = KIND_CHOICE,
	    .offset = AT_SERVER(set.tls),
	    .choices = choices_server_tls,
	    .flags = ROW_IF_SET,
	    .args = "on|off" },
	{ .name = "forward",
	    .kind = KIND_CHOICE,
	    .offset = AT_SERVER(set.forward),
	    .choices = choices_server_forward,
	    .flags = ROW_IF_SET,
	    .args = "mac|tunnel" },
	{ .name = "admin",
	    .kind = KIND_CHOICE,
	    .offset = AT_SERVER(admin),
	    .choices = choices_admin,
	    .flags = ROW_IF_SET | ROW_BARE },
	{ .name = NULL },
};
