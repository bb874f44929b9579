/* warnings_needs.c: settings that have no effect without another one. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/verify/warnings.h"
#include "control/plan/check_plan.h"
#include "control/plan/origin.h"
#include "control/answer/reply.h"
#include "control/apply/tls_config.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/verify/transparent.h"
#include "pool/balance.h"

bool
warnings_has_shares(const struct plan *p)
{
	const struct balance *b = p->config->pool.balance;

	return b != &balance_roundrobin && b != &balance_hash;
}

enum need {
	NEED_WORKERS,
	NEED_NAMES,
	NEED_UNIX_LISTENER,
	NEED_UNIX_PAGES,
	NEED_STICKY,
	NEED_HASH,
	NEED_SHARES,
	NEED_LEVELS,
	NEED_MAX,
	NEED_CONNECTIONS,
	NEED_KEEPALIVE,
	NEED_LONGER_IDLE,
	NEED_QUIET_END,
	NEED_PEEKING,
	NEED_HELLO,
	NEED_SERVERS,
	NEED_HTTP,
	NEED_REQUEST_LOG,
	NEED_SESSION_LOG,
	NEED_LOG,
	NEED_FORMAT,
	NEED_REQUEST_FORMAT,
	NEED_NOT_TRANSPARENT,
	NEED_NO_DIRECTOR,
	NEED_DIRECTOR,
	NEED_DSR_FLOWS,
	NEED_ANNOUNCE,
	NEED_TUNNEL,
	NEED_PAGES,
	NEED_UDP,
	NEED_FLOWS,
	NEED_ANSWERS,
	NEED_DNS,
	NEED_CLIENTS,
	NEED_LIMITS,
	NEED_ACTION,
	NEED_DELAYS,
	NEED_CERTIFICATES_WANTED,
	NEED_CERTIFICATE,
	NEED_TICKETS,
	NEED_NO_TICKETS,
	NEED_TLS,
	NEED_UPSTREAM,
	NEED_VERIFIED,
	NEED_UPSTREAM_CERT,
	NEED_CHECKS,
	NEED_DOWN,
	NEEDS
};

static bool
is_a_path(const char *at)
{
	return at != NULL && addr_is_unix_text(at);
}

static bool
listens_on_paths(const struct plan *p)
{
	unsigned i;

	for (i = 0; i < p->listen.count; i++)
		if (p->listen.entry[i].at.u.sa.sa_family == AF_UNIX)
			return true;
	return false;
}

/* What servers have: a name that is looked up, limits, tunnels. */
static void
find_server_needs(const struct plan *p, bool has[NEEDS])
{
	const struct server_plan *s;
	unsigned i;

	has[NEED_NAMES] = has[NEED_MAX] = false;
	has[NEED_TUNNEL] = p->config->dsr.forward == SERVER_FORWARD_TUNNEL ||
	    !direct_is_wanted(p);
	for (i = 0; (s = plan_slot(p, i)) != NULL; i++) {
		if (s->host == NULL)
			continue;
		has[NEED_NAMES] |= plan_server_has_name(s);
		has[NEED_MAX] |=
		    s->set.soft > 0 || s->set.hard > 0 || s->service.there;
		has[NEED_TUNNEL] |= s->set.forward == SERVER_FORWARD_TUNNEL;
	}
}

/* What a journal gets has all fields, and no format. */
static bool
is_formatted(const char *to)
{
	return to == NULL || strcmp(to, "journal") != 0;
}

static void
find_log_needs(const struct plan *all, const struct plan *p, bool has[NEEDS])
{
	const char *requests = apply_log_requests_to(p);

	has[NEED_REQUEST_LOG] = requests != NULL;
	has[NEED_REQUEST_FORMAT] = is_formatted(requests);
	/* whether it will be in the foreground is not known to --check */
	has[NEED_SESSION_LOG] = apply_log_sessions_are_wanted(all, p);
	has[NEED_FORMAT] = is_formatted(apply_log_sessions_to(all, p));
	has[NEED_LOG] = has[NEED_SESSION_LOG] || has[NEED_REQUEST_LOG];
}

