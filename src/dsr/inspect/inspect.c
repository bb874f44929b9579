/* inspect.c: judges the facts about a machine. Pure. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "dsr/inspect/inspect_finding.h"

enum { MTU_USUAL = 1500, MTU_IP6 = 1280 }; /* RFC 894; RFC 8200, 5 */

static const char *const families[] = { "IPv4", "IPv6" };

/* ---- what is wanted ---- */

static bool
is_of(const struct peer *ip, int v6)
{
	return (ip->family == AF_INET6) == (v6 != 0);
}

static bool
serves_family(const struct inspect_request *w, int v6)
{
	unsigned i;

	for (i = 0; i < w->vips; i++)
		if (is_of(&w->vip[i], v6))
			return true;
	return false;
}

/* ---- the interface ---- */

/* Returns false when no other fact about the machine matters. */
static bool
judge_presence(struct inspect_judge *j)
{
	const struct inspect_machine *m = j->machine;

	if (!m->exists)
		inspect_report(j, FOUND_NO_INTERFACE);
	else if (m->no_ethernet)
		inspect_report(j, FOUND_NO_ETHERNET);
	else if (m->down)
		inspect_report(j, FOUND_DOWN);
	else if (m->no_carrier)
		inspect_report(j, FOUND_NO_CARRIER);
	return m->exists && !m->no_ethernet;
}

static void
judge_mtu(struct inspect_judge *j)
{
	unsigned mtu = j->machine->mtu;

	if (mtu == 0 || mtu >= MTU_USUAL)
		return;
	finding_set(&j->out, "mtu", "%u", mtu);
	inspect_report(j,
	    mtu < MTU_IP6 && serves_family(j->wanted, 1) ? FOUND_MTU_IP6
							 : FOUND_MTU);
}

static void
judge_mode(struct inspect_judge *j)
{
	const struct inspect_machine *m = j->machine;

	if (m->promiscuous)
		inspect_report(j, FOUND_PROMISCUOUS);
	if (m->offloads & INSPECT_LRO)
		inspect_report(j, FOUND_LRO);
	if ((m->offloads & INSPECT_GRO) &&
	    inspect_wants_link(j->wanted, "pcap"))
		inspect_report(j, FOUND_GRO);
	if ((m->offloads & INSPECT_RXVLAN) && !m->no_xdp && !m->xdp &&
	    j->wanted->fast != LINK_FAST_OFF && !j->wanted->no_flows &&
	    !inspect_wants_link(j->wanted, "pcap"))
		inspect_report(j, FOUND_RXVLAN);
}

/* Reports why there is no fast path where it was required: the first reason is
 * enough. */
static void
judge_fast_path(struct inspect_judge *j)
{
	const struct inspect_machine *m = j->machine;
	const struct inspect_request *w = j->wanted;

	if (w->fast != LINK_FAST_ON)
		return;
	finding_set(&j->out, "peer", "%s", m->peer);
	if (m->no_xdp)
		inspect_report(j, FOUND_FAST_NO_XDP);
	else if (inspect_wants_link(w, "pcap"))
		inspect_report(j, FOUND_FAST_LINK);
	else if (m->xdp)
		inspect_report(j, FOUND_FAST_TAKEN);
	else if (m->peer_refuses)
		inspect_report(j,
		    m->peer[0] != '\0' ? FOUND_FAST_PEER
				       : FOUND_FAST_PEER_AWAY);
	else if (m->peer_unknown)
		inspect_report(j, FOUND_FAST_PEER_UNKNOWN);
	if (w->no_flows)
		inspect_report(j, FOUND_FAST_NO_FLOWS);
}

/* ---- addresses ---- */

/* Whether the operator has logged in by that address. */
static bool
is_of_session(const struct inspect_machine *m, const struct peer *ip)
{
	return m->session.family != 0 && who_has_same_ip(&m->session, ip);
}

/* Whether a command that takes all addresses of a family from the interface of
 * frames, or IPv6, would cut the operator off. */
static bool
is_reached_by(const struct inspect_machine *m, const char *interface, int v6)
{
	unsigned i;

	if (strcmp(m->way[v6], interface) == 0)
		return true;
	for (i = 0; i < m->addresses; i++)
		if (strcmp(m->address[i].interface, interface) == 0 &&
		    is_of(&m->address[i].ip, v6) &&
		    is_of_session(m, &m->address[i].ip))
			return true;
	return false;
}

/* Whether one that takes this address would. */
static bool
is_reached_at(const struct inspect_machine *m, const struct peer *ip)
{
	const char *interface = "";
	int v6 = is_of(ip, 1);
	unsigned i, n = 0;

	for (i = 0; i < m->addresses; i++)
		if (who_has_same_ip(&m->address[i].ip, ip))
			interface = m->address[i].interface;
	for (i = 0; i < m->addresses; i++)
		n += is_of(&m->address[i].ip, v6) &&
		    strcmp(m->address[i].interface, interface) == 0;
	return is_of_session(m, ip) ||
	    (n == 1 && strcmp(m->way[v6], interface) == 0);
}

/* Sets {ip} to the interface's addresses of that family; false: it has none. */
static bool
set_addresses(struct inspect_judge *j, int v6)
{
	char ip[PEER_TEXT_MAX];
	unsigned i, n = 0;

	for (i = 0; i < j->machine->addresses; i++) {
		const struct inspect_address *a = &j->machine->address[i];

		if (strcmp(a->interface, j->wanted->interface) != 0 ||
		    !is_of(&a->ip, v6))
			continue;
		if (n++ == 0)
			peer_format_host(&a->ip, ip);
	}
	if (n > 0)
		finding_set(
		    &j->out, "ip", "%s%s", ip, n > 1 ? " and others" : "");
	return n > 0;
}

