/* counters.c: the rows, and where their numbers are. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "control/report/counters.h"
#include "control/life/context.h"
#include "proxy/check/checker.h"

static const char *
reason_item(unsigned i)
{
	return reason_name((enum reason)i);
}

static const char *
drop_item(unsigned i)
{
	return director_drop_name((enum director_drop)i);
}

static const char *
state_item(unsigned i)
{
	return dsr_state_name((enum dsr_state)i);
}

static const char *
answer_item(unsigned i)
{
	return dns_answer_name((enum dns_answer)i);
}

static const char *
class_item(unsigned i)
{
	static const char *const classes[HTTP_CLASSES] = { "1xx", "2xx", "3xx",
		"4xx", "5xx" };

	return classes[i];
}

/* No page of pen is interim, or a success. */
static const char *
own_class_item(unsigned i)
{
	return class_item(i + 2);
}

#define MEMBER(of, type, member)                          \
	.source = of, .offset = offsetof(type, member),   \
	.size = sizeof(((const type *)NULL)->member), .name
#define FRONTEND(m) MEMBER(COUNTER_FRONTEND, struct frontend_stats, m)
#define CHECKER(m) MEMBER(COUNTER_CHECKER, struct checker_stats, m)
#define PANIC(m) MEMBER(COUNTER_PANIC, struct pool_panic, m)
#define PEERS(m) MEMBER(COUNTER_PEERS, struct peers_stats, m)
#define DIRECTOR(m) MEMBER(COUNTER_DIRECTOR, struct director_status, m)
#define FRAMES(m) MEMBER(COUNTER_FRAMES, struct director_stats, m)
#define FAST(m) MEMBER(COUNTER_FAST, struct director_fast, m)
#define TARPIT(m) MEMBER(COUNTER_TARPIT, struct tarpit_stats, m)
#define LINK(m) MEMBER(COUNTER_LINK, struct link_counters, m)
#define NEIGHBORS(m) MEMBER(COUNTER_NEIGHBORS, struct neighbors_stats, m)
#define FLOWS(m) MEMBER(COUNTER_FLOWS, struct dsr_flows, m)
#define ARRAY(n, type, names) \
	.count = n, .stride = sizeof(type), .item = names

