/* test_certs.c: what the tests' own certificates say, and who believes them. */
#include "config.h"

#include <stdio.h>
#include <sys/stat.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "support/certs.h"
#include "support/suite.h"

static struct cert *
authority(const char *name, const struct cert *issuer)
{
	struct cert_wish w = { .name = name, .is_ca = true, .issuer = issuer };

	return cert_new(&w);
}

static struct cert *
server(const char *name, const struct cert *issuer)
{
	struct cert_wish w = { .name = name, .issuer = issuer };

	return cert_new(&w);
}

/* What OpenSSL thinks of it for that purpose, trusting `root` and hearing of
 * `between` and `crl`. */
struct look {
	const struct cert *root, *between;
	X509_CRL *crl;
	int purpose;
};

static int
verify(const struct cert *c, const struct look *l)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	STACK_OF(X509) *others = sk_X509_new_null();
	int result;

	ck_assert(store != NULL && ctx != NULL && others != NULL);
	ck_assert_int_eq(X509_STORE_add_cert(store, cert_x509(l->root)), 1);
	if (l->between != NULL)
		ck_assert_int_eq(
		    sk_X509_push(others, cert_x509(l->between)), 1);
	if (l->crl != NULL) {
		ck_assert_int_eq(X509_STORE_add_crl(store, l->crl), 1);
		X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
	}
	ck_assert_int_eq(
	    X509_STORE_CTX_init(ctx, store, cert_x509(c), others), 1);
	X509_STORE_CTX_set_purpose(
	    ctx, l->purpose != 0 ? l->purpose : X509_PURPOSE_SSL_SERVER);
	X509_STORE_CTX_set_flags(ctx, X509_V_FLAG_X509_STRICT);
	X509_verify_cert(ctx);
	result = X509_STORE_CTX_get_error(ctx);
	sk_X509_free(others);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return result;
}

static FILE *
opens(const char *path)
{
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s", path);
	return f;
}

START_TEST(names)
{
	struct cert *root = authority("root", NULL);
	struct cert *c = server("a.test,*.b.test,IP:127.0.0.1,IP:::1", root);
	char long_name[100], subject[CERT_SUBJECT_MAX];
	X509 *x = cert_x509(c);

	cert_subject(x, subject);
	ck_assert_str_eq(subject, "CN=a.test");
	cert_subject(NULL, subject);
	ck_assert_str_eq(subject, "");
	ck_assert_int_eq(X509_check_host(x, "a.test", 0, 0, NULL), 1);
	ck_assert_int_eq(X509_check_host(x, "x.b.test", 0, 0, NULL), 1);
	ck_assert_int_eq(X509_check_host(x, "b.test", 0, 0, NULL), 0);
	ck_assert_int_eq(X509_check_ip_asc(x, "127.0.0.1", 0), 1);
	ck_assert_int_eq(X509_check_ip_asc(x, "::1", 0), 1);
	ck_assert_int_eq(X509_check_ip_asc(x, "127.0.0.2", 0), 0);
	ck_assert_int_eq(X509_check_private_key(x, cert_key(c)), 1);
	cert_free(c);
	c = server("IP:127.0.0.1", root);
	cert_subject(cert_x509(c), subject);
	ck_assert_str_eq(subject, "CN=127.0.0.1");
	cert_free(c);
	snprintf(long_name, sizeof(long_name), "%060d.%030d", 0, 0);
	c = server(long_name, root);
	ck_assert_int_eq(
	    X509_check_host(cert_x509(c), long_name, 0, 0, NULL), 1);
	cert_free(c);
	cert_free(root);
}
END_TEST

