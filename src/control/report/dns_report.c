/* dns_report.c: what a service has counted of DNS queries, and how long its
 * servers took for answers. */
#include "config.h"

#include "control/life/context.h"
#include "control/report/report.h"

/* The recent answer times of all servers together. */
static struct histogram
times_of(const struct service *svc)
{
	struct histogram all = { .total = 0 };
	const struct server *s;
	unsigned i;

	for (i = 0; (s = pool_slot(svc->pool, i)) != NULL; i++)
		if (s->present)
			histogram_merge(&all, &s->counters->connect_times);
	return all;
}

void
report_dns(struct fields *f, const struct service *svc)
{
	const struct dns_stats *dns = &frontend_stats(svc->frontend)->dns;
	struct histogram times;

	if (!frontend_options(svc->frontend)->dns.on)
		return;
	times = times_of(svc);
	fields_number(f, "queries", dns->queries);
	fields_number(f, "servfail", dns->answers[DNS_ANSWER_SERVFAIL]);
	fields_number(f, "answer_p50_us", histogram_percentile(&times, 50));
	fields_number(f, "answer_p99_us", histogram_percentile(&times, 99));
}
