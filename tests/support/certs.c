/* certs.c: certificates, revocations and OCSP responses by OpenSSL, with what
 * both 1.1.1 and 3 offer and neither calls deprecated. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "support/certs.h"
#include "support/suite.h"

enum { CHAIN_MAX = 8, COMMON_NAME_MAX = 64, NAMES_MAX = 4096, DAY = 86400 };

struct cert {
	X509 *x509;
	EVP_PKEY *key;
	X509 *issuer; /* itself when nobody else's */
	EVP_PKEY *issuer_key;
	X509 *between[CHAIN_MAX]; /* its issuers up to, not including, root */
	int between_n;
	bool is_root;
};

/* What went wrong in OpenSSL fails the test. */
#define NEED(expr)                                                          \
	do {                                                                \
		if (!(expr))                                                \
			ck_abort_msg("%s: %s", #expr,                       \
			    ERR_error_string(ERR_peek_last_error(), NULL)); \
	} while (0)

static EVP_PKEY *
key_new(bool rsa)
{
	EVP_PKEY_CTX *ctx =
	    EVP_PKEY_CTX_new_id(rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, NULL);
	EVP_PKEY *key = NULL;

	NEED(ctx != NULL && EVP_PKEY_keygen_init(ctx) > 0);
	if (rsa)
		NEED(EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, 2048) > 0);
	else
		NEED(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(
			 ctx, NID_X9_62_prime256v1) > 0);
	NEED(EVP_PKEY_keygen(ctx, &key) > 0);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static void
set_serial(X509 *x)
{
	uint64_t serial;

	NEED(RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1);
	serial = (serial >> 1) | 1; /* positive, never 0 */
	NEED(ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial) == 1);
}

static void
set_times(X509 *x, const struct cert_wish *w)
{
	int last = w->days != 0 ? w->days : 30;
	int first = w->begins_days != 0 ? w->begins_days
	    : last > 0			? -1
					: last - 30;

	NEED(X509_time_adj_ex(X509_getm_notBefore(x), first, 0, NULL) != NULL);
	if (w->seconds != 0)
		last = 0;
	NEED(X509_time_adj_ex(X509_getm_notAfter(x), last, w->seconds, NULL) !=
	    NULL);
}

static void
set_subject(X509 *x, const char *name)
{
	X509_NAME *subject = X509_NAME_new();
	unsigned char common[COMMON_NAME_MAX];
	size_t n = strcspn(name, ","), from = 0;

	if (strncmp(name, "IP:", 3) == 0)
		from = 3;
	n -= from;
	if (n > COMMON_NAME_MAX)
		n = COMMON_NAME_MAX;
	memcpy(common, name + from, n);
	NEED(subject != NULL);
	NEED(X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
		 common, (int)n, -1, 0) == 1);
	NEED(X509_set_subject_name(x, subject) == 1);
	X509_NAME_free(subject);
}

static void
add(X509 *x, X509V3_CTX *ctx, int nid, const char *value)
{
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, ctx, nid, value);

	NEED(e != NULL);
	NEED(X509_add_ext(x, e, -1) == 1);
	X509_EXTENSION_free(e);
}

/* "a.test,IP:::1" as OpenSSL writes it: "DNS:a.test,IP:::1". */
static void
add_names(X509 *x, X509V3_CTX *ctx, const char *names)
{
	char all[NAMES_MAX] = "";
	size_t n, at = 0;

	for (; *names != '\0'; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s%.*s",
		    at > 0 ? "," : "",
		    memchr(names, ':', n) != NULL ? "" : "DNS:", (int)n, names);
		ck_assert_uint_lt(at, sizeof(all));
	}
	add(x, ctx, NID_subject_alt_name, all);
}

static void
add_extensions(X509 *x, X509 *issuer, const struct cert_wish *w)
{
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	add(x, &ctx, NID_basic_constraints,
	    w->is_ca ? "critical,CA:TRUE" : "CA:FALSE");
	add(x, &ctx, NID_subject_key_identifier, "hash");
	if (issuer != x)
		add(x, &ctx, NID_authority_key_identifier, "keyid");
	if (w->is_ca) {
		add(x, &ctx, NID_key_usage,
		    "critical,keyCertSign,cRLSign,digitalSignature");
		return;
	}
	add(x, &ctx, NID_ext_key_usage,
	    w->for_client ? "clientAuth" : "serverAuth");
	add_names(x, &ctx, w->name);
}

