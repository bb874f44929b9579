/* metrics_process.c: the families of metrics that are no counters: what this
 * pen is, and how long things took. */
#include "config.h"

#include <stdio.h>

#include "control/metrics_private.h"
#include "control/pen.h"
#include "pool/balance.h"

static void
all_info(const struct family *f, const struct pen *p, struct buffer *out)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "version=\"%s\",balance=\"%s\"",
	    PACKAGE_VERSION, p->plan->config.pool.balance->name);
	metric_number(out, f, labels, 1);
}

static void
all_start(const struct family *f, const struct pen *p, struct buffer *out)
{
	metric_number(out, f, NULL, (uint64_t)p->started_wall);
}

static void
all_draining(const struct family *f, const struct pen *p, struct buffer *out)
{
	metric_number(out, f, NULL, p->phase == PHASE_DRAINING);
}

/* `offset` is that of a struct duration in struct frontend_durations. */
static void
all_durations(const struct family *f, const struct pen *p, struct buffer *out)
{
	const char *from = (const void *)frontend_durations(p->frontend);

	metric_duration(out, f, NULL, (const void *)(from + f->offset));
}

#define DURATION(member)      \
	.all = all_durations, \
	.offset = offsetof(struct frontend_durations, member)

static const struct family families[] = {
	{ "pen_info", METRIC_GAUGE, "Version and algorithm of this pen.",
	    .all = all_info },
	{ "pen_start_time_seconds", METRIC_GAUGE,
	    "When it was started, Unix time.", .all = all_start },
	{ "pen_draining", METRIC_GAUGE,
	    "1 while it stops and takes no new clients.",
	    .all = all_draining },
	{ "pen_connect_duration_seconds", METRIC_HISTOGRAM,
	    "How long connects to servers took.", DURATION(connect) },
	{ "pen_first_byte_duration_seconds", METRIC_HISTOGRAM,
	    "From the beginning of a session to its first answer byte.",
	    DURATION(first_byte) },
	{ "pen_session_duration_seconds", METRIC_HISTOGRAM,
	    "How long sessions took.", DURATION(session) },
};

const struct family *
metrics_of_process(unsigned number)
{
	return number < sizeof(families) / sizeof(families[0])
	    ? &families[number]
	    : NULL;
}
