/* pool_share.c: see pool_share.h. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "pool/pool_private.h"
#include "pool/pool_share.h"

#ifndef MAP_NORESERVE /* where memory is never reserved */
#define MAP_NORESERVE 0
#endif

/* Servers that can have numbers; memory is used where there are some. Of each
 * process those of LINE servers are together in a line of the cache, and behind
 * it are the lines of the others for the same servers. */
enum { CAPACITY = 1 << 20, LINE = 64 / sizeof(uint32_t) };

static size_t
share_bytes(const struct pool_share *s)
{
	return (size_t)s->processes * CAPACITY * sizeof(*s->parts);
}

int
pool_share_open(struct pool_share *s, unsigned processes)
{
	void *at;

	*s = (struct pool_share){ .processes = processes, .own = processes };
	at = mmap(NULL, share_bytes(s), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -1;
	s->parts = at;
	return 0;
}

void
pool_share_close(struct pool_share *s)
{
	if (s->parts != NULL)
		(void)munmap((void *)(uintptr_t)s->parts, share_bytes(s));
	s->parts = NULL;
}

/* The number of the first process; LINE further is that of the next one. */
static _Atomic uint32_t *
parts_of(const struct pool_share *s, size_t server)
{
	return &s->parts[server / LINE * LINE * s->processes + server % LINE];
}

bool
pool_share_is_used_up(const struct pool_share *s, size_t servers)
{
	return s->used > CAPACITY / 4 * 3 && s->used > 2 * servers;
}

void
pool_share_clear(struct pool_share *s, unsigned process)
{
	size_t i;

	for (i = 0; i < s->used; i++)
		atomic_store(parts_of(s, i) + (size_t)process * LINE, 0);
}

void
pool_join(struct pool *p, struct pool_share *s)
{
	p->share = s;
	for (; p->joined < p->slots && s->used < CAPACITY; p->joined++)
		p->servers[p->joined]->shared = parts_of(s, s->used++);
}

void
pool_become(struct pool *p)
{
	if (p->options.balance->renew != NULL)
		p->options.balance->renew(p->order);
}

void
pool_part(struct pool *p)
{
	unsigned i;

	for (i = 0; i < p->slots; i++)
		p->servers[i]->shared = NULL;
	p->joined = 0;
	p->share = NULL;
	p->reserved = NULL;
}

/* ---- a server ---- */

uint64_t
pool_shared_connections(const struct server *s)
{
	const struct pool_share *share = s->pool->share;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < share->processes; i++)
		sum += atomic_load(&s->shared[i * LINE]);
	return sum;
}

uint64_t
pool_own_connections(const struct server *s)
{
	const struct pool_share *share = s->pool->share;

	return s->shared != NULL && share->own == share->processes
	    ? pool_shared_connections(s)
	    : s->connections;
}

void
pool_share_report(struct server *s)
{
	const struct pool *p = s->pool;
	const struct pool_share *share = p->share;

	if (s->shared == NULL || share->own == share->processes)
		return;
	s->counters->connections = s->connections;
	atomic_store(&s->shared[(size_t)share->own * LINE],
	    (uint32_t)(s->connections + (p->reserved == s)));
}

void
pool_unreserve(struct pool *p)
{
	struct server *s = p->reserved;

	p->reserved = NULL;
	if (s != NULL)
		pool_share_report(s);
}

bool
pool_reserve(struct server *s, uint64_t limit)
{
	struct pool *p = s->pool;

	if (limit == 0 || s->shared == NULL)
		return true;
	p->reserved = s;
	pool_share_report(s);
	if (pool_connections(s) <= limit)
		return true;
	pool_unreserve(p);
	return false;
}

void
pool_refresh_full(struct pool *p, uint64_t now)
{
	unsigned i;

	if (p->share == NULL || p->full == 0 || p->refreshed == now)
		return;
	p->refreshed = now;
	for (i = SLOTS_SPECIAL; i < p->slots; i++)
		if (p->servers[i]->full)
			pool_refresh(p->servers[i]);
}

unsigned
pool_processes(const struct pool *p)
{
	return p->share == NULL ? 1 : p->share->processes;
}
