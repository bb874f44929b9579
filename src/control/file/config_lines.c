/* config_lines.c: see config_lines.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/file/config_lines.h"
#include "control/apply/server_find.h"
#include "control/plan/plan.h"
#include "control/registry.h"
#include "pool/server.h"

/* ---- what a command sets ---- */

enum { KEY_MAX = 80 };

/* Rows that set a part of what another one sets. */
static const char *const kin[][2] = {
	{ "control_level", "control" },
	{ "control_mode", "control" },
	{ "ssl_key", "ssl_cert" },
};

static const char *
setting_of(const struct command *row)
{
	size_t i;

	if (row->alias != NULL)
		return row->alias;
	if (row->kind == KIND_SELF)
		return "method";
	for (i = 0; i < sizeof(kin) / sizeof(kin[0]); i++)
		if (strcmp(row->name, kin[i][0]) == 0)
			return kin[i][1];
	return row->name;
}

static bool
is_row(const struct call *c, const char *name)
{
	return strcmp(c->row->name, name) == 0;
}

/* False: it sets nothing, or several things. */
static bool
find_key(const struct call *c, char key[KEY_MAX])
{
	const char *word = c->words->count > 0 ? c->words->word[0] : "";
	unsigned long number;

	if (!row_changes(c->row, c->words->count, c->no) ||
	    is_row(c, "include") || is_row(c, "reload"))
		return false;
	if (is_row(c, "acl")) {
		snprintf(key, KEY_MAX, "acl %.60s", word);
		return c->no || c->words->count > 1;
	}
	if (!is_row(c, "server")) {
		snprintf(key, KEY_MAX, "%s", setting_of(c->row));
		return c->words->count > 0 || c->no || !is_row(c, "route");
	}
	number = word[strspn(word, "0123456789")] == '\0'
	    ? strtoul(word, NULL, 10)
	    : server_number(c->slot);
	snprintf(key, KEY_MAX, "server %lu", number);
	return word[0] != '\0' && strcmp(word, "all") != 0;
}

/* An entry of an access list can be written in several ways. */
static bool
append_entry(const struct call *c, struct buffer *out)
{
	const struct words *w = c->words;
	char text[ACL_TEXT_MAX];
	struct acl_entry entry;
	struct error e;

	if (!is_row(c, "acl") || w->count < 3 ||
	    strcmp(w->word[1], "file") == 0 ||
	    strcmp(w->word[2], "file") == 0 ||
	    acl_entry_parse(&entry, strcmp(w->word[1], "permit") == 0,
		w->word[2], w->count > 3 ? w->word[3] : NULL, &e) < 0)
		return false;
	reply_add(out, "acl %s %s", w->word[0], acl_format_entry(&entry, text));
	return true;
}

static char *
format_words(const struct call *c)
{
	struct buffer out;
	char *text = NULL;
	int i;

	buffer_init(&out);
	if (!append_entry(c, &out)) {
		reply_add(&out, "%s%s", c->no ? "no " : "", c->row->name);
		for (i = 0; i < c->words->count; i++) {
			(void)buffer_append(&out, " ", 1);
			words_append(&out, c->words->word[i]);
		}
	}
	if (buffer_append(&out, "", 1) == 0)
		text = strdup(buffer_bytes(&out));
	buffer_fini(&out);
	return text;
}

int
config_line_of(const struct call *c, char **key, char **words)
{
	char text[KEY_MAX];

	*key = *words = NULL;
	if (!find_key(c, text))
		return 0;
	*key = strdup(text);
	*words = format_words(c);
	if (*key != NULL && *words != NULL)
		return 0;
	free(*key);
	free(*words);
	*key = *words = NULL;
	return -1;
}

/* ---- lists ---- */

void
config_lines_init(struct config_lines *l)
{
	memset(l, 0, sizeof(*l));
}

void
config_lines_fini(struct config_lines *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++) {
		free(l->line[i].key);
		free(l->line[i].words);
	}
	free(l->line);
	config_lines_init(l);
}

int
config_lines_add(struct config_lines *l, const struct config_line *one)
{
	struct config_line *list =
	    array_grow(l->line, &l->room, sizeof(*list), l->count);

	if (list == NULL) {
		free(one->key);
		free(one->words);
		return -1;
	}
	l->line = list;
	list[l->count++] = *one;
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct config_line *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order != 0 ? order
			  : (x->order > y->order) - (x->order < y->order);
}

void
config_lines_sort(struct config_lines *l)
{
	if (l->count > 0)
		qsort(l->line, l->count, sizeof(*l->line), compare);
}

/* An empty access list with a name is there because something refers to it. */
static bool
is_empty_list(const struct plan *p, const char *word)
{
	const struct named_acl *n = plan_acls_find(&p->acls, word);

	return n != NULL && acl_is_empty(&n->list);
}

/* One that only empties a list: other lines follow if something is in it. */
static bool
is_only_emptying(const struct call *c)
{
	if (!c->no)
		return false;
	if (is_row(c, "acl"))
		return !is_empty_list(c->plan, c->words->word[0]);
	return is_row(c, "route") || is_row(c, "control");
}

static int
add_printed(struct config_lines *l, struct plan *p, char *text, uint32_t order)
{
	struct config_line one = { .order = order };
	struct words w;
	struct call c = { .plan = p, .words = &w };
	struct error e;
	char *rest;

	if (command_parse(command_groups, text, &c.row, &w, &c.no, &rest,
		&e) < 0 ||
	    c.row == NULL || is_only_emptying(&c))
		return 0;
	one.row = c.row;
	if (config_line_of(&c, &one.key, &one.words) < 0)
		return -1;
	return one.key != NULL ? config_lines_add(l, &one) : 0;
}

int
config_lines_of_plan(struct config_lines *l, struct plan *p)
{
	struct buffer text;
	uint32_t order = 0;
	char *line, *end;
	int rc;

	buffer_init(&text);
	plan_print(p, &text);
	rc = buffer_append(&text, "", 1);
	line = rc == 0 ? text.data + text.start : NULL;
	while (rc == 0 && (end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		rc = add_printed(l, p, line, order++);
		line = end + 1;
	}
	buffer_fini(&text);
	config_lines_sort(l);
	return rc;
}

/* ---- those of a key ---- */

struct config_range
config_lines_find(const struct config_lines *l, const char *key)
{
	uint32_t low = 0, high = l->count, middle, end;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(l->line[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < l->count && strcmp(l->line[end].key, key) == 0;
	     end++)
		;
	return (
	    struct config_range){ end > low ? &l->line[low] : NULL, end - low };
}

bool
config_range_equal(struct config_range a, struct config_range b)
{
	uint32_t i;

	for (i = 0; i < a.count && i < b.count; i++)
		if (strcmp(a.line[i].words, b.line[i].words) != 0)
			return false;
	return a.count == b.count;
}
