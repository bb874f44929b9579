/* inspect.c: judges what a machine was found to be. Pure. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dsr/inspect/inspect_fast.h"
#include "dsr/inspect/inspect_finding.h"

enum { MTU_USUAL = 1500, MTU_IP6 = 1280 }; /* RFC 894; RFC 8200, 5 */

/* ---- findings ---- */

void
inspect_say(
    struct inspect_finding *f, enum inspect_level level, const char *fmt, ...)
{
	va_list args;

	f->level = level;
	f->at_start = false;
	va_start(args, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, args);
	va_end(args);
}

void
inspect_tell(const struct inspect_sink *sink, struct inspect_finding *f)
{
	f->mend[0] = '\0';
	sink->report(sink->arg, f);
}

void
inspect_fix(const struct inspect_sink *sink, struct inspect_finding *f,
    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->mend, sizeof(f->mend), fmt, args);
	va_end(args);
	sink->report(sink->arg, f);
}

const char *
inspect_setting(char path[INSPECT_PATH], const char *family,
    const char *interface, const char *name)
{
	char dot = strchr(interface, '.') != NULL ? '/' : '.';

	snprintf(path, INSPECT_PATH, "net%c%s%cconf%c%.15s%c%s", dot, family,
	    dot, dot, interface, dot, name);
	return path;
}

/* ---- the interface ---- */

struct look {
	const struct inspect_machine *m;
	const struct inspect_request *w;
	struct inspect_sink sink;
	const char *name; /* of the interface */
};

static const char *const families[] = { "IPv4", "IPv6" };

/* Whether a VIP is of that family. */
static bool
serves(const struct inspect_request *w, int v6)
{
	unsigned i;

	for (i = 0; i < w->vips; i++)
		if ((w->vip[i].family == AF_INET6) == (v6 != 0))
			return true;
	return false;
}

/* Returns false when there is nothing more to say about it. */
static bool
judge_presence(const struct look *l)
{
	struct inspect_finding f;

	if (!l->m->exists) {
		inspect_say(&f, INSPECT_ERROR, "no interface %s", l->name);
		inspect_fix(&l->sink, &f, "ip link");
		return false;
	}
	if (l->m->no_ethernet) {
		inspect_say(
		    &f, INSPECT_ERROR, "interface %s is not Ethernet", l->name);
		inspect_tell(&l->sink, &f);
		return false;
	}
	if (l->m->down) {
		inspect_say(&f, INSPECT_ERROR, "interface %s is down", l->name);
		f.at_start = true;
		inspect_fix(&l->sink, &f, "ip link set %s up", l->name);
	} else if (l->m->no_carrier) {
		inspect_say(&f, INSPECT_ERROR,
		    "interface %s has no carrier: cable, or the other end",
		    l->name);
		f.at_start = true;
		inspect_tell(&l->sink, &f);
	}
	return true;
}

static void
judge_mtu(const struct look *l)
{
	struct inspect_finding f;
	bool none6 = l->m->mtu < MTU_IP6 && serves(l->w, 1);

	if (l->m->mtu == 0 || l->m->mtu >= MTU_USUAL)
		return;
	inspect_say(&f, none6 ? INSPECT_ERROR : INSPECT_WARNING,
	    "interface %s has an MTU of %u, longer packets of clients are "
	    "lost%s",
	    l->name, l->m->mtu, none6 ? "; IPv6 needs 1280" : "");
	f.at_start = none6;
	inspect_fix(&l->sink, &f, "ip link set %s mtu %d", l->name, MTU_USUAL);
}

