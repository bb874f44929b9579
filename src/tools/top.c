/* top.c: queries and commands to pens, and plain lines. */
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
top_add_lines(
    struct top_table *t, unsigned pen, const char *service, struct buffer *text)
{
	char *line, *rest;

	if (buffer_append(text, "", 1) < 0)
		return -1;
	rest = text->data + text->start;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (top_table_add(t, pen, service, line) < 0)
			return -1;
	return 0;
}

/* The command, for that service; "": the only one. */
static void
line_for(char line[TOP_LINE], const char *service, const char *command)
{
	if (*service == '\0')
		snprintf(line, TOP_LINE, "%s", command);
	else
		snprintf(line, TOP_LINE, "service %.100s %s", service, command);
}

/* `service` as for line_for(). With ASK_ANSWERED they are in the table; else
 * t->message is set. */
static enum ask_status
ask_for_servers(
    struct top *t, struct top_table *to, unsigned pen, const char *service)
{
	struct buffer text;
	struct error e;
	enum ask_status status;
	char line[TOP_LINE];

	line_for(line, service, "servers long");
	buffer_init(&text);
	error_set(&e, "out of memory");
	status = ask(&t->pen[pen], line, strlen(line), ask_append, &text, &e);
	if (status == ASK_REFUSED)
		error_set(&e, "pen refuses to list %s servers%s%.100s",
		    *service == '\0' ? "its" : "the",
		    *service == '\0' ? "" : " of ", service);
	if (status == ASK_ANSWERED &&
	    top_add_lines(to, pen, service, &text) < 0)
		status = ASK_STOPPED;
	buffer_fini(&text);
	if (status != ASK_ANSWERED)
		t->message = e;
	return status;
}

/* Requests the servers of each service of a list. A service that is refused was
 * removed just now. */
static int
ask_for_each(
    struct top *t, struct top_table *to, unsigned pen, struct buffer *list)
{
	char *rest = list->data + list->start, *line, *name;
	enum ask_status status;

	while ((line = strsep(&rest, "\n")) != NULL) {
		name = strsep(&line, " ");
		if (line == NULL || strncmp(line, "state leaving ", 14) == 0)
			continue;
		status = ask_for_servers(t, to, pen, name);
		if (status != ASK_ANSWERED && status != ASK_REFUSED)
			return -1;
	}
	return 0;
}

/* Whether there is more than "default", which an older pen has, too. */
static bool
are_several(const struct buffer *list)
{
	const char *text = list->data + list->start;
	const char *end = strchr(text, '\n');

	return end != NULL &&
	    (end[1] != '\0' || strncmp(text, "default ", 8) != 0);
}

/* Adds up the values of the services that are shown. */
static void
add_sums(struct top_sums *sums, const struct buffer *list, const char *only)
{
	char *copy = strdup(list->data + list->start), *rest = copy, *line;
	size_t n = only != NULL ? strlen(only) : 0;

	while (copy != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (only == NULL ||
		    (strncmp(line, only, n) == 0 && line[n] == ' '))
			top_sums_add(sums, line);
	free(copy);
}

/* Returns 0, or -1 with t->message. */
static int
ask_one(
    struct top *t, struct top_table *to, struct top_sums *sums, unsigned pen)
{
	static const char line[] = "services";
	const char *only = t->service;
	enum ask_status status;
	struct buffer list;
	int rc = -1;

	buffer_init(&list);
	status = ask(&t->pen[pen], line, sizeof(line) - 1, ask_append, &list,
	    &t->message);
	if (status == ASK_STOPPED || buffer_append(&list, "", 1) < 0) {
		error_set(&t->message, "out of memory");
		status = ASK_NO_ANSWER;
	}
	if (status == ASK_ANSWERED)
		add_sums(sums, &list, only);
	if (status == ASK_ANSWERED && only == NULL && are_several(&list))
		rc = ask_for_each(t, to, pen, &list);
	else if (status != ASK_NO_ANSWER &&
	    ask_for_servers(t, to, pen, only != NULL ? only : "") ==
		ASK_ANSWERED)
		rc = 0;
	buffer_fini(&list);
	return rc;
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
	struct top_sums sums = { .directors = 0 };
	struct top_table fresh;
	unsigned i, failed = 0;

	if (t->failing)
		t->message.text[0] = '\0';
	top_table_init(&fresh);
	for (i = 0; i < t->pens; i++)
		failed += ask_one(t, &fresh, &sums, i) < 0;
	t->failing = failed > 0;
	top_table_settle(&fresh, &t->now, clock_monotonic_ms());
	top_table_fini(&t->now);
	t->now = fresh;
	t->sums_before = t->sums;
	t->sums = sums;
	top_arrange(t);
	return failed;
}

const char *
top_headline(const struct top *t, char line[TOP_LINE])
{
	char more[TOP_LINE];
	size_t n;

	top_table_sums(line, &t->now, t->pens);
	n = strlen(line);
	snprintf(line + n, TOP_LINE - n, "%s",
	    top_sums_text(more, &t->sums, &t->sums_before));
	return line;
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
top_send(struct top *t, const struct top_server *s, const char *word)
{
	char command[64], line[TOP_LINE];
	struct error e;
	unsigned i;

	error_set(&t->message, "%s: %s", s->name, word);
	for (i = 0; i < t->pens; i++) {
		if (s->number[i] < 0)
			continue;
		snprintf(command, sizeof(command), "server %d %s", s->number[i],
		    word);
		line_for(line, s->service, command);
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
	int status;

	for (i = 0; t->repeat.count == 0 || i < t->repeat.count; i++) {
		if (i > 0)
			watch_wait(&t->repeat);
		if (top_refresh(t) > 0) {
			fprintf(stderr, "penctl: %s\n", t->message.text);
			return ASK_NO_ANSWER;
		}
		printf("%s%s\n", i == 0 ? "" : "\n", top_headline(t, line));
		printf("%s\n", top_table_headings(line, PLAIN_COLUMNS));
		for (k = 0; k < t->view.count; k++)
			printf("%s\n",
			    top_table_line(
				line, &t->view.list[k], PLAIN_COLUMNS));
		if (!watch_flush(&status))
			return status;
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