/* Who signs it, and which certificates lead to the root. */
static void
set_issuer(struct cert *c, const struct cert *from)
{
	int i;

	c->is_root = from == NULL;
	c->issuer = from != NULL ? from->x509 : c->x509;
	c->issuer_key = from != NULL ? from->key : c->key;
	X509_up_ref(c->issuer);
	EVP_PKEY_up_ref(c->issuer_key);
	if (from == NULL || from->is_root)
		return;
	ck_assert_int_lt(from->between_n, CHAIN_MAX - 1);
	c->between[c->between_n++] = from->x509;
	for (i = 0; i < from->between_n; i++)
		c->between[c->between_n++] = from->between[i];
	for (i = 0; i < c->between_n; i++)
		X509_up_ref(c->between[i]);
}

struct cert *
cert_new(const struct cert_wish *w)
{
	struct cert *c = calloc(1, sizeof(*c));
	X509 *x = X509_new();

	ck_assert_ptr_nonnull(c);
	NEED(x != NULL);
	c->x509 = x;
	c->key = w->key_of != NULL ? w->key_of->key : key_new(w->rsa);
	if (w->key_of != NULL)
		EVP_PKEY_up_ref(c->key);
	set_issuer(c, w->issuer);
	NEED(X509_set_version(x, 2) == 1); /* which means version 3 */
	set_serial(x);
	set_times(x, w);
	set_subject(x, w->name);
	NEED(X509_set_issuer_name(x, X509_get_subject_name(c->issuer)) == 1);
	NEED(X509_set_pubkey(x, c->key) == 1);
	add_extensions(x, c->issuer, w);
	NEED(X509_sign(x, c->issuer_key, EVP_sha256()) > 0);
	return c;
}

void
cert_free(struct cert *c)
{
	if (c == NULL)
		return;
	while (c->between_n > 0)
		X509_free(c->between[--c->between_n]);
	X509_free(c->issuer);
	EVP_PKEY_free(c->issuer_key);
	X509_free(c->x509);
	EVP_PKEY_free(c->key);
	free(c);
}

static FILE *
open_file(const char **path, const char *file, mode_t mode)
{
	FILE *f;
	int fd;

	*path = *file == '/' ? file : scratch(file);
	fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	ck_assert_msg(fd >= 0, "%s: %s", *path, strerror(errno));
	f = fdopen(fd, "w");
	ck_assert_ptr_nonnull(f);
	return f;
}

static const char *
close_file(const char *path, FILE *f)
{
	ck_assert_msg(fclose(f) == 0, "%s: %s", path, strerror(errno));
	return path;
}

const char *
cert_write(const struct cert *c, const char *file)
{
	const char *path;
	FILE *f = open_file(&path, file, 0644);

	NEED(PEM_write_X509(f, c->x509) == 1);
	return close_file(path, f);
}

const char *
cert_write_key(const struct cert *c, const char *file)
{
	const char *path;
	FILE *f = open_file(&path, file, 0600);

	NEED(PEM_write_PrivateKey(f, c->key, NULL, NULL, 0, NULL, NULL) == 1);
	return close_file(path, f);
}

const char *
cert_write_all(const struct cert *c, const char *file)
{
	const char *path;
	FILE *f = open_file(&path, file, 0600);
	int i;

	NEED(PEM_write_PrivateKey(f, c->key, NULL, NULL, 0, NULL, NULL) == 1);
	NEED(PEM_write_X509(f, c->x509) == 1);
	for (i = 0; i < c->between_n; i++)
		NEED(PEM_write_X509(f, c->between[i]) == 1);
	return close_file(path, f);
}

const char *
cert_write_encrypted_key(
    const struct cert *c, const char *file, const char *password)
{
	const char *path;
	FILE *f = open_file(&path, file, 0600);

	NEED(PEM_write_PKCS8PrivateKey(f, c->key, EVP_aes_256_cbc(), password,
		 (int)strlen(password), NULL, NULL) == 1);
	return close_file(path, f);
}

static void
add_revoked(X509_CRL *crl, const struct cert *c)
{
	X509_REVOKED *r = X509_REVOKED_new();
	ASN1_TIME *now = ASN1_TIME_set(NULL, time(NULL));

	NEED(r != NULL && now != NULL);
	NEED(X509_REVOKED_set_serialNumber(r, X509_get_serialNumber(c->x509)) ==
	    1);
	NEED(X509_REVOKED_set_revocationDate(r, now) == 1);
	NEED(X509_CRL_add0_revoked(crl, r) == 1);
	ASN1_TIME_free(now);
}

