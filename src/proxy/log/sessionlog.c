/* sessionlog.c: which sessions, or requests, of a service have a line. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/log/log_target.h"
#include "proxy/log/sessionlog.h"

struct sessionlog {
	struct log_use use;
	struct log_format *format; /* of records without one */
	bool is_journal;	   /* which has no other */
	uint64_t sample;
	uint64_t seen; /* without an error */
};

struct sessionlog *
sessionlog_open(struct list *all, struct list *formats, struct loop *l,
    const struct sessionlog_options *o, struct error *e)
{
	struct sessionlog *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	g->sample = o->sample;
	g->is_journal = strcmp(o->to, "journal") == 0;
	g->format =
	    log_format_share(formats, g->is_journal ? "journal" : "logfmt",
		o->requests ? RECORD_REQUEST : RECORD_SESSION, e);
	if (g->format != NULL && log_use_open(&g->use, all, l, o, e) == 0)
		return g;
	sessionlog_free(g);
	return NULL;
}

void
sessionlog_count_lost(struct sessionlog *g, uint64_t *lost)
{
	if (g != NULL)
		log_use_count(&g->use, lost);
}

void
sessionlog_free(struct sessionlog *g)
{
	if (g == NULL)
		return;
	log_use_close(&g->use);
	log_format_free(g->format);
	free(g);
}

/* ---- which ---- */

/* Whether a flow has ended by an error. Silence is its usual end; so is its
 * eviction, while strangers send from as many addresses as they please. */
static bool
is_flow_error(enum reason why)
{
	return why == REASON_NO_SERVER || why == REASON_NO_RESOURCES ||
	    why == REASON_SERVER_RESET || why == REASON_SERVER_DOWN;
}

static bool
wants_line(struct sessionlog *g, bool failed, uint64_t now)
{
	if (g->sample != 1 && !failed &&
	    (g->sample == 0 || g->seen++ % g->sample != 0))
		return false;
	return log_use_has_room(&g->use, now);
}

bool
sessionlog_wants(
    struct sessionlog *g, enum reason why, bool is_flow, uint64_t now)
{
	return wants_line(g,
	    is_flow ? is_flow_error(why) : reason_end(why) != SERVER_END_GOOD,
	    now);
}

bool
sessionlog_wants_request(
    struct sessionlog *g, enum reason why, unsigned status, uint64_t now)
{
	return wants_line(
	    g, status >= 400 || reason_end(why) != SERVER_END_GOOD, now);
}

/* ---- lines ---- */

static const struct log_format *
format_for(const struct sessionlog *g, const struct log_format *format)
{
	return format != NULL && !g->is_journal ? format : g->format;
}

bool
sessionlog_has_tls(const struct sessionlog *g, const struct log_format *format)
{
	return log_format_has_tls(format_for(g, format));
}

void
sessionlog_put(struct sessionlog *g, struct session_record *r)
{
	log_use_put(&g->use, format_for(g, r->format), r);
}
