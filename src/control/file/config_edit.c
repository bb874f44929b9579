/* config_edit.c: what is to be changed in a file; see config_edit.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/file/config_edit.h"
#include "control/file/config_edit_private.h"
#include "control/registry.h"

void
config_edit_init(struct config_edit *d)
{
	memset(d, 0, sizeof(*d));
}

void
config_edit_fini(struct config_edit *d)
{
	config_lines_fini(&d->want);
	config_lines_fini(&d->plain);
	config_lines_fini(&d->given);
	config_lines_fini(&d->first);
	config_lines_fini(&d->have);
	config_text_fini(&d->text);
	free(d->thing);
	free(d->by_order);
}

/* ---- things ---- */

static void
add_thing(struct config_edit *d, const struct config_line *line)
{
	struct config_thing *last =
	    d->things > 0 ? &d->thing[d->things - 1] : NULL;

	if (last == NULL || strcmp(last->key, line->key) != 0)
		d->thing[d->things++] = (struct config_thing){ line->key,
			line->row, line->order, CONFIG_KEPT, false };
}

/* All that is wanted, and all that the file gave. */
static int
list_things(struct config_edit *d)
{
	const struct config_line *a = d->want.line, *b = d->first.line;
	uint32_t n = d->want.count, m = d->first.count, i = 0, k = 0;

	d->thing = calloc((size_t)n + m + 1, sizeof(*d->thing));
	d->by_order = calloc((size_t)n + m + 1, sizeof(*d->by_order));
	if (d->thing == NULL || d->by_order == NULL)
		return -1;
	while (i < n || k < m)
		if (k == m || (i < n && strcmp(a[i].key, b[k].key) <= 0))
			add_thing(d, &a[i++]);
		else
			add_thing(d, &b[k++]);
	return 0;
}

/* As the table has them, which is how people look for them. */
static int
compare_order(const void *a, const void *b)
{
	const struct config_thing *x = *(const struct config_thing *const *)a;
	const struct config_thing *y = *(const struct config_thing *const *)b;
	unsigned i = command_index(command_groups, x->row);
	unsigned k = command_index(command_groups, y->row);

	if (i != k)
		return i < k ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void
order_things(struct config_edit *d)
{
	uint32_t i;

	for (i = 0; i < d->things; i++)
		d->by_order[i] = &d->thing[i];
	qsort(d->by_order, d->things, sizeof(*d->by_order), compare_order);
}

/* What the items of the text set, to be found by key; `order` is the item. */
static int
list_items(struct config_edit *d)
{
	const struct config_text *t = &d->text;
	struct config_line one;
	uint32_t i;

	for (i = 0; i < t->items; i++) {
		if (t->item[i].key == NULL)
			continue;
		one = (struct config_line){ strdup(t->item[i].key),
			strdup(t->item[i].words), t->item[i].row, i };
		if (config_lines_add(&d->have, &one) < 0 || one.key == NULL ||
		    one.words == NULL)
			return -1;
	}
	config_lines_sort(&d->have);
	return 0;
}

/* ---- what differs ---- */

static struct config_range
wanted(const struct config_edit *d, const struct config_thing *x)
{
	return config_lines_find(&d->want, x->key);
}

bool
config_edit_is_default(
    const struct config_edit *d, const struct config_thing *x)
{
	struct config_range want = wanted(d, x);

	return !d->all &&
	    config_range_equal(want, config_lines_find(&d->plain, x->key)) &&
	    config_range_equal(want, config_lines_find(&d->given, x->key));
}

/* What the file does not say, though it is asked for all. */
static bool
is_missing(const struct config_edit *d, const struct config_thing *x)
{
	return d->all && wanted(d, x).count > 0 &&
	    config_lines_find(&d->have, x->key).count == 0;
}

static int
compare_key(const void *key, const void *thing)
{
	return strcmp(key, ((const struct config_thing *)thing)->key);
}

static struct config_thing *
find_thing(const struct config_edit *d, const char *key)
{
	return bsearch(
	    key, d->thing, d->things, sizeof(*d->thing), compare_key);
}

/* A server that "add" gives another number in a reload than in a start gets
 * that of the one in force. */
static void
number_servers(struct config_edit *d)
{
	static const char add[] = "server add ";
	struct config_thing *x;
	uint32_t i;

	for (i = 0; i < d->have.count; i++) {
		if (strncmp(d->have.line[i].words, add, strlen(add)) != 0)
			continue;
		x = find_thing(d, d->have.line[i].key);
		if (x != NULL && x->way == CONFIG_KEPT)
			x->wrong = true;
	}
}

void
config_edit_note(struct config_edit *d, const struct config_lines *got)
{
	struct config_thing *x;
	uint32_t i;

	for (i = 0; i < got->count; i++)
		if (find_thing(d, got->line[i].key) == NULL)
			number_servers(d);

	for (x = d->thing; x < d->thing + d->things; x++)
		if (!config_range_equal(
			wanted(d, x), config_lines_find(got, x->key)))
			x->wrong = true;
}

bool
config_edit_is_wrong(const struct config_edit *d)
{
	const struct config_thing *x = d->thing;

	while (x < d->thing + d->things && !x->wrong)
		x++;
	return x < d->thing + d->things;
}

int
config_edit_go_on(struct config_edit *d, struct error *e)
{
	struct config_thing *x;

	for (x = d->thing; x < d->thing + d->things; x++) {
		if (!x->wrong)
			continue;
		if (x->way == CONFIG_AT_END)
			return error_set(
			    e, "%s: no line gives what is in force", x->key);
		x->way = (enum config_way)(x->way + 1);
		x->wrong = false;
	}
	return 0;
}

int
config_edit_begin(struct config_edit *d, struct config_lines *first)
{
	struct config_thing *x;

	d->first = *first;
	config_lines_init(first);
	if (list_items(d) < 0 || list_things(d) < 0)
		return -1;
	order_things(d);
	config_edit_note(d, &d->first);
	for (x = d->thing; x < d->thing + d->things; x++)
		if (is_missing(d, x))
			x->wrong = true;
	return 0;
}
