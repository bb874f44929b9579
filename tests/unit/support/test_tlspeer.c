/* test_tlspeer.c: the tests' own client and server of TLS talk to each
 * other. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/certs.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/wait.h"

/* An authority, a server of its and the files that say so. */
struct scene {
	struct cert *root, *cert;
	const char *root_file, *cert_file;
	struct tls_echo server;
};

static void
begin_as(struct scene *s, struct cert_wish w, const struct tls_echo_options *o)
{
	struct cert_wish root = { .name = "root", .is_ca = true };

	s->root = cert_new(&root);
	w.issuer = s->root;
	s->cert = cert_new(&w);
	s->root_file = cert_write(s->root, "root.pem");
	s->cert_file = cert_write_all(s->cert, "server.pem");
	tls_echo_start(&s->server, s->cert_file, s->cert_file, o);
}

static void
begin(struct scene *s, const struct tls_echo_options *o)
{
	begin_as(s, (struct cert_wish){ .name = "a.test,IP:127.0.0.1" }, o);
}

static void
end(struct scene *s)
{
	tls_echo_stop(&s->server);
	cert_free(s->cert);
	cert_free(s->root);
}

static struct tls_peer *
tries(struct scene *s, const struct tls_wish *w)
{
	return tls_peer_open(endpoint_connect(&s->server.backend.at), w);
}

static struct tls_peer *
opens(struct scene *s, const struct tls_wish *w)
{
	struct tls_peer *p = tries(s, w);

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	return p;
}

/* Says something, and goodbye. */
static void
talks(struct tls_peer *p)
{
	tls_peer_expect_echo(p, "hello");
	ck_assert(tls_peer_half_close(p));
	tls_peer_expect_end(p);
	tls_peer_close(p);
}

static void
refused(struct scene *s, const struct tls_wish *w, const char *why)
{
	ck_assert_ptr_null(tries(s, w));
	ck_assert_msg(
	    strstr(tls_peer_error(), why) != NULL, "%s", tls_peer_error());
}

static struct tls_seen
look(struct scene *s)
{
	struct tls_seen seen;

	tls_echo_look(&s->server, &seen);
	return seen;
}

/* Its own certificate in files, for the client. */
static void
become(struct scene *s, struct tls_wish *w, const char *name)
{
	struct cert_wish me = {
		.name = name, .issuer = s->root, .for_client = true
	};
	struct cert *c = cert_new(&me);

	w->cert = cert_write(c, "client.pem");
	w->key = cert_write_key(c, "client.key");
	cert_free(c);
}

START_TEST(versions)
{
	static const int all[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_echo_options old = { .max = TLS1_2_VERSION };
	struct tls_wish w = { .ciphers = NULL };
	struct tls_peer *p;
	struct scene s;
	size_t i;

	begin(&s, NULL);
	for (i = 0; i < 2; i++) {
		w.min = w.max = all[i];
		p = opens(&s, &w);
		ck_assert_int_eq(tls_peer_version(p), all[i]);
		talks(p);
		ck_assert_int_eq(look(&s).version, all[i]);
	}
	w.ciphers = "TLS_CHACHA20_POLY1305_SHA256";
	p = opens(&s, &w);
	ck_assert_str_eq(tls_peer_cipher(p), w.ciphers);
	talks(p);
	w.min = w.max = TLS1_2_VERSION;
	w.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
	p = opens(&s, &w);
	ck_assert_str_eq(tls_peer_cipher(p), w.ciphers);
	talks(p);
	w.ciphers = "nonsense";
	refused(&s, &w, "no cipher match");
	ck_assert_uint_eq(look(&s).handshakes, 4);
	end(&s);

	begin(&s, &old);
	w = (struct tls_wish){ .min = TLS1_3_VERSION };
	refused(&s, &w, "protocol version");
	WAIT_FOR(look(&s).failed == 1, 10000);
	ck_assert_str_ne(look(&s).error, "");
	ck_assert_uint_eq(look(&s).handshakes, 0);
	end(&s);
}
END_TEST

START_TEST(alpn)
{
	struct tls_echo_options o = { .alpn = "h2,http/1.1" };
	struct tls_wish w = { .alpn = "http/1.1,h2" };
	struct tls_peer *p;
	struct scene s;

	begin(&s, &o);
	p = opens(&s, &w);
	ck_assert_str_eq(tls_peer_alpn(p), "h2");
	talks(p);
	ck_assert_str_eq(look(&s).alpn, "h2");
	w.alpn = "spdy,http/1.1";
	p = opens(&s, &w);
	ck_assert_str_eq(tls_peer_alpn(p), "http/1.1");
	talks(p);
	ck_assert_str_eq(look(&s).alpn, "http/1.1");
	w.alpn = NULL;
	p = opens(&s, &w);
	ck_assert_str_eq(tls_peer_alpn(p), "");
	talks(p);
	ck_assert_str_eq(look(&s).alpn, "");
	w.alpn = "spdy";
	refused(&s, &w, "no application protocol");
	end(&s);
}
END_TEST

START_TEST(sni)
{
	struct tls_wish w = { .sni = "www.a.test" };
	struct scene s;

	begin(&s, NULL);
	talks(opens(&s, &w));
	ck_assert_str_eq(look(&s).sni, "www.a.test");
	w.sni = NULL;
	talks(opens(&s, &w));
	ck_assert_str_eq(look(&s).sni, "");
	end(&s);
}
END_TEST

START_TEST(names)
{
	static const char *const good[] = { NULL, "a.test", "127.0.0.1" };
	struct tls_wish w = { .verify = NULL };
	struct tls_peer *p;
	struct scene s;
	size_t i;

	begin(&s, NULL);
	w.ca = s.root_file;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		w.verify = good[i];
		p = opens(&s, &w);
		ck_assert_str_eq(tls_peer_subject(p), "CN=a.test");
		talks(p);
	}
	w.verify = "b.test";
	refused(&s, &w, "ostname mismatch");
	w.verify = "127.0.0.2";
	refused(&s, &w, "IP address mismatch");
	w.ca = NULL; /* who asks no authority looks at no name */
	talks(opens(&s, &w));
	w = (struct tls_wish){ .ca = scratch("none") };
	refused(&s, &w, "");
	ck_assert_str_ne(tls_peer_error(), "");
	end(&s);
}
END_TEST

