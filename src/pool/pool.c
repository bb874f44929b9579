/* pool.c: the list of servers, settings, and the pool's life. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pool/server/digest.h"
#include "pool/pool_private.h"

/* ---- settings ---- */

/* Sets the defaults. The bytes between members are zero, too, also in copies:
 * pool_set_options() compares all bytes. */
void
pool_options_init(struct pool_options *o)
{
	memset(o, 0, sizeof(*o));
	o->balance = balance_table[0];
	o->sticky = true;
	o->hash_prefix6 = 128;
	o->sticky_prefix6 = 64;
	o->clients_max = 65536;
	o->blacklist_ms = 30 * 1000;
	o->on_down = SERVER_ON_DOWN_KEEP;
	o->health.rise = 2;
	o->health.fall = 3;
}

const struct pool_options *
pool_options(const struct pool *p)
{
	return &p->options;
}

/* Brings the memory of clients to the size that the settings want. One that has
 * clients in it only grows, so that none is forgotten. */
static int
change_sticky(struct pool *p, const struct pool_options *o)
{
	bool wanted = o->sticky && o->clients_max > 0;
	struct sticky *new = NULL;

	if (wanted && p->sticky != NULL && sticky_count(p->sticky) > 0) {
		if (sticky_grow(p->sticky, o->clients_max) < 0)
			return -1;
	} else {
		if (wanted && (new = sticky_new(o->clients_max)) == NULL)
			return -1;
		sticky_free(p->sticky);
		p->sticky = new;
	}
	if (!wanted)
		return 0;
	sticky_on_change(p->sticky, p->on_client, p->on_client_arg);
	sticky_set_prefix6(p->sticky, o->sticky_prefix6);
	sticky_follow(p->sticky, o->failback != FAILBACK_NEVER);
	return 0;
}

void
pool_clear_clients(struct pool *p)
{
	sticky_free(p->sticky);
	p->sticky = NULL;
	(void)change_sticky(p, &p->options);
}

static void
change_balance(struct pool *p, const struct balance *b, void *order)
{
	pool_reorder(p);
	if (p->order != NULL)
		p->options.balance->stop(p->order);
	p->options.balance = b;
	p->order = order;
}

int
pool_set_options(struct pool *p, const struct pool_options *o)
{
	void *order = p->order;
	uint32_t i;

	/* Should the bytes between members differ, the sets and the algorithm's
	 * order are only made anew without need. */
	if (order != NULL && memcmp(&p->options, o, sizeof(*o)) == 0)
		return 0;
	if (order == NULL || o->balance != p->options.balance)
		order = o->balance->start(p);
	if (order == NULL)
		return -1;
	if (change_sticky(p, o) < 0) {
		if (order != p->order)
			o->balance->stop(order);
		return -1;
	}
	if (order != p->order)
		change_balance(p, o->balance, order);
	p->options = *o;
	for (i = 0; i < p->slow.count; i++)
		p->slow.items[i].key = 0; /* slow_start applies at once */
	pool_enter_all(p);
	return 0;
}

/* ---- servers ---- */

void
server_spec_init(struct server_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->set.acl = -1;
	spec->admin = -1;
}

static struct server *
new_server(struct pool *p, unsigned slot)
{
	struct server *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	server_init(s);
	s->pool = p;
	s->slot = slot;
	s->number = server_number(slot);
	s->role = slot == SLOT_EMERGENCY ? SERVER_EMERGENCY
	    : slot == SLOT_ABUSE	 ? SERVER_ABUSE
					 : SERVER_REGULAR;
	return s;
}

/* Makes the list at least that long; added slots are empty. */
static int
grow_list(struct pool *p, unsigned slots)
{
	struct server **list;

	if (slots <= p->slots)
		return 0;
	list = array_grow(p->servers, &p->room, sizeof(*list), slots - 1);
	if (list == NULL)
		return -1;
	p->servers = list;
	if (eligible_grow(&p->eligible, slots) < 0 ||
	    heap_reserve(&p->revive, slots) < 0 ||
	    heap_reserve(&p->last_resort, slots) < 0 ||
	    heap_reserve(&p->slow, slots) < 0)
		return -1;
	for (; p->slots < slots; p->slots++) {
		list[p->slots] = new_server(p, p->slots);
		if (list[p->slots] == NULL)
			return -1;
	}
	return 0;
}

/* Adds the server to the counts of servers with a weight, with an access list
 * and without an address, or with `by` -1 takes it out of them. */
static void
count_settings(struct server *s, int by)
{
	struct pool *p = s->pool;

	if (s->unresolved)
		p->unresolved += (unsigned)by;
	if (s->role != SERVER_REGULAR)
		return;
	if (s->present && s->set.weight > 0)
		p->weighted += (unsigned)by;
	if (s->present && s->set.acl >= 0)
		p->with_acl += (unsigned)by;
}

static void
clear_counters(struct server *s)
{
	if (server_counts(s))
		memset(s->counters, 0, offsetof(struct server_counters, rate));
}

