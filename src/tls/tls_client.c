/* tls_client.c: an SSL_CTX towards servers, and the sessions that servers
 * gave. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/watched_file.h"
#include "base/words.h"
#include "tls/cert.h"
#include "tls/tls_client.h"
#include "tls/tls_context.h"
#include "tls/tls_server.h"
#include "tls/tls_trust.h"

/* Slots for sessions; the key of a session gives its slot. */
enum { SESSIONS = 4096 };

enum file { FILE_CERT, FILE_KEY, FILE_PASSWORD, FILE_CA, FILES };

/* What the callbacks of one context need; freed with its last stream. */
struct tls_client_data {
	struct hash_key secret;
	struct known_session {
		uint64_t key;
		SSL_SESSION *session; /* NULL: none */
		time_t ends; /* of the certificates behind it; 0: never */
	} known[SESSIONS];
	struct certificate *own; /* NULL: none */
	unsigned char alpn[TLS_ALPN_MAX];
	int alpn_length;
	bool no_alpn; /* servers are offered no protocol */
};

struct tls_client {
	struct tls_settings settings; /* a copy */
	struct tls_memory *memory;
	struct tls_context *context;
	struct watched_file file[FILES];
	struct settling settling; /* of the files */
	bool wrong; /* the files that are there now are of no use */
};

/* ---- sessions ---- */

/* When the first of the certificates expires that were verified in this
 * handshake; 0: none was. */
static time_t
verified_until(const SSL *ssl)
{
	const STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
	time_t ends = 0, one;
	int i;

	if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE)
		return 0;
	for (i = 0; i < sk_X509_num(chain); i++) {
		one = cert_time(X509_get0_notAfter(sk_X509_value(chain, i)));
		if (i == 0 || one < ends)
			ends = one;
	}
	return ends;
}

/* A server gave a session: it is kept until another one takes its slot. One of
 * a health check, whose key is 0, may not be verified. One that was itself
 * resumed stands for the certificates of the session that was offered; another
 * connection may have put one for a new certificate into the slot since. */
static int
on_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_client_data *v = tls_context_of(ssl)->arg;
	uint64_t key = tls_key(ssl);
	struct known_session *known = &v->known[key % SESSIONS];

	if (key == 0)
		return 0;
	known->ends = SSL_session_reused(ssl) == 1 ? tls_offered_until(ssl)
						   : verified_until(ssl);
	SSL_SESSION_free(known->session);
	known->session = session;
	known->key = key;
	return 1;
}

/* The session to resume with; its `session` is NULL if there is none whose
 * certificates are still valid. */
static struct known_session
find_session(const struct tls_client_data *v, uint64_t key)
{
	const struct known_session *known = &v->known[key % SESSIONS];

	return known->key == key &&
		(known->ends == 0 || time(NULL) <= known->ends)
	    ? *known
	    : (struct known_session){ .key = key };
}

static void
client_data_free(void *arg)
{
	struct tls_client_data *v = arg;
	size_t i;

	for (i = 0; i < SESSIONS; i++)
		SSL_SESSION_free(v->known[i].session);
	certificate_drop(v->own);
	free(v);
}

/* ---- contexts ---- */

static int
tls_client_set_certificate(SSL_CTX *ctx, struct tls_client *t,
    struct tls_client_data *v, struct error *e)
{
	struct watched_file *file = &t->file[FILE_CERT];

	if (t->settings.upstream_cert == NULL)
		return 0;
	v->own = certificate_read(
	    file, &t->file[FILE_KEY], &t->file[FILE_PASSWORD], e);
	if (v->own == NULL)
		return -1;
	return SSL_CTX_use_cert_and_key(
		   ctx, v->own->leaf, v->own->key, v->own->chain, 1) == 1
	    ? 0
	    : watched_file_bad(file, cert_reason(), e);
}

static int
set_trust(SSL_CTX *ctx, struct tls_client *t, struct error *e)
{
	const struct watched_file *ca = &t->file[FILE_CA];
	struct buffer text;
	int rc;

	if (!t->settings.upstream_verify)
		return 0;
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	buffer_init(&text);
	rc = watched_file_read(&t->file[FILE_CA], TRUST_FILE_MAX, &text, e);
	/* a bundle that cannot be read later changes nothing: no other CAs are
	 * trusted instead */
	if (t->settings.upstream_ca == NULL &&
	    (t->context == NULL || ca->path == NULL))
		rc = tls_trust_system(ctx, &text, e);
	else if (rc == 0 && tls_trust_text(ctx, &text, false, e) < 0)
		rc = error_of(e, "\"%.200s\"", ca->path);
	buffer_fini(&text);
	return rc;
}

