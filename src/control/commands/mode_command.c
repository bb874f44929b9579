/* mode_command.c: commands that set algorithms and modes. */
#include "config.h"

#include <string.h>

#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/life/context.h"
#include "pool/balance.h"

/* Whether the algorithm is in force, by its mode or by its name. */
static bool
is_chosen(const struct plan *p, bool mode, const char *name)
{
	const char *balance = p->config->mode.balance;

	return balance != NULL ? strcmp(balance, name) == 0 : mode;
}

static int
run_mode(struct call *c, struct error *e)
{
	const struct mode_options *m = &c->plan->config->mode;
	const struct {
		const char *name;
		bool on;
	} modes[] = {
		{ "hash", is_chosen(c->plan, m->hash, "hash") },
		{ "roundrobin",
		    is_chosen(c->plan, m->roundrobin, "roundrobin") },
		{ "stubborn", m->stubborn },
		{ "weight", is_chosen(c->plan, m->weight, "wleastconn") },
		{ "prio", is_chosen(c->plan, m->prio, "prio") },
	};
	enum { MODES = sizeof(modes) / sizeof(modes[0]) };
	bool stopping = c->pen->phase == PHASE_DRAINING;
	struct fields f;
	int i;

	(void)e;
	fields_begin(&f, c->reply, FIELDS_SILENT);
	for (i = 0; i < MODES; i++)
		fields_flag(&f, modes[i].name, modes[i].on);
	fields_json_text(&f, "balance", c->plan->config->pool.balance->name);
	if (pool_panic(c->service->pool)->on)
		fields_json_number(&f, "panic", 1);
	if (stopping)
		fields_json_number(&f, "stopping", stopping_left(c->pen));
	fields_end(&f);
	for (i = 0; i < MODES && !c->reply->json; i++)
		reply_add(&c->reply->out, "%s%s%s", modes[i].on ? "" : "no ",
		    modes[i].name, i + 1 < MODES ? " " : "\n");
	if (pool_panic(c->service->pool)->on && !c->reply->json)
		reply_add(&c->reply->out,
		    "panic: too few servers are up, all are tried\n");
	if (stopping && !c->reply->json)
		stopping_report(c->pen, &c->reply->out);
	return 0;
}

const struct command mode_commands[] = {
	{ .name = "mode",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SERVICE,
	    .run = run_mode,
	    .help = "prints the active modes" },
	{ .name = NULL },
};
