/* change.h: a change as bytes, for the workers to make it as their leader does:
 *
 *     head, line, names: each its head, host, hosts of a service
 */
#ifndef PEN_CONTROL_CHANGE_H
#define PEN_CONTROL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "control/value/row.h"

struct apply;
struct names;
struct pen;

struct change_head {
	char service[SERVICE_NAME_MAX + 1];
	char range_service[SERVICE_NAME_MAX + 1]; /* "": all */
	bool has_range_service;
	unsigned from, past; /* the range of the names */
	uint32_t number;     /* of the change; its answers have it, too */
	size_t line;	     /* bytes; 0: names were looked up again */
	unsigned names;
	uint64_t ttl_ms;
};

/* One that is read; the bytes are the caller's. */
struct change_bytes {
	struct change_head head;
	const char *line;
	const char *at; /* the names */
	size_t left;
};

/* Appends the change that is applied. Returns 0, or -1 without memory. */
int change_write(const struct apply *a, uint32_t number, struct buffer *out);

/* Reads all but the names. Returns 0, or -1: there is something missing. */
int change_begin(struct change_bytes *c, const char *bytes, size_t n);
/* Returns 0, or -1 without memory. */
int change_read_names(
    struct change_bytes *c, const struct pen *p, struct names *n);

#endif