/* The list of the algorithm follows in pool_end_changes(). */
static void
note_listed(struct server *s)
{
	s->pool->list_changed |= s->role == SERVER_REGULAR;
}

/* Whether it is still the server of that name, whatever addresses that has now.
 * Where each address of a name is a server, they have a host. */
static bool
is_of_its_name(const struct server *s, const struct server_spec *spec)
{
	return s->present && spec->addrs.count > 0 && s->host == NULL &&
	    spec->host == NULL && strcmp(s->name, spec->name) == 0 &&
	    addr_port(&s->addrs.addr[0]) == addr_port(&spec->addrs.addr[0]);
}

/* Resets a server whose addresses have changed: what was known of it does not
 * apply to the new ones. With `of_its_name`, the same name at another address,
 * what keeps it out stays: checks and the operator's blacklisting. The caller
 * sets afterwards whether it is checked. */
static void
pool_begin_anew(struct server *s, bool of_its_name)
{
	if (!of_its_name || !s->by_operator)
		pool_end_blacklisting(s);
	if (!of_its_name)
		s->health = (struct health){ .down = false };
	s->refusals = 0;
	s->checked = s->checked && s->present;
	s->admin = SERVER_ENABLED;
	if (!of_its_name)
		s->mark = (struct server_mark){ .peer = 0 };
	clear_counters(s);
	s->addr_first = 0;
	s->slowness = s->penalty = 0;
	s->counters->answered_ms = 0;
	s->counters->generation = ++s->generation;
}

/* Sets `s` by the spec. Returns 0, or -1 with errno ENOMEM. */
static int
pool_make_server(
    struct server *s, const struct server_spec *spec, bool of_its_name)
{
	bool unresolved = spec->addrs.count == 0;
	bool same = unresolved
	    ? s->unresolved
	    : s->present && server_has_addrs(s, &spec->addrs);
	/* as those of a removed server, they are needed as long as that */
	bool keeps = unresolved && pool_own_connections(s) > 0;
	char *name = strdup(spec->name);
	char *host = spec->host != NULL ? strdup(spec->host) : NULL;

	if (name == NULL || (spec->host != NULL && host == NULL) ||
	    server_begin_counting(s) < 0 ||
	    (!keeps && server_set_addrs(s, &spec->addrs) < 0)) {
		free(name);
		free(host);
		return -1;
	}
	if (!same || s->set.weight != spec->set.weight)
		note_listed(s);
	count_settings(s, -1);
	digest_unlist(&s->pool->digests, s);
	if (!same)
		pool_begin_anew(s, of_its_name);
	s->refused = s->refused && strcmp(s->name, name) == 0;
	free(s->name);
	free(s->host);
	s->name = name;
	s->host = host;
	s->present = !unresolved;
	s->unresolved = unresolved;
	s->set = spec->set;
	if (spec->admin >= 0)
		s->admin = (enum server_admin)spec->admin;
	count_settings(s, 1);
	if (s->present && s->role == SERVER_REGULAR)
		digest_list(&s->pool->digests, s);
	return 0;
}

static const char *
why_set(const struct server *s)
{
	return s->unresolved && server_state(s) == SERVER_DOWN ? "no address"
							       : s->pool->why;
}

struct server *
pool_set_slot(struct pool *p, unsigned slot, const struct server_spec *spec)
{
	bool alone = !p->changing, of_its_name;
	unsigned generation;
	struct server *s;
	int rc;

	if (grow_list(p, slot + 1) < 0)
		return NULL;
	if (alone)
		pool_begin_changes(p, NULL);
	s = p->servers[slot];
	generation = s->generation;
	of_its_name = is_of_its_name(s, spec);
	pool_set_ineligible(s);
	rc = pool_make_server(s, spec, of_its_name);
	if (heap_has(&p->slow, slot))
		heap_set(&p->slow, slot, 0);
	pool_refresh(s);
	/* A server at other addresses is another one; but if the one before was
	 * reported down, that this one is not must be reported. */
	if (s->history.state == SERVER_EMPTY ||
	    (s->generation != generation && !of_its_name &&
		s->history.state == server_state(s)))
		history_begin(s, &p->watcher, why_set(s));
	else
		pool_report(s, why_set(s));
	if (alone && pool_end_changes(p) < 0)
		rc = -1;
	return rc == 0 ? s : NULL;
}

void
pool_clear_server(struct server *s)
{
	static const struct server_addrs none = { .count = 0 };

	(void)server_set_addrs(s, &none);
	s->addr_first = 0;
	if (s->unresolved)
		return;
	free(s->name);
	free(s->host);
	s->name = s->host = NULL;
	history_begin(s, &s->pool->watcher, "");
}

void
pool_remove_server(struct pool *p, struct server *s)
{
	bool alone = !p->changing;

	if (s == NULL || (!s->present && !s->unresolved))
		return;
	if (alone)
		pool_begin_changes(p, NULL);
	pool_set_ineligible(s);
	count_settings(s, -1);
	digest_unlist(&p->digests, s);
	s->present = s->unresolved = false;
	note_listed(s);
	pool_end_blacklisting(s);
	pool_refresh(s);
	pool_report(s, p->why);
	if (alone)
		(void)pool_end_changes(p);
	if (pool_own_connections(s) == 0)
		pool_clear_server(s);
}

