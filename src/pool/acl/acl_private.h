/* acl_private.h: the entries of access lists, for acl.c, acl_index.c and
 * acl_file.c. */
#ifndef PEN_POOL_ACL_PRIVATE_H
#define PEN_POOL_ACL_PRIVATE_H

#include "base/watched_file.h"
#include "pool/acl/acl_index.h"

/* The entries that lists share. A list that has all `count` entries may append
 * here. A list that has fewer sees the first ones only, and copies them before
 * it appends. */
struct acl_entries {
	unsigned users; /* how many lists */
	struct acl_entry *entry;
	size_t count, room;
	struct acl_index index; /* of all entries, once there are many */
	struct acl_span *spans;
	uint32_t span_count, span_room;
	/* The first entry of each country, by its number as of
	 * countries_of(); NULL: no entry is for a country. The first of all of
	 * them. */
	uint32_t *country, first_country;
};

/* Entries of a file, one after the other. */
struct acl_span {
	char *path; /* owned */
	struct file_id id; /* of the file when it was read; zero: not known */
	size_t first, count;
	uint64_t digest; /* of the lines */
	enum acl_verb verb;
	bool has_unix, asks_owner; /* of a list that ends there */
};

enum { ACL_COUNTRIES = 26 * 26 };

/* Makes the last `count` entries of the list those of a file. Returns 0, or -1
 * with errno ENOMEM. */
int acl_add_span(struct acl *l, const char *path, const struct file_id *id,
    size_t count, enum acl_verb verb, uint64_t digest);
/* Gives a list without entries those of `like`, of which none are its own
 * yet. */
void acl_share(struct acl *l, const struct acl *like);
/* Gives the list entries that it may append to. Returns 0, or -1 with errno
 * ENOMEM. */
int acl_detach(struct acl *l);

#endif
