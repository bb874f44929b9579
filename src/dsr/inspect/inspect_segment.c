/* inspect_segment.c: questions about who has an address, who claims what, and
 * what is to be said about it. Pure. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/inspect/inspect_fast.h"
#include "dsr/inspect/inspect_finding.h"

enum { TOLD_APART = 8 };

/* ---- questions ---- */

static void
add(struct inspect_segment *s, enum inspect_role role, const struct peer *ip,
    const struct inspect_server *server)
{
	struct inspect_question *q = &s->question[s->questions++];

	q->role = role;
	q->ip = *ip;
	q->ip.port = 0;
	q->server = server;
}

int
inspect_segment_init(struct inspect_segment *s, const struct inspect_request *w)
{
	unsigned servers =
	    w->servers < INSPECT_QUESTIONS ? w->servers : INSPECT_QUESTIONS;
	unsigned i;

	memset(s, 0, sizeof(*s));
	s->question =
	    calloc((size_t)w->vips + 2 + servers, sizeof(*s->question));
	if (s->question == NULL)
		return -1;
	for (i = 0; i < w->vips; i++)
		add(s, INSPECT_VIP, &w->vip[i], NULL);
	for (i = 0; i < 2; i++)
		if (w->own[i].family != 0)
			add(s, INSPECT_OWN, &w->own[i], NULL);
	for (i = 0; i < servers; i++)
		add(s, INSPECT_SERVER, &w->server[i].ip, &w->server[i]);
	return 0;
}

void
inspect_segment_fini(struct inspect_segment *s)
{
	free(s->question);
	s->question = NULL;
	s->questions = 0;
}

/* Without `from` it is a probe, which leaves no trace with others. */
size_t
inspect_make(unsigned char *out, size_t room, const struct inspect_segment *s,
    const struct inspect_question *q, const struct peer *from)
{
	static const struct peer nobody;
	struct frame_head head = {
		.to = mac_broadcast, .from = s->mac, .vlan = s->vlan
	};

	return who_has_make_request(
	    out, room, &head, from != NULL ? from : &nobody, &q->ip);
}

/* ---- answers ---- */

static void
note(struct inspect_segment *s, const struct peer *ip, const struct mac *mac)
{
	struct inspect_question *q;
	unsigned i, k;

	if (!mac_is_station(mac) || mac_equal(mac, &s->mac))
		return;
	for (i = 0; i < s->questions; i++) {
		q = &s->question[i];
		if (!who_has_same_ip(&q->ip, ip))
			continue;
		for (k = 0; k < q->macs && !mac_equal(&q->mac[k], mac); k++)
			;
		if (k == q->macs && k < INSPECT_MACS)
			q->mac[q->macs++] = *mac;
	}
}

static bool
is_vip(const struct inspect_segment *s, const struct peer *ip)
{
	unsigned i;

	for (i = 0; i < s->questions; i++)
		if (s->question[i].role == INSPECT_VIP &&
		    who_has_same_ip(&s->question[i].ip, ip))
			return true;
	return false;
}

void
inspect_hear(struct inspect_segment *s, const struct frame *f)
{
	struct who_has m;

	if (!who_has_read(f, &m))
		return;
	/* As a director: who asks for a VIP has the segment's tag. */
	if (m.request && is_vip(s, &m.target))
		s->vlan = f->vlan & FRAME_VLAN_ID;
	if ((f->vlan & FRAME_VLAN_ID) == s->vlan && m.sender.family != 0)
		note(s, &m.sender, &m.mac);
}

/* ---- judging ---- */

struct look {
	const struct inspect_segment *s;
	const struct inspect_request *w;
	struct inspect_sink sink;
	unsigned silent, servers; /* that did not answer, that were asked */
};

static const struct inspect_question *
server_with(const struct inspect_segment *s, const struct mac *mac)
{
	unsigned i, k;

	for (i = 0; i < s->questions; i++)
		for (k = 0; k < s->question[i].macs; k++)
			if (s->question[i].role == INSPECT_SERVER &&
			    mac_equal(&s->question[i].mac[k], mac))
				return &s->question[i];
	return NULL;
}

/* A server that answers for a VIP gets all of its frames, past the director. */
static void
judge_thief(const struct look *l, const struct inspect_question *q,
    const struct inspect_question *server, const char *ip, const char *mac)
{
	struct inspect_finding f;

	inspect_say(&f, INSPECT_ERROR,
	    "server %u (%s, %s) answers for VIP %s; to run there",
	    server->server->number, server->server->name, mac, ip);
	if (q->ip.family == AF_INET)
		inspect_fix(&l->sink, &f,
		    "sysctl -w net.ipv4.conf.all.arp_ignore=1 "
		    "net.ipv4.conf.all.arp_announce=2; "
		    "ip addr flush to %s; ip addr add %s/32 dev lo",
		    ip, ip);
	else
		inspect_fix(&l->sink, &f,
		    "ip -6 addr flush to %s; ip -6 addr add %s dev lo", ip, ip);
}

static void
judge_claim(const struct look *l, const struct inspect_question *q,
    const struct mac *who)
{
	const struct inspect_question *server = server_with(l->s, who);
	char ip[PEER_TEXT_MAX], mac[MAC_TEXT_MAX];
	struct inspect_finding f;

	peer_format_host(&q->ip, ip);
	mac_format(who, mac);
	if (q->role == INSPECT_VIP && server != NULL) {
		judge_thief(l, q, server, ip, mac);
		return;
	}
	if (q->role == INSPECT_OWN && server != NULL) {
		inspect_say(&f, INSPECT_ERROR,
		    "dsr_ip %s is taken: server %u (%s, %s) answers for it; "
		    "choose another",
		    ip, server->server->number, server->server->name, mac);
		inspect_tell(&l->sink, &f);
		return;
	}
	if (q->role == INSPECT_VIP)
		inspect_say(&f, l->w->shared ? INSPECT_WARNING : INSPECT_ERROR,
		    "VIP %s is taken: %s answers for it; to run there, unless "
		    "it is a director",
		    ip, mac);
	else
		inspect_say(&f, INSPECT_ERROR,
		    "dsr_ip %s is taken: %s answers for it; to run there, or "
		    "choose another",
		    ip, mac);
	inspect_fix(&l->sink, &f, "ip addr flush to %s", ip);
}

