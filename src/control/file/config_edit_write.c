/* config_edit_write.c: the changes of an edit, made in its text. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/file/config_edit_private.h"
#include "control/plan/server_setting.h"
#include "control/registry.h"

static const char mark[] = "# overrides what is said elsewhere\n";

/* ---- the lines that set a thing ---- */

/* In their order. Those in front that only undo what was set before are left
 * out where nothing was. */
struct lines {
	struct buffer text;
	char **line; /* into the text, without the ends */
	uint32_t count;
	uint32_t undo; /* of them */
};

static void
free_lines(struct lines *l)
{
	buffer_fini(&l->text);
	free(l->line);
}

/* What undoes all that was set before, where the lines themselves do not. */
static void
add_undo(
    const struct config_thing *x, struct config_range want, struct lines *l)
{
	const char *name = x->row->name;

	l->undo = 1;
	if (want.count > 0 && strncmp(want.line[0].words, "no acl ", 7) == 0)
		l->undo = 0;
	else if (strcmp(name, "server") == 0)
		reply_add(&l->text, "%s remove\n", x->key);
	else if (strcmp(name, "acl") == 0 || strcmp(name, "route") == 0)
		reply_add(&l->text, "no %s\n", x->key);
	else if (strncmp(name, "control", 7) == 0 &&
	    strcmp(x->key, "control") == 0)
		reply_add(&l->text, "no control\n");
	else /* the first of several lines is one */
		l->undo = want.count > 1 && x->row->kind != KIND_BITS;
}

static void
add_short_server(
    const struct config_edit *d, const struct config_thing *x, struct lines *l)
{
	unsigned number =
	    (unsigned)strtoul(x->key + strlen("server "), NULL, 10);

	reply_add(&l->text, "%s", x->key);
	server_setting_print_short(plan_server(d->plan, number), &l->text);
	(void)buffer_append(&l->text, "\n", 1);
}

static void
add_short_controls(const struct config_edit *d, struct lines *l)
{
	const struct control_plan *before = &d->defaults->next_control;
	unsigned i;

	for (i = 0; i < d->plan->control_count; i++) {
		plan_print_control(&d->plan->controls[i], before, &l->text);
		before = &d->plan->controls[i];
	}
}

/* Options of which each is said by itself: those that nobody has changed. */
static bool
is_default_bit(const struct config_edit *d, const struct config_thing *x,
    const char *words)
{
	struct config_range plain = config_lines_find(&d->plain, x->key);
	struct config_range given = config_lines_find(&d->given, x->key);
	uint32_t i;

	if (d->all || x->row->kind != KIND_BITS || x->way == CONFIG_AT_END)
		return false;
	for (i = 0; i < plain.count && i < given.count; i++)
		if (strcmp(words, plain.line[i].words) == 0)
			return strcmp(words, given.line[i].words) == 0;
	return false;
}

static void
add_plain_lines(const struct config_edit *d, const struct config_thing *x,
    struct config_range want, struct lines *l)
{
	uint32_t i;

	for (i = 0; i < want.count; i++)
		if (!is_default_bit(d, x, want.line[i].words))
			reply_line(&l->text, want.line[i].words);
}

static void
add_wanted(
    const struct config_edit *d, const struct config_thing *x, struct lines *l)
{
	struct config_range want = config_lines_find(&d->want, x->key);
	bool brief = !d->all && x->way != CONFIG_AT_END;

	add_undo(x, want, l);
	if (want.count > 0 && brief && strcmp(x->row->name, "server") == 0)
		add_short_server(d, x, l);
	else if (brief && strcmp(x->key, "control") == 0)
		add_short_controls(d, l);
	else
		add_plain_lines(d, x, want, l);
}

/* Cuts the text into its lines, in place. */
static int
cut_lines(struct lines *l)
{
	size_t n = buffer_length(&l->text), i;
	char *at, *end;

	for (i = 0; i < n; i++)
		l->count += buffer_bytes(&l->text)[i] == '\n';
	l->line = calloc(l->count + 1, sizeof(*l->line));
	if (l->line == NULL || buffer_append(&l->text, "", 1) < 0)
		return -1;
	at = l->text.data + l->text.start;
	for (i = 0; i < l->count; i++, at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		l->line[i] = at;
	}
	return 0;
}

static int
lines_of(
    const struct config_edit *d, const struct config_thing *x, struct lines *l)
{
	memset(l, 0, sizeof(*l));
	buffer_init(&l->text);
	if (x->way == CONFIG_AT_END || !config_edit_is_default(d, x))
		add_wanted(d, x, l);
	return cut_lines(l);
}

/* ---- instead of others ---- */

/* Lines from..to, each with its end. NULL with errno ENOMEM. */
static char *
join(const struct lines *l, uint32_t from, uint32_t to)
{
	struct buffer text;
	char *joined = NULL;

	buffer_init(&text);
	for (; from < to; from++)
		reply_line(&text, l->line[from]);
	if (buffer_append(&text, "", 1) == 0)
		joined = strdup(buffer_bytes(&text));
	buffer_fini(&text);
	return joined;
}

