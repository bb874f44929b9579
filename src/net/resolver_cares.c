/* resolver_cares.c: lookups by the c-ares library, which knows times to live,
 * and services by their SRV records (RFC 2782).
 *
 *     "web.test"             A and AAAA
 *     "_http._tcp.web.test"  SRV, then A and AAAA of each target
 *
 * c-ares opens its sockets itself and says which of them it waits for. */
#include "config.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "net/resolver_private.h"

/* How long each try of a lookup may take. */
enum { TRY_MS = 1500, TRIES = 3 };

/* A socket of c-ares. */
struct ares_socket {
	struct list link;
	struct resolver_library *library;
	struct watch watch;
	struct task task; /* frees it */
};

struct resolver_library {
	struct resolver *resolver;
	ares_channel channel;
	struct timer timer;
	struct list sockets;
	bool closing;
};

/* ---- sockets and time ---- */

static void
arm_timer(struct resolver_library *l)
{
	struct timeval tv, *next = ares_timeout(l->channel, NULL, &tv);

	timer_stop(&l->timer);
	if (next != NULL && !l->closing)
		(void)timer_start(l->resolver->loop, &l->timer,
		    (uint64_t)next->tv_sec * 1000 +
			(uint64_t)next->tv_usec / 1000 + 1);
}

static void
on_time(struct timer *t)
{
	struct resolver_library *l =
	    container_of(t, struct resolver_library, timer);

	ares_process_fd(l->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	arm_timer(l);
}

static void
on_ready(struct watch *w, unsigned ready)
{
	struct ares_socket *s = container_of(w, struct ares_socket, watch);
	struct resolver_library *l = s->library;
	int fd = w->fd;

	ares_process_fd(l->channel,
	    ready & (READY_READ | READY_EOF | READY_ERROR) ? fd
							   : ARES_SOCKET_BAD,
	    ready & READY_WRITE ? fd : ARES_SOCKET_BAD);
	arm_timer(l);
}

static void
free_socket(struct task *t)
{
	free(container_of(t, struct ares_socket, task));
}

static struct ares_socket *
find_socket(const struct resolver_library *l, int fd)
{
	struct list *link;

	for (link = l->sockets.next; link != &l->sockets; link = link->next) {
		struct ares_socket *s =
		    list_entry(link, struct ares_socket, link);

		if (s->watch.fd == fd)
			return s;
	}
	return NULL;
}

static struct ares_socket *
add_socket(struct resolver_library *l)
{
	struct ares_socket *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->library = l;
	s->task.run = free_socket;
	list_init(&s->task.link);
	watch_init(&s->watch);
	list_append(&l->sockets, &s->link);
	return s;
}

static void
drop_socket(struct ares_socket *s)
{
	struct loop *loop = s->library->resolver->loop;

	watch_stop(loop, &s->watch);
	list_remove(&s->link);
	loop_soon(loop, &s->task);
}

/* A socket that cannot be watched is as one that never answers. */
static void
on_socket(void *arg, ares_socket_t fd, int reads, int writes)
{
	struct resolver_library *l = arg;
	struct ares_socket *s = find_socket(l, fd);
	unsigned want = (reads ? READY_READ | WATCH_LEVEL : 0u) |
	    (writes ? (unsigned)READY_WRITE : 0u);

	if (s != NULL && want != 0) {
		(void)watch_want(l->resolver->loop, &s->watch, want);
	} else if (s != NULL) {
		drop_socket(s);
	} else if (want != 0) {
		s = add_socket(l);
		if (s != NULL &&
		    watch_start(l->resolver->loop, &s->watch, fd, want,
			on_ready) < 0)
			drop_socket(s);
	}
}

/* ---- life ---- */

static int
open_channel(struct resolver_library *l, const struct addr *server)
{
	static char hosts_first[] = "fb", dns_only[] = "b";
	struct ares_options o = { .timeout = TRY_MS,
		.tries = TRIES,
		.sock_state_cb = on_socket,
		.sock_state_cb_data = l,
		.lookups = server != NULL ? dns_only : hosts_first };
	char text[ADDR_TEXT_MAX];

	if (ares_init_options(&l->channel, &o,
		ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB |
		    ARES_OPT_LOOKUPS) != ARES_SUCCESS)
		return -1;
	if (server == NULL ||
	    ares_set_servers_ports_csv(
		l->channel, addr_format(server, text)) == ARES_SUCCESS)
		return 0;
	ares_destroy(l->channel);
	return -1;
}

struct resolver_library *
library_open(struct resolver *r, const struct addr *server)
{
	struct resolver_library *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->resolver = r;
	list_init(&l->sockets);
	timer_init(&l->timer, on_time);
	if (ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS) {
		if (open_channel(l, server) == 0)
			return l;
		ares_library_cleanup();
	}
	free(l);
	return NULL;
}

/* Lookups under way are answered from inside, as destroyed. */
void
library_close(struct resolver_library *l)
{
	l->closing = true;
	ares_destroy(l->channel);
	ares_library_cleanup();
	timer_fini(&l->timer);
	free(l);
}

void
library_cancel(struct resolver_library *l, struct lookup *k)
{
	(void)l;
	(void)k;
}

/* ---- services ---- */

/* A service being looked up: its targets, which are asked all at once. */
struct service {
	struct lookup *lookup;
	struct resolver_library *library;
	unsigned waiting; /* targets that were not answered yet */
	const char *why;  /* what failed last; NULL: nothing */
};

struct target {
	struct service *service;
	struct resolved_service is;
};

static void
take_nodes(struct resolved *r, const struct ares_addrinfo *found, uint16_t port,
    const struct resolved_service *is)
{
	const struct ares_addrinfo_node *n;

	for (n = found->nodes; n != NULL; n = n->ai_next) {
		uint64_t ms = n->ai_ttl > 0 ? (uint64_t)n->ai_ttl * 1000 : 0;

		resolve_add(r, n->ai_addr, n->ai_addrlen, port, is);
		if (r->ttl_ms == 0 || (ms > 0 && ms < r->ttl_ms))
			r->ttl_ms = ms;
	}
}

/* One target that fails is left out, as long as another has an address. */
static void
end_service(struct service *s)
{
	const struct query *q = s->lookup->query;

	resolver_answered(s->lookup,
	    q != NULL && q->result.count > 0 ? NULL : s->why);
	free(s);
}

static void
on_target(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	struct target *t = arg;
	struct service *s = t->service;
	struct query *q = s->lookup->query;

	(void)timeouts;
	if (status != ARES_SUCCESS)
		s->why = ares_strerror(status);
	else if (q != NULL)
		take_nodes(&q->result, found, t->is.port, &t->is);
	if (found != NULL)
		ares_freeaddrinfo(found);
	free(t);
	if (--s->waiting == 0)
		end_service(s);
}

static void
ask_addresses(struct resolver_library *l, const char *host,
    ares_addrinfo_callback on_found, void *arg)
{
	struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };

	ares_getaddrinfo(l->channel, host, NULL, &hints, on_found, arg);
}

