/* cert.c: makes certificates of PEM and DER. Reads no file, except
 * certificate_read(). */
#include "config.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "tls/cert.h"

const char *
cert_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	ERR_clear_error();
	return reason != NULL ? reason : "no reason given";
}

/* ---- texts ---- */

void
cert_texts_init(struct cert_texts *t)
{
	buffer_init(&t->cert);
	buffer_init(&t->key);
	buffer_init(&t->chain);
	buffer_init(&t->ocsp);
	buffer_init(&t->passwords);
}

void
cert_wipe(struct buffer *b)
{
	if (b->data != NULL)
		OPENSSL_cleanse(b->data, b->size);
	buffer_fini(b);
}

void
cert_texts_fini(struct cert_texts *t)
{
	cert_wipe(&t->cert);
	cert_wipe(&t->key);
	cert_wipe(&t->chain);
	cert_wipe(&t->ocsp);
	cert_wipe(&t->passwords);
}

/* Moves the bytes to memory of their exact size, and wipes the old memory. */
static void
shrink_buffer(struct buffer *b)
{
	size_t n = buffer_length(b);
	char *exact = n > 0 ? malloc(n) : NULL;

	if (exact == NULL && n > 0)
		return;
	if (n > 0)
		memcpy(exact, buffer_bytes(b), n);
	cert_wipe(b);
	*b = (struct buffer){ .data = exact, .end = n, .size = n };
}

void
cert_texts_tighten(struct cert_texts *t)
{
	shrink_buffer(&t->cert);
	shrink_buffer(&t->key);
	shrink_buffer(&t->chain);
	shrink_buffer(&t->ocsp);
}

BIO *
cert_open_text(const struct buffer *b)
{
	return buffer_length(b) > INT_MAX
	    ? NULL
	    : BIO_new_mem_buf(buffer_bytes(b), (int)buffer_length(b));
}

/* ---- parts ---- */

/* A line of the passwords. */
struct password {
	const char *text; /* NULL: none */
	size_t n;
	bool asked;
};

/* Gives OpenSSL a password, or an error when there is none: without this
 * callback it would prompt at the terminal. */
static int
give_password(char *buf, int size, int writing, void *arg)
{
	struct password *p = arg;

	(void)writing;
	if (p != NULL)
		p->asked = true;
	if (p == NULL || p->text == NULL || p->n > (size_t)size)
		return -1;
	memcpy(buf, p->text, p->n);
	return (int)p->n;
}

/* All certificates of a text; the first one of the first text is the leaf. */
static int
read_certificates(
    struct certificate *c, const struct buffer *text, struct error *e)
{
	BIO *b = cert_open_text(text);
	X509 *x;

	if (b == NULL)
		return error_set(e, "out of memory");
	while ((x = PEM_read_bio_X509(b, NULL, give_password, NULL)) != NULL) {
		if (c->leaf == NULL) {
			c->leaf = x;
		} else if (sk_X509_push(c->chain, x) <= 0) {
			X509_free(x);
			break;
		}
	}
	BIO_free(b);
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return error_set(e, "no certificate: %s", cert_reason());
	ERR_clear_error();
	return c->leaf != NULL ? 0 : error_set(e, "no certificate found");
}

static EVP_PKEY *
decrypt_key(const struct buffer *text, struct password *p)
{
	BIO *b = cert_open_text(text);
	EVP_PKEY *key = b != NULL
	    ? PEM_read_bio_PrivateKey(b, NULL, give_password, p)
	    : NULL;

	BIO_free(b);
	return key;
}

/* Takes the line at *at, and moves *at to the next one. Returns false when
 * there is no more; the last line needs no newline, and any may end as in files
 * of other systems. */
static bool
next_password(struct password *p, const struct buffer *all, size_t *at)
{
	size_t left = buffer_length(all) - *at;
	const char *newline;

	if (left == 0)
		return false;
	p->text = buffer_bytes(all) + *at;
	newline = memchr(p->text, '\n', left);
	p->n = newline != NULL ? (size_t)(newline - p->text) : left;
	*at += p->n + (newline != NULL);
	p->n -= p->n > 0 && p->text[p->n - 1] == '\r';
	return true;
}

