/* server_report.c: servers, in classic Pen's line, in a long one, as JSON, and
 * as rows of a table. */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "control/life/context.h"
#include "control/life/http_watch.h"
#include "control/report/report.h"
#include "control/report/server_fields.h"

const char *
report_tenths(uint64_t tenths, char text[REPORT_TEXT_MAX])
{
	snprintf(text, REPORT_TEXT_MAX, "%llu.%llu",
	    (unsigned long long)(tenths / 10),
	    (unsigned long long)(tenths % 10));
	return text;
}

uint64_t
report_now(const struct pen *p)
{
	return p->loop != NULL ? loop_now(p->loop) : clock_monotonic_ms();
}

/* ---- a server ---- */

/* A removed server is shown as long as it has connections. */
static void
emit_fields(struct reply *r, const struct service *svc, const struct server *s,
    enum fields_style style, enum server_shown shown)
{
	struct server_view v = { .service = svc,
		.server = s,
		.now = report_now(svc->pen) };
	struct fields f;

	fields_begin(&f, r, style);
	server_fields_report(v, &f, shown, SHOWN_ALWAYS);
	if (r->json)
		server_fields_report(v, &f, SHOWN_JSON, SHOWN_TABLE);
	fields_end(&f);
}

/* Emits the server's row of a table. */
static void
emit_row(struct reply *r, const struct service *svc, const struct server *s,
    enum fields_style style)
{
	/* the colours of the page */
	static const char *const classes[SERVER_STATES] = {
		[SERVER_REMOVED] = " class=\"down\"",
		[SERVER_DOWN] = " class=\"down\"",
		[SERVER_BLACKLISTED] = " class=\"down\"",
		[SERVER_MAINT] = " class=\"warn\"",
		[SERVER_DRAIN] = " class=\"warn\"",
		[SERVER_SUSPECT] = " class=\"warn\"",
	};
	const char *class = classes[server_state(s)];

	if (class == NULL && http_watch_errors(svc, s) > 0)
		class = " class=\"warn\"";
	reply_add(&r->out, "<tr%s>",
	    style == FIELDS_CELLS && class != NULL ? class : "");
	emit_fields(r, svc, s, style, SHOWN_TABLE);
	reply_add(&r->out, "</tr>\n");
}

/* ---- all servers ---- */

/* Empty slots at the end of the list are not worth a line. */
static unsigned
slots_in_use(const struct pool *p)
{
	unsigned n = pool_count(p);

	while (n > 0 && !server_is_known(pool_server(p, n - 1)))
		n--;
	return n;
}

/* The regular servers by number, then the special ones. */
static struct server *
server_report_server_at(const struct pool *p, unsigned i, unsigned regular)
{
	return i < regular ? pool_server(p, i) : pool_slot(p, i - regular);
}

/* `special`: also the servers beside the list, and no empty slots. */
static bool
more_of(struct reply *r, const struct service *svc, bool special,
    enum server_shown shown)
{
	unsigned regular = slots_in_use(svc->pool);
	unsigned count = regular + (special ? SLOTS_SPECIAL : 0);
	const struct server *s;

	while (r->at < count && buffer_length(&r->out) < REPLY_PIECE) {
		s = server_report_server_at(
		    svc->pool, (unsigned)r->at++, regular);
		if (!special || server_is_known(s))
			emit_fields(r, svc, s, FIELDS_LINE, shown);
	}
	if (r->at < count)
		return true;
	fields_list_end(r);
	return false;
}

static bool
more_servers(struct reply *r, struct service *svc)
{
	return more_of(r, svc, false, SHOWN_ALWAYS);
}

/* Emits the next lines of `servers long`. As JSON they have the fields of
 * `servers`. */
static bool
more_servers_long(struct reply *r, struct service *svc)
{
	return more_of(r, svc, true, r->json ? SHOWN_ALWAYS : SHOWN_LONG);
}

static void
server_report_begin(
    struct reply *r, bool (*more)(struct reply *r, struct service *svc))
{
	fields_list_begin(r);
	r->at = 0;
	r->more = more;
}

void
report_servers(struct reply *r)
{
	server_report_begin(r, more_servers);
}

void
report_servers_long(struct reply *r)
{
	server_report_begin(r, more_servers_long);
}

void
report_servers_table(const struct service *svc, struct reply *r)
{
	unsigned i, regular = slots_in_use(svc->pool), rows = 0;
	const struct server *s;

	for (i = 0; i < regular + SLOTS_SPECIAL; i++) {
		s = server_report_server_at(svc->pool, i, regular);
		if (!server_is_known(s))
			continue;
		if (rows++ == 0) {
			reply_add(&r->out, "<thead>");
			emit_row(r, svc, s, FIELDS_HEADS);
			reply_add(&r->out, "</thead>\n<tbody>\n");
		}
		emit_row(r, svc, s, FIELDS_CELLS);
	}
	reply_add(&r->out, rows > 0 ? "</tbody>" : "");
}
