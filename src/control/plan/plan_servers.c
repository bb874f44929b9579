/* plan_servers.c: the servers of a plan, in pages that plans share.
 *
 *     plan in force   page 0   page 1   page 2
 *                       |  \     |        |  \
 *     its draft       page 0'    '--------'    the others are the same pages
 *
 * A copy of a plan shares its pages and copies no server. plan_edit() copies
 * the page of a server before the server is changed. So a draft costs what it
 * changes, and two plans differ only in pages that they do not share. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/words.h"
#include "control/plan/check_plan.h"
#include "control/plan/plan.h"
#include "control/plan/table.h"
#include "control/value/value.h"

enum { PAGE_SLOTS = 16 };

struct plan_page {
	unsigned plans; /* that share it */
	struct server_plan slot[PAGE_SLOTS];
};

/* ---- a server ---- */

/* Calls `visit` for each of its strings, also after a failure. Returns 0 if all
 * calls did. */
static int
plan_servers_each_text(struct server_plan *s, int (*visit)(char **text))
{
	const struct command *row;
	int rc = visit(&s->origin) | visit(&s->address) | visit(&s->target);

	for (row = rows_server; row->name != NULL; row++)
		rc |= value_each_text(row, s, visit);
	return rc;
}

void
server_plan_clear(struct server_plan *s)
{
	plan_servers_each_text(s, text_free);
	server_plan_init(s);
}

bool
server_plan_equal(const struct server_plan *a, const struct server_plan *b)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (!value_equal(row, a, b))
			return false;
	return a->parent == b->parent && text_equal(a->address, b->address) &&
	    text_equal(a->target, b->target) &&
	    a->service.there == b->service.there &&
	    a->service.port == b->service.port &&
	    a->service.prio == b->service.prio &&
	    a->service.weight == b->service.weight;
}

int
server_plan_become(struct server_plan *s, const struct server_plan *from)
{
	struct server_plan new = *from;

	if (plan_servers_each_text(&new, text_own) < 0) {
		server_plan_clear(&new);
		return -1;
	}
	server_plan_clear(s);
	*s = new;
	return 0;
}

/* ---- pages ---- */

static struct plan_page *
page_new(void)
{
	struct plan_page *page = malloc(sizeof(*page));
	unsigned i;

	if (page == NULL)
		return NULL;
	page->plans = 1;
	for (i = 0; i < PAGE_SLOTS; i++)
		server_plan_init(&page->slot[i]);
	return page;
}

/* Always returns NULL, for the pointer to the page. */
static struct plan_page *
page_release(struct plan_page *page)
{
	unsigned i;

	if (page != NULL && --page->plans == 0) {
		for (i = 0; i < PAGE_SLOTS; i++)
			server_plan_clear(&page->slot[i]);
		free(page);
	}
	return NULL;
}

static struct plan_page *
page_copy(const struct plan_page *from)
{
	struct plan_page *page = page_new();
	unsigned i;

	for (i = 0; page != NULL && i < PAGE_SLOTS; i++) {
		page->slot[i] = from->slot[i];
		if (plan_servers_each_text(&page->slot[i], text_own) < 0)
			page = page_release(page);
	}
	return page;
}

/* Replaces a shared page with a copy. */
static int
own_page(struct plan_page **page)
{
	struct plan_page *mine;

	if ((*page)->plans == 1)
		return 0;
	mine = page_copy(*page);
	if (mine == NULL)
		return -1;
	page_release(*page);
	*page = mine;
	return 0;
}

static int
add_page(struct plan_servers *l)
{
	struct plan_page **page =
	    array_grow(l->page, &l->room, sizeof(struct plan_page *), l->pages);

	if (page == NULL)
		return -1;
	l->page = page;
	page[l->pages] = page_new();
	return page[l->pages] != NULL ? (l->pages++, 0) : -1;
}

/* ---- all servers ---- */

int
plan_servers_init(struct plan_servers *l)
{
	*l = (struct plan_servers){ .slots = SLOTS_SPECIAL };
	return add_page(l);
}

int
plan_servers_copy(struct plan_servers *to, const struct plan_servers *from)
{
	unsigned i;

	*to = *from;
	to->room = from->pages;
	to->page = malloc(to->room * sizeof(struct plan_page *));
	if (to->page == NULL) {
		to->pages = 0;
		return -1;
	}
	for (i = 0; i < to->pages; i++) {
		to->page[i] = from->page[i];
		to->page[i]->plans++;
	}
	return 0;
}

void
plan_servers_fini(struct plan_servers *l)
{
	unsigned i;

	for (i = 0; i < l->pages; i++)
		page_release(l->page[i]);
	free(l->page);
}