/* Whether the text has a private key, even one that is damaged or cut off. */
static bool
has_key(const struct buffer *text)
{
	static const char label[] = "PRIVATE KEY-----";
	const size_t n = sizeof(label) - 1;
	const char *at = buffer_bytes(text), *end = at + buffer_length(text);

	while ((size_t)(end - at) >= n && memcmp(at, label, n) != 0)
		at++;
	return (size_t)(end - at) >= n;
}

/* OpenSSL's reason for what is not there differs by version; that of the last
 * password may be that it does not have the cipher. */
static int
refuse_key(const struct cert_texts *t, const struct buffer *text,
    bool encrypted, struct error *e)
{
	const char *reason = cert_reason();

	if (encrypted && buffer_length(&t->passwords) == 0)
		return error_set(e,
		    "no usable private key: it is encrypted, see "
		    "ssl_password");
	if (encrypted)
		return error_set(e,
		    "no usable private key: no password of ssl_password "
		    "decrypts it: %s",
		    reason);
	if (has_key(text))
		return error_set(e, "no usable private key: %s", reason);
	return error_set(e, "%s",
	    text == &t->cert
		? "no private key in it, nor in a file of a key"
		: "no private key in the file of the key");
}

/* A chain that is the wrong way round is common. */
static int
refuse_pair(const struct certificate *c, struct error *e)
{
	const char *reason = cert_reason();
	int i;

	for (i = 0; i < sk_X509_num(c->chain); i++)
		if (X509_check_private_key(
			sk_X509_value(c->chain, i), c->key) == 1)
			reason = "it is the key of a later certificate in "
				 "the chain, which must come first";
	ERR_clear_error();
	return error_set(e, "key does not match the certificate: %s", reason);
}

static int
read_key(struct certificate *c, const struct cert_texts *t, struct error *e)
{
	const struct buffer *text =
	    buffer_length(&t->key) > 0 ? &t->key : &t->cert;
	const struct buffer *passwords = &t->passwords;
	struct password p = { .text = NULL };
	size_t at = 0;

	c->key = decrypt_key(text, &p);
	while (c->key == NULL && next_password(&p, passwords, &at)) {
		ERR_clear_error();
		c->key = decrypt_key(text, &p);
	}
	if (c->key == NULL)
		return refuse_key(t, text, p.asked, e);
	ERR_clear_error();
	return X509_check_private_key(c->leaf, c->key) == 1 ? 0
							    : refuse_pair(c, e);
}

/* The part of a response that is for a certificate, found by its serial number,
 * as its issuer may not be known. */
static OCSP_SINGLERESP *
find_status(OCSP_BASICRESP *b, const X509 *leaf)
{
	const ASN1_INTEGER *wanted = X509_get0_serialNumber(leaf);
	OCSP_SINGLERESP *one;
	ASN1_INTEGER *serial;
	int i;

	for (i = 0; (one = OCSP_resp_get0(b, i)) != NULL; i++) {
		/* which takes what is const as if it was not */
		OCSP_id_get0_info(NULL, NULL, NULL, &serial,
		    (OCSP_CERTID *)(uintptr_t)OCSP_SINGLERESP_get0_id(one));
		if (ASN1_INTEGER_cmp(serial, wanted) == 0)
			break;
	}
	return one;
}

bool
cert_ocsp_is_over(time_t ends, time_t now)
{
	return ends != 0 && now > ends;
}

/* Clocks may differ: a response that begins a little later is a good one. One
 * that is over is not, as clients refuse it. */
static bool
is_in_time(ASN1_GENERALIZEDTIME *from, ASN1_GENERALIZEDTIME *to, time_t ends)
{
	enum { CLOCKS_DIFFER_S = 300 };

	return OCSP_check_validity(from, to, CLOCKS_DIFFER_S, -1) == 1 &&
	    !cert_ocsp_is_over(ends, time(NULL));
}

int
cert_ocsp_check(
    const X509 *leaf, const struct buffer *der, time_t *ends, struct error *e)
{
	const unsigned char *at = (const unsigned char *)buffer_bytes(der);
	OCSP_RESPONSE *r =
	    d2i_OCSP_RESPONSE(NULL, &at, (long)buffer_length(der));
	OCSP_BASICRESP *b = r != NULL ? OCSP_response_get1_basic(r) : NULL;
	OCSP_SINGLERESP *one = b != NULL ? find_status(b, leaf) : NULL;
	ASN1_GENERALIZEDTIME *from, *to = NULL;
	const char *why = NULL;
	bool good;

	good = one != NULL &&
	    OCSP_single_get0_status(one, NULL, NULL, &from, &to) >= 0;
	*ends = to != NULL ? cert_time(to) : 0;

	if (b == NULL)
		why = "no OCSP response in DER";
	else if (one == NULL)
		why = "an OCSP response for another certificate";
	else if (!good || !is_in_time(from, to, *ends))
		why = "an OCSP response that has expired";
	OCSP_BASICRESP_free(b);
	OCSP_RESPONSE_free(r);
	ERR_clear_error();
	return why == NULL ? 0 : error_set(e, "%s", why);
}

