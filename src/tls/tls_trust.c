/* tls_trust.c: puts CA certificates and revocation lists into OpenSSL's
 * store. */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#include "tls/cert.h"
#include "tls/tls_trust.h"

/* Adds all certificates. Returns how many there were, or -1. */
static int
add_certificates(SSL_CTX *ctx, const struct buffer *pem, bool ask)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	BIO *b = cert_open_text(pem);
	int n = 0, rc = 0;
	X509 *x;

	if (b == NULL)
		return -1;
	ERR_clear_error();
	while (rc == 0 &&
	    (x = PEM_read_bio_X509_AUX(b, NULL, NULL, NULL)) != NULL) {
		if (X509_STORE_add_cert(store, x) != 1 ||
		    (ask && SSL_CTX_add_client_CA(ctx, x) != 1))
			rc = -1;
		X509_free(x);
		n++;
	}
	BIO_free(b);
	return rc < 0 ? -1 : n;
}

static int
add_lists(SSL_CTX *ctx, const struct buffer *pem)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	BIO *b = cert_open_text(pem);
	int n = 0, rc = 0;
	X509_CRL *list;

	if (b == NULL)
		return -1;
	ERR_clear_error();
	while (rc == 0 &&
	    (list = PEM_read_bio_X509_CRL(b, NULL, NULL, NULL)) != NULL) {
		rc = X509_STORE_add_crl(store, list) == 1 ? 0 : -1;
		X509_CRL_free(list);
		n++;
	}
	BIO_free(b);
	return rc < 0 ? -1 : n;
}

static void
check_lists(SSL_CTX *ctx)
{
	X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx),
	    X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

/* Whether the text ends inside a line that begins a certificate, list or
 * key. */
static bool
ends_in_begin(const struct buffer *pem)
{
	static const char begin[] = "-----BEGIN ";
	const char *text = buffer_bytes(pem), *end, *line;
	size_t n;

	end = line = text + buffer_length(pem);
	while (line > text && line[-1] != '\n')
		line--;
	n = (size_t)(end - line);
	if (n > sizeof(begin) - 1)
		n = sizeof(begin) - 1;
	return n > 0 && memcmp(line, begin, n) == 0;
}

/* Why the text could not be read to its end; NULL: it was. To OpenSSL a BEGIN
 * line that is not complete is text between certificates. */
static const char *
damage(const struct buffer *pem)
{
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return cert_reason();
	return ends_in_begin(pem) ? "it is cut" : NULL;
}

/* Checks that a text of which `n` items were read has no damaged one after
 * these. */
static int
expect_all(const struct buffer *pem, int n, const char *what, struct error *e)
{
	const char *why = n > 0 ? damage(pem) : NULL;

	if (n <= 0)
		return error_set(e, "no %s: %s", what, cert_reason());
	return why == NULL ? 0 : error_set(e, "%s %d: %s", what, n + 1, why);
}

int
tls_trust_text(
    SSL_CTX *ctx, const struct buffer *pem, bool ask, struct error *e)
{
	return expect_all(
	    pem, add_certificates(ctx, pem, ask), "CA certificate", e);
}

int
tls_trust_revoked(SSL_CTX *ctx, const struct buffer *pem, struct error *e)
{
	if (expect_all(pem, add_lists(ctx, pem), "revocation list", e) < 0)
		return -1;
	check_lists(ctx);
	return 0;
}

/* The list number `at` of the store; NULL: that is no list. */
static X509_CRL *
list_at(STACK_OF(X509_OBJECT) * all, int at)
{
	return X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, at));
}

/* The last of those of its CA counts. */
static time_t
list_end(STACK_OF(X509_OBJECT) * all, const X509_CRL *list)
{
	const X509_NAME *issuer = X509_CRL_get_issuer(list);
	time_t last = 0, ends;
	X509_CRL *one;
	int i;

	for (i = 0; i < sk_X509_OBJECT_num(all); i++) {
		one = list_at(all, i);
		if (one == NULL ||
		    X509_NAME_cmp(X509_CRL_get_issuer(one), issuer) != 0)
			continue;
		if (X509_CRL_get0_nextUpdate(one) == NULL)
			return 0;
		ends = cert_time(X509_CRL_get0_nextUpdate(one));
		if (ends > last)
			last = ends;
	}
	return last;
}

