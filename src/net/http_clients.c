/* http_clients.c: slots of connections, in no order: there are few. */
#include "config.h"

#include <sys/socket.h>
#include <unistd.h>

#include <event2/bufferevent.h>
#include <event2/event.h>

#include "net/http_clients.h"

enum {
	HEAD_MS = 10000, /* until the request is complete */
	LIFE_MS = 30000, /* in all */
	/* A client that made progress since then is not the slowest: a crowd
	 * that came at once is served, and waits in the backlog meanwhile. */
	GRACE_MS = 200,
	DROPPED_AT_ONCE = 8,
	FULL_MS = 10,
	INPUT_MAX = 16384
};

/* evhttp takes its callbacks off what it frees. */
static bool
is_freed(struct bufferevent *bev)
{
	bufferevent_data_cb read = NULL, write = NULL;
	bufferevent_event_cb event = NULL;

	bufferevent_getcb(bev, &read, &write, &event, NULL);
	return read == NULL && write == NULL && event == NULL;
}

struct bufferevent *
http_clients_add(struct http_clients *c, struct event_base *base, uint64_t now)
{
	struct http_client *client = http_clients_find(c, NULL);
	struct bufferevent *bev;

	if (client == NULL)
		return NULL;
	bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL)
		return NULL;
	/* evhttp reads on while it answers */
	bufferevent_setwatermark(bev, EV_READ, 0, INPUT_MAX);
	bufferevent_incref(bev);
	*client =
	    (struct http_client){ .bev = bev, .since = now, .moved = now };
	c->count++;
	return bev;
}

struct http_client *
http_clients_find(struct http_clients *c, const struct bufferevent *bev)
{
	unsigned i;

	for (i = 0; i < HTTP_CLIENTS; i++)
		if (c->slot[i].bev == bev)
			return &c->slot[i];
	return NULL;
}

void
http_clients_remove(struct http_clients *c, struct http_client *client)
{
	bufferevent_decref(client->bev);
	client->bev = NULL;
	c->count--;
}

/* ---- answers ---- */

static void
on_written(struct bufferevent *bev, void *arg)
{
	struct http_client *client = arg;

	client->on_written(bev, client->evhttp);
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_client *client = arg;

	if (client->ended || what != (BEV_EVENT_READING | BEV_EVENT_EOF))
		client->on_event(bev, what, client->evhttp);
}

void
http_client_answers(struct http_client *client)
{
	bufferevent_data_cb read, write;
	bufferevent_event_cb event;
	void *evhttp;

	if (client == NULL || client->bev == NULL)
		return;
	bufferevent_getcb(client->bev, &read, &write, &event, &evhttp);
	if (event == NULL || event == on_event)
		return;
	client->on_written = write;
	client->on_event = event;
	client->evhttp = evhttp;
	bufferevent_setcb(client->bev, NULL, on_written, on_event, client);
}

/* ---- ends ---- */

/* The end of the stream is what evhttp closes a connection for. What a client
 * does not read is not to stay in the kernel, so it gets a reset. */
void
http_client_end(struct http_client *client)
{
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	int fd = bufferevent_getfd(client->bev);

	client->ended = true;
	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	(void)shutdown(fd, SHUT_RDWR);
}

static struct http_client *
slowest(struct http_clients *c)
{
	struct http_client *found = NULL;
	unsigned i;

	for (i = 0; i < HTTP_CLIENTS; i++) {
		struct http_client *client = &c->slot[i];

		if (client->bev != NULL && !client->ended && !client->waits &&
		    (found == NULL || client->moved < found->moved))
			found = client;
	}
	return found;
}

unsigned
http_clients_sweep(struct http_clients *c, uint64_t now)
{
	struct http_client *client;
	uint64_t age;
	unsigned i;

	for (i = 0; i < HTTP_CLIENTS; i++) {
		client = &c->slot[i];
		age = now - client->since;
		if (client->bev == NULL)
			continue;
		if (is_freed(client->bev))
			http_clients_remove(c, client);
		else if (!client->ended &&
		    (age >= LIFE_MS || (age >= HEAD_MS && !client->asked)))
			http_client_end(client);
	}
	if (c->count < HTTP_CLIENTS)
		return HTTP_SWEEP_MS;
	for (i = 0; i < DROPPED_AT_ONCE; i++) {
		client = slowest(c);
		if (client == NULL || now - client->moved < GRACE_MS)
			break;
		http_client_end(client);
	}
	return FULL_MS;
}

void
http_clients_close_in_child(struct http_clients *c)
{
	struct bufferevent *bev;
	unsigned i;
	int fd;

	for (i = 0; i < HTTP_CLIENTS; i++) {
		bev = c->slot[i].bev;
		fd = bev != NULL ? bufferevent_getfd(bev) : -1;
		if (fd < 0)
			continue;
		(void)bufferevent_setfd(bev, -1);
		close(fd);
	}
}

void
http_clients_fini(struct http_clients *c)
{
	unsigned i;

	for (i = 0; i < HTTP_CLIENTS; i++)
		if (c->slot[i].bev != NULL)
			http_clients_remove(c, &c->slot[i]);
}