static int
tls_client_set_up(SSL_CTX *ctx, struct tls_client *t, struct tls_client_data *v,
    struct error *e)
{
	SSL_CTX_set_options(
	    ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(
	    ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	if (t->settings.upstream_resume)
		SSL_CTX_sess_set_new_cb(ctx, on_session);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1)
		return error_set(e, "TLS: %s", cert_reason());
	v->no_alpn = text_equal(t->settings.upstream_alpn, TLS_ALPN_NONE);
	v->alpn_length = tls_alpn_wire(t->settings.upstream_alpn, v->alpn);
	if (t->settings.no_h2)
		v->alpn_length =
		    tls_alpn_without(v->alpn, v->alpn_length, "h2");
	return tls_client_set_certificate(ctx, t, v, e) < 0 ||
		set_trust(ctx, t, e) < 0
	    ? -1
	    : 0;
}

static struct tls_context *
tls_client_build(struct tls_client *t, struct error *e)
{
	struct tls_client_data *v = calloc(1, sizeof(*v));
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (v == NULL || ctx == NULL) {
		free(v);
		SSL_CTX_free(ctx);
		error_set(e, "out of memory");
		return NULL;
	}
	ERR_clear_error();
	hash_key_init(&v->secret);
	if (tls_client_set_up(ctx, t, v, e) < 0) {
		SSL_CTX_free(ctx);
		client_data_free(v);
		return NULL;
	}
	return tls_context_new(ctx, t->memory, client_data_free, v, e);
}

unsigned
tls_client_refresh(struct tls_client *t, unsigned most, uint64_t now)
{
	bool changed = most == UINT_MAX && t->wrong;
	struct tls_context *c;
	struct error e;
	int i;

	for (i = 0; most > 0 && i < FILES; i++)
		changed = changed || watched_file_has_changed(&t->file[i]);
	if (settling_is_due(&t->settling, changed, now)) {
		/* before they are read: a change while they are read counts */
		for (i = 0; i < FILES; i++)
			watched_file_note(&t->file[i]);
		c = tls_client_build(t, &e);
		if (settling_read(&t->settling, c != NULL, now))
			log_error(
			    "certificates not replaced error=\"%s\"", e.text);
		t->wrong = c == NULL;
		if (c != NULL) {
			tls_context_drop(t->context);
			t->context = c;
			log_info("certificates replaced side=server");
		}
	}
	return settling_wait_ms(&t->settling, now);
}

/* ---- life ---- */

static int
tls_client_open_all(
    struct tls_client *t, const struct tls_settings *s, struct error *e)
{
	const char *path[FILES] = { s->upstream_cert, s->upstream_key,
		s->password, s->upstream_ca };
	unsigned char wire[TLS_ALPN_MAX];
	char *bundle = NULL;
	int i, rc = 0;

