/* transparent_ways.c: judges; a connection or two. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
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

struct attempt {
	int fd; /* -1: over */
	bool answered;
};

static void
begin_attempt(struct attempt *a, const struct addr *to, const struct peer *who)
{
	unsigned turn = 0;
	struct sock_connect_options o = { .turn = &turn, .client = who };

	a->fd = sock_connect(to, &o);
	a->answered = a->fd < 0 && sock_error_is_refusal(errno);
}

/* Whether it is over. */
static bool
transparent_ways_follow(struct attempt *a)
{
	struct pollfd p = { .fd = a->fd, .events = POLLOUT };
	int error;

	if (a->fd < 0)
		return true;
	if (poll(&p, 1, 0) <= 0)
		return false;
	error = sock_error(a->fd);
	a->answered = error == 0 || sock_error_is_refusal(error);
	close(a->fd);
	a->fd = -1;
	return true;
}

static void
end_attempt(struct attempt *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

static bool
transparent_ways_may_answer(const struct way *w)
{
	return w->back == WAY_UNKNOWN || w->back == WAY_LOCAL ||
	    w->back == WAY_MARKED;
}

static void
transparent_ways_ask(struct attempt both[2], const struct way *w)
{
	struct peer client;

	both[0] = both[1] = (struct attempt){ .fd = -1 };
	if (!transparent_ways_may_answer(w))
		return;
	ways_client(&client, w->at.u.sa.sa_family);
	begin_attempt(&both[0], &w->at, NULL);
	begin_attempt(&both[1], &w->at, &client);
}

static void
transparent_ways_wait_for(struct attempt list[][2], unsigned n)
{
	uint64_t end = clock_monotonic_ms() + WAIT_MS;
	unsigned i, left;

	do {
		for (i = left = 0; i < n; i++) {
			left += !transparent_ways_follow(&list[i][0]);
			left += !transparent_ways_follow(&list[i][1]);
		}
		if (left > 0)
			poll(NULL, 0, NAP_MS);
	} while (left > 0 && clock_monotonic_ms() < end);
}

/* A few at a time: each has two descriptors. */
enum { TOGETHER = 64 };

void
ways_probe(struct way *list, unsigned n)
{
	struct attempt both[TOGETHER][2];
	unsigned i, some = n < TOGETHER ? n : TOGETHER;

	for (i = 0; i < some; i++)
		transparent_ways_ask(both[i], &list[i]);
	transparent_ways_wait_for(both, some);
	for (i = 0; i < some; i++) {
		if (transparent_ways_may_answer(&list[i]))
			list[i].probe = both[i][1].answered ? PROBE_CLIENTS
			    : both[i][0].answered	    ? PROBE_OURS
							    : PROBE_NOBODY;
		end_attempt(&both[i][0]);
		end_attempt(&both[i][1]);
	}
}

/* ---- findings ---- */

#define NFT                                                          \
	"nft add table inet pen; nft add chain inet pen answers "    \
	"'{ type filter hook prerouting priority mangle; }'; nft add " \
	"rule inet pen answers socket transparent 1 meta mark set "

struct words {
	char server[200];
	const char *ip; /* the command for the family */
	const char *all; /* all of its addresses */
	char own[ADDR_TEXT_MAX];
};

static void
make_words(struct words *t, const struct way *w)
{
	bool v6 = w->at.u.sa.sa_family == AF_INET6;

	snprintf(t->server, sizeof(t->server), "%u (%.150s)", w->number,
	    w->name);
	t->ip = v6 ? "ip -6" : "ip";
	t->all = v6 ? "::/0" : "0.0.0.0/0";
	t->own[0] = '\0';
	if (w->own.len > 0)
		addr_format_host(&w->own, t->own);
}

static void
say_here(struct finding *f, const struct way *w, const struct words *t)
{
	snprintf(f->what, sizeof(f->what),
	    "transparent: server %s is this host: its replies to clients "
	    "leave the host unless a rule keeps them",
	    t->server);
	snprintf(f->fix, sizeof(f->fix),
	    "%s rule add from %s ipproto tcp sport %u lookup 100; %s route "
	    "add local %s dev lo table 100",
	    t->ip, t->own, addr_port(&w->at), t->ip, t->all);
}

static void
say_no_rule(struct finding *f, const struct way *w, const struct words *t)
{
	snprintf(f->what, sizeof(f->what),
	    "transparent: replies from server %s to clients are not delivered "
	    "locally: no policy routing rule",
	    t->server);
	snprintf(f->fix, sizeof(f->fix),
	    "%s rule add iif %s fwmark 1 lookup 100; %s route add local %s "
	    "dev lo table 100",
	    t->ip, w->interface, t->ip, t->all);
}

static void
say_no_route(struct finding *f, const struct way *w, const struct words *t)
{
	snprintf(f->what, sizeof(f->what),
	    "transparent: replies from server %s to clients are not delivered "
	    "locally: table %u, for mark %u, has no local route",
	    t->server, (unsigned)w->table, (unsigned)w->mark);
	snprintf(f->fix, sizeof(f->fix),
	    "%s route add local %s dev lo table %u", t->ip, t->all,
	    (unsigned)w->table);
}

static void
say_filtered(struct finding *f, const struct way *w, const struct words *t)
{
	snprintf(f->what, sizeof(f->what),
	    "transparent: rp_filter of interface %s drops replies from server "
	    "%s to clients",
	    w->interface, t->server);
	snprintf(f->fix, sizeof(f->fix),
	    "sysctl -w net.ipv4.conf.all.rp_filter=2 "
	    "net.ipv4.conf.%s.rp_filter=2 "
	    "net.ipv4.conf.all.src_valid_mark=0 "
	    "net.ipv4.conf.%s.src_valid_mark=0",
	    w->interface, w->interface);
}

/* The one that say_no_rule() makes. */
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

static void
say_mark(struct finding *f, uint32_t mark)
{
	f->level = FINDING_NOTE;
	snprintf(f->what, sizeof(f->what),
	    "transparent: a packet filter must set mark %u on replies from "
	    "servers to clients, and the route from servers to clients must "
	    "lead to this host: pen can test both only once replies are "
	    "delivered",
	    (unsigned)mark);
	snprintf(f->fix, sizeof(f->fix), NFT "%u", (unsigned)mark);
}

/* What is wrong with the way of its answers; false: nothing. */
static bool
judge_back(struct finding *f, const struct way *w, const struct words *t)
{
	static void (*const say[])(
	    struct finding *, const struct way *, const struct words *) = {
		[WAY_HERE] = say_here,
		[WAY_NO_RULE] = say_no_rule,
		[WAY_NO_ROUTE] = say_no_route,
		[WAY_FILTERED] = say_filtered,
	};

	if (say[w->back] == NULL)
		return false;
	f->level = FINDING_ERROR;
	say[w->back](f, w, t);
	return true;
}

/* `some`: another server answers clients, so that pen may well start. */
static bool
judge_probe(
    struct finding *f, const struct way *w, const struct words *t, bool some)
{
	struct peer client;
	char who[PEER_TEXT_MAX];

	ways_client(&client, w->at.u.sa.sa_family);
	peer_format_host(&client, who);
	f->fix[0] = '\0';
	if (w->probe == PROBE_NOBODY) {
		f->level = FINDING_NOTE;
		snprintf(f->what, sizeof(f->what),
		    "transparent: server %s does not answer, so it is not "
		    "known whether its replies would arrive",
		    t->server);
		return true;
	}
	if (w->probe != PROBE_OURS)
		return false;
	f->level = some ? FINDING_WARNING : FINDING_ERROR;
	if (w->back == WAY_MARKED) {
		snprintf(f->what, sizeof(f->what),
		    "transparent: the reply of server %s to a client (%s) did "
		    "not arrive: a packet filter must set mark %u on it, and "
		    "the server's route to clients must lead to this host",
		    t->server, who, (unsigned)w->mark);
		snprintf(f->fix, sizeof(f->fix), NFT "%u", (unsigned)w->mark);
	} else {
		snprintf(f->what, sizeof(f->what),
		    "transparent: the reply of server %s to a client (%s) did "
		    "not arrive: its route to clients must lead to this host; "
		    "to run there",
		    t->server, who);
		if (t->own[0] != '\0')
			snprintf(f->fix, sizeof(f->fix),
			    "%s route replace default via %s", t->ip, t->own);
	}
	return true;
}

static void
judge_way(const struct way *w, bool some, finding_report_fn *report, void *arg)
{
	struct finding f = { .level = FINDING_ERROR, .at_start = true };
	struct words t;

	make_words(&t, w);
	if (judge_back(&f, w, &t) || judge_probe(&f, w, &t, some))
		report(arg, &f);
	/* the filter does not let us see whether there is one */
	if (w->back == WAY_FILTERED && w->mark == 0) {
		say_no_rule(&f, w, &t);
		report(arg, &f);
	}
}

/* Each mark once, after all messages that explain it. */
static void
judge_marks(
    const struct way *list, unsigned n, finding_report_fn *report, void *arg)
{
	struct finding f = { .at_start = true };
	unsigned i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if (mark_to_be(&list[k]) == mark_to_be(&list[i]))
				break;
		if (k < i || mark_to_be(&list[i]) == 0)
			continue;
		say_mark(&f, mark_to_be(&list[i]));
		report(arg, &f);
	}
}

