/* direct.c: a plan's words as a director's. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/direct.h"
#include "control/life/process.h"
#include "control/plan/origin.h"
#include "control/value/dsr_fast.h"
#include "dsr/director/director.h"

/* For more the requests and replies would be too many. */
enum { VIPS_MAX = 64 };

bool
direct_is_wanted(const struct plan *p)
{
	return p->config->dsr.interface != NULL;
}

static int
direct_check_address(
    const struct plan *p, const struct addr *at, struct error *e)
{
	bool path = at->u.sa.sa_family == AF_UNIX;
	char text[ADDR_TEXT_MAX];

	if (!direct_is_wanted(p)) {
		if (path || addr_port(at) != 0)
			return 0;
		error_set(e,
		    "listening address \"%.200s\": port out of range 1..65535",
		    p->listen_text);
		origin_add(p, "listen", e);
		return -1;
	}
	if (!path && !addr_is_any(at))
		return 0;
	addr_format(at, text);
	return error_set(e,
	    "\"%s\": direct server return needs the address that clients use",
	    text);
}

/* ---- the way to servers ---- */

bool
direct_is_tunnelled(const struct plan *p, enum server_forward forward)
{
	return forward == SERVER_FORWARD_TUNNEL ||
	    (forward == SERVER_FORWARD_AS_SET &&
		p->config->dsr.forward == SERVER_FORWARD_TUNNEL);
}

static bool
is_tunnelled(const struct plan *p, const struct server_plan *s)
{
	return s->host != NULL && direct_is_tunnelled(p, s->set.forward);
}

/* Whether another machine can have the address. */
static bool
is_of_another(const struct plan *p, const struct addr *a)
{
	struct addr at;
	unsigned i;

	if (addr_is_any(a) || addr_is_group(a) || addr_is_loopback(a))
		return false;
	for (i = 0; i < 2; i++)
		if (addr_equal(&p->config->dsr.ip[i], a))
			return false;
	for (i = 0; i < p->listen.count; i++) {
		at = p->listen.entry[i].at;
		addr_set_port(&at, 0);
		if (addr_equal(&at, a))
			return false;
	}
	return true;
}

/* How the plan wants frames to be forwarded. Returns false if its gateway is
 * not the address of another host. */
static bool
read_forward(const struct plan *p, struct director_forward *f)
{
	const struct dsr_settings *s = &p->config->dsr;
	const struct server_plan *each;
	struct addr a;
	unsigned i;

	memset(f, 0, sizeof(*f));
	/* servers may come later, when the right to raw sockets is gone */
	f->tunnel = f->tunnels = s->forward == SERVER_FORWARD_TUNNEL;
	for (i = 0; !f->tunnels && (each = plan_slot(p, i)) != NULL; i++)
		f->tunnels = is_tunnelled(p, each);
	if (s->gateway == NULL)
		return true;
	f->has_gateway_mac = mac_parse(&f->gateway_mac, s->gateway) == 0;
	if (f->has_gateway_mac)
		return mac_is_station(&f->gateway_mac);
	if (addr_parse_ip(&a, s->gateway, 0) < 0 || !is_of_another(p, &a))
		return false;
	peer_from_addr(&f->gateway, &a);
	f->gateway.scope = 0;
	return true;
}

/* Tunnels through a gateway come from an own address of the server's family. */
static int
check_source(const struct plan *p, const struct server_plan *s, struct error *e)
{
	bool v6;
	struct addr a;

	if (!is_tunnelled(p, s) || addr_parse_ip(&a, s->host, 0) < 0)
		return 0;
	v6 = a.u.sa.sa_family == AF_INET6;
	if (p->config->dsr.ip[v6].len > 0)
		return 0;
	return error_set(e,
	    "server \"%.150s\": a tunnel through dsr_gateway needs an IPv%d "
	    "dsr_ip",
	    s->host, v6 ? 6 : 4);
}

static int
check_forward(const struct plan *p, struct error *e)
{
	const struct server_plan *s;
	struct director_forward f;
	unsigned i;

	if (!read_forward(p, &f))
		return error_set(e,
		    "dsr_gateway: \"%.100s\" is not an address of a router",
		    p->config->dsr.gateway);
	if (p->config->dsr.gateway == NULL)
		return 0;
	for (i = 0; (s = plan_slot(p, i)) != NULL; i++)
		if (check_source(p, s, e) < 0)
			return -1;
	return 0;
}

