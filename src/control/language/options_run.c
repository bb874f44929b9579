/* options_run.c: carries out what the command line has, on the given plan. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/addr.h"
#include "base/log.h"
#include "base/words.h"
#include "control/language/command.h"
#include "control/language/options_private.h"
#include "control/life/context.h"
#include "control/plan/plan.h"
#include "control/plan/setting.h"

enum { OPTION_TEXT_MAX = ROW_OPTION_MAX + 16 };

/* ---- options ---- */

static const char *
option_text(const struct command *row, char text[OPTION_TEXT_MAX])
{
	char name[ROW_OPTION_MAX];

	if (row->letter != '\0')
		snprintf(text, OPTION_TEXT_MAX, "option -%c", row->letter);
	else
		snprintf(text, OPTION_TEXT_MAX, "option --%s",
		    row_option(row, name));
	return text;
}

static int
run_option(struct call *c, const struct given *g, struct error *e)
{
	const struct command *row = g->row;
	struct words w = { .count = 0 };
	char number[24], option[OPTION_TEXT_MAX];
	struct error why;
	struct stat st;

	if (row->flags & ROW_COUNT) {
		snprintf(number, sizeof(number), "%llu",
		    (unsigned long long)setting_number(c->plan, row) + 1);
		w.word[w.count++] = number;
	} else if (row_takes_argument(row)) {
		w.word[w.count++] = g->argument;
	}
	w.word[w.count] = NULL;
	(void)option_text(row, option);
	if (row->kind == KIND_OBSOLETE)
		fprintf(stderr, "pen: %s is obsolete and ignored\n", option);
	c->row = row;
	c->words = &w;
	c->no = false;
	c->option = option;
	if (command_run(c, &why) == 0)
		return 0;
	if (row->kind < KIND_TEXT && g->argument != NULL &&
	    stat(g->argument, &st) == 0 && S_ISREG(st.st_mode))
		return error_set(e, "%s: %.300s (-F %.100s reads the file)",
		    option, why.text, g->argument);
	return error_set(e, "%s: %.400s", option, why.text);
}

static int
run_command(struct call *c, const char *line, struct error *e)
{
	c->origin = "option -O";
	return command_run_line(c, line, e);
}

static int
refuse_given(struct pen *p, const struct given *g, const struct error *e)
{
	if (!errors_add(p->errors, e))
		return -1;
	errors_refuse(p->errors, g->row != NULL ? g->row->name : g->argument);
	p->given->flawed = true;
	return 0;
}

/* Carries out an option; the reply of its command is dropped, as only a control
 * socket has replies. */
static int
run_given(
    struct pen *p, struct plan *plan, const struct given *g, struct error *e)
{
	struct reply reply;
	struct call c = { .pen = p,
		.service = p->service,
		.draft = plan,
		.plan = plan,
		.reply = &reply };
	int rc;

	reply_init(&reply);
	if (g->row != NULL)
		rc = run_option(&c, g, e);
	else
		rc = run_command(&c, g->argument, e);
	reply_fini(&reply);
	return rc;
}

/* ---- operands ---- */

/* Fewer connections than a server serves. */
enum { SMALL_LIMIT = 10 };

/* Where HOST:PORT:3 and HOST:PORT:1 are all that servers have, weights were
 * meant, which are the fifth field. */
static void
warn_of_weights(const struct plan *plan, const char *first)
{
	const struct server_plan *s, *one = plan_server(plan, 0);
	bool differ = false;
	unsigned i;

	for (i = 0; (s = plan_server(plan, i)) != NULL; i++) {
		if (s->set.soft == 0 || s->set.soft > SMALL_LIMIT ||
		    s->set.hard > 0 || s->set.weight > 0)
			return;
		differ = differ || s->set.soft != one->set.soft;
	}
	if (differ)
		log_write(NULL, LOG_LEVEL_WARN,
		    "server \"%.200s\": the third field is a limit of "
		    "connections; a weight is the fifth: HOST:PORT:0:0:%llu",
		    first, (unsigned long long)one->set.soft);
}

