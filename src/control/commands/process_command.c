/* process_command.c: commands about the process itself, and those that tell
 * about it. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/language/command.h"
#include "control/answer/facts.h"
#include "control/language/help.h"
#include "control/pen.h"
#include "control/report/report.h"
#include "control/plan/setting.h"
#include "control/report/status.h"
#include "control/upgrade/upgrade.h"
#include "dsr/director/director.h"
#include "proxy/checker.h"

int
run_pid(struct call *c, struct error *e)
{
	struct facts f;

	(void)e;
	facts_begin(&f, c->reply, FACTS_LINE);
	facts_integer(&f, "pid", getpid());
	facts_end(&f);
	return 0;
}

int
run_exit(struct call *c, struct error *e)
{
	if (!c->plan->config.allow_exit) {
		c->reply->classic = true;
		return error_set(
		    e, "Exit is not enabled; restart with -X flag");
	}
	pen_stop_by(c->pen, c->asker != NULL ? c->asker->who : "exit");
	return 0;
}

int
run_shutdown(struct call *c, struct error *e)
{
	uint64_t ms = c->plan->config.frontend.end.drain_ms;

	if (call_needs_serving(c, e) < 0 || call_duration(c, &ms, e) < 0)
		return -1;
	stopping_begin(
	    c->pen, ms, c->asker != NULL ? c->asker->who : "shutdown");
	stopping_tell(c->pen, &c->reply->out);
	return 0;
}

int
run_upgrade(struct call *c, struct error *e)
{
	uint64_t ms = 0;

	if (call_needs_serving(c, e) < 0 || call_duration(c, &ms, e) < 0)
		return -1;
	if (upgrade_begin(c->pen, ms,
		c->asker != NULL ? c->asker->who : "upgrade", e) < 0)
		return -1;
	c->upgrades = true;
	return 0;
}

static int
on_socket_only(struct call *c, struct error *e)
{
	return c->asker != NULL ? 0
				: error_set(e, "only on the control socket");
}

int
run_prompt(struct call *c, struct error *e)
{
	if (on_socket_only(c, e) < 0)
		return -1;
	c->asker->prompt = true;
	return 0;
}

int
run_quit(struct call *c, struct error *e)
{
	if (on_socket_only(c, e) < 0)
		return -1;
	c->asker->quit = true;
	return 0;
}

/* ---- help and settings ---- */

static void
tell_row(struct reply *r, const struct command *row)
{
	char text[COMMAND_TEXT_MAX], args[COMMAND_TEXT_MAX];
	struct facts f;

	facts_begin(&f, r, FACTS_SILENT);
	facts_text(&f, "command", row->name);
	facts_text(&f, "arguments", command_args(row, args));
	facts_text(&f, "help", command_help(row, text));
	facts_text(&f, "group", command_group_of(row));
	facts_text(&f, "access", access_name(command_access(row, 1, false)));
	facts_end(&f);
	if (!r->json)
		help_add_command(&r->out, row);
}

int
run_help(struct call *c, struct error *e)
{
	const struct command *row;

	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->words->count == 1) {
		row = command_find(c->words->word[0]);
		if (row == NULL)
			return command_unknown(c->words->word[0], e);
		tell_row(c->reply, row);
		return 0;
	}
	facts_list_begin(c->reply);
	COMMAND_EACH (row)
		if (!(row->flags & ROW_OPTION) && command_is_there(row))
			tell_row(c->reply, row);
	facts_list_end(c->reply);
	return 0;
}

int
run_show(struct call *c, struct error *e)
{
	struct facts f;

	if (c->words->count != 1 || strcmp(c->words->word[0], "settings") != 0)
		return error_set(e, "expects %s", c->row->args);
	if (!c->reply->json) {
		setting_print_all(c->plan, &c->reply->out);
		return 0;
	}
	facts_begin(&f, c->reply, FACTS_SILENT);
	setting_tell_all(&f, c->plan);
	facts_end(&f);
	return 0;
}

/* ---- counters ---- */

int
run_statistics(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	report_counters(c->pen, c->reply, FACTS_LINES);
	return 0;
}

/* Not what is there now, nor what is known of clients. */
int
run_clear(struct call *c, struct error *e)
{
	const struct words *w = c->words;

	if (w->count != 1 || strcmp(w->word[0], "counters") != 0)
		return error_set(e, "expects %s", c->row->args);
	pool_clear_counters(c->pen->pool);
	frontend_clear_stats(c->pen->frontend);
	if (c->pen->checker != NULL)
		checker_clear_stats(c->pen->checker);
	if (c->pen->director != NULL)
		director_clear_counters(c->pen->director);
	return 0;
}

/* As classic Pen does, it also writes the file of -w, for who may do more than
 * look; the answer comes all the same when that fails. */
static void
write_page(struct pen *p)
{
	struct error e;

	if (p->plan->config.web_stats != NULL && status_write(p, &e) < 0)
		log_error("status page not written error=\"%s\"", e.text);
}

int
run_status(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	if (c->reply->json)
		report_counters(c->pen, c->reply, FACTS_LINES);
	else
		status_page(c->pen, &c->reply->out);
	if (c->asker != NULL && c->origin == NULL &&
	    c->asker->access > ACCESS_LOOK)
		write_page(c->pen);
	return 0;
}
