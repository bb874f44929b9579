/* pool.c: the list of servers, settings, and the pool's life. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool/pool_private.h"

/* ---- settings ---- */

void
pool_options_init(struct pool_options *o)
{
	*o = (struct pool_options){
		.balance = balance_table[0],
		.sticky = true,
		.hash_prefix6 = 128,
		.sticky_prefix6 = 64,
		.clients_max = 65536,
		.blacklist_ms = 30 * 1000,
		.health = { .rise = 2, .fall = 3 },
	};
}

const struct pool_options *
pool_options(const struct pool *p)
{
	return &p->options;
}

/* The memory of clients that the settings ask for; one that knows clients only
 * grows. */
static int
change_sticky(struct pool *p, const struct pool_options *o)
{
	bool wanted = o->sticky && o->clients_max > 0;

	if (p->sticky != NULL && (!wanted || sticky_count(p->sticky) == 0)) {
		sticky_free(p->sticky);
		p->sticky = NULL;
	}
	if (!wanted)
		return 0;
	if (p->sticky == NULL)
		p->sticky = sticky_new(o->clients_max);
	else if (sticky_grow(p->sticky, o->clients_max) < 0)
		return -1;
	if (p->sticky == NULL)
		return -1;
	sticky_set_prefix6(p->sticky, o->sticky_prefix6);
	return 0;
}

static int
change_balance(struct pool *p, const struct pool_options *o)
{
	const struct balance *old = p->options.balance;
	void *order = o->balance->start(p);

	if (order == NULL)
		return -1;
	pool_leave_all(p);
	if (p->order != NULL)
		old->stop(p->order);
	p->options.balance = o->balance;
	p->order = order;
	return 0;
}

int
pool_set_options(struct pool *p, const struct pool_options *o)
{
	if ((p->order == NULL || o->balance != p->options.balance) &&
	    change_balance(p, o) < 0)
		return -1;
	if (change_sticky(p, o) < 0) {
		pool_enter_all(p);
		return -1;
	}
	p->options = *o;
	pool_enter_all(p);
	return 0;
}

/* ---- servers ---- */

void
server_spec_init(struct server_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->set.acl = -1;
}

static struct server *
new_server(struct pool *p, unsigned index)
{
	struct server *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->pool = p;
	s->index = index;
	s->set.acl = -1;
	return s;
}

static int
grow_list(struct pool *p, unsigned count)
{
	unsigned room = p->room > 0 ? p->room : 16;
	struct server **list;

	while (room < count)
		room *= 2;
	if (room > p->room) {
		list = realloc(p->servers, room * sizeof(struct server *));
		if (list == NULL)
			return -1;
		p->servers = list;
		p->room = room;
	}
	if (eligible_grow(&p->eligible, count) < 0 ||
	    heap_reserve(&p->revive, count + 2) < 0 ||
	    heap_reserve(&p->last_resort, count + 2) < 0)
		return -1;
	for (; p->count < count; p->count++) {
		p->servers[p->count] = new_server(p, p->count);
		if (p->servers[p->count] == NULL)
			return -1;
	}
	return 0;
}

static bool
same_addresses(const struct server_addrs *a, const struct server_addrs *b)
{
	unsigned i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!addr_equal(&a->addr[i], &b->addr[i]))
			return false;
	return true;
}

/* Counts the server among the weighted and those with an acl, or no longer. */
static void
tally(struct server *s, int by)
{
	struct pool *p = s->pool;

	if (!pool_is_listed(s))
		return;
	if (s->present && s->set.weight > 0)
		p->weighted += (unsigned)by;
	if (s->present && s->set.acl >= 0)
		p->with_acl += (unsigned)by;
}

static void
clear_counters(struct server *s)
{
	s->connects = s->failures = s->sent = s->received = 0;
}

/* Makes `s` what the spec says. Returns 0, or -1 with errno ENOMEM. */
static int
become(struct server *s, const struct server_spec *spec)
{
	char *name = strdup(spec->name);

	if (name == NULL)
		return -1;
	tally(s, -1);
	if (!s->present || !same_addresses(&s->addrs, &spec->addrs)) {
		pool_end_blacklisting(s);
		s->refusals = 0;
		s->health = (struct health){ .down = false };
		s->admin = SERVER_ENABLED;
		clear_counters(s);
		s->addr_first = 0;
		s->slowness = 0;
		s->generation++;
	}
	free(s->name);
	s->name = name;
	s->addrs = spec->addrs;
	s->present = spec->addrs.count > 0;
	s->set = spec->set;
	tally(s, 1);
	return 0;
}

