/* prompt.c: the loop at a terminal. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/edit.h"
#include "tools/prompt.h"

/* Exists to end a wait: the default action would end the program. */
static void
on_interrupt(int signal)
{
	(void)signal;
}

/* Ctrl-C throws the line away; while an answer is awaited it ends penctl. */
static const char *
prompt_read_line(struct edit *x)
{
	struct sigaction act = { .sa_handler = on_interrupt }, old;
	const char *line;
	int why;

	sigaction(SIGINT, &act, &old);
	do {
		line = edit_line(x);
		why = errno;
		if (line == NULL)
			putchar('\n');
	} while (line == NULL && why == EINTR);
	fflush(stdout);
	sigaction(SIGINT, &old, NULL);
	return line;
}

int
prompt(const struct target *t, prompt_run_fn *run, void *arg)
{
	struct edit *x = edit_new(t, "pen> ");
	const char *line;
	int status = 0;

	if (x == NULL) {
		perror("penctl");
		return ASK_NO_ANSWER;
	}
	while ((line = prompt_read_line(x)) != NULL) {
		line += strspn(line, " \t");
		if (strcmp(line, "quit") == 0)
			break;
		if (*line == '\0')
			continue;
		edit_remember(x, line);
		status = run(arg, line);
	}
	edit_free(x);
	return status;
}
