/* metrics.c: the families of metrics, a row each. */
#include "config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/metrics.h"
#include "control/pen.h"
#include "control/reply.h"
#include "control/report.h"
#include "pool/balance.h"
#include "pool/pool.h"

const char metrics_type_text[] = "text/plain; version=0.0.4; charset=utf-8",
	   metrics_type_open[] =
	       "application/openmetrics-text; version=1.0.0; charset=utf-8",
	   metrics_media_open[] = "application/openmetrics-text";

enum type { COUNTER, GAUGE, HISTOGRAM, SUMMARY };

struct family {
	const char *name; /* without "pen_" and "_total" */
	enum type type;
	const char *help;
	size_t offset; /* in struct frontend_stats, without the next two */
	/* Of all at once. */
	void (*all)(
	    const struct family *f, const struct pen *p, struct buffer *out);
	/* Of a server. */
	void (*each)(const struct family *f, const struct pen *p,
	    const struct server *s, struct buffer *out);
};

/* ---- lines ---- */

static const char *
suffix(const struct family *f)
{
	return f->type == COUNTER ? "_total" : "";
}

static void
add_number(const struct family *f, const char *labels, uint64_t value,
    struct buffer *out)
{
	reply_add(out, "pen_%s%s%s %llu\n", f->name, suffix(f), labels,
	    (unsigned long long)value);
}

/* Backslash, quote and newline are escaped, as the format has it; what is not
 * UTF-8, with which a scrape would fail, is taken for Latin-1. Returns the
 * bytes written, without the NUL. */
static size_t
escape(char *to, size_t room, const char *text)
{
	bool utf8 = text_is_utf8(text, strlen(text));
	size_t n = 0;

	for (; *text != '\0' && n + 3 < room; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\\' || c == '"' || c == '\n') {
			to[n++] = '\\';
		} else if (!utf8 && c >= 0x80) {
			to[n++] = (char)(0xc0 | c >> 6);
			c = 0x80 | (c & 0x3f);
		}
		to[n++] = c == '\n' ? 'n' : (char)c;
	}
	to[n] = '\0';
	return n;
}

static void
add_of_server(const struct family *f, const struct server *s, const char *more,
    const char *value, struct buffer *out)
{
	char name[256] = "", at[ADDR_TEXT_MAX] = "", address[256] = "";

	if (s->name != NULL)
		escape(name, sizeof(name), s->name);
	if (s->addrs.count > 0)
		addr_format(&s->addrs.addr[s->addr_first], at);
	escape(address, sizeof(address), at);
	reply_add(out, "pen_%s%s{server=\"", f->name, suffix(f));
	if (s->role == SERVER_REGULAR)
		reply_add(out, "%u", s->number);
	else
		reply_add(out, "%s",
		    s->role == SERVER_EMERGENCY ? "emergency" : "abuse");
	reply_add(out, "\",name=\"%.200s\",address=\"%.200s\"%s} %s\n", name,
	    address, more, value);
}

static void
add_server_number(const struct family *f, const struct server *s,
    uint64_t value, struct buffer *out)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_of_server(f, s, "", text, out);
}

/* Of microseconds. */
static void
format_seconds(char text[32], uint64_t us)
{
	snprintf(text, 32, "%llu.%06u", (unsigned long long)(us / 1000000),
	    (unsigned)(us % 1000000));
}

/* ---- of all ---- */

static void
all_stat(const struct family *f, const struct pen *p, struct buffer *out)
{
	uint64_t value;

	memcpy(&value, (const char *)frontend_stats(p->frontend) + f->offset,
	    sizeof(value));
	add_number(f, "", value, out);
}

static void
all_info(const struct family *f, const struct pen *p, struct buffer *out)
{
	reply_add(out, "pen_%s{version=\"%s\",balance=\"%s\"} 1\n", f->name,
	    PACKAGE_VERSION, p->plan->config.pool.balance->name);
}

static void
all_start(const struct family *f, const struct pen *p, struct buffer *out)
{
	add_number(f, "", (uint64_t)p->started_wall, out);
}

static void
all_draining(const struct family *f, const struct pen *p, struct buffer *out)
{
	add_number(f, "", p->phase == PHASE_DRAINING, out);
}

static void
all_closed(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct frontend_stats *st = frontend_stats(p->frontend);
	char labels[64];
	int i;

	for (i = 0; i < REASONS; i++) {
		snprintf(labels, sizeof(labels), "{reason=\"%s\"}",
		    reason_name((enum reason)i));
		add_number(f, labels, st->reasons[i], out);
	}
}

static void
all_bytes(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct frontend_stats *st = frontend_stats(p->frontend);

	add_number(f, "{direction=\"up\"}", st->up, out);
	add_number(f, "{direction=\"down\"}", st->down, out);
}

static void
all_datagrams(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct datagram_stats *d =
	    &frontend_stats(p->frontend)->datagrams;

	add_number(f, "{direction=\"up\"}", d->up, out);
	add_number(f, "{direction=\"down\"}", d->down, out);
}

