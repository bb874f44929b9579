/* cert_files.h: the files of one name in a directory of certificates;
 * cert_store.h has their names. The name is always one that the directory had,
 * never one that a client sent. */
#ifndef PEN_TLS_CERT_FILES_H
#define PEN_TLS_CERT_FILES_H

#include <stdbool.h>

#include "base/watched_file.h"
#include "tls/cert.h"

/* Host names are not longer (RFC 1035). */
enum { CERT_NAME_MAX = 255 };

enum cert_part { PART_PEM, PART_CRT, PART_KEY, PART_CA, PART_OCSP, PARTS };

/* Which files there are; an ID without an inode: none. */
struct cert_file_ids {
	struct file_id of[PARTS];
};

/* The host name that a file name is for. Returns false when it is for none. */
bool cert_files_name(const char *file, char name[CERT_NAME_MAX + 1]);
void cert_file_ids_take(struct cert_file_ids *s, int dir, const char *name);
bool cert_file_ids_equal(
    const struct cert_file_ids *a, const struct cert_file_ids *b);
/* Whether there is a certificate among them. */
bool cert_file_ids_suffice(const struct cert_file_ids *s);
/* Reads the files there are. Returns 0, or -1 with a short message. */
int cert_files_read(int dir, const char *name, const struct cert_file_ids *s,
    struct cert_texts *t, struct error *e);

#endif