	if (tls_alpn_wire(s->upstream_alpn, wire) < 0)
		return error_set(e,
		    "ssl_upstream_alpn \"%.200s\": expects comma-separated "
		    "names",
		    s->upstream_alpn);
	if (tls_settings_copy(&t->settings, s) < 0)
		return error_set(e, "out of memory");
	if (s->upstream_verify && s->upstream_ca == NULL)
		path[FILE_CA] = bundle = tls_trust_bundle();
	for (i = 0; rc == 0 && i < FILES; i++)
		rc = watched_file_init(&t->file[i], path[i], e);
	free(bundle);
	if (rc == 0)
		t->context = tls_client_build(t, e);
	return t->context != NULL ? 0 : -1;
}

struct tls_client *
tls_client_new(
    const struct tls_settings *s, struct tls_memory *m, struct error *e)
{
	struct tls_client *t = calloc(1, sizeof(*t));
	struct error why;
	int i;

	if (t == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	t->memory = m;
	for (i = 0; i < FILES; i++)
		watched_file_none(&t->file[i]);
	if (tls_client_open_all(t, s, &why) == 0)
		return t;
	tls_client_free(t);
	error_set(e, "%s", why.text);
	return NULL;
}

void
tls_client_free(struct tls_client *t)
{
	int i;

	if (t == NULL)
		return;
	tls_context_drop(t->context);
	for (i = 0; i < FILES; i++)
		watched_file_fini(&t->file[i]);
	tls_settings_fini(&t->settings);
	free(t);
}

/* ---- streams ---- */

/* Sets the name that the server's certificate must be for, and the one to send
 * (RFC 6066, 3: a host name without a final dot, never an address). */
static int
tls_client_set_name(SSL *ssl, const char *given, bool verify)
{
	char name[TLSEXT_MAXLEN_host_name + 2];
	int n = snprintf(name, sizeof(name), "%s", given);
	unsigned char number[16];
	bool path = name[0] == '/' || name[0] == '@', numeric;

	if (n > 0 && n < (int)sizeof(name) && name[n - 1] == '.')
		name[n - 1] = '\0';
	/* the zone of fe80::1%eth0 has a meaning only on this host */
	if (!path && strchr(name, ':') != NULL)
		name[strcspn(name, "%")] = '\0';
	numeric = inet_pton(AF_INET, name, number) == 1 ||
	    inet_pton(AF_INET6, name, number) == 1;
	if (verify && path) {
		errno = EDESTADDRREQ;
		return -1;
	}
	errno = ENOMEM;
	if (!path && !numeric && SSL_set_tlsext_host_name(ssl, name) != 1)
		return -1;
	if (!verify)
		return 0;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (numeric)
		return X509_VERIFY_PARAM_set1_ip_asc(
			   SSL_get0_param(ssl), name) == 1
		    ? 0
		    : -1;
	return SSL_set1_host(ssl, name) == 1 ? 0 : -1;
}

/* Offers the protocols of the setting, else the one that the client talks. */
static void
tls_client_set_alpn(SSL *ssl, const struct tls_client_data *v, const char *alpn)
{
	unsigned char wire[TLS_ALPN_MAX];
	int n = v->alpn_length;

	if (v->no_alpn)
		return;
	if (n > 0)
		memcpy(wire, v->alpn, (size_t)n);
	else
		n = tls_alpn_wire(alpn, wire);
	if (n > 0)
		(void)SSL_set_alpn_protos(ssl, wire, (unsigned)n);
}

/* A session belongs to a name at an address. */
static uint64_t
session_key(
    const struct tls_client_data *v, const char *name, const struct addr *at)
{
	uint64_t h = hash_keyed(&v->secret, name, strlen(name));

	return h ^
	    hash_keyed(&v->secret, &at->u, at->len) *
	    UINT64_C(0x9e3779b97f4a7c15);
}

int
tls_connect(struct stream *s, struct tls_client *t, const char *host,
    const struct addr *at, const char *alpn)
{
	const struct tls_settings *o = &t->settings;
	const char *name = o->upstream_name != NULL ? o->upstream_name : host;
	struct tls_client_data *v = t->context->arg;
	uint64_t key = session_key(v, name, at);
	struct known_session known = find_session(v, key);
	SSL *ssl;

	if (tls_open(s, t->context, true) < 0)
		return -1;
	ssl = tls_ssl(s);
	tls_set_key(s, key, known.ends);
	if (tls_client_set_name(ssl, name, o->upstream_verify) < 0)
		return -1;
	tls_client_set_alpn(ssl, v, alpn);
	if (known.session != NULL)
		(void)SSL_set_session(ssl, known.session);
	return 0;
}

int
tls_connect_once(
    struct stream *s, struct tls_client *t, const char *name, unsigned flags)
{
	const struct tls_settings *o = &t->settings;
	bool verify = o->upstream_verify && !(flags & TLS_UNVERIFIED);

	if (o->upstream_name != NULL && !(flags & TLS_NAMED))
		name = o->upstream_name;
	if (tls_open(s, t->context, true) < 0)
		return -1;
	if (!verify)
		SSL_set_verify(tls_ssl(s), SSL_VERIFY_NONE, NULL);
	if (tls_client_set_name(tls_ssl(s), name, verify) < 0)
		return -1;
	tls_client_set_alpn(tls_ssl(s), t->context->arg, "");
	return 0;
}

bool
tls_client_certificate(const struct tls_client *t, struct tls_certificate *c)
{
	const struct tls_client_data *v = t->context->arg;

	if (v->own == NULL)
		return false;
	*c = (struct tls_certificate){ .name = v->own->name,
		.file = t->file[FILE_CERT].path,
		.ends = v->own->ends };
	return true;
}
