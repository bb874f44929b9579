/* counters.h: all that is counted since the start, and what is there now, a row
 * each; from them `statistics`, `dsr` and the file of web_stats, in text and
 * JSON, /metrics and what an upgrade hands over are made.
 *
 * A new counter: its member, and a row in counters.c. */
#ifndef PEN_CONTROL_COUNTERS_H
#define PEN_CONTROL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "control/answer/fields.h"
#include "dsr/director/director.h"

struct service;

/* The struct that a counter stands in. */
enum counter_source {
	COUNTER_FRONTEND,  /* struct frontend_stats */
	COUNTER_CHECKER,   /* checker_stats */
	COUNTER_PANIC,	   /* pool_panic */
	COUNTER_PEERS,	   /* peers_stats; with the first service */
	COUNTER_DIRECTOR,  /* director_status; of direct return from here on */
	COUNTER_FRAMES,	   /* director_stats */
	COUNTER_FAST,	   /* director_fast */
	COUNTER_TARPIT,	   /* tarpit_stats */
	COUNTER_LINK,	   /* link_counters */
	COUNTER_NEIGHBORS, /* neighbors_stats */
	COUNTER_FLOWS,	   /* dsr_flows */
	COUNTER_SOURCES
};

/* Of Prometheus. */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct counter {
	enum counter_source source;
	size_t offset, size; /* of a number of that size */
	size_t less; /* the metric is without that member; 0: with all */
	const char *name;    /* of reports */
	enum metric_type type;
	const char *metric; /* its family, without "_total" */
	const char *labels; /* within the family; NULL: none */
	const char *help;   /* of the first row of a family */
	/* The first service counts for all; that of the first row again. */
	bool of_process;
	/* The status page adds it up over services. */
	bool summed;

	/* An array: `count` numbers, `stride` bytes from one to the next. The
	 * name is followed by item(i) and `tail`, and item(i) is the value of
	 * the label `labels`. */
	unsigned count;
	size_t stride;
	const char *tail;
	const char *(*item)(unsigned i);
};

/* The rows by number; NULL after the last. */
const struct counter *counter_at(unsigned number);
/* The first row of the same family. */
const struct counter *counter_family(const struct counter *c);

/* Where they stand now: until the loop goes on. */
struct counter_view {
	const void *of[COUNTER_SOURCES]; /* NULL: not there */
	struct director_status dsr;
};

void counters_view(struct counter_view *v, const struct service *svc);
/* The number as its metric has it; `i` of an array. */
uint64_t counter_metric(
    const struct counter_view *v, const struct counter *c, unsigned i);
/* Reports those of all sources, or only of direct server return, whose names
 * have "dsr_" in front among the others. */
void counters_report(
    struct fields *f, const struct service *svc, bool dsr_alone);
/* Reports the counters that are added up over services. */
void counters_report_summed(struct fields *f, const struct service *svc);

#endif
