/* resolver.c: asynchronous name lookup; with loop.c the only file that knows
 * libevent. A lookup belongs to evdns until its callback, a query to its owner:
 * either may go first. */
#include "config.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "base/list.h"
#include "net/loop_private.h"
#include "net/resolver.h"

/* How long each try of a lookup may take. */
static const char try_seconds[] = "1.5", tries[] = "3";

struct resolver {
	struct loop *loop;
	struct evdns_base *dns; /* NULL until it is needed */
	struct list lookups;
	uint64_t limit_ms;
};

struct lookup {
	struct list link;
	struct resolver *resolver;
	struct query *query; /* NULL: nobody wants to know any more */
	struct evdns_getaddrinfo_request *request;
	struct timer limit;
	uint16_t port;
};

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
forget(struct lookup *k)
{
	if (k->query == NULL)
		return;
	k->query->lookup = NULL;
	k->query = NULL;
	timer_fini(&k->limit);
}

/* evdns calls back for what it drops, from the loop. */
void
resolver_free(struct resolver *r)
{
	struct list *link;

	if (r == NULL)
		return;
	for (link = r->lookups.next; link != &r->lookups; link = link->next)
		forget(list_entry(link, struct lookup, link));
	if (r->dns != NULL)
		evdns_base_free(r->dns, 1);
	if (!list_is_empty(&r->lookups))
		(void)event_base_loop(
		    loop_event_base(r->loop), EVLOOP_NONBLOCK);
	free(r);
}

static int
open_dns(struct resolver *r, int flags)
{
	r->dns = evdns_base_new(
	    loop_event_base(r->loop), flags | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (r->dns == NULL)
		return -1;
	evdns_base_set_option(r->dns, "timeout:", try_seconds);
	evdns_base_set_option(r->dns, "attempts:", tries);
	return 0;
}

/* Without name servers there is still /etc/hosts. */
int
resolver_prepare(struct resolver *r)
{
	if (r->dns != NULL ||
	    open_dns(r, EVDNS_BASE_INITIALIZE_NAMESERVERS) == 0)
		return 0;
	if (open_dns(r, 0) < 0)
		return -1;
	(void)evdns_base_load_hosts(r->dns, "/etc/hosts");
	return 0;
}

int
resolver_use_server(
    struct resolver *r, const struct addr *at, uint64_t limit_ms)
{
	r->limit_ms = limit_ms;
	if (r->dns == NULL && open_dns(r, 0) < 0)
		return -1;
	return evdns_base_nameserver_sockaddr_add(
	    r->dns, &at->u.sa, at->len, 0);
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

static void
fail_with(struct query *q, const char *why)
{
	q->failed = true;
	error_set(&q->error, "%s", why);
}

static void
on_limit(struct timer *t)
{
	struct lookup *k = list_entry(t, struct lookup, limit);
	struct query *q = k->query;

	fail_with(q, "name lookup timed out");
	forget(k);
	evdns_getaddrinfo_cancel(k->request);
	loop_soon(k->resolver->loop, &q->task);
}

/* Called from inside evdns_getaddrinfo() too, when the answer is at hand. */
static void
on_answer(int result, struct evutil_addrinfo *list, void *arg)
{
	struct lookup *k = arg;
	struct query *q = k->query;

	if (q != NULL) {
		forget(k);
		if (result != 0)
			fail_with(q, evutil_gai_strerror(result));
		else if (resolve_take(&q->result, list, k->port) == 0)
			fail_with(q, "no address");
		loop_soon(k->resolver->loop, &q->task);
	}
	if (list != NULL)
		evutil_freeaddrinfo(list);
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
	timer_init(&k->limit, on_limit);
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
	struct evutil_addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct evdns_getaddrinfo_request *request;
	struct lookup *k = NULL;

	q->failed = false;
	q->result.count = 0;
	if (resolver_prepare(r) == 0)
		k = new_lookup(r, q, port);
	if (k == NULL) {
		fail_with(q, "no resolver");
		loop_soon(r->loop, &q->task);
		return;
	}
	hints.ai_family = AF_UNSPEC;
	request = evdns_getaddrinfo(r->dns, host, NULL, &hints, on_answer, k);
	if (request != NULL) /* else `k` is gone */
		k->request = request;
}

void
query_cancel(struct query *q)
{
	struct lookup *k = q->lookup;

	list_remove(&q->task.link);
	if (k == NULL)
		return;
	forget(k);
	evdns_getaddrinfo_cancel(k->request);
}
