/* report.c: counters, which are rows, and all at once for the log. */
#include "config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "control/dsr_report.h"
#include "control/pen.h"
#include "control/report.h"
#include "proxy/checker.h"

static const struct counter {
	const char *name;
	size_t offset; /* in struct frontend_stats */
} counters[] = {
	{ "sessions", offsetof(struct frontend_stats, sessions) },
	{ "sessions_peak", offsetof(struct frontend_stats, sessions_peak) },
	{ "connecting", offsetof(struct frontend_stats, connecting) },
	{ "queued", offsetof(struct frontend_stats, queued) },
	{ "accepted", offsetof(struct frontend_stats, accepted) },
	{ "queued_total", offsetof(struct frontend_stats, queued_total) },
	{ "retries", offsetof(struct frontend_stats, retries) },
	{ "requests_retried",
	    offsetof(struct frontend_stats, requests_retried) },
	{ "bytes_up", offsetof(struct frontend_stats, up) },
	{ "bytes_down", offsetof(struct frontend_stats, down) },
	{ "flows", offsetof(struct frontend_stats, flows.now) },
	{ "flows_peak", offsetof(struct frontend_stats, flows.peak) },
	{ "flows_opened", offsetof(struct frontend_stats, flows.opened) },
	{ "flows_evicted", offsetof(struct frontend_stats, flows.evicted) },
	{ "flow_ports", offsetof(struct frontend_stats, flows.ports) },
	{ "flow_ports_max", offsetof(struct frontend_stats, flows.ports_max) },
	{ "datagrams_up", offsetof(struct frontend_stats, datagrams.up) },
	{ "datagrams_down", offsetof(struct frontend_stats, datagrams.down) },
	{ "dropped_no_server",
	    offsetof(struct frontend_stats, datagrams.no_server) },
	{ "dropped_send", offsetof(struct frontend_stats, datagrams.unsent) },
	{ "dropped_size", offsetof(struct frontend_stats, datagrams.too_long) },
	{ "dropped_memory",
	    offsetof(struct frontend_stats, datagrams.no_memory) },
	{ "dropped_flood", offsetof(struct frontend_stats, datagrams.flood) },
	{ "dropped_proxy",
	    offsetof(struct frontend_stats, datagrams.unnamed) },
	{ "dns_waiting", offsetof(struct frontend_stats, dns.waiting) },
	{ "dns_peak", offsetof(struct frontend_stats, dns.peak) },
	{ "dns_queries", offsetof(struct frontend_stats, dns.queries) },
	{ "dns_failed", offsetof(struct frontend_stats, dns.failed) },
	{ "dns_malformed", offsetof(struct frontend_stats, dns.malformed) },
	{ "dns_unasked", offsetof(struct frontend_stats, dns.unasked) },
	{ "limit_beyond", offsetof(struct frontend_stats, limits.beyond) },
	{ "limit_refused", offsetof(struct frontend_stats, limits.refused) },
	{ "limit_delayed", offsetof(struct frontend_stats, limits.delayed) },
	{ "limit_tarpitted",
	    offsetof(struct frontend_stats, limits.tarpitted) },
	{ "limit_abuse", offsetof(struct frontend_stats, limits.abuse) },
	{ "limit_waiting", offsetof(struct frontend_stats, limits.waiting) },
	{ "limit_untracked",
	    offsetof(struct frontend_stats, limits.untracked) },
	{ "conn_rate_pauses", offsetof(struct frontend_stats, limits.pauses) },
	{ "dropped_limit", offsetof(struct frontend_stats, limits.dropped) },
	{ "tls_handshakes", offsetof(struct frontend_stats, tls.handshakes) },
	{ "tls_resumed", offsetof(struct frontend_stats, tls.resumed) },
	{ "tls_up_handshakes",
	    offsetof(struct frontend_stats, tls.up_handshakes) },
	{ "tls_up_resumed", offsetof(struct frontend_stats, tls.up_resumed) },
	{ "session_lines_lost",
	    offsetof(struct frontend_stats, lines_lost.sessions) },
	{ "request_lines_lost",
	    offsetof(struct frontend_stats, lines_lost.requests) },
};

const char *
report_counter(unsigned i, size_t *offset)
{
	if (i >= sizeof(counters) / sizeof(counters[0]))
		return NULL;
	*offset = counters[i].offset;
	return counters[i].name;
}

/* ---- counters ---- */

static void
tell_checks(struct facts *f, const struct checker_stats *s)
{
	facts_number(f, "checks", s->begun);
	facts_number(f, "checks_skipped", s->skipped);
	facts_number(f, "checks_running", s->running);
}

void
report_counters(const struct pen *p, struct reply *r, enum facts_style style)
{
	const struct frontend_stats *st = frontend_stats(p->frontend);
	char name[64];
	struct facts f;
	uint64_t value;
	size_t i;

	facts_begin(&f, r, style);
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		memcpy(&value, (const char *)st + counters[i].offset,
		    sizeof(value));
		facts_number(&f, counters[i].name, value);
	}
	for (i = 0; i < REASONS; i++) {
		snprintf(name, sizeof(name), "closed_%s",
		    reason_name((enum reason)i));
		facts_number(&f, name, st->reasons[i]);
	}
	if (p->checker != NULL)
		tell_checks(&f, checker_stats(p->checker));
	if (p->director != NULL)
		dsr_report_counters(&f, p->director, "dsr_");
	facts_end(&f);
}

static void
log_lines(struct buffer *text)
{
	char *line, *rest = NULL;

	if (buffer_append(text, "", 1) < 0)
		return;
	for (line = strtok_r(text->data + text->start, "\n", &rest);
	     line != NULL; line = strtok_r(NULL, "\n", &rest))
		log_write(NULL, LOG_LEVEL_INFO, "%s", line);
}

void
report_log(struct pen *p)
{
	struct reply r;
	bool more = true;

	reply_init(&r);
	report_servers(&r);
	while (more) {
		more = r.more(&r, p);
		if (!more)
			report_counters(p, &r, FACTS_LINES);
		log_lines(&r.out);
		buffer_fini(&r.out);
	}
	reply_fini(&r);
}
