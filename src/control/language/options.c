/* options.c: getopt_long over the rows of the command table. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/addr.h"
#include "base/words.h"
#include "control/language/command.h"
#include "control/language/help.h"
#include "control/language/options.h"
#include "control/life/context.h"
#include "control/plan/plan.h"
#include "control/plan/setting.h"

/* Long options without a letter are numbered from here on, by their row. */
enum { OPTION_VERSION = 998, OPTION_HELP, LONG_BASE };
enum { OPTION_TEXT_MAX = ROW_OPTION_MAX + 16 };

/* An option as given, carried out once all operands are known. */
struct given {
	const struct command *row; /* NULL: -O */
	char *argument;
};

struct options {
	const struct command_group *all;
	const struct command **rows; /* by number of long option; NULL: end */
	char (*names)[ROW_OPTION_MAX]; /* the same */
	struct option *longs;
	char *shorts;
	struct given *given;
	unsigned count;
};

/* ---- getopt's tables, made from ours ---- */

static int
build_tables(struct options *o, int argc, char **argv)
{
	static const struct option own[] = {
		{ "command", required_argument, NULL, 'O' },
		{ "help", no_argument, NULL, OPTION_HELP },
		{ "version", no_argument, NULL, OPTION_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	const struct command *row;
	size_t rows = 0, n = 0, s, most = 0;

	/* Letters may stand together: no more options than characters. */
	while (argc-- > 0)
		most += strlen(argv[argc]) + 1;
	COMMAND_EACH (o->all, row)
		rows++;
	o->rows = calloc(rows + 1, sizeof(*o->rows));
	o->names = calloc(rows, sizeof(*o->names));
	o->longs = calloc(rows + 4, sizeof(*o->longs));
	o->shorts = calloc(2 * rows + sizeof(":O:o:"), 1);
	o->given = calloc(most, sizeof(*o->given));
	if (o->rows == NULL || o->names == NULL || o->longs == NULL ||
	    o->shorts == NULL || o->given == NULL)
		return -1;
	s = (size_t)sprintf(o->shorts, ":O:o:");
	COMMAND_EACH (o->all, row) {
		o->longs[n].name = row_option(row, o->names[n]);
		if (o->longs[n].name == NULL)
			continue;
		o->longs[n].has_arg = row_takes_argument(row)
		    ? required_argument
		    : no_argument;
		o->rows[n] = row;
		o->longs[n].val = LONG_BASE + (int)n;
		n++;
		if (row->letter == '\0')
			continue;
		o->shorts[s++] = row->letter;
		if (row_takes_argument(row))
			o->shorts[s++] = ':';
	}
	memcpy(&o->longs[n], own, sizeof(own));
	return 0;
}

static void
free_tables(struct options *o)
{
	free(o->rows);
	free(o->names);
	free(o->longs);
	free(o->shorts);
	free(o->given);
}

static const struct command *
row_of(const struct options *o, int option)
{
	const struct command *row;

	if (option >= LONG_BASE)
		return o->rows[option - LONG_BASE];
	COMMAND_EACH (o->all, row)
		if (row->letter == option)
			return row;
	return NULL;
}

/* ---- reading ---- */

/* The long option that a mistyped one was probably meant to be; NULL: none. */
static const char *
nearest_option(const struct options *o, const char *name)
{
	struct words_nearest n;
	size_t i;

	if (strncmp(name, "--", 2) != 0)
		return NULL;
	n = words_nearest_to(name + 2, true);
	for (i = 0; o->rows[i] != NULL; i++)
		words_nearest_offer(&n, o->longs[i].name);
	return n.best;
}

/* What lists the options that one of this name could be: those of a group that
 * is called so. */
static const char *
options_group_of(const struct options *o, const char *name)
{
	const struct command_group *g;

	for (g = o->all; g->key != NULL; g++)
		if (strcmp(name + 2, g->key) == 0)
			return g->key;
	return NULL;
}

/* An abbreviation that is the name of a command means that, not the option that
 * it is the begin of: --listen is not --listen-mode. NULL: it is none. */
static const struct command *
command_meant(const struct options *o, int index, char **argv)
{
	const char *word = argv[optind - 1];
	const struct command *row;
	size_t n;

	if (optarg == word)
		word = argv[optind - 2];
	n = strcspn(word, "=");
	if (strncmp(word, "--", 2) != 0 ||
	    strlen(o->longs[index].name) == n - 2)
		return NULL;
	COMMAND_EACH (o->all, row)
		if (strlen(row->name) == n - 2 &&
		    strncmp(row->name, word + 2, n - 2) == 0)
			return row;
	return NULL;
}

static int
refuse_command(const struct command *row, struct error *e)
{
	if (strcmp(row->name, "listen") == 0 ||
	    strcmp(row->name, "server") == 0)
		return error_set(e,
		    "option --%s: unknown (write pen [options] "
		    "[ADDRESS:]PORT SERVER ..)",
		    row->name);
	return error_set(e, "option --%s: unknown (a command: -O \"%s ..\")",
	    row->name, row->name);
}

static int
bad_option(
    const struct options *o, int found, char **argv, struct error *e)
{
	const char *word = argv[optind - 1], *nearest, *group;
	char name[128];

	if (optopt > 0 && optopt < OPTION_VERSION)
		snprintf(name, sizeof(name), "-%c", optopt);
	else
		snprintf(name, sizeof(name), "%.*s",
		    (int)(strcspn(word, "=") < 100 ? strcspn(word, "=") : 100),
		    word);
	if (found == ':')
		return error_set(e, "option %s: needs an argument", name);
	if (optopt >= OPTION_VERSION)
		return error_set(e,
		    "option %s: takes no argument, got \"%.100s\"", name,
		    word + strcspn(word, "=") + 1);
	nearest = nearest_option(o, name);
	if (nearest != NULL)
		return error_set(e, "option %s: unknown (did you mean --%s?)",
		    name, nearest);
	group = options_group_of(o, name);
	return error_set(e, "option %s: unknown (pen --help %s lists %s)",
	    name, group != NULL ? group : "all",
	    group != NULL ? "its options" : "all");
}

/* Options that print something and are done. `group` is the word after, which
 * may be missing. */
static enum options_result
options_print(
    const struct options *o, int option, const char *group, struct error *e)
{
	if (option == OPTION_HELP) {
		if (help_print(o->all, group) < 0) {
			error_set(e,
			    "option --help: \"%.100s\" is not a group (pen "
			    "--help lists them)",
			    group);
			return OPTIONS_BAD;
		}
	} else {
		help_print_version();
	}
	return OPTIONS_DONE;
}

/* As GNU programs do, getopt moves options that come after operands before
 * them, up to a "--". */
static enum options_result
options_read_options(struct options *o, int argc, char **argv, struct error *e)
{
	const struct command *meant;
	int found, index = -1;

	opterr = 0;
	optind = 1;
	while ((found = getopt_long(argc, argv, o->shorts, o->longs,
		    &index)) != -1) {
		if (found == '?' || found == ':') {
			bad_option(o, found, argv, e);
			return OPTIONS_BAD;
		}
		meant = index >= 0 && found >= OPTION_VERSION
		    ? command_meant(o, index, argv)
		    : NULL;
		index = -1;
		if (meant != NULL) {
			refuse_command(meant, e);
			return OPTIONS_BAD;
		}
		if (found >= OPTION_VERSION && found < LONG_BASE)
			return options_print(o, found, argv[optind], e);
		o->given[o->count].row =
		    found == 'O' || found == 'o' ? NULL : row_of(o, found);
		o->given[o->count++].argument = optarg;
	}
	return OPTIONS_RUN;
}

/* ---- carrying out ---- */

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

/* What a command answers is for the control socket; here, silence is
 * success. */
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

/* The operands are wrong. If the first one is a path, it may belong to a health
 * check that was written without quotes. */
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

static int
run_all(
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

enum options_result
options_parse(struct pen *p, int argc, char **argv, struct error *e)
{
	struct options o = { .all = p->commands };
	enum options_result result;

	if (build_tables(&o, argc, argv) < 0) {
		free_tables(&o);
		error_set(e, "out of memory");
		return OPTIONS_BAD;
	}
	result = options_read_options(&o, argc, argv, e);
	if (result == OPTIONS_RUN && run_all(p, &o, argv + optind, e) < 0)
		result = OPTIONS_BAD;
	free_tables(&o);
	return result;
}
