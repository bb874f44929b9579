/* plan_servers.c: the servers of a plan, which plans share.
 *
 *     plan in force   server 0   server 1   server 2
 *                       |  \       |          |  \
 *     its draft       server 0'    '----------'    the others are the same
 *
 * A copy of a plan shares its servers and copies none: plan_edit() copies a
 * server before it is changed. So a command costs what it changes, and servers
 * that two plans share need not be compared. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/words.h"
#include "control/plan/check_plan.h"
#include "control/plan/plan.h"
#include "control/plan/table.h"
#include "control/value/value.h"

struct shared_server {
	unsigned plans; /* that share it */
	struct server_plan is;
};

static const struct server_plan none = SERVER_PLAN_NONE;

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

/* ---- sharing ---- */

static void
shared_drop(struct shared_server *s)
{
	if (s == NULL || --s->plans > 0)
		return;
	server_plan_clear(&s->is);
	free(s);
}

/* A copy for one plan. */
static struct shared_server *
shared_copy(const struct server_plan *from)
{
	struct shared_server *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	*s = (struct shared_server){ .plans = 1, .is = *from };
	if (plan_servers_each_text(&s->is, text_own) == 0)
		return s;
	shared_drop(s);
	return NULL;
}

/* ---- all servers ---- */

void
plan_servers_init(struct plan_servers *l)
{
	*l = (struct plan_servers){ .slots = SLOTS_SPECIAL };
}

int
plan_servers_copy(struct plan_servers *to, const struct plan_servers *from)
{
	uint32_t i;

	*to = *from;
	to->slot = calloc(from->room + 1u, sizeof(*to->slot));
	if (to->slot == NULL) {
		to->room = 0;
		return -1;
	}
	for (i = 0; i < to->room; i++)
		if ((to->slot[i] = from->slot[i]) != NULL)
			to->slot[i]->plans++;
	return 0;
}

void
plan_servers_fini(struct plan_servers *l)
{
	uint32_t i;

	for (i = 0; i < l->room; i++)
		shared_drop(l->slot[i]);
	free(l->slot);
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

	if (slot >= l->slots)
		return NULL;
	return slot < l->room && l->slot[slot] != NULL ? &l->slot[slot]->is
						       : &none;
}

int
plan_refuse_server(struct error *e)
{
	return error_set(e, "a service has at most %d servers", SERVERS_MAX);
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
	    (strchr(s->host, '%') != NULL ||
		addr_parse_ip(&a, s->host, 0) < 0);
}

struct server_plan *
plan_edit(struct plan *p, unsigned slot)
{
	struct plan_servers *l = &p->servers;
	struct shared_server **list, *own;

	list = array_grow(l->slot, &l->room, sizeof(*list), slot);
	if (list == NULL)
		return NULL;
	l->slot = list;
	if (list[slot] == NULL || list[slot]->plans > 1) {
		own = shared_copy(list[slot] != NULL ? &list[slot]->is : &none);
		if (own == NULL)
			return NULL;
		shared_drop(list[slot]);
		list[slot] = own;
	}
	if (l->slots <= slot)
		l->slots = slot + 1;
	return &list[slot]->is;
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
	const struct server_plan *s = plan_slot(p, slot);

	return s != NULL ? s : &none;
}

/* A server that a file names without an address differs from an empty slot: it
 * is refused. */
static bool
lacks_address(const struct server_plan *a, const struct server_plan *b)
{
	return b->host == NULL && (a->origin == NULL) != (b->origin == NULL);
}

/* "blacklist" takes a server out at once even if its time is the same as
 * before. */
static bool
is_changed(const struct server_plan *a, const struct server_plan *b)
{
	return b->out_now || !server_plan_equal(a, b) || lacks_address(a, b);
}

unsigned
plan_next_change(const struct plan *a, const struct plan *b, unsigned slot)
{
	unsigned x = plan_slots(a), y = plan_slots(b), slots = x > y ? x : y;
	const struct server_plan *old, *new;

	for (; slot < slots; slot++) {
		old = slot_or_none(a, slot);
		new = slot_or_none(b, slot);
		if (old != new && is_changed(old, new))
			return slot;
	}
	return slot;
}

/* A name has other addresses, or its service another port; or the server itself
 * is another one. */
static bool
is_elsewhere(const struct server_plan *a, const struct server_plan *b)
{
	return !text_equal(a->address, b->address) ||
	    !text_equal(a->target, b->target) || a->parent != b->parent ||
	    a->service.there != b->service.there ||
	    a->service.port != b->service.port;
}

/* In what two different servers differ. */
static uint64_t
server_changed(const struct server_plan *a, const struct server_plan *b)
{
	const struct command *row;
	uint64_t changed = CHANGED_SERVER;

	for (row = rows_server; row->name != NULL; row++)
		if (!value_equal(row, a, b))
			changed |= row->changes;
	if (is_elsewhere(a, b) || lacks_address(a, b))
		changed |= CHANGED_HOSTS;
	return changed;
}

uint64_t
plan_servers_changed(const struct plan *a, const struct plan *b)
{
	unsigned slots = a->servers.slots, slot;
	uint64_t changed = 0;

	if (slots < b->servers.slots)
		slots = b->servers.slots;
	for (slot = plan_next_change(a, b, 0); slot < slots;
	     slot = plan_next_change(a, b, slot + 1))
		changed |= server_changed(
		    slot_or_none(a, slot), slot_or_none(b, slot));
	return changed;
}
