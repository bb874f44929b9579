/* config_lines.c: see config_lines.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "control/apply/apply.h"
#include "control/apply/derive.h"
#include "control/file/config_lines.h"
#include "control/language/defaults.h"
#include "pool/server/server.h"

/* ---- what a command sets ---- */

/* Rows that set a part of what another one sets, or the same. */
static const char *const kin[][2] = {
	{ "control_level", "control" },
	{ "control_mode", "control" },
	{ "ssl_key", "ssl_cert" },
	{ "sticky", "balance" }, /* "balance default" undoes both */
	{ "kqueue", "epoll" },
	{ "poll", "epoll" },
	{ "select", "epoll" },
};

static const struct command *
row_of_key(const struct config_lines *l, const struct command *row)
{
	const char *name = row->alias != NULL ? row->alias : row->name;
	size_t i;

	for (i = 0; i < sizeof(kin) / sizeof(kin[0]); i++)
		if (strcmp(name, kin[i][0]) == 0)
			name = kin[i][1];
	return name == row->name ? row : command_find(l->commands, name);
}

/* The command was carried out, or its server is a number. */
static void
find_name(
    const struct call *c, const struct command *row, char name[CONFIG_NAME_MAX])
{
	const char *word = c->words->count > 0 ? c->words->word[0] : "";

	if (!(row->flags & ROW_PREFIX) &&
	    !row_changes(c->row, c->words->count, c->no))
		name[0] = '\0';
	else if (strcmp(row->name, "server") == 0 && strcmp(word, "all") != 0)
		snprintf(name, CONFIG_NAME_MAX, "server %lu",
		    number_is_digits(word) ? strtoul(word, NULL, 10)
			      : server_number(c->slot));
	else if (strcmp(row->name, "acl") == 0 || row->kind == KIND_BITS)
		snprintf(name, CONFIG_NAME_MAX, "%s %.60s", row->name, word);
	else
		snprintf(name, CONFIG_NAME_MAX, "%s", row->name);
}

/* ---- keys ---- */

static bool
is_key(const struct hash_table_link *link, const void *like)
{
	const struct config_key *k = (const void *)link, *x = like;

	return strcmp(k->name, x->name) == 0 &&
	    strcmp(k->service, x->service) == 0;
}

/* The key of that name and service, added if it is new. NULL without memory. */
static struct config_key *
find_or_add(struct config_lines *l, const struct config_key *like)
{
	uint64_t hash =
	    hash_table_hash(&l->table, like->name, strlen(like->name)) ^
	    hash_table_hash(&l->table, like->service, strlen(like->service));
	struct config_key **list,
	    *k = (void *)hash_table_find(&l->table, hash, is_key, like);

	if (k != NULL)
		return k;
	list = array_grow(l->key, &l->room, sizeof(*list), l->count);
	if (list != NULL) {
		l->key = list;
		k = malloc(sizeof(*k));
	}
	if (k == NULL)
		return NULL;
	*k = *like;
	k->order = l->count;
	if (k->section == NULL)
		k->section = k;
	else
		k->index = 1 + command_index(l->commands, k->row);
	hash_table_add(&l->table, &k->link, hash);
	return list[l->count++] = k;
}

struct config_key *
config_lines_key(
    struct config_lines *l, const struct call *c, const char *service)
{
	struct config_key one = { .row = row_of_key(l, c->row),
		.name = "service" };

	snprintf(one.service, sizeof(one.service), "%s", service);
	one.section = find_or_add(l, &one);
	if (one.section == NULL || one.row->flags & ROW_PREFIX ||
	    strcmp(one.row->name, DEFAULTS_NAME) == 0)
		return one.section;
	find_name(c, one.row, one.name);
	if (one.section != l->key[0]) {
		one.usual = config_lines_key(l, c, "default");
		if (one.usual == NULL)
			return NULL;
	}
	return find_or_add(l, &one);
}

