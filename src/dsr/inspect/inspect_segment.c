/* inspect_segment.c: requests for addresses, the hosts that claim them, and
 * what is wrong with that. Pure. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/inspect/inspect_finding.h"

/* As many silent servers have a line each. */
enum { SILENT_REPORTED = 8 };

/* ---- questions ---- */

static void
segment_add_question(struct inspect_segment *s, enum inspect_role role,
    const struct peer *ip, const struct inspect_server *server)
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
		segment_add_question(s, INSPECT_VIP, &w->vip[i], NULL);
	for (i = 0; i < 2; i++)
		if (w->own[i].family != 0)
			segment_add_question(s, INSPECT_OWN, &w->own[i], NULL);
	for (i = 0; i < servers; i++)
		segment_add_question(
		    s, INSPECT_SERVER, &w->server[i].ip, &w->server[i]);
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
segment_note(
    struct inspect_segment *s, const struct peer *ip, const struct mac *mac)
{
	struct inspect_question *q;
	unsigned i, k;

	if (!mac_is_station(mac) || mac_equal(mac, &s->mac))
		return;
	for (i = 0; i < s->questions; i++) {
		q = &s->question[i];
		if (!who_has_same_ip(&q->ip, ip))
			continue;
		/* Any host can send claims: only some are remembered. */
		for (k = 0; k < q->macs && !mac_equal(&q->mac[k], mac); k++)
			;
		if (k == q->macs && k < INSPECT_MACS)
			q->mac[q->macs++] = *mac;
	}
}

static bool
segment_is_vip(const struct inspect_segment *s, const struct peer *ip)
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
	/* A request for a VIP has the segment's tag, as in a director. */
	if (m.request && segment_is_vip(s, &m.target))
		s->vlan = m.vlan & FRAME_VLAN_ID;
	if ((m.vlan & FRAME_VLAN_ID) == s->vlan && m.sender.family != 0)
		segment_note(s, &m.sender, &m.mac);
}

/* ---- judging ---- */

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
judge_claim(struct inspect_judge *j, const struct inspect_question *q,
    const struct mac *who)
{
	const struct inspect_question *server = server_with(j->segment, who);

	inspect_set_mac(j, "mac", who);
	if (server != NULL)
		inspect_set_server(j, server->server);
	if (q->role != INSPECT_VIP)
		inspect_say(j,
		    server != NULL ? FOUND_DSR_IP_AT_SERVER
				   : FOUND_DSR_IP_TAKEN);
	else if (server != NULL)
		inspect_say(j,
		    q->ip.family == AF_INET ? FOUND_VIP_AT_SERVER4
					    : FOUND_VIP_AT_SERVER6);
	else
		inspect_say(
		    j, j->wanted->shared ? FOUND_VIP_SHARED : FOUND_VIP_TAKEN);
}

/* It is elsewhere, if the kernel has a route there. The interface of the
 * segment has no address as a rule, so that all that is on it seems to be where
 * the default route leads. */
static enum inspect_row
silent_row(struct inspect_judge *j, const struct inspect_question *q)
{
	const struct inspect_route *r = &q->route;
	bool other = r->interface[0] != '\0' &&
	    strcmp(r->interface, j->wanted->interface) != 0;

	if (r->way != INSPECT_ROUTE || r->prefix == 0 ||
	    (!other && !r->router))
		return FOUND_SERVER_SILENT;
	finding_set(&j->out, "way", other ? "through %s" : "to a router on %s",
	    r->interface);
	return FOUND_SERVER_ELSEWHERE;
}

static void
segment_judge_server(struct inspect_judge *j, const struct inspect_question *q)
{
	const struct inspect_question *other =
	    q->macs > 0 ? server_with(j->segment, &q->mac[0]) : NULL;

	inspect_set_server(j, q->server);
	finding_set(
	    &j->out, "protocol", q->ip.family == AF_INET ? "ARP" : "NDP");
	inspect_set_mac(j, "mac", &q->mac[0]);
	inspect_set_mac(j, "mac2", &q->mac[1]);
	finding_set(&j->out, "count", "%u", q->macs);
	if (q->macs == 0 && j->silent++ < SILENT_REPORTED)
		inspect_say(j, silent_row(j, q));
	if (q->macs > 1)
		inspect_say(j, FOUND_SERVER_TWICE);
	/* A machine with two addresses, or a router that answers for others.
	 * Each pair is reported once. */
	if (other == NULL || other >= q || who_has_same_ip(&other->ip, &q->ip))
		return;
	finding_set(&j->out, "other", "%u (%s)", other->server->number,
	    other->server->name);
	inspect_say(j,
	    q->ip.family == AF_INET ? FOUND_SERVERS_ONE_MAC4
				    : FOUND_SERVERS_ONE_MAC6);
}

/* Of a fast path that is missing, only what could not be known from the host is
 * reported here. When XDP was not set and would not open, {error} has the
 * reason. */
static void
judge_link(struct inspect_judge *j)
{
	const struct inspect_segment *s = j->segment;
	const char *better = s->better != NULL ? s->better : "";

	finding_set(&j->out, "error", "%s", s->error.text);
	if (s->link == NULL) {
		inspect_say(j, FOUND_NO_LINK);
		return;
	}
	finding_set(&j->out, "link", "%s", s->link);
	finding_set(&j->out, "better", "%s", better);
	inspect_say(j, s->better != NULL ? FOUND_LINK_NOT_BEST : FOUND_LINK);
	if (!j->wanted->fast || s->fast)
		return;
	if (strcmp(s->link, "xdp") == 0)
		inspect_say(j, FOUND_FAST_PROGRAM);
	else if (strcmp(better, "xdp") == 0)
		inspect_say(j, FOUND_FAST_OTHER_LINK);
}

/* How many servers in all, where not each has a line. */
static void
judge_all(struct inspect_judge *j, unsigned asked)
{
	unsigned unasked = j->wanted->servers - asked;

	finding_set(&j->out, "silent", "%u", j->silent);
	finding_set(&j->out, "asked", "%u", asked);
	finding_set(&j->out, "unasked", "%u", unasked);
	if (asked > 0 && j->silent == asked)
		inspect_say(j,
		    j->segment->vlan == 0 ? FOUND_ALL_SILENT_UNTAGGED
					  : FOUND_ALL_SILENT);
	else if (j->silent > SILENT_REPORTED)
		inspect_say(j, FOUND_MANY_SILENT);
	if (unasked > 0)
		inspect_say(j, FOUND_NOT_ASKED);
}

void
inspect_judge_segment(const struct inspect_segment *s,
    const struct inspect_request *w, finding_report_fn *report, void *arg)
{
	struct inspect_judge j = { .segment = s,
		.wanted = w,
		.out = { .report = report, .arg = arg } };
	unsigned i, k, asked = 0;

	finding_set(&j.out, "interface", "%s", w->interface);
	judge_link(&j);
	for (i = 0; i < s->questions && s->asked; i++) {
		const struct inspect_question *q = &s->question[i];
		bool server = q->role == INSPECT_SERVER;

		inspect_set_ip(&j, "ip", &q->ip);
		if (server)
			segment_judge_server(&j, q);
		for (k = 0; k < q->macs && !server; k++)
			judge_claim(&j, q, &q->mac[k]);
		asked += server;
	}
	if (s->asked)
		judge_all(&j, asked);
	else if (s->link != NULL)
		inspect_say(&j, FOUND_LINK_LOST);
}
