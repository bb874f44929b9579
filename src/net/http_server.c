/* http_server.c: the only file that uses evhttp. */
#include "config.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>

#include "base/log.h"
#include "base/memory.h"
#include "net/http_clients.h"
#include "net/http_server.h"
#include "net/http_words.h"
#include "net/loop/loop_library.h"

enum {
	BACKLOG = 256,
	SEND_BUFFER = 128 * 1024, /* of the kernel, for each client */
	SILENT_S = 10,
	IDLE_MS = 5000,
	HEADERS_MAX = 8192,
	HOST_NAME = 256
};

struct http_server {
	struct loop *loop;
	struct evhttp *http;
	struct evhttp_bound_socket *bound; /* evhttp's; NULL: gone */
	struct listener listener;
	struct http_pages pages;
	struct http_clients clients;
	struct timer sweep;
	char host[HOST_NAME]; /* of this machine; "" when it has none */
};

struct http_exchange {
	struct http_server *server;
	struct evhttp_request *request;
	struct http_client *client; /* NULL: one too many */
};

struct http_streaming {
	struct http_server *server;
	struct evhttp_request *request;
	struct http_client *client;
	bool (*more)(void *arg, struct buffer *out);
	void (*done)(void *arg);
	void *arg;
	bool last; /* the last piece is made */
	struct task turn; /* waits to make the next one */
};

/* ---- connections ---- */

/* Accepts again, after on_accept_error() has stopped that; not while all slots
 * for clients are in use. */
static void
go_on_accepting(struct http_server *s)
{
	struct evconnlistener *accepts;

	if (s->bound == NULL)
		return;
	accepts = evhttp_bound_socket_get_listener(s->bound);
	if (s->clients.count == HTTP_CLIENTS)
		evconnlistener_disable(accepts);
	else
		evconnlistener_enable(accepts);
}

static void
on_sweep(struct timer *t)
{
	struct http_server *s = list_entry(t, struct http_server, sweep);
	unsigned ms = http_clients_sweep(&s->clients, loop_now(s->loop));

	go_on_accepting(s);
	loop_poll_library(s->loop); /* evhttp has times of its own */
	if (s->clients.count > 0)
		(void)timer_start(s->loop, t, ms);
	else if (s->bound != NULL)
		(void)timer_start(s->loop, t, IDLE_MS);
}

/* evhttp is about to accept a connection: it gets the memory for it here. Of
 * one that is too many it makes its own, which is not counted. */
static struct bufferevent *
on_connection(struct event_base *base, void *arg)
{
	struct http_server *s = arg;
	struct bufferevent *bev =
	    http_clients_add(&s->clients, base, loop_now(s->loop));

	if (bev == NULL && s->clients.count < HTTP_CLIENTS)
		log_warn("page not served error=\"out of memory\"");
	if (s->clients.count == HTTP_CLIENTS)
		(void)timer_start(s->loop, &s->sweep, 0);
	else if (s->clients.count == 1)
		(void)timer_start(s->loop, &s->sweep, HTTP_SWEEP_MS);
	go_on_accepting(s);
	return bev;
}

/* Out of descriptors: trying again at once would be a busy loop. The argument
 * is evhttp's, as that of all callbacks of its listener is. */
static void
on_accept_error(struct evconnlistener *l, void *evhttp)
{
	(void)evhttp;
	evconnlistener_disable(l);
}

static void
http_server_on_closed(struct evhttp_connection *c, void *arg)
{
	struct http_server *s = arg;
	struct http_client *client = http_clients_find(
	    &s->clients, evhttp_connection_get_bufferevent(c));
	struct http_streaming *w;

	if (client == NULL)
		return;
	w = client->answer;
	if (w != NULL) {
		/* A request whose client has gone within the answer is no
		 * longer evhttp's. */
		if (!w->last &&
		    evhttp_request_get_connection(w->request) == NULL)
			evhttp_request_free(w->request);
		list_remove(&w->turn.link);
		w->done(w->arg);
		free(w);
	}
	http_clients_remove(&s->clients, client);
	go_on_accepting(s);
}

/* ---- requests ---- */

