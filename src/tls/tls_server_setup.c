/* tls_server_setup.c: an SSL_CTX towards clients: protocols, certificates, CA
 * certificates, and the callbacks that choose for each client. */
#include "config.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "tls/tls_server_private.h"
#include "tls/tls_trust.h"

/* Mozilla's intermediate profile, version 5.7, without the costly finite
 * fields. */
#define CIPHERS                                                      \
	"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
	"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
	"ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GROUPS "X25519:P-256:P-384"

/* ---- callbacks of OpenSSL ---- */

static struct tls_server_data *
server_data_of(SSL *ssl)
{
	return tls_context_of(ssl)->arg;
}

struct tls_tickets *
tls_tickets_of(SSL *ssl)
{
	return server_data_of(ssl)->tickets;
}

/* The certificate for the name that the client requests, or NULL. */
static struct certificate *
named(SSL *ssl, bool counts)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	struct tls_server_data *v = server_data_of(ssl);

	return v->store != NULL && name != NULL
	    ? cert_store_find(v->store, name, counts)
	    : NULL;
}

/* Whether `name` is `pattern`, or below it when that is "*.rest". A final dot
 * does not count. */
static bool
name_matches(const char *name, const char *pattern, size_t n)
{
	size_t length = strlen(name);

	length -= length > 0 && name[length - 1] == '.';
	n -= n > 0 && pattern[n - 1] == '.';
	if (n > 1 && pattern[0] == '*' && pattern[1] == '.') {
		pattern++;
		n--;
		if (length <= n)
			return false;
		name += length - n;
		length = n;
	}
	return length == n && strncasecmp(name, pattern, n) == 0;
}

/* Whether the client requests a name of the list, which has commas between. */
static bool
is_refused(SSL *ssl, const char *list)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	size_t n;

	for (; name != NULL && list != NULL && *list != '\0'; list += n) {
		list += strspn(list, ", \t");
		n = strcspn(list, ", \t");
		if (n > 0 && name_matches(name, list, n))
			return true;
	}
	return false;
}