START_TEST(expired)
{
	struct tls_wish w = { .verify = "a.test" };
	struct scene s;

	begin_as(&s, (struct cert_wish){ .name = "a.test", .days = -1 }, NULL);
	talks(opens(&s, &w));
	w.ca = s.root_file;
	refused(&s, &w, "certificate has expired");
	WAIT_FOR(look(&s).failed == 1, 10000);
	end(&s);
}
END_TEST

/* A server's root must be the one that is trusted, and its issuers come. */
START_TEST(issuers)
{
	struct cert_wish ca = { .name = "between", .is_ca = true };
	struct cert_wish leaf = { .name = "a.test", .rsa = true };
	struct tls_wish w = { .verify = "a.test" };
	struct tls_echo server;
	struct scene s;
	struct cert *between, *c, *other;
	const char *file;

	begin(&s, NULL);
	ca.issuer = s.root;
	leaf.issuer = between = cert_new(&ca);
	c = cert_new(&leaf);
	file = cert_write_all(c, "leaf.pem");
	tls_echo_start(&server, file, file, NULL);
	w.ca = s.root_file;
	talks(tls_peer_open(endpoint_connect(&server.backend.at), &w));
	ca.issuer = NULL;
	other = cert_new(&ca);
	w.ca = cert_write(other, "other.pem");
	ck_assert_ptr_null(
	    tls_peer_open(endpoint_connect(&server.backend.at), &w));
	refused(&s, &w, "unable to get local issuer");
	tls_echo_stop(&server);
	cert_free(other);
	cert_free(between);
	cert_free(c);
	end(&s);
}
END_TEST

