/* dsr_report.c: what direct return is doing; counters are rows. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/command.h"
#include "control/dsr_report.h"
#include "control/pen.h"

/* ---- counters ---- */

struct row {
	const char *name;
	size_t offset; /* of an uint64_t in its struct */
};

static const struct row frames[] = {
	{ "received", offsetof(struct director_stats, received) },
	{ "received_bytes", offsetof(struct director_stats, received_bytes) },
	{ "forwarded", offsetof(struct director_stats, forwarded) },
	{ "forwarded_bytes", offsetof(struct director_stats, forwarded_bytes) },
	{ "tunnelled", offsetof(struct director_stats, tunnelled) },
	{ "too_big", offsetof(struct director_stats, too_big.frames) },
	{ "too_big_bytes", offsetof(struct director_stats, too_big.bytes) },
	{ "probes", offsetof(struct director_stats, probes) },
	{ "answered", offsetof(struct director_stats, answered) },
	{ "held", offsetof(struct director_stats, pending) },
	{ NULL, 0 },
};

static const struct row tarpit[] = {
	{ "tarpit_arp", offsetof(struct tarpit_stats, arp) },
	{ "tarpit_syn", offsetof(struct tarpit_stats, syn) },
	{ "tarpit_ack", offsetof(struct tarpit_stats, ack) },
	{ "tarpit_limited", offsetof(struct tarpit_stats, limited) },
	{ NULL, 0 },
};

static const struct row links[] = {
	{ "link_received", offsetof(struct link_counters, received) },
	{ "link_sent", offsetof(struct link_counters, sent) },
	{ "link_merged", offsetof(struct link_counters, merged) },
	{ "link_missed", offsetof(struct link_counters, missed) },
	{ "link_cut", offsetof(struct link_counters, cut) },
	{ "link_refused", offsetof(struct link_counters, refused) },
	{ "link_too_long", offsetof(struct link_counters, too_long) },
	{ NULL, 0 },
};

static const struct row neighbors[] = {
	{ "neighbor_questions", offsetof(struct neighbors_stats, requests) },
	{ "neighbor_answers", offsetof(struct neighbors_stats, answers) },
	{ "neighbor_failures", offsetof(struct neighbors_stats, failures) },
	{ "neighbor_moves", offsetof(struct neighbors_stats, moves) },
	{ "neighbor_claims", offsetof(struct neighbors_stats, claims) },
	{ "neighbor_conflicts", offsetof(struct neighbors_stats, conflicts) },
	{ "neighbor_bad", offsetof(struct neighbors_stats, bad) },
	{ NULL, 0 },
};

static const struct row flows[] = {
	{ "flows_opened", offsetof(struct dsr_flows_stats, opened) },
	{ "flows_expired", offsetof(struct dsr_flows_stats, expired) },
	{ "flows_evicted", offsetof(struct dsr_flows_stats, evicted) },
	{ "flows_pushed_out", offsetof(struct dsr_flows_stats, pushed_out) },
	{ "flows_no_memory", offsetof(struct dsr_flows_stats, no_memory) },
	{ NULL, 0 },
};

static void
tell(struct facts *f, const char *prefix, const char *name, uint64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	facts_number(f, key, value);
}

static void
tell_rows(struct facts *f, const char *prefix, const struct row *row,
    const void *stats)
{
	uint64_t value;

	for (; row->name != NULL; row++) {
		memcpy(
		    &value, (const char *)stats + row->offset, sizeof(value));
		tell(f, prefix, row->name, value);
	}
}

static void
tell_flows(struct facts *f, const char *prefix, const struct dsr_flows *w)
{
	char name[64];
	int i;

	tell(f, prefix, "flows", w->count);
	tell(f, prefix, "flows_max", w->max);
	tell(f, prefix, "flows_peak", w->stats.peak);
	tell_rows(f, prefix, flows, &w->stats);
	for (i = 0; i < DSR_STATES; i++) {
		snprintf(name, sizeof(name), "flows_%s",
		    dsr_state_name((enum dsr_state)i));
		tell(f, prefix, name, w->lists[i].count);
	}
}

static void
tell_drops(
    struct facts *f, const char *prefix, const struct director_stats *stats)
{
	char name[64];
	int i;

