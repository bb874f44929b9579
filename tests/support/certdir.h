/* certdir.h: a directory of certificates by name, as ssl_sni_path wants it.
 *
 * All have the key of one, which takes time to make; those that are to have
 * another are made with cert_new(). No texts are kept but where said, so that a
 * test may put as many files as it likes. Only there when built with
 * OpenSSL. */
#ifndef PEN_TEST_CERTDIR_H
#define PEN_TEST_CERTDIR_H

#include "support/certs.h"

enum { CERTDIR_PATH_MAX = 400 };

struct certdir {
	struct cert *first;
	char path[100], new[100]; /* of it, and of a file not yet in place */
};

/* An empty one, DIR in the test's scratch directory. */
void certdir_make(struct certdir *d, const char *dir);
/* The files stay, under another name: tests may share a process. */
void certdir_forget(struct certdir *d);

/* Path of a file in it, a text that lives until the test ends. */
const char *certdir_file(const struct certdir *d, const char *file);
/* A certificate for these names, not yet in a file. */
struct cert *certdir_cert(const struct certdir *d, const char *names);
/* One with its key, there at once as a whole. */
void certdir_put(const struct certdir *d, const char *file, const char *names);
/* NAME.crt and NAME.key. */
void certdir_put_parts(const struct certdir *d, const char *name);
void certdir_remove(const struct certdir *d, const char *file);

#endif
