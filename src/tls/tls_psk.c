/* tls_psk.c: see tls_psk.h. OpenSSL verifies the binder of the key; pen has no
 * cryptography of its own here. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/watched_file.h"
#include "tls/cert.h"
#include "tls/tls_context.h"
#include "tls/tls_psk.h"

/* The name of the key, which is sent as it is. */
static const char identity[] = "pen";

enum { KEY = 32 };

struct tls_psk {
	struct tls_context *context;
	struct file_id file; /* that it is of */
};

struct tls_psk_data {
	unsigned char key[KEY];
};

static void
psk_data_free(void *arg)
{
	OPENSSL_cleanse(arg, sizeof(struct tls_psk_data));
	free(arg);
}

/* ---- callbacks of OpenSSL ---- */

static unsigned
give_key(SSL *ssl, unsigned char *key, unsigned room)
{
	const struct tls_psk_data *d = tls_context_of(ssl)->arg;

	if (room < KEY)
		return 0;
	memcpy(key, d->key, KEY);
	return KEY;
}

static unsigned
on_client(SSL *ssl, const char *hint, char *name, unsigned name_room,
    unsigned char *key, unsigned room)
{
	(void)hint;
	if (name_room < sizeof(identity))
		return 0;
	memcpy(name, identity, sizeof(identity));
	return give_key(ssl, key, room);
}

static unsigned
on_server(SSL *ssl, const char *name, unsigned char *key, unsigned room)
{
	return strcmp(name, identity) == 0 ? give_key(ssl, key, room) : 0;
}

/* ---- life ---- */

/* Without tickets, a connection begins with the key, always. A client without
 * one has no certificate to verify, and fails. */
static struct tls_context *
psk_build(struct tls_psk_data *d, struct tls_memory *m, struct error *e)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	ERR_clear_error();
	if (ctx == NULL ||
	    SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_num_tickets(ctx, 0) != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") != 1) {
		SSL_CTX_free(ctx);
		psk_data_free(d);
		error_set(e, "TLS: %s", cert_reason());
		return NULL;
	}
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_psk_client_callback(ctx, on_client);
	SSL_CTX_set_psk_server_callback(ctx, on_server);
	return tls_context_new(ctx, m, psk_data_free, d, e);
}

static int
check_length(const struct buffer *text, struct error *e)
{
	if (buffer_length(text) >= TLS_PSK_LEAST)
		return 0;
	return error_set(e, "a key has %d bytes or more", TLS_PSK_LEAST);
}

static int
read_key(const char *path, struct buffer *text, struct error *e)
{
	struct stat st;
	size_t n;

	if (stat(path, &st) == 0 && (st.st_mode & S_IRWXO) != 0)
		return error_set(e, "other users may read this key: chmod o=");
	if (file_read(path, TLS_PSK_MOST, false, text, e) < 0)
		return -1;
	for (n = buffer_length(text); n > 0; n--)
		if (buffer_bytes(text)[n - 1] != '\n' &&
		    buffer_bytes(text)[n - 1] != '\r')
			break;
	buffer_cut(text, n);
	return check_length(text, e);
}

static int
psk_fill(struct tls_psk_data *d, const char *path, struct error *e)
{
	struct buffer text;
	int rc;

	buffer_init(&text);
	rc = read_key(path, &text, e);
	if (rc == 0 &&
	    EVP_Digest(buffer_bytes(&text), buffer_length(&text), d->key, NULL,
		EVP_sha256(), NULL) != 1)
		rc = error_set(e, "%s", cert_reason());
	cert_wipe(&text);
	return rc == 0 ? 0 : error_of(e, "\"%.200s\"", path);
}

int
tls_psk_try(const char *path, struct error *e)
{
	struct tls_psk_data d;
	int rc = psk_fill(&d, path, e);

	OPENSSL_cleanse(&d, sizeof(d));
	return rc;
}

struct tls_psk *
tls_psk_new(const char *path, struct tls_memory *m, struct error *e)
{
	struct tls_psk *t = calloc(1, sizeof(*t));
	struct tls_psk_data *d = calloc(1, sizeof(*d));

	if (t == NULL || d == NULL) {
		free(t);
		free(d);
		error_set(e, "out of memory");
		return NULL;
	}
	file_id_read(&t->file, AT_FDCWD, path);
	if (psk_fill(d, path, e) < 0) {
		free(t);
		psk_data_free(d);
		return NULL;
	}
	t->context = psk_build(d, m, e);
	if (t->context != NULL)
		return t;
	free(t);
	return NULL;
}

void
tls_psk_free(struct tls_psk *t)
{
	if (t == NULL)
		return;
	tls_context_drop(t->context);
	free(t);
}

static const unsigned char *
key_of(const struct tls_psk *t)
{
	const struct tls_psk_data *d = t->context->arg;

	return d->key;
}

/* A file that has not changed, or cannot be seen, is not read: it may be one
 * that only root can read. */
int
tls_psk_refresh(
    struct tls_psk **t, const char *path, struct tls_memory *m, struct error *e)
{
	struct tls_psk *new, *old = *t;
	struct file_id now;
	bool same;

	if (access(path, F_OK) < 0 && errno == EACCES)
		return 0;
	file_id_read(&now, AT_FDCWD, path);
	if (file_id_equal(&now, &old->file) && !file_id_is_recent(&now))
		return 0;
	new = tls_psk_new(path, m, e);
	if (new == NULL)
		return -1;
	same = CRYPTO_memcmp(key_of(old), key_of(new), KEY) == 0;
	*t = new;
	tls_psk_free(old);
	return same ? 0 : 1;
}

int
tls_psk_open(struct stream *s, struct tls_psk *t, bool client)
{
	if (tls_open(s, t->context, client) < 0)
		return -1;
	/* a server with a certificate instead of the key is none */
	if (client)
		SSL_set_verify(tls_ssl(s), SSL_VERIFY_PEER, NULL);
	return 0;
}

bool
tls_psk_is_used(const struct stream *s)
{
	return SSL_session_reused(tls_ssl(s)) == 1;
}
