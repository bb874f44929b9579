/* pool_share.h: connections of servers that several processes count together,
 * so that limits hold for all, and algorithms go by what a server has in all.
 *
 * Each process writes its own numbers, in a part of the shared memory that no
 * other process writes; what a server has is their sum. To take a place a
 * process first adds one to its number, then adds up: of two that want the last
 * place at the same moment none may get it, but never both. When a process dies
 * its part is set to zero, and nothing of it is left. */
#ifndef PEN_POOL_POOL_SHARE_H
#define PEN_POOL_POOL_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/pool.h"

struct pool_share {
	_Atomic uint32_t *parts; /* of all processes */
	unsigned processes;
	unsigned own; /* the part of this process; processes: it has none */
	size_t used;  /* servers that have numbers */
};

/* Memory for `processes` that are forked later. Returns 0, or -1 with errno. */
int pool_share_open(struct pool_share *s, unsigned processes);
void pool_share_close(struct pool_share *s);
/* Numbers are given once: whether most are, and most of those to servers that
 * are gone, if there are so many now. Then others should begin with another
 * share. */
bool pool_share_is_used_up(const struct pool_share *s, size_t servers);
/* A process is gone. */
void pool_share_clear(struct pool_share *s, unsigned process);

/* Servers of the pool that have no number get their next ones: in all processes
 * in the same order. */
void pool_join(struct pool *p, struct pool_share *s);
/* The pool counts alone again. */
void pool_part(struct pool *p);

#endif
