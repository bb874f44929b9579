/* process_role.c: see process_role.h. */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "control/life/context.h"

void
process_role_mute(struct pen *p, bool muted)
{
	if (p->role.member == 0)
		return;
	p->role.muted = muted;
	log_level = muted		  ? LOG_LEVEL_NONE
	    : p->plan->process->debug > 0 ? LOG_LEVEL_DEBUG
					  : LOG_LEVEL_INFO;
}

/* ---- a change ---- */

void
process_role_begin_change(
    struct pen *p, const char *line, size_t length, const char *service)
{
	struct process_role_change *c = &p->role.change;

	c->line = line;
	c->length = length;
	c->service = service;
	if (p->role.member == 0)
		buffer_cut(&c->files, 0);
}

void
process_role_end_change(struct pen *p)
{
	struct process_role_change *c = &p->role.change;

	c->line = NULL;
	if (p->role.member == 0)
		buffer_fini(&c->files);
}

int
process_role_add_file(
    struct pen *p, const char *path, const struct buffer *text, struct error *e)
{
	struct process_role_change *c = &p->role.change;

	if (p->role.workers == NULL || c->line == NULL)
		return 0;
	if (buffer_append(&c->files, path, strlen(path) + 1) < 0 ||
	    buffer_append(&c->files, buffer_bytes(text), buffer_length(text)) <
		0)
		return error_set(e, "out of memory");
	return 0;
}

int
process_role_next_file(
    struct pen *p, const char *path, struct buffer *text, struct error *e)
{
	struct buffer *files = &p->role.change.files;
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
