/* tls_context.c: the shared memory between OpenSSL and sockets (a BIO), and
 * contexts. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tls/tls_context.h"

/* ---- the memory as OpenSSL sees it ---- */

static int
bio_read(BIO *b, char *to, int room)
{
	struct tls_end *t = BIO_get_data(b);
	struct tls_memory *m = t->memory;
	size_t n = m->end - m->at;

	BIO_clear_retry_flags(b);
	if (t->refused != NULL) {
		BIO_set_retry_read(b);
		return -1;
	}
	if (buffer_length(&t->early) > 0) {
		n = buffer_length(&t->early);
		if (n > (size_t)room)
			n = (size_t)room;
		memcpy(to, buffer_bytes(&t->early), n);
		buffer_consume(&t->early, n);
		return (int)n;
	}
	if (n == 0) {
		BIO_set_retry_read(b);
		return -1;
	}
	if (n > (size_t)room)
		n = (size_t)room;
	memcpy(to, m->in + m->at, n);
	m->at += n;
	return (int)n;
}

static int
bio_write(BIO *b, const char *bytes, int n)
{
	struct tls_end *t = BIO_get_data(b);

	BIO_clear_retry_flags(b);
	return buffer_append(&t->memory->out, bytes, (size_t)n) == 0 ? n : -1;
}

static long
bio_control(BIO *b, int what, long n, void *arg)
{
	(void)b;
	(void)n;
	(void)arg;
	return what == BIO_CTRL_FLUSH;
}

/* ---- memory and contexts ---- */

struct tls_memory *
tls_memory_new(void)
{
	struct tls_memory *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->in = memory_apart(TLS_IN_MAX);
	buffer_init(&m->out);
	m->method =
	    BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pen");
	if (m->in == NULL || m->method == NULL) {
		tls_memory_free(m);
		errno = ENOMEM;
		return NULL;
	}
	BIO_meth_set_read(m->method, bio_read);
	BIO_meth_set_write(m->method, bio_write);
	BIO_meth_set_ctrl(m->method, bio_control);
	return m;
}

void
tls_memory_free(struct tls_memory *m)
{
	if (m == NULL)
		return;
	memory_free_apart(m->in);
	BIO_meth_free(m->method);
	buffer_fini(&m->out);
	free(m);
}

struct tls_context *
tls_context_new(SSL_CTX *ctx, struct tls_memory *m, void (*on_free)(void *arg),
    void *arg, struct error *e)
{
	struct tls_context *c = calloc(1, sizeof(*c));

	if (c == NULL || SSL_CTX_set_app_data(ctx, c) != 1) {
		free(c);
		SSL_CTX_free(ctx);
		on_free(arg);
		error_set(e, "out of memory");
		return NULL;
	}
	c->on_free = on_free;
	c->arg = arg;
	c->ctx = ctx;
	c->memory = m;
	c->refs = 1;
	SSL_CTX_set_info_callback(ctx, tls_on_info);
	return c;
}

void
tls_context_drop(struct tls_context *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	SSL_CTX_free(c->ctx);
	c->on_free(c->arg);
	free(c);
}

struct tls_context *
tls_context_of(SSL *ssl)
{
	return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}
