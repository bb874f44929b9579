/* names.c: names to addresses, for plans; owns the queries. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/names.h"

/* How many are looked up at a time: all at once would delay the loop, and their
 * answers would not fit into the buffer of a socket. */
enum { ASK_AT_ONCE = 64 };

void
names_init(struct names *n)
{
	memset(n, 0, sizeof(*n));
	list_init(&n->all);
}

bool
names_clear_some(struct names *n, unsigned count)
{
	struct list *link;

	for (; (link = list_first(&n->all)) != NULL && count > 0; count--) {
		struct name *one = list_entry(link, struct name, link);

		list_remove(link);
		hash_table_remove(&n->by_host, &one->in_table);
		query_fini(&one->query);
		free(one->host);
		free(one);
	}
	n->failed = 0;
	n->first_failed = NULL;
	n->ttl_ms = 0;
	return link != NULL;
}

void
names_clear(struct names *n)
{
	while (names_clear_some(n, UINT_MAX))
		;
	n->missing = 0;
}

void
names_fini(struct names *n)
{
	names_clear(n);
	if (n->by_host.now.buckets != NULL)
		hash_table_fini(&n->by_host);
}

static bool
has_host(const struct hash_table_link *l, const void *host)
{
	const struct name *one =
	    (const void *)((const char *)l - offsetof(struct name, in_table));

	return strcmp(one->host, host) == 0;
}

static struct name *
names_find_one(const struct names *n, const char *host)
{
	struct hash_table_link *l;

	if (n->by_host.now.buckets == NULL)
		return NULL;
	l = hash_table_find(&n->by_host,
	    hash_table_hash(&n->by_host, host, strlen(host)), has_host, host);
	return l != NULL ? list_entry(l, struct name, in_table) : NULL;
}

int
names_want(struct names *n, const char *host)
{
	struct name *one;

	if (names_find_one(n, host) != NULL)
		return 0;
	if (n->by_host.now.buckets == NULL && hash_table_init(&n->by_host) < 0)
		return -1;
	one = calloc(1, sizeof(*one));
	if (one == NULL || (one->host = strdup(host)) == NULL) {
		free(one);
		return -1;
	}
	one->names = n;
	query_init(&one->query);
	list_append(&n->all, &one->link);
	hash_table_add(&n->by_host, &one->in_table,
	    hash_table_hash(&n->by_host, host, strlen(host)));
	n->missing++;
	return 0;
}

const struct name *
names_find(const struct names *n, const char *host)
{
	const struct name *one = names_find_one(n, host);

	return one != NULL && one->done ? one : NULL;
}

static void on_done(struct query *q);

/* Looks up some more. */
static void
names_query_next(struct names *n, unsigned count)
{
	struct name *one;

	for (; count > 0 && n->next != &n->all; n->next = n->next->next) {
		one = list_entry(n->next, struct name, link);
		if (one->done)
			continue;
		one->query.on_done = on_done;
		resolver_ask(n->resolver, &one->query, one->host, 0);
		count--;
	}
}

static void
names_note_answer(struct names *n, const struct name *one)
{
	uint64_t ms = one->query.result.ttl_ms;

	if (one->query.partly && !n->quiet)
		log_warn("name resolved only in part name=%s error=\"%s\"",
		    one->host, one->query.error.text);
	if ((one->query.failed || one->query.partly) && n->failed++ == 0)
		n->first_failed = one;
	if (!one->query.failed && ms > 0 && (n->ttl_ms == 0 || ms < n->ttl_ms))
		n->ttl_ms = ms;
}

/* A name was answered, or has failed: begins the next lookups. After a failure
 * two of them, so that names do not wait long for those whose name server is
 * silent. */
static void
on_done(struct query *q)
{
	struct name *one = list_entry(q, struct name, query);
	struct names *n = one->names;

	one->done = true;
	names_note_answer(n, one);
	if (--n->missing == 0)
		n->on_all(n);
	else
		names_query_next(n, q->failed ? 2 : 1);
}

void
names_look_up(
    struct names *n, struct resolver *r, void (*on_all)(struct names *n))
{
	n->on_all = on_all;
	n->resolver = r;
	n->next = n->all.next;
	names_query_next(n, ASK_AT_ONCE);
}

/* ---- by another process ---- */

struct query *
names_import(struct names *n, const char *host)
{
	struct name *one;

	if (names_want(n, host) < 0)
		return NULL;
	one = names_find_one(n, host);
	one->done = true;
	n->missing--;
	return &one->query;
}

/* ---- at the start ---- */

static void
on_all_now(struct names *n)
{
	loop_stop(n->own_loop);
}

/* Looks up from a loop that lasts as long as the answers take. */
static void
ask_loop(struct names *n, const struct addr *server)
{
	struct resolver *r;
	struct error e;

	n->own_loop = loop_new(NULL, &e);
	if (n->own_loop == NULL)
		return;
	r = resolver_new(n->own_loop);
	if (r != NULL &&
	    (server != NULL
		    ? resolver_use_server(r, server, RESOLVER_LIMIT_MS)
		    : resolver_prepare(r)) == 0) {
		names_look_up(n, r, on_all_now);
		(void)loop_run(n->own_loop);
	}
	resolver_free(r);
	loop_free(n->own_loop);
}

/* The system has more methods to find hosts than the resolver, but no
 * services. */
static void
ask_system(struct names *n)
{
	struct list *link;

	for (link = n->all.next; link != &n->all; link = link->next) {
		struct name *one = list_entry(link, struct name, link);

		if (one->done || resolve_is_service(one->host))
			continue;
		one->query.failed = resolve_host(one->host, 0, RESOLVE_NAMES,
					&one->query.result,
					&one->query.error) < 0;
		one->done = true;
		n->missing--;
	}
}

/* Marks names that could not be looked up as failed. */
void
names_fail_rest(struct names *n)
{
	struct list *link;

	for (link = n->all.next; link != &n->all; link = link->next) {
		struct name *one = list_entry(link, struct name, link);

		if (one->done)
			continue;
		one->done = one->query.failed = true;
		error_set(&one->query.error, "no resolver");
	}
	n->missing = 0;
}

void
names_look_up_now(struct names *n, const struct addr *server)
{
	if (server == NULL)
		ask_system(n);
	if (n->missing > 0)
		ask_loop(n, server);
	names_fail_rest(n);
}
