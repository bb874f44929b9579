/* warnings_needs.c: settings that have no effect without another one. */
#include "config.h"

#include <string.h>

#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/verify/warnings.h"
#include "control/plan/origin.h"
#include "control/answer/reply.h"
#include "control/apply/tls_config.h"
#include "control/plan/setting.h"
#include "control/plan/table.h"
#include "control/verify/transparent.h"
#include "pool/balance.h"

static bool
is_checked(const struct plan *p)
{
	return check_plan_is_wanted(p);
}

static bool
is_udp(const struct plan *p)
{
	return p->config.frontend.udp.on || direct_is_wanted(p);
}

/* Connections to servers and flows are made for one client. */
static bool
is_no_dummy(const struct plan *p)
{
	return !p->config.frontend.dummy;
}

static bool
is_no_director(const struct plan *p)
{
	return !direct_is_wanted(p);
}

/* Connections opened in advance have no client yet. */
static bool
is_not_transparent(const struct plan *p)
{
	return !transparent_is_wanted(p);
}

static bool
is_dns(const struct plan *p)
{
	return p->config.frontend.dns.on;
}

/* Each query is balanced by itself. */
static bool
has_flows(const struct plan *p)
{
	return !is_dns(p);
}

/* Those of DNS are answered by TCP, too. */
static bool
warnings_needs_has_connections(const struct plan *p)
{
	return !direct_is_wanted(p) &&
	    (!p->config.frontend.udp.on || is_dns(p));
}

/* No client is silent where none need send anything; without UDP the line is
 * another one. */
static bool
expects_answers(const struct plan *p)
{
	return p->config.frontend.udp.responses > 0 || is_dns(p) || !is_udp(p);
}

static bool
is_sticky(const struct plan *p)
{
	return p->config.pool.sticky;
}

static bool
warnings_needs_is_hashed(const struct plan *p)
{
	return strcmp(p->config.pool.balance->name, "hash") == 0;
}

bool
warnings_has_shares(const struct plan *p)
{
	const struct balance *b = p->config.pool.balance;

	return b != &balance_roundrobin && b != &balance_hash;
}

static bool
has_levels(const struct plan *p)
{
	return p->config.pool.balance == &balance_prio ||
	    plan_slot(p, SLOT_EMERGENCY)->host != NULL;
}

static bool
warnings_needs_is_tls(const struct plan *p)
{
	return tls_settings_serve(&p->config.tls);
}

static bool
is_any_tls(const struct plan *p)
{
	return warnings_needs_is_tls(p) || tls_config_wants_client(p);
}

/* Without a certificate it is an error, see tls_config_check.c. */
static bool
asks_for_certificates(const struct plan *p)
{
	const struct tls_settings *t = &p->config.tls;

	return t->require || t->request || t->request_any ||
	    !warnings_needs_is_tls(p);
}

static bool
has_certificate(const struct plan *p)
{
	return p->config.tls.pairs > 0 || !warnings_needs_is_tls(p);
}

static bool
has_tickets(const struct plan *p)
{
	return p->config.tls.tickets || !warnings_needs_is_tls(p);
}

static bool
has_no_tickets(const struct plan *p)
{
	return !p->config.tls.tickets || !warnings_needs_is_tls(p);
}

static bool
is_verified(const struct plan *p)
{
	return p->config.tls.upstream_verify;
}

static bool
has_upstream_cert(const struct plan *p)
{
	return p->config.tls.upstream_cert != NULL;
}

static bool
has_client_limits(const struct plan *p)
{
	return p->config.frontend.limits.conns > 0 ||
	    p->config.frontend.limits.rate.count > 0;
}

/* Direct return sees half of each connection, the dummy server has none. */
static bool
knows_clients(const struct plan *p)
{
	return !direct_is_wanted(p) && !p->config.frontend.dummy;
}

static bool
has_action(const struct plan *p)
{
	return p->config.frontend.limits.action != LIMIT_ACTION_ABUSE ||
	    plan_slot(p, SLOT_ABUSE)->host != NULL;
}