	for (i = 0; i < DIRECTOR_DROPS; i++) {
		const struct frame_count *t = &stats->dropped[i];
		const char *why = director_drop_name((enum director_drop)i);

		snprintf(name, sizeof(name), "dropped_%s", why);
		tell(f, prefix, name, t->frames);
		snprintf(name, sizeof(name), "dropped_%s_bytes", why);
		tell(f, prefix, name, t->bytes);
	}
}

/* Frames that never came up, so none of those above. */
static void
tell_fast(struct facts *f, const char *prefix, const struct director_fast *fast)
{
	tell(f, prefix, "fast_flows", fast->flows);
	tell(f, prefix, "fast_frames", fast->passed.frames);
	tell(f, prefix, "fast_bytes", fast->passed.bytes);
}

void
dsr_report_counters(
    struct facts *f, const struct director *d, const char *prefix)
{
	struct director_status s;

	director_status(d, &s);
	tell_rows(f, prefix, frames, s.frames);
	tell_drops(f, prefix, s.frames);
	tell_fast(f, prefix, &s.fast);
	tell_rows(f, prefix, tarpit, s.tarpit);
	tell_rows(f, prefix, links, &s.counters);
	tell_rows(f, prefix, neighbors, &s.neighbors->stats);
	tell_flows(f, prefix, s.flows);
}

/* ---- dsr ---- */

/* "unknown" is a word of the text; JSON has null. */
static void
tell_mac(struct facts *f, const struct mac *mac)
{
	char text[MAC_TEXT_MAX];

	if (mac != NULL)
		facts_text(f, "mac", mac_format(mac, text));
	else if (f->reply->json)
		facts_text(f, "mac", NULL);
	else
		facts_text(f, "mac", "unknown");
}

static void
tell_servers(struct facts *whole, const struct pen *p)
{
	struct director_path w;
	struct facts f;
	unsigned i;

	facts_items(whole, "servers");
	for (i = 0; i < pool_count(p->pool); i++) {
		const struct server *s = pool_server(p->pool, i);

		if (!s->present)
			continue;
		facts_item_begin(&f, whole);
		facts_number(&f, "server", i);
		director_path(p->director, s, &w);
		if (w.route)
			facts_text(&f, "mac", "route");
		else
			tell_mac(&f, w.has_mac ? &w.mac : NULL);
		facts_text(&f, "forward", w.tunnel ? "tunnel" : "mac");
		if (w.path_mtu != 0)
			facts_number(&f, "path_mtu", w.path_mtu);
		facts_end(&f);
	}
}

struct listing {
	struct facts *whole;
	uint64_t now;
};

/* The last address that was answered for is told when it failed, too. */
static void
tell_neighbor(void *arg, const struct neighbor *w)
{
	const struct listing *l = arg;
	char ip[PEER_TEXT_MAX];
	struct facts f;

	facts_item_begin(&f, l->whole);
	facts_text(&f, "address", peer_format_host(&w->entry.ip, ip));
	tell_mac(&f, w->answered != 0 ? &w->mac : NULL);
	facts_text(&f, "state", neighbor_state_name(w->state));
	if (w->answered != 0)
		facts_number(&f, "age", (l->now - w->answered) / 1000);
	else
		facts_text(&f, "age", NULL);
	facts_end(&f);
}

int
run_dsr(struct call *c, struct error *e)
{
	const struct pen *p = c->pen;
	const struct director *d = p->director;
	struct director_status s;
	char text[MAC_TEXT_MAX];
	struct facts f;
	struct listing l = { .whole = &f };

	if (d == NULL)
		return error_set(e, "dsr_if is not set");
	director_status(d, &s);
	l.now = loop_now(p->loop);
	facts_begin(&f, c->reply, FACTS_LINES);
	facts_text(&f, "interface", c->plan->config.dsr.interface);
	facts_text(&f, "link", s.link);
	if (s.mode != NULL)
		facts_text(&f, "mode", s.mode);
	facts_text(&f, "mac", mac_format(&s.mac, text));
	facts_flag(&f, "fast_path", s.fast.on && !s.fast.fails);
	dsr_report_counters(&f, d, "");
	tell_servers(&f, p);
	facts_items(&f, "neighbors");
	neighbors_each(s.neighbors, tell_neighbor, &l);
	facts_end(&f);
	return 0;
}
