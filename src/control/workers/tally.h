/* tally.h: what workers have counted, as bytes, and their sums. */
#ifndef PEN_CONTROL_TALLY_H
#define PEN_CONTROL_TALLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/list.h"

struct pen;
struct service;

/* Of all services. */
struct tally {
	struct list services; /* struct tally_service */
	struct list *found;   /* the one that was wanted last; or the head */
};

void tally_init(struct tally *t);
void tally_fini(struct tally *t);

/* Appends what this process has counted. Returns 0, or -1 without memory. */
int tally_write(const struct pen *p, struct buffer *out);
/* Adds what a worker has written, with its peaks or without them. Returns 0, or
 * -1 without memory: then some of it is missing. */
int tally_read(struct tally *t, const char *bytes, size_t n, bool peaks);
int tally_add(struct tally *t, const struct tally *other);
/* Who has counted that is gone: what was there then is there no more. */
void tally_end(struct tally *t);
/* Adds the lines of its log that this process, the leader, has lost. */
void tally_count_log(struct tally *t, struct pen *p);
/* A service counts anew. */
void tally_clear(struct tally *t, const struct service *svc);
/* The counters of this process's services are those of the tally; peaks never
 * get smaller. */
void tally_apply(struct pen *p, struct tally *t);

#endif