static int
refuse_sni(int *alert)
{
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The client sent a name (RFC 6066, 3). A name without a certificate of its own
 * gets the default one, or an alert if there is none or strict_sni is set. */
static int
on_name(SSL *ssl, int *alert, void *arg)
{
	struct tls_server_data *v = server_data_of(ssl);
	struct certificate *c;

	(void)arg;
	if (is_refused(ssl, v->refuse_names))
		return refuse_sni(alert);
	c = named(ssl, true);
	if (c != NULL) {
		certificate_drop(c);
		return SSL_TLSEXT_ERR_OK;
	}
	if (v->pair[0] != NULL && !v->strict)
		return SSL_TLSEXT_ERR_NOACK;
	return refuse_sni(alert);
}

static int
on_certificate(SSL *ssl, void *arg)
{
	struct certificate *c = named(ssl, false);
	int rc = 1;

	(void)arg;
	if (c == NULL)
		return 1;
	SSL_certs_clear(ssl);
	rc = SSL_use_cert_and_key(ssl, c->leaf, c->key, c->chain, 1);
	certificate_drop(c);
	return rc;
}

/* ALPN: the first of our protocols that the client offers, too. */
static int
on_alpn(SSL *ssl, const unsigned char **chosen, unsigned char *length,
    const unsigned char *offered, unsigned n, void *arg)
{
	const struct tls_server_data *v = server_data_of(ssl);
	unsigned char *found;

	(void)arg;
	if (SSL_select_next_proto(&found, length, v->alpn,
		(unsigned)v->alpn_length, offered, n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*chosen = found;
	return SSL_TLSEXT_ERR_OK;
}

/* Clients refuse a connection for a response that has expired. */
static int
staple(SSL *ssl, const void *response, size_t n, time_t ends)
{
	unsigned char *copy;

	if (n == 0 || cert_ocsp_is_over(ends, time(NULL)) ||
	    (copy = OPENSSL_memdup(response, n)) == NULL)
		return SSL_TLSEXT_ERR_NOACK;
	if (SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)n) != 1) {
		OPENSSL_free(copy);
		return SSL_TLSEXT_ERR_NOACK;
	}
	return SSL_TLSEXT_ERR_OK;
}

/* The response for the certificate that this client gets (RFC 6066, 8). */
static int
on_status(SSL *ssl, void *arg)
{
	struct tls_server_data *v = server_data_of(ssl);
	struct certificate *c = named(ssl, false);
	X509 *mine = SSL_get_certificate(ssl);
	int rc = SSL_TLSEXT_ERR_NOACK;

	(void)arg;
	if (c != NULL)
		rc = staple(ssl, c->ocsp, c->ocsp_length, c->ocsp_ends);
	else if (buffer_length(&v->ocsp) > 0 && mine != NULL &&
	    v->pair[0] != NULL && X509_cmp(mine, v->pair[0]->leaf) == 0)
		rc = staple(ssl, buffer_bytes(&v->ocsp),
		    buffer_length(&v->ocsp), v->ocsp_ends);
	certificate_drop(c);
	return rc;
}

/* ---- sessions that are resumed ---- */

/* A session may be resumed only for the name that it was made for (RFC 6066, 3;
 * with TLS 1.3 a name could have required less of its clients), and while the
 * same is required of clients: both are its session id context. It is set
 * before OpenSSL searches the session. The contents of the extension are a
 * list of one name. */
static int
on_hello(SSL *ssl, int *alert, void *arg)
{
	const struct tls_server_data *v = server_data_of(ssl);
	unsigned char context[sizeof(v->requires)];
	const unsigned char *names;
	uint64_t name = 0;
	size_t n, i;

	(void)arg;
	if (SSL_client_hello_get0_ext(
		ssl, TLSEXT_TYPE_server_name, &names, &n) == 1)
		name = hash_stable(names, n);
	memcpy(context, v->requires, sizeof(context));
	for (i = 0; i < sizeof(name); i++)
		context[i] ^= (unsigned char)(name >> 8 * i);
	if (SSL_set_session_id_context(ssl, context, sizeof(context)) == 1)
		return SSL_CLIENT_HELLO_SUCCESS;
	*alert = SSL_AD_INTERNAL_ERROR;
	return SSL_CLIENT_HELLO_ERROR;
}

/* Seconds that a session may be resumed because of its client's certificate; it
 * would be refused after that, or the revocation lists would. */
static time_t
certificate_good_s(const struct tls_server_data *v, SSL_SESSION *session)
{
	X509 *x = SSL_SESSION_get0_peer(session);
	time_t now = time(NULL), ends;

	if (x == NULL)
		return TICKET_GOOD_S;
	ends = cert_time(X509_get0_notAfter(x));
	if (v->lists_end != 0 && v->lists_end < ends)
		ends = v->lists_end;
	return ends < now		 ? 0
	    : ends - now < TICKET_GOOD_S ? ends - now
					 : TICKET_GOOD_S;
}

/* Limits the time of a new session to that of the client's certificate. OpenSSL
 * cannot make a ticket of one whose time is 0. */
static int
on_session(SSL *ssl, SSL_SESSION *session)
{
	time_t good = certificate_good_s(server_data_of(ssl), session);

	(void)SSL_SESSION_set_timeout(session, good > 0 ? (long)good : 1);
	return 0;
}

/* Checks the age of a session from a ticket: if it is too old, there is a full
 * handshake. */
static SSL_TICKET_RETURN
on_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t n,
    SSL_TICKET_STATUS status, void *arg)
{
	(void)name;
	(void)n;
	(void)arg;
	if ((status != SSL_TICKET_SUCCESS &&
		status != SSL_TICKET_SUCCESS_RENEW) ||
	    certificate_good_s(server_data_of(ssl), session) <= 0)
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return status == SSL_TICKET_SUCCESS && SSL_version(ssl) < TLS1_3_VERSION
	    ? SSL_TICKET_RETURN_USE
	    : SSL_TICKET_RETURN_USE_RENEW;
}

/* ---- setting up ---- */

static int
bad_setting(const char *name, const char *value, struct error *e)
{
	return error_set(e, "%s \"%.200s\": %s", name, value, cert_reason());
}

