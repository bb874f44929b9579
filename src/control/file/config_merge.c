/* config_merge.c: see config_merge.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/file/config_merge.h"
#include "control/file/config_edit.h"
#include "control/apply/derive.h"
#include "control/plan/server_index.h"

/* What a start knows: no server is in force. Lists that are in force are shared
 * with what is read, and so are addresses that were looked up. */
static int
open_start(struct pen *start, const struct pen *p)
{
	*start = *p;
	start->loads = NULL;
	start->index = server_index_new();
	start->pool = pool_new();
	start->plan = plan_copy(p->plan);
	if (start->index == NULL || start->pool == NULL || start->plan == NULL)
		return -1;
	plan_servers_fini(&start->plan->servers);
	return plan_servers_init(&start->plan->servers);
}

static void
close_start(struct pen *start)
{
	server_index_free(start->index);
	pool_free(start->pool);
	plan_free(start->plan);
}

struct merge {
	struct pen *pen;
	struct pen start;
	const char *path;
	struct plan *given; /* by the command line */
	struct plan *plain; /* nothing but defaults */
	struct config_edit edit;
};

static int
lines_of(struct config_lines *l, const struct plan *p)
{
	struct plan *copy = plan_copy(p);
	int rc;

	if (copy == NULL)
		return -1;
	derive_settings(copy, 0, 0);
	apply_acls_forget(copy);
	rc = config_lines_of_plan(l, copy);
	plan_free(copy);
	return rc;
}

/* Reads the text on top of `base`, in the context of a start or a reload: `got`
 * is what that gives. */
static int
read_text(const struct merge *m, struct config_text *t, struct pen *where,
    const struct plan *base, struct config_lines *got, struct error *e)
{
	struct reply unheard;
	struct call c = { .pen = where, .reply = &unheard };
	int rc;

	c.plan = plan_copy(base);
	if (c.plan == NULL)
		return error_set(e, "out of memory");
	reply_init(&unheard);
	rc = config_text_run(t, &c, m->path, e);
	reply_fini(&unheard);
	if (rc == 0 && lines_of(got, c.plan) < 0)
		rc = error_set(e, "out of memory");
	plan_free(c.plan);
	return rc;
}

static int
try_text(struct merge *m, struct config_text *t, struct pen *where,
    const struct plan *base, struct error *e)
{
	struct config_lines got;
	int rc;

	config_lines_init(&got);
	rc = read_text(m, t, where, base, &got, e);
	if (rc == 0)
		config_edit_note(&m->edit, &got);
	config_lines_fini(&got);
	return rc;
}

/* Reads what the edit has become as a reload does, and a start, with the
 * command line and without: a file that needs it cannot be read without it. */
static int
read_again(struct merge *m, const struct buffer *now, struct error *e)
{
	struct config_text t;
	struct error why;
	int rc = config_text_init(&t, m->path, now, e);

	if (rc == 0)
		rc = try_text(m, &t, m->pen, m->given, e);
	if (rc == 0)
		rc = try_text(m, &t, &m->start, m->given, e);
	if (rc == 0)
		(void)try_text(m, &t, &m->start, m->plain, &why);
	config_text_fini(&t);
	return rc;
}

/* Each round what differs is said with more emphasis, so there are few. */
static int
settle(struct merge *m, struct buffer *out, struct error *e)
{
	do {
		if (config_edit_go_on(&m->edit, e) < 0)
			return -1;
		buffer_cut(out, 0);
		if (config_edit_write(&m->edit, out) < 0)
			return error_set(e, "out of memory");
		if (read_again(m, out, e) < 0)
			return -1;
	} while (config_edit_is_wrong(&m->edit));
	return 0;
}

static int
begin(struct merge *m, const struct buffer *old, struct error *e)
{
	struct config_edit *edit = &m->edit;
	struct config_lines got;
	int rc;

	m->given = plan_copy(m->pen->given);
	m->plain = plan_new();
	if (m->given == NULL || m->plain == NULL ||
	    open_start(&m->start, m->pen) < 0 ||
	    lines_of(&edit->given, m->given) < 0 ||
	    lines_of(&edit->plain, m->plain) < 0 ||
	    lines_of(&edit->want, m->pen->plan) < 0)
		return error_set(e, "out of memory");
	edit->defaults = m->plain;
	if (config_text_init(&edit->text, m->path, old, e) < 0)
		return -1;
	config_lines_init(&got);
	rc = read_text(m, &edit->text, &m->start, m->given, &got, e);
	if (rc == 0 && config_edit_begin(edit, &got) < 0)
		rc = error_set(e, "out of memory");
	config_lines_fini(&got);
	return rc;
}

int
config_merge(struct pen *p, const char *path, const struct buffer *old,
    bool all, struct buffer *out, struct error *e)
{
	struct merge m = { .pen = p, .path = path };
	int rc;

	config_edit_init(&m.edit);
	m.edit.plan = p->plan;
	m.edit.all = all;
	rc = begin(&m, old, e);
	if (rc == 0)
		rc = settle(&m, out, e);
	config_edit_fini(&m.edit);
	close_start(&m.start);
	plan_free(m.given);
	plan_free(m.plain);
	return rc;
}