/* ---- one server ---- */

unsigned
plan_slots(const struct plan *p)
{
	return p->servers.slots;
}

unsigned
plan_count(const struct plan *p)
{
	return p->servers.slots - SLOTS_SPECIAL;
}

const struct server_plan *
plan_server(const struct plan *p, unsigned number)
{
	/* no sum, which could wrap: any number may be given */
	return number < plan_count(p) ? plan_slot(p, server_slot(number))
				      : NULL;
}

const struct server_plan *
plan_slot(const struct plan *p, unsigned slot)
{
	const struct plan_servers *l = &p->servers;

	return slot < l->slots
	    ? &l->page[slot / PAGE_SLOTS]->slot[slot % PAGE_SLOTS]
	    : NULL;
}

int
plan_refuse_server(struct error *e)
{
	return error_set(
	    e, "a service has at most %d servers", SERVERS_MAX);
}

bool
plan_has_server(const struct plan *p)
{
	const struct server_plan *s;
	unsigned i;

	for (i = 0; (s = plan_server(p, i)) != NULL; i++)
		if (s->host != NULL)
			return true;
	return false;
}

bool
plan_server_has_name(const struct server_plan *s)
{
	struct addr a;

	return s->host != NULL && !addr_is_unix_text(s->host) &&
	    addr_parse_ip(&a, s->host, 0) < 0;
}

struct server_plan *
plan_edit(struct plan *p, unsigned slot)
{
	struct plan_servers *l = &p->servers;
	struct plan_page **page;

	while (l->pages <= slot / PAGE_SLOTS)
		if (add_page(l) < 0)
			return NULL;
	page = &l->page[slot / PAGE_SLOTS];
	if (own_page(page) < 0)
		return NULL;
	if (l->slots <= slot)
		l->slots = slot + 1;
	return &(*page)->slot[slot % PAGE_SLOTS];
}

/* ---- traits ---- */

static bool
has_trait(const struct server_plan *s, unsigned traits)
{
	if (s->host == NULL)
		return false;
	return (traits & TRAIT_TLS && s->set.tls == SERVER_TLS_ON) ||
	    (traits & TRAIT_PATH && addr_is_unix_text(s->host)) ||
	    (s->check != NULL && check_plan_has(s->check, traits));
}

bool
plan_any_server(const struct plan *p, unsigned traits)
{
	const struct server_plan *s;
	unsigned slot;

	for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++)
		if (has_trait(s, traits))
			return true;
	return false;
}

/* ---- two plans ---- */

static const struct server_plan *
slot_or_none(const struct plan *p, unsigned slot)
{
	static const struct server_plan none = SERVER_PLAN_NONE;
	const struct server_plan *s = plan_slot(p, slot);

	return s != NULL ? s : &none;
}

/* "blacklist" takes a server out at once even if its time is the same as
 * before. A server that a file names without an address differs from an empty
 * slot: it is refused. */
static bool
is_changed(const struct server_plan *a, const struct server_plan *b)
{
	return b->out_now || !server_plan_equal(a, b) ||
	    (b->host == NULL && (a->origin == NULL) != (b->origin == NULL));
}

unsigned
plan_next_change(const struct plan *a, const struct plan *b, unsigned slot)
{
	const struct plan_servers *x = &a->servers, *y = &b->servers;
	unsigned slots = x->slots > y->slots ? x->slots : y->slots, page;

	for (; slot < slots; slot++) {
		page = slot / PAGE_SLOTS;
		if (page < x->pages && page < y->pages &&
		    x->page[page] == y->page[page])
			slot += PAGE_SLOTS - 1 - slot % PAGE_SLOTS;
		else if (is_changed(
			     slot_or_none(a, slot), slot_or_none(b, slot)))
			return slot;
	}
	return slot;
}

/* A name has other addresses, or its service another port. */
static unsigned
server_changes(const struct server_plan *a, const struct server_plan *b)
{
	const struct command *row;
	unsigned changes = !text_equal(a->address, b->address) ||
		a->service.port != b->service.port
	    ? PLAN_HOSTS
	    : 0;

	for (row = rows_server; row->name != NULL; row++)
		if (row->changes != 0 && !value_equal(row, a, b))
			changes |= row->changes;
	return changes;
}

unsigned
plan_changes(const struct plan *a, const struct plan *b)
{
	unsigned slots = a->servers.slots, slot, changes = 0;

	if (slots < b->servers.slots)
		slots = b->servers.slots;
	for (slot = plan_next_change(a, b, 0); slot < slots;
	     slot = plan_next_change(a, b, slot + 1))
		changes |= server_changes(
		    slot_or_none(a, slot), slot_or_none(b, slot));
	return changes;
}
