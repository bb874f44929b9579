/* environment.c: strings in an array that grows. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"

/* Beginnings of names. */
static const char *const not_inherited[] = { "NOTIFY_SOCKET=", "LISTEN_",
	"WATCHDOG_", "PEN_", NULL };

static bool
is_inherited(const char *entry)
{
	const char *const *n;

	for (n = not_inherited; *n != NULL; n++)
		if (strncmp(entry, *n, strlen(*n)) == 0)
			return false;
	return true;
}

/* The list takes `entry` over; NULL: memory was short. */
static void
append(struct environment *e, char *entry)
{
	unsigned room = e->room > 0 ? e->room * 2 : 32;
	char **list = e->list;

	if (e->count + 1 >= e->room && entry != NULL) {
		list = realloc(e->list, room * sizeof(*list));
		if (list != NULL) {
			e->list = list;
			e->room = room;
		}
	}
	if (list == NULL || entry == NULL) {
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
			append(e, strdup(*own));
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
	append(e, entry);
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
