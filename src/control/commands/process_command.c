/* process_command.c: commands about the process itself, and its reports. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/apply/services.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/language/help.h"
#include "control/life/context.h"
#include "control/peers/peers.h"
#include "control/report/report.h"
#include "control/plan/setting.h"
#include "control/web/web.h"
#include "control/upgrade/upgrade.h"
#include "dsr/director/director.h"
#include "proxy/check/checker.h"

static int
run_pid(struct call *c, struct error *e)
{
	struct fields f;

	(void)e;
	fields_begin(&f, c->reply, FIELDS_LINE);
	fields_integer(&f, "pid", getpid());
	fields_end(&f);
	return 0;
}

static int
run_exit(struct call *c, struct error *e)
{
	if (!c->draft->process->allow_exit) {
		c->reply->classic = true;
		return error_set(
		    e, "Exit is not enabled; restart with -X flag");
	}
	stopping_end_by(c->pen, c->caller != NULL ? c->caller->who : "exit");
	return 0;
}

static int
run_shutdown(struct call *c, struct error *e)
{
	uint64_t ms = c->draft->process->drain_ms;

	if (call_duration(c, &ms, e) < 0)
		return -1;
	upgrade_cancel(c->pen);
	stopping_begin(
	    c->pen, ms, c->caller != NULL ? c->caller->who : "shutdown");
	stopping_report(c->pen, &c->reply->out);
	return 0;
}

static int
run_upgrade(struct call *c, struct error *e)
{
	uint64_t ms = 0;

	if (call_duration(c, &ms, e) < 0)
		return -1;
	if (upgrade_begin(c->pen, ms,
		c->caller != NULL ? c->caller->who : "upgrade", e) < 0)
		return -1;
	c->wait = upgrade_wait_new();
	return c->wait != NULL ? 0 : error_set(e, "out of memory");
}

static int
on_socket_only(struct call *c, struct error *e)
{
	return c->caller != NULL ? 0
				 : error_set(e, "only on the control socket");
}

static int
run_prompt(struct call *c, struct error *e)
{
	if (on_socket_only(c, e) < 0)
		return -1;
	c->caller->prompt = true;
	return 0;
}

static int
run_quit(struct call *c, struct error *e)
{
	if (on_socket_only(c, e) < 0)
		return -1;
	c->caller->quit = true;
	return 0;
}

/* ---- help and settings ---- */

static void
emit_row(
    const struct command_group *all, struct reply *r, const struct command *row)
{
	char text[COMMAND_TEXT_MAX], args[COMMAND_TEXT_MAX];
	struct fields f;

	fields_begin(&f, r, FIELDS_SILENT);
	fields_text(&f, "command", row->name);
	fields_text(&f, "arguments", command_args(row, args));
	fields_text(&f, "help", command_help(row, text));
	fields_text(&f, "group", command_group_of(all, row)->title);
	fields_text(&f, "access", access_name(row_access(row, 1, false)));
	fields_end(&f);
	if (!r->json)
		help_add_command(&r->out, row);
}

static int
run_help(struct call *c, struct error *e)
{
	const struct command_group *all = c->pen->commands;
	const struct command *row;

	if (c->words->count > 1)
		return error_set(e, "expects %s", c->row->args);
	if (c->words->count == 1) {
		row = command_find(all, c->words->word[0]);
		if (row == NULL)
			return command_unknown(all, c->words->word[0], e);
		emit_row(all, c->reply, row);
		return 0;
	}
	fields_list_begin(c->reply);
	COMMAND_EACH (all, row)
		if (!(row->flags & ROW_OPTION))
			emit_row(all, c->reply, row);
	fields_list_end(c->reply);
	return 0;
}

/* The report that HAProxy has under these words. */
static const char *
find_shown(const char *word)
{
	static const char *const shown[][2] = { { "stat", "servers long" },
		{ "info", "statistics" }, { "sess", "connections" },
		{ "servers", "servers" }, { "backend", "services" },
		{ "table", "recent" }, { "acl", "acls" }, { "ssl", "certs" },
		{ "map", "route" }, { "env", "show settings" } };
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (strncmp(shown[i][0], word, strlen(shown[i][0])) == 0)
			return shown[i][1];
	return NULL;
}

static int
run_show(struct call *c, struct error *e)
{
	struct fields f;
	const char *word = c->words->count > 0 ? c->words->word[0] : "",
		   *near = find_shown(word);

	if (near != NULL)
		return error_set(
		    e, "no \"%.100s\" (did you mean %s?)", word, near);
	if (c->words->count != 1 || strcmp(word, "settings") != 0)
		return error_set(e, "expects %s", c->row->args);
	if (!c->reply->json) {
		setting_print_all(c->draft, c->plan, &c->reply->out);
		return 0;
	}
	fields_begin(&f, c->reply, FIELDS_SILENT);
	setting_emit_all(&f, c->draft, c->plan);
	fields_end(&f);
	return 0;
}

