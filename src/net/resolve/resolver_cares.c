/* resolver_cares.c: lookups by the c-ares library, which has times to live, and
 * services by their SRV records (RFC 2782).
 *
 *     "web.test"             A and AAAA, each by itself: one that fails is
 *                            not the answer that there is no address
 *     "_http._tcp.web.test"  SRV, then A and AAAA of each target
 *
 * c-ares opens its sockets itself and reports which of them it waits for. */
#include "config.h"

/* What replaces ares_query() and ares_parse_srv_reply() begins with 1.28. */
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/resolve/resolver_private.h"

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
	ares_channel files; /* uses only /etc/hosts; NULL: not used */
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
cares_on_time(struct timer *t)
{
	struct resolver_library *l =
	    container_of(t, struct resolver_library, timer);

	ares_process_fd(l->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	arm_timer(l);
}

static void
cares_on_ready(struct watch *w, unsigned ready)
{
	struct ares_socket *s = container_of(w, struct ares_socket, watch);
	struct resolver_library *l = s->library;
	int fd = w->fd;

	ares_process_fd(l->channel, ready & READY_READ ? fd : ARES_SOCKET_BAD,
	    ready & READY_WRITE ? fd : ARES_SOCKET_BAD);
	arm_timer(l);
}

static void
cares_free_socket(struct task *t)
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
	s->task.run = cares_free_socket;
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
			cares_on_ready) < 0)
			drop_socket(s);
	}
}

/* ---- life ---- */

static int
open_channel(struct resolver_library *l, ares_channel *channel, char *lookups)
{
	struct ares_options o = { .timeout = TRY_MS,
		.tries = TRIES,
		.sock_state_cb = on_socket,
		.sock_state_cb_data = l,
		.lookups = lookups };
	int set = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB |
	    ARES_OPT_LOOKUPS;

	/* When a name is looked up again is decided by pen: 1.31 keeps answers
	 * for their time to live. */
#ifdef ARES_OPT_QUERY_CACHE
	o.qcache_max_ttl = 0;
	set |= ARES_OPT_QUERY_CACHE;
#endif
	return ares_init_options(channel, &o, set) == ARES_SUCCESS ? 0 : -1;
}

static void
close_channels(struct resolver_library *l)
{
	if (l->files != NULL)
		ares_destroy(l->files);
	if (l->channel != NULL)
		ares_destroy(l->channel);
}