struct config_key *
config_lines_like(struct config_lines *l, const struct config_key *k,
    struct config_key *section)
{
	struct config_key one = {
		.row = k->row, .section = section, .usual = k->usual
	};

	memcpy(one.name, k->name, sizeof(one.name));
	memcpy(one.service, section->service, sizeof(one.service));
	return find_or_add(l, &one);
}

bool
config_lines_is_base(const struct config_key *k)
{
	return strcmp(k->service, DEFAULTS_NAME) == 0;
}

const char *
config_lines_of(const struct config_key *k, enum config_of of)
{
	bool there = of == CONFIG_DEFAULTS || k->usual == NULL ||
	    k->section->lines[of] != NULL;

	if (k->lines[of] != NULL || k == k->section || !there)
		return k->lines[of];
	return (k->usual != NULL ? k->usual : k)->lines[CONFIG_DEFAULTS];
}

bool
config_lines_undo(const struct config_key *k, const char *lines)
{
	return strchr(lines, '\n') != NULL &&
	    strcmp(k->row->name, "server") != 0;
}

/* ---- plans ---- */

int
config_lines_init(struct config_lines *l, const struct command_group *commands,
    void (*print)(const struct plan *p, struct buffer *text))
{
	*l = (struct config_lines){
		.commands = commands, .plain = plan_new(), .print = print
	};
	if (hash_table_init(&l->table) < 0 || l->plain == NULL)
		return -1;
	return config_lines_read(l, CONFIG_DEFAULTS, l->plain);
}

void
config_lines_fini(struct config_lines *l)
{
	unsigned i;

	while (l->count > 0)
		free(l->key[--l->count]);
	free(l->key);
	plan_free(l->plain);
	hash_table_fini(&l->table);
	for (i = 0; i < CONFIG_PLANS; i++)
		buffer_fini(&l->text[i]);
}

/* Each line is cut in `copy`, too. Those of a key follow each other; what
 * follows a header is of its service. */
static int
add_lines(struct config_lines *l, enum config_of of, char *text, char *copy)
{
	char service[SERVICE_NAME_MAX + 1] = "default", *line, *end, *rest;
	struct call c = { .pen = NULL };
	struct config_key *k;
	struct words w;
	struct error e;

	c.words = &w;
	for (line = text; *line != '\0'; line = end + 1, copy = rest) {
		end = strchr(line, '\n');
		rest = copy + (end + 1 - line);
		rest[-1] = '\0';
		if (command_parse(
			l->commands, copy, &c.row, &w, &c.no, &copy, &e) < 0)
			return -1;
		if (c.row->flags & ROW_PREFIX)
			snprintf(service, sizeof(service), "%s", w.word[0]);
		k = config_lines_key(l, &c, service);
		if (k == NULL)
			return -1;
		if (k->lines[of] == NULL) {
			k->lines[of] = line;
			if (line > text)
				line[-1] = '\0';
		}
	}
	if (line > text)
		line[-1] = '\0';
	return 0;
}

int
config_lines_read(
    struct config_lines *l, enum config_of of, const struct plan *p)
{
	struct buffer *text = &l->text[of];
	struct plan *copy = plan_copy(p);
	char *cut = NULL;
	int rc = -1;
	uint32_t i;

	if (copy == NULL)
		return -1;
	for (i = 0; i < l->count; i++)
		l->key[i]->lines[of] = NULL;
	buffer_fini(text);
	if (derive_settings(copy->process, copy, 0, 1, 0) < 0 ||
	    apply_acls_remove_unused(copy) < 0) {
		plan_free(copy);
		return -1;
	}
	l->print(copy, text);
	plan_free(copy);
	if (buffer_append(text, "", 1) == 0)
		cut = strdup(buffer_bytes(text));
	if (cut != NULL)
		rc = add_lines(l, of, text->data + text->start, cut);
	free(cut);
	return rc;
}
