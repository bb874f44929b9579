/* either.c: the same words for a socket and for TLS over it. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <openssl/err.h>

#include "support/either.h"
#include "support/tlsends.h"

struct either
either_connect(const struct endpoint *at, const struct tls_wish *w)
{
	struct either e = { .fd = endpoint_connect(at) };

	if (w == NULL)
		return e;
	e.peer = tls_peer_open(e.fd, w);
	ck_assert_msg(e.peer != NULL, "%s", tls_peer_error());
	e.ssl = tls_peer_ssl(e.peer);
	return e;
}

bool
either_write(struct either *e, const void *bytes, size_t n)
{
	size_t written;

	if (e->ssl == NULL)
		return backend_send(e->fd, bytes, n);
	ERR_clear_error();
	return SSL_write_ex(e->ssl, bytes, n, &written) == 1 && written == n;
}

ssize_t
either_read(struct either *e, void *bytes, size_t n)
{
	char why[TLS_WHY_MAX];
	size_t got;
	int result;

	if (e->ssl == NULL)
		return recv(e->fd, bytes, n, 0);
	ERR_clear_error();
	errno = 0;
	result = SSL_read_ex(e->ssl, bytes, n, &got);
	if (result == 1)
		return (ssize_t)got;
	tls_explain(e->ssl, result, why);
	if (SSL_get_error(e->ssl, result) == SSL_ERROR_ZERO_RETURN)
		return 0;
	errno = tls_read_errno(e->ssl, result);
	return -1;
}

void
either_finish(struct either *e)
{
	if (e->ssl != NULL)
		SSL_shutdown(e->ssl);
	else
		shutdown(e->fd, SHUT_WR);
}

void
either_cut(struct either *e)
{
	if (e->peer != NULL)
		tls_peer_close(e->peer);
	else
		endpoint_reset(e->fd);
}

void
either_close(struct either *e)
{
	if (e->peer != NULL)
		tls_peer_close(e->peer);
	else
		close(e->fd);
}

void
either_expect(struct either *e, const char *what)
{
	size_t n = strlen(what), at = 0;
	char back[1024];
	ssize_t k;

	ck_assert_uint_lt(n, sizeof(back));
	for (; at < n; at += (size_t)k) {
		k = either_read(e, back + at, n - at);
		ck_assert_msg(k > 0, "wanted \"%s\", got %s", what,
		    k == 0 ? "the end" : strerror(errno));
	}
	back[n] = '\0';
	ck_assert_str_eq(back, what);
}

void
either_expect_end(struct either *e)
{
	char c;
	ssize_t k = either_read(e, &c, 1);

	ck_assert_msg(
	    k == 0, "wanted the end, got %s", k > 0 ? "data" : strerror(errno));
}

/* ---- streams ---- */

static int
error_of(SSL *ssl, int result)
{
	int why = SSL_get_error(ssl, result);

	return why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ
	    ? EAGAIN
	    : EPROTO;
}

static ssize_t
tls_read(void *arg, void *bytes, size_t n)
{
	return either_read(arg, bytes, n);
}

static ssize_t
tls_write(void *arg, const void *bytes, size_t n)
{
	const struct either *e = arg;
	size_t written;
	int result;

	ERR_clear_error();
	result = SSL_write_ex(e->ssl, bytes, n, &written);
	if (result == 1)
		return (ssize_t)written;
	errno = error_of(e->ssl, result);
	return -1;
}

static int
tls_finish(void *arg)
{
	const struct either *e = arg;
	int result;

	ERR_clear_error();
	result = SSL_shutdown(e->ssl);
	if (result >= 0)
		return 0;
	errno = error_of(e->ssl, result);
	return -1;
}

static bool
tls_has_more(void *arg)
{
	return SSL_pending(((const struct either *)arg)->ssl) > 0;
}

const char *
either_stream(struct either *e, const struct stream_plan *plan)
{
	static const struct stream_io io = { tls_read, tls_write, tls_finish,
		tls_has_more };

	if (e->ssl == NULL)
		return stream_run(e->fd, plan);
	SSL_set_mode(e->ssl,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return stream_run_by(&io, e, e->fd, plan);
}

/* ---- the server ---- */

static void
serve_plain(struct backend *b, int fd)
{
	struct either_server *s = (struct either_server *)b; /* its first */
	struct either e = { .fd = fd };

	s->talk(s, &e);
}

static bool
serve_tls(struct tls_echo *t, SSL *ssl)
{
	struct either_server *s = (struct either_server *)t; /* its first */
	struct either e = { .fd = SSL_get_fd(ssl), .ssl = ssl };

	s->talk(s, &e);
	return false; /* goodbye is the talk's own matter */
}

void
either_serve(struct either_server *s, either_talk_fn *talk, const char *cert,
    int version)
{
	struct tls_echo_options o = {
		.min = version, .max = version, .talk = serve_tls
	};

	s->talk = talk;
	s->is_tls = cert != NULL;
	if (s->is_tls)
		tls_echo_start(&s->tls, cert, cert, &o);
	else
		backend_start(
		    &s->tls.backend, ENDPOINT_TCP4, serve_plain, NULL);
}

void
either_serve_end(struct either_server *s)
{
	if (s->is_tls)
		tls_echo_stop(&s->tls);
	else
		backend_stop(&s->tls.backend);
}
