/* connections.h: sessions by their numbers, for reports and commands. */
#ifndef PEN_PROXY_CONNECTIONS_H
#define PEN_PROXY_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct server;
struct sessions;
struct stream;

/* A session as it is at the moment. */
struct connection_info {
	unsigned number;
	unsigned phase; /* its state as a number, as below from 1 on */
	/* "hello", "connecting", "relaying", "draining", "queued" */
	const char *state;
	int down_fd, up_fd; /* of client and server; -1: none */
	struct peer client;
	uint32_t client_number;	     /* in the memory of clients; 0: none */
	const struct server *server; /* NULL: none chosen yet */
	const struct stream *stream; /* the client's; until the loop goes on */
	size_t pending_up, pending_down; /* bytes read, not yet taken */
	uint64_t up, down;		 /* bytes moved */
	uint64_t age_ms, idle_ms;
};

/* Each returns false when there is no such connection. */
bool connection_find(
    const struct sessions *all, uint64_t number, struct connection_info *info);
/* The first one whose number is not below `from`. */
bool connection_next(
    const struct sessions *all, uint64_t from, struct connection_info *info);
/* Ends it abortively. */
bool connection_close(struct sessions *all, uint64_t number);
/* The connection that a descriptor belongs to, or -1; a walk. */
int64_t connection_of_fd(const struct sessions *all, int fd);

#endif