struct server *
pool_set_server(struct pool *p, unsigned index, const struct server_spec *spec)
{
	if (index >= p->count && grow_list(p, index + 1) < 0)
		return NULL;
	if (become(p->servers[index], spec) < 0 || pool_list_changed(p) < 0)
		return NULL;
	return p->servers[index];
}

void
pool_forget_server(struct server *s)
{
	free(s->name);
	s->name = NULL;
	s->addrs.count = 0;
	s->addr_first = 0;
}

void
pool_remove_server(struct pool *p, struct server *s)
{
	if (s == NULL || !s->present)
		return;
	tally(s, -1);
	s->present = false;
	pool_end_blacklisting(s);
	if (pool_is_listed(s))
		pool_list_changed(p);
	if (s->connections == 0)
		pool_forget_server(s);
}

unsigned
pool_count(const struct pool *p)
{
	return p->count;
}

struct server *
pool_server(const struct pool *p, unsigned index)
{
	return index < p->count ? p->servers[index] : NULL;
}

static void
free_server(struct server *s)
{
	if (s == NULL)
		return;
	free(s->name);
	free(s);
}

/* The emergency or abuse server, made on first use and kept. */
static struct server *
set_reserve(struct pool *p, struct server **reserve, unsigned index,
    const struct server_spec *spec)
{
	if (*reserve == NULL) {
		*reserve = new_server(p, index);
		if (*reserve == NULL)
			return NULL;
	}
	return become(*reserve, spec) < 0 ? NULL : *reserve;
}

struct server *
pool_set_emergency(struct pool *p, const struct server_spec *spec)
{
	return set_reserve(p, &p->emergency, SERVER_EMERGENCY, spec);
}

struct server *
pool_set_abuse(struct pool *p, const struct server_spec *spec)
{
	return set_reserve(p, &p->abuse, SERVER_ABUSE, spec);
}

struct server *
pool_emergency(const struct pool *p)
{
	return p->emergency;
}

struct server *
pool_abuse(const struct pool *p)
{
	return p->abuse;
}

void
pool_clear_counters(struct pool *p)
{
	unsigned i;

	for (i = 0; i < p->count; i++)
		clear_counters(p->servers[i]);
	if (p->emergency != NULL)
		clear_counters(p->emergency);
	if (p->abuse != NULL)
		clear_counters(p->abuse);
}

/* ---- life ---- */

struct pool *
pool_new(void)
{
	struct pool *p = calloc(1, sizeof(*p));
	struct pool_options o;
	int i;

	if (p == NULL)
		return NULL;
	eligible_init(&p->eligible);
	heap_init(&p->revive);
	heap_init(&p->last_resort);
	for (i = 0; i < ACL_LISTS; i++)
		acl_init(&p->acls[i]);
	pool_options_init(&o);
	p->options = o;
	if (heap_reserve(&p->revive, 2) < 0 ||
	    heap_reserve(&p->last_resort, 2) < 0 ||
	    pool_set_options(p, &o) < 0) {
		pool_free(p);
		return NULL;
	}
	return p;
}

void
pool_free(struct pool *p)
{
	unsigned i;

	if (p == NULL)
		return;
	if (p->order != NULL)
		p->options.balance->stop(p->order);
	for (i = 0; i < p->count; i++)
		free_server(p->servers[i]);
	free_server(p->emergency);
	free_server(p->abuse);
	free(p->servers);
	eligible_fini(&p->eligible);
	heap_fini(&p->revive);
	heap_fini(&p->last_resort);
	sticky_free(p->sticky);
	for (i = 0; i < ACL_LISTS; i++)
		acl_fini(&p->acls[i]);
	free(p);
}

struct acl *
pool_acl(struct pool *p, unsigned number)
{
	return number < ACL_LISTS ? &p->acls[number] : NULL;
}

struct sticky *
pool_sticky(const struct pool *p)
{
	return p->sticky;
}