unsigned
pool_slots(const struct pool *p)
{
	return p->slots;
}

struct server *
pool_slot(const struct pool *p, unsigned slot)
{
	return slot < p->slots ? p->servers[slot] : NULL;
}

unsigned
pool_count(const struct pool *p)
{
	return p->slots - SLOTS_SPECIAL;
}

struct server *
pool_server(const struct pool *p, unsigned number)
{
	/* Any number may be given, so server_slot() could wrap. */
	return number < pool_count(p) ? p->servers[server_slot(number)] : NULL;
}

bool
pool_refuse_address(struct server *s, bool refused)
{
	bool new = s->refused != refused;

	s->refused = refused;
	return new;
}

unsigned
pool_unresolved(const struct pool *p)
{
	return p->unresolved;
}

struct server *
pool_by_digest(const struct pool *p, uint64_t digest)
{
	return digest_find(&p->digests, digest);
}

void
pool_clear_counters(struct pool *p)
{
	unsigned slot;

	for (slot = 0; slot < p->slots; slot++)
		clear_counters(p->servers[slot]);
}

void
pool_watch(struct pool *p, const struct pool_watcher *w)
{
	p->watcher = *w;
}

/* ---- life ---- */

static void
lists_free(struct pool_lists *l)
{
	unsigned i;

	if (l == NULL)
		return;
	for (i = 0; i < ACL_MAX; i++)
		acl_fini(&l->acls[i]);
	free(l);
}

static struct pool_lists *
lists_new(void)
{
	struct pool_lists *l = calloc(1, sizeof(*l));
	unsigned i;

	for (i = 0; l != NULL && i < ACL_MAX; i++)
		acl_init(&l->acls[i]);
	return l;
}

struct pool *
pool_new(void)
{
	return pool_new_beside(NULL);
}

struct pool *
pool_new_beside(const struct pool *other)
{
	struct pool *p = calloc(1, sizeof(*p));
	struct pool_options o;

	if (p == NULL)
		return NULL;
	p->why = "";
	eligible_init(&p->eligible);
	heap_init(&p->revive);
	heap_init(&p->last_resort);
	heap_init(&p->slow);
	pool_options_init(&o);
	p->options = o;
	if (other != NULL) {
		pool_share_lists(p, other);
	} else {
		p->lists = lists_new();
		p->countries = countries_new();
	}
	if (hash_table_init(&p->digests) < 0 || p->lists == NULL ||
	    p->countries == NULL || grow_list(p, SLOTS_SPECIAL) < 0 ||
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
	for (i = 0; i < p->slots; i++) {
		server_fini(p->servers[i]);
		free(p->servers[i]);
	}
	free(p->servers);
	eligible_fini(&p->eligible);
	heap_fini(&p->revive);
	heap_fini(&p->last_resort);
	heap_fini(&p->slow);
	hash_table_fini(&p->digests);
	server_set_fini(&p->everyone);
	sticky_free(p->sticky);
	if (!p->shares_lists)
		lists_free(p->lists);
	if (!p->shares_countries)
		countries_free(p->countries);
	free(p);
}

struct acl *
pool_acl(struct pool *p, unsigned number)
{
	return number < ACL_MAX ? &p->lists->acls[number] : NULL;
}

struct countries *
pool_countries(const struct pool *p)
{
	return p->countries;
}

void
pool_share_lists(struct pool *p, const struct pool *of)
{
	if (!p->shares_lists)
		lists_free(p->lists);
	if (!p->shares_countries)
		countries_free(p->countries);
	p->lists = of->lists;
	p->countries = of->countries;
	p->shares_lists = p->shares_countries = true;
}

int
pool_freeze_lists(struct pool *p)
{
	struct pool_lists *own;
	unsigned i;

	if (!p->shares_lists)
		return 0;
	own = lists_new();
	if (own == NULL)
		return -1;
	for (i = 0; i < ACL_MAX; i++) {
		acl_copy(&own->acls[i], &p->lists->acls[i]);
		own->acls[i].countries = p->countries;
	}
	own->of_owners = p->lists->of_owners;
	p->lists = own;
	p->shares_lists = false;
	return 0;
}

void
pool_set_acl(struct pool *p, unsigned number, const struct acl *l)
{
	struct acl *mine = &p->lists->acls[number];

	if (acl_equal(mine, l))
		return;
	p->lists->of_owners -= mine->asks_owner;
	acl_fini(mine);
	acl_copy(mine, l);
	mine->countries = p->countries;
	p->lists->of_owners += mine->asks_owner;
}

void
pool_on_client(
    struct pool *p, void (*fn)(void *arg, uint32_t position), void *arg)
{
	p->on_client = fn;
	p->on_client_arg = arg;
	if (p->sticky != NULL)
		sticky_on_change(p->sticky, fn, arg);
}

struct sticky *
pool_sticky(const struct pool *p)
{
	return p->sticky;
}
