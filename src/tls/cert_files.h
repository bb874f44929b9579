/* cert_files.h: the files of one name in a directory of certificates; see
 * cert_store.h for what they are called. Knows no name but the one given, which is
 * never one that a client sent. */
#ifndef PEN_TLS_CERT_FILES_H
#define PEN_TLS_CERT_FILES_H

#include <stdbool.h>

#include "base/watched.h"
#include "tls/cert.h"

/* Longer names are none (RFC 1035). */
enum { CERT_NAME_MAX = 255 };

enum cert_part { PART_PEM, PART_CRT, PART_KEY, PART_CA, PART_OCSP, PARTS };

/* Which files are there. */
struct cert_stamps {
	struct stamp of[PARTS];
};

/* The name that a file is for. Returns false when it is for none. */
bool cert_files_name(const char *file, char name[CERT_NAME_MAX + 1]);
void cert_stamps_take(struct cert_stamps *s, int dir, const char *name);
bool cert_stamps_equal(
    const struct cert_stamps *a, const struct cert_stamps *b);
/* Whether there is a certificate among them. */
bool cert_stamps_suffice(const struct cert_stamps *s);
/* Reads those that are there. Returns 0, or -1 with a phrase. */
int cert_files_read(int dir, const char *name, const struct cert_stamps *s,
    struct cert_texts *t, struct error *e);

#endif