static int
put(struct config_edit *d, const struct lines *l, uint32_t from, uint32_t to,
    int (*how)(struct config_text *t, uint32_t item, const char *lines),
    uint32_t item)
{
	char *text = join(l, from, to);
	int rc = text != NULL ? how(&d->text, item, text) : -1;

	free(text);
	return rc;
}

/* What both have in front and at the end stays; what is between is replaced
 * one by one, as far as there is something to replace. */
static int
align(struct config_edit *d, struct config_range have, const struct lines *l,
    uint32_t first)
{
	uint32_t a = 0, from = first, b = have.count, to = l->count, n;

	while (a < b && from < to &&
	    strcmp(have.line[a].words, l->line[from]) == 0)
		a++, from++;
	while (a < b && from < to &&
	    strcmp(have.line[b - 1].words, l->line[to - 1]) == 0)
		b--, to--;
	if (a == b && from < to)
		return a > 0 ? put(d, l, from, to, config_text_add_behind,
				   have.line[a - 1].order)
			     : put(d, l, from, to, config_text_add_before,
				   have.line[b].order);
	for (; a < b; a++, from += n) {
		n = a + 1 == b ? to - from : from < to;
		if (n == 0)
			config_text_remove(&d->text, have.line[a].order);
		else if (put(d, l, from, from + n, config_text_replace,
			     have.line[a].order) < 0)
			return -1;
	}
	return 0;
}

/* ---- beside their kin ---- */

/* The last item of the same command, or of its group; `items` if there is
 * none. */
static uint32_t
find_kin(const struct config_edit *d, const struct config_thing *x)
{
	const char *group = command_group_of(command_groups, x->row)->title;
	uint32_t i, near = d->text.items;

	for (i = d->text.items; i-- > 0;) {
		const struct config_item *item = &d->text.item[i];

		if (item->key == NULL)
			continue;
		if (item->row == x->row)
			return i;
		if (near == d->text.items &&
		    strcmp(command_group_of(command_groups, item->row)->title,
			group) == 0)
			near = i;
	}
	return near;
}

/* A group that the file does not have yet gets a title. */
static int
add_at_end(struct config_edit *d, const struct config_thing *x,
    const char *text, const char **group)
{
	struct buffer *tail = &d->text.tail;
	const char *title = command_group_of(command_groups, x->row)->title;

	if (*group == NULL || strcmp(*group, title) != 0)
		reply_add(tail, "%s# %s\n",
		    d->text.chunks > 0 || buffer_length(tail) > 0 ? "\n" : "",
		    title);
	*group = title;
	return buffer_append(tail, text, strlen(text));
}

static int
add_new(struct config_edit *d, const struct config_thing *x,
    const struct lines *l, const char **group)
{
	uint32_t undo = l->count > l->undo ? l->undo : 0;
	char *text = join(l, undo, l->count);
	uint32_t kin = find_kin(d, x);
	int rc = -1;

	if (text != NULL)
		rc = kin < d->text.items
		    ? config_text_add_behind(&d->text, kin, text)
		    : add_at_end(d, x, text, group);
	free(text);
	return rc;
}

/* ---- all of them ---- */

static int
replace(struct config_edit *d, const struct config_thing *x,
    const struct lines *l, const char **group)
{
	struct config_range have = config_lines_find(&d->have, x->key);
	bool undone = have.count > 0 && l->count > 0 &&
	    strcmp(have.line[0].words, l->line[0]) == 0;

	if (have.count > 0)
		return align(
		    d, have, l, undone || l->count == l->undo ? 0 : l->undo);
	return l->count > 0 ? add_new(d, x, l, group) : 0;
}

/* Lines that are said at the end, all of them. */
static int
say_last(struct config_edit *d, const struct config_thing *x,
    const struct lines *l, struct buffer *last)
{
	struct config_range have = config_lines_find(&d->have, x->key);
	uint32_t i;

	for (i = 0; i < have.count; i++)
		config_text_remove(&d->text, have.line[i].order);
	if (buffer_length(last) == 0 && strstr(d->text.file, mark) == NULL &&
	    buffer_append(last, mark, strlen(mark)) < 0)
		return -1;
	for (i = 0; i < l->count; i++)
		reply_line(last, l->line[i]);
	return 0;
}

static int
change(struct config_edit *d, const struct config_thing *x, const char **group,
    struct buffer *last)
{
	struct lines l;
	int rc = lines_of(d, x, &l);

	if (rc == 0)
		rc = x->way == CONFIG_AT_END ? say_last(d, x, &l, last)
					     : replace(d, x, &l, group);
	free_lines(&l);
	return rc;
}

int
config_edit_write(struct config_edit *d, struct buffer *out)
{
	const char *group = NULL;
	struct buffer last;
	uint32_t i;
	int rc = 0;

	config_text_undo(&d->text);
	buffer_init(&last);
	for (i = 0; rc == 0 && i < d->things; i++)
		if (d->by_order[i]->way != CONFIG_KEPT)
			rc = change(d, d->by_order[i], &group, &last);
	if (rc == 0 && buffer_length(&last) > 0)
		rc = buffer_append(
		    &d->text.tail, buffer_bytes(&last), buffer_length(&last));
	buffer_fini(&last);
	return rc == 0 ? config_text_write(&d->text, out) : -1;
}
