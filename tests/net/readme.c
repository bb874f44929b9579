/* readme.c: finds the blocks of README.md, joins continuation lines. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "net/readme.h"
#include "support/suite.h"

static bool
ends_with_backslash(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && s[n - 1] == '\\';
}

/* Adds a line of a block; with `more` it continues the command before it. */
static void
add(struct readme *r, const char *line, bool more)
{
	struct readme_command *c;
	const char *words = line + strspn(line, " \t");
	int n = (int)strlen(words);

	if (!more) {
		ck_assert_uint_lt(r->n, README_MAX);
		r->commands[r->n++] = (struct readme_command){ "", "" };
	}
	ck_assert_uint_gt(r->n, 0);
	c = &r->commands[r->n - 1];
	if (ends_with_backslash(words))
		n--;
	c->typed = text("%s%s\n", c->typed, line);
	c->line = text("%s%.*s", c->line, n, words);
}

void
readme_read(struct readme *r)
{
	const char *dir = getenv("SRCDIR"), *s, *line;
	bool in_block = false, more = false;
	size_t n;

	memset(r, 0, sizeof(*r));
	s = contents(text("%s/README.md", dir != NULL ? dir : "."));
	ck_assert_msg(*s != '\0', "no README.md; SRCDIR is not set");
	for (; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		line = text("%.*s", (int)n, s);
		if (strncmp(line, "```", 3) == 0) {
			ck_assert(!more);
			in_block = strcmp(line, "```sh") == 0;
		} else if (in_block && *line == '#' && !more) {
			/* zsh may read it as words, in which a quote is open */
			ck_assert_msg(strpbrk(line, "'\"`") == NULL,
			    "a quote in: %s", line);
		} else if (in_block && (more || n > 0)) {
			add(r, line, more);
			more = ends_with_backslash(line);
		}
	}
}

const struct readme_command *
readme_find(const struct readme *r, const char *line)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->commands[i].line, line) == 0)
			return &r->commands[i];
	return NULL;
}

char
readme_risky_character(const char *line)
{
	char quote = '\0';

	for (; *line != '\0'; line++) {
		if (quote != '\0')
			quote = *line == quote ? '\0' : quote;
		else if (*line == '"' || *line == '\'')
			quote = *line;
		else if (strchr("*?[]{}~!#$`<>()", *line) != NULL)
			return *line;
	}
	return quote;
}
