/* limit_command.c: commands about the limits of each client. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"

/* Printed, if the number is not given; at most; entries of the table at a
 * time. */
enum { TOP = 10, TOP_MAX = 1000, PORTION = 4000 };

static const struct order {
	const char *word;
	enum source_order by;
} orders[] = {
	{ "conns", SOURCES_BY_CONNS },
	{ "rate", SOURCES_BY_RATE },
	{ "limited", SOURCES_BY_LIMITED },
};

static int
parse_order(const char *word, enum source_order *by, struct error *e)
{
	size_t i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (strcmp(word, orders[i].word) == 0) {
			*by = orders[i].by;
			return 0;
		}
	return error_set(
	    e, "\"%.100s\": expected conns, rate or limited", word);
}

/* clients [N] [ORDER] */
static int
parse_top(struct call *c, uint64_t *n, enum source_order *by, struct error *e)
{
	const struct words *w = c->words;
	int i = 1;

	*n = TOP;
	*by = SOURCES_BY_CONNS;
	if (w->count < 1 || w->count > 3 || strcmp(w->word[0], "clients") != 0)
		return error_set(e, "expects %s", c->row->args);
	if (i < w->count && number_parse(w->word[i], 1, TOP_MAX, n) == 0)
		i++;
	if (i < w->count && w->word[i][0] >= '0' && w->word[i][0] <= '9')
		return error_set(e, "\"%.100s\" is not a number from 1 to %d",
		    w->word[i], TOP_MAX);
	if (i < w->count && parse_order(w->word[i++], by, e) < 0)
		return -1;
	return i == w->count ? 0 : error_set(e, "expects %s", c->row->args);
}

static void
limit_emit_source(struct reply *r, const struct source *s, uint64_t now)
{
	char text[SOURCE_TEXT_MAX], rate[32];
	uint64_t tenths = rate_tenths(&s->rate, now);
	struct fields f;

	snprintf(rate, sizeof(rate), "%llu.%u", (unsigned long long)tenths / 10,
	    (unsigned)(tenths % 10));
	fields_begin(&f, r, FIELDS_LINE);
	fields_text(&f, "client", source_format(s, text));
	fields_number(&f, "conns", s->conns);
	fields_number(&f, "waiting", s->waits);
	fields_decimal(&f, "rate", rate);
	fields_number(&f, "passed", s->passed);
	fields_number(&f, "limited", s->limited);
	fields_end(&f);
}

/* Prints those that have most, when all sources have been visited. */
static bool
more_top(struct reply *r, struct service *svc)
{
	struct source_walk *w = r->kept;
	uint64_t now = loop_now(svc->pen->loop);
	unsigned i;

	if (source_walk_on(frontend_sources(svc->frontend), w, PORTION, now))
		return true;
	for (i = 0; i < w->count; i++)
		if (w->top[i]->in_use)
			limit_emit_source(r, w->top[i], now);
	fields_list_end(r);
	return false;
}

static int
limit_run_top(struct call *c, struct error *e)
{
	struct reply *r = c->reply;
	enum source_order by;
	uint64_t n;

	if (parse_top(c, &n, &by, e) < 0)
		return -1;
	if (call_needs_serving(c, e) < 0)
		return -1;
	free(r->kept);
	r->kept = source_walk_new(by, (unsigned)n);
	if (r->kept == NULL)
		return error_set(e, "out of memory");
	fields_list_begin(r);
	r->more = more_top;
	return 0;
}

const struct command limit_commands[] = {
	{ .name = "top",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_EACH_WORKER | ROW_SERVICE,
	    .run = limit_run_top,
	    .args = "clients [N] [conns|rate|limited]",
	    .help = "prints the clients with the most connections, while "
		    "client_conns or client_rate is set" },
	{ .name = NULL },
};