int
direct_prepare_forward(struct apply *a, struct error *e)
{
	struct director_forward f;

	/* one that was opened just now has opened that, too */
	if (a->first || a->service->director == NULL)
		return 0;
	(void)read_forward(a->wanted, &f);
	return director_prepare_forward(a->service->director, &f, e);
}

void
direct_commit_forward(struct apply *a)
{
	struct director_forward f;

	if (a->first || a->service->director == NULL)
		return;
	(void)read_forward(a->wanted, &f);
	director_set_forward(a->service->director, &f);
}

/* ---- times ---- */

/* Less than a second is one. */
static uint32_t
seconds_of(uint64_t ms)
{
	return (uint32_t)((ms + 999) / 1000);
}

static struct dsr_timeouts
read_timeouts(const struct dsr_settings *s)
{
	return (struct dsr_timeouts){ .tcp = seconds_of(s->tcp_timeout_ms),
		.fin = seconds_of(s->fin_timeout_ms),
		.udp = seconds_of(s->udp_timeout_ms) };
}

void
direct_commit_times(struct apply *a)
{
	const struct dsr_settings *s = &a->wanted->config->dsr;
	struct dsr_timeouts t = read_timeouts(s);

	if (a->service->director == NULL)
		return;
	director_set_timeouts(a->service->director, &t);
	director_set_refresh(a->service->director, s->refresh_ms);
}

/* ---- what a plan may want ---- */

/* Questions in a VIP's name are the servers' own address to them: they do not
 * answer. */
static int
check_own(const struct plan *p, const struct addr *at, struct error *e)
{
	struct peer vip, own;
	unsigned i;

	peer_from_addr(&vip, at);
	for (i = 0; i < 2; i++) {
		if (p->config->dsr.ip[i].len == 0)
			continue;
		peer_from_addr(&own, &p->config->dsr.ip[i]);
		if (peer_same_host(&vip, &own))
			return error_set(e,
			    "dsr_ip is a listening address; it must be another "
			    "address");
	}
	return 0;
}

static int
direct_check_server(const struct server_plan *s, struct error *e)
{
	if (s->host == NULL || !addr_is_unix_text(s->host))
		return 0;
	return error_set(e,
	    "server \"%.200s\": direct server return needs servers with IP "
	    "addresses",
	    s->host);
}

static int
direct_check_servers(const struct plan *p, struct error *e)
{
	const struct server_plan *s;
	unsigned i;

	for (i = 0; (s = plan_slot(p, i)) != NULL; i++)
		if (direct_check_server(s, e) < 0)
			return -1;
	return 0;
}

static int
interface_taken(const struct apply *a, const char *service, struct error *e)
{
	error_set(e, "dsr_if: service %s has the interface %s", service,
	    a->wanted->config->dsr.interface);
	origin_add(a->wanted, "dsr_if", e);
	return -1;
}

/* One director for an interface: two would both take its frames. One that goes
 * with this draft has its locks until then. */
static int
check_interface(const struct apply *a, struct error *e)
{
	const char *mine = a->wanted->config->dsr.interface;
	const struct service *svc;
	const struct plan *one;
	unsigned i;

	for (i = 0; (one = plan_service_at(a->draft, i)) != NULL; i++)
		if (one != a->wanted &&
		    text_equal(one->config->dsr.interface, mine))
			return interface_taken(a, plan_service_name(one), e);
	SERVICE_EACH (a->pen, svc)
		if (svc != a->service && svc->director != NULL &&
		    text_equal(svc->plan->config->dsr.interface, mine))
			return interface_taken(a, svc->name, e);
	return 0;
}

int
direct_check(struct apply *a, struct error *e)
{
	const struct plan *p = a->wanted;
	unsigned i;

	if (direct_is_wanted(p) && p->listen.count > VIPS_MAX)
		return error_set(e,
		    "at most %d listening addresses with dsr_if",
		    VIPS_MAX);
	for (i = 0; i < p->listen.count; i++)
		if (direct_check_address(p, &p->listen.entry[i].at, e) < 0)
			return -1;
	if (!direct_is_wanted(p))
		return 0;
	if (check_interface(a, e) < 0)
		return -1;
	for (i = 0; i < p->listen.count; i++)
		if (check_own(p, &p->listen.entry[i].at, e) < 0)
			return -1;
	if (a->changed & CHANGED_HOSTS && direct_check_servers(p, e) < 0)
		return -1;
	if (p->config->frontend.dns.on || p->config->frontend.dummy ||
	    tls_settings_serve(&p->config->tls))
		return error_set(e,
		    "direct server return forwards frames as they are: no dns, "
		    "dummy or TLS");
	return check_forward(p, e);
}

