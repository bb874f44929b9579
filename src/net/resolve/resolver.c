/* resolver.c: asynchronous name lookup: queries, and how long they may take.
 * The library is in resolver_cares.c. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "net/resolve/resolver_private.h"

static const char resolv_conf[] = "/etc/resolv.conf";

/* ---- life ---- */

struct resolver *
resolver_new(struct loop *l)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->loop = l;
	r->limit_ms = RESOLVER_LIMIT_MS;
	list_init(&r->lookups);
	return r;
}

static void
lookup_detach(struct lookup *k)
{
	if (k->query == NULL)
		return;
	k->query->lookup = NULL;
	k->query = NULL;
	timer_fini(&k->limit);
}

void
resolver_free(struct resolver *r)
{
	struct list *link;

	if (r == NULL)
		return;
	for (link = r->lookups.next; link != &r->lookups; link = link->next)
		lookup_detach(list_entry(link, struct lookup, link));
	if (r->library != NULL)
		library_close(r->library);
	free(r);
}

int
resolver_prepare(struct resolver *r)
{
	if (r->library != NULL)
		return 0;
	file_id_read(&r->conf, AT_FDCWD, resolv_conf);
	r->library = library_open(r, NULL);
	r->is_system = r->library != NULL;
	return r->is_system ? 0 : -1;
}

static bool
is_asking(const struct resolver *r)
{
	struct list *link;

	for (link = r->lookups.next; link != &r->lookups; link = link->next)
		if (list_entry(link, struct lookup, link)->query != NULL)
			return true;
	return false;
}

/* The host may have other name servers by now. A file that is not there, as in
 * another root, changes nothing. */
static void
follow_system(struct resolver *r)
{
	static const struct file_id none;
	struct resolver_library *library;
	struct file_id conf;

	if (!r->is_system || is_asking(r))
		return;
	file_id_read(&conf, AT_FDCWD, resolv_conf);
	if (file_id_equal(&conf, &r->conf) || file_id_equal(&conf, &none))
		return;
	library = library_open(r, NULL);
	if (library == NULL)
		return;
	library_close(r->library);
	r->library = library;
	r->conf = conf;
}

int
resolver_use_server(
    struct resolver *r, const struct addr *at, uint64_t limit_ms)
{
	r->limit_ms = limit_ms;
	if (r->library == NULL)
		r->library = library_open(r, at);
	return r->library != NULL ? 0 : -1;
}

/* ---- answers ---- */

static void
run_done(struct task *t)
{
	struct query *q = list_entry(t, struct query, task);

	q->on_done(q);
}

void
query_init(struct query *q)
{
	memset(q, 0, sizeof(*q));
	list_init(&q->task.link);
	q->task.run = run_done;
}

/* Records why the query has failed; if it has addresses, it has failed only in
 * part. */
static void
fail_with(struct query *q, const char *why)
{
	q->partly = q->result.count > 0;
	q->failed = !q->partly;
	error_set(&q->error, "%s", why);
}

static void
lookup_on_limit(struct timer *t)
{
	struct lookup *k = list_entry(t, struct lookup, limit);
	struct resolver *r = k->resolver;
	struct query *q = k->query;

	fail_with(q, "name lookup timed out");
	lookup_detach(k);
	library_cancel(r->library, k);
	loop_soon(r->loop, &q->task);
}

void
resolver_answered(struct lookup *k, const char *why)
{
	struct query *q = k->query;

	if (q != NULL) {
		lookup_detach(k);
		if (why != NULL)
			fail_with(q, why);
		else if (q->result.count == 0)
			fail_with(q, "no address");
		loop_soon(k->resolver->loop, &q->task);
	}
	list_remove(&k->link);
	free(k);
}

/* ---- lookups ---- */

static struct lookup *
new_lookup(struct resolver *r, struct query *q, uint16_t port)
{
	struct lookup *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->resolver = r;
	k->query = q;
	k->port = port;
	timer_init(&k->limit, lookup_on_limit);
	if (timer_start(r->loop, &k->limit, r->limit_ms) < 0) {
		free(k);
		return NULL;
	}
	list_append(&r->lookups, &k->link);
	q->lookup = k;
	return k;
}

void
resolver_ask(
    struct resolver *r, struct query *q, const char *host, uint16_t port)
{
	struct lookup *k = NULL;
	int rc;

	q->partly = false;
	resolved_fini(&q->result);
	resolved_init(&q->result);
	rc = resolve_address(host, port, &q->result, &q->error);
	q->failed = rc < 0;
	if (rc != 0) {
		loop_soon(r->loop, &q->task);
		return;
	}
	follow_system(r);
	if (resolver_prepare(r) == 0)
		k = new_lookup(r, q, port);
	if (k != NULL) {
		library_ask(r->library, k, host);
		return;
	}
	fail_with(q, "no resolver");
	loop_soon(r->loop, &q->task);
}

void
query_fini(struct query *q)
{
	struct lookup *k = q->lookup;

	list_remove(&q->task.link);
	if (k != NULL) {
		lookup_detach(k);
		library_cancel(k->resolver->library, k);
	}
	resolved_fini(&q->result);
}
