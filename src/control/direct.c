/* direct.c: a plan's words as a director's. */
#include "config.h"

#include "base/log.h"
#include "control/checks.h"
#include "control/direct.h"
#include "dsr/director.h"

bool
direct_is_wanted(const struct plan *p)
{
	return p->config.dsr.interface != NULL;
}

static int
check_address(const struct plan *p, const struct addr *at, struct error *e)
{
	bool path = at->u.sa.sa_family == AF_UNIX;
	char text[ADDR_TEXT_MAX];

	if (!direct_is_wanted(p)) {
		if (path || addr_port(at) != 0)
			return 0;
		return error_set(e,
		    "listening address \"%.200s\": port out of range 1..65535",
		    p->listen_text);
	}
	if (!path && !addr_is_any(at))
		return 0;
	addr_format(at, text);
	return error_set(e,
	    "\"%s\": direct return needs the address that clients use", text);
}

int
direct_check(const struct plan *p, struct error *e)
{
	unsigned i;

	for (i = 0; i < p->listen.count; i++)
		if (check_address(p, &p->listen.entry[i].at, e) < 0)
			return -1;
	if (checks_allow(p, e) < 0)
		return -1;
	if (!direct_is_wanted(p))
		return 0;
	if (p->config.frontend.dns || p->config.frontend.dummy ||
	    tls_settings_serve(&p->config.tls))
		return error_set(e,
		    "direct return passes frames on as they are: no dns, "
		    "dummy or TLS");
	return 0;
}

static unsigned
places(const struct listen_list *at, struct peer list[LISTEN_MAX])
{
	unsigned i;

	for (i = 0; i < at->count; i++)
		peer_from_addr(&list[i], &at->entry[i].at);
	return at->count;
}

int
direct_open(struct pen *p, struct error *e)
{
	const struct config *c = &p->plan->config;
	struct peer list[LISTEN_MAX];
	struct director_options o = { .interface = c->dsr.interface,
		.link = c->dsr.link,
		.ip = { c->dsr.ip[0], c->dsr.ip[1] },
		.flows = c->dsr.flows,
		.announce = c->dsr.announce,
		.udp_only = c->frontend.udp };
	unsigned n = places(&p->plan->listen, list);

	direct_warn(p);
	p->director = director_new(p->loop, p->pool, &o, list, n, e);
	if (p->director == NULL || direct_set_tarpit(p, p->plan, e) < 0)
		return -1;
	return checks_begin(p, e);
}

static const struct acl *
tarpit_list(const struct plan *p)
{
	int n = p->config.dsr.tarpit_acl;

	return n >= 0 ? &p->acls[n] : NULL;
}

/* An empty list permits all, elsewhere; nobody wants that here. */
int
direct_set_tarpit(struct pen *p, const struct plan *draft, struct error *e)
{
	const struct acl *list = tarpit_list(draft),
			 *before = tarpit_list(p->plan);
	bool is_empty = list != NULL && list->count == 0;

	if (p->director == NULL)
		return 0;
	if (is_empty &&
	    (draft == p->plan || before == NULL || before->count > 0))
		log_warn("tarpit has no addresses: its list is empty acl=%d",
		    draft->config.dsr.tarpit_acl);
	return director_set_tarpit(p->director, list, e);
}

int
direct_listen(struct pen *p, const struct listen_list *at, struct error *e)
{
	struct peer list[LISTEN_MAX];
	unsigned n = places(at, list);

	return director_set_places(p->director, list, n, e);
}