static void
judge_mode(const struct look *l)
{
	struct inspect_finding f;
	const char *kind = l->w->link;

	if (l->m->xdp) {
		inspect_say(&f, INSPECT_WARNING,
		    "an XDP program takes frames of %s, perhaps of a director "
		    "that runs: the segment was not asked",
		    l->name);
		f.at_start = true;
		inspect_tell(&l->sink, &f);
	}
	if (l->m->promiscuous) {
		inspect_say(&f, INSPECT_WARNING,
		    "interface %s is promiscuous, which is not needed: frames "
		    "for "
		    "others cost time",
		    l->name);
		inspect_fix(
		    &l->sink, &f, "ip link set %s promisc off", l->name);
	}
	if (l->m->offloads & INSPECT_LRO) {
		inspect_say(&f, INSPECT_WARNING,
		    "large receive offload of %s breaks forwarding: pen "
		    "switches it off when it starts",
		    l->name);
		inspect_fix(&l->sink, &f, "ethtool -K %s lro off", l->name);
	}
	if (kind == NULL)
		return;
	if ((l->m->offloads & INSPECT_GRO) && strcmp(kind, "pcap") == 0) {
		inspect_say(&f, INSPECT_WARNING,
		    "generic receive offload of %s makes frames that libpcap "
		    "cannot take apart: they are lost",
		    l->name);
		inspect_fix(&l->sink, &f, "ethtool -K %s gro off", l->name);
	}
	if ((l->m->offloads & INSPECT_RXVLAN) && strcmp(kind, "xdp") == 0) {
		inspect_say(&f, INSPECT_NOTE,
		    "XDP needs tags in frames, so removal of VLAN tags of %s "
		    "is switched off while pen runs",
		    l->name);
		inspect_fix(&l->sink, &f, "ethtool -K %s rxvlan off", l->name);
	}
}

/* ---- addresses ---- */

static void
judge_own_stack(const struct look *l, int v6)
{
	const struct inspect_address *a, *first = NULL;
	char ip[PEER_TEXT_MAX], path[INSPECT_PATH];
	struct inspect_finding f;
	unsigned i, more = 0;

	for (i = 0; i < l->m->addresses; i++) {
		a = &l->m->address[i];
		if (strcmp(a->interface, l->name) != 0 ||
		    (a->ip.family == AF_INET6) != (v6 != 0))
			continue;
		if (first == NULL)
			first = a;
		else
			more++;
	}
	if (first == NULL)
		return;
	inspect_say(&f, INSPECT_WARNING,
	    "interface %s has an %s address, %s%s: the system's own stack "
	    "takes "
	    "part there",
	    l->name, families[v6], peer_format_host(&first->ip, ip),
	    more > 0 ? " and others" : "");
	f.at_start = true;
	if (v6)
		inspect_fix(&l->sink, &f, "sysctl -w %s=1",
		    inspect_setting(path, "ipv6", l->name, "disable_ipv6"));
	else
		inspect_fix(&l->sink, &f, "ip -4 addr flush dev %s", l->name);
}

/* The machine's own address that it is, or NULL. */
static const struct inspect_address *
own_address(const struct inspect_machine *m, const struct peer *ip)
{
	unsigned i;

	for (i = 0; i < m->addresses; i++)
		if (who_has_same_ip(&m->address[i].ip, ip))
			return &m->address[i];
	return NULL;
}

/* Whether it is an address of this machine, which then answers for it. */
static bool
judge_address(const struct look *l, const char *role, const struct peer *ip,
    const char *more)
{
	const struct inspect_address *a = own_address(l->m, ip);
	char text[PEER_TEXT_MAX];
	struct inspect_finding f;

	if (a == NULL)
		return false;
	peer_format_host(ip, text);
	inspect_say(&f, INSPECT_ERROR,
	    "%s %s is an address of this machine's %s: the system answers for "
	    "it, too%s",
	    role, text, a->interface, more);
	f.at_start = true;
	inspect_fix(&l->sink, &f, "ip addr del %s/%u dev %s", text, a->prefix,
	    a->interface);
	return true;
}

static void
judge_route(const struct look *l, unsigned i)
{
	const struct peer *vip = &l->w->vip[i];
	char text[PEER_TEXT_MAX];
	struct inspect_finding f;

	if (l->m->route == NULL || l->m->route[i].way != INSPECT_LOCAL)
		return;
	peer_format_host(vip, text);
	inspect_say(&f, INSPECT_ERROR,
	    "a local route makes %s an address of this machine: the system "
	    "answers for it, too",
	    text);
	f.at_start = true;
	inspect_fix(&l->sink, &f, "ip route del local %s/%u",
	    peer_format_host(&l->m->route[i].net, text), l->m->route[i].prefix);
}

