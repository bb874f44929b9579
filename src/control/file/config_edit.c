/* config_edit.c: see config_edit.h. Lines that memory has no room for are
 * missing, which is found when the file is read back. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/file/config_edit.h"

static const char mark[] = "# overrides lines elsewhere\n";

struct edit {
	struct config_lines *have;
	struct config_line *beside; /* the lines added last; NULL: the end */
	const struct command *row;  /* of them */
	const char *service;	    /* the same */
	const char *title;	    /* of their group at the end */
	struct config_line *first;  /* of all sections; NULL: there is none */
	const char *section;	    /* what the last line is in */
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

static const char *
title_of(const struct config_lines *l, const struct command *row)
{
	return command_group_of(l->commands, row)->title;
}

/* How much the line has to do with a command of the same service. */
enum { NEAR_SERVICE = 1, NEAR_GROUP, NEAR_SAME };

/* The last line of the same command, or else of its group, or else, where there
 * are sections, of the service. */
static struct config_line *
find_kin(const struct edit *d, const struct config_line *want)
{
	const struct config_range all =
	    config_lines_of_service(d->have, want->service);
	const char *group = title_of(d->have, want->row);
	int near, best = d->first != NULL ? NEAR_SERVICE : NEAR_GROUP;
	struct config_line *kin = NULL, *i;

	for (i = all.line; i < config_range_end(all); i++) {
		near = i->mixed ? 0
		    : i->key[0] == '\0' || config_line_is_header(i)
		    ? NEAR_SERVICE
		    : i->row == want->row		 ? NEAR_SAME
		    : title_of(d->have, i->row) == group ? NEAR_GROUP
							 : NEAR_SERVICE;
		if (near > best ||
		    (near == best && (kin == NULL || i->order > kin->order)))
			kin = i, best = near;
	}
	return kin;
}

/* What `lines`, which end the file, get next is of that service. */
static void
enter(struct edit *d, struct buffer *lines, const char *service)
{
	if (strcmp(d->section, service) == 0)
		return;
	if (lines == &d->tail &&
	    (d->have->text[0] != '\0' || buffer_length(lines) > 0))
		reply_add(lines, "\n");
	reply_add(
	    lines, "service %s\n", service[0] != '\0' ? service : "default");
	d->section = service;
	d->title = NULL;
}

/* A group of the first service that the file does not have yet gets a
 * title. */
static struct buffer *
find_end(struct edit *d, const struct config_line *want)
{
	const char *title = title_of(d->have, want->row);

	enter(d, &d->tail, want->service);
	if (want->service[0] == '\0' && d->title != title)
		reply_add(&d->tail, "%s# %s\n",
		    d->have->text[0] != '\0' || d->title != NULL ? "\n" : "",
		    title);
	d->title = title;
	return &d->tail;
}

/* Beside their kin. Of the first service, there is room before the others. */
static struct buffer *
find_place(struct edit *d, const struct config_line *want)
{
	if (d->row != want->row || strcmp(d->service, want->service) != 0)
		d->beside = find_kin(d, want);
	d->row = want->row;
	d->service = want->service;
	if (d->beside != NULL)
		return &d->beside->behind;
	if (d->first != NULL && want->service[0] == '\0')
		return &d->first->before;
	return find_end(d, want);
}

/* What both have in front and at the end stays; what is between is replaced
 * one by one, as far as there is something to replace. The rest stands beside
 * them unless that is another section. */
static void
align(struct edit *d, struct config_range have, struct config_range want)
{
	struct config_line *at = have.line, *end = config_range_end(have);
	struct config_line *from = want.line, *to = config_range_end(want);
	struct config_line *last;
	struct buffer *place;

	for (; at < end && from < to && same_words(at, from); at++)
		from++;
	for (; at < end && from < to && same_words(end - 1, to - 1); end--)
		to--;
	last = end == have.line ? at : end - 1;
	place = end == have.line ? &last->before : &last->behind;
	for (; at < end; at++)
		at->instead = from < to ? from++->words : "";
	if (from < to)
		edit_add(last->mixed ? find_end(d, from) : place, from, to);
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
		align(d, have, want);
	else if (want.count > 0)
		edit_add(find_place(d, want.line), want.line, end);
}

static void
begin_last(struct edit *d)
{
	if (buffer_length(&d->last) == 0 && strstr(d->have->text, mark) == NULL)
		reply_add(&d->last, "%s", mark);
}