/* Returns false when it is gone already. */
static bool
peer_of(const struct http_server *s, struct evhttp_request *request,
    struct peer *who, bool *loopback)
{
	const struct sockaddr *at =
	    evhttp_connection_get_addr(evhttp_request_get_connection(request));
	struct addr a;

	*who = (struct peer){ .family = AF_UNIX };
	*loopback = false;
	if (s->listener.at.u.sa.sa_family == AF_UNIX)
		return true;
	if (at == NULL ||
	    (at->sa_family != AF_INET && at->sa_family != AF_INET6))
		return false;
	memset(&a, 0, sizeof(a));
	a.len = at->sa_family == AF_INET ? sizeof(a.u.in) : sizeof(a.u.in6);
	memcpy(&a.u, at, a.len);
	peer_from_addr(who, &a);
	*loopback = addr_is_loopback(&a);
	return true;
}

/* A request has one Host (RFC 9112, 3.2). A foreign page can make a browser on
 * this host send a request, by a name that resolves to this host: Host has that
 * name. */
static unsigned
check_host(const struct http_server *s, struct evhttp_request *request,
    const struct peer *who, bool loopback)
{
	const char *more = s->pages.hosts(s->pages.arg);
	bool all = more != NULL && who->family != AF_UNIX;
	struct evkeyvalq *fields = evhttp_request_get_input_headers(request);
	const struct evkeyval *field;
	const char *host = NULL;
	unsigned hosts = 0;

	for (field = fields->tqh_first; field != NULL;
	     field = field->next.tqe_next)
		if (evutil_ascii_strcasecmp(field->key, "Host") == 0) {
			host = field->value;
			hosts++;
		}
	if (hosts > 1 || (hosts == 0 && request->minor > 0))
		return 400;
	return host != NULL && (loopback || all) &&
		!http_host_is_own(host, s->host, more)
	    ? 421
	    : 200;
}

/* The client of a request; evhttp reports when it frees it. */
static struct http_client *
http_server_client_of(struct http_server *s, struct evhttp_request *request)
{
	struct evhttp_connection *c = evhttp_request_get_connection(request);
	struct http_client *client = http_clients_find(
	    &s->clients, evhttp_connection_get_bufferevent(c));

	if (client != NULL)
		evhttp_connection_set_closecb(c, http_server_on_closed, s);
	return client;
}

/* The headers of all pages. Names and texts from outside may be in a page: with
 * these headers a browser shows them as text and executes none of them. */
static void
add_headers(struct evhttp_request *request, const char *type)
{
	static const char *const always[][2] = {
		{ "Connection", "close" },
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Content-Security-Policy",
		    "default-src 'none'; style-src 'unsafe-inline'; "
		    "script-src 'unsafe-inline'; connect-src 'self'; "
		    "img-src data:; base-uri 'none'; form-action 'none'; "
		    "frame-ancestors 'none'" },
	};
	struct evkeyvalq *out = evhttp_request_get_output_headers(request);
	size_t i;

	evhttp_add_header(out, "Content-Type", type);
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		evhttp_add_header(out, always[i][0], always[i][1]);
}

/* evhttp takes "//readyz" for a host without a path, but a request that begins
 * so has a path (RFC 9112, 3.2.1), which is that of no page. */
static const char *
path_of(struct evhttp_request *request)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;

	if (strncmp(evhttp_request_get_uri(request), "//", 2) == 0)
		return "//";
	return path != NULL && *path != '\0' ? path : "/";
}

static void
on_request(struct evhttp_request *request, void *arg)
{
	struct http_exchange x = { arg, request,
		http_server_client_of(arg, request) };
	static const char denied[] = "access denied\n",
			  hosts[] = "needs one Host header, which must name "
				    "this host\n";
	struct peer who;
	unsigned status;
	bool loopback;

	if (x.client != NULL) {
		x.client->asked = true;
		x.client->moved = loop_now(x.server->loop);
	}
	if (!peer_of(x.server, request, &who, &loopback) ||
	    !x.server->pages.permits(x.server->pages.arg, &who))
		http_reply(&x, 403, "text/plain", denied, sizeof(denied) - 1);
	else if ((status = check_host(
		      x.server, request, &who, loopback)) != 200)
		http_reply(&x, status, "text/plain", hosts, sizeof(hosts) - 1);
	else
		x.server->pages.get(
		    x.server->pages.arg, &x, path_of(request));
}

