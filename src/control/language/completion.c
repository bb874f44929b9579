/* completion.c: completion for shells, from the rows. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/value/choices.h"
#include "control/language/command.h"
#include "control/language/completion.h"

static bool
is_option(const struct command *row)
{
	char text[ROW_OPTION_MAX];

	return row_option(row, text) != NULL;
}

static bool
is_command(const struct command *row)
{
	return !(row->flags & ROW_OPTION);
}

static bool
takes_file(const struct command *row)
{
	return row_takes_argument(row) &&
	    (row->kind == KIND_FILE || row->kind == KIND_CERTIFICATES ||
		row->kind == KIND_KEYS);
}

/* Whether its value is a word of a list. */
static bool
takes_word(const struct command *row)
{
	return row->choices != NULL || row->names != NULL;
}

static void
print_values(const struct command *row)
{
	const struct choice *c;
	const char *name, *blank = "";
	unsigned i;

	for (c = row->choices; c != NULL && c->word != NULL; c++)
		if (c->refused == NULL) {
			printf("%s%s", blank, c->word);
			blank = " ";
		}
	for (i = 0; row->names != NULL && (name = row->names(i)) != NULL; i++)
		printf("%s ", name);
	printf("%s", row->names != NULL ? row->none : "");
}

/* In single quotes of a shell, without what means something to it all the
 * same. */
static void
print_quoted(const char *text, const char *without)
{
	for (; *text != '\0'; text++)
		if (*text == '\'')
			printf("'\\''");
		else if (strchr(without, *text) == NULL)
			putchar(*text);
}

static void
print_help(const struct command *row)
{
	char text[COMMAND_TEXT_MAX];

	print_quoted(command_help(row, text), "[]`\\");
}

/* ---- bash ---- */

static void
completion_print_words(const struct command_group *all,
    bool (*wanted)(const struct command *row), bool options)
{
	const struct command *row;
	char text[ROW_OPTION_MAX];

	COMMAND_EACH (all, row) {
		if (!wanted(row))
			continue;
		if (options && row->letter != '\0')
			printf(" -%c", row->letter);
		printf(options ? " --%s" : " %s",
		    options ? row_option(row, text) : row->name);
	}
}

/* "-x|--name" of an option, for a pattern of `case`. */
static void
print_names(const struct command *row, const char *before)
{
	char text[ROW_OPTION_MAX];

	if (row->letter != '\0')
		printf("%s-%c", before, row->letter);
	printf("%s--%s", row->letter != '\0' ? "|" : before,
	    row_option(row, text));
}

/* The options whose argument is a file, or one of another kind, but for words
 * of a list. */
static void
print_pattern(const struct command_group *all, bool files)
{
	const struct command *row;
	const char *bar = "";

	COMMAND_EACH (all, row) {
		if (!is_option(row) || !row_takes_argument(row) ||
		    takes_word(row) || takes_file(row) != files)
			continue;
		print_names(row, bar);
		bar = "|";
	}
}

static void
print_word_cases(const struct command_group *all)
{
	const struct command *row;

	COMMAND_EACH (all, row) {
		if (!is_option(row) || !takes_word(row))
			continue;
		printf("\n\t");
		print_names(row, "");
		printf(")\n\t\tCOMPREPLY=($(compgen -W '");
		print_values(row);
		printf("' -- \"$cur\"))\n\t\treturn;;");
	}
}

