/* metrics.c: a scrape: families, which are rows, one after another. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/apply/services.h"
#include "control/report/metrics.h"
#include "control/report/metrics_private.h"
#include "control/report/report.h"
#include "control/report/server_fields.h"
#include "control/life/context.h"

const char metrics_type_text[] = "text/plain; version=0.0.4; charset=utf-8",
	   metrics_type_open[] =
	       "application/openmetrics-text; version=1.0.0; charset=utf-8",
	   metrics_media_open[] = "application/openmetrics-text";

/* ---- lines ---- */

static const char *
suffix(enum metric_type type)
{
	return type == METRIC_COUNTER ? "_total" : "";
}

static void
metrics_add_line(const struct lines *to, const char *name, const char *tail,
    const char *labels, const char *value)
{
	const char *more = labels != NULL ? labels : "";
	bool both = labels != NULL && to->labels[0] != '\0';

	if (labels != NULL || to->labels[0] != '\0')
		reply_add(to->out, "%s%s{%s%s%.400s} %s\n", name, tail,
		    to->labels, both ? "," : "", more, value);
	else
		reply_add(to->out, "%s%s %s\n", name, tail, value);
}

static const char *
format_seconds(char text[32], uint64_t us)
{
	snprintf(text, 32, "%llu.%06u", (unsigned long long)(us / 1000000),
	    (unsigned)(us % 1000000));
	return text;
}

static const char *
format_number(char text[32], uint64_t value)
{
	snprintf(text, 32, "%llu", (unsigned long long)value);
	return text;
}

void
metric_number(const struct lines *out, const struct family *f,
    const char *labels, uint64_t value)
{
	char text[32];

	metrics_add_line(
	    out, f->name, suffix(f->type), labels, format_number(text, value));
}

void
metric_seconds(const struct lines *out, const struct family *f,
    const char *labels, uint64_t us)
{
	char text[32];

	metrics_add_line(
	    out, f->name, suffix(f->type), labels, format_seconds(text, us));
}

void
metric_duration(const struct lines *out, const struct family *f,
    const char *labels, const struct duration *d)
{
	const char *own = labels != NULL ? labels : "";
	char bound[32], all[128], text[32];
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < DURATION_BUCKETS; i++) {
		sum += d->bucket[i];
		format_seconds(bound, duration_bound_us(i));
		if (i == DURATION_BUCKETS - 1)
			snprintf(bound, sizeof(bound), "+Inf");
		snprintf(all, sizeof(all), "%s%sle=\"%s\"", own,
		    *own != '\0' ? "," : "", bound);
		metrics_add_line(
		    out, f->name, "_bucket", all, format_number(text, sum));
	}
	metrics_add_line(
	    out, f->name, "_sum", labels, format_seconds(text, d->sum_us));
	metrics_add_line(
	    out, f->name, "_count", labels, format_number(text, sum));
}

/* Backslash, quote and newline are escaped, as the format has it; what is not
 * UTF-8, with which a scrape would fail, is taken for Latin-1. */
const char *
metric_escape(char *to, size_t size, const char *text)
{
	bool utf8 = text_is_utf8(text, strlen(text));
	size_t n = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		/* one takes four bytes at most */
		if (n + 4 >= size && !(utf8 && (c & 0xc0) == 0x80))
			break;
		if (c == '\\' || c == '"' || c == '\n') {
			to[n++] = '\\';
		} else if (!utf8 && c >= 0x80) {
			to[n++] = (char)(0xc0 | c >> 6);
			c = 0x80 | (c & 0x3f);
		}
		to[n++] = c == '\n' ? 'n' : (char)c;
	}
	to[n] = '\0';
	return to;
}

/* OpenMetrics names the family, the older format its lines. */
static void
add_head(const struct metrics_walk *w, const char *name, enum metric_type type,
    const char *help, struct buffer *out)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const char *total = w->open ? "" : suffix(type);

	reply_add(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help,
	    name, total, types[type]);
}

/* Writes the head of the family, in front of the lines of the first service
 * that has any. */
static void
begin_family(struct metrics_walk *w, const char *name, enum metric_type type,
    const char *help, struct buffer *out)
{
	if (!w->begun)
		add_head(w, name, type, help, out);
	w->begun = true;
}

static struct lines
lines_of(const struct service *svc, struct buffer *out)
{
	struct lines to = { .out = out };

	if (service_has_others(svc->pen))
		snprintf(to.labels, sizeof(to.labels), "service=\"%s\"",
		    svc->name);
	return to;
}

/* ---- of the process, and others that are no counters ---- */

static bool
process_is_there(unsigned number)
{
	return metrics_of_process(number) != NULL;
}