/* Datagrams beyond a limit are dropped. */
static bool
delays_clients(const struct plan *p)
{
	enum limit_action a = p->config.frontend.limits.action;

	return a == LIMIT_ACTION_DELAY || a == LIMIT_ACTION_TARPIT;
}

static bool
is_http(const struct plan *p)
{
	return p->config.frontend.http.on;
}

static bool
has_servers(const struct plan *p)
{
	return !p->config.frontend.dummy;
}

static bool
has_pages(const struct plan *p)
{
	return p->config.web != NULL;
}

static const char no_limits[] = "without client_conns or client_rate";
static const char no_delay[] = "without client_limit_action delay or tarpit";
static const char no_connections[] = "with udp or dsr_if";
static const char with_dns[] = "with dns";
static const char no_upstream[] = "without ssl_upstream or server N tls on";

static bool
is_peeking(const struct plan *p)
{
	return p->config.frontend.peek || p->routes != NULL ||
	    p->config.frontend.http.sticky[0] != '\0' ||
	    !warnings_needs_has_connections(p);
}

/* A setting, when it has an effect, and its warning if it has none. */
static const struct need {
	const char *setting;
	bool (*has_effect)(const struct plan *p);
	const char *why;
} needs[] = {
	{ "tracking", is_sticky, "while clients are not remembered" },
	{ "clients_max", is_sticky, "while clients are not remembered" },
	{ "sticky_prefix6", is_sticky, "while clients are not remembered" },
	{ "hash_prefix6", warnings_needs_is_hashed, "without hash" },
	{ "slow_start", warnings_has_shares, "with roundrobin or hash" },
	{ "queue", warnings_needs_has_connections, no_connections },
	{ "retry", warnings_needs_has_connections, no_connections },
	{ "peek", warnings_needs_has_connections, no_connections },
	{ "peek_wait", warnings_needs_has_connections, no_connections },
	{ "peek_wait", is_peeking, "without peek or route" },
	{ "http", warnings_needs_has_connections, no_connections },
	{ "http", has_servers, "with dummy" },
	{ "http_status", warnings_needs_has_connections, no_connections },
	{ "http_status", has_servers, "with dummy" },
	{ "forwarded", is_http, "without http" },
	{ "http_forwarded", is_http, "without http" },
	{ "redirect_https", is_http, "without http" },
	{ "http_connect", is_http, "without http" },
	{ "http_sticky", is_http, "without http" },
	{ "http_sticky", warnings_needs_has_connections, no_connections },
	{ "rate_up", warnings_needs_has_connections, no_connections },
	{ "rate_down", warnings_needs_has_connections, no_connections },
	{ "sndbuf", warnings_needs_has_connections, no_connections },
	{ "rcvbuf", warnings_needs_has_connections, no_connections },
	{ "keepalive", warnings_needs_has_connections, no_connections },
	{ "keepalive_time", warnings_needs_has_connections, no_connections },
	{ "keepalive_interval", warnings_needs_has_connections,
	    no_connections },
	{ "keepalive_count", warnings_needs_has_connections, no_connections },
	{ "user_timeout", warnings_needs_has_connections, no_connections },
	{ "idlers", warnings_needs_has_connections, no_connections },
	{ "idlers", is_not_transparent, "with transparent" },
	{ "session_log", is_no_director, "with dsr_if" },
	{ "session_log", has_servers, "with dummy" },
	{ "log_format", is_no_director, "with dsr_if" },
	{ "log_format", has_servers, "with dummy" },
	{ "log_sample", is_no_director, "with dsr_if" },
	{ "log_sample", has_servers, "with dummy" },
	{ "log", warnings_needs_has_connections, no_connections },
	{ "web_acl", has_pages, "without web" },
	{ "transparent", is_no_director, "with dsr_if" },
	{ "freebind", is_no_director, "with dsr_if" },
	{ "proxy_protocol", warnings_needs_has_connections, no_connections },
	{ "accept_proxy", is_no_dummy, "with dummy" },
	{ "accept_proxy", is_no_director, "with dsr_if" },
	{ "udp_timeout", is_udp, "without udp" },
	{ "udp_timeout", has_flows, with_dns },
	{ "udp_proxy", is_udp, "without udp or dns" },
	{ "udp_responses", is_udp, "without udp" },
	{ "udp_responses", has_flows, with_dns },
	{ "udp_requests", is_udp, "without udp" },
	{ "udp_requests", has_flows, with_dns },
	{ "udp_fail", is_udp, "without udp or dns" },
	{ "udp_fail", expects_answers, "without udp_responses or dns" },
	{ "dns_retry", is_dns, "without dns" },
	{ "dns_timeout", is_dns, "without dns" },
	{ "client_conns", knows_clients, "with dsr_if or dummy" },
	{ "client_rate", knows_clients, "with dsr_if or dummy" },
	{ "conn_rate", warnings_needs_has_connections, no_connections },
	{ "client_limit_action", warnings_needs_has_connections,
	    no_connections },
	{ "client_limit_action", has_client_limits, no_limits },
	{ "client_limit_action", has_action, "without an abuse server" },
	{ "client_limit_time", delays_clients, no_delay },
	{ "client_limit_max", delays_clients, no_delay },
	{ "client_limit_table", has_client_limits, no_limits },
	{ "client_prefix4", has_client_limits, no_limits },
	{ "client_prefix6", has_client_limits, no_limits },
	{ "client_exempt_acl", has_client_limits, no_limits },
	{ "ssl_ca_file", asks_for_certificates,
	    "without ssl_require or ssl_request" },
	{ "ssl_ca_dir", asks_for_certificates,
	    "without ssl_require or ssl_request" },
	{ "ssl_crl", asks_for_certificates,
	    "without ssl_require or ssl_request" },
	{ "ssl_ocsp_response", has_certificate, "without ssl_cert" },
	{ "ssl_ticket_key", has_tickets, "without ssl_tickets" },
	{ "ssl_session_cache", has_no_tickets, "with ssl_tickets" },
	{ "ssl_watch", is_any_tls, "without TLS" },
	{ "ssl_warn", is_any_tls, "without TLS" },
	{ "ssl_upstream_verify", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_ca", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_name", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_cert", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_key", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_alpn", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_resume", tls_config_wants_client, no_upstream },
	{ "ssl_upstream_ca", is_verified, "without ssl_upstream_verify" },
	{ "ssl_upstream_name", is_verified, "without ssl_upstream_verify" },
	{ "ssl_upstream_key", has_upstream_cert, "without ssl_upstream_cert" },
	{ "dsr_ip", direct_is_wanted, "without dsr_if" },
	{ "dsr_link", direct_is_wanted, "without dsr_if" },
	{ "dsr_flows", direct_is_wanted, "without dsr_if" },
	{ "dsr_announce", direct_is_wanted, "without dsr_if" },
	{ "dsr_fast_path", direct_is_wanted, "without dsr_if" },
	{ "dsr_forward", direct_is_wanted, "without dsr_if" },
	{ "dsr_gateway", direct_is_wanted, "without dsr_if" },
	{ "tarpit_acl", direct_is_wanted, "without dsr_if" },
	{ "check_interval", is_checked, "without check" },
	{ "check_interval_down", is_checked, "without check" },
	{ "check_timeout", is_checked, "without check" },
	{ "check_rise", is_checked, "without check" },
	{ "check_fall", is_checked, "without check" },
	{ "check_port", is_checked, "without check" },
	{ "check_lazy", is_checked, "without check" },
	{ "check_initial", is_checked, "without check" },
	{ "checks_max", is_checked, "without check" },
	{ "panic", is_checked, "without check" },
	{ "on_up", is_checked, "without check" },
	{ "on_up", has_levels, "without prio or emergency" },
};

void
warnings_print_needs(const struct plan *p, struct buffer *text)
{
	struct plan *defaults = plan_new();
	const struct command *row;
	size_t i;

	for (i = 0; defaults != NULL && i < sizeof(needs) / sizeof(needs[0]);
	     i++) {
		row = table_find(needs[i].setting);
		if (row_is_there(row) && !setting_equal(p, defaults, row) &&
		    !needs[i].has_effect(p))
			reply_add(text, "%.400s has no effect %s\n",
			    origin_name(p, row->name), needs[i].why);
	}
	plan_free(defaults);
}
