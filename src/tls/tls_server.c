/* tls_server.c: the TLS towards clients: its files, read and read again when
 * they change. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tls/tls_server_private.h"
#include "tls/tls_trust.h"

/* ---- the data of a context ---- */

static void
server_data_free(void *arg)
{
	struct tls_server_data *v = arg;
	int i;

	cert_store_drop(v->store);
	tls_tickets_drop(v->tickets);
	for (i = 0; i < TLS_PAIRS_MAX; i++)
		certificate_drop(v->pair[i]);
	buffer_fini(&v->ocsp);
	free(v->refuse_names);
	free(v);
}

static int
read_tickets(struct tls_server *t, struct error *e)
{
	struct buffer text;
	int rc;

	if (t->file[SERVER_TICKETS].path == NULL)
		return 0;
	buffer_init(&text);
	rc = watched_file_read(
	    &t->file[SERVER_TICKETS], CERT_FILE_MAX, &text, e);
	if (rc == 0 && tls_tickets_read(t->tickets, &text, e) < 0)
		rc = error_of(e, "\"%.200s\"", t->settings.ticket_key);
	cert_wipe(&text);
	return rc;
}

/* Data that needs no file. NULL when memory is short. */
static struct tls_server_data *
server_data_alloc(const struct tls_settings *s)
{
	struct tls_server_data *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	if (s->refuse_names != NULL &&
	    (v->refuse_names = strdup(s->refuse_names)) == NULL) {
		free(v);
		return NULL;
	}
	buffer_init(&v->ocsp);
	v->strict = s->strict_sni;
	v->alpn_length = tls_alpn_wire(s->alpn, v->alpn);
	if (s->no_h2)
		v->alpn_length = tls_alpn_without(
		    v->alpn, v->alpn_length, "h2");
	return v;
}

/* Reads certificates, keys and the OCSP response from their files. NULL with a
 * full message; an invalid OCSP response is only logged. */
