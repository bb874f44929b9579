/* acl.h: access lists: permit and deny entries over clients, in order.
 *
 * The first entry that matches decides. If none matches, the opposite of the
 * last entry holds. An empty list permits all clients. (Pen's rules.)
 *
 * Copies of a list share its entries as long as they only append. A copy costs
 * nothing, and a configuration that appends one entry to a list of a million
 * pays for one entry. */
#ifndef PEN_POOL_ACL_H
#define PEN_POOL_ACL_H

#include "pool/acl/acl_entry.h"

/* Classic Pen's lists, which have a number only; and all of a pool. */
enum { ACL_LISTS = 10, ACL_MAX = 256 };

struct acl_entries; /* private; see acl_private.h */
struct countries;

struct acl {
	struct acl_entries *shared; /* reference counted; NULL: none */
	size_t count;		    /* so many of them belong to this list */
	uint32_t spans;		    /* and so many files that they came from */
	bool rest_denied;	    /* a client that no entry matches */
	bool has_unix;		    /* an entry is for Unix clients */
	bool asks_owner;	    /* and one for those of a user or group */
	/* The database with the countries of clients; not owned. NULL: none,
	 * and entries for countries match no client. */
	struct countries *countries;
};

/* What the lines of a file mean that have neither permit nor deny. */
enum acl_verb { ACL_AS_WRITTEN, ACL_PERMIT, ACL_DENY };

void acl_init(struct acl *l);
void acl_fini(struct acl *l); /* it is empty then */
/* Appends an entry. If all of the list is the beginning of `like` (NULL: none),
 * and `like` has the same entry next, they share it. Returns 0, or -1 with
 * errno ENOMEM. */
int acl_add_entry(
    struct acl *l, const struct acl_entry *entry, const struct acl *like);
/* Makes `to`, an empty list, a copy of `from`, without its countries. */
void acl_copy(struct acl *to, const struct acl *from);
/* Whether the entries are the same, from the same files. */
bool acl_equal(const struct acl *a, const struct acl *b);
/* Whether nothing has been added to it. */
bool acl_is_empty(const struct acl *l);
/* Whether an entry is for a country. */
bool acl_has_countries(const struct acl *l);
/* Returns entry `i`, which is below `count`; the list owns it. */
const struct acl_entry *acl_at(const struct acl *l, size_t i);
/* Returns the number of the first entry that matches the client, or `count`. */
size_t acl_find(const struct acl *l, const struct peer *who);
/* Of the last ACL_COMPARED entries one that matches all clients of `entry`,
 * which would follow them, and has the other verdict; NULL: there is none. */
enum { ACL_COMPARED = 256 };
const struct acl_entry *acl_overruling(
    const struct acl *l, const struct acl_entry *entry);
/* Whether the list lets the client in. */
bool acl_permits(const struct acl *l, const struct peer *who);

/* ---- files of entries, in acl_file.c ---- */

/* What was read from a file. */
struct acl_file_facts {
	size_t entries;
	size_t cut; /* of them, addresses with bits outside their mask */
	unsigned first_cut; /* line of the first of these */
	bool has_no_end;    /* its last line has no newline */
	bool unchanged; /* the entries are those of `like`: nothing was read */
};

/* Appends the entries of a file, one a line: as acl_entry_parse() takes it,
 * after "permit" or "deny", or without one: then `verb` applies, and
 * ACL_AS_WRITTEN permits. A # or ; begins a comment. If the list is empty or
 * the beginning of `like`, which has the same file next, and the file has not
 * changed since it was read for that, they share the entries. Returns 0, or -1
 * with a full message that begins with FILE:LINE, and the list as it was. */
int acl_add_file(struct acl *l, const char *path, enum acl_verb verb,
    const struct acl *like, struct acl_file_facts *facts, struct error *e);

/* The same in steps, for files that are long. First, whether nothing needs to
 * be read: if so, the entries have been added. */
bool acl_file_is_unchanged(struct acl *l, const char *path, enum acl_verb verb,
    const struct acl *like, struct acl_file_facts *facts);
/* Begins to read the file, for a list like `before`. NULL with a full
 * message. */
struct acl_reader;
struct acl_reader *acl_reader_new(const struct acl *before, const char *path,
    enum acl_verb verb, struct error *e);
/* NULL is fine. */
void acl_reader_free(struct acl_reader *r);
/* Reads so many lines more. Returns 1 if there are more, 0 when all are read,
 * after which it is not called again, or -1 with a full message. */
int acl_reader_read(struct acl_reader *r, unsigned lines, struct error *e);
/* Makes `l` the list `before` with the entries of the file, all of which were
 * read. */
void acl_reader_take(
    const struct acl_reader *r, struct acl *l, struct acl_file_facts *facts);

/* A number for what was read from files, which is another one if that is; 0:
 * there are none. */
uint64_t acl_digest(const struct acl *l);

/* What a list is made of, one thing after the other: begin with all zero. */
struct acl_item {
	const struct acl_entry *entry; /* NULL: a file */
	const char *path;
	enum acl_verb verb;
	size_t entries;	 /* of the file */
	size_t next;	 /* private */
	uint32_t span;	 /* private */
};
/* Goes to the next one; false: there is none. */
bool acl_next(const struct acl *l, struct acl_item *item);
/* "permit ", "deny " or "": what stands before "file PATH". */
const char *acl_verb_word(enum acl_verb verb);
/* The file that entry `i` came from, or NULL. */
const char *acl_file_of(const struct acl *l, size_t i);

#endif