/* All lines, at the end, after what takes the rest back to its defaults. */
static void
say_last(struct edit *d, struct config_range have, struct config_range want)
{
	const char *name = want.line->row->name;

	for (; have.count > 0; have.count--)
		have.line++->instead = "";
	begin_last(d);
	enter(d, &d->last, want.line->service);
	if (strcmp(name, "server") == 0 && !want.line->gone)
		reply_add(&d->last, "%s remove\n", want.line->key);
	if (strcmp(name, "control") == 0)
		reply_add(
		    &d->last, "control_level admin read\ncontrol_mode 0600\n");
	edit_add(&d->last, want.line, config_range_end(want));
}

/* ---- sections ---- */

/* The service is there, even without another line; or it is not. */
static void
say_header(struct edit *d, const struct config_line *header)
{
	bool at_end = header->way == CONFIG_AT_END;

	if (at_end)
		begin_last(d);
	if (header->gone && at_end)
		edit_add(&d->last, header, header + 1);
	else if (!header->gone &&
	    (at_end || config_lines_header(d->have, header) == NULL))
		enter(d, at_end ? &d->last : &d->tail, header->service);
}

/* The lines of services that are gone go. Finds the first section, and which
 * one the file ends in then. */
static void
edit_begin(struct edit *d, const struct config_lines *wanted)
{
	const struct config_line *header, *last = NULL;
	struct config_line *i;

	for (i = d->have->line; i < config_lines_end(d->have); i++) {
		if (i->service[0] != '\0' &&
		    (d->first == NULL || i->order < d->first->order))
			d->first = i;
		header = i->service[0] != '\0' ? config_lines_header(wanted, i)
					       : NULL;
		if (header != NULL && header->gone && header->way > CONFIG_KEPT)
			i->instead = "";
		else if (last == NULL || i->order > last->order)
			last = i;
	}
	d->section = last != NULL ? last->service : "";
}

/* All lines of one service that are to be at the end, or the others. */
static void
edit_section(struct edit *d, const struct config_lines *wanted,
    struct config_range section, bool all, bool at_end)
{
	struct config_line *i = section.line;
	struct config_range want, now;

	for (; i < config_range_end(section); i += want.count) {
		want = config_lines_find(wanted, i);
		now = config_lines_find(d->have, i);
		if ((want.line->way == CONFIG_AT_END) != at_end)
			continue;
		if (config_line_is_header(i) && i->way != CONFIG_KEPT)
			say_header(d, i);
		else if (config_line_is_header(i))
			continue;
		else if (at_end)
			say_last(d, now, want);
		else if (want.line->way == CONFIG_REPLACED ||
		    (all && now.count == 0))
			replace(d, now, want);
	}
}

static int
compare_sections(const void *a, const void *b)
{
	const struct config_range *x = a, *y = b;

	return (x->line->order > y->line->order) -
	    (x->line->order < y->line->order);
}

/* In the order of the plan, whose lines have been sorted by name. */
static struct config_range *
find_sections(const struct config_lines *wanted, size_t *n)
{
	struct config_line *i = wanted->line, *end = config_lines_end(wanted);
	struct config_range *list = NULL;
	uint32_t room = 0;

	*n = 0;
	for (; i < end; i = config_range_end(list[(*n)++])) {
		struct config_range *more =
		    array_grow(list, &room, sizeof(*list), (uint32_t)*n);

		if (more == NULL) {
			free(list);
			return NULL;
		}
		list = more;
		list[*n] = config_lines_of_service(wanted, i->service);
	}
	if (*n > 0)
		qsort(list, *n, sizeof(*list), compare_sections);
	return list;
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

int
config_edit(struct config_lines *have, const struct config_lines *wanted,
    bool all, struct buffer *out)
{
	struct edit d = { .have = have, .out = out };
	struct config_line *x;
	size_t i, n;
	struct config_range *list = find_sections(wanted, &n);

	/* what was changed before is forgotten */
	for (x = have->line; x < config_lines_end(have); x++) {
		x->instead = NULL;
		buffer_fini(&x->before);
		buffer_fini(&x->behind);
	}
	d.failed = list == NULL && wanted->count > 0;
	edit_begin(&d, wanted);
	for (i = 0; list != NULL && i < n; i++)
		edit_section(&d, wanted, list[i], all, false);
	for (i = 0; list != NULL && i < n; i++)
		edit_section(&d, wanted, list[i], all, true);
	free(list);
	edit_put_all(&d);
	buffer_fini(&d.tail);
	buffer_fini(&d.last);
	return d.failed ? -1 : 0;
}