static unsigned
list_vips(const struct listen_list *at, struct peer list[VIPS_MAX])
{
	unsigned i;

	for (i = 0; i < at->count; i++)
		peer_from_addr(&list[i], &at->entry[i].at);
	return at->count;
}

_Static_assert((int)DSR_FAST_AUTO == (int)LINK_FAST_AUTO &&
	(int)DSR_FAST_ON == (int)LINK_FAST_ON,
    "values of dsr_fast_path are those of links");

uid_t
direct_user(const struct process_plan *p)
{
	const char *word = p->run.user;
	struct passwd pw;
	struct error e;

	return word != NULL && process_find_user(word, &pw, &e) == 0
	    ? pw.pw_uid
	    : geteuid();
}

static int
open_director(struct service *svc, const struct process_plan *process,
    const struct plan *plan, struct error *e)
{
	const struct config *c = plan->config;
	struct peer list[VIPS_MAX];
	struct director_options o = { .interface = c->dsr.interface,
		.link = c->dsr.link,
		.ip = { c->dsr.ip[0], c->dsr.ip[1] },
		.flows = c->dsr.flows,
		.announce = c->dsr.announce,
		.standby = c->dsr.standby,
		.udp_only = c->frontend.udp.on,
		.fast = (enum link_fast_mode)c->dsr.fast,
		.user = direct_user(process),
		.past = predecessor_link(
		    &svc->pen->predecessor, c->dsr.interface) };
	unsigned n = list_vips(&plan->listen, list);

	(void)read_forward(plan, &o.forward);
	svc->director = director_new(svc->pen->loop, svc->pool, &o, list, n, e);
	return svc->director != NULL ? 0 : -1;
}

static const struct acl *
tarpit_list(const struct process_plan *process, const struct plan *p)
{
	return plan_acls_of(&process->acls, &p->config->dsr.tarpit_acl);
}

/* An empty list permits all, elsewhere; not here. */
static int
set_tarpit(struct apply *a, struct error *e)
{
	const struct acl *list = tarpit_list(a->draft->process, a->wanted),
			 *before = a->first
	    ? NULL
	    : tarpit_list(a->pen->plan->process, a->now);
	char word[ACL_WORD_MAX];

	if (list != NULL && list->count == 0 &&
	    (before == NULL || before->count > 0))
		log_warn("tarpit has no addresses: its list is empty acl=%s",
		    acl_ref_word(&a->wanted->config->dsr.tarpit_acl, word));
	return director_set_tarpit(a->service->director, list, e);
}

/* ---- taking part in a change; see apply.h ---- */

static void
close_director(struct service *svc)
{
	director_free(svc->director);
	svc->director = NULL;
}

int
direct_prepare(struct apply *a, struct error *e)
{
	struct service *svc = a->service;

	if (!direct_is_wanted(a->wanted))
		return 0;
	if (a->first && open_director(svc, a->draft->process, a->wanted, e) < 0)
		return -1;
	if (set_tarpit(a, e) == 0)
		return 0;
	if (a->first)
		close_director(svc);
	return -1;
}

void
direct_cancel(struct apply *a)
{
	struct error e;

	if (a->service->director == NULL)
		return;
	if (a->first)
		close_director(a->service);
	else if (director_set_tarpit(a->service->director,
		     tarpit_list(a->pen->plan->process, a->now), &e) < 0)
		log_error("tarpit not restored error=\"%s\"", e.text);
}

int
direct_listen(
    struct service *svc, const struct listen_list *at, struct error *e)
{
	struct peer list[VIPS_MAX];
	unsigned n = list_vips(at, list);

	return director_set_vips(svc->director, list, n, e);
}

bool
direct_has_flows(const struct service *svc, const struct server *s)
{
	return svc->director != NULL && director_has_flows(svc->director, s);
}