/* How clients and their servers are chosen. */
static void
find_pool_needs(const struct plan *p, bool has[NEEDS])
{
	const struct balance *b = p->config->pool.balance;

	has[NEED_STICKY] = p->config->pool.sticky;
	has[NEED_HASH] = b == &balance_hash;
	has[NEED_SHARES] = warnings_has_shares(p);
	has[NEED_LEVELS] =
	    b == &balance_prio || plan_slot(p, SLOT_EMERGENCY)->host != NULL;
	has[NEED_CHECKS] = check_plan_is_wanted(p);
	/* these mark servers down, too */
	has[NEED_DOWN] = has[NEED_CHECKS] || direct_is_wanted(p) ||
	    p->config->start_unresolved;
}

/* Without connections the line of a setting for them is another one. */
static void
find_connection_needs(const struct plan *p, bool has[NEEDS])
{
	const struct frontend_options *f = &p->config->frontend;
	/* DNS queries are answered by TCP, too */
	bool none = direct_is_wanted(p) || (f->udp.on && !f->dns.on);

	has[NEED_CONNECTIONS] = !none;
	has[NEED_MAX] |= none;
	has[NEED_KEEPALIVE] = f->keepalive || none;
	has[NEED_LONGER_IDLE] = f->idle_timeout_ms == 0 ||
	    (f->half_timeout_ms > 0 &&
		f->half_timeout_ms <= f->idle_timeout_ms) ||
	    none;
	has[NEED_QUIET_END] =
	    f->end.quiet != QUIET_END_NONE || f->dummy || none;
	has[NEED_PEEKING] = f->peek || p->routes != NULL ||
	    f->http.sticky[0] != '\0' || none;
	/* a request is read whole before it is passed on */
	has[NEED_HELLO] = has[NEED_PEEKING] || f->http.on ||
	    p->config->accept_proxy.name != NULL ||
	    p->config->accept_proxy.number >= 0;
	/* connections opened in advance have no client yet */
	has[NEED_NOT_TRANSPARENT] = !transparent_is_wanted(p);
	/* the dummy server answers by itself */
	has[NEED_SERVERS] = !f->dummy;
	has[NEED_HTTP] = f->http.on;
}

static void
find_datagram_needs(const struct plan *p, bool has[NEEDS])
{
	const struct frontend_options *f = &p->config->frontend;
	bool director = direct_is_wanted(p), dns = f->dns.on;
	bool udp = f->udp.on || director;

	has[NEED_NO_DIRECTOR] = !director;
	has[NEED_DIRECTOR] = director;
	has[NEED_DSR_FLOWS] = p->config->dsr.flows > 0 || !director;
	has[NEED_ANNOUNCE] = p->config->dsr.announce || !director;
	has[NEED_UDP] = udp;
	has[NEED_DNS] = dns;
	/* each query is balanced by itself */
	has[NEED_FLOWS] = !dns;
	/* without UDP the line is another one */
	has[NEED_ANSWERS] = f->udp.responses > 0 || dns || !udp;
}

static void
find_limit_needs(const struct plan *p, bool has[NEEDS])
{
	const struct frontend_options *f = &p->config->frontend;
	enum limit_action action = f->limits.action;

	/* direct return sees half of each connection */
	has[NEED_CLIENTS] = !direct_is_wanted(p) && !f->dummy;
	has[NEED_LIMITS] = f->limits.conns > 0 || f->limits.rate.count > 0;
	has[NEED_ACTION] = action != LIMIT_ACTION_ABUSE ||
	    plan_slot(p, SLOT_ABUSE)->host != NULL;
	/* datagrams beyond a limit are dropped */
	has[NEED_DELAYS] =
	    action == LIMIT_ACTION_DELAY || action == LIMIT_ACTION_TARPIT;
}

/* What TLS with clients needs does not count without it: that is an error, see
 * tls_config_check.c, or another line. */
static void
find_tls_needs(const struct plan *p, bool has[NEEDS])
{
	const struct tls_settings *t = &p->config->tls;
	bool none = !tls_settings_serve(t);

	has[NEED_CERTIFICATES_WANTED] =
	    t->require || t->request || t->request_any || none;
	has[NEED_CERTIFICATE] = t->pairs > 0 || none;
	has[NEED_TICKETS] = t->tickets || none;
	has[NEED_NO_TICKETS] = !t->tickets || none;
	has[NEED_UPSTREAM] = tls_config_wants_client(p);
	has[NEED_TLS] = !none || has[NEED_UPSTREAM];
	has[NEED_VERIFIED] = t->upstream_verify;
	has[NEED_UPSTREAM_CERT] = t->upstream_cert != NULL;
}

