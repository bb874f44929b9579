/* transparent_ways.c: judges; a connection or two. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/verify/transparent_ways.h"
#include "net/sock.h"
#include "net/sock_nonlocal.h"

enum { WAIT_MS = 2000, NAP_MS = 20 };

void
ways_client(struct peer *p, int family)
{
	struct addr a;

	(void)addr_parse_ip(
	    &a, family == AF_INET6 ? "2001:db8::1" : "192.0.2.1", 0);
	peer_from_addr(p, &a);
}

/* ---- connections ---- */

static bool
may_answer(const struct way *w)
{
	return w->back == WAY_UNKNOWN || w->back == WAY_LOCAL ||
	    w->back == WAY_MARKED;
}

/* An attempt from our address, and one from a client's. A refusal is an answer,
 * too. */
struct attempts {
	struct pollfd fd[2]; /* -1: over */
	bool answered[2];
};

static void
begin_attempts(struct attempts *a, const struct way *w)
{
	struct peer client;
	unsigned turn = 0, i;

	*a = (struct attempts){ .answered = { false, false } };
	ways_client(&client, w->at.u.sa.sa_family);
	for (i = 0; i < 2; i++) {
		struct sock_connect_options o = { .turn = &turn,
			.client = i > 0 ? &client : NULL };
		int fd = may_answer(w) ? sock_connect(&w->at, &o) : -1;

		a->fd[i] = (struct pollfd){ .fd = fd, .events = POLLOUT };
		a->answered[i] =
		    may_answer(w) && fd < 0 && sock_error_is_refusal(errno);
	}
}

/* Returns how many of them are not over. */
static unsigned
follow_attempts(struct attempts *a)
{
	unsigned i, left = 0;
	int error;

	for (i = 0; i < 2; i++) {
		if (a->fd[i].fd < 0)
			continue;
		if (poll(&a->fd[i], 1, 0) <= 0) {
			left++;
			continue;
		}
		error = sock_error(a->fd[i].fd);
		a->answered[i] = error == 0 || sock_error_is_refusal(error);
		close(a->fd[i].fd);
		a->fd[i].fd = -1;
	}
	return left;
}

void
ways_probe(struct way *list, unsigned n)
{
	uint64_t end = clock_monotonic_ms() + WAIT_MS;
	struct attempts a[WAYS_MAX];
	unsigned i, k, left;

	for (i = 0; i < n; i++)
		begin_attempts(&a[i], &list[i]);
	do {
		for (i = left = 0; i < n; i++)
			left += follow_attempts(&a[i]);
		if (left > 0)
			poll(NULL, 0, NAP_MS);
	} while (left > 0 && clock_monotonic_ms() < end);
	for (i = 0; i < n; i++) {
		if (may_answer(&list[i]))
			list[i].probe = a[i].answered[1] ? PROBE_CLIENTS
			    : a[i].answered[0]		 ? PROBE_OURS
							 : PROBE_NOBODY;
		for (k = 0; k < 2; k++)
			if (a[i].fd[k].fd >= 0)
				close(a[i].fd[k].fd);
	}
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
#define LOST                                                                \
	"transparent: the reply of server {server} to a client ({client}) " \
	"did not arrive: "

/* Behind those of enum way_back; of LOST rows, an error if no server answers
 * clients. */
enum {
	FOUND_NO_RIGHT = WAY_FILTERED + 1,
	FOUND_NO_ANSWER,
	FOUND_UNMARKED,
	FOUND_OTHER_WAY,
	FOUND_MARK
};

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
	    "(CAP_NET_RAW), so servers were not tested",
	    "setcap cap_net_raw+ep $(command -v pen)" },
	[FOUND_NO_ANSWER] = { FINDING_NOTE, false,
	    "transparent: server {server} does not answer, so it is not known "
	    "whether its replies would arrive",
	    NULL },
	[FOUND_UNMARKED] = { FINDING_WARNING, false,
	    LOST "a packet filter must set mark {mark} on it, and the server's "
		 "route to clients must lead to this host",
	    NFT },
	[FOUND_OTHER_WAY] = { FINDING_WARNING, false,
	    LOST "its route to clients must lead to this host; to run there",
	    "{ip} route replace default via {own}" },
	[FOUND_MARK] = { FINDING_NOTE, true,
	    "transparent: a packet filter must set mark {mark} on replies from "
	    "servers to clients, and the route from servers to clients must "
	    "lead to this host: pen can test both only once replies are "
	    "delivered",
	    NFT },
};

