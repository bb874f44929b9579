/* environment.c: strings in an array that grows. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"

extern char **environ; /* some systems declare it nowhere */

/* Names, and beginnings of names that end with an underscore. */
static const char *const inherited[] = { "PATH", "HOME", "USER", "LOGNAME",
	"SHELL", "LANG", "LC_", "TZ", "TMPDIR", NULL };

static bool
is_inherited(const char *entry)
{
	const char *const *name;

	for (name = inherited; *name != NULL; name++) {
		size_t n = strlen(*name);

		if (strncmp(entry, *name, n) == 0 &&
		    (entry[n] == '=' || entry[n - 1] == '_'))
			return true;
	}
	return false;
}

/* Makes sure that another entry and the NULL after it fit. */
static bool
environment_grow(struct environment *e)
{
	unsigned size = e->size > 0 ? e->size * 2 : 32;
	char **list;

	if (e->count + 1 < e->size)
		return true;
	list = realloc(e->list, size * sizeof(*list));
	if (list == NULL)
		return false;
	e->list = list;
	e->size = size;
	return true;
}

/* The list takes `entry` over; NULL: memory was short. */
static void
environment_append(struct environment *e, char *entry)
{
	if (entry == NULL || !environment_grow(e)) {
		e->failed = true;
		free(entry);
		return;
	}
	e->list[e->count++] = entry;
	e->list[e->count] = NULL;
}

void
environment_init(struct environment *e)
{
	char **own;

	*e = (struct environment){ .list = NULL };
	for (own = environ; own != NULL && *own != NULL; own++)
		if (is_inherited(*own))
			environment_append(e, strdup(*own));
}

void
environment_add(struct environment *e, const char *name, const char *fmt, ...)
{
	va_list args;
	char *entry;
	size_t head = strlen(name) + 1;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	entry = malloc(head + (size_t)n + 1);
	if (entry != NULL) {
		snprintf(entry, head + 1, "%s=", name);
		va_start(args, fmt);
		vsnprintf(entry + head, (size_t)n + 1, fmt, args);
		va_end(args);
	}
	environment_append(e, entry);
}

void
environment_fini(struct environment *e)
{
	unsigned i;

	for (i = 0; i < e->count; i++)
		free(e->list[i]);
	free(e->list);
	*e = (struct environment){ .list = NULL };
}

char **
environment_with(char *word, char *more)
{
	size_t n = 0;
	char **list;

	while (environ[n] != NULL)
		n++;
	list = calloc(n + 3, sizeof(char *));
	if (list == NULL)
		return NULL;
	memcpy(list, environ, n * sizeof(char *));
	list[n] = word;
	list[n + 1] = more;
	return list;
}
