/* metrics_private.h: what a family of metrics is that has no row in counters.c,
 * and how its lines are written. For metrics.c, metrics_process.c and
 * server_fields.c, which have their rows. */
#ifndef PEN_CONTROL_METRICS_PRIVATE_H
#define PEN_CONTROL_METRICS_PRIVATE_H

#include "base/duration.h"
#include "control/report/counters.h"

struct pen;

/* Where lines of metrics go. */
struct lines {
	struct buffer *out;
	char labels[96]; /* of each: its service, its server; "": none */
};

/* One of the functions is there; none of what a server has, which are rows of
 * server_fields.c. */
struct family {
	const char *name; /* without "_total" */
	enum metric_type type;
	const char *help;
	size_t offset; /* of its value */
	/* Of the process; its lines have no label `service`. */
	void (*process)(const struct family *f, const struct pen *p,
	    const struct lines *out);
	/* Of a service. */
	void (*all)(const struct family *f, const struct service *svc,
	    const struct lines *out);
};

/* The rows by number; NULL after the last. */
const struct family *metrics_of_process(unsigned number);

/* Appends a line; labels are `a="b",c="d"`, or NULL. */
void metric_number(const struct lines *out, const struct family *f,
    const char *labels, uint64_t value);
/* The same of a time, in seconds. */
void metric_seconds(const struct lines *out, const struct family *f,
    const char *labels, uint64_t us);
/* The lines of a histogram. */
void metric_duration(const struct lines *out, const struct family *f,
    const char *labels, const struct duration *d);
/* Escapes the text as a label's value; copies as much as fits, in whole
 * characters. */
const char *metric_escape(char *to, size_t size, const char *text);

#endif