static void
set_values(struct finding_writer *out, const struct way *w)
{
	bool v6 = w->at.u.sa.sa_family == AF_INET6;
	char own[ADDR_TEXT_MAX] = "", who[PEER_TEXT_MAX];
	struct peer client;

	ways_client(&client, w->at.u.sa.sa_family);
	if (w->own.len > 0)
		addr_format_host(&w->own, own);
	finding_set(out, "server", "%u (%.150s)", w->number, w->name);
	finding_set(out, "ip", "%s", v6 ? "ip -6" : "ip");
	finding_set(out, "all", "%s", v6 ? "::/0" : "0.0.0.0/0");
	finding_set(out, "own", "%s", own);
	finding_set(out, "port", "%u", addr_port(&w->at));
	finding_set(out, "interface", "%s", w->interface);
	finding_set(out, "client", "%s", peer_format_host(&client, who));
	finding_set(out, "mark", "%u", (unsigned)w->mark);
	finding_set(out, "table", "%u", (unsigned)w->table);
}

/* What is wrong with the way of its answers, or else with these. `some`:
 * another server answers clients, so that pen may well start. */
static void
judge_way(struct finding_writer *out, const struct way *w, bool some)
{
	struct finding_row lost =
	    rows[w->back == WAY_MARKED ? FOUND_UNMARKED : FOUND_OTHER_WAY];

	set_values(out, w);
	if (rows[w->back].says != NULL) {
		finding_say(out, &rows[w->back]);
	} else if (w->probe == PROBE_NOBODY) {
		finding_say(out, &rows[FOUND_NO_ANSWER]);
	} else if (w->probe == PROBE_OURS) {
		if (!some)
			lost.level = FINDING_ERROR;
		if (w->back != WAY_MARKED && w->own.len == 0)
			lost.fix = NULL;
		finding_say(out, &lost);
	}
	/* the filter does not let us see whether there is one */
	if (w->back == WAY_FILTERED && w->mark == 0)
		finding_say(out, &rows[WAY_NO_RULE]);
}

/* The mark that WAY_NO_RULE's command has. */
enum { USUAL_MARK = 1 };

/* The mark that a packet filter must set, as far as the route itself does not
 * show whether one does: what is not delivered cannot be tested. 0: it shows
 * it, or no mark is needed. */
static uint32_t
mark_to_be(const struct way *w)
{
	if (w->back != WAY_NO_RULE && w->back != WAY_NO_ROUTE &&
	    w->back != WAY_FILTERED)
		return 0;
	return w->back != WAY_NO_RULE && w->mark != 0 ? w->mark : USUAL_MARK;
}

/* Whether the same was reported of a server before. */
static bool
was_judged(const struct way *list, const struct way *w)
{
	for (; list < w; list++)
		if (list->back == w->back && list->probe == w->probe &&
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
	bool some = false;
	unsigned i, k;

	if (no_right)
		finding_say(&out, &rows[FOUND_NO_RIGHT]);
	for (i = 0; i < n; i++)
		some = some || list[i].probe == PROBE_CLIENTS;
	for (i = 0; i < n; i++)
		if (!was_judged(list, &list[i]))
			judge_way(&out, &list[i], some);
	/* each mark once, after all that tell what it is for */
	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if (mark_to_be(&list[k]) == mark_to_be(&list[i]))
				break;
		if (k < i || mark_to_be(&list[i]) == 0)
			continue;
		finding_set(&out, "mark", "%u", (unsigned)mark_to_be(&list[i]));
		finding_say(&out, &rows[FOUND_MARK]);
	}
}
