/* registry.c: see registry.h. */
#include "config.h"

#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/apply/geoip.h"
#include "control/apply/refresh.h"
#include "control/commands/commands.h"
#include "control/plan/table.h"
#include "control/registry.h"
#include "control/report/report.h"
#include "control/socket/socket.h"
#include "control/verify/direct_inspect.h"
#include "control/verify/warnings.h"
#include "control/verify/explain.h"
#include "control/verify/preflight.h"
#include "control/verify/route_warnings.h"
#include "control/verify/tls_config_check.h"
#include "control/web/web.h"

/* In the order of help. */
const struct command_group command_groups[] = {
	{ "choosing", "choosing", { rows_choosing, mode_commands } },
	{ "servers", "servers",
	    { service_commands, server_commands, route_commands, acl_commands,
		rows_servers } },
	{ "connections", "connections",
	    { rows_connections, connection_commands, explain_commands,
		recent_commands, counter_commands } },
	{ "logs", "logs", { rows_log } },
	{ "limits", "limits", { rows_limits, limit_commands } },
	{ "http", "HTTP", { rows_http } },
	{ "ends", "ends of sessions", { rows_ends, client_commands } },
	{ "tls", "TLS", { rows_tls, tls_commands } },
	{ "dsr", "direct server return", { rows_dsr, dsr_commands } },
	{ "checks", "checks", { rows_checks, check_commands } },
	{ "configuration", "configuration",
	    { rows_configuration, config_commands, write_commands,
		help_commands } },
	{ "process", "process",
	    { rows_process, control_commands, process_commands } },
	{ "obsolete", "obsolete", { rows_obsolete } },
	{ NULL, NULL, { NULL } },
};

/* Servers come before those that use them. The listeners, which the world sees,
 * come when little is left that could fail. */
static const struct participant all[] = {
	{ .name = "process",
	    .of_process = true,
	    .since = PHASE_PLANNING,
	    .check = apply_process_check,
	    .commit = apply_process_commit },
	{ .name = "page and sources",
	    .since = PHASE_STARTING,
	    .prepare = preflight_prepare },
	{ .name = "warnings of direct return",
	    .since = PHASE_STARTING,
	    .prepare = direct_warn },
	{ .name = "director",
	    .since = PHASE_STARTING,
	    .check = direct_check,
	    .prepare = direct_prepare,
	    .cancel = direct_cancel },
	{ .name = "tls",
	    .since = PHASE_STARTING,
	    .check = tls_config_check,
	    .prepare = tls_config_prepare,
	    .commit = tls_config_commit,
	    .cancel = tls_config_cancel },
	{ .name = "access lists",
	    .since = PHASE_PLANNING,
	    .check = apply_acls_check,
	    .commit = apply_acls_commit },
	{ .name = "countries",
	    .of_process = true,
	    .since = PHASE_STARTING,
	    .prepare = geoip_prepare,
	    .commit = geoip_commit,
	    .cancel = geoip_cancel },
	{ .name = "servers",
	    .since = PHASE_PLANNING,
	    .check = apply_servers_check,
	    .prepare = apply_servers_prepare,
	    .commit = apply_servers_commit,
	    .cancel = apply_servers_cancel },
	{ .name = "frontend",
	    .since = PHASE_STARTING,
	    .check = apply_frontend_check,
	    .prepare = apply_frontend_prepare,
	    .commit = apply_frontend_commit,
	    .cancel = apply_frontend_cancel },
	{ .name = "logs",
	    .since = PHASE_STARTING,
	    .check = apply_log_check,
	    .prepare = apply_log_prepare,
	    .commit = apply_log_commit,
	    .cancel = apply_log_cancel },
	{ .name = "pages",
	    .of_process = true,
	    .since = PHASE_STARTING,
	    .prepare = apply_web_prepare,
	    .commit = apply_web_commit,
	    .cancel = apply_web_cancel },
	{ .name = "routes",
	    .since = PHASE_STARTING,
	    .check = apply_routes_check,
	    .prepare = apply_routes_prepare,
	    .commit = apply_routes_commit,
	    .cancel = apply_routes_cancel },
	{ .name = "warnings of routes",
	    .since = PHASE_STARTING,
	    .prepare = route_warnings_prepare,
	    .commit = route_warnings_commit,
	    .cancel = route_warnings_cancel },
	{ .name = "tunnels",
	    .since = PHASE_STARTING,
	    .prepare = direct_prepare_forward,
	    .commit = direct_commit_forward },
	{ .name = "listeners",
	    .since = PHASE_STARTING,
	    .prepare = apply_listen_prepare,
	    .cancel = apply_listen_cancel },
	{ .name = "checks",
	    .since = PHASE_STARTING,
	    .check = checks_check,
	    .prepare = checks_prepare,
	    .commit = checks_commit,
	    .cancel = checks_cancel },
	{ .name = "names",
	    .of_process = true,
	    .since = PHASE_SERVING,
	    .commit = refresh_commit },
	{ .name = "control sockets",
	    .of_process = true,
	    .since = PHASE_STARTING,
	    .prepare = control_prepare,
	    .cancel = control_cancel },
	{ .name = "warnings",
	    .of_process = true,
	    .since = PHASE_SERVING,
	    .commit = warnings_commit },
	{ .name = NULL },
};

const struct participant *const participants = all;
