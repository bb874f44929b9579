/* edit_plain.c: a prompt without libedit; the terminal itself edits. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "tools/edit.h"

struct edit {
	const char *prompt;
	char *line;
	size_t room;
};

struct edit *
edit_new(const struct target *t, const char *prompt)
{
	struct edit *x = calloc(1, sizeof(*x));

	(void)t;
	if (x != NULL)
		x->prompt = prompt;
	return x;
}

void
edit_free(struct edit *x)
{
	if (x != NULL)
		free(x->line);
	free(x);
}

const char *
edit_line(struct edit *x)
{
	ssize_t n;

	printf("%s", x->prompt);
	fflush(stdout);
	clearerr(stdin);
	errno = 0;
	n = getline(&x->line, &x->room, stdin);
	if (n < 0)
		return NULL;
	while (n > 0 && strchr(" \t\r\n", x->line[n - 1]) != NULL)
		x->line[--n] = '\0';
	return x->line;
}

void
edit_remember(struct edit *x, const char *line)
{
	(void)x;
	(void)line;
}

bool
edit_is_rich(void)
{
	return false;
}