static const struct counter counters[] = {
	{ FRONTEND(sessions) = "sessions", METRIC_GAUGE, "pen_sessions", NULL,
	    "Sessions that are open." },
	{ FRONTEND(sessions_peak) = "sessions_peak", METRIC_GAUGE,
	    "pen_sessions_peak", NULL,
	    "Most sessions that were open at once." },
	{ FRONTEND(connecting) = "connecting", METRIC_GAUGE,
	    "pen_sessions_connecting", NULL,
	    "Sessions that wait for a server to answer.", .summed = true },
	{ FRONTEND(queued) = "queued", METRIC_GAUGE, "pen_sessions_queued",
	    NULL, "Sessions that wait because all servers are full.",
	    .summed = true },
	{ FRONTEND(accepted) = "accepted", METRIC_COUNTER,
	    "pen_connections_accepted", NULL, "Connections of clients." },
	{ FRONTEND(queued_total) = "queued_total", METRIC_COUNTER,
	    "pen_sessions_had_to_queue", NULL,
	    "Sessions that had to wait for a full server.", .summed = true },
	{ FRONTEND(retries) = "retries", METRIC_COUNTER, "pen_retries", NULL,
	    "Servers tried after another had failed.", .summed = true },
	{ FRONTEND(requests_retried) = "requests_retried", METRIC_COUNTER,
	    "pen_requests_retried", NULL,
	    "Requests retried on another server after one closed without "
	    "answering." },
	{ FRONTEND(up) = "bytes_up", METRIC_COUNTER, "pen_bytes",
	    "direction=\"up\"", "Bytes to servers (up) and to clients (down).",
	    .summed = true },
	{ FRONTEND(down) = "bytes_down", METRIC_COUNTER, "pen_bytes",
	    "direction=\"down\"", .summed = true },
	{ FRONTEND(flows.now) = "flows", METRIC_GAUGE, "pen_udp_flows", NULL,
	    "UDP flows that are open." },
	{ FRONTEND(flows.peak) = "flows_peak", METRIC_GAUGE,
	    "pen_udp_flows_peak", NULL,
	    "Most UDP flows that were open at once." },
	{ FRONTEND(flows.opened) = "flows_opened", METRIC_COUNTER,
	    "pen_udp_flows_opened", NULL, "UDP flows since startup.",
	    .summed = true },
	{ FRONTEND(flows.evicted) = "flows_evicted", METRIC_COUNTER,
	    "pen_udp_flows_evicted", NULL,
	    "UDP flows that ended early to make room for new ones." },
	{ FRONTEND(flows.ports) = "flow_ports", METRIC_GAUGE, "pen_udp_ports",
	    NULL, "Local ports in use by UDP flows.", .summed = true },
	{ FRONTEND(flows.ports_max) = "flow_ports_max", METRIC_GAUGE,
	    "pen_udp_ports_max", NULL,
	    "Local ports available to UDP flows; 0: unknown.", .summed = true },
	{ FRONTEND(datagrams.up) = "datagrams_up", METRIC_COUNTER,
	    "pen_datagrams", "direction=\"up\"",
	    "Datagrams to servers (up) and to clients (down)." },
	{ FRONTEND(datagrams.down) = "datagrams_down", METRIC_COUNTER,
	    "pen_datagrams", "direction=\"down\"" },
	{ FRONTEND(datagrams.no_server) = "dropped_no_server", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"no_server\"",
	    "Datagrams that were dropped." },
	{ FRONTEND(datagrams.unsent) = "dropped_send", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"send\"" },
	{ FRONTEND(datagrams.too_long) = "dropped_size", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"size\"" },
	{ FRONTEND(datagrams.no_memory) = "dropped_memory", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"memory\"" },
	{ FRONTEND(datagrams.flood) = "dropped_flood", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"flood\"" },
	{ FRONTEND(datagrams.unnamed) = "dropped_proxy", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"proxy\"" },
	{ FRONTEND(dns.waiting) = "dns_waiting", METRIC_GAUGE,
	    "pen_dns_queries_waiting", NULL,
	    "DNS queries that wait for an answer.", .summed = true },
	{ FRONTEND(dns.peak) = "dns_peak", METRIC_GAUGE, "pen_dns_queries_peak",
	    NULL, "Most DNS queries that waited at once." },
	{ FRONTEND(dns.queries) = "dns_queries", METRIC_COUNTER,
	    "pen_dns_queries", NULL, "DNS queries.", .summed = true },
	{ FRONTEND(dns.failed) = "dns_failed", METRIC_COUNTER,
	    "pen_dns_queries_failed", NULL,
	    "DNS queries answered with SERVFAIL because no server answered." },
	{ FRONTEND(dns.malformed) = "dns_malformed", METRIC_COUNTER,
	    "pen_dns_malformed", NULL, "Messages that are not valid DNS." },
	{ FRONTEND(dns.unasked) = "dns_unsolicited", METRIC_COUNTER,
	    "pen_dns_unsolicited", NULL,
	    "DNS responses that match no pending query, or arrived too late." },
	{ FRONTEND(dns.evicted) = "dns_evicted", METRIC_COUNTER,
	    "pen_dns_queries_evicted", NULL,
	    "DNS queries that got SERVFAIL early, as too many waited." },
	{ FRONTEND(dns.answers[0]) = "dns_answers_", METRIC_COUNTER,
	    "pen_dns_answers", "code",
	    "DNS responses to clients, those of pen itself included.",
	    ARRAY(DNS_ANSWER_KINDS, uint64_t, answer_item), .summed = true },
	{ FRONTEND(limits.beyond) = "limit_exceeded", METRIC_COUNTER,
	    "pen_limit_exceeded", NULL,
	    "Connections, flows and datagrams over client_conns or "
	    "client_rate." },
	{ FRONTEND(limits.refused) = "limit_refused", METRIC_COUNTER,
	    "pen_limit_connections", "result=\"refused\"",
	    "Connections over a limit of their client, by action." },
	{ FRONTEND(limits.delayed) = "limit_delayed", METRIC_COUNTER,
	    "pen_limit_connections", "result=\"delayed\"" },
	{ FRONTEND(limits.tarpitted) = "limit_tarpitted", METRIC_COUNTER,
	    "pen_limit_connections", "result=\"tarpitted\"" },
	{ FRONTEND(limits.abuse) = "limit_abuse", METRIC_COUNTER,
	    "pen_limit_connections", "result=\"abuse\"" },
	{ FRONTEND(limits.waiting) = "limit_waiting", METRIC_GAUGE,
	    "pen_limit_connections_waiting", NULL,
	    "Connections that are delayed or tarpitted." },
	{ FRONTEND(limits.untracked) = "limit_untracked", METRIC_COUNTER,
	    "pen_limit_untracked", NULL,
	    "Connections and datagrams not limited, because the table was "
	    "full." },
	{ FRONTEND(limits.pauses) = "conn_rate_pauses", METRIC_COUNTER,
	    "pen_conn_rate_pauses", NULL,
	    "Times that conn_rate paused the listeners." },
	{ FRONTEND(limits.dropped) = "dropped_limit", METRIC_COUNTER,
	    "pen_datagrams_dropped", "reason=\"limit\"" },
	{ FRONTEND(tls.handshakes) = "tls_handshakes", METRIC_COUNTER,
	    "pen_tls_handshakes", "side=\"client\",resumed=\"no\"",
	    "TLS handshakes that succeeded.",
	    .less = offsetof(struct frontend_stats, tls.resumed) },
	{ FRONTEND(tls.resumed) = "tls_resumed", METRIC_COUNTER,
	    "pen_tls_handshakes", "side=\"client\",resumed=\"yes\"" },
	{ FRONTEND(tls.up_handshakes) = "tls_up_handshakes", METRIC_COUNTER,
	    "pen_tls_handshakes", "side=\"server\",resumed=\"no\"",
	    .less = offsetof(struct frontend_stats, tls.up_resumed) },
	{ FRONTEND(tls.up_resumed) = "tls_up_resumed", METRIC_COUNTER,
	    "pen_tls_handshakes", "side=\"server\",resumed=\"yes\"" },
	{ FRONTEND(tls.failed) = "tls_failed", METRIC_COUNTER,
	    "pen_tls_handshakes_failed", "side=\"client\"",
	    "TLS handshakes that failed." },
	{ FRONTEND(tls.up_failed) = "tls_up_failed", METRIC_COUNTER,
	    "pen_tls_handshakes_failed", "side=\"server\"" },
	{ FRONTEND(http_classes[0]) = "http_", METRIC_COUNTER,
	    "pen_http_responses", "class",
	    "Responses of HTTP servers, by status class.",
	    ARRAY(HTTP_CLASSES, uint64_t, class_item) },
	{ FRONTEND(http_pages[2]) = "http_own_", METRIC_COUNTER,
	    "pen_http_own_responses", "class",
	    "Responses of pen itself: redirects and error pages.",
	    ARRAY(HTTP_CLASSES - 2, uint64_t, own_class_item) },
	{ FRONTEND(lines_lost.sessions) = "session_lines_lost", METRIC_COUNTER,
	    "pen_log_lines_lost", "log=\"sessions\"",
	    "Log lines dropped, for example because the disk is full.",
	    .of_process = true },
	{ FRONTEND(lines_lost.requests) = "request_lines_lost", METRIC_COUNTER,
	    "pen_log_lines_lost", "log=\"requests\"" },
	{ FRONTEND(lines_lost.own) = "log_lines_lost", METRIC_COUNTER,
	    "pen_log_lines_lost", "log=\"pen\"" },
	{ FRONTEND(reasons[0]) = "closed_", METRIC_COUNTER,
	    "pen_sessions_closed", "reason", "Sessions that ended, by reason.",
	    ARRAY(REASONS, uint64_t, reason_item) },
	{ CHECKER(begun) = "checks", METRIC_COUNTER, "pen_checks", NULL,
	    "Health checks that began." },
	{ CHECKER(skipped) = "checks_skipped", METRIC_COUNTER,
	    "pen_checks_skipped", NULL,
	    "Health checks skipped because clients had just reached the "
	    "server." },
	{ CHECKER(running) = "checks_running", METRIC_GAUGE,
	    "pen_checks_running", NULL, "Health checks under way." },
	{ PANIC(on) = "panic", METRIC_GAUGE, "pen_panic", NULL,
	    "1: too few servers are up, and all are tried.", .summed = true },
	{ PANIC(begun) = "panics", METRIC_COUNTER, "pen_panics", NULL,
	    "How often panic began." },
	{ PEERS(senders) = "peers_to", METRIC_GAUGE, "pen_peers",
	    "direction=\"to\"", "Connections with peers.", .of_process = true },
	{ PEERS(receivers) = "peers_from", METRIC_GAUGE, "pen_peers",
	    "direction=\"from\"" },
	{ PEERS(sent) = "peer_clients_sent", METRIC_COUNTER, "pen_peer_clients",
	    "direction=\"to\"", "Reports of clients to peers and from peers.",
	    .of_process = true },
	{ PEERS(received) = "peer_clients_received", METRIC_COUNTER,
	    "pen_peer_clients", "direction=\"from\"" },
	{ PEERS(flows_sent) = "peer_flows_sent", METRIC_COUNTER,
	    "pen_peer_flows", "direction=\"to\"",
	    "Reports of flows of direct server return to peers and from "
	    "peers.",
	    .of_process = true },
	{ PEERS(flows_received) = "peer_flows_received", METRIC_COUNTER,
	    "pen_peer_flows", "direction=\"from\"" },
	{ PEERS(used) = "peer_clients_new", METRIC_COUNTER,
	    "pen_peer_clients_new", NULL,
	    "Reports from peers that were new here.", .of_process = true },
	{ PEERS(lost) = "peer_changes_lost", METRIC_COUNTER,
	    "pen_peer_changes_lost", NULL,
	    "Changes not sent in time to a peer, which gets all clients "
	    "again.",
	    .of_process = true },
	{ PEERS(refused) = "peers_refused", METRIC_COUNTER, "pen_peers_refused",
	    NULL,
	    "Connections to peer_listen that failed: another key, or no "
	    "peer.",
	    .of_process = true },
	{ DIRECTOR(standby) = "standby", METRIC_GAUGE, "pen_dsr_standby", NULL,
	    "1: another director has the listening addresses." },
	{ DIRECTOR(role_s) = "role_s", METRIC_GAUGE, "pen_dsr_role_seconds",
	    NULL, "Seconds since this director is active, or a standby." },
	{ FRAMES(received) = "received", METRIC_COUNTER, "pen_dsr_received",
	    NULL, "Frames received by direct server return." },
	{ FRAMES(received_bytes) = "received_bytes", METRIC_COUNTER,
	    "pen_dsr_received_bytes", NULL, "Their bytes." },
	{ FRAMES(forwarded) = "forwarded", METRIC_COUNTER, "pen_dsr_forwarded",
	    NULL, "Frames that were forwarded to servers.", .summed = true },
	{ FRAMES(forwarded_bytes) = "forwarded_bytes", METRIC_COUNTER,
	    "pen_dsr_forwarded_bytes", NULL, "Their bytes.", .summed = true },
	{ FRAMES(tunnelled) = "tunnelled", METRIC_COUNTER, "pen_dsr_tunnelled",
	    NULL, "Packets of those forwarded that went into tunnels." },
	{ FRAMES(too_big.frames) = "too_big", METRIC_COUNTER, "pen_dsr_too_big",
	    NULL, "Packets that were too big for their tunnel." },
	{ FRAMES(too_big.bytes) = "too_big_bytes", METRIC_COUNTER,
	    "pen_dsr_too_big_bytes", NULL, "Their bytes." },
	{ FRAMES(probes) = "probes", METRIC_COUNTER, "pen_dsr_probes", NULL,
	    "Frames of health checks among those forwarded." },
	{ FRAMES(answered) = "answered", METRIC_COUNTER, "pen_dsr_answered",
	    NULL, "Frames of pen itself: ARP, NDP, tarpit." },
	{ FRAMES(pending) = "held", METRIC_COUNTER, "pen_dsr_pending", NULL,
	    "Frames that had to wait for the hardware address of their "
	    "server." },
	{ FRAMES(dropped[0].frames) = "dropped_", METRIC_COUNTER,
	    "pen_dsr_dropped", "reason", "Frames that were dropped.",
	    ARRAY(DIRECTOR_DROPS, struct frame_count, drop_item),
	    .summed = true },
	{ FRAMES(dropped[0].bytes) = "dropped_", METRIC_COUNTER,
	    "pen_dsr_dropped_bytes", "reason", "Their bytes.",
	    ARRAY(DIRECTOR_DROPS, struct frame_count, drop_item),
	    .tail = "_bytes" },
	{ FAST(flows) = "fast_flows", METRIC_GAUGE, "pen_dsr_fast_flows", NULL,
	    "Flows whose frames the kernel forwards by itself." },
	{ FAST(passed.frames) = "fast_frames", METRIC_COUNTER,
	    "pen_dsr_fast_forwarded", NULL,
	    "Frames of these, which are not among those received.",
	    .summed = true },
	{ FAST(passed.bytes) = "fast_bytes", METRIC_COUNTER,
	    "pen_dsr_fast_forwarded_bytes", NULL, "Their bytes.",
	    .summed = true },
	{ TARPIT(arp) = "tarpit_arp", METRIC_COUNTER, "pen_dsr_tarpit",
	    "kind=\"arp\"",
	    "Requests and connections to unused addresses that the tarpit "
	    "answered." },
	{ TARPIT(syn) = "tarpit_syn", METRIC_COUNTER, "pen_dsr_tarpit",
	    "kind=\"syn\"" },
	{ TARPIT(ack) = "tarpit_ack", METRIC_COUNTER, "pen_dsr_tarpit",
	    "kind=\"ack\"" },
	{ TARPIT(limited) = "tarpit_limited", METRIC_COUNTER,
	    "pen_dsr_tarpit_limited", NULL,
	    "Frames that the tarpit did not answer because of its rate "
	    "limit." },
	{ LINK(received) = "link_received", METRIC_COUNTER,
	    "pen_dsr_link_received", NULL, "Frames from the link." },
	{ LINK(sent) = "link_sent", METRIC_COUNTER, "pen_dsr_link_sent", NULL,
	    "Frames that the link has sent." },
	{ LINK(merged) = "link_merged", METRIC_COUNTER, "pen_dsr_link_merged",
	    NULL, "Received frames that the kernel had joined." },
	{ LINK(missed) = "link_missed", METRIC_COUNTER, "pen_dsr_link_dropped",
	    "reason=\"missed\"",
	    "Frames that the link lost: no room in the kernel, truncated, a "
	    "queue was full, or longer than the MTU." },
	{ LINK(cut) = "link_truncated", METRIC_COUNTER, "pen_dsr_link_dropped",
	    "reason=\"truncated\"" },
	{ LINK(refused) = "link_refused", METRIC_COUNTER,
	    "pen_dsr_link_dropped", "reason=\"refused\"" },
	{ LINK(too_long) = "link_too_long", METRIC_COUNTER,
	    "pen_dsr_link_dropped", "reason=\"too_long\"" },
	{ NEIGHBORS(requests) = "neighbor_requests", METRIC_COUNTER,
	    "pen_dsr_neighbor_requests", NULL,
	    "ARP and NDP requests that were sent." },
	{ NEIGHBORS(answers) = "neighbor_replies", METRIC_COUNTER,
	    "pen_dsr_neighbor_replies", NULL,
	    "ARP and NDP replies that were sent." },
	{ NEIGHBORS(failures) = "neighbor_failures", METRIC_COUNTER,
	    "pen_dsr_neighbor_failures", NULL,
	    "Servers whose hardware address stopped answering." },
	{ NEIGHBORS(moves) = "neighbor_moves", METRIC_COUNTER,
	    "pen_dsr_neighbor_moves", NULL,
	    "Changes of hardware addresses that were accepted." },
	{ NEIGHBORS(claims) = "neighbor_claims", METRIC_COUNTER,
	    "pen_dsr_neighbor_claims", NULL,
	    "Changes of hardware addresses that were not accepted at once." },
	{ NEIGHBORS(conflicts) = "neighbor_conflicts", METRIC_COUNTER,
	    "pen_dsr_neighbor_conflicts", NULL,
	    "Frames of other hosts that claim a VIP." },
	{ NEIGHBORS(bad) = "neighbor_bad", METRIC_COUNTER,
	    "pen_dsr_neighbor_bad", NULL,
	    "ARP and NDP frames from impossible addresses." },
	{ FLOWS(count) = "flows", METRIC_GAUGE, "pen_dsr_flows", NULL,
	    "Flows in the flow table of direct server return.",
	    .summed = true },
	{ FLOWS(max) = "flows_max", METRIC_GAUGE, "pen_dsr_flows_max", NULL,
	    "Size of the flow table (dsr_flows)." },
	{ FLOWS(stats.peak) = "flows_peak", METRIC_GAUGE, "pen_dsr_flows_peak",
	    NULL, "Most flows of direct server return at once." },
	{ FLOWS(stats.opened) = "flows_opened", METRIC_COUNTER,
	    "pen_dsr_flows_opened", NULL,
	    "Flows of direct server return since startup." },
	{ FLOWS(stats.expired) = "flows_expired", METRIC_COUNTER,
	    "pen_dsr_flows_ended", "reason=\"expired\"",
	    "Flows that ended: expired, or evicted to make room." },
	{ FLOWS(stats.evicted) = "flows_evicted", METRIC_COUNTER,
	    "pen_dsr_flows_ended", "reason=\"evicted\"" },
	{ FLOWS(stats.pushed_out) = "flows_evicted_active", METRIC_COUNTER,
	    "pen_dsr_flows_evicted_active", NULL,
	    "Evicted flows that were still active." },
	{ FLOWS(stats.no_memory) = "flows_no_memory", METRIC_COUNTER,
	    "pen_dsr_flows_no_memory", NULL,
	    "Flows without an entry for lack of memory." },
	{ FLOWS(lists[0].count) = "flows_", METRIC_GAUGE,
	    "pen_dsr_flows_in_state", "state",
	    "Flows of direct server return, by state.",
	    ARRAY(DSR_STATES, struct dsr_list, state_item) },
};

enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

const struct counter *
counter_at(unsigned number)
{
	return number < COUNTERS ? &counters[number] : NULL;
}

const struct counter *
counter_family(const struct counter *c)
{
	const struct counter *first = counters;

	while (strcmp(first->metric, c->metric) != 0)
		first++;
	return first;
}

/* ---- numbers ---- */

void
counters_view(struct counter_view *v, const struct service *svc)
{
	*v = (struct counter_view){ .of[COUNTER_FRONTEND] =
					frontend_stats(svc->frontend),
		.of[COUNTER_PANIC] = pool_panic(svc->pool) };
	if (svc->pen->peers != NULL && svc == svc->pen->service)
		v->of[COUNTER_PEERS] = &svc->pen->peer_stats;
	if (svc->checker != NULL)
		v->of[COUNTER_CHECKER] = checker_stats(svc->checker);
	if (svc->director == NULL)
		return;
	director_status(svc->director, &v->dsr);
	v->of[COUNTER_DIRECTOR] = &v->dsr;
	v->of[COUNTER_FRAMES] = v->dsr.frames;
	v->of[COUNTER_FAST] = &v->dsr.fast;
	v->of[COUNTER_TARPIT] = v->dsr.tarpit;
	v->of[COUNTER_LINK] = &v->dsr.counters;
	v->of[COUNTER_NEIGHBORS] = &v->dsr.neighbors->stats;
	v->of[COUNTER_FLOWS] = v->dsr.flows;
}