static int
run_peers(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	peers_report(c->pen->peers, c->reply);
	return 0;
}

/* ---- counters ---- */

static int
run_statistics(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	report_counters(c->service, c->reply, FIELDS_LINES);
	return 0;
}

/* clear counters: sets counters to zero; not what is open now, nor the client
 * table. */
static int
run_clear(struct call *c, struct error *e)
{
	const struct words *w = c->words;

	if (w->count != 1 || strcmp(w->word[0], "counters") != 0)
		return error_set(e, "expects %s", c->row->args);
	if (c->pen->role.clear != NULL)
		c->pen->role.clear(c->service);
	pool_clear_counters(c->service->pool);
	frontend_clear_stats(c->service->frontend);
	if (c->service->checker != NULL)
		checker_clear_stats(c->service->checker);
	if (c->service->director != NULL)
		director_clear_counters(c->service->director);
	return 0;
}

/* Writes the page of -w, as classic Pen does with this command; for callers
 * above the level read. The reply comes even if that fails. */
static void
write_page(struct pen *p)
{
	struct error e;

	if (p->plan->process->web_stats != NULL && web_plain_write(p, &e) < 0)
		log_error("status page not written error=\"%s\"", e.text);
}

/* The page has all services, and the file of -w is written. */
static int
needs_no_name(const struct call *c, struct error *e)
{
	return service_is_first(c->service)
	    ? 0
	    : error_set(e,
		  "the page is that of the whole process (\"status json\" "
		  "has the counters of one service)");
}

static int
run_status(struct call *c, struct error *e)
{
	if (call_needs_serving(c, e) < 0)
		return -1;
	if (c->reply->json
		? service_must_be_named(c->service, "status json", e) < 0
		: needs_no_name(c, e) < 0)
		return -1;
	if (c->reply->json)
		report_counters(c->service, c->reply, FIELDS_LINES);
	else
		web_plain_page(c->pen, &c->reply->out);
	if (c->caller != NULL && c->origin == NULL &&
	    c->caller->access > ACCESS_LOOK)
		write_page(c->pen);
	return 0;
}

const struct command counter_commands[] = {
	{ .name = "statistics",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SERVICE | ROW_COUNTERS,
	    .run = run_statistics,
	    .help = "prints the counters" },
	{ .name = "clear",
	    .kind = KIND_ACTION,
	    .flags = ROW_OPERATE | ROW_SERVICE,
	    .run = run_clear,
	    .args = "counters",
	    .help = "sets the counters of servers and statistics to zero" },
	{ .name = "status",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_COUNTERS,
	    .run = run_status,
	    .help = "prints the status page, in HTML" },
	{ .name = NULL },
};

const struct command help_commands[] = {
	{ .name = "show",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK | ROW_SECRETS,
	    .run = run_show,
	    .args = "settings",
	    .help = "prints all settings" },
	{ .name = "help",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_help,
	    .args = "[COMMAND]",
	    .help = "prints the commands" },
	{ .name = "prompt",
	    .kind = KIND_ACTION,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_prompt,
	    .help = "keeps the control session open, with a prompt" },
	{ .name = "quit",
	    .kind = KIND_ACTION,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_quit,
	    .help = "ends the control session" },
	{ .name = NULL },
};

const struct command process_commands[] = {
	{ .name = "peers",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_peers,
	    .help = "prints the connections with peers" },
	{ .name = "exit",
	    .kind = KIND_ACTION,
	    .flags = ROW_DRAINING,
	    .scope = SCOPE_PROCESS,
	    .run = run_exit,
	    .help = "ends pen, if it was started with -X" },
	{ .name = "shutdown",
	    .kind = KIND_ACTION,
	    .flags = ROW_DRAINING,
	    .scope = SCOPE_PROCESS,
	    .run = run_shutdown,
	    .args = "[SEC]",
	    .help =
		"accepts no new clients, and ends pen when the last session "
		"has ended" },
	{ .name = "upgrade",
	    .kind = KIND_ACTION,
	    .flags = ROW_LOCAL,
	    .scope = SCOPE_PROCESS,
	    .run = run_upgrade,
	    .args = "[SEC]",
	    .help =
		"starts the program on disk, which takes over; this process "
		"exits when its sessions have ended" },
	{ .name = "pid",
	    .kind = KIND_REPORT,
	    .flags = ROW_LOOK,
	    .scope = SCOPE_PROCESS,
	    .run = run_pid,
	    .help = "prints the process id" },
	{ .name = NULL },
};