static int
cares_open_channels(struct resolver_library *l, const struct addr *server)
{
	static char files_only[] = "f", dns_only[] = "b";
	char text[ADDR_TEXT_MAX];

	if (open_channel(l, &l->channel, dns_only) == 0 &&
	    (server != NULL ? ares_set_servers_ports_csv(l->channel,
				  addr_format(server, text)) == ARES_SUCCESS
			    : open_channel(l, &l->files, files_only) == 0))
		return 0;
	close_channels(l);
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
	timer_init(&l->timer, cares_on_time);
	if (ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS) {
		if (cares_open_channels(l, server) == 0)
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
	close_channels(l);
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

/* ---- hosts ---- */

/* The queries of a lookup: its name, or the targets of its service. */
struct asking {
	struct lookup *lookup;
	struct resolver_library *library;
	unsigned waiting; /* hosts that were not answered yet */
	bool failed;	  /* that is reported rather than what does not exist */
	struct error why;
};

/* A family of a host. */
struct family {
	struct host *host;
	int af;
	unsigned bit;
	const char *type;
};

/* A host, whose families are queried at the same time. */
struct host {
	struct asking *asking;
	unsigned number; /* in the result */
	struct resolved_service is;
	struct family family[2];
	unsigned waiting; /* families that were not answered yet */
	char *found_as;	  /* with its domain; NULL: not known yet */
};

static void
asking_drop(struct asking *a)
{
	const struct query *q = a->lookup->query;
	bool found = q != NULL && q->result.count > 0;

	if (--a->waiting > 0)
		return;
	resolver_answered(
	    a->lookup, a->failed || !found ? a->why.text : NULL);
	free(a);
}

static bool
cares_is_known(int status)
{
	return status == ARES_SUCCESS || status == ARES_ENODATA ||
	    status == ARES_ENOTFOUND;
}

static void
note_failure(const struct family *f, int status)
{
	struct asking *a = f->host->asking;
	const struct query *q = a->lookup->query;
	const char *name =
	    q != NULL ? q->result.host[f->host->number].name : NULL;

	if (cares_is_known(status)) {
		if (!a->failed)
			error_set(&a->why, "%s", ares_strerror(status));
		return;
	}
	a->failed = true;
	error_set(&a->why, "%s%s%s: %s", name != NULL ? name : "",
	    name != NULL ? " " : "", f->type, ares_strerror(status));
}

static void
take_nodes(const struct host *h, struct resolved *r,
    const struct ares_addrinfo *found)
{
	const struct resolved_service *is = h->is.there ? &h->is : NULL;
	uint16_t port = is != NULL ? is->port : h->asking->lookup->port;
	const struct ares_addrinfo_node *n;

	for (n = found->nodes; n != NULL; n = n->ai_next) {
		uint64_t ms = n->ai_ttl > 0 ? (uint64_t)n->ai_ttl * 1000 : 0;

		resolve_add(r, n->ai_addr, n->ai_addrlen, port, h->number, is);
		if (r->ttl_ms == 0 || (ms > 0 && ms < r->ttl_ms))
			r->ttl_ms = ms;
	}
}

/* The search domains of resolv.conf can lead the families to different hosts:
 * the first one counts. */
static bool
is_same_host(struct host *h, const struct ares_addrinfo *found)
{
	if (h->found_as == NULL && found->name != NULL)
		h->found_as = strdup(found->name);
	return h->found_as == NULL || found->name == NULL ||
	    strcasecmp(h->found_as, found->name) == 0;
}

static void
host_drop(struct host *h)
{
	if (--h->waiting > 0)
		return;
	asking_drop(h->asking);
	free(h->found_as);
	free(h);
}

static void
on_family(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	const struct family *f = arg;
	struct host *h = f->host;
	struct query *q = h->asking->lookup->query;

	(void)timeouts;
	if (status != ARES_SUCCESS)
		note_failure(f, status);
	else if (q != NULL && is_same_host(h, found))
		take_nodes(h, &q->result, found);
	if (q != NULL && cares_is_known(status))
		q->result.host[h->number].failed &= ~f->bit;
	if (found != NULL)
		ares_freeaddrinfo(found);
	host_drop(h);
}

/* Takes the addresses that the hosts file has. They are complete: no query to a
 * name server follows. */
static void
on_file(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	struct host *h = arg;
	struct query *q = h->asking->lookup->query;

	(void)timeouts;
	if (status == ARES_SUCCESS) {
		take_nodes(h, &q->result, found);
		q->result.host[h->number].failed = 0;
	}
	if (found != NULL)
		ares_freeaddrinfo(found);
}

static void
ask_family(ares_channel channel, const char *name, int af,
    ares_addrinfo_callback on_found, void *arg)
{
	struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT,
		.ai_family = af,
		.ai_socktype = SOCK_STREAM };

	ares_getaddrinfo(channel, name, NULL, &hints, on_found, arg);
}

/* The file is read at once. Answers of name servers may come from inside, too,
 * so this function is one that waits; the answer can be the last one. */
static void
host_ask(struct host *h, const char *name)
{
	struct resolver_library *l = h->asking->library;
	struct query *q = h->asking->lookup->query;
	unsigned i;

	h->waiting = 1;
	h->family[0] = (struct family){ h, AF_INET, RESOLVE_IPV4, "A" };
	h->family[1] = (struct family){ h, AF_INET6, RESOLVE_IPV6, "AAAA" };
	if (l->files != NULL)
		ask_family(l->files, name, AF_UNSPEC, on_file, h);
	for (i = 0; i < 2 && q->result.host[h->number].failed != 0; i++) {
		h->waiting++;
		ask_family(l->channel, name, h->family[i].af, on_family,
		    &h->family[i]);
	}
	host_drop(h);
}

/* Begins the queries about one host; with `is` it is the target of a service
 * record. */
static void
ask_host(
    struct asking *a, const char *name, const struct resolved_service *is)
{
	struct query *q = a->lookup->query;
	struct host *h = calloc(1, sizeof(*h));
	int number =
	    resolved_add_host(&q->result, is != NULL ? name : NULL);

	if (h == NULL || number < 0) {
		a->failed = true;
		error_set(&a->why, "out of memory");
		free(h);
		return;
	}
	h->asking = a;
	h->number = (unsigned)number;
	if (is != NULL)
		h->is = *is;
	a->waiting++;
	host_ask(h, name);
}

/* ---- services ---- */

static void
ask_targets(struct asking *a, const struct ares_srv_reply *list)
{
	const struct ares_srv_reply *srv;

	for (srv = list; srv != NULL; srv = srv->next) {
		struct resolved_service is = { .there = true,
			.port = srv->port,
			.prio = srv->priority,
			.weight = srv->weight };

		ask_host(a, srv->host, &is);
	}
}

static void
on_service(
    void *arg, int status, int timeouts, unsigned char *answer, int length)
{
	struct asking *a = arg;
	struct ares_srv_reply *list = NULL;

	(void)timeouts;
	if (status == ARES_SUCCESS)
		status = ares_parse_srv_reply(answer, length, &list);
	if (status != ARES_SUCCESS)
		error_set(&a->why, "%s", ares_strerror(status));
	else if (a->lookup->query != NULL)
		ask_targets(a, list);
	if (list != NULL)
		ares_free_data(list);
	asking_drop(a);
}

/* ---- lookups ---- */

/* The count begins with 1 for the walk itself: all may be answered from
 * inside. */
void
library_ask(struct resolver_library *l, struct lookup *k, const char *host)
{
	struct asking *a = calloc(1, sizeof(*a));

	if (a == NULL) {
		resolver_answered(k, "out of memory");
		return;
	}
	a->lookup = k;
	a->library = l;
	a->waiting = 1;
	error_set(&a->why, "no address");
	if (resolve_is_service(host)) {
		ares_query(l->channel, host, ns_c_in, ns_t_srv, on_service, a);
	} else {
		ask_host(a, host, NULL);
		asking_drop(a);
	}
	arm_timer(l);
}

const char *
resolver_library_version(void)
{
	return ares_version(NULL);
}
