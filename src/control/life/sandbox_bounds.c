/* sandbox_bounds.c: a list of lines: "r DIRECTORY", "w DIRECTORY", "j ROOT",
 * "p PROGRAM" with its arguments behind unit separators, "u sockets" for Unix
 * sockets. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/life/sandbox_bounds.h"
#include "control/life/sandbox_plan.h"

/* A word of the environment is at most 128 kB long (execve(2)). */
enum { BOUNDS_MAX = 100 * 1024 };
static const char NAME[] = "PEN_BOUNDS";
/* No plan is within it. */
static const char NOTHING[] = "-\n";

/* ---- a list ---- */

/* Whether `path` is `of`, or below it. */
static bool
is_within(const char *path, size_t n, const char *of, size_t k)
{
	return n >= k && memcmp(path, of, k) == 0 &&
	    (n == k || path[k] == '/' || (k == 1 && of[0] == '/'));
}

/* Whether a line permits another one. */
static bool
line_permits(const char *line, size_t k, const char *other, size_t n)
{
	if (n < 2 || k < 2)
		return false;
	if (other[0] == 'r')
		return (line[0] == 'r' || line[0] == 'w') &&
		    is_within(other + 2, n - 2, line + 2, k - 2);
	if (other[0] == 'w')
		return line[0] == 'w' &&
		    is_within(other + 2, n - 2, line + 2, k - 2);
	return n == k && memcmp(other, line, n) == 0;
}

static bool
list_permits(const char *list, const char *other, size_t n)
{
	size_t k;

	for (; *list != '\0'; list += k + 1) {
		k = strcspn(list, "\n");
		if (line_permits(list, k, other, n))
			return true;
		if (list[k] == '\0')
			break;
	}
	return false;
}

/* ---- whether there are any ---- */

/* Whether this process could replace or write the file. */
static bool
may_write(const char *list, const char *file)
{
	char real[PATH_MAX], line[PATH_MAX + 2] = "w ";
	char *slash;

	if (realpath(file, real) == NULL)
		return true; /* or make it */
	if (access(real, W_OK) < 0) {
		slash = strrchr(real, '/');
		slash[slash == real] = '\0';
		if (access(real, W_OK) < 0)
			return false;
	}
	memcpy(line + 2, real, strlen(real) + 1);
	return list == NULL || list_permits(list, line, strlen(line));
}

static bool
may_write_configuration(const struct pen *p, const char *list)
{
	const struct buffer *all = &p->included;
	const char *at, *end;

	if (p->plan->process->file == NULL)
		return false;
	if (may_write(list, p->plan->process->file))
		return true;
	if (buffer_length(all) == 0)
		return false;
	at = all->data + all->start;
	end = at + buffer_length(all);
	for (; at < end; at += strlen(at) + 1)
		if (may_write(list, at))
			return true;
	return false;
}

char *
sandbox_bounds_new(const struct pen *p, bool *failed)
{
	struct buffer list;
	char *word = NULL;
	const char *text;

	*failed = false;
	if (p->plan->process->sandbox != SANDBOX_ON)
		return NULL;
	buffer_init(&list);
	if (sandbox_plan_list(p, &list) < 0 ||
	    buffer_append(&list, "", 1) < 0) {
		*failed = true;
		buffer_fini(&list);
		return NULL;
	}
	text = list.data + list.start;
	if (may_write_configuration(p, text)) {
		if (strlen(text) > BOUNDS_MAX)
			text = NOTHING;
		word = malloc(sizeof(NAME) + 1 + strlen(text));
		*failed = word == NULL;
		if (word != NULL)
			stpcpy(stpcpy(stpcpy(word, NAME), "="), text);
	}
	buffer_fini(&list);
	return word;
}

/* ---- in the new process ---- */

void
sandbox_bounds_take(struct pen *p)
{
	const char *text = getenv(NAME);

	if (text == NULL)
		return;
	p->bounds = strdup(text);
	if (p->bounds == NULL)
		p->bounds = strdup(NOTHING);
	unsetenv(NAME);
	process_role_mute(p, true);
}

static int
bounds_compare(const struct pen *p, const char *mine, struct error *e)
{
	size_t n;

	for (; *mine != '\0'; mine += n + 1) {
		n = strcspn(mine, "\n");
		if (!list_permits(p->bounds, mine, n))
			return error_set(e,
			    "sandbox: \"%.*s\" was not permitted to the "
			    "process that pen replaces, which can write "
			    "the configuration: restart pen",
			    (int)(n > 300 ? 300 : n), mine);
	}
	return 0;
}

int
sandbox_bounds_check(struct pen *p, struct error *e)
{
	struct buffer list;
	int rc;

	if (p->bounds == NULL)
		return 0;
	process_role_mute(p, false);
	if (p->plan->process->sandbox != SANDBOX_ON)
		return error_set(e,
		    "sandbox: must stay on: the process that pen replaces "
		    "has it on and can write the configuration: restart pen");
	buffer_init(&list);
	rc = sandbox_plan_list(p, &list) < 0 || buffer_append(&list, "", 1) < 0
	    ? error_set(e, "out of memory")
	    : bounds_compare(p, list.data + list.start, e);
	buffer_fini(&list);
	free(p->bounds);
	p->bounds = NULL;
	return rc;
}