static void
ask_target(struct service *s, const struct ares_srv_reply *srv)
{
	struct target *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		s->why = "out of memory";
		return;
	}
	t->service = s;
	t->is = (struct resolved_service){ .there = true,
		.port = srv->port,
		.prio = srv->priority,
		.weight = srv->weight };
	s->waiting++;
	ask_addresses(s->library, srv->host, on_target, t);
}

/* The count begins with 1 for the walk itself: a target may be answered from
 * inside. */
static void
ask_targets(struct service *s, const struct ares_srv_reply *list)
{
	const struct ares_srv_reply *srv;

	s->waiting = 1;
	for (srv = list; srv != NULL; srv = srv->next)
		ask_target(s, srv);
	if (--s->waiting == 0)
		end_service(s);
}

static void
on_service(
    void *arg, int status, int timeouts, unsigned char *answer, int length)
{
	struct service *s = arg;
	struct ares_srv_reply *list = NULL;

	(void)timeouts;
	if (status == ARES_SUCCESS)
		status = ares_parse_srv_reply(answer, length, &list);
	if (status != ARES_SUCCESS || list == NULL ||
	    s->lookup->query == NULL) {
		s->why = status != ARES_SUCCESS ? ares_strerror(status) : NULL;
		end_service(s);
	} else {
		ask_targets(s, list);
	}
	if (list != NULL)
		ares_free_data(list);
}

static void
ask_service(struct resolver_library *l, struct lookup *k, const char *name)
{
	struct service *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		resolver_answered(k, "out of memory");
		return;
	}
	s->lookup = k;
	s->library = l;
	ares_query(l->channel, name, ns_c_in, ns_t_srv, on_service, s);
}

/* ---- lookups ---- */

static void
on_addresses(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	struct lookup *k = arg;

	(void)timeouts;
	if (k->query != NULL && status == ARES_SUCCESS)
		take_nodes(&k->query->result, found, k->port, NULL);
	resolver_answered(
	    k, status != ARES_SUCCESS ? ares_strerror(status) : NULL);
	if (found != NULL)
		ares_freeaddrinfo(found);
}

void
library_ask(struct resolver_library *l, struct lookup *k, const char *host)
{
	if (resolve_is_service(host))
		ask_service(l, k, host);
	else
		ask_addresses(l, host, on_addresses, k);
	arm_timer(l);
}