unsigned
http_accepts(const struct http_exchange *x, const char *type)
{
	return http_quality(
	    evhttp_find_header(
		evhttp_request_get_input_headers(x->request), "Accept"),
	    type);
}

bool
http_parameter(
    const struct http_exchange *x, const char *name, char *to, size_t size)
{
	const char *query =
	    evhttp_uri_get_query(evhttp_request_get_evhttp_uri(x->request));
	const char *value;
	struct evkeyvalq all;

	if (query == NULL || evhttp_parse_query_str(query, &all) < 0)
		return false;
	value = evhttp_find_header(&all, name);
	if (value != NULL)
		snprintf(to, size, "%s", value);
	evhttp_clear_headers(&all);
	return value != NULL;
}

bool
http_has_parameter(const struct http_exchange *x, const char *name)
{
	const char *at =
	    evhttp_uri_get_query(evhttp_request_get_evhttp_uri(x->request));
	size_t n, length = strlen(name);

	for (; at != NULL; at = at[n] != '\0' ? at + n + 1 : NULL) {
		n = strcspn(at, "&");
		if (n >= length && strncmp(at, name, length) == 0 &&
		    (n == length || at[length] == '='))
			return true;
	}
	return false;
}

/* libevent's list of them has no 421 (RFC 9110, 15.5.20). */
static const char *
reason_phrase(unsigned status)
{
	return status == 421 ? "Misdirected Request" : NULL;
}

static bool
is_head_request(const struct http_exchange *x)
{
	return evhttp_request_get_command(x->request) == EVHTTP_REQ_HEAD;
}

void
http_reply(struct http_exchange *x, unsigned status, const char *type,
    const char *text, size_t n)
{
	struct evbuffer *body = evbuffer_new();
	size_t sent = is_head_request(x) ? 0 : n;

	add_headers(x->request, type);
	if (body == NULL || evbuffer_add(body, text, sent) < 0)
		evhttp_send_error(x->request, 500, NULL);
	else
		evhttp_send_reply(
		    x->request, (int)status, reason_phrase(status), body);
	http_client_answers(x->client);
	if (body != NULL)
		evbuffer_free(body);
}

/* ---- long answers ---- */

/* The client has taken the last piece. */
static void
want_piece(struct evhttp_connection *c, void *arg)
{
	struct http_streaming *w = arg;

	(void)c;
	w->client->waits = true;
	pieces_soon(w->server->pages.pieces, &w->turn);
}

static void
send_piece(struct task *turn)
{
	struct http_streaming *w =
	    list_entry(turn, struct http_streaming, turn);
	struct http_client *client = w->client;
	struct evbuffer *piece = evbuffer_new();
	struct buffer text;
	bool complete;

	client->waits = false;
	client->moved = loop_now(w->server->loop);
	buffer_init(&text);
	do
		w->last = !w->more(w->arg, &text);
	while (!w->last && buffer_length(&text) == 0);
	complete = buffer_length(&text) == 0 ||
	    (piece != NULL &&
		evbuffer_add(piece, buffer_bytes(&text),
		    buffer_length(&text)) == 0);
	if (complete && buffer_length(&text) > 0)
		evhttp_send_reply_chunk_with_cb(
		    w->request, piece, w->last ? NULL : want_piece, w);
	buffer_fini(&text);
	if (piece != NULL)
		evbuffer_free(piece);
	/* half an answer must not look like a whole one */
	if (!complete)
		http_client_end(client);
	else if (w->last)
		evhttp_send_reply_end(w->request);
	http_client_answers(client);
}

void
http_stream(struct http_exchange *x, const char *type,
    bool (*more)(void *arg, struct buffer *out), void (*done)(void *arg),
    void *arg)
{
	bool head = is_head_request(x);
	struct http_streaming *w =
	    head || x->client == NULL ? NULL : memory_zeroed(sizeof(*w));

	if (w == NULL) {
		done(arg);
		http_reply(x, head ? 200 : 503, type, "", 0);
		return;
	}
	*w = (struct http_streaming){ x->server, x->request, x->client, more,
		done, arg, false, { .run = send_piece } };
	list_init(&w->turn.link);
	x->client->answer = w;
	add_headers(x->request, type);
	evhttp_send_reply_start(x->request, 200, NULL);
	http_client_answers(x->client);
	want_piece(NULL, w);
}

