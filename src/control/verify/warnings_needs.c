/* warnings_needs.c: settings that have no effect without another one. */
#include "config.h"

#include <stdio.h>
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
is_udp(const struct plan *p)
{
	return p->config.frontend.udp.on || direct_is_wanted(p);
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
has_connections(const struct plan *p)
{
	return !direct_is_wanted(p) &&
	    (!p->config.frontend.udp.on || is_dns(p));
}

/* Nobody is silent who need not say anything; without UDP the line is another
 * one. */
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
uses_hash(const struct plan *p)
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
serves_tls(const struct plan *p)
{
	return tls_settings_serve(&p->config.tls);
}

static bool
is_any_tls(const struct plan *p)
{
	return serves_tls(p) || tls_config_wants_client(p);
}

/* Without a certificate it is an error, see tls_config_check.c. */
static bool
asks_for_certificates(const struct plan *p)
{
	const struct tls_settings *t = &p->config.tls;

	return t->require || t->request || t->request_any ||
	    !serves_tls(p);
}

static bool
has_certificate(const struct plan *p)
{
	return p->config.tls.pairs > 0 || !serves_tls(p);
}

static bool
has_tickets(const struct plan *p)
{
	return p->config.tls.tickets || !serves_tls(p);
}

static bool
has_no_tickets(const struct plan *p)
{
	return !p->config.tls.tickets || !serves_tls(p);
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

/* The dummy server answers by itself. */
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

static bool
is_peeking(const struct plan *p)
{
	return p->config.frontend.peek || p->routes != NULL ||
	    p->config.frontend.http.sticky[0] != '\0' ||
	    !has_connections(p);
}

/* What settings need to have an effect, and what is said without it. A setting
 * may need several things. */
static const struct need {
	bool (*is_there)(const struct plan *p);
	const char *why, *settings;
} needs[] = {
	{ is_sticky, "while clients are not remembered",
	    "tracking clients_max sticky_prefix6" },
	{ uses_hash, "without hash", "hash_prefix6" },
	{ warnings_has_shares, "with roundrobin or hash", "slow_start" },
	{ has_connections, "with udp or dsr_if",
	    "queue retry peek peek_wait http http_status http_sticky rate_up "
	    "rate_down sndbuf rcvbuf keepalive keepalive_time "
	    "keepalive_interval keepalive_count user_timeout idlers log "
	    "proxy_protocol conn_rate client_limit_action" },
	{ is_peeking, "without peek or route", "peek_wait" },
	{ has_servers, "with dummy",
	    "http http_status session_log log_format log_sample "
	    "accept_proxy" },
	{ is_http, "without http",
	    "forwarded http_forwarded redirect_https http_connect "
	    "http_sticky" },
	{ is_not_transparent, "with transparent", "idlers" },
	{ is_no_director, "with dsr_if",
	    "session_log log_format log_sample transparent freebind "
	    "accept_proxy" },
	{ has_pages, "without web", "web_acl" },
	{ is_udp, "without udp", "udp_timeout udp_responses udp_requests" },
	{ is_udp, "without udp or dns", "udp_proxy udp_fail" },
	{ has_flows, "with dns", "udp_timeout udp_responses udp_requests" },
	{ expects_answers, "without udp_responses or dns", "udp_fail" },
	{ is_dns, "without dns", "dns_retry dns_timeout" },
	{ knows_clients, "with dsr_if or dummy", "client_conns client_rate" },
	{ has_client_limits, "without client_conns or client_rate",
	    "client_limit_action client_limit_table client_prefix4 "
	    "client_prefix6 client_exempt_acl" },
	{ has_action, "without an abuse server", "client_limit_action" },
	{ delays_clients, "without client_limit_action delay or tarpit",
	    "client_limit_time client_limit_max" },
	{ asks_for_certificates, "without ssl_require or ssl_request",
	    "ssl_ca_file ssl_ca_dir ssl_crl" },
	{ has_certificate, "without ssl_cert", "ssl_ocsp_response" },
	{ has_tickets, "without ssl_tickets", "ssl_ticket_key" },
	{ has_no_tickets, "with ssl_tickets", "ssl_session_cache" },
	{ is_any_tls, "without TLS", "ssl_watch ssl_warn" },
	{ tls_config_wants_client, "without ssl_upstream or server N tls on",
	    "ssl_upstream_verify ssl_upstream_ca ssl_upstream_name "
	    "ssl_upstream_cert ssl_upstream_key ssl_upstream_alpn "
	    "ssl_upstream_resume" },
	{ is_verified, "without ssl_upstream_verify",
	    "ssl_upstream_ca ssl_upstream_name" },
	{ has_upstream_cert, "without ssl_upstream_cert", "ssl_upstream_key" },
	{ direct_is_wanted, "without dsr_if",
	    "dsr_ip dsr_link dsr_flows dsr_announce dsr_fast_path dsr_forward "
	    "dsr_gateway tarpit_acl" },
	{ check_plan_is_wanted, "without check",
	    "check_interval check_interval_down check_timeout check_rise "
	    "check_fall check_port check_lazy check_initial checks_max panic "
	    "on_up" },
	{ has_levels, "without prio or emergency", "on_up" },
};

void
warnings_print_needs(const struct plan *p, struct buffer *text)
{
	struct plan *defaults = plan_new();
	const struct command *row;
	const char *at;
	char name[32];
	size_t i;

	for (i = 0; defaults != NULL && i < sizeof(needs) / sizeof(needs[0]);
	     i++) {
		if (needs[i].is_there(p))
			continue;
		for (at = needs[i].settings; *at != '\0';
		     at += strspn(at, " ")) {
			snprintf(name, sizeof(name), "%.*s",
			    (int)strcspn(at, " "), at);
			at += strlen(name);
			row = table_find(name);
			if (row_is_there(row) &&
			    !setting_equal(p, defaults, row))
				reply_add(text, "%.400s has no effect %s\n",
				    origin_name(p, row->name), needs[i].why);
		}
	}
	plan_free(defaults);
}