static struct tls_server_data *
server_data_new(struct tls_server *t, struct error *e)
{
	struct tls_server_data *v = server_data_alloc(&t->settings);
	struct error why;
	unsigned i;

	if (v == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	v->store = cert_store_hold(t->store);
	v->tickets = tls_tickets_hold(t->tickets);
	for (i = 0; i < t->settings.pairs; i++) {
		v->pair[i] = certificate_read(&t->file[SERVER_CERT + i],
		    &t->file[SERVER_KEY + i], &t->file[SERVER_PASSWORD], e);
		if (v->pair[i] == NULL) {
			server_data_free(v);
			return NULL;
		}
	}
	if (watched_file_read(
		&t->file[SERVER_OCSP], CERT_FILE_MAX, &v->ocsp, e) < 0) {
		server_data_free(v);
		return NULL;
	}
	if (v->pair[0] != NULL && buffer_length(&v->ocsp) > 0 &&
	    cert_ocsp_check(v->pair[0]->leaf, &v->ocsp, &v->ocsp_ends, &why) <
		0) {
		log_error("OCSP response not stapled file=%s error=\"%s\"",
		    t->settings.ocsp, why.text);
		buffer_fini(&v->ocsp);
	}
	return v;
}

/* A new context, from what the files hold now. NULL with a full message. */
static struct tls_context *
tls_server_build(struct tls_server *t, struct error *e)
{
	struct tls_server_data *v = server_data_new(t, e);
	struct tls_context *c;
	SSL_CTX *ctx;

	if (v == NULL)
		return NULL;
	ERR_clear_error();
	ctx = SSL_CTX_new(TLS_server_method());
	if (ctx == NULL || tls_server_set_up(ctx, t, v, e) < 0) {
		if (ctx == NULL)
			error_set(e, "TLS: %s", cert_reason());
		SSL_CTX_free(ctx);
		server_data_free(v);
		return NULL;
	}
	c = tls_context_new(ctx, t->memory, server_data_free, v, e);
	if (c != NULL) {
		c->renegotiation_ms = t->settings.renegotiation_ms;
		c->tickets_later = TLS_TICKETS_LATER &&
		    (t->settings.tickets || t->settings.session_cache > 0);
	}
	return c;
}

/* ---- files that change ---- */

static bool
tls_server_has_changed(struct tls_server *t)
{
	struct file_id now;
	int i;

	for (i = 0; i < SERVER_FILES; i++)
		if (watched_file_has_changed(&t->file[i]))
			return true;
	if (t->ca_dir < 0)
		return false;
	(void)dir_follow(&t->ca_dir, t->settings.ca_dir);
	dir_id_read(&now, t->ca_dir);
	return !file_id_equal(&now, &t->ca_dir_seen);
}

static void
tls_server_replace(struct tls_server *t, uint64_t now)
{
	struct tls_context *c;
	struct error e;
	int i;

	/* The files that are there now are remembered, whether they turn out
	 * good or not, and before they are read, so that a change while they
	 * are read counts as one. */
	for (i = 0; i < SERVER_FILES; i++)
		watched_file_note(&t->file[i]);
	if (t->ca_dir >= 0)
		dir_id_read(&t->ca_dir_seen, t->ca_dir);
	c = read_tickets(t, &e) == 0 ? tls_server_build(t, &e) : NULL;
	if (settling_read(&t->settling, c != NULL, now))
		log_error("certificates not replaced error=\"%s\"", e.text);
	t->wrong = c == NULL;
	if (c == NULL)
		return;
	tls_context_drop(t->context);
	t->context = c;
	t->replaced++;
	log_info("certificates replaced");
}

unsigned
tls_server_refresh(struct tls_server *t, unsigned most, uint64_t now)
{
	bool again = most == UINT_MAX && t->wrong;
	unsigned files, store;

	if (settling_is_due(&t->settling,
		again || (most > 0 && tls_server_has_changed(t)), now))
		tls_server_replace(t, now);
	files = settling_wait_ms(&t->settling, now);
	store = t->store != NULL ? cert_store_refresh(t->store, most, now) : 0;
	return sooner_ms(files, store);
}

/* ---- life ---- */

static int
watch_files(struct tls_server *t, struct error *e)
{
	const struct tls_settings *s = &t->settings;
	const char *path[SERVER_FILES] = { [SERVER_CA] = s->ca_file,
		[SERVER_CRL] = s->crl,
		[SERVER_OCSP] = s->ocsp,
		[SERVER_PASSWORD] = s->password,
		[SERVER_TICKETS] = s->ticket_key };
	unsigned i;

	for (i = 0; i < s->pairs; i++) {
		path[SERVER_CERT + i] = s->pair[i].cert;
		path[SERVER_KEY + i] = s->pair[i].key;
	}
	for (i = 0; i < SERVER_FILES; i++)
		if (watched_file_init(&t->file[i], path[i], e) < 0)
			return -1;
	if (s->ca_dir == NULL)
		return 0;
	t->ca_dir = open(s->ca_dir, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	return t->ca_dir >= 0
	    ? 0
	    : error_set(e, "\"%.200s\": %s", s->ca_dir, strerror(errno));
}

static int
open_store(
    struct tls_server *t, const struct tls_server *before, struct error *e)
{
	const char *path = t->settings.sni_path;

	if (path == NULL)
		return 0;
	if (before != NULL && before->store != NULL &&
	    strcmp(cert_store_path(before->store), path) == 0)
		t->store = cert_store_hold(before->store);
	else
		t->store = cert_store_new(path, e);
	return t->store != NULL ? 0 : error_of(e, "\"%.200s\"", path);
}

/* Keys that pen generated stay in use. Keys of a file are only for
 * configurations that name one. */
static int
open_tickets(struct tls_server *t, const struct tls_server *before)
{
	bool file = t->settings.ticket_key != NULL;

	t->tickets =
	    before != NULL && !file && before->settings.ticket_key == NULL
	    ? tls_tickets_hold(before->tickets)
	    : tls_tickets_new();
	return t->tickets != NULL ? 0 : -1;
}

static int
tls_server_open_all(struct tls_server *t, const struct tls_settings *s,
    const struct tls_server *before, struct error *e)
{
	unsigned char wire[TLS_ALPN_MAX];

	if (tls_alpn_wire(s->alpn, wire) < 0)
		return error_set(e,
		    "ssl_alpn \"%.200s\": expects comma-separated names",
		    s->alpn);
	if (tls_settings_copy(&t->settings, s) < 0 ||
	    open_tickets(t, before) < 0)
		return error_set(e, "out of memory");
	if (watch_files(t, e) < 0 || open_store(t, before, e) < 0 ||
	    read_tickets(t, e) < 0)
		return -1;
	t->context = tls_server_build(t, e);
	return t->context != NULL ? 0 : -1;
}

struct tls_server *
tls_server_new(const struct tls_settings *s, struct tls_memory *m,
    const struct tls_server *before, struct error *e)
{
	struct tls_server *t = calloc(1, sizeof(*t));
	struct error why;
	int i;

	if (t == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	t->memory = m;
	t->ca_dir = -1;
	for (i = 0; i < SERVER_FILES; i++)
		watched_file_none(&t->file[i]);
	if (tls_server_open_all(t, s, before, &why) == 0)
		return t;
	tls_server_free(t);
	error_set(e, "%s", why.text);
	return NULL;
}

_Static_assert((int)TICKETS_BYTES <= (int)TLS_KEYS_BYTES, "too many keys");

size_t
tls_server_export_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES])
{
	return tls_tickets_export(t->tickets, bytes);
}

bool
tls_server_import_keys(
    struct tls_server *t, const unsigned char *bytes, size_t n)
{
	return tls_tickets_import(t->tickets, bytes, n);
}

_Static_assert(sizeof(struct tls_tickets) <= TLS_KEYS_BYTES, "too many keys");

size_t
tls_server_share_keys(
    const struct tls_server *t, unsigned char bytes[TLS_KEYS_BYTES])
{
	return tls_tickets_share(t->tickets, bytes);
}

void
tls_server_join_keys(struct tls_server *t, const unsigned char *bytes, size_t n)
{
	tls_tickets_join(t->tickets, bytes, n);
}

void
tls_wipe(void *bytes, size_t n)
{
	OPENSSL_cleanse(bytes, n);
}

void
tls_server_free(struct tls_server *t)
{
	int i;

	if (t == NULL)
		return;
	tls_context_drop(t->context);
	cert_store_drop(t->store);
	tls_tickets_drop(t->tickets);
	for (i = 0; i < SERVER_FILES; i++)
		watched_file_fini(&t->file[i]);
	if (t->ca_dir >= 0)
		close(t->ca_dir);
	tls_settings_fini(&t->settings);
	free(t);
}

int
tls_accept(struct stream *s, struct tls_server *t)
{
	return tls_open(s, t->context, false);
}

/* ---- for control ---- */

const char *
tls_server_find_unreadable(const struct tls_server *t)
{
	int i;

	for (i = 0; i < SERVER_FILES; i++)
		if (!watched_file_may_read(&t->file[i]))
			return t->file[i].path;
	return NULL;
}

unsigned
tls_server_replaced(const struct tls_server *t)
{
	return t->replaced;
}

time_t
tls_server_lists(
    const struct tls_server *t, time_t now, char issuer[TLS_ISSUER_MAX])
{
	return tls_trust_lists(t->context->ctx, now, issuer);
}

/* OpenSSL keeps one certificate for each kind of key. */
static bool
is_unused(const struct tls_server *t, unsigned at)
{
	const struct tls_server_data *v = t->context->arg;
	int kind = EVP_PKEY_base_id(v->pair[at]->key);
	unsigned later = at + 1;

	if (kind <= 0) /* a provider's own */
		return false;
	while (later < t->settings.pairs &&
	    EVP_PKEY_base_id(v->pair[later]->key) != kind)
		later++;
	return later < t->settings.pairs;
}

bool
tls_server_certificate(
    struct tls_server *t, unsigned at, struct tls_certificate *c)
{
	const struct tls_server_data *v = t->context->arg;
	struct cert_store_info info;

	if (at < t->settings.pairs) {
		*c = (struct tls_certificate){ .name = v->pair[at]->name,
			.file = t->file[SERVER_CERT + at].path,
			.ends = v->pair[at]->ends,
			.unused = is_unused(t, at) };
		return true;
	}
	at -= t->settings.pairs;
	if (t->store == NULL || !cert_store_next(t->store, &at, &info))
		return false;
	*c = (struct tls_certificate){ .name = info.name,
		.file = t->settings.sni_path,
		.ends = info.ends,
		.used = info.used,
		.by_name = true };
	return true;
}