static int
set_protocols(SSL_CTX *ctx, const struct tls_settings *s, struct error *e)
{
	const char *groups = s->groups != NULL ? s->groups : GROUPS;
	const char *ciphers = s->ciphers != NULL ? s->ciphers : CIPHERS;
	uint64_t options = SSL_OP_NO_COMPRESSION |
	    (s->options & TLS_NO_1_2 ? SSL_OP_NO_TLSv1_2 : 0) |
	    (s->options & TLS_NO_1_3 ? SSL_OP_NO_TLSv1_3 : 0) |
	    (s->options & TLS_SERVER_PREFERENCE
		    ? SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA
		    : 0) |
	    (s->tickets ? 0 : SSL_OP_NO_TICKET);

#ifdef SSL_OP_ALLOW_CLIENT_RENEGOTIATION
	if (s->renegotiation_ms > 0)
		options |= SSL_OP_ALLOW_CLIENT_RENEGOTIATION;
#endif
	if (s->renegotiation_ms == 0)
		options |= SSL_OP_NO_RENEGOTIATION;
	SSL_CTX_set_options(ctx, options);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_set_min_proto_version(
		ctx, s->min == 13 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1)
		return error_set(e, "TLS: %s", cert_reason());
	if (SSL_CTX_set_cipher_list(ctx, ciphers) != 1)
		return bad_setting("ssl_ciphers", ciphers, e);
	if (s->suites != NULL && SSL_CTX_set_ciphersuites(ctx, s->suites) != 1)
		return bad_setting("ssl_ciphersuites", s->suites, e);
	/* the macro would cast const away, and clang complain */
	if (SSL_CTX_set1_groups_list(ctx, (char *)(uintptr_t)groups) != 1)
		return bad_setting("ssl_groups", groups, e);
	return 0;
}

/* The issuer of a client's certificate (depth 0) must have a revocation list if
 * any list is there; the CAs above it need none. */
static bool
is_ca_without_list(X509_STORE_CTX *x)
{
	return X509_STORE_CTX_get_error(x) == X509_V_ERR_UNABLE_TO_GET_CRL &&
	    X509_STORE_CTX_get_error_depth(x) > 0;
}

/* Called for each certificate of the chain, with the error in `x` if it is not
 * good: returns 1 to go on. The app data have the last error that counts, which
 * one that does not count must not replace. */
static int
on_verify(int good, X509_STORE_CTX *x)
{
	intptr_t error = X509_STORE_CTX_get_error(x);

	if (good)
		return 1;
	if (is_ca_without_list(x)) {
		error = (intptr_t)X509_STORE_CTX_get_app_data(x);
		X509_STORE_CTX_set_error(x, (int)error);
		return 1;
	}
	X509_STORE_CTX_set_app_data(x, (void *)error);
	return 0;
}

/* With request_any every certificate will do; the result of the check is
 * reported, unless there is no memory to keep it in. */
static int
on_verify_any(int good, X509_STORE_CTX *x)
{
	return on_verify(good, x) || X509_STORE_CTX_get_app_data(x) != NULL;
}