/* With TLS 1.3 the refusal comes after the client's own handshake. */
START_TEST(clients)
{
	static const int all[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_echo_options o = { .client_ca = NULL };
	struct cert_wish root = { .name = "guests", .is_ca = true };
	struct cert *guests = cert_new(&root);
	struct tls_wish known = { .sni = "a.test" }, nobody = known;
	struct scene s;
	char c;
	size_t i;

	o.client_ca = cert_write(guests, "guests.pem");
	begin(&s, &o);
	cert_free(s.root);
	s.root = guests;
	become(&s, &known, "me");
	for (i = 0; i < 2; i++) {
		struct tls_peer *p;

		known.min = known.max = nobody.min = nobody.max = all[i];
		talks(opens(&s, &known));
		ck_assert_str_eq(look(&s).client, "CN=me");
		p = tries(&s, &nobody);
		ck_assert(p == NULL || tls_peer_read(p, &c, 1) == -1);
		ck_assert(p == NULL || errno == EPROTO);
		ck_assert_msg(strstr(tls_peer_error(), "alert") != NULL, "%s",
		    tls_peer_error());
		tls_peer_close(p);
		WAIT_FOR(look(&s).failed == i + 1, 10000);
		ck_assert_ptr_nonnull(
		    strstr(look(&s).error, "did not return a certificate"));
		ck_assert_str_eq(look(&s).client, "");
	}
	ck_assert_uint_eq(look(&s).handshakes, 2);
	end(&s);
}
END_TEST

START_TEST(resumption)
{
	static const int all[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_wish w = { .sni = "a.test" };
	SSL_SESSION *session;
	struct tls_peer *p;
	struct scene s;
	unsigned i;

	begin(&s, NULL);
	for (i = 0; i < 2; i++) {
		w.min = w.max = all[i];
		w.resume = NULL;
		p = opens(&s, &w);
		ck_assert(!tls_peer_is_resumed(p));
		tls_peer_expect_echo(p, "hello");
		session = tls_peer_session(p);
		tls_peer_close(p); /* without goodbye */
		w.resume = session;
		p = opens(&s, &w);
		ck_assert(tls_peer_is_resumed(p));
		talks(p);
		SSL_SESSION_free(session);
		ck_assert_uint_eq(look(&s).handshakes, 2 * (i + 1));
		ck_assert_uint_eq(look(&s).resumed, i + 1);
		ck_assert_str_eq(look(&s).sni, "a.test");
	}
	end(&s);
}
END_TEST

/* Reading goes on after goodbye; the end of the stream alone is another. */
START_TEST(ends)
{
	struct tls_wish w = { .sni = NULL };
	unsigned char out[50000], in[50000];
	struct endpoint at;
	struct tls_peer *p;
	struct scene s;
	size_t n = 0;
	ssize_t k;

	begin(&s, NULL);
	p = opens(&s, &w);
	pattern_fill(1, 0, out, sizeof(out));
	ck_assert(tls_peer_write(p, out, sizeof(out)));
	ck_assert(tls_peer_half_close(p));
	while ((k = tls_peer_read(p, in + n, sizeof(in) - n)) > 0)
		n += (size_t)k;
	ck_assert_int_eq(k, 0);
	ck_assert_uint_eq(n, sizeof(in));
	pattern_check(1, 0, in, n);
	ck_assert_int_eq(atomic_load(&s.server.backend.received), 50000);
	tls_peer_close(p);

	ck_assert_uint_eq(look(&s).goodbyes, 1);
	ck_assert_uint_eq(look(&s).cut, 0);

	p = opens(&s, &w);
	shutdown(SSL_get_fd(tls_peer_ssl(p)), SHUT_WR);
	ck_assert_int_eq(tls_peer_read(p, in, 1), -1);
	tls_peer_close(p);
	WAIT_FOR(look(&s).cut == 1, 10000);

	p = opens(&s, &w);
	endpoint_set_deadline(SSL_get_fd(tls_peer_ssl(p)), 20);
	ck_assert_int_eq(tls_peer_read(p, in, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_str_eq(tls_peer_error(), "timed out");
	at = s.server.backend.at;
	end(&s); /* with a client still there */
	ck_assert_int_eq(tls_peer_read(p, in, 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert(!tls_peer_write(p, out, sizeof(out)) ||
	    !tls_peer_write(p, out, sizeof(out)));
	tls_peer_close(p);
	ck_assert_int_eq(endpoint_try_connect(&at), -1);
	tls_peer_close(NULL);
}
END_TEST

/* Does not speak TLS, but listens to the end. */
static void
say_hello(struct backend *b, int fd)
{
	char c;

	backend_say(b, fd);
	while (recv(fd, &c, 1, 0) > 0)
		;
}

START_TEST(nonsense)
{
	struct tls_wish w = { .sni = NULL };
	struct backend b;

	backend_start(
	    &b, ENDPOINT_TCP4, say_hello, "hello, I am something else");
	ck_assert_ptr_null(tls_peer_open(endpoint_connect(&b.at), &w));
	ck_assert_str_ne(tls_peer_error(), "");
	ck_assert_str_ne(tls_peer_error(), "timed out");
	backend_stop(&b);
}
END_TEST

static int
staple(SSL *ssl, void *arg)
{
	unsigned char *der = OPENSSL_malloc(3);

	(void)arg;
	memcpy(der, "abc", 3);
	SSL_set_tlsext_status_ocsp_resp(ssl, der, 3);
	return SSL_TLSEXT_ERR_OK;
}

START_TEST(stapled)
{
	struct tls_wish w = { .ocsp = true };
	struct tls_peer *p;
	struct scene s;
	size_t n;

	begin(&s, NULL);
	p = opens(&s, &w);
	ck_assert_ptr_null(tls_peer_ocsp(p, &n));
	ck_assert_uint_eq(n, 0);
	talks(p);
	SSL_CTX_set_tlsext_status_cb(s.server.ctx, staple);
	p = opens(&s, &w);
	ck_assert_ptr_nonnull(tls_peer_ocsp(p, &n));
	ck_assert_uint_eq(n, 3);
	ck_assert_mem_eq(tls_peer_ocsp(p, &n), "abc", 3);
	talks(p);
	w.ocsp = false;
	p = opens(&s, &w);
	ck_assert_ptr_null(tls_peer_ocsp(p, &n));
	talks(p);
	end(&s);
}
END_TEST

SUITE(test_tlspeer)
{
	Suite *s = suite_create("tlspeer");

	SUITE_ADD(s, versions, 20);
	SUITE_ADD(s, alpn, 20);
	SUITE_ADD(s, sni, 20);
	SUITE_ADD(s, names, 20);
	SUITE_ADD(s, expired, 20);
	SUITE_ADD(s, issuers, 20);
	SUITE_ADD(s, clients, 20);
	SUITE_ADD(s, resumption, 20);
	SUITE_ADD(s, ends, 20);
	SUITE_ADD(s, nonsense, 20);
	SUITE_ADD(s, stapled, 20);
	return s;
}
