/* report.c: servers and counters as text; counters are rows. */
#include "config.h"

#include "control/pen.h"
#include "control/reply.h"
#include "control/report.h"

static const struct counter {
	const char *name;
	size_t place; /* in struct frontend_stats */
} counters[] = {
	{ "sessions", offsetof(struct frontend_stats, sessions) },
	{ "sessions_peak", offsetof(struct frontend_stats, sessions_peak) },
	{ "connecting", offsetof(struct frontend_stats, connecting) },
	{ "accepted", offsetof(struct frontend_stats, accepted) },
	{ "retries", offsetof(struct frontend_stats, retries) },
	{ "bytes_up", offsetof(struct frontend_stats, up) },
	{ "bytes_down", offsetof(struct frontend_stats, down) },
};

static void
report_server(const struct server *s, struct buffer *reply)
{
	char host[ADDR_TEXT_MAX] = "0.0.0.0";

	if (s->present)
		addr_format_host(&s->addrs.addr[s->addr_first], host);
	reply_add(reply,
	    "%u addr %s port %u conn %llu max %llu hard %llu "
	    "weight %u prio %d sx %llu rx %llu\n",
	    s->index, host,
	    s->present ? addr_port(&s->addrs.addr[s->addr_first]) : 0,
	    (unsigned long long)s->connections, (unsigned long long)s->soft,
	    (unsigned long long)s->hard, s->weight, s->prio,
	    (unsigned long long)s->sent, (unsigned long long)s->received);
}

void
report_servers(const struct pen *p, struct buffer *reply)
{
	unsigned i;

	for (i = 0; i < pool_count(p->pool); i++)
		report_server(pool_server(p->pool, i), reply);
}

void
report_statistics(const struct pen *p, struct buffer *reply)
{
	const struct frontend_stats *st = frontend_stats(p->frontend);
	size_t i;

	report_servers(p, reply);
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		reply_add(reply, "%s %llu\n", counters[i].name,
		    (unsigned long long)*(
			const uint64_t *)(const void *)((const char *)st +
			counters[i].place));
	for (i = 0; i < REASONS; i++)
		reply_add(reply, "closed_%s %llu\n",
		    reason_name((enum reason)i),
		    (unsigned long long)st->reasons[i]);
}