/* Which of them a plan has. */
static void
find_needs(const struct plan *all, const struct plan *p, bool has[NEEDS])
{
	has[NEED_WORKERS] = all->process->workers != 1;
	has[NEED_UNIX_LISTENER] = listens_on_paths(p);
	has[NEED_UNIX_PAGES] = is_a_path(all->process->web);
	has[NEED_PAGES] = all->process->web != NULL;
	find_server_needs(p, has);
	find_log_needs(all, p, has);
	find_pool_needs(p, has);
	find_connection_needs(p, has);
	find_datagram_needs(p, has);
	find_limit_needs(p, has);
	find_tls_needs(p, has);
}

/* What settings need to have an effect, and the warning without it. A setting
 * may need several things. */
static const struct {
	enum need need;
	const char *why, *settings;
} needs[] = {
	{ NEED_WORKERS, "without workers", "workers_by worker_watchdog" },
	{ NEED_NAMES, "while no server has a name",
	    "resolver resolve_interval start_unresolved" },
	{ NEED_UNIX_LISTENER, "without a Unix socket in listen",
	    "listen_mode" },
	{ NEED_UNIX_PAGES, "unless web is a Unix socket", "web_mode" },
	{ NEED_STICKY, "while clients are not remembered",
	    "tracking clients_max sticky_prefix6 failback" },
	{ NEED_HASH, "without hash", "hash_prefix6" },
	{ NEED_SHARES, "with roundrobin or hash", "slow_start" },
	{ NEED_CONNECTIONS, "with udp or dsr_if",
	    "queue retry peek peek_wait http http_status http_sticky rate_up "
	    "request_log rate_down sndbuf rcvbuf keepalive keepalive_time "
	    "keepalive_interval keepalive_count user_timeout idlers log "
	    "proxy_protocol conn_rate client_limit_action retry_requests "
	    "hello_timeout idle_timeout half_timeout linger buffer "
	    "tcp_nodelay tcp_fastclose splice pending_max accept_max backlog "
	    "quiet_end quiet_time max_age ssl_upstream" },
	{ NEED_KEEPALIVE, "without keepalive",
	    "keepalive_time keepalive_interval keepalive_count" },
	{ NEED_LONGER_IDLE, "with a shorter idle_timeout", "half_timeout" },
	{ NEED_QUIET_END, "with quiet_end none", "quiet_time" },
	{ NEED_MAX, "while no server has a max or hard", "queue" },
	{ NEED_PEEKING, "without peek or route", "peek_wait" },
	{ NEED_HELLO, "without accept_proxy, peek, route or http",
	    "hello_timeout" },
	{ NEED_SERVERS, "with dummy",
	    "http http_status session_log log_format log_sample "
	    "request_log accept_proxy proxy_protocol timeout retry "
	    "retry_requests tries queue idlers peek peek_wait buffer "
	    "rate_down rate_up half_timeout linger pending_max "
	    "tcp_fastclose max_age tracking clients_max blacklist "
	    "failback source transparent ssl_upstream on_down on_up" },
	{ NEED_HTTP, "without http (-H)",
	    "forwarded http_forwarded redirect_https http_connect "
	    "http_errors http_request_id http_sticky observe request_log" },
	{ NEED_REQUEST_LOG, "without request_log", "request_format" },
	{ NEED_SESSION_LOG, "without session_log", "log_format" },
	{ NEED_FORMAT, "with session_log journal", "log_format" },
	{ NEED_REQUEST_FORMAT, "with request_log journal", "request_format" },
	{ NEED_LOG, "without session_log or request_log", "log_sample" },
	{ NEED_NOT_TRANSPARENT, "with transparent", "idlers" },
	{ NEED_NO_DIRECTOR, "with dsr_if",
	    "session_log log_format log_sample transparent "
	    "accept_proxy timeout" },
	{ NEED_PAGES, "without web", "web_acl web_host" },
	{ NEED_UDP, "without udp", "udp_timeout udp_responses udp_requests" },
	{ NEED_UDP, "without udp or dns", "udp_proxy udp_fail udp_pmtu" },
	{ NEED_FLOWS, "with dns", "udp_timeout udp_responses udp_requests" },
	{ NEED_ANSWERS, "without udp_responses or dns", "udp_fail" },
	{ NEED_DNS, "without dns", "dns_retry dns_timeout dns_max" },
	{ NEED_CLIENTS, "with dsr_if or dummy", "client_conns client_rate" },
	{ NEED_LIMITS, "without client_conns or client_rate",
	    "client_limit_action client_limit_table client_prefix4 "
	    "client_prefix6 client_exempt_acl" },
	{ NEED_ACTION, "without an abuse server", "client_limit_action" },
	{ NEED_DELAYS, "without client_limit_action delay or tarpit",
	    "client_limit_time client_limit_max" },
	{ NEED_CERTIFICATES_WANTED, "without ssl_require or ssl_request",
	    "ssl_ca_file ssl_ca_dir ssl_crl" },
	{ NEED_CERTIFICATE, "without ssl_cert", "ssl_ocsp_response" },
	{ NEED_TICKETS, "without ssl_tickets", "ssl_ticket_key" },
	{ NEED_NO_TICKETS, "with ssl_tickets", "ssl_session_cache" },
	{ NEED_TLS, "without TLS", "ssl_watch ssl_warn" },
	{ NEED_UPSTREAM, "without ssl_upstream or server N tls on",
	    "ssl_upstream_verify ssl_upstream_ca ssl_upstream_name "
	    "ssl_upstream_cert ssl_upstream_key ssl_upstream_alpn "
	    "ssl_upstream_resume" },
	{ NEED_VERIFIED, "without ssl_upstream_verify",
	    "ssl_upstream_ca ssl_upstream_name" },
	{ NEED_UPSTREAM_CERT, "without ssl_upstream_cert", "ssl_upstream_key" },
	{ NEED_DIRECTOR, "without dsr_if",
	    "dsr_ip dsr_link dsr_flows dsr_tcp_timeout dsr_fin_timeout "
	    "dsr_udp_timeout dsr_announce dsr_announce_refresh "
	    "dsr_standby dsr_fast_path "
	    "dsr_forward dsr_gateway tarpit_acl" },
	{ NEED_DSR_FLOWS, "with dsr_flows 0",
	    "dsr_tcp_timeout dsr_fin_timeout dsr_udp_timeout" },
	{ NEED_ANNOUNCE, "without dsr_announce", "dsr_announce_refresh" },
	{ NEED_TUNNEL, "without dsr_forward tunnel", "dsr_gateway" },
	{ NEED_CHECKS, "without check",
	    "check_interval check_interval_down check_timeout check_rise "
	    "check_fall check_port check_lazy check_initial checks_max panic "
	    "on_up" },
	{ NEED_DOWN, "without check", "on_down" },
	{ NEED_LEVELS, "without prio or emergency", "on_up" },
};

