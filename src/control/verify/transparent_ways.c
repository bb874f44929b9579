/* transparent_ways.c: judges. */
#include "config.h"

#include <string.h>

#include "control/verify/transparent_ways.h"

void
ways_client(struct peer *p, int family)
{
	struct addr a;

	(void)addr_parse_ip(
	    &a, family == AF_INET6 ? "2001:db8::1" : "192.0.2.1", 0);
	peer_from_addr(p, &a);
}

/* ---- findings ---- */

/* Only with a rule about connections does nft reassemble packets before its
 * chains: later fragments have no ports by which a socket is found. */
#define NFT                                                            \
	"nft add table inet pen; nft add chain inet pen answers "      \
	"'{ type filter hook prerouting priority mangle; }'; nft add " \
	"rule inet pen answers ct state invalid counter; nft add "     \
	"rule inet pen answers socket transparent 1 meta mark set {mark}"
#define NOT_LOCAL                                                       \
	"transparent: replies from server {server} to clients are not " \
	"delivered locally: "

/* Behind those of enum way_back. */
enum { FOUND_NO_RIGHT = WAY_FILTERED + 1, FOUND_MARK };

static const struct finding_row rows[] = {
	[WAY_HERE] = { FINDING_ERROR, true,
	    "transparent: server {server} is this host: its replies to clients "
	    "leave the host unless a rule keeps them",
	    "{ip} rule add from {own} ipproto tcp sport {port} lookup 100; "
	    "{ip} route add local {all} dev lo table 100" },
	[WAY_NO_RULE] = { FINDING_ERROR, true,
	    NOT_LOCAL "no policy routing rule",
	    "{ip} rule add iif {interface} fwmark 1 lookup 100; {ip} route "
	    "add local {all} dev lo table 100" },
	[WAY_NO_ROUTE] = { FINDING_ERROR, true,
	    NOT_LOCAL "table {table}, for mark {mark}, has no local route",
	    "{ip} route add local {all} dev lo table {table}" },
	[WAY_FILTERED] = { FINDING_ERROR, true,
	    "transparent: rp_filter of interface {interface} drops replies "
	    "from server {server} to clients",
	    "sysctl -w net.ipv4.conf.all.rp_filter=2 "
	    "net.ipv4.conf.{interface}.rp_filter=2 "
	    "net.ipv4.conf.all.src_valid_mark=0 "
	    "net.ipv4.conf.{interface}.src_valid_mark=0" },
	[FOUND_NO_RIGHT] = { FINDING_ERROR, true,
	    "transparent: no right to sockets with addresses of clients "
	    "(CAP_NET_RAW)",
	    "setcap cap_net_raw+ep $(command -v pen)" },
	[FOUND_MARK] = { FINDING_NOTE, true,
	    "transparent: a packet filter must set mark {mark} on replies from "
	    "servers to clients, and the route from servers to clients must "
	    "lead to this host: pen tests neither",
	    NFT },
};

static void
set_values(struct finding_writer *out, const struct way *w)
{
	bool v6 = w->at.u.sa.sa_family == AF_INET6;
	char own[ADDR_TEXT_MAX] = "";

	if (w->own.len > 0)
		addr_format_host(&w->own, own);
	finding_set(out, "server", "%u (%.150s)", w->number, w->name);
	finding_set(out, "ip", "%s", v6 ? "ip -6" : "ip");
	finding_set(out, "all", "%s", v6 ? "::/0" : "0.0.0.0/0");
	finding_set(out, "own", "%s", own);
	finding_set(out, "port", "%u", addr_port(&w->at));
	finding_set(out, "interface", "%s", w->interface);
	finding_set(out, "mark", "%u", (unsigned)w->mark);
	finding_set(out, "table", "%u", (unsigned)w->table);
}

static void
judge_way(struct finding_writer *out, const struct way *w)
{
	set_values(out, w);
	if (rows[w->back].says != NULL)
		finding_write(out, &rows[w->back]);
	/* the filter does not let us see whether there is one */
	if (w->back == WAY_FILTERED && w->mark == 0)
		finding_write(out, &rows[WAY_NO_RULE]);
}

/* The mark that WAY_NO_RULE's command has. */
enum { USUAL_MARK = 1 };

/* The mark that a packet filter must set. 0: none is needed. */
static uint32_t
mark_to_be(const struct way *w)
{
	if (w->back != WAY_NO_RULE && w->back != WAY_NO_ROUTE &&
	    w->back != WAY_FILTERED && w->back != WAY_MARKED)
		return 0;
	return w->back != WAY_NO_RULE && w->mark != 0 ? w->mark : USUAL_MARK;
}

/* Whether the same was reported of a server before. */
static bool
was_judged(const struct way *list, const struct way *w)
{
	for (; list < w; list++)
		if (list->back == w->back &&
		    list->at.u.sa.sa_family == w->at.u.sa.sa_family &&
		    list->mark == w->mark && list->table == w->table &&
		    strcmp(list->interface, w->interface) == 0)
			return true;
	return false;
}

void
ways_judge(const struct way *list, unsigned n, bool no_right,
    finding_report_fn *report, void *arg)
{
	struct finding_writer out = { .report = report, .arg = arg };
	struct finding_row mark = rows[FOUND_MARK];
	unsigned i, k;

	if (no_right)
		finding_write(&out, &rows[FOUND_NO_RIGHT]);
	for (i = 0; i < n; i++)
		if (!was_judged(list, &list[i]))
			judge_way(&out, &list[i]);
	/* each mark once, after all that tell what it is for */
	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if (mark_to_be(&list[k]) == mark_to_be(&list[i]))
				break;
		if (k < i || mark_to_be(&list[i]) == 0)
			continue;
		finding_set(&out, "mark", "%u", (unsigned)mark_to_be(&list[i]));
		mark.at_start = list[i].back != WAY_MARKED;
		finding_write(&out, &mark);
	}
}