/* The setting's name for sysctl(8), which wants slashes where the interface's
 * name has dots. */
static void
set_setting(struct inspect_judge *j, const char *family, const char *name)
{
	const char *interface = j->wanted->interface;
	char c = strchr(interface, '.') != NULL ? '/' : '.';

	finding_set(&j->out, "setting", "net%c%s%cconf%c%.15s%c%s", c, family,
	    c, c, interface, c, name);
}

/* The system gets a copy of each frame for a VIP. It drops the packet, unless
 * it forwards. */
static void
judge_forwarding(struct inspect_judge *j, int v6)
{
	const struct inspect_machine *m = j->machine;
	bool leak = false;
	unsigned i;

	if (!m->forwards[v6] || (v6 && m->ip6_off))
		return;
	for (i = 0; i < j->wanted->vips && m->route != NULL; i++)
		leak = leak ||
		    (m->route[i].way == INSPECT_ROUTE &&
			is_of(&j->wanted->vip[i], v6));
	if (v6 && is_reached_by(m, j->wanted->interface, v6))
		inspect_report(j, FOUND_FORWARDING_USED);
	else
		inspect_report(
		    j, leak ? FOUND_FORWARDING_VIP : FOUND_FORWARDING);
}

static void
judge_family(struct inspect_judge *j, int v6)
{
	if (!serves_family(j->wanted, v6))
		return;
	finding_set(&j->out, "family", "%s", families[v6]);
	finding_set(&j->out, "value", "%d", v6);
	/* Forwarding of IPv6 cannot be switched off for one interface, but IPv6
	 * can. */
	if (v6)
		set_setting(j, "ipv6", "disable_ipv6");
	else
		set_setting(j, "ipv4", "forwarding");
	if (set_addresses(j, v6))
		inspect_report(j,
		    is_reached_by(j->machine, j->wanted->interface, v6)
			? FOUND_OWN_STACK_USED
			: v6 ? FOUND_OWN_STACK6
			     : FOUND_OWN_STACK4);
	judge_forwarding(j, v6);
}

/* Sets {ip}, and {where} and {bits} if an interface of this machine has it;
 * false: none has. */
static bool
is_here(struct inspect_judge *j, const struct peer *ip)
{
	unsigned i;

	inspect_set_ip(j, "ip", ip);
	for (i = 0; i < j->machine->addresses; i++) {
		const struct inspect_address *a = &j->machine->address[i];

		if (!who_has_same_ip(&a->ip, ip))
			continue;
		finding_set(&j->out, "where", "%s", a->interface);
		finding_set(&j->out, "bits", "%u", a->prefix);
		return true;
	}
	return false;
}

static void
judge_vip(struct inspect_judge *j, unsigned i)
{
	const struct inspect_route *r = j->machine->route;

	if (is_here(j, &j->wanted->vip[i])) {
		inspect_report(j,
		    is_reached_at(j->machine, &j->wanted->vip[i])
			? FOUND_VIP_USED
			: FOUND_VIP_HERE);
	} else if (r != NULL && r[i].way == INSPECT_LOCAL) {
		inspect_set_ip(j, "net", &r[i].net);
		finding_set(&j->out, "bits", "%u", r[i].prefix);
		inspect_report(j, FOUND_VIP_ROUTE);
	}
}

/* A frame to our own hardware address never leaves; and a server whose only
 * address is a VIP cannot be resolved. */
static void
judge_reach(struct inspect_judge *j, const struct inspect_server *s)
{
	const struct inspect_request *w = j->wanted;
	unsigned i = 0;

	inspect_set_server(j, s);
	while (i < w->vips && !who_has_same_ip(&w->vip[i], &s->ip))
		i++;
	if (i < w->vips)
		inspect_report(j, FOUND_SERVER_IS_VIP);
	else if (is_here(j, &s->ip))
		inspect_report(j, FOUND_SERVER_HERE);
}

void
inspect_judge_machine(const struct inspect_machine *m,
    const struct inspect_request *w, finding_report_fn *report, void *arg)
{
	struct inspect_judge j = { .machine = m,
		.wanted = w,
		.out = { .report = report, .arg = arg } };
	unsigned i, lacks = m->lacks;

	finding_set(&j.out, "interface", "%s", w->interface);
	finding_set(&j.out, "capability", "%s",
	    lacks & INSPECT_ADMIN ? "CAP_NET_ADMIN" : "CAP_BPF");
	if (lacks & INSPECT_RAW)
		inspect_report(&j, FOUND_NO_RAW);
	else if (w->fast == LINK_FAST_ON &&
	    (lacks & (INSPECT_ADMIN | INSPECT_BPF)) != 0)
		inspect_report(&j, FOUND_NO_BPF);
	finding_set(&j.out, "link", "%s", w->link != NULL ? w->link : "");
	if (m->no_link)
		inspect_report(&j, FOUND_NO_LINK);
	if (!judge_presence(&j))
		return;
	judge_mtu(&j);
	judge_mode(&j);
	judge_fast_path(&j);
	for (i = 0; i < w->vips; i++)
		judge_vip(&j, i);
	for (i = 0; i < 2; i++)
		if (w->own[i].family != 0 && is_here(&j, &w->own[i]))
			inspect_report(&j,
			    is_reached_at(m, &w->own[i]) ? FOUND_DSR_IP_USED
							 : FOUND_DSR_IP_HERE);
	for (i = 0; i < 2; i++)
		judge_family(&j, (int)i);
	for (i = 0; i < w->servers; i++)
		judge_reach(&j, &w->server[i]);
}
