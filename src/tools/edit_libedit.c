/* edit_libedit.c: a prompt with libedit: history in a file, completion of
 * commands by TAB. Keys are those of editrc(5). */
#include "config.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "tools/edit.h"
#include "tools/names.h"

enum { HISTORY_LINES = 1000, PATH_LENGTH = 1024, COLUMN = 20, COLUMNS = 4 };

struct edit {
	EditLine *el;
	History *history;
	char path[PATH_LENGTH]; /* of the history; "": none is kept */
	const char *prompt;
	const struct target *target;
	struct names names;
	struct buffer line;
};

static struct edit *
edit_of(EditLine *el)
{
	void *data = NULL;

	el_get(el, EL_CLIENTDATA, &data);
	return data;
}

static const char *
get_prompt(EditLine *el)
{
	return edit_of(el)->prompt;
}

/* ---- completion ---- */

/* What stands before the cursor: the beginning of a command's name. */
struct stem {
	const char *start;
	size_t length;
};

static bool
edit_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A name is the first word, or the second after "help" or "no". */
static bool
find_stem(struct stem *s, const LineInfo *line)
{
	const char *first = line->buffer, *p;
	size_t n;

	while (first < line->cursor && edit_is_blank(*first))
		first++;
	for (p = line->cursor; p > first && !edit_is_blank(p[-1]); p--)
		;
	s->start = p;
	s->length = (size_t)(line->cursor - p);
	if (p == first)
		return true;
	while (p > first && edit_is_blank(p[-1]))
		p--;
	n = (size_t)(p - first);
	return (n == 4 && strncmp(first, "help", n) == 0) ||
	    (n == 2 && strncmp(first, "no", n) == 0);
}

/* Counts the names that fit; *common: what all of them begin with. */
static unsigned
count_names(const struct names *k, const struct stem *s, struct stem *common)
{
	const char *name = NULL;
	unsigned count = 0;
	size_t n, i;

	while ((name = names_next(k, name, s->start, s->length, &n)) != NULL) {
		if (count++ == 0)
			*common = (struct stem){ name, n };
		for (i = 0;
		     i < n && i < common->length && name[i] == common->start[i];
		     i++)
			;
		common->length = i;
	}
	return count;
}

static void
list_names(const struct names *k, const struct stem *s)
{
	const char *name = NULL;
	unsigned count = 0;
	size_t n;

	putchar('\n');
	while ((name = names_next(k, name, s->start, s->length, &n)) != NULL)
		printf("%-*.*s%s", COLUMN, (int)n, name,
		    ++count % COLUMNS == 0 ? "\n" : "");
	if (count % COLUMNS != 0)
		putchar('\n');
	fflush(stdout);
}

static unsigned char
edit_complete(EditLine *el, int key)
{
	struct edit *x = edit_of(el);
	struct stem stem, common;
	char rest[256];
	unsigned count;

	(void)key;
	if (!find_stem(&stem, el_line(el)))
		return CC_ERROR;
	names_query(&x->names, x->target);
	count = count_names(&x->names, &stem, &common);
	if (count == 0)
		return CC_ERROR;
	if (count > 1 && common.length == stem.length) {
		list_names(&x->names, &stem);
		return CC_REDISPLAY;
	}
	snprintf(rest, sizeof(rest), "%.*s%s",
	    (int)(common.length - stem.length), common.start + stem.length,
	    count == 1 ? " " : "");
	return el_insertstr(el, rest) < 0 ? CC_ERROR : CC_REFRESH;
}

/* ---- history ---- */

static int
open_history(struct edit *x)
{
	/* $XDG_STATE_HOME/penctl_history, or ~/.penctl_history */
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	HistEvent event;
	int n = 0;

	x->history = history_init();
	if (x->history == NULL)
		return -1;
	history(x->history, &event, H_SETSIZE, HISTORY_LINES);
	history(x->history, &event, H_SETUNIQUE, 1);
	if (state != NULL && state[0] == '/')
		n = snprintf(x->path, PATH_LENGTH, "%s/penctl_history", state);
	else if (home != NULL && home[0] == '/')
		n = snprintf(x->path, PATH_LENGTH, "%s/.penctl_history", home);
	if (n >= PATH_LENGTH)
		x->path[0] = '\0';
	if (x->path[0] != '\0')
		history(x->history, &event, H_LOAD, x->path);
	return 0;
}

void
edit_remember(struct edit *x, const char *line)
{
	HistEvent event;

	history(x->history, &event, H_ENTER, line);
	/* At once: a line may end in Ctrl-C. A file that cannot be written is
	 * no error. */
	if (x->path[0] != '\0')
		history(x->history, &event, H_SAVE, x->path);
}

/* ---- life ---- */

static int
edit_set_up(struct edit *x)
{
	x->el = el_init("penctl", stdin, stdout, stderr);
	if (x->el == NULL || open_history(x) < 0)
		return -1;
	el_set(x->el, EL_CLIENTDATA, x);
	el_set(x->el, EL_PROMPT, get_prompt);
	el_set(x->el, EL_SIGNAL, 1);
	el_set(x->el, EL_HIST, history, x->history);
	el_set(x->el, EL_EDITOR, "emacs");
	/* el_set() would copy these strings and forget the copies */
	el_wset(
	    x->el, EL_ADDFN, L"complete", L"complete a command", edit_complete);
	el_set(x->el, EL_BIND, "^I", "complete", NULL);
	el_set(x->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(x->el, NULL);
	return 0;
}

struct edit *
edit_new(const struct target *t, const char *prompt)
{
	struct edit *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	setlocale(LC_CTYPE, "");
	x->target = t;
	x->prompt = prompt;
	names_init(&x->names);
	buffer_init(&x->line);
	if (edit_set_up(x) == 0)
		return x;
	edit_free(x);
	errno = ENOMEM;
	return NULL;
}

void
edit_free(struct edit *x)
{
	if (x == NULL)
		return;
	if (x->el != NULL)
		el_end(x->el);
	if (x->history != NULL)
		history_end(x->history);
	names_fini(&x->names);
	buffer_fini(&x->line);
	free(x);
}

const char *
edit_line(struct edit *x)
{
	const char *line;
	int n = 0;

	errno = 0;
	line = el_gets(x->el, &n);
	if (line == NULL || n <= 0) {
		errno = n < 0 ? errno : 0;
		return NULL;
	}
	while (n > 0 && strchr(" \t\r\n", line[n - 1]) != NULL)
		n--;
	buffer_consume(&x->line, buffer_length(&x->line));
	if (buffer_append(&x->line, line, (size_t)n) < 0 ||
	    buffer_append(&x->line, "", 1) < 0)
		return NULL;
	return buffer_bytes(&x->line);
}

bool
edit_is_rich(void)
{
	return true;
}
