/* metrics.c: a scrape: families, which are rows, one after another. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/report/metrics.h"
#include "control/report/metrics_private.h"
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
metrics_add_line(struct buffer *out, const char *name, const char *tail,
    const char *labels, const char *value)
{
	if (labels != NULL)
		reply_add(out, "%s%s{%.400s} %s\n", name, tail, labels, value);
	else
		reply_add(out, "%s%s %s\n", name, tail, value);
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
metric_number(struct buffer *out, const struct family *f, const char *labels,
    uint64_t value)
{
	char text[32];

	metrics_add_line(
	    out, f->name, suffix(f->type), labels, format_number(text, value));
}

void
metric_seconds(struct buffer *out, const struct family *f, const char *labels,
    uint64_t us)
{
	char text[32];

	metrics_add_line(
	    out, f->name, suffix(f->type), labels, format_seconds(text, us));
}

void
metric_duration(struct buffer *out, const struct family *f, const char *labels,
    const struct duration *d)
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
metric_escape(char to[METRIC_TEXT_MAX], const char *text)
{
	bool utf8 = text_is_utf8(text, strlen(text));
	size_t n = 0;

	for (; *text != '\0' && n + 3 < METRIC_TEXT_MAX; text++) {
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
	return to;
}

/* ---- counters ---- */

static void
add_counter(const struct counter_view *v, const struct counter *c,
    struct buffer *out)
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

/* A family at its first row, with those of its rows that come later. */
static void
metrics_add_counters(struct metrics_walk *w, struct buffer *out)
{
	const struct counter *c, *first = counter_at(w->number);
	struct counter_view v;
	unsigned i;

	counters_view(&v, w->pen->service);
	if (v.of[first->source] == NULL || counter_family(first) != first)
		return;
	add_head(w, first->metric, first->type, first->help, out);
	for (i = w->number; (c = counter_at(i)) != NULL; i++)
		if (strcmp(c->metric, first->metric) == 0)
			add_counter(&v, c, out);
}

static bool
more_counters(struct metrics_walk *w, struct buffer *out)
{
	while (counter_at(w->number) != NULL &&
	    buffer_length(out) < REPLY_PIECE) {
		metrics_add_counters(w, out);
		w->number++;
	}
	return counter_at(w->number) != NULL;
}

/* ---- the others ---- */

static bool
more_of_process(struct metrics_walk *w, struct buffer *out)
{
	const struct family *f;

	while ((f = metrics_of_process(w->number)) != NULL &&
	    buffer_length(out) < REPLY_PIECE) {
		add_head(w, f->name, f->type, f->help, out);
		f->all(f, w->pen->service, out);
		w->number++;
	}
	return f != NULL;
}

/* Returns false when the family has all its lines. */
static bool
metrics_add_servers(
    struct metrics_walk *w, const struct family *f, struct buffer *out)
{
	unsigned slots = pool_slots(w->pen->service->pool);
	const struct server *s;

	do {
		s = pool_slot(w->pen->service->pool, w->slot++);
		if (s != NULL && server_is_known(s))
			f->each(f, w->pen->service, s, out);
	} while (w->slot < slots && buffer_length(out) < REPLY_PIECE);
	return w->slot < slots;
}

static bool
more_of_servers(struct metrics_walk *w, struct buffer *out)
{
	const struct family *f;

	while ((f = metrics_of_servers(w->number)) != NULL &&
	    buffer_length(out) < REPLY_PIECE) {
		if (w->slot == 0)
			add_head(w, f->name, f->type, f->help, out);
		if (metrics_add_servers(w, f, out))
			continue;
		w->number++;
		w->slot = 0;
	}
	return f != NULL;
}

bool
metrics_more(struct metrics_walk *w, struct buffer *out)
{
	static bool (*const parts[])(struct metrics_walk *, struct buffer *) = {
		more_of_process,
		more_counters,
		more_of_servers,
	};

	enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

	while (w->part < PARTS && !parts[w->part](w, out)) {
		w->number = 0;
		w->part++;
	}
	if (w->part < PARTS)
		return true;
	if (w->open)
		reply_add(out, "# EOF\n");
	return false;
}