time_t
tls_trust_lists(SSL_CTX *ctx, time_t now, char issuer[TLS_ISSUER_MAX])
{
	STACK_OF(X509_OBJECT) *all =
	    X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	time_t next = 0, end;
	X509_CRL *list;
	int i;

	issuer[0] = '\0';
	for (i = 0; i < sk_X509_OBJECT_num(all); i++) {
		list = list_at(all, i);
		end = list != NULL ? list_end(all, list) : 0;
		if (end > now && (next == 0 || end < next))
			next = end;
		if (end != 0 && end <= now)
			(void)X509_NAME_oneline(
			    X509_CRL_get_issuer(list), issuer, TLS_ISSUER_MAX);
	}
	return next;
}

/* ---- directories ---- */

/* "1a2b3c4d.0" and "1a2b3c4d.r0" are what c_rehash and OpenSSL call them. */
static bool
tls_trust_is_hashed(const char *name)
{
	int i;

	for (i = 0; i < 8; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	if (name[8] != '.')
		return false;
	name += name[9] == 'r' ? 10 : 9;
	return isdigit((unsigned char)name[0]) != 0;
}

/* Returns 1 if it has any, 0 if not, or -1 with a short message if it is
 * damaged: half a list would permit what the other half revokes. Files without
 * any, as those of keys, are left out. */
static int
tls_trust_add_file(
    SSL_CTX *ctx, int dir, const char *name, bool ask, struct error *e)
{
	const char *why = NULL, *why_list = NULL;
	int certificates = 0, lists = 0, rc;
	struct buffer text;
	struct error unread;

	buffer_init(&text);
	rc = file_read_at(dir, name, TRUST_FILE_MAX, false, &text, &unread);
	if (rc == 0 && buffer_length(&text) > 0) {
		certificates = add_certificates(ctx, &text, ask);
		why = damage(&text);
		lists = add_lists(ctx, &text);
		why_list = damage(&text);
	}
	buffer_fini(&text);
	if (lists > 0 && ask)
		check_lists(ctx);
	if (ask && (why != NULL || why_list != NULL))
		return error_set(
		    e, "%.200s: %s", name, why != NULL ? why : why_list);
	return certificates > 0 || lists > 0;
}

/* Adds the certificates and lists in the files whose names are `hashed`, or in
 * the others. Returns how many files had some, or -1 with a short message. */
static int
add_files(SSL_CTX *ctx, DIR *d, int dir, bool hashed, bool ask, struct error *e)
{
	struct dirent *file;
	int n = 0, rc = 0;

	rewinddir(d);
	while (rc >= 0 && (file = readdir(d)) != NULL)
		if (file->d_name[0] != '.' &&
		    tls_trust_is_hashed(file->d_name) == hashed) {
			rc = tls_trust_add_file(ctx, dir, file->d_name, ask, e);
			n += rc;
		}
	return rc >= 0 ? n : -1;
}

int
tls_trust_dir(SSL_CTX *ctx, int dir, bool ask, struct error *e)
{
	DIR *d = file_list_at(dir, e);
	int n;

	if (d == NULL)
		return -1;
	n = add_files(ctx, d, dir, true, ask, e);
	if (n == 0)
		n = add_files(ctx, d, dir, false, ask, e);
	closedir(d);
	ERR_clear_error();
	if (n == 0)
		return error_set(e, "no CA certificate found");
	return n > 0 ? 0 : -1;
}

/* ---- the system's ---- */

/* OpenSSL was built with paths, and the environment may give others. */
char *
tls_trust_bundle(void)
{
	const char *file = getenv(X509_get_default_cert_file_env());

	return realpath(
	    file != NULL ? file : X509_get_default_cert_file(), NULL);
}

int
tls_trust_system(SSL_CTX *ctx, const struct buffer *bundle, struct error *e)
{
	const char *dir = getenv(X509_get_default_cert_dir_env());
	struct error why;
	int fd, n = add_certificates(ctx, bundle, false);

	fd = n > 0 ? -1
		   : open(dir != NULL ? dir : X509_get_default_cert_dir(),
			 O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd >= 0) {
		n = tls_trust_dir(ctx, fd, false, &why) == 0;
		close(fd);
	}
	ERR_clear_error();
	return n > 0 ? 0
		     : error_set(e,
			   "the system has no CA certificates: "
			   "set ssl_upstream_ca");
}
