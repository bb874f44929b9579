/* resolver_evdns.c: lookups by libevent's evdns, where c-ares is not built in.
 * It has no times to live and no services (SRV). */
#include "config.h"

#include <netdb.h>
#include <stdlib.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "net/loop/loop_library.h"
#include "net/resolve/resolver_private.h"

/* How long each try of a lookup may take. */
static const char try_seconds[] = "1.5", tries[] = "3";
/* How often evdns sees what time it is while it has lookups. */
enum { TICK_MS = 100 };

struct resolver_library {
	struct resolver *resolver;
	struct evdns_base *dns;
	struct timer tick;
};

static void
evdns_go_on(struct resolver_library *l)
{
	loop_poll_library(l->resolver->loop);
	(void)timer_start(l->resolver->loop, &l->tick, TICK_MS);
}

static void
evdns_on_tick(struct timer *t)
{
	struct resolver_library *l =
	    list_entry(t, struct resolver_library, tick);

	if (!list_is_empty(&l->resolver->lookups))
		evdns_go_on(l);
}

static int
open_dns(struct resolver_library *l, int flags)
{
	l->dns = evdns_base_new(loop_event_base(l->resolver->loop),
	    flags | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (l->dns == NULL)
		return -1;
	evdns_base_set_option(l->dns, "timeout:", try_seconds);
	evdns_base_set_option(l->dns, "attempts:", tries);
	return 0;
}

struct resolver_library *
library_open(struct resolver *r, const struct addr *server)
{
	struct resolver_library *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->resolver = r;
	timer_init(&l->tick, evdns_on_tick);
	if (server != NULL) {
		if (open_dns(l, 0) == 0 &&
		    evdns_base_nameserver_sockaddr_add(
			l->dns, &server->u.sa, server->len, 0) == 0)
			return l;
	} else if (open_dns(l, EVDNS_BASE_INITIALIZE_NAMESERVERS) == 0) {
		return l;
	} else if (open_dns(l, 0) == 0) {
		/* without name servers there is still /etc/hosts */
		(void)evdns_base_load_hosts(l->dns, "/etc/hosts");
		return l;
	}
	if (l->dns != NULL)
		evdns_base_free(l->dns, 1);
	free(l);
	return NULL;
}

/* evdns calls back for what it drops, from the loop. */
void
library_close(struct resolver_library *l)
{
	struct resolver *r = l->resolver;

	timer_fini(&l->tick);
	evdns_base_free(l->dns, 1);
	if (!list_is_empty(&r->lookups))
		(void)event_base_loop(
		    loop_event_base(r->loop), EVLOOP_NONBLOCK);
	free(l);
}

/* Called from inside evdns_getaddrinfo() too, when the answer is at hand. */
static void
evdns_on_answer(int result, struct evutil_addrinfo *list, void *arg)
{
	struct lookup *k = arg;

	if (k->query != NULL && result == 0)
		(void)resolve_take(&k->query->result, list, k->port);
	resolver_answered(k, result != 0 ? evutil_gai_strerror(result) : NULL);
	if (list != NULL)
		evutil_freeaddrinfo(list);
}

void
library_ask(struct resolver_library *l, struct lookup *k, const char *host)
{
	struct evutil_addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct evdns_getaddrinfo_request *request;

	if (resolve_is_service(host)) {
		resolver_answered(k,
		    "names of services need c-ares, which pen "
		    "was built without; use a host and a port");
		return;
	}
	hints.ai_family = AF_UNSPEC;
	request =
	    evdns_getaddrinfo(l->dns, host, NULL, &hints, evdns_on_answer, k);
	if (request != NULL) /* else `k` is gone */
		k->request = request;
	evdns_go_on(l);
}

void
library_cancel(struct resolver_library *l, struct lookup *k)
{
	evdns_getaddrinfo_cancel(k->request);
	evdns_go_on(l);
}
