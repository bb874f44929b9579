/* options.c: reads the command line: getopt_long over the rows of the command
 * table. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/language/command.h"
#include "control/language/help.h"
#include "control/language/options_private.h"
#include "control/life/context.h"

/* Long options without a letter are numbered from here on, by their row. */
enum { OPTION_VERSION = 998, OPTION_HELP, LONG_BASE };

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

/* The group of options of which an unknown option has the name. */
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

/* Reads the options. getopt moves options that come after operands before them,
 * up to a "--", as in GNU programs. */
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
	if (result == OPTIONS_RUN && options_run(p, &o, argv + optind, e) < 0)
		result = OPTIONS_BAD;
	free_tables(&o);
	return result;
}
