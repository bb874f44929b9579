/* registry.c: see registry.h. */
#include "config.h"

#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/circles.h"
#include "control/apply/direct.h"
#include "control/apply/geoip.h"
#include "control/apply/routes.h"
#include "control/commands/commands.h"
#include "control/peers/peers.h"
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
#include "control/workers/workers.h"

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
	    .since = PHASE_PLANNING,
	    .process = { .on = CHANGED_ALL,
		.check = apply_process_check,
		.commit = apply_process_commit },
	    .service = { .on = CHANGED_AT_START | CHANGED_LISTEN,
		.check = apply_process_check_service } },
	{ .name = "page and sources",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_WEB_STATS | CHANGED_ON_STATE,
		.prepare = preflight_prepare },
	    .service = { .on = CHANGED_SOURCE,
		.prepare = preflight_prepare_service } },
	{ .name = "warnings of direct return",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_FIRST, .prepare = direct_warn } },
	{ .name = "director",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_DSR | CHANGED_LISTEN | CHANGED_TLS |
		    CHANGED_FRONTEND | CHANGED_HOSTS | CHANGED_FORWARD |
		    CHANGED_ACLS,
		.check = direct_check,
		.prepare = direct_prepare,
		.cancel = direct_cancel } },
	{ .name = "tls",
	    .since = PHASE_STARTING,
	    .service = { .on = TLS_CONFIG_ON,
		.check = tls_config_check,
		.prepare = tls_config_prepare,
		.commit = tls_config_commit,
		.cancel = tls_config_cancel } },
	{ .name = "access lists",
	    .of_each = true,
	    .since = PHASE_PLANNING,
	    .process = { .on = CHANGED_ACLS | CHANGED_REFERENCES | CHANGED_ANEW,
		.check = apply_acls_check,
		.commit = apply_acls_commit },
	    .service = { .on = CHANGED_ACLS | CHANGED_REFERENCES | CHANGED_ANEW,
		.check = apply_acls_check_service } },
	{ .name = "countries",
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_GEOIP,
		.prepare = geoip_prepare,
		.commit = geoip_commit,
		.cancel = geoip_cancel } },
	{ .name = "servers",
	    .of_each = true,
	    .since = PHASE_PLANNING,
	    .service = { .on = CHANGED_SET | CHANGED_POOL | CHANGED_DSR |
		    CHANGED_ACLS,
		.check = apply_servers_check,
		.prepare = apply_servers_prepare,
		.commit = apply_servers_commit,
		.cancel = apply_servers_cancel } },
	{ .name = "frontend",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_FRONTEND | CHANGED_LISTEN |
		    CHANGED_POOL | CHANGED_ACLS | CHANGED_GEOIP | CHANGED_DUMP |
		    CHANGED_DRAIN | CHANGED_ANEW,
		.check = apply_frontend_check,
		.prepare = apply_frontend_prepare,
		.commit = apply_frontend_commit,
		.cancel = apply_frontend_cancel } },
	{ .name = "sockets to servers",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_SET | CHANGED_POOL | CHANGED_ACLS,
		.commit = apply_frontend_commit_servers } },
	{ .name = "logs",
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_LOG,
		.prepare = apply_log_prepare,
		.commit = apply_log_commit,
		.cancel = apply_log_cancel },
	    .service = { .on = CHANGED_LOG_FORMAT | CHANGED_REQUEST_LOG |
		    CHANGED_REQUEST_FORMAT | CHANGED_SESSION_LOG |
		    CHANGED_LOG_SAMPLE | CHANGED_DEBUG,
		.check = apply_log_check_service,
		.prepare = apply_log_prepare_service,
		.commit = apply_log_commit_service,
		.cancel = apply_log_cancel_service } },
	{ .name = "errors of servers",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_FRONTEND,
		.commit = apply_http_watch_commit } },
	{ .name = "pages",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_WEB,
		.prepare = apply_web_prepare,
		.commit = apply_web_commit,
		.cancel = apply_web_cancel } },
	{ .name = "peers",
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_PEERS | CHANGED_WORKERS |
		    CHANGED_SERVICES | CHANGED_ANEW,
		.check = peers_check,
		.prepare = peers_prepare,
		.commit = peers_commit,
		.cancel = peers_cancel },
	    .service = { .on = CHANGED_SET,
		.prepare = peers_prepare_service,
		.commit = peers_commit_service } },
	{ .name = "routes",
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_ROUTES | CHANGED_SERVICES |
		    CHANGED_FRONTEND | CHANGED_DSR,
		.check = apply_routes_check },
	    .service = { .on = ROUTES_ON,
		.prepare = apply_routes_prepare,
		.commit = apply_routes_commit,
		.cancel = apply_routes_cancel } },
	{ .name = "circles of services",
	    .since = PHASE_PLANNING,
	    .process = { .on = CHANGED_ROUTES | CHANGED_SERVICES |
		    CHANGED_LISTEN | CHANGED_FRONTEND | CHANGED_DSR |
		    CHANGED_CHECKS | CHANGED_HOSTS | CHANGED_NAMES,
		.check = apply_circles_check } },
	{ .name = "warnings of routes",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .service = { .on = ROUTES_ON | CHANGED_FRONTEND | CHANGED_DSR |
		    CHANGED_TLS,
		.prepare = route_warnings_prepare,
		.commit = route_warnings_commit,
		.cancel = route_warnings_cancel } },
	{ .name = "times of directors",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_DSR, .commit = direct_commit_times } },
	{ .name = "tunnels",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_SET | CHANGED_POOL | CHANGED_DSR,
		.prepare = direct_prepare_forward,
		.commit = direct_commit_forward } },
	{ .name = "listeners",
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_LISTEN,
		.prepare = apply_listen_prepare,
		.commit = apply_listen_commit,
		.cancel = apply_listen_cancel } },
	{ .name = "checks",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .service = { .on = CHANGED_SET | CHECKS_ON_ALL | CHANGED_FRONTEND |
		    CHANGED_DSR,
		.check = checks_check,
		.prepare = checks_prepare,
		.commit = checks_commit,
		.cancel = checks_cancel } },
	{ .name = "control sockets",
	    .of_leader = true,
	    .since = PHASE_STARTING,
	    .process = { .on = CHANGED_FIRST,
		.prepare = control_prepare,
		.cancel = control_cancel } },
	{ .name = "warnings",
	    .of_leader = true,
	    .since = PHASE_SERVING,
	    .service = { .on = WARNINGS_ON, .commit = warnings_commit } },
	{ .name = "number of workers",
	    .since = PHASE_SERVING,
	    .process = { .on = CHANGED_WORKERS, .check = workers_check },
	    .service = { .on = CHANGED_WORKERS | CHANGED_DSR,
		.check = workers_check_service } },
	{ .name = "workers",
	    .since = PHASE_SERVING,
	    .process = { .on = CHANGED_ALL,
		.prepare = workers_prepare,
		.commit = workers_commit } },
	{ .name = NULL },
};

const struct participant *const participants = all;