static void
judge_silence(struct look *l, const struct inspect_question *q)
{
	char ip[PEER_TEXT_MAX];
	struct inspect_finding f;

	if (q->macs > 0 || l->silent++ >= TOLD_APART)
		return;
	peer_format_host(&q->ip, ip);
	inspect_say(&f, INSPECT_WARNING,
	    "server %u (%s) does not answer %s for %s: it is down, or not on "
	    "this segment; to run there",
	    q->server->number, q->server->name,
	    q->ip.family == AF_INET ? "ARP" : "NDP", ip);
	inspect_fix(&l->sink, &f, "ip addr show to %s", ip);
}

static void
judge_duplicate(const struct look *l, const struct inspect_question *q)
{
	char ip[PEER_TEXT_MAX], mac[2][MAC_TEXT_MAX];
	struct inspect_finding f;

	if (q->macs < 2)
		return;
	peer_format_host(&q->ip, ip);
	inspect_say(&f, INSPECT_WARNING,
	    "server %u (%s) is %u machines: %s and %s answer for %s; to run on "
	    "the wrong one",
	    q->server->number, q->server->name, q->macs,
	    mac_format(&q->mac[0], mac[0]), mac_format(&q->mac[1], mac[1]), ip);
	inspect_fix(&l->sink, &f, "ip addr flush to %s", ip);
}

/* A machine with two addresses, or a router that answers for others. */
static void
judge_twin(const struct look *l, const struct inspect_question *q)
{
	const struct inspect_question *other;
	struct inspect_finding f;
	char mac[MAC_TEXT_MAX];

	if (q->macs == 0)
		return;
	other = server_with(l->s, &q->mac[0]);
	if (other == NULL || other >= q || who_has_same_ip(&other->ip, &q->ip))
		return;
	inspect_say(&f, INSPECT_WARNING,
	    "servers %u (%s) and %u (%s) have one hardware address, %s: one "
	    "machine, or a router in between; to run there",
	    other->server->number, other->server->name, q->server->number,
	    q->server->name, mac_format(&q->mac[0], mac));
	inspect_fix(&l->sink, &f, "sysctl -w net.%s=0",
	    q->ip.family == AF_INET ? "ipv4.conf.all.proxy_arp"
				    : "ipv6.conf.all.proxy_ndp");
}

static void
judge_server(struct look *l, const struct inspect_question *q)
{
	l->servers++;
	judge_silence(l, q);
	judge_duplicate(l, q);
	judge_twin(l, q);
}

static void
judge_link(const struct look *l)
{
	struct inspect_finding f;

	if (l->s->link == NULL) {
		inspect_say(&f, INSPECT_ERROR, "%.300s", l->s->error.text);
		inspect_tell(&l->sink, &f);
		return;
	}
	inspect_say(&f, INSPECT_NOTE, "frames are moved by %s%s%s%s%.200s",
	    l->s->link, l->s->better != NULL ? "; not by " : "",
	    l->s->better != NULL ? l->s->better : "",
	    l->s->better != NULL ? ": " : "",
	    l->s->better != NULL ? l->s->error.text : "");
	inspect_tell(&l->sink, &f);
}

static void
judge_end(const struct look *l)
{
	struct inspect_finding f;

	if (l->s->link == NULL)
		return;
	inspect_say(&f, INSPECT_ERROR,
	    "interface %s went down while the segment was asked",
	    l->w->interface);
	inspect_fix(&l->sink, &f, "ip link set %s up", l->w->interface);
}

/* How many in all, where not each has a line. */
static void
judge_all(const struct look *l)
{
	struct inspect_finding f;
	unsigned unasked = l->w->servers - l->servers;

	if (l->servers > 0 && l->silent == l->servers) {
		inspect_say(&f, INSPECT_ERROR, "no server answers%s",
		    l->s->vlan == 0 ? "; were the segment tagged, that would "
				      "show only when somebody asks for a VIP"
				    : "");
		inspect_fix(
		    &l->sink, &f, "ip -s link show dev %s", l->w->interface);
	} else if (l->silent > TOLD_APART) {
		inspect_say(&f, INSPECT_WARNING,
		    "%u servers of %u do not answer", l->silent, l->servers);
		inspect_tell(&l->sink, &f);
	}
	if (unasked == 0)
		return;
	inspect_say(
	    &f, INSPECT_NOTE, "%u more servers were not asked", unasked);
	inspect_tell(&l->sink, &f);
}

void
inspect_judge_segment(const struct inspect_segment *s,
    const struct inspect_request *w, inspect_report_fn *report, void *arg)
{
	struct look l = { s, w, { report, arg }, 0, 0 };
	unsigned i, k;

	judge_link(&l);
	inspect_judge_fast_link(s, w, &l.sink);
	if (!s->asked) {
		judge_end(&l);
		return;
	}
	for (i = 0; i < s->questions; i++) {
		const struct inspect_question *q = &s->question[i];

		if (q->role == INSPECT_SERVER)
			judge_server(&l, q);
		else
			for (k = 0; k < q->macs; k++)
				judge_claim(&l, q, &q->mac[k]);
	}
	judge_all(&l);
}
