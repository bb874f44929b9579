/* config_edit.c: see config_edit.h. Lines that memory has no room for are
 * missing, which is found when the file is read back. */
#include "config.h"

#include <string.h>

#include "control/file/config_edit.h"

static const char mark[] = "# overrides what is said elsewhere\n";

struct edit {
	struct config_lines *have;
	struct config_line *beside; /* the lines added last; NULL: the end */
	const struct command *row;  /* of them */
	const char *title;	    /* of their group at the end */
	struct buffer tail, last;   /* lines at the end */
	struct buffer *out;
	bool failed;
};

static bool
same_words(const struct config_line *a, const struct config_line *b)
{
	return strcmp(a->words, b->words) == 0;
}

static void
edit_add(struct buffer *lines, const struct config_line *from,
    const struct config_line *to)
{
	for (; from < to; from++)
		reply_line(lines, from->words);
}

/* ---- where lines go ---- */

/* What both have in front and at the end stays; what is between is replaced
 * one by one, as far as there is something to replace. */
static void
align(struct config_range have, struct config_range want)
{
	struct config_line *at = have.line, *end = config_range_end(have);
	struct config_line *from = want.line, *to = config_range_end(want);
	struct config_line *last;

	for (; at < end && from < to && same_words(at, from); at++)
		from++;
	for (; at < end && from < to && same_words(end - 1, to - 1); end--)
		to--;
	last = end == have.line ? NULL : end - 1;
	for (; at < end; at++)
		at->instead = from < to ? from++->words : "";
	edit_add(last != NULL ? &last->behind : &at->before, from, to);
}

static const char *
title_of(const struct config_lines *l, const struct command *row)
{
	return command_group_of(l->commands, row)->title;
}

/* The last line of the same command, or else of its group. */
static struct config_line *
find_kin(const struct config_lines *have, const struct command *row)
{
	const char *group = title_of(have, row);
	struct config_line *kin = NULL, *i;
	int near = 0, best = 1;

	for (i = have->line; i < config_lines_end(have); i++) {
		near = i->key[0] == '\0'	? 0
		    : i->row == row		? 2
		    : title_of(have, i->row) == group ? 1
						: 0;
		if (near > best ||
		    (near == best && (kin == NULL || i->order > kin->order)))
			kin = i, best = near;
	}
	return kin;
}

/* Beside their kin; a group that the file does not have yet gets a title. */
static struct buffer *
find_place(struct edit *d, const struct command *row)
{
	const char *title = title_of(d->have, row);

	if (d->row != row)
		d->beside = find_kin(d->have, row);
	d->row = row;
	if (d->beside != NULL)
		return &d->beside->behind;
	if (d->title != title)
		reply_add(&d->tail, "%s# %s\n",
		    d->have->text[0] != '\0' || d->title != NULL ? "\n" : "",
		    title);
	d->title = title;
	return &d->tail;
}

/* The first of several lines undoes what was set before; it is left out where
 * the file did without. */
static void
replace(struct edit *d, struct config_range have, struct config_range want)
{
	struct config_line *end = config_range_end(want);

	if (!want.line->said)
		want.line = end;
	else if (want.count > 1 &&
	    (have.count == 0 || !same_words(have.line, want.line)))
		want.line++;
	want.count = (uint32_t)(end - want.line);
	if (have.count > 0)
		align(have, want);
	else if (want.count > 0)
		edit_add(find_place(d, want.line->row), want.line, end);
}

/* All lines, at the end, behind what takes the rest back to its defaults. */
static void
say_last(struct edit *d, struct config_range have, struct config_range want)
{
	const char *name = want.line->row->name;

	for (; have.count > 0; have.count--)
		have.line++->instead = "";
	if (buffer_length(&d->last) == 0 && strstr(d->have->text, mark) == NULL)
		reply_add(&d->last, "%s", mark);
	if (strcmp(name, "server") == 0 && !want.line->gone)
		reply_add(&d->last, "%s remove\n", want.line->key);
	if (strcmp(name, "control") == 0)
		reply_add(
		    &d->last, "control_level admin look\ncontrol_mode 0600\n");
	edit_add(&d->last, want.line, config_range_end(want));
}

/* ---- the file ---- */

static void
edit_put(struct edit *d, const char *text, size_t n)
{
	if (buffer_append(d->out, text, n) < 0)
		d->failed = true;
}

/* The last line of a file may lack its end. */
static void
edit_put_lines(struct edit *d, const struct buffer *lines)
{
	size_t n = buffer_length(d->out);

	if (buffer_length(lines) > 0 && n > 0 &&
	    buffer_bytes(d->out)[n - 1] != '\n')
		edit_put(d, "\n", 1);
	edit_put(d, buffer_bytes(lines), buffer_length(lines));
}

/* A line; when none of its commands is left it goes, with its comment. */
static void
edit_put_line(struct edit *d, const struct config_line *first,
    const struct config_line *end)
{
	const char *text = d->have->text, *from = text + first->from;
	const struct config_line *i;
	bool some = false;

	for (i = first; i < end; i++)
		edit_put_lines(d, &i->before);
	for (i = first; i < end; i++) {
		const char *at = text + (some ? i : first)->at;
		const char *new = i->instead;

		if (new == NULL || new[0] != '\0') {
			edit_put(d, from, (size_t)(at - from));
			edit_put(d, new != NULL ? new : text + i->at,
			    new != NULL ? strlen(new) : i->end - i->at);
			some = true;
		}
		if (some)
			from = text + i->end;
	}
	if (some)
		edit_put(d, from, (size_t)(text + first->to - from));
	for (i = first; i < end; i++)
		edit_put_lines(d, &i->behind);
}

static void
edit_put_all(struct edit *d)
{
	struct config_lines *l = d->have;
	struct config_line *i = l->line, *end = config_lines_end(l), *next;
	const char *rest = l->text;

	config_lines_restore_order(l);
	for (; i < end; i = next) {
		for (next = i; next < end && next->from == i->from; next++)
			;
		edit_put(d, rest, (size_t)(l->text + i->from - rest));
		edit_put_line(d, i, next);
		rest = l->text + i->to;
	}
	edit_put(d, rest, strlen(rest));
	edit_put_lines(d, &d->tail);
	edit_put_lines(d, &d->last);
	config_lines_sort(l);
}

static void
forget_changes(struct config_lines *have)
{
	struct config_line *i;

	for (i = have->line; i < config_lines_end(have); i++) {
		i->instead = NULL;
		buffer_fini(&i->before);
		buffer_fini(&i->behind);
	}
}

int
config_edit(struct config_lines *have, const struct config_lines *wanted,
    bool all, struct buffer *out)
{
	struct edit d = { .have = have, .out = out };
	struct config_range want, now;
	uint32_t i;

	forget_changes(have);
	for (i = 0; i < wanted->count; i += want.count) {
		want = config_lines_find(wanted, &wanted->line[i]);
		now = config_lines_find(have, want.line);
		if (want.line->way == CONFIG_AT_END)
			say_last(&d, now, want);
		else if (want.line->way == CONFIG_REPLACED ||
		    (all && now.count == 0))
			replace(&d, now, want);
	}
	edit_put_all(&d);
	buffer_fini(&d.tail);
	buffer_fini(&d.last);
	return d.failed ? -1 : 0;
}
