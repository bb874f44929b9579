/* write_command.c: the command write. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "control/commands/commands.h"
#include "control/language/command.h"
#include "control/file/config_file.h"
#include "control/file/config_merge.h"
#include "control/life/context.h"

enum { FILE_MAX = 64 * 1024 * 1024 };

struct wanted {
	const char *path;
	bool all;
	bool own; /* the file that pen was started with */
};

static int
write_parse(const struct call *c, struct wanted *w, struct error *e)
{
	int at = c->words->count > 0 && strcmp(c->words->word[0], "all") == 0;

	*w = (struct wanted){ .all = at > 0 };
	if (c->words->count > at + 1)
		return error_set(e, "expects %s", c->row->args);
	w->own = c->words->count == at;
	/* `penctl --json` adds it to each command */
	if (!w->own && strcmp(c->words->word[at], "json") == 0)
		return error_set(e, "has no JSON; ./json is a file");
	if (!w->own && call_needs_local(c, e) < 0)
		return -1;
	if (w->own && plan_is_from_stdin(c->draft))
		return error_set(e, "no FILE, and pen was started with -F -");
	w->path = w->own ? c->draft->process->file : c->words->word[at];
	return w->path != NULL
	    ? 0
	    : error_set(e, "no FILE, and pen was started without -F");
}

/* The user that may not write there is not always the one that started pen. */
static int
write_refuse(
    const struct call *c, const char *path, const char *why, struct error *e)
{
	const struct process_options *o = &c->draft->process->run;
	const char *user = o->user, *root = o->directory;

	return error_set(e, "\"%.300s\": %.200s%s%.60s%s%.200s%s", path, why,
	    user != NULL ? " (pen runs as user " : "", user != NULL ? user : "",
	    root == NULL       ? ""
		: user != NULL ? ", in "
			       : " (pen runs in ",
	    root != NULL ? root : "", user != NULL || root != NULL ? ")" : "");
}

/* Reads the present file; *there is whether it is a regular file. */
static int
read_old(const char *path, bool *there, struct buffer *old, struct error *e)
{
	struct stat st;

	*there = stat(path, &st) == 0;
	if (!*there)
		return errno == ENOENT ? 0
				       : error_set(e, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode)) /* a pipe, or a terminal, gets all of it */
		*there = false;
	else if (file_read(path, FILE_MAX, false, old, e) < 0)
		return -1;
	if (memchr(buffer_bytes(old), '\0', buffer_length(old)) == NULL)
		return 0;
	return error_set(e, "contains a NUL byte");
}

static int
make_text(const struct call *c, const struct wanted *w,
    const struct buffer *old, bool there, struct buffer *new, struct error *e)
{
	struct error why;

	if (config_check_services(c->pen->plan, NULL, &why) < 0)
		return error_set(e, "not written: %.450s", why.text);
	if (w->all && !there) {
		plan_print(c->pen->plan, new);
		return 0;
	}
	if (config_merge(c->pen, w->path, old, w->all, new, &why) == 0)
		return 0;
	return error_set(e, "not written: %.450s", why.text);
}

/* A new file is as open as the one that pen was started with, which may have
 * what others must not read. */
static mode_t
mode_of_new(const struct call *c)
{
	const char *file = c->draft->process->file;
	struct stat st;

	return file != NULL && stat(file, &st) == 0 && S_ISREG(st.st_mode)
	    ? st.st_mode & 0666
	    : 0644;
}

static int
save_file(struct call *c, const struct wanted *w, struct buffer *old,
    struct buffer *new, struct error *e)
{
	struct error why;
	bool there;

	if (read_old(w->path, &there, old, &why) < 0)
		return write_refuse(c, w->path, why.text, e);
	if (w->own && !there && c->draft->process->run.directory != NULL)
		return write_refuse(c, w->path, "does not exist", e);
	if (make_text(c, w, old, there, new, e) < 0)
		return -1;
	if (file_replace_kept(
		w->path, there ? old : NULL, new, mode_of_new(c), &why) < 0)
		return write_refuse(c, w->path, why.text, e);
	return 0;
}

static int
run_write(struct call *c, struct error *e)
{
	struct buffer old, new;
	struct wanted w;
	int rc;

	if (write_parse(c, &w, e) < 0)
		return -1;
	buffer_init(&old);
	buffer_init(&new);
	rc = save_file(c, &w, &old, &new, e);
	buffer_fini(&old);
	buffer_fini(&new);
	return rc;
}

const struct command write_commands[] = {
	{ .name = "write",
	    .kind = KIND_ACTION,
	    .scope = SCOPE_PROCESS,
	    .run = run_write,
	    .args = "[all] [FILE]",
	    .help = "saves the running configuration as commands, without "
		    "defaults, or all of it; keeps comments and order" },
	{ .name = NULL },
};
