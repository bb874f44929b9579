/* rooted.c: see rooted.h. */
#include "config.h"

#include <stdio.h>

#include "control/life/rooted.h"
#include "net/program/program.h"
#include "net/program/starter.h"

const char *
rooted_path(const struct pen *p, const char *path, char *text, size_t size)
{
	const char *root = p->plan->process->run.directory;

	if (p->phase >= PHASE_SERVING || root == NULL || p->predecessor.rooted)
		return path;
	snprintf(text, size, "%s/%s", root, path);
	return text;
}

int
rooted_program(const struct pen *p, const char *program, struct error *e)
{
	char text[4096];

	if (p->starter != NULL && p->phase >= PHASE_SERVING &&
	    p->plan->process->sandbox == SANDBOX_ON &&
	    !starter_has(p->starter, program))
		return error_set(e,
		    "\"%.200s\": the sandbox permits only the programs that "
		    "were configured at startup: restart pen",
		    program);
	return program_check(rooted_path(p, program, text, sizeof(text)), e);
}
