/* team.c: see team.h. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "control/life/context.h"

void
team_hush(struct pen *p, bool quiet)
{
	if (p->team.member == 0)
		return;
	p->team.quiet = quiet;
	log_level = quiet		    ? LOG_LEVEL_NONE
	    : p->plan->process->debug > 0 ? LOG_LEVEL_DEBUG
					: LOG_LEVEL_INFO;
}

/* ---- a change ---- */

void
team_begin_change(
    struct pen *p, const char *line, size_t length, const char *service)
{
	struct team_change *c = &p->team.change;

	c->line = line;
	c->length = length;
	c->service = service;
	if (p->team.member == 0)
		buffer_cut(&c->files, 0);
}

void
team_end_change(struct pen *p)
{
	struct team_change *c = &p->team.change;

	c->line = NULL;
	if (p->team.member == 0)
		buffer_fini(&c->files);
}

int
team_add_file(
    struct pen *p, const char *path, const struct buffer *text, struct error *e)
{
	struct team_change *c = &p->team.change;

	if (p->team.workers == NULL || c->line == NULL)
		return 0;
	if (buffer_append(&c->files, path, strlen(path) + 1) < 0 ||
	    buffer_append(
		&c->files, buffer_bytes(text), buffer_length(text)) < 0)
		return error_set(e, "out of memory");
	return 0;
}

int
team_next_file(
    struct pen *p, const char *path, struct buffer *text, struct error *e)
{
	struct buffer *files = &p->team.change.files;
	size_t n = strlen(path) + 1;

	if (buffer_length(files) <= n ||
	    memcmp(buffer_bytes(files), path, n) != 0)
		return error_set(e,
		    "\"%.300s\": the files are not those of the leader", path);
	buffer_consume(files, n);
	n = strlen(buffer_bytes(files)) + 1;
	if (buffer_append(text, buffer_bytes(files), n) < 0)
		return error_set(e, "out of memory");
	buffer_consume(files, n);
	return 0;
}
