/* config_items.c: the commands of a file, as a start reads them: see
 * config_merge_private.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "control/file/config_file.h"
#include "control/file/config_merge_private.h"

static void
add_item(struct merge *m, const struct call *c, struct config_key *k)
{
	m->item[m->count++] = (struct item){ .key = k,
		.line =
		    (uint32_t)strtoul(strrchr(c->origin, ':') + 1, NULL, 10) };
	if (k->last > 0)
		m->item[k->last - 1].next = m->count;
	else
		k->first = m->count;
	k->last = k->section->end = m->count;
	if (config_is_server(k) && !number_is_digits(c->words->word[0]) &&
	    strcmp(c->words->word[0], "all") != 0)
		k->relative = true;
}

void
config_inherit(struct merge *m, struct config_key *section)
{
	uint32_t i, n = m->keys.count;
	struct config_key *k;

	for (i = 0; i < n && !m->failed; i++) {
		if (!m->keys.key[i]->base)
			continue;
		k = config_lines_like(&m->keys, m->keys.key[i], section);
		m->failed = k == NULL;
		if (k != NULL)
			k->elsewhere = m->count + 1;
	}
}

/* Another section "defaults" begins. */
static void
forget_base(struct merge *m)
{
	uint32_t i;

	for (i = 0; i < m->keys.count; i++)
		m->keys.key[i]->base = false;
}

bool
config_is_new_section(const struct merge *m, const struct config_key *k)
{
	return k == k->section && k != m->keys.key[0] && k->end == 0 &&
	    !k->included && !config_lines_is_base(k);
}

static void
note_base(struct merge *m, struct config_key *k)
{
	if (config_is_new_section(m, k))
		config_inherit(m, k);
	else if (config_lines_is_base(k) && k == k->section)
		forget_base(m);
	else if (config_lines_is_base(k))
		k->base = true;
}

/* A command was carried out: one of an included file, or for all servers,
 * overrides the items before it. */
static void
note(const struct call *c)
{
	struct merge *m = c->noting;
	struct config_key *k = config_lines_key(
			      &m->keys, c, plan_service_name(c->plan)),
			  *x;
	struct item *list =
	    array_grow(m->item, &m->room, sizeof(*list), m->count);
	bool all = k != NULL && strcmp(k->name, "server") == 0;
	uint32_t i;

	m->item = list != NULL ? list : m->item;
	m->failed = m->failed || k == NULL || list == NULL;
	if (!m->failed)
		note_base(m, k);
	if (m->failed)
		return;
	for (i = 0; (all || c->depth > 1) && i < m->keys.count; i++) {
		x = m->keys.key[i];
		if (x == k ||
		    (all && config_is_server(x) && x->section == k->section))
			x->elsewhere = m->count + 1;
	}
	if (c->depth > 1)
		k->included = true;
	else
		add_item(m, c, k);
}

/* Reads the text as a start would (or a reload, depending on `given`, the plan
 * of the command line), and adds the resulting lines of each key as those of
 * `of`. */
static int
read_file(struct merge *m, enum config_of of, struct pen *p,
    const struct plan *given, const char *text, struct error *e)
{
	struct reply unheard;
	struct call c = { .pen = p,
		.service = p->service,
		.plan = plan_copy(given),
		.reply = &unheard,
		.dry = true,
		.note = of == CONFIG_FILE && text == m->text ? note : NULL,
		.noting = m };
	char *copy = strdup(text);
	int rc = 0;

	reply_init(&unheard);
	c.draft = c.plan;
	if (c.draft != NULL && copy != NULL)
		rc = config_load_text(&c, m->path, copy, e);
	if (c.draft == NULL || copy == NULL || m->failed ||
	    (rc == 0 && config_lines_read(&m->keys, of, c.draft) < 0))
		rc = error_set(e, "out of memory");
	reply_fini(&unheard);
	plan_free(c.draft);
	free(copy);
	return rc;
}

/* The old one may need the command line. */
int
config_read(struct merge *m, struct pen *p, const char *text, struct error *e)
{
	if (m->alone &&
	    read_file(m, CONFIG_ALONE, &m->start, m->keys.plain, text, e) < 0) {
		m->alone = false;
		if (text != m->text || m->failed)
			return -1;
	}
	return read_file(m, CONFIG_RELOADED, p, p->given, text, e) == 0
	    ? read_file(m, CONFIG_FILE, &m->start, p->given, text, e)
	    : -1;
}
