/* v6_only.c: see v6_only.h. */
#include "config.h"

#include <string.h>

#include "control/life/v6_only.h"
#include "net/sock_try.h"

/* Ports that any service has for IPv4: of connections, of datagrams. */
struct v4_ports {
	unsigned char bits[2][(UINT16_MAX + 1) / 8];
};

static bool
has_port(const struct v4_ports *v4, bool datagram, uint16_t port)
{
	return v4->bits[datagram][port / 8] >> port % 8 & 1;
}

/* Whether the service has listeners for datagrams, or, without `datagram`, for
 * connections. */
static bool
listens_for(const struct plan *service, bool datagram)
{
	const struct config *c = service->config;

	if (c->dsr.interface != NULL)
		return false;
	return datagram ? c->udp || c->frontend.dns.on
			: !c->udp || c->frontend.dns.on;
}

static void
note_ports(struct v4_ports *v4, const struct plan *service)
{
	const struct addr *at;
	unsigned i, datagram;

	for (i = 0; i < service->listen.count; i++) {
		at = &service->listen.entry[i].at;
		for (datagram = 0; datagram < 2; datagram++)
			if (at->u.sa.sa_family == AF_INET &&
			    listens_for(service, datagram))
				v4->bits[datagram][addr_port(at) / 8] |=
				    (unsigned char)(1u << addr_port(at) % 8);
	}
}

/* The same listener in force, of that service. */
static const struct frontend_address *
find_now(const struct pen *p, const struct plan *service, unsigned number,
    const struct addr *at)
{
	const struct plan *now =
	    plan_service_near(p->plan, number, plan_service_name(service));
	unsigned i;

	for (i = 0; p->phase >= PHASE_SERVING && now != NULL &&
	     i < now->listen.count;
	     i++)
		if (addr_equal(&now->listen.entry[i].at, at))
			return &now->listen.entry[i];
	return NULL;
}

/* Sockets of another process, or of the leader, are as they are. */
static bool
is_taken(const struct pen *p, const struct addr *at, bool datagram)
{
	const struct inherited_socket *s =
	    inherited_find(&p->sockets.inherited, at, datagram);

	if (s != NULL)
		return s->v6_only;
	return p->role.member == 0 && sock_v4_is_taken(addr_port(at), datagram);
}

/* Decides that for one address: it takes IPv4 unless another listener of the
 * plan, or another program, has its port at an IPv4 address. */
static void
settle_one(const struct pen *p, const struct v4_ports *v4,
    const struct plan *service, unsigned number, struct frontend_address *a)
{
	const struct frontend_address *now =
	    find_now(p, service, number, &a->at);
	unsigned datagram;

	if (now != NULL) { /* its socket stays as it is */
		a->v6_only = a->v6_settled = now->v6_settled;
		a->v4_taken = now->v4_taken;
		return;
	}
	for (datagram = 0; datagram < 2 && !a->v6_only; datagram++) {
		if (!listens_for(service, datagram))
			continue;
		a->v6_only = has_port(v4, datagram, addr_port(&a->at));
		if (!a->v6_only)
			a->v6_only = a->v4_taken =
			    is_taken(p, &a->at, datagram);
	}
	a->v6_settled = a->v6_only;
}

/* Decides for each listener of the service on all IPv6 addresses whether it
 * takes IPv4, too. */
static int
settle_service(const struct pen *p, const struct v4_ports *v4,
    struct plan *draft, unsigned number)
{
	const struct plan *service = plan_service_at(draft, number);
	struct frontend_address a;
	struct plan *own;
	unsigned i;

	for (i = 0; i < service->listen.count; i++) {
		a = service->listen.entry[i];
		if (a.at.u.sa.sa_family != AF_INET6 || !addr_is_any(&a.at) ||
		    a.v6_only)
			continue;
		settle_one(p, v4, service, number, &a);
		if (!a.v6_only)
			continue;
		own = plan_service_edit(draft, plan_service_name(service));
		if (own == NULL)
			return -1;
		own->listen.entry[i] = a;
		service = own;
	}
	return 0;
}

int
v6_only_settle(const struct pen *p, struct plan *draft)
{
	const struct plan *service;
	struct v4_ports v4;
	unsigned i;

	memset(&v4, 0, sizeof(v4));
	for (i = 0; (service = plan_service_at(draft, i)) != NULL; i++)
		note_ports(&v4, service);
	for (i = 0; plan_service_at(draft, i) != NULL; i++)
		if (settle_service(p, &v4, draft, i) < 0)
			return -1;
	return 0;
}