START_TEST(chains)
{
	struct cert *root = authority("root", NULL);
	struct cert *between = authority("between", root);
	struct cert *leaf = server("a.test", between);
	struct cert *alone = server("alone.test", NULL);
	struct cert_wish w = { .name = "me", .for_client = true };
	struct look l = { .root = root, .between = between };
	struct look missing = { .root = root }, itself = { .root = alone };
	struct cert *client;

	w.issuer = between;
	client = cert_new(&w);
	ck_assert_int_eq(verify(leaf, &l), X509_V_OK);
	ck_assert_int_eq(verify(client, &l), X509_V_ERR_INVALID_PURPOSE);
	l.purpose = X509_PURPOSE_SSL_CLIENT;
	ck_assert_int_eq(verify(client, &l), X509_V_OK);
	ck_assert_int_eq(verify(leaf, &l), X509_V_ERR_INVALID_PURPOSE);
	ck_assert_int_eq(verify(leaf, &missing),
	    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
	ck_assert_int_eq(
	    verify(alone, &missing), X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
	ck_assert_int_eq(verify(alone, &itself), X509_V_OK);
	cert_free(client);
	cert_free(alone);
	cert_free(between);
	cert_free(root);
	/* the leaf keeps what it needs of its issuer */
	ck_assert(file_has(cert_write_all(leaf, "leaf"), "PRIVATE KEY"));
	cert_free(leaf);
}
END_TEST

START_TEST(times)
{
	struct cert *root = authority("root", NULL);
	struct look l = { .root = root };
	struct cert_wish w = { .name = "a.test", .issuer = root };
	static const struct {
		int days, begins, result;
	} rows[] = { { 0, 0, X509_V_OK }, { 1, 0, X509_V_OK },
		{ 3650, 0, X509_V_OK }, { -1, 0, X509_V_ERR_CERT_HAS_EXPIRED },
		{ -400, 0, X509_V_ERR_CERT_HAS_EXPIRED },
		{ 20, 10, X509_V_ERR_CERT_NOT_YET_VALID } };
	const ASN1_TIME *first, *last;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cert *c;

		w.days = rows[i].days;
		w.begins_days = rows[i].begins;
		c = cert_new(&w);
		ck_assert_int_eq(verify(c, &l), rows[i].result);
		first = X509_get0_notBefore(cert_x509(c));
		last = X509_get0_notAfter(cert_x509(c));
		ck_assert_int_lt(ASN1_TIME_compare(first, last), 0);
		cert_free(c);
	}
	cert_free(root);
}
END_TEST

START_TEST(kinds_of_keys)
{
	struct cert *root = authority("root", NULL), *ec, *rsa, *same;
	struct cert_wish w = { .name = "a.test", .issuer = root };
	struct look l = { .root = root };

	ec = cert_new(&w);
	w.key_of = ec;
	same = cert_new(&w);
	w.key_of = NULL;
	w.rsa = true;
	rsa = cert_new(&w);
	ck_assert_int_eq(EVP_PKEY_base_id(cert_key(ec)), EVP_PKEY_EC);
	ck_assert_int_eq(EVP_PKEY_bits(cert_key(ec)), 256);
	ck_assert_int_eq(EVP_PKEY_base_id(cert_key(rsa)), EVP_PKEY_RSA);
	ck_assert_int_eq(EVP_PKEY_bits(cert_key(rsa)), 2048);
	ck_assert_int_eq(verify(rsa, &l), X509_V_OK);
	ck_assert_int_eq(
	    X509_get_signature_nid(cert_x509(ec)), NID_ecdsa_with_SHA256);
	ck_assert_int_eq(
	    X509_check_private_key(cert_x509(same), cert_key(ec)), 1);
	ck_assert_int_eq(
	    X509_check_private_key(cert_x509(rsa), cert_key(ec)), 0);
	ck_assert_int_ne(ASN1_INTEGER_cmp(X509_get0_serialNumber(cert_x509(ec)),
			     X509_get0_serialNumber(cert_x509(same))),
	    0);
	cert_free(ec);
	ck_assert_int_eq(verify(same, &l), X509_V_OK);
	cert_free(same);
	cert_free(rsa);
	cert_free(root);
}
END_TEST

/* How many of each, and who may read it. */
static void
holds(const char *path, unsigned certs, unsigned keys)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 077, keys > 0 ? 0 : 044);
	ck_assert_int_eq(
	    count_in(contents(path), "-BEGIN CERTIFICATE-"), certs);
	ck_assert_int_eq(count_in(contents(path), "-BEGIN PRIVATE KEY-"), keys);
}

START_TEST(files)
{
	struct cert *root = authority("root", NULL);
	struct cert *far = authority("far", root),
		    *near = authority("near", far);
	struct cert *leaf = server("a.test", near);
	const char *path, *slash = scratch("slash.pem");
	mode_t mask = umask(022);
	X509 *x;
	FILE *f;

	path = cert_write(leaf, "cert.pem");
	holds(path, 1, 0);
	f = opens(path);
	x = PEM_read_X509(f, NULL, NULL, NULL);
	fclose(f);
	ck_assert_int_eq(X509_cmp(x, cert_x509(leaf)), 0);
	X509_free(x);
	holds(cert_write_key(leaf, "key.pem"), 0, 1);
	holds(cert_write_all(leaf, "leaf.pem"), 3, 1);
	holds(cert_write_all(near, "near.pem"), 2, 1);
	holds(cert_write_all(far, "far.pem"), 1, 1);
	holds(cert_write_all(root, "root.pem"), 1, 1);
	ck_assert_ptr_eq(cert_write(root, slash), slash);
	holds(slash, 1, 0);
	umask(mask);
	cert_free(leaf);
	cert_free(near);
	cert_free(far);
	cert_free(root);
}
END_TEST