static int
take_servers(struct plan *plan, char **operands, struct error *e)
{
	struct server_plan *s;
	unsigned i;

	for (i = 0; operands[i] != NULL; i++) {
		if (i == SERVERS_MAX)
			return plan_refuse_server(e);
		s = plan_edit(plan, server_slot(i));
		if (s == NULL)
			return error_set(e, "out of memory");
		if (spec_parse_server(s, operands[i],
			spec_default_port(&plan->listen), e) < 0)
			return -1;
	}
	warn_of_weights(plan, operands[0]);
	return 0;
}

/* Other programs take it with -f. */
static bool
is_config_file(char **operands)
{
	struct stat st;

	return operands[1] == NULL && stat(operands[0], &st) == 0 &&
	    S_ISREG(st.st_mode);
}

static int
take_operands(struct plan *plan, char **operands, struct error *e)
{
	int rc;

	if (operands[0] == NULL)
		return 0;
	rc = spec_parse_listen(&plan->listen, operands[0], RESOLVE_NAMES, e);
	if ((rc < 0 || addr_is_unix_text(operands[0])) &&
	    is_config_file(operands))
		return error_set(e,
		    "\"%.200s\" is a file, not a listening address (-F "
		    "%.200s reads it)",
		    operands[0], operands[0]);
	if (rc < 0)
		return -1;
	if (text_set(&plan->listen_text, operands[0]) < 0)
		return error_set(e, "out of memory");
	return take_servers(plan, operands + 1, e);
}

/* ---- operands that are wrong ---- */

/* An option that took the next one for its value: in other programs -t and -c
 * check a file. */
static int
refuse_swallowed(const struct given *g, struct error *e)
{
	char text[OPTION_TEXT_MAX];

	if (g->row == NULL || g->argument == NULL || g->argument[0] != '-' ||
	    !isalpha((unsigned char)g->argument[1]))
		return 0;
	return error_set(e,
	    "%s: needs a value, not \"%.20s\" (to check a file: pen --check "
	    "-F FILE)",
	    option_text(g->row, text), g->argument);
}

/* A command, or an option of any program, where the address is expected. */
static int
refuse_word(const struct options *o, const char *word, struct error *e)
{
	struct error why = *e;

	if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0 ||
	    strcmp(word, "check") == 0)
		return error_set(
		    e, "%.300s (did you mean --%s?)", why.text, word);
	if (command_find(o->all, word) == NULL && strcmp(word, "stop") != 0)
		return -1;
	return error_set(e,
	    "%.300s (penctl sends a running pen commands: penctl CONTROL "
	    "%.40s)",
	    why.text, strcmp(word, "stop") == 0 ? "shutdown" : word);
}

/* Explains operands that cannot be right: if the first one is a path, it may
 * belong to a health check that was written without quotes. */
static int
explain_operands(const struct options *o, char **operands, struct error *e)
{
	struct error why = *e;
	const struct given *g;
	char name[ROW_OPTION_MAX];

	for (g = o->given; g < o->given + o->count; g++)
		if (refuse_swallowed(g, e) < 0)
			return -1;
	for (g = o->given; g < o->given + o->count; g++)
		if (g->row != NULL && g->row->kind == KIND_CHECK &&
		    *operands[0] == '/' && strchr(g->argument, ' ') == NULL)
			return error_set(e,
			    "%.300s (did you mean --%s \"%.50s %.100s\"?)",
			    why.text, row_option(g->row, name), g->argument,
			    operands[0]);
	return refuse_word(o, operands[0], e);
}

/* ---- all of them ---- */

int
options_run(
    struct pen *p, const struct options *o, char **operands, struct error *e)
{
	unsigned i;

	if (take_operands(p->given, operands, e) < 0)
		return explain_operands(o, operands, e);
	for (i = 0; i < o->count; i++)
		if (run_given(p, p->given, &o->given[i], e) < 0 &&
		    refuse_given(p, &o->given[i], e) < 0)
			return -1;
	return 0;
}