static void
print_bash(const struct command_group *all)
{
	printf("# bash completion for pen and penctl\n"
	       "_pen_commands='");
	completion_print_words(all, is_command, false);
	printf("'\n"
	       "_pen()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	       "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tCOMPREPLY=()\n"
	       "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	       "\t[[ $cur == = ]] && cur=\n"
	       "\tcase $prev in\n"
	       "\t-O|-o|--command)\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$_pen_commands no\" -- "
	       "\"$cur\"))\n"
	       "\t\treturn;;\n"
	       "\t--completion)\n"
	       "\t\tCOMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))\n"
	       "\t\treturn;;\n\t");
	print_pattern(all, true);
	printf(")\n"
	       "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	       "\t\treturn;;\n\t");
	print_pattern(all, false);
	printf(")\n"
	       "\t\t[[ $cur == [/.]* ]] && COMPREPLY=($(compgen -f -- "
	       "\"$cur\"))\n"
	       "\t\treturn;;");
	print_word_cases(all);
	printf("\n"
	       "\tesac\n"
	       "\tif [[ $cur == -* ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '-O -o --command --completion "
	       "--help --version");
	completion_print_words(all, is_option, true);
	printf("' -- \"$cur\"))\n"
	       "\telse\n"
	       "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	       "\tfi\n}\n"
	       "_penctl()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	       "\tif [[ $cur == -* ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '--address --count --interval "
	       "--json --timeout --help --version' -- \"$cur\"))\n"
	       "\telif [[ $COMP_CWORD == 1 && -z $PENCTL ]]; then\n"
	       "\t\tcompopt -o filenames\n"
	       "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	       "\telse\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$_pen_commands no json watch\" "
	       "-- \"$cur\"))\n"
	       "\tfi\n}\n"
	       "complete -o filenames -F _pen pen\n"
	       "complete -F _penctl penctl\n");
}

/* ---- zsh ---- */

static void
print_zsh_option(const struct command *row, const char *name)
{
	char args[COMMAND_TEXT_MAX];

	printf("\t\t'*%s[", name);
	print_help(row);
	printf("]");
	if (row_takes_argument(row)) {
		printf(":");
		print_quoted(row_args(row, args), "[]`\\:");
		printf(":%s", takes_file(row) ? "_files" : "");
		if (takes_word(row)) {
			printf("(");
			print_values(row);
			printf(")");
		}
	}
	printf("' \\\n");
}

static void
print_zsh(const struct command_group *all)
{
	const struct command *row;
	char name[80], option[ROW_OPTION_MAX];

	printf("#compdef pen penctl\n"
	       "_pen_commands()\n{\n"
	       "\tlocal -a commands\n\tcommands=(\n");
	COMMAND_EACH (all, row)
		if (is_command(row)) {
			printf("\t\t'%s:", row->name);
			print_help(row);
			printf("'\n");
		}
	printf("\t\t'watch:repeats a command'\n"
	       "\t)\n\t_describe command commands\n}\n"
	       "if [[ $service == penctl ]]; then\n"
	       "\t_arguments \\\n"
	       "\t\t'--address[control socket]:address:_files' \\\n"
	       "\t\t'--count[repetitions]:number:' \\\n"
	       "\t\t'--interval[of top and watch]:seconds:' \\\n"
	       "\t\t'--json[answers as JSON]' \\\n"
	       "\t\t'--timeout[seconds to wait]:seconds:' \\\n"
	       "\t\t'--help' '--version' \\\n"
	       "\t\t'1:address:_files' '*:command:_pen_commands'\n"
	       "else\n"
	       "\t_arguments -s \\\n");
	COMMAND_EACH (all, row) {
		if (!is_option(row))
			continue;
		if (row->letter != '\0') {
			snprintf(name, sizeof(name), "-%c", row->letter);
			print_zsh_option(row, name);
		}
		snprintf(name, sizeof(name), "--%s",
		    row_option(row, option));
		print_zsh_option(row, name);
	}
	printf(
	    "\t\t'*-O[a command]:command:_pen_commands' \\\n"
	    "\t\t'*--command[a command]:command:_pen_commands' \\\n"
	    "\t\t'--completion[completion script]:shell:(bash zsh fish)' \\\n"
	    "\t\t'--help' '--version' '*:server:_hosts'\n"
	    "fi\n");
}

/* ---- fish ---- */

static void
print_fish(const struct command_group *all)
{
	const struct command *row;
	char text[ROW_OPTION_MAX];

	printf("# fish completion for pen and penctl\n");
	COMMAND_EACH (all, row) {
		if (!is_option(row))
			continue;
		printf("complete -c pen -l %s", row_option(row, text));
		if (row->letter != '\0')
			printf(" -s %c", row->letter);
		if (row_takes_argument(row))
			printf(takes_file(row) ? " -r -F" : " -x");
		if (takes_word(row)) {
			printf(" -a '");
			print_values(row);
			printf("'");
		}
		printf(" -d '");
		print_help(row);
		printf("'\n");
	}
	printf("complete -c pen -s O -l command -x -a '");
	completion_print_words(all, is_command, false);
	printf("' -d 'a command'\n"
	       "complete -c pen -l completion -x -a 'bash zsh fish'\n"
	       "complete -c pen -l help\ncomplete -c pen -l version\n"
	       "complete -c penctl -l address -r -F -d 'control socket'\n"
	       "complete -c penctl -l count -x -d 'repetitions'\n"
	       "complete -c penctl -l interval -x -d 'of top and watch'\n"
	       "complete -c penctl -l json -d 'answers as JSON'\n"
	       "complete -c penctl -l timeout -x -d 'seconds to wait'\n"
	       "complete -c penctl -l help\ncomplete -c penctl -l version\n"
	       "complete -c penctl -a watch -d 'repeats a command'\n");
	COMMAND_EACH (all, row) {
		if (!is_command(row))
			continue;
		printf("complete -c penctl -a %s -d '", row->name);
		print_help(row);
		printf("'\n");
	}
}

int
completion_print(const struct command_group *all, const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(const struct command_group *all);
	} shells[] = { { "bash", print_bash }, { "zsh", print_zsh },
		{ "fish", print_fish } };
	size_t i;

	for (i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].print(all);
			return 0;
		}
	return -1;
}
