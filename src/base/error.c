/* error.c: formats the one line; keeps several. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"

int
error_set(struct error *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	text_show(e->text, sizeof(e->text));
	return -1;
}

int
error_of(struct error *e, const char *fmt, ...)
{
	const struct error phrase = *e;
	va_list args;
	size_t n;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", phrase.text);
	text_show(e->text, sizeof(e->text));
	return -1;
}

/* ---- several ---- */

void
errors_init(struct errors *all)
{
	memset(all, 0, sizeof(*all));
	buffer_init(&all->refused);
}

void
errors_fini(struct errors *all)
{
	free(all->list);
	buffer_fini(&all->refused);
	errors_init(all);
}

static unsigned
kept_count(const struct errors *all)
{
	if (all == NULL || all->list == NULL)
		return 0;
	return all->count < ERRORS_MAX ? all->count : ERRORS_MAX;
}

/* Adds an error to the list; without memory it is only counted. */
bool
errors_add(struct errors *all, const struct error *e)
{
	if (all == NULL)
		return false;
	if (all->count == 0)
		all->list = calloc(ERRORS_MAX, sizeof(*all->list));
	if (all->list != NULL && all->count < ERRORS_MAX)
		all->list[all->count] = *e;
	all->count++;
	return true;
}

unsigned
errors_count(const struct errors *all)
{
	return all != NULL ? all->count : 0;
}

bool
errors_at(const struct errors *all, unsigned i, struct error *e)
{
	unsigned n = kept_count(all), more = errors_count(all) - n;

	if (i < n)
		*e = all->list[i];
	else if (i == n && more > 0)
		error_set(e, "%u more error%s", more, more == 1 ? "" : "s");
	return i < n + (more > 0);
}

void
errors_of(struct errors *all, unsigned from, const char *operand)
{
	for (; from < kept_count(all); from++)
		error_of(&all->list[from], "%.380s", operand);
}

void
errors_refuse(struct errors *all, const char *line)
{
	if (all == NULL)
		return;
	(void)buffer_append(&all->refused, line, strlen(line));
	(void)buffer_append(&all->refused, "\n", 1);
}

/* Any word may be in a file that was not read. */
bool
errors_may_define(const struct errors *all, const char *word)
{
	const char *text, *end;
	size_t n = strlen(word);

	if (all == NULL || buffer_length(&all->refused) == 0)
		return false;
	text = buffer_bytes(&all->refused);
	end = text + buffer_length(&all->refused);
	for (; text < end; text++)
		if (((size_t)(end - text) >= n &&
			memcmp(text, word, n) == 0) ||
		    (end - text >= 7 && memcmp(text, "include", 7) == 0))
			return true;
	return false;
}