static X509_CRL *
read_crl(const char *path)
{
	FILE *f = opens(path);
	X509_CRL *crl = PEM_read_X509_CRL(f, NULL, NULL, NULL);

	fclose(f);
	ck_assert_ptr_nonnull(crl);
	return crl;
}

START_TEST(revocations)
{
	struct cert *root = authority("root", NULL);
	struct cert *good = server("good.test", root);
	struct cert *bad = server("bad.test", root);
	struct look none = { .root = root }, one = { .root = root };

	none.crl = read_crl(cert_write_crl(root, NULL, "none.crl"));
	one.crl = read_crl(cert_write_crl(root, bad, "one.crl"));
	ck_assert_int_eq(X509_CRL_verify(one.crl, cert_key(root)), 1);
	ck_assert_int_eq(verify(good, &none), X509_V_OK);
	ck_assert_int_eq(verify(bad, &none), X509_V_OK);
	ck_assert_int_eq(verify(good, &one), X509_V_OK);
	ck_assert_int_eq(verify(bad, &one), X509_V_ERR_CERT_REVOKED);
	X509_CRL_free(none.crl);
	X509_CRL_free(one.crl);
	cert_free(good);
	cert_free(bad);
	cert_free(root);
}
END_TEST

START_TEST(ocsp)
{
	struct cert *root = authority("root", NULL);
	struct cert *leaf = server("a.test", root), *other;
	ASN1_GENERALIZEDTIME *from, *to;
	STACK_OF(X509) *signers = sk_X509_new_null();
	X509_STORE *store = X509_STORE_new();
	OCSP_BASICRESP *basic;
	OCSP_RESPONSE *r;
	OCSP_CERTID *id;
	int status = -1;
	FILE *f = opens(cert_write_ocsp(leaf, "leaf.ocsp"));

	r = ASN1_d2i_fp_of(
	    OCSP_RESPONSE, OCSP_RESPONSE_new, d2i_OCSP_RESPONSE, f, NULL);
	fclose(f);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(
	    OCSP_response_status(r), OCSP_RESPONSE_STATUS_SUCCESSFUL);
	basic = OCSP_response_get1_basic(r);
	sk_X509_push(signers, cert_x509(root));
	X509_STORE_add_cert(store, cert_x509(root));
	ck_assert_int_eq(OCSP_basic_verify(basic, signers, store, 0), 1);
	id = OCSP_cert_to_id(EVP_sha1(), cert_x509(leaf), cert_x509(root));
	ck_assert_int_eq(
	    OCSP_resp_find_status(basic, id, &status, NULL, NULL, &from, &to),
	    1);
	ck_assert_int_eq(status, V_OCSP_CERTSTATUS_GOOD);
	ck_assert_int_eq(OCSP_check_validity(from, to, 0, -1), 1);
	OCSP_CERTID_free(id);
	other = server("b.test", root);
	id = OCSP_cert_to_id(EVP_sha1(), cert_x509(other), cert_x509(root));
	ck_assert_int_lt(OCSP_resp_find(basic, id, -1), 0);
	OCSP_CERTID_free(id);
	OCSP_BASICRESP_free(basic);
	OCSP_RESPONSE_free(r);
	X509_STORE_free(store);
	sk_X509_free(signers);
	cert_free(other);
	cert_free(leaf);
	cert_free(root);
}
END_TEST

/* More files than a test has texts. */
START_TEST(many)
{
	struct cert *root = authority("root", NULL);
	struct cert_wish w = { .issuer = root, .key_of = root };
	long i, n = suite_amount(1000, 200);
	const char *dir = scratch("");
	char name[32], path[256];
	struct stat st;

	w.name = name;
	for (i = 0; i < n; i++) {
		struct cert *c;

		snprintf(name, sizeof(name), "h%ld.test", i);
		snprintf(path, sizeof(path), "%s%s", dir, name);
		c = cert_new(&w);
		cert_write_all(c, path);
		cert_free(c);
	}
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_gt(st.st_size, 500);
	cert_free(root);
}
END_TEST

SUITE(test_certs)
{
	Suite *s = suite_create("certs");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, chains, 10);
	SUITE_ADD(s, times, 10);
	SUITE_ADD(s, kinds_of_keys, 30);
	SUITE_ADD(s, files, 10);
	SUITE_ADD(s, revocations, 10);
	SUITE_ADD(s, ocsp, 10);
	SUITE_ADD(s, many, 60);
	return s;
}