static int
copy_ocsp(struct certificate *c, const struct buffer *text, struct error *e)
{
	if (buffer_length(text) == 0)
		return 0;
	if (cert_ocsp_check(c->leaf, text, &c->ocsp_ends, e) < 0)
		return -1;
	c->ocsp = malloc(buffer_length(text));
	if (c->ocsp == NULL)
		return error_set(e, "out of memory");
	c->ocsp_length = buffer_length(text);
	memcpy(c->ocsp, buffer_bytes(text), c->ocsp_length);
	return 0;
}

/* ---- facts ---- */

time_t
cert_time(const ASN1_TIME *t)
{
	const struct tm epoch = { .tm_year = 70, .tm_mday = 1 };
	struct tm ends;
	int days = 0, seconds = 0;

	if (ASN1_TIME_to_tm(t, &ends) == 1)
		(void)OPENSSL_gmtime_diff(&days, &seconds, &epoch, &ends);
	return (time_t)days * 24 * 3600 + seconds;
}

static void
certificate_find_name(struct certificate *c)
{
	GENERAL_NAMES *names =
	    X509_get_ext_d2i(c->leaf, NID_subject_alt_name, NULL, NULL);
	int i, n = names != NULL ? sk_GENERAL_NAME_num(names) : 0;

	for (i = 0; i < n && c->name[0] == '\0'; i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(names, i);

		if (g->type == GEN_DNS)
			snprintf(c->name, sizeof(c->name), "%.*s",
			    ASN1_STRING_length(g->d.dNSName),
			    (const char *)ASN1_STRING_get0_data(g->d.dNSName));
	}
	GENERAL_NAMES_free(names);
	if (c->name[0] == '\0' &&
	    X509_NAME_get_text_by_NID(X509_get_subject_name(c->leaf),
		NID_commonName, c->name, sizeof(c->name)) < 0)
		c->name[0] = '\0';
}

/* ---- life ---- */

struct certificate *
certificate_parse(const struct cert_texts *t, struct error *e)
{
	struct certificate *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->chain = sk_X509_new_null()) == NULL) {
		free(c);
		error_set(e, "out of memory");
		return NULL;
	}
	c->refs = 1;
	ERR_clear_error();
	if (read_certificates(c, &t->cert, e) < 0 ||
	    (buffer_length(&t->chain) > 0 &&
		read_certificates(c, &t->chain, e) < 0) ||
	    read_key(c, t, e) < 0) {
		certificate_drop(c);
		return NULL;
	}
	(void)copy_ocsp(c, &t->ocsp, e);
	c->ends = cert_time(X509_get0_notAfter(c->leaf));
	certificate_find_name(c);
	return c;
}

struct certificate *
certificate_read(struct watched_file *cert, struct watched_file *key,
    struct watched_file *passwords, struct error *e)
{
	struct certificate *c = NULL;
	struct cert_texts texts;
	struct error why;

	cert_texts_init(&texts);
	if (watched_file_read(cert, CERT_FILE_MAX, &texts.cert, e) == 0 &&
	    watched_file_read(key, CERT_FILE_MAX, &texts.key, e) == 0 &&
	    watched_file_read(passwords, CERT_FILE_MAX, &texts.passwords, e) ==
		0) {
		c = certificate_parse(&texts, &why);
		if (c == NULL)
			watched_file_bad(cert, why.text, e);
	}
	cert_texts_fini(&texts);
	return c;
}

struct certificate *
certificate_hold(struct certificate *c)
{
	c->refs++;
	return c;
}

void
certificate_drop(struct certificate *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	X509_free(c->leaf);
	sk_X509_pop_free(c->chain, X509_free);
	EVP_PKEY_free(c->key);
	free(c->ocsp);
	free(c);
}