static X509_CRL *
crl_new(const struct cert *ca, const struct cert *revoked, int days)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *from = ASN1_TIME_adj(NULL, time(NULL), days - 31, 0);
	ASN1_TIME *to = ASN1_TIME_adj(NULL, time(NULL), days, 0);

	NEED(crl != NULL && from != NULL && to != NULL);
	NEED(X509_CRL_set_version(crl, 1) == 1); /* which means version 2 */
	NEED(X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca->x509)) ==
	    1);
	NEED(X509_CRL_set1_lastUpdate(crl, from) == 1);
	NEED(X509_CRL_set1_nextUpdate(crl, to) == 1);
	ASN1_TIME_free(from);
	ASN1_TIME_free(to);
	if (revoked != NULL)
		add_revoked(crl, revoked);
	NEED(X509_CRL_sort(crl) == 1);
	NEED(X509_CRL_sign(crl, ca->key, EVP_sha256()) > 0);
	return crl;
}

static const char *
write_crl(const struct cert *ca, const struct cert *revoked, int days,
    const char *file)
{
	const char *path;
	FILE *f = open_file(&path, file, 0644);
	X509_CRL *crl = crl_new(ca, revoked, days);

	NEED(PEM_write_X509_CRL(f, crl) == 1);
	X509_CRL_free(crl);
	return close_file(path, f);
}

const char *
cert_write_crl(
    const struct cert *ca, const struct cert *revoked, const char *file)
{
	return write_crl(ca, revoked, 30, file);
}

const char *
cert_write_old_crl(const struct cert *ca, const char *file)
{
	return write_crl(ca, NULL, -1, file);
}

static OCSP_RESPONSE *
ocsp_new(const struct cert *c, ASN1_TIME *to)
{
	OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha1(), c->x509, c->issuer);
	OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
	ASN1_TIME *from = ASN1_GENERALIZEDTIME_adj(NULL, time(NULL), 0, -DAY);
	OCSP_RESPONSE *r;

	NEED(id != NULL && basic != NULL && from != NULL && to != NULL);
	NEED(OCSP_basic_add1_status(
		 basic, id, V_OCSP_CERTSTATUS_GOOD, 0, NULL, from, to) != NULL);
	NEED(OCSP_basic_sign(basic, c->issuer, c->issuer_key, EVP_sha256(),
		 NULL, OCSP_NOCERTS) == 1);
	r = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
	NEED(r != NULL);
	OCSP_CERTID_free(id);
	OCSP_BASICRESP_free(basic);
	ASN1_TIME_free(from);
	ASN1_TIME_free(to);
	return r;
}

static const char *
write_ocsp(const struct cert *c, const char *file, ASN1_TIME *to)
{
	const char *path;
	FILE *f = open_file(&path, file, 0644);
	OCSP_RESPONSE *r = ocsp_new(c, to);
	unsigned char *der = NULL;
	int n = i2d_OCSP_RESPONSE(r, &der);

	NEED(n > 0);
	ck_assert_uint_eq(fwrite(der, 1, (size_t)n, f), (size_t)n);
	OPENSSL_free(der);
	OCSP_RESPONSE_free(r);
	return close_file(path, f);
}

const char *
cert_write_ocsp(const struct cert *c, const char *file)
{
	return write_ocsp(c, file,
	    ASN1_TIME_to_generalizedtime(X509_get0_notAfter(c->x509), NULL));
}

const char *
cert_write_short_ocsp(const struct cert *c, const char *file, long seconds)
{
	return write_ocsp(
	    c, file, ASN1_GENERALIZEDTIME_adj(NULL, time(NULL), 0, seconds));
}

X509 *
cert_x509(const struct cert *c)
{
	return c->x509;
}

EVP_PKEY *
cert_key(const struct cert *c)
{
	return c->key;
}

void
cert_subject(X509 *x, char subject[CERT_SUBJECT_MAX])
{
	BIO *b = BIO_new(BIO_s_mem());
	int n = 0;

	if (x != NULL && b != NULL &&
	    X509_NAME_print_ex(
		b, X509_get_subject_name(x), 0, XN_FLAG_RFC2253) >= 0)
		n = BIO_read(b, subject, CERT_SUBJECT_MAX - 1);
	subject[n > 0 ? n : 0] = '\0';
	BIO_free(b);
}