/* The value of a counter, for reports. */
static uint64_t
counter_value(const struct counter_view *v, const struct counter *c, unsigned i)
{
	return number_at(
	    v->of[c->source], c->offset + i * c->stride, c->size);
}

uint64_t
counter_metric(
    const struct counter_view *v, const struct counter *c, unsigned i)
{
	uint64_t value = counter_value(v, c, i);

	return c->less == 0
	    ? value
	    : value - number_at(v->of[c->source], c->less, c->size);
}

/* ---- reports ---- */

static void
add_counter_field(struct fields *f, const struct counter_view *v,
    const struct counter *c, unsigned i, const char *prefix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s%s", prefix, c->name,
	    c->item != NULL ? c->item(i) : "", c->tail != NULL ? c->tail : "");
	fields_number(f, name, counter_value(v, c, i));
}

/* Arrays of the same items are reported item by item. */
static bool
goes_with(const struct counter *c, const struct counter *first)
{
	return c == first || (c < counters + COUNTERS && first->count > 0 &&
		   c->item == first->item);
}

/* The prefix of a counter's name: counters of direct return have one where
 * others are listed, too. */
static const char *
prefix_of(const struct counter *c, bool dsr_alone)
{
	return c->source >= COUNTER_DIRECTOR && !dsr_alone ? "dsr_" : "";
}

void
counters_report_summed(struct fields *f, const struct service *svc)
{
	struct counter_view v;
	const struct counter *c;
	unsigned i;

	counters_view(&v, svc);
	for (c = counters; c < counters + COUNTERS; c++)
		for (i = 0; c->summed && v.of[c->source] != NULL &&
		     (i == 0 || i < c->count);
		     i++)
			add_counter_field(f, &v, c, i, prefix_of(c, false));
}

void
counters_report(struct fields *f, const struct service *svc, bool dsr_alone)
{
	const struct counter *first, *c = counters;
	struct counter_view v;
	unsigned i;

	counters_view(&v, svc);
	for (first = c; first < counters + COUNTERS; first = c) {
		bool dsr = first->source >= COUNTER_DIRECTOR;
		const char *prefix = prefix_of(first, dsr_alone);

		i = 0;
		do {
			for (c = first; goes_with(c, first); c++)
				if (v.of[c->source] != NULL &&
				    (dsr || !dsr_alone))
					add_counter_field(
					    f, &v, c, i, prefix);
		} while (++i < first->count);
	}
}
