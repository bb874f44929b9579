/* server_fields.h: what is reported of a server, a row each; from them
 * `servers` and `servers long`, in text and JSON, the tables of the page
 * without scripts, and /metrics are made. The live page (COLUMNS of
 * web_page_servers.js) and penctl (`table` of top_table.c) have a row for
 * each of their columns, which names a field by its key.
 *
 * A new field: its member, and a row in server_fields.c. */
#ifndef PEN_CONTROL_SERVER_FIELDS_H
#define PEN_CONTROL_SERVER_FIELDS_H

#include "control/answer/fields.h"
#include "control/report/metrics_private.h"

/* Where a field is reported; also where all that follow are. */
enum server_shown {
	SHOWN_METRIC, /* only in /metrics */
	SHOWN_JSON,
	SHOWN_LONG,
	SHOWN_TABLE,
	SHOWN_ALWAYS /* in classic Pen's line, too */
};

/* A field of a server that is reported. */
struct server_view {
	const struct service *service;
	const struct server *server;
	uint64_t now; /* report_now() */
	const struct server_field *row;
	struct fields *f;	/* where reports go; as the next, or NULL */
	const struct lines *to; /* where metrics go */
};

struct server_field {
	const char *key; /* of reports, with its unit; NULL: only a metric */
	enum server_shown shown;
	/* A number of that size in struct server, or in its counters. */
	enum { FIELD_SERVER, FIELD_COUNTERS } source;
	size_t offset, size;
	/* What is not that number, or not that alone. */
	void (*report)(const struct server_view *v);
	void (*lines)(const struct server_view *v);
	unsigned percent; /* of a time of which there are many */
	/* In /metrics it is family `nth`, from 1; 0: it has none. */
	unsigned nth;
	struct family metric;
};

/* Reports the fields that are shown in `least`, and in no more than `most`. */
void server_fields_report(struct server_view v, struct fields *f,
    enum server_shown least, enum server_shown most);

/* The rows by number; NULL after the last. */
const struct server_field *server_field_at(unsigned number);
/* The row of that family, from 0; NULL after the last. */
const struct server_field *server_fields_metric(unsigned number);
/* Appends the lines of v.row. */
void server_fields_lines(struct server_view v, struct lines to);

#endif