/* Whether the same was reported of a server before. */
static bool
transparent_ways_is_known(const struct way *list, const struct way *w)
{
	for (; list < w; list++)
		if (list->back == w->back && list->probe == w->probe &&
		    list->at.u.sa.sa_family == w->at.u.sa.sa_family &&
		    list->mark == w->mark && list->table == w->table &&
		    strcmp(list->interface, w->interface) == 0)
			return true;
	return false;
}

static bool
some_answer(const struct way *list, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (list[i].probe == PROBE_CLIENTS)
			return true;
	return false;
}

void
ways_judge(const struct way *list, unsigned n, bool no_right,
    finding_report_fn *report, void *arg)
{
	struct finding f = { .level = FINDING_ERROR, .at_start = true };
	bool some = some_answer(list, n);
	unsigned i;

	if (no_right) {
		snprintf(f.what, sizeof(f.what),
		    "transparent: no right to sockets with addresses of "
		    "clients (CAP_NET_RAW), so servers were not tested");
		snprintf(f.fix, sizeof(f.fix),
		    "setcap cap_net_raw+ep $(command -v pen)");
		report(arg, &f);
	}
	for (i = 0; i < n; i++)
		if (!transparent_ways_is_known(list, &list[i]))
			judge_way(&list[i], some, report, arg);
	judge_marks(list, n, report, arg);
}
