/* test_tls_clients.c: clients of TLS: who they must be, and what is agreed on
 * with them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };

static struct tls_chain c;
static struct backend server;

static void
up(const char *commands)
{
	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(
	    &c, text("ssl_cert %s;%s", c.site, commands), server.at.text, NULL);
}

static void
down(void)
{
	tls_chain_down(&c);
	backend_stop(&server);
	tls_chain_end(&c);
}

static void
refused(const struct tls_wish *w, const char *why)
{
	const char *told = tls_chain_refused(&c, w);

	ck_assert_msg(
	    strstr(told, why) != NULL, "wanted \"%s\", got \"%s\"", why, told);
}

/* ---- certificates of clients ---- */

/* The client's in one file, with its key. */
static struct tls_wish
with(const char *cert, int version)
{
	return (struct tls_wish){
		.cert = cert, .key = cert, .min = version, .max = version
	};
}

static const char *
client_cert(const char *file, const struct cert *issuer, int days)
{
	return tls_chain_cert(&c, file,
	    (struct cert_wish){ .name = text("%s of us", file),
		.issuer = issuer,
		.for_client = true,
		.days = days });
}

START_TEST(certificates_required)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert_wish lost = { .name = "lost", .for_client = true };
	struct cert *foreign, *revoked;
	const char *good, *old, *strange, *bad;
	struct tls_wish w;
	int i, v;

	tls_chain_begin(&c);
	foreign = cert_new(&other);
	lost.issuer = c.ca;
	revoked = cert_new(&lost);
	bad = cert_write_all(revoked, "revoked.pem");
	good = client_cert("good.pem", NULL, 30);
	old = client_cert("old.pem", NULL, -1);
	strange = client_cert("strange.pem", foreign, 30);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_file %s;ssl_crl %s;ssl_require", c.site,
		c.ca_file, cert_write_crl(c.ca, revoked, "crl.pem")),
	    server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		v = versions[i];
		w = (struct tls_wish){ .min = v, .max = v };
		refused(&w,
		    v == TLS1_3_VERSION ? "certificate required"
					: "handshake failure");
		w = with(strange, v);
		refused(&w, "unknown ca");
		w = with(old, v);
		refused(&w, "certificate expired");
		w = with(bad, v);
		refused(&w, "certificate revoked");
		w = with(c.site, v); /* a server's */
		refused(&w, "unsupported certificate");
		w = with(good, v);
		tls_chain_talks(&c, &w);
	}
	tls_chain_counts(&c, "sessions", 0);
	ck_assert_int_eq(tls_chain_count(&c, "closed_tls_failed"), 10);
	ck_assert_int_eq(tls_chain_count(&c, "tls_handshakes"), 2);
	ck_assert_int_eq(server.accepted, 2);
	down();
	cert_free(revoked);
	cert_free(foreign);
}
END_TEST

/* What is missing of it would only be found when a client is refused, or is
 * not. */
START_TEST(files_that_are_cut)
{
	const char *list, *whole;
	int i;

	tls_chain_begin(&c);
	list = cert_write_crl(c.ca, NULL, "list.pem");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_file %s;ssl_crl %s;ssl_require", c.site,
		c.ca_file, list),
	    server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		whole = contents(i == 0 ? c.ca_file : list);
		write_file(scratch("cut.pem"),
		    text("%s%.*s", whole, (int)strlen(whole) / 2, whole));
		ck_assert_ptr_nonnull(
		    strstr(tls_chain_ask(&c,
			       text("%s %s", i == 0 ? "ssl_ca_file" : "ssl_crl",
				   scratch("cut.pem"))),
			i == 0 ? "\": CA certificate 2: "
			       : "\": revocation list 2: "));
	}
	down();
}
END_TEST

/* From whomever it is: that it is not verified is told. */
START_TEST(certificates_of_anybody)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *foreign = cert_new(&other);
	const char *strange;
	struct tls_wish none, w;
	int i;

	tls_chain_begin(&c);
	strange = client_cert("strange.pem", foreign, -1);
	cert_free(foreign);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c, text("debug 1;ssl_cert %s;ssl_request_any", c.site),
	    server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		none =
		    (struct tls_wish){ .min = versions[i], .max = versions[i] };
		w = with(strange, versions[i]);
		tls_chain_talks(&c, &w);
		tls_chain_talks(&c, &none);
	}
	WAIT_FOR(
	    child_has_said(&c.pen.child, "subject=\"CN=strange.pem of us\""),
	    5000);
	ck_assert(!child_has_said(&c.pen.child, "verified=\"ok\""));
	tls_chain_tell(&c, "ssl_require");
	tls_chain_talks(&c, &w);
	none.resume = NULL;
	refused(&none, "certificate required");
	down();
}
END_TEST

