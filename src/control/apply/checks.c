/* checks.c: health checks of servers: those of a plan, and what they need. */
#include "config.h"

#include "base/words.h"
#include "control/apply/checks.h"
#include "control/apply/direct.h"
#include "control/life/rooted.h"
#include "control/plan/origin.h"
#include "proxy/check/check.h"
#include "proxy/check/check_stream.h"

/* ---- of a plan ---- */

/* Returns NULL when there is none, with a full message when it is wrong. */
static struct check_spec *
spec_of(const char *text, struct error *e)
{
	return text != NULL ? check_spec_read(text, e) : NULL;
}

/* ---- programs ---- */

int
checks_try_program(
    const struct pen *p, const struct check_spec *s, struct error *e)
{
	char *const *program = check_spec_program(s);
	struct error why;

	if (program == NULL || rooted_program(p, program[0], &why) == 0)
		return 0;
	return error_set(
	    e, "check %s: %.450s", check_spec_kind(s)->name, why.text);
}

static int
checks_try_text(const struct service *svc, const char *text, struct error *e)
{
	struct check_spec *s = spec_of(text, e);
	int rc = s != NULL ? checks_try_program(svc->pen, s, e) : 0;

	check_spec_drop(s);
	return rc;
}

int
checks_try_programs(const struct service *svc, struct error *e)
{
	const struct server_plan *s;
	unsigned i;

	if (checks_try_text(svc, svc->plan->config->checks.text, e) < 0) {
		origin_add(svc->plan, "check", e);
		if (!errors_add(svc->pen->errors, e))
			return -1;
	}
	for (i = 0; (s = plan_slot(svc->plan, i)) != NULL; i++)
		if (s->check != NULL &&
		    checks_try_text(svc, check_plan_text(svc->plan, i), e) <
			0) {
			origin_put(s->origin, "", e);
			if (!errors_add(svc->pen->errors, e))
				return -1;
		}
	return 0;
}

/* ---- direct return ---- */

static int
checks_check_address(
    const struct plan *p, const struct addr *at, uint16_t port, struct error *e)
{
	const struct dsr_settings *s = &p->config->dsr;
	bool v6 = at->u.sa.sa_family == AF_INET6;

	if (s->ip[v6].len == 0)
		return error_set(e,
		    "check dsr needs a dsr_ip of %s, the source of its probes",
		    v6 ? "IPv6" : "IPv4");
	if (addr_port(at) == 0 && port == 0)
		return error_set(e,
		    "check dsr needs a port to probe, as the listening address "
		    "has none");
	return 0;
}

static int
check_direct(const struct plan *p, uint16_t port, struct error *e)
{
	unsigned i;

	if (!direct_is_wanted(p))
		return error_set(e, "check dsr: dsr_if is not set");
	if (p->config->frontend.udp.on)
		return error_set(
		    e, "check dsr probes by TCP, but -U forwards only UDP");
	for (i = 0; i < p->listen.count; i++)
		if (checks_check_address(p, &p->listen.entry[i].at, port, e) <
		    0)
			return -1;
	return 0;
}

/* ---- what checks need ---- */

/* A path is no name of a certificate. */
static bool
has_name(const struct plan *p, const struct server_plan *s,
    const struct check_tls *tls)
{
	const struct tls_settings *t = &p->config->tls;

	return tls == NULL || tls->no_verify || tls->name != NULL ||
	    !t->upstream_verify || t->upstream_name != NULL ||
	    !addr_is_unix_text(s->host);
}

/* The Unix socket of a server takes what clients send; with dns, which of both
 * is not known. */
static int
checks_check_socket(const struct plan *p, const struct server_plan *s,
    const struct check_spec *spec, struct error *e)
{
	const struct frontend_options *f = &p->config->frontend;
	bool datagrams = check_spec_sends_datagrams(spec);

	if (f->dns.on || datagrams == f->udp.on)
		return 0;
	return error_set(e,
	    "server \"%.150s\": check %s %s, but its socket takes %s", s->host,
	    check_spec_kind(spec)->name,
	    datagrams ? "sends datagrams" : "opens connections",
	    datagrams ? "connections" : "datagrams");
}

static int
check_one(const struct plan *p, unsigned slot, const struct check_spec *spec,
    struct error *e)
{
	const struct server_plan *s = plan_slot(p, slot);
	const struct check_kind *kind = check_spec_kind(spec);
	bool path = s->check_address == NULL && addr_is_unix_text(s->host);
	const struct check_tls *tls = check_spec_tls(spec);

	if (kind == &check_dsr && s->check != NULL)
		return error_set(e,
		    "server \"%.150s\": check dsr cannot be set for one "
		    "server, only for all",
		    s->host);
	if (tls != NULL && tls->verify && !p->config->tls.upstream_verify)
		return error_set(e,
		    "server \"%.150s\": check %s verify: ssl_upstream_verify "
		    "is off",
		    s->host, kind->name);
	if (!has_name(p, s, tls))
		return error_set(e,
		    "server \"%.150s\": check %s has no host name to verify: "
		    "add name HOST to the check, or set ssl_upstream_name",
		    s->host, kind->name);
	if (kind->needs_port && path)
		return checks_check_socket(p, s, spec, e);
	if (!kind->needs_port || check_plan_port(p, s) != 0)
		return 0;
	return error_set(e,
	    "server \"%.150s\": check %s needs a check_port, as the server has "
	    "no port of its own",
	    s->host, kind->name);
}

static int
checks_check_server(const struct plan *p, unsigned slot,
    const struct check_spec *all, struct error *e)
{
	const struct server_plan *s = plan_slot(p, slot);
	const char *text = check_plan_text(p, slot);
	struct check_spec *own = NULL;
	int rc;

	if (text == NULL)
		return 0;
	if (s->check != NULL && (own = check_spec_read(text, e)) == NULL)
		return -1;
	rc = check_one(p, slot, own != NULL ? own : all, e);
	check_spec_drop(own);
	return rc;
}

static int
checks_check_servers(
    struct apply *a, const struct check_spec *all, struct error *e)
{
	const struct plan *p = a->wanted;
	bool each = (a->changed & CHECKS_ON_ALL) != 0;
	size_t i, n = each ? plan_slots(p) : a->servers.count;
	unsigned slot;

	for (i = 0; i < n; i++) {
		slot = each ? (unsigned)i : a->servers.list[i].slot;
		if (checks_check_server(p, slot, all, e) < 0)
			return -1;
	}
	return 0;
}

int
checks_check(struct apply *a, struct error *e)
{
	const struct check_settings *s = &a->wanted->config->checks;
	struct check_spec *all = NULL;
	int rc = 0;

	if (s->text != NULL && (all = check_spec_read(s->text, e)) == NULL)
		return -1;
	if (all != NULL && check_spec_kind(all) == &check_dsr)
		rc = check_direct(a->wanted, check_plan_dsr_port(s, all), e);
	if (rc == 0)
		rc = checks_check_servers(a, all, e);
	check_spec_drop(all);
	return rc;
}
