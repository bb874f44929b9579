/* change.h: a change that is in force, as bytes, for the workers to make it as
 * their leader did:
 *
 *     head, line           what was requested; see struct process_role_change
 *     files                the configuration files that it has read
 *     names                each its head, host, hosts of a service
 *     states, keys         what its leader knows of servers that are new, or
 *                          checked in another way; of tickets of TLS sessions
 *
 * The sockets of new listeners come in front of it. */
#ifndef PEN_CONTROL_CHANGE_H
#define PEN_CONTROL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "control/value/row.h"
#include "tls/tls_server.h"

struct apply_all;
struct names;
struct pen;

struct change_head {
	char service[SERVICE_NAME_MAX + 1];
	char range_service[SERVICE_NAME_MAX + 1]; /* "": all */
	bool has_range_service;
	unsigned from, past; /* the range of the names */
	char who[sizeof(((struct caller *)NULL)->who)]; /* has requested it */
	uint32_t number; /* of the change: one more than the last one */
	size_t line;	 /* bytes; 0: names were looked up again */
	size_t files;	 /* bytes */
	uint64_t lists;	 /* plan_acls_digest() of the plan: a worker reads the
			  * files of access lists itself */
	unsigned names;
	size_t states; /* bytes; see states_sync.c */
	unsigned keys;
	uint64_t ttl_ms;
};

/* Of the tickets of a service: a context that is new made its keys by itself in
 * each process. */
struct shared_keys {
	char service[SERVICE_NAME_MAX + 1];
	unsigned char keys[TLS_KEYS_BYTES];
	size_t length;
};

/* One that is read; the bytes are the caller's. */
struct change_bytes {
	struct change_head head;
	const char *line, *files, *states, *keys;
	const char *at; /* the names */
	size_t left;
};

/* Appends the change that is applied. Returns 0, or -1 without memory. */
int change_write(
    const struct apply_all *a, uint32_t number, struct buffer *out);

/* Reads all but the names. Returns 0, or -1: there is something missing. */
int change_begin(struct change_bytes *c, const char *bytes, size_t n);
/* Returns 0, or -1 without memory. */
int change_read_names(
    struct change_bytes *c, const struct pen *p, struct names *n);

#endif