START_TEST(certificates_requested)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *foreign = cert_new(&other);
	const char *good, *strange;
	struct tls_wish w;
	int i;

	tls_chain_begin(&c);
	good = client_cert("good.pem", NULL, 30);
	strange = client_cert("strange.pem", foreign, 30);
	cert_free(foreign);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_file %s;ssl_request", c.site, c.ca_file),
	    server.at.text, NULL);
	for (i = 0; i < 2; i++) {
		w = (struct tls_wish){ .min = versions[i], .max = versions[i] };
		tls_chain_talks(&c, &w);
		w = with(good, versions[i]);
		tls_chain_talks(&c, &w);
		w = with(strange, versions[i]);
		refused(&w, "unknown ca");
	}
	down();
}
END_TEST

/* A directory of authorities; the client's comes by way of another. */
START_TEST(authorities_in_a_directory)
{
	struct cert_wish below = { .name = "below", .is_ca = true };
	const char *dir = scratch("authorities"), *good;
	struct cert *between;
	struct tls_wish w;

	tls_chain_begin(&c);
	below.issuer = c.ca;
	between = cert_new(&below);
	good = client_cert("good.pem", between, 30);
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	cert_write(c.ca, text("%s/root.pem", dir));
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_dir %s;ssl_require", c.site, dir),
	    server.at.text, NULL);
	w = with(good, 0);
	tls_chain_talks(&c, &w);
	w = (struct tls_wish){ .sni = NULL };
	refused(&w, "certificate required");
	down();
	cert_free(between);
}
END_TEST

/* The directory is a link, which then leads to another one. */
START_TEST(another_directory_of_authorities)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	const char *dir = scratch("authorities"), *first = scratch("first");
	const char *second = scratch("second");
	struct cert *ca = cert_new(&other);
	struct tls_wish w;

	tls_chain_begin(&c);
	w = with(client_cert("good.pem", c.ca, 30), 0);
	ck_assert_int_eq(mkdir(first, 0755), 0);
	ck_assert_int_eq(mkdir(second, 0755), 0);
	cert_write(ca, text("%s/root.pem", first));
	cert_write(c.ca, text("%s/root.pem", second));
	ck_assert_int_eq(symlink(first, dir), 0);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_dir %s;ssl_require", c.site, dir),
	    server.at.text, NULL);
	refused(&w, "unknown ca");
	ck_assert_int_eq(unlink(dir), 0);
	ck_assert_int_eq(symlink(second, dir), 0);
	WAIT_FOR(child_has_said(&c.pen.child, "certificates replaced"), 10000);
	tls_chain_talks(&c, &w);
	down();
	cert_free(ca);
}
END_TEST

static const char *
serial_of(const struct cert *x)
{
	const ASN1_INTEGER *n = X509_get0_serialNumber(cert_x509(x));
	BIGNUM *b = ASN1_INTEGER_to_BN(n, NULL);
	char *hex = BN_bn2hex(b);
	const char *kept = text("\"serial\":\"%s\"", hex);

	OPENSSL_free(hex);
	BN_free(b);
	return kept;
}

#define HAS(answer, what)                                          \
	ck_assert_msg(strstr(answer, what) != NULL, "no %s in %s", \
	    (const char *)(what), answer)