/* Which CA certificates verify clients, and whether a client must have one. */
static int
set_verification(SSL_CTX *ctx, struct tls_server *t, struct error *e)
{
	const struct tls_settings *s = &t->settings;
	struct buffer text;
	int rc = 0;

	buffer_init(&text);
	if (s->ca_file != NULL) {
		rc = watched_file_read(
		    &t->file[SERVER_CA], CERT_FILE_MAX, &text, e);
		if (rc == 0 && tls_trust_text(ctx, &text, true, e) < 0)
			rc = error_of(e, "\"%.200s\"", s->ca_file);
	}
	if (rc == 0 && t->ca_dir >= 0) {
		dir_id_read(&t->ca_dir_seen, t->ca_dir);
		if (tls_trust_dir(ctx, t->ca_dir, true, e) < 0)
			rc = error_of(e, "\"%.200s\"", s->ca_dir);
	}
	buffer_cut(&text, 0);
	if (rc == 0 && s->crl != NULL) {
		rc = watched_file_read(
		    &t->file[SERVER_CRL], CERT_FILE_MAX, &text, e);
		if (rc == 0 && tls_trust_revoked(ctx, &text, e) < 0)
			rc = error_of(e, "\"%.200s\"", s->crl);
	}
	buffer_fini(&text);
	if (s->require || s->request || s->request_any)
		SSL_CTX_set_verify(ctx,
		    SSL_VERIFY_PEER |
			(s->require ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
		    s->request_any ? on_verify_any : on_verify);
	return rc;
}

/* Adds the CA certificates and revocation lists that clients are verified with,
 * whatever files they came from. */
static void
digest_trust(EVP_MD_CTX *md, SSL_CTX *ctx)
{
	STACK_OF(X509_OBJECT) *all =
	    X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	unsigned char one[EVP_MAX_MD_SIZE];
	int i;

	for (i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509_OBJECT *o = sk_X509_OBJECT_value(all, i);
		X509_CRL *list = X509_OBJECT_get0_X509_CRL(o);
		X509 *x = X509_OBJECT_get0_X509(o);
		unsigned n = 0;

		if ((x != NULL && X509_digest(x, EVP_sha256(), one, &n) == 1) ||
		    (list != NULL &&
			X509_CRL_digest(list, EVP_sha256(), one, &n) == 1))
			(void)EVP_DigestUpdate(md, one, n);
	}
}

/* A digest of what is required of clients: a client that would be refused now,
 * because it was revoked for example, must not resume an old session. */
static void
digest_requires(
    SSL_CTX *ctx, const struct tls_settings *s, struct tls_server_data *v)
{
	const char *asked = s->require ? "require"
	    : s->request	       ? "request"
				       : "";
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	char issuer[TLS_ISSUER_MAX];
	time_t now = time(NULL);
	unsigned n = 0;

	if (md != NULL && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1) {
		(void)EVP_DigestUpdate(md, asked, strlen(asked));
		if (s->request_any)
			(void)EVP_DigestUpdate(md, "any", 3);
		else if (*asked != '\0')
			digest_trust(md, ctx);
		(void)EVP_DigestFinal_ex(md, digest, &n);
	}
	EVP_MD_CTX_free(md);
	memcpy(v->requires, digest, sizeof(v->requires));
	v->lists_end = tls_trust_lists(ctx, now, issuer);
	if (issuer[0] != '\0')
		v->lists_end = now;
}

static void
set_sessions(
    SSL_CTX *ctx, const struct tls_settings *s, struct tls_server_data *v)
{
	bool cache = s->session_cache > 0;

	digest_requires(ctx, s, v);
	SSL_CTX_set_session_id_context(ctx, v->requires, sizeof(v->requires));
	SSL_CTX_set_client_hello_cb(ctx, on_hello, NULL);
	SSL_CTX_set_timeout(ctx, TICKET_GOOD_S);
	SSL_CTX_set_session_cache_mode(
	    ctx, cache ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
	if (cache) {
		SSL_CTX_sess_set_cache_size(ctx, (long)s->session_cache);
		SSL_CTX_sess_set_new_cb(ctx, on_session);
	}
	if (s->tickets) {
		SSL_CTX_set_session_ticket_cb(ctx, NULL, on_ticket, NULL);
		tls_tickets_serve(ctx);
	}
	if (TLS_TICKETS_LATER || (!s->tickets && !cache))
		SSL_CTX_set_num_tickets(ctx, 0);
}

int
tls_server_set_up(SSL_CTX *ctx, struct tls_server *t, struct tls_server_data *v,
    struct error *e)
{
	unsigned i;

	if (set_protocols(ctx, &t->settings, e) < 0)
		return -1;
	for (i = 0; i < t->settings.pairs; i++)
		if (SSL_CTX_use_cert_and_key(ctx, v->pair[i]->leaf,
			v->pair[i]->key, v->pair[i]->chain, 1) != 1)
			return watched_file_bad(
			    &t->file[SERVER_CERT + i], cert_reason(), e);
	if (set_verification(ctx, t, e) < 0)
		return -1;
	set_sessions(ctx, &t->settings, v);
	SSL_CTX_set_tlsext_servername_callback(ctx, on_name);
	if (v->store != NULL)
		SSL_CTX_set_cert_cb(ctx, on_certificate, NULL);
	if (v->alpn_length > 0)
		SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
	SSL_CTX_set_tlsext_status_cb(ctx, on_status);
	return 0;
}