/* ---- life ---- */

/* libevent 2.1 prints each client's address by getnameinfo(3), and ends the
 * program when that fails, as in musl for Unix sockets. */
static int
http_server_check_address(const struct addr *at, struct error *e)
{
	const struct sockaddr client = { .sa_family = AF_UNIX };
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (at->u.sa.sa_family != AF_UNIX ||
	    getnameinfo(&client, sizeof(client.sa_family), host, sizeof(host),
		port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		return 0;
	return error_set(e,
	    "libevent cannot serve pages on a Unix socket with this C library: "
	    "use a port");
}

static void
http_server_on_replaced(struct listener *l)
{
	struct http_server *s = l->arg;

	if (s->bound != NULL)
		evhttp_del_accept_socket(s->http, s->bound);
	s->bound = NULL;
	listener_close(l);
}

/* evhttp gets a copy of the descriptor, which it owns. */
static int
http_server_serve(struct http_server *s, struct error *e)
{
	int fd = fcntl(s->listener.fd, F_DUPFD_CLOEXEC, 0), size = SEND_BUFFER;

	/* What a slow client does not read is not to fill the kernel's memory;
	 * sockets that are accepted have the same buffer. */
	(void)setsockopt(
	    s->listener.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	s->http = evhttp_new(loop_event_base(s->loop));
	s->bound = s->http != NULL && fd >= 0
	    ? evhttp_accept_socket_with_handle(s->http, fd)
	    : NULL;
	if (s->bound == NULL) {
		if (fd >= 0)
			close(fd);
		return error_set(e, "no memory or descriptor left");
	}
	evconnlistener_set_error_cb(
	    evhttp_bound_socket_get_listener(s->bound), on_accept_error);
	(void)timer_start(s->loop, &s->sweep, IDLE_MS);
	evhttp_set_bevcb(s->http, on_connection, s);
	evhttp_set_gencb(s->http, on_request, s);
	evhttp_set_timeout(s->http, SILENT_S);
	evhttp_set_max_headers_size(s->http, HEADERS_MAX);
	evhttp_set_max_body_size(s->http, 0);
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	return 0;
}

struct http_server *
http_server_open(struct loop *l, const struct addr *at,
    const struct sock_listen_options *wanted, struct http_server *before,
    const struct http_pages *pages, struct error *e)
{
	struct sock_listen_options o = { .backlog = BACKLOG,
		.unix_mode = wanted->unix_mode,
		.freebind = wanted->freebind,
		.sockets = wanted->sockets };
	struct http_server *s;

	if (http_server_check_address(at, e) < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	s->loop = l;
	s->pages = *pages;
	if (gethostname(s->host, sizeof(s->host)) < 0)
		s->host[0] = '\0';
	s->host[sizeof(s->host) - 1] = '\0';
	timer_init(&s->sweep, on_sweep);
	s->listener.on_replaced = http_server_on_replaced;
	s->listener.arg = s;
	if (listener_replace(&s->listener, l, at, &o,
		before != NULL ? &before->listener : NULL, e) < 0)
		free(s);
	else if (http_server_serve(s, e) == 0)
		return s;
	else
		http_server_close(s);
	http_server_listen_again(before);
	return NULL;
}

void
http_server_close_in_child(struct http_server *s)
{
	http_clients_close_in_child(&s->clients);
}

void
http_server_close(struct http_server *s)
{
	if (s == NULL)
		return;
	timer_fini(&s->sweep);
	s->bound = NULL;
	if (s->http != NULL)
		evhttp_free(s->http);
	http_clients_fini(&s->clients);
	listener_close(&s->listener);
	free(s);
}

void
http_server_listen_again(struct http_server *s)
{
	if (s != NULL)
		listener_listen_again(&s->listener);
}

const char *
http_server_host(const struct http_server *s)
{
	return s->host;
}