START_TEST(control_shows_who_it_is)
{
	struct cert_wish me = { .name = "me \"myself\"", .for_client = true };
	const char *file, *answer;
	struct tls_peer *p;
	struct tls_wish w;
	struct cert *mine;

	tls_chain_begin(&c);
	me.issuer = c.ca;
	mine = cert_new(&me);
	file = cert_write_all(mine, "me.pem");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_ca_file %s;ssl_request;ssl_alpn h2", c.site,
		c.ca_file),
	    server.at.text, NULL);
	w = with(file, TLS1_3_VERSION);
	w.sni = "a.test";
	w.alpn = "h2";
	p = tls_chain_opens(&c, &w);
	tls_peer_expect_echo(p, "hello");
	answer = tls_chain_connection(&c);
	HAS(answer, "\"tls\":\"TLSv1.3\"");
	HAS(answer, text("\"cipher\":\"%s\"", tls_peer_cipher(p)));
	HAS(answer, "\"name\":\"a.test\"");
	HAS(answer, "\"alpn\":\"h2\"");
	HAS(answer, "\"resumed\":false");
	HAS(answer, "\"subject\":\"CN=me \\\\\\\"myself\\\\\\\"\"");
	HAS(answer, serial_of(mine));
	HAS(answer, "\"verified\":\"ok\"");
	tls_peer_close(p);
	tls_chain_counts(&c, "sessions", 0);
	w = (struct tls_wish){ .max = TLS1_2_VERSION };
	p = tls_chain_opens(&c, &w);
	tls_peer_expect_echo(p, "hello");
	answer = tls_chain_connection(&c);
	HAS(answer, "\"tls\":\"TLSv1.2\"");
	ck_assert_ptr_null(strstr(answer, "subject"));
	ck_assert_ptr_null(strstr(answer, "serial"));
	tls_peer_close(p);
	down();
	cert_free(mine);
}
END_TEST

/* ---- ALPN ---- */

static void
agree(const char *offer, const char *wanted)
{
	struct tls_wish w = { .alpn = offer };
	struct tls_peer *p = tls_chain_opens(&c, &w);

	tls_peer_expect_echo(p, "hello");
	ck_assert_str_eq(tls_peer_alpn(p), wanted);
	tls_peer_close(p);
}

START_TEST(alpn)
{
	struct tls_wish w = { .alpn = "spdy/3" };

	up("ssl_alpn h2,http/1.1");
	agree("http/1.1,h2", "h2");
	agree("spdy/3,http/1.1", "http/1.1");
	agree(NULL, "");
	refused(&w, "no application protocol");
	tls_chain_counts(&c, "closed_tls_failed", 1);
	tls_chain_tell(&c, "ssl_alpn spdy/3");
	agree("h2,spdy/3", "spdy/3");
	tls_chain_tell(&c, "no ssl_alpn");
	agree("h2,spdy/3", "");
	down();
}
END_TEST

/* Answers a request with what it heard; echoes else. */
static void
serve_told(struct backend *b, int fd)
{
	const char *answer;
	char heard[1000];
	size_t n = 0;
	ssize_t got;

	(void)b;
	while ((got = recv(fd, heard + n, sizeof(heard) - 1 - n, 0)) > 0) {
		n += (size_t)got;
		heard[n] = '\0';
		answer = heard;
		if (strncmp(heard, "GET ", 4) == 0) {
			if (strstr(heard, "\r\n\r\n") == NULL)
				continue;
			answer = text("HTTP/1.1 200 OK\r\nContent-Length: "
				      "%zu\r\n\r\n%s",
			    n, heard);
		}
		(void)backend_send(fd, answer, strlen(answer));
		n = 0;
	}
}

/* With -H, servers are told of TLS, and what carries other requests than those
 * of HTTP/1 is not offered. */
START_TEST(http_over_tls)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char told[] =
	    "HTTP/1.1 200 OK\r\nContent-Length: 81\r\n\r\n"
	    "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: https\r\n"
	    "X-Forwarded-For: 127.0.0.1\r\n\r\n";
	struct tls_wish w = { .alpn = "h2,http/1.1" };
	struct tls_peer *p;
	char heard[sizeof(told)] = "";
	size_t n = 0;
	ssize_t got;

	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, serve_told, NULL);
	tls_chain_up(&c, text("ssl_cert %s;ssl_alpn h2,http/1.1;http", c.site),
	    server.at.text, NULL);
	p = tls_chain_opens(&c, &w);
	ck_assert_str_eq(tls_peer_alpn(p), "http/1.1");
	ck_assert(tls_peer_write(p, request, sizeof(request) - 1));
	while (n < sizeof(told) - 1) {
		got = tls_peer_read(p, heard + n, sizeof(told) - 1 - n);
		ck_assert_int_gt(got, 0);
		n += (size_t)got;
	}
	ck_assert_str_eq(heard, told);
	tls_peer_close(p);
	tls_chain_tell(&c, "no http");
	agree("http/1.1,h2", "h2");
	down();
}
END_TEST

static void
serve_page(struct backend *b, int fd)
{
	static const char page[] = "HTTP/1.0 204 No Content\r\n\r\n";
	char bytes[1000];

	(void)b;
	if (recv(fd, bytes, sizeof(bytes), 0) > 0)
		(void)backend_send(fd, page, sizeof(page) - 1);
}