static void
all_dropped(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct datagram_stats *d =
	    &frontend_stats(p->frontend)->datagrams;

	add_number(f, "{reason=\"no_server\"}", d->no_server, out);
	add_number(f, "{reason=\"send\"}", d->unsent, out);
	add_number(f, "{reason=\"size\"}", d->too_long, out);
	add_number(f, "{reason=\"memory\"}", d->no_memory, out);
	add_number(f, "{reason=\"flood\"}", d->flood, out);
}

static void
all_tls(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct tls_stats *t = &frontend_stats(p->frontend)->tls;

	add_number(f, "{side=\"client\",resumed=\"no\"}",
	    t->handshakes - t->resumed, out);
	add_number(f, "{side=\"client\",resumed=\"yes\"}", t->resumed, out);
	add_number(f, "{side=\"server\",resumed=\"no\"}",
	    t->up_handshakes - t->up_resumed, out);
	add_number(f, "{side=\"server\",resumed=\"yes\"}", t->up_resumed, out);
}

static void
all_lost(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct line_stats *l = &frontend_stats(p->frontend)->lines_lost;

	add_number(f, "{log=\"sessions\"}", l->sessions, out);
	add_number(f, "{log=\"requests\"}", l->requests, out);
}

/* `offset` is that of a struct duration in struct frontend_durations. */
static void
all_durations(const struct family *f, const struct pen *p, struct buffer *out)
{
	const struct duration *d =
	    (const void *)(const char *)((const char *)frontend_durations(
					     p->frontend) +
		f->offset);
	char text[32];
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < DURATION_BUCKETS; i++) {
		sum += d->bucket[i];
		format_seconds(text, duration_bound_us(i));
		if (i == DURATION_BUCKETS - 1)
			snprintf(text, sizeof(text), "+Inf");
		reply_add(out, "pen_%s_bucket{le=\"%s\"} %llu\n", f->name, text,
		    (unsigned long long)sum);
	}
	format_seconds(text, d->sum_us);
	reply_add(out, "pen_%s_sum %s\npen_%s_count %llu\n", f->name, text,
	    f->name, (unsigned long long)sum);
}

/* ---- of a server ---- */

static void
each_up(const struct family *f, const struct pen *p, const struct server *s,
    struct buffer *out)
{
	(void)p;
	add_server_number(f, s, server_is_healthy(s), out);
}

static void
each_state(const struct family *f, const struct pen *p, const struct server *s,
    struct buffer *out)
{
	char label[64];

	(void)p;
	snprintf(label, sizeof(label), ",state=\"%s\"", report_server_state(s));
	add_of_server(f, s, label, "1", out);
}

static void
each_changes(const struct family *f, const struct pen *p,
    const struct server *s, struct buffer *out)
{
	(void)p;
	add_server_number(f, s, s->history.changes, out);
}

static void
each_since(const struct family *f, const struct pen *p, const struct server *s,
    struct buffer *out)
{
	(void)p;
	add_server_number(f, s, (uint64_t)s->history.since_wall, out);
}

static void
each_weight(const struct family *f, const struct pen *p, const struct server *s,
    struct buffer *out)
{
	(void)p;
	add_server_number(f, s, s->set.weight, out);
}

/* `offset` is that of a number in struct server. */
static void
each_counter(const struct family *f, const struct pen *p,
    const struct server *s, struct buffer *out)
{
	uint64_t value;

	(void)p;
	memcpy(&value, (const char *)s + f->offset, sizeof(value));
	add_server_number(f, s, value, out);
}

static void
each_connect_time(const struct family *f, const struct pen *p,
    const struct server *s, struct buffer *out)
{
	static const struct {
		unsigned percent;
		const char *label;
	} quantiles[] = { { 50, ",quantile=\"0.5\"" },
		{ 90, ",quantile=\"0.9\"" }, { 99, ",quantile=\"0.99\"" } };
	char text[32];
	size_t i;

	(void)p;
	if (s->connect_times.total == 0)
		return;
	for (i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		format_seconds(text,
		    histogram_percentile(
			&s->connect_times, quantiles[i].percent));
		add_of_server(f, s, quantiles[i].label, text, out);
	}
}

/* ---- the families ---- */

#define STAT(member) \
	.all = all_stat, .offset = offsetof(struct frontend_stats, member)
#define DURATION(member)      \
	.all = all_durations, \
	.offset = offsetof(struct frontend_durations, member)
#define SERVER(member) \
	.each = each_counter, .offset = offsetof(struct server, member)