/* What comes for a VIP is seen by the system, too, which drops it unless it is
 * told to forward. */
static void
judge_forwarding(const struct look *l, int v6)
{
	char path[INSPECT_PATH];
	struct inspect_finding f;
	bool leak = false;
	unsigned i;

	if (!l->m->forwards[v6] || (v6 && l->m->ip6_off))
		return;
	for (i = 0; i < l->w->vips; i++)
		leak = leak ||
		    (l->m->route != NULL &&
			l->m->route[i].way == INSPECT_ROUTE &&
			(l->w->vip[i].family == AF_INET6) == (v6 != 0));
	inspect_say(&f, leak ? INSPECT_ERROR : INSPECT_WARNING,
	    "the system forwards %s that comes through %s: %s", families[v6],
	    l->name,
	    leak ? "frames for a VIP go another way, too"
		 : "clients may hear from it that a VIP is unreachable");
	f.at_start = true;
	inspect_fix(&l->sink, &f, "sysctl -w %s=%d",
	    inspect_setting(path, v6 ? "ipv6" : "ipv4", l->name,
		v6 ? "disable_ipv6" : "forwarding"),
	    v6);
}

static bool
is_vip(const struct inspect_request *w, const struct peer *ip)
{
	unsigned i;

	for (i = 0; i < w->vips; i++)
		if (who_has_same_ip(&w->vip[i], ip))
			return true;
	return false;
}

/* A frame to our own hardware address never leaves; who has a VIP does not say
 * where it is. */
static void
judge_server(const struct look *l, const struct inspect_server *s)
{
	struct inspect_finding f;

	if (is_vip(l->w, &s->ip))
		inspect_say(&f, INSPECT_ERROR,
		    "server %u (%s) is a VIP: a server needs an address of its "
		    "own, too",
		    s->number, s->name);
	else if (own_address(l->m, &s->ip) != NULL)
		inspect_say(&f, INSPECT_ERROR,
		    "server %u (%s) is this machine, to which no frame can be "
		    "forwarded",
		    s->number, s->name);
	else
		return;
	inspect_tell(&l->sink, &f);
}

/* ---- rights ---- */

static void
judge_rights(const struct look *l)
{
	const char *lacks =
	    l->m->lacks & INSPECT_ADMIN ? "CAP_NET_ADMIN" : "CAP_BPF";
	struct inspect_finding f;

	if (l->m->lacks & INSPECT_RAW) {
		inspect_say(&f, INSPECT_ERROR,
		    "no right to raw sockets (CAP_NET_RAW), so the segment was "
		    "not asked");
		inspect_fix(
		    &l->sink, &f, "setcap cap_net_raw+ep $(command -v pen)");
	} else if (l->w->link != NULL && strcmp(l->w->link, "xdp") == 0 &&
	    (l->m->lacks & (INSPECT_ADMIN | INSPECT_BPF)) != 0) {
		inspect_say(&f, INSPECT_ERROR,
		    "no right to load an XDP program (%s)", lacks);
		inspect_fix(&l->sink, &f,
		    "setcap cap_net_raw,cap_net_admin,cap_bpf+ep "
		    "$(command -v pen)");
	}
}

void
inspect_judge_machine(const struct inspect_machine *m,
    const struct inspect_request *w, inspect_report_fn *report, void *arg)
{
	struct look l = { m, w, { report, arg }, w->interface };
	unsigned i;
	int v6;

	judge_rights(&l);
	if (!judge_presence(&l))
		return;
	judge_mtu(&l);
	judge_mode(&l);
	inspect_judge_fast(m, w, &l.sink);
	for (i = 0; i < w->vips; i++)
		if (!judge_address(&l, "VIP", &w->vip[i], ""))
			judge_route(&l, i);
	for (i = 0; i < 2; i++)
		if (w->own[i].family != 0)
			judge_address(
			    &l, "dsr_ip", &w->own[i], "; or choose another");
	for (v6 = 0; v6 < 2; v6++) {
		if (!serves(w, v6))
			continue;
		judge_own_stack(&l, v6);
		judge_forwarding(&l, v6);
	}
	for (i = 0; i < w->servers; i++)
		judge_server(&l, &w->server[i]);
}