/* Whether a server is checked by the check for all on the port that clients
 * use, with TLS. */
static bool
checks_a_port_of_tls(const struct plan *p)
{
	const struct server_plan *s;
	unsigned i;

	for (i = 0; (s = plan_slot(p, i)) != NULL; i++)
		if (s->host != NULL && s->check == NULL &&
		    tls_config_is_upstream(p, s) &&
		    check_plan_other_port(p, s) == 0)
			return true;
	return false;
}

/* Servers that expect TLS fail such a check. */
static void
print_plain_check(const struct plan *p, struct buffer *text)
{
	const char *check = p->config->checks.text;

	if (p->config->tls.upstream && check != NULL &&
	    strncmp(check, "http ", 5) == 0 && checks_a_port_of_tls(p))
		reply_add(text,
		    "%.400s http does not use TLS, but ssl_upstream is on: use "
		    "check https\n",
		    origin_name(p, "check"));
}

/* Whether the setting is of the process, or other services follow the first one
 * in it. */
static bool
is_for_others(const struct plan *p, const struct command *row)
{
	return row->scope == SCOPE_PROCESS ||
	    (row->flags & ROW_FIRST && p->name == NULL);
}

/* Whether `settings`, a list with blanks, has that one. */
static bool
is_listed(const char *settings, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = settings; (at = strstr(at, name)) != NULL; at += n)
		if ((at == settings || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

/* Whether a plan has all that the setting needs. */
static bool
has_all_needs(const struct plan *all, const struct plan *p, const char *name)
{
	bool has[NEEDS];
	size_t i;

	find_needs(all, p, has);
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!has[needs[i].need] && is_listed(needs[i].settings, name))
			return false;
	return true;
}

/* Whether a line of "defaults" has an effect in another service, or is reported
 * for one before this. */
static bool
is_settled_elsewhere(
    const struct plan *all, const struct plan *p, const struct command *row)
{
	const struct plan *one;
	bool before = true;
	unsigned i;

	for (i = 1; (one = plan_service_at(all, i)) != NULL; i++)
		if (one == p)
			before = false;
		else if (origin_is_shared(one, p, row->name) &&
		    (before || has_all_needs(all, one, row->name)))
			return true;
	return false;
}

/* Whether a setting that lacks a need in `p` is of no use. One that is for
 * other services is of use if it is in any; the line is one of the first
 * service. */
static bool
is_in_vain(const struct plan *all, const struct plan *p,
    const struct plan *defaults, const struct command *row, enum need need)
{
	const struct plan *one;
	bool has[NEEDS];
	unsigned i;

	if (!is_for_others(p, row))
		return !is_settled_elsewhere(all, p, row);
	for (i = 1; (one = plan_service_at(p, i)) != NULL; i++) {
		find_needs(all, one, has);
		if (has[need] &&
		    (row->scope == SCOPE_PROCESS ||
			setting_equal(one, defaults, row)))
			return false;
	}
	return p->name == NULL;
}

static void
print_unused_line(const struct plan *p, const char *name, bool is_setting,
    struct buffer *text)
{
	reply_add(text,
	    "%.400s has no effect: %s before the first service apply to "
	    "service \"default\", which does not listen; write them below "
	    "\"%s\"\n",
	    origin_name(p, name),
	    is_setting ? "settings" : "servers and routes",
	    is_setting ? "defaults" : "service NAME");
}

/* Settings before the first section are not those of the sections, also where
 * they set the default. */
static void
print_unused(
    const struct plan *p, const struct plan *defaults, struct buffer *text)
{
	const struct command *row;

	SETTING_EACH (row)
		if (row->scope == SCOPE_SERVICE && !(row->flags & ROW_FIRST) &&
		    (origin_is_there(p, row->name) ||
			!setting_equal(p, defaults, row)))
			print_unused_line(p, row->name, true, text);
	if (plan_slot(p, SLOT_ABUSE)->host != NULL)
		print_unused_line(p, "abuse", false, text);
	if (plan_slot(p, SLOT_EMERGENCY)->host != NULL)
		print_unused_line(p, "emergency", false, text);
	if (route_plans_count(p->routes) > 0)
		print_unused_line(p, "route", false, text);
}

static bool
is_there(const struct plan *p)
{
	return p->name != NULL || plan_first_is_there(p);
}

/* Writes a line for each setting that is not the default and lacks what it
 * needs to have an effect. */
static void
print_needs(const struct plan *all, const struct plan *p,
    const struct plan *defaults, struct buffer *text)
{
	const struct command *row;
	bool has[NEEDS];
	const char *at;
	char name[32];
	size_t i;

	find_needs(all, p, has);
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (has[needs[i].need])
			continue;
		for (at = needs[i].settings; *at != '\0';
		     at += strspn(at, " ")) {
			snprintf(name, sizeof(name), "%.*s",
			    (int)strcspn(at, " "), at);
			at += strlen(name);
			row = table_find(name);
			if (!setting_equal(p, defaults, row) &&
			    (is_for_others(p, row) || is_there(p)) &&
			    is_in_vain(all, p, defaults, row, needs[i].need))
				reply_add(text, "%.400s has no effect %s\n",
				    origin_name(p, row->name), needs[i].why);
		}
	}
}

void
warnings_print_needs(
    const struct plan *all, const struct plan *p, struct buffer *text)
{
	struct plan *defaults = plan_new();

	if (defaults != NULL && !is_there(p))
		print_unused(p, defaults, text);
	if (defaults != NULL)
		print_needs(all, p, defaults, text);
	plan_free(defaults);
	print_plain_check(p, text);
}
