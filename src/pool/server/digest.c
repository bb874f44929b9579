/* digest.c: see digest.h. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "base/list.h"
#include "pool/server/digest.h"

static uint64_t
digest_key(const struct hash_table *list, uint64_t digest)
{
	return hash_table_hash(list, &digest, sizeof(digest));
}

void
digest_list(struct hash_table *list, struct server *s)
{
	char at[ADDR_TEXT_MAX];
	uint64_t name = hash_stable(s->name, strlen(s->name)), where;

	addr_format(&s->addrs.addr[0], at);
	where = hash_stable(at, strlen(at));
	/* never 0, which stands for none */
	s->digest = hash_mix(name * 3 + where) | 1;
	hash_table_add(list, &s->by_digest, digest_key(list, s->digest));
}

void
digest_unlist(struct hash_table *list, struct server *s)
{
	if (s->digest != 0)
		hash_table_remove(list, &s->by_digest);
	s->digest = 0;
}

static bool
has_digest(const struct hash_table_link *l, const void *digest)
{
	const struct server *s =
	    (const struct server *)(const void *)((const char *)l -
		offsetof(struct server, by_digest));

	return memcmp(&s->digest, digest, sizeof(s->digest)) == 0;
}

struct server *
digest_find(const struct hash_table *list, uint64_t digest)
{
	struct hash_table_link *l = hash_table_find(
	    list, digest_key(list, digest), has_digest, &digest);

	return l != NULL ? container_of(l, struct server, by_digest) : NULL;
}