static const struct family families[] = {
	{ "info", GAUGE, "Version and algorithm of this pen.",
	    .all = all_info },
	{ "start_time_seconds", GAUGE, "When it was started, Unix time.",
	    .all = all_start },
	{ "draining", GAUGE, "1 while it stops and takes no new clients.",
	    .all = all_draining },
	{ "sessions", GAUGE, "Sessions that are open.", STAT(sessions) },
	{ "sessions_connecting", GAUGE,
	    "Sessions that wait for a server to answer.", STAT(connecting) },
	{ "sessions_queued", GAUGE,
	    "Sessions that wait because all servers are full.", STAT(queued) },
	{ "connections_accepted", COUNTER, "Connections of clients.",
	    STAT(accepted) },
	{ "sessions_had_to_queue", COUNTER,
	    "Sessions that had to wait for a full server.",
	    STAT(queued_total) },
	{ "retries", COUNTER, "Servers tried after another had failed.",
	    STAT(retries) },
	{ "sessions_closed", COUNTER, "Sessions that ended, by reason.",
	    .all = all_closed },
	{ "bytes", COUNTER, "Bytes to servers (up) and to clients (down).",
	    .all = all_bytes },
	{ "connect_duration_seconds", HISTOGRAM,
	    "How long connects to servers took.", DURATION(connect) },
	{ "first_byte_duration_seconds", HISTOGRAM,
	    "From the beginning of a session to its first answer byte.",
	    DURATION(first_byte) },
	{ "session_duration_seconds", HISTOGRAM, "How long sessions took.",
	    DURATION(session) },
	{ "udp_flows", GAUGE, "UDP flows that are open.", STAT(flows.now) },
	{ "udp_flows_opened", COUNTER, "UDP flows since the start.",
	    STAT(flows.opened) },
	{ "udp_flows_evicted", COUNTER,
	    "UDP flows that ended early to make room for others.",
	    STAT(flows.evicted) },
	{ "datagrams", COUNTER,
	    "Datagrams to servers (up) and to clients (down).",
	    .all = all_datagrams },
	{ "datagrams_dropped", COUNTER, "Datagrams that were dropped.",
	    .all = all_dropped },
	{ "dns_queries_waiting", GAUGE, "DNS queries that wait for an answer.",
	    STAT(dns.waiting) },
	{ "dns_queries", COUNTER, "DNS queries.", STAT(dns.queries) },
	{ "dns_queries_failed", COUNTER,
	    "DNS queries that were answered SERVFAIL, as no server did.",
	    STAT(dns.failed) },
	{ "tls_handshakes", COUNTER, "TLS handshakes that succeeded.",
	    .all = all_tls },
	{ "log_lines_lost", COUNTER,
	    "Lines of logs that nobody took, as on a full disk.",
	    .all = all_lost },
	{ "server_up", GAUGE, "1: the server may get new clients.",
	    .each = each_up },
	{ "server_state", GAUGE, "The state of the server, as a label.",
	    .each = each_state },
	{ "server_state_changes", COUNTER, "Changes of its state.",
	    .each = each_changes },
	{ "server_state_since_seconds", GAUGE,
	    "When its state changed last, Unix time.", .each = each_since },
	{ "server_weight", GAUGE, "Its weight.", .each = each_weight },
	{ "server_connections", GAUGE, "Connections that are open.",
	    SERVER(connections) },
	{ "server_connects", COUNTER, "Clients that it was given.",
	    SERVER(connects) },
	{ "server_failures", COUNTER, "Connects to it that failed.",
	    SERVER(failures) },
	{ "server_sent_bytes", COUNTER, "Bytes sent to it.", SERVER(sent) },
	{ "server_received_bytes", COUNTER, "Bytes received from it.",
	    SERVER(received) },
	{ "server_connect_seconds", SUMMARY,
	    "How long connects to it took lately.", .each = each_connect_time },
};

/* ---- a scrape ---- */

/* OpenMetrics names the family, the older format its lines. */
static void
add_head(
    const struct metrics_walk *w, const struct family *f, struct buffer *out)
{
	static const char *const types[] = { "counter", "gauge", "histogram",
		"summary" };
	const char *total = w->open ? "" : suffix(f);

	reply_add(out, "# HELP pen_%s%s %s\n# TYPE pen_%s%s %s\n", f->name,
	    total, f->help, f->name, total, types[f->type]);
}

/* Returns false when the family has all its lines. */
static bool
add_servers(struct metrics_walk *w, const struct family *f, struct buffer *out)
{
	unsigned slots = pool_slots(w->pen->pool);
	const struct server *s;

	do {
		s = pool_slot(w->pen->pool, w->slot++);
		if (s != NULL && s->addrs.count > 0)
			f->each(f, w->pen, s, out);
	} while (w->slot < slots && buffer_length(out) < REPLY_PIECE);
	return w->slot < slots;
}

bool
metrics_more(struct metrics_walk *w, struct buffer *out)
{
	size_t count = sizeof(families) / sizeof(families[0]);

	while (w->family < count && buffer_length(out) < REPLY_PIECE) {
		const struct family *f = &families[w->family];

		if (w->slot == 0)
			add_head(w, f, out);
		if (f->each != NULL && add_servers(w, f, out))
			continue;
		if (f->each == NULL)
			f->all(f, w->pen, out);
		w->family++;
		w->slot = 0;
	}
	if (w->family < count)
		return true;
	if (w->open)
		reply_add(out, "# EOF\n");
	return false;
}