/* The cookie that names the server is not to be said without TLS. */
START_TEST(sticky_over_tls)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	struct tls_wish w = { .alpn = NULL };
	char heard[1000] = "";
	struct tls_peer *p;
	size_t n = 0;
	ssize_t got;

	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, serve_page, NULL);
	tls_chain_up(&c, text("ssl_cert %s;http;http_sticky SRV", c.site),
	    server.at.text, NULL);
	p = tls_chain_opens(&c, &w);
	ck_assert(tls_peer_write(p, request, sizeof(request) - 1));
	while (strstr(heard, "\r\n\r\n") == NULL) {
		got = tls_peer_read(p, heard + n, sizeof(heard) - 1 - n);
		ck_assert_int_gt(got, 0);
		n += (size_t)got;
	}
	ck_assert_msg(strstr(heard, "\r\nSet-Cookie: SRV=") != NULL &&
		strstr(heard, "; HttpOnly; Secure; SameSite=Lax\r\n") != NULL,
	    "%s", heard);
	tls_peer_close(p);
	down();
}
END_TEST

static struct tls_seen
look(struct tls_echo *s)
{
	struct tls_seen seen;

	tls_echo_look(s, &seen);
	return seen;
}

/* The server is offered what its client talks, or what the setting says. */
START_TEST(alpn_is_passed_on)
{
	struct tls_echo_options o = { .alpn = "h2,http/1.1" };
	struct tls_echo s;

	tls_chain_begin(&c);
	tls_echo_start(&s, c.site, c.site, &o);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_alpn http/1.1,h2;ssl_upstream;"
		 "ssl_upstream_ca %s",
		c.site, c.ca_file),
	    s.backend.at.text, NULL);
	agree("h2", "h2");
	ck_assert_str_eq(look(&s).alpn, "h2");
	agree("h2,http/1.1", "http/1.1");
	ck_assert_str_eq(look(&s).alpn, "http/1.1");
	agree(NULL, "");
	ck_assert_str_eq(look(&s).alpn, "");
	tls_chain_tell(&c, "ssl_upstream_alpn http/1.1");
	agree("h2", "h2");
	ck_assert_str_eq(look(&s).alpn, "http/1.1");
	agree(NULL, "");
	ck_assert_str_eq(look(&s).alpn, "http/1.1");
	tls_chain_tell(&c, "ssl_upstream_alpn none");
	agree("h2", "h2");
	ck_assert_str_eq(look(&s).alpn, "");
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* With -H neither, as responses of HTTP/2 are not parsed. */
START_TEST(servers_are_not_offered_h2)
{
	struct tls_echo_options o = { .alpn = "h2,http/1.1" };
	struct tls_wish w = { .alpn = NULL };
	struct tls_peer *p;
	struct tls_echo s;

	tls_chain_begin(&c);
	tls_echo_start(&s, c.site, c.site, &o);
	tls_chain_up(&c,
	    text("ssl_cert %s;ssl_upstream;ssl_upstream_ca %s;http;"
		 "ssl_upstream_alpn h2,http/1.1",
		c.site, c.ca_file),
	    s.backend.at.text, NULL);
	ck_assert_ptr_nonnull(strstr(child_err(&c.pen.child),
	    "ssl_upstream_alpn: h2 is not offered with http"));
	p = tls_chain_opens(&c, &w);
	ck_assert(tls_peer_write(p, "GET / HTTP/1.0\r\n\r\n", 18));
	WAIT_FOR(look(&s).handshakes == 1, 5000);
	ck_assert_str_eq(look(&s).alpn, "http/1.1");
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

SUITE(test_tls_clients)
{
	Suite *s = suite_create("tls_clients");

	SUITE_ADD(s, certificates_required, 30);
	SUITE_ADD(s, files_that_are_cut, 30);
	SUITE_ADD(s, certificates_of_anybody, 30);
	SUITE_ADD(s, certificates_requested, 30);
	SUITE_ADD(s, authorities_in_a_directory, 30);
	SUITE_ADD(s, another_directory_of_authorities, 30);
	SUITE_ADD(s, control_shows_who_it_is, 30);
	SUITE_ADD(s, http_over_tls, 30);
	SUITE_ADD(s, sticky_over_tls, 30);
	SUITE_ADD(s, alpn, 30);
	SUITE_ADD(s, alpn_is_passed_on, 30);
	SUITE_ADD(s, servers_are_not_offered_h2, 30);
	return s;
}