static bool
add_of_process(
    struct metrics_walk *w, const struct service *svc, struct buffer *out)
{
	const struct family *f = metrics_of_process(w->number);
	struct lines of_service = lines_of(svc, out), of_all = { .out = out };
	bool is_first = !w->begun;

	begin_family(w, f->name, f->type, f->help, out);
	if (f->process == NULL)
		f->all(f, svc, &of_service);
	else if (is_first)
		f->process(f, svc->pen, &of_all);
	return false;
}

/* ---- counters ---- */

static bool
counter_is_there(unsigned number)
{
	return counter_at(number) != NULL;
}

/* The number of the next counter that begins a family: later rows of a family
 * are printed with its first. */
static unsigned
next_counter(unsigned number)
{
	const struct counter *c;

	do
		c = counter_at(++number);
	while (c != NULL && counter_family(c) != c);
	return number;
}

static void
add_counter(const struct counter_view *v, const struct counter *c,
    const struct lines *out)
{
	char labels[128], text[32];
	unsigned i;

	if (c->count == 0)
		metrics_add_line(out, c->metric, suffix(c->type), c->labels,
		    format_number(text, counter_metric(v, c, 0)));
	for (i = 0; i < c->count; i++) {
		snprintf(labels, sizeof(labels), "%s=\"%s\"", c->labels,
		    c->item(i));
		metrics_add_line(out, c->metric, suffix(c->type), labels,
		    format_number(text, counter_metric(v, c, i)));
	}
}

static bool
add_counters(
    struct metrics_walk *w, const struct service *svc, struct buffer *out)
{
	const struct counter *c, *first = counter_at(w->number);
	struct lines to = lines_of(svc, out);
	struct counter_view v;
	unsigned i;

	if (first->of_process) {
		if (w->begun)
			return false;
		svc = svc->pen->service;
		to.labels[0] = '\0';
	}
	counters_view(&v, svc);
	if (v.of[first->source] == NULL)
		return false;
	begin_family(w, first->metric, first->type, first->help, out);
	for (i = w->number; (c = counter_at(i)) != NULL; i++)
		if (strcmp(c->metric, first->metric) == 0)
			add_counter(&v, c, &to);
	return false;
}

/* ---- of servers ---- */

static bool
servers_are_there(unsigned number)
{
	return server_fields_metric(number) != NULL;
}

static bool
metrics_add_servers(
    struct metrics_walk *w, const struct service *svc, struct buffer *out)
{
	struct lines to = lines_of(svc, out);
	struct server_view v = { .service = svc,
		.now = report_now(svc->pen),
		.row = server_fields_metric(w->number) };
	const struct family *f = &v.row->metric;
	unsigned slots = pool_slots(svc->pool);

	begin_family(w, f->name, f->type, f->help, out);
	do {
		v.server = pool_slot(svc->pool, w->slot++);
		if (v.server != NULL && server_is_known(v.server))
			server_fields_lines(v, to);
	} while (w->slot < slots && buffer_length(out) < REPLY_PIECE);
	return w->slot < slots;
}

/* ---- all ---- */

struct part {
	bool (*is_there)(unsigned number); /* a family */
	unsigned (*next)(unsigned number); /* NULL: one more */
	/* Appends its lines of a service, or some of them: true, and it is
	 * called again for the others. */
	bool (*add)(struct metrics_walk *w, const struct service *svc,
	    struct buffer *out);
};

static const struct part parts[] = {
	{ process_is_there, NULL, add_of_process },
	{ counter_is_there, next_counter, add_counters },
	{ servers_are_there, NULL, metrics_add_servers },
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static void
begin_next_family(struct metrics_walk *w, const struct part *part)
{
	w->number = part->next != NULL ? part->next(w->number) : w->number + 1;
	w->service = 0;
	w->begun = false;
}

/* Family by family, as one has all its lines together. */
static bool
more_of_part(
    struct metrics_walk *w, const struct part *part, struct buffer *out)
{
	const struct service *svc = service_at(w->pen, w->service);

	while (part->is_there(w->number) && buffer_length(out) < REPLY_PIECE) {
		if (svc == NULL) {
			begin_next_family(w, part);
			svc = w->pen->service;
		} else if (!service_is_reported(svc) ||
		    !part->add(w, svc, out)) {
			svc = svc->next;
			w->service++;
			w->slot = 0;
		}
	}
	return part->is_there(w->number);
}

bool
metrics_more(struct metrics_walk *w, struct buffer *out)
{
	while (w->part < PARTS && !more_of_part(w, &parts[w->part], out)) {
		w->number = 0;
		w->part++;
	}
	if (w->part < PARTS)
		return true;
	if (w->open)
		reply_add(out, "# EOF\n");
	return false;
}
