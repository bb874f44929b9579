/* cert_store_private.h: the inside of a store of certificates, for cert_store.c
 * (the table, for clients and control) and cert_store_read.c (the files). */
#ifndef PEN_TLS_CERT_STORE_PRIVATE_H
#define PEN_TLS_CERT_STORE_PRIVATE_H

#include "base/error.h"
#include "base/list.h"
#include "base/hash_table.h"
#include "base/watched_file.h"
#include "tls/cert_files.h"
#include "tls/cert_store.h"

/* A name of the directory and its certificate. */
struct cert_entry {
	struct hash_table_link link;
	struct list order; /* in the store's `all` */
	/* In the store's `parsed`, the last used last; or in `fresh`. */
	struct list parsed;
	struct list unsettled;
	struct settling settling;
	struct cert_texts texts;	 /* of the last good files */
	struct certificate *certificate; /* NULL: to be made from the texts */
	struct cert_file_ids seen;	 /* the files that were last read */
	time_t ends;
	uint64_t used; /* handshakes */
	bool wanted;   /* the directory had a file of it when last listed */
	bool good;     /* its files could be used once; they are in force */
	char name[];   /* as clients send it */
};

struct cert_store {
	unsigned refs;
	char *path; /* of the directory, as given */
	int dir;
	struct file_id seen; /* the directory when it was last listed */
	bool unsure; /* `seen` may be the file_id of a later change, too */
	struct error unlisted; /* why listing failed last; "": it did not */
	struct hash_table table;
	struct list all;
	/* Have a certificate, the least recently used first. */
	struct list parsed;
	struct list fresh;     /* their files have never been read */
	struct list unsettled; /* by the time when they are read once more */
	unsigned count, parsed_count;
	unsigned due;	   /* entries of `all` whose files are to be checked */
	struct list *next; /* the first of those */
	struct list *walk; /* where cert_store_next() was; NULL: unknown */
	unsigned walk_at;
};

/* NULL when the store has no such name. */
struct cert_entry *cert_entry_find(
    const struct cert_store *s, const char *name);
/* Adds a name, to be read. NULL when memory is short. */
struct cert_entry *cert_entry_new(struct cert_store *s, const char *name);
void cert_entry_free(struct cert_store *s, struct cert_entry *n);
/* Gives the name a certificate, which it owns from now on, in the place of the
 * one it had. Frees the least recently used one of all if there are too
 * many. */
void cert_entry_set(
    struct cert_store *s, struct cert_entry *n, struct certificate *c);

/* ---- cert_store_read.c ---- */

/* Reads the files of a name again. If they are broken the entry stays as it
 * was, and they are read once more when they change or have settled. */
void cert_entry_read(struct cert_store *s, struct cert_entry *n, uint64_t now);
/* Lists the directory: adds the names that are new and removes those that are
 * gone. Returns 0, or -1 with a short message, having removed none. */
int cert_store_read(struct cert_store *s, struct error *e);

#endif
