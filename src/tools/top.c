/* top.c: what pens are asked and told, and plain lines. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "tools/top.h"

enum { PLAIN_COLUMNS = 132 };

static int
top_add_lines(struct top_table *t, unsigned pen, struct buffer *text)
{
	char *line, *rest;

	if (buffer_append(text, "", 1) < 0)
		return -1;
	rest = text->data + text->start;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (top_table_add(t, pen, line) < 0)
			return -1;
	return 0;
}

/* Returns 0, or -1 with t->message. */
static int
ask_one(struct top *t, struct top_table *to, unsigned pen)
{
	static const char line[] = "servers long";
	struct buffer text;
	struct error e;
	enum ask_status status;

	buffer_init(&text);
	error_set(&e, "out of memory");
	status =
	    ask(&t->pen[pen], line, sizeof(line) - 1, ask_append, &text, &e);
	if (status == ASK_REFUSED)
		error_set(&e, "pen refuses to list its servers");
	if (status == ASK_ANSWERED && top_add_lines(to, pen, &text) < 0)
		status = ASK_STOPPED;
	buffer_fini(&text);
	if (status == ASK_ANSWERED)
		return 0;
	t->message = e;
	return -1;
}

void
top_arrange(struct top *t)
{
	if (top_table_arrange(&t->view, &t->now, t->order, t->filter) < 0)
		error_set(&t->message, "out of memory");
}

unsigned
top_refresh(struct top *t)
{
	struct top_table fresh;
	unsigned i, failed = 0;

	top_table_init(&fresh);
	for (i = 0; i < t->pens; i++)
		failed += ask_one(t, &fresh, i) < 0;
	top_table_settle(&fresh, &t->now, clock_monotonic_ms());
	top_table_fini(&t->now);
	t->now = fresh;
	top_arrange(t);
	return failed;
}

/* Nothing is the answer, or why not. */
static int
take_error(void *arg, bool error, const char *bytes, size_t n)
{
	const char *newline = memchr(bytes, '\n', n);
	struct top *t = arg;

	if (error)
		error_set(&t->message, "%.*s",
		    (int)(newline != NULL ? newline - bytes : (long)n), bytes);
	return 0;
}

void
top_say(struct top *t, const struct top_server *s, const char *word)
{
	char line[64];
	struct error e;
	unsigned i;

	error_set(&t->message, "%s: %s", s->name, word);
	for (i = 0; i < t->pens; i++) {
		if (s->number[i] < 0)
			continue;
		snprintf(
		    line, sizeof(line), "server %d %s", s->number[i], word);
		if (ask(&t->pen[i], line, strlen(line), take_error, t, &e) ==
		    ASK_NO_ANSWER)
			t->message = e;
	}
}

/* ---- plain lines ---- */

static int
print_all(struct top *t)
{
	char line[TOP_LINE];
	uint64_t i;
	uint32_t k;

	for (i = 0; t->repeat.count == 0 || i < t->repeat.count; i++) {
		if (i > 0)
			watch_wait(&t->repeat);
		if (top_refresh(t) > 0) {
			fprintf(stderr, "penctl: %s\n", t->message.text);
			return ASK_NO_ANSWER;
		}
		printf("%s%s\n", i == 0 ? "" : "\n",
		    top_table_sums(line, &t->now, t->pens));
		printf("%s\n", top_table_headings(line, PLAIN_COLUMNS));
		for (k = 0; k < t->view.count; k++)
			printf("%s\n",
			    top_table_line(
				line, &t->view.list[k], PLAIN_COLUMNS));
		fflush(stdout);
		if (ferror(stdout))
			return ASK_NO_ANSWER;
	}
	return 0;
}

int
top(struct top *t)
{
	int status = -1;

	top_table_init(&t->now);
	top_table_init(&t->view);
	if (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		status = top_screen(t);
	if (status < 0)
		status = print_all(t);
	top_table_fini(&t->now);
	top_table_fini(&t->view);
	return status;
}
