/* test_tls_upstream.c: TLS towards servers: whom pen trusts, by which name, and
 * what it does when it must not. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nameserver.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static struct tls_chain c;

/* A plain client is served. */
static void
served(void)
{
	int fd = endpoint_connect(&c.front);

	endpoint_expect_echo(fd, "hello");
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
}

/* It is not: nothing comes but a reset, or an end. */
static void
not_served(void)
{
	int fd = endpoint_connect(&c.front);
	char byte;

	/* it may be over already */
	(void)send(fd, "x", 1, MSG_NOSIGNAL);
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static struct tls_seen
look(struct tls_echo *s)
{
	struct tls_seen seen;

	tls_echo_look(s, &seen);
	return seen;
}

/* The server notes a client that went only when it has heard of that. */
static void
heard_name(struct tls_echo *s, const char *name)
{
	WAIT_FOR(strcmp(look(s).sni, name) == 0, 5000);
}

static void
serve(struct tls_echo *s, const char *cert, const struct tls_echo_options *o)
{
	tls_echo_start(s, cert, cert, o);
}

static const char *
trusting(void)
{
	return text("blacklist 0;ssl_upstream;ssl_upstream_ca %s", c.ca_file);
}

/* Files of certificates that are no good for 127.0.0.1. */
static const char *
foreign_cert(void)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *ca = cert_new(&other);
	const char *file = tls_chain_cert(&c, "foreign.pem",
	    (struct cert_wish){ .name = "a.test,IP:127.0.0.1", .issuer = ca });

	cert_free(ca);
	return file;
}

static const char *
old_cert(void)
{
	return tls_chain_cert(&c, "old.pem",
	    (struct cert_wish){ .name = "a.test,IP:127.0.0.1", .days = -1 });
}

static const char *
named_cert(const char *name)
{
	return tls_chain_cert(
	    &c, text("%s.pem", name), (struct cert_wish){ .name = name });
}

/* ---- trust ---- */

static void
breaks_off(struct backend *b, int fd)
{
	char hello[1024];

	(void)b;
	(void)recv(fd, hello, sizeof(hello), 0);
}

/* Each server in turn is not what it should be; the last one is. */
START_TEST(bad_servers_are_passed_over)
{
	struct tls_echo s[4];
	struct backend plain, cut, silent;
	int i;

	tls_chain_begin(&c);
	serve(&s[0], foreign_cert(), NULL);
	serve(&s[1], named_cert("other.test"), NULL);
	serve(&s[2], old_cert(), NULL);
	serve(&s[3], c.site, NULL);
	backend_start(
	    &plain, ENDPOINT_TCP4, backend_say, "220 hello, I am plain");
	backend_start(&cut, ENDPOINT_TCP4, breaks_off, NULL);
	backend_start(&silent, ENDPOINT_TCP4, backend_hang, NULL);
	tls_chain_up(&c, text("%s;timeout 1;blacklist 60", trusting()),
	    s[0].backend.at.text, s[1].backend.at.text, s[2].backend.at.text,
	    plain.at.text, cut.at.text, silent.at.text, s[3].backend.at.text,
	    NULL);
	served();
	ck_assert_int_eq(tls_chain_count(&c, "retries"), 6);
	ck_assert_int_eq(tls_chain_count(&c, "tls_up_handshakes"), 1);
	served(); /* who has failed is left alone */
	ck_assert_int_eq(tls_chain_count(&c, "retries"), 6);
	ck_assert_uint_eq(look(&s[3]).handshakes, 2);
	/* refused by alert, before a byte of the client's went there */
	WAIT_FOR(look(&s[0]).failed == 1 && look(&s[1]).failed == 1 &&
		look(&s[2]).failed == 1,
	    5000);
	ck_assert_str_eq(
	    strstr(look(&s[0]).error, "alert"), "alert unknown ca");
	ck_assert_str_eq(
	    strstr(look(&s[2]).error, "alert"), "alert certificate expired");
	ck_assert(child_has_said(&c.pen.child, "server blacklisted server=0"));
	ck_assert(child_has_said(&c.pen.child, "IP address mismatch"));
	ck_assert(child_has_said(&c.pen.child, "certificate has expired"));
	tls_chain_down(&c);
	backend_stop(&plain);
	backend_stop(&cut);
	backend_stop(&silent);
	for (i = 0; i < 4; i++)
		tls_echo_stop(&s[i]);
	tls_chain_end(&c);
}
END_TEST

START_TEST(nobody_is_to_be_trusted)
{
	struct tls_echo s;

	tls_chain_begin(&c);
	serve(&s, foreign_cert(), NULL);
	tls_chain_up(&c, trusting(), s.backend.at.text, NULL);
	not_served();
	tls_chain_counts(&c, "closed_no_server", 1);
	ck_assert_int_eq(s.backend.received, 0);
	/* unless the operator says so */
	tls_chain_tell(&c, "no ssl_upstream_verify");
	served();
	tls_chain_tell(&c, "ssl_upstream_verify");
	/* that session must not be resumed */
	not_served();
	tls_chain_counts(&c, "closed_no_server", 2);
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* The only server was gone: the first client after its return is served, after
 * a handshake, and so is who comes when handshakes failed before. */
START_TEST(restarted_server_is_tried)
{
	struct tls_echo s;
	backend_fn *talks_tls;
	struct endpoint at;

	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	at = s.backend.at;
	talks_tls = s.backend.serve;
	tls_chain_up(&c, text("%s;blacklist 30;retry 0", trusting()), at.text,
	    NULL);
	served();
	backend_stop(&s.backend);
	not_served();
	not_served();
	backend_start_at(&s.backend, &at, talks_tls, NULL);
	served();
	backend_stop(&s.backend);
	backend_start_at(&s.backend, &at, breaks_off, NULL);
	not_served();
	not_served();
	backend_stop(&s.backend);
	backend_start_at(&s.backend, &at, talks_tls, NULL);
	served();
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* A server that is one of all addresses of a name is verified by the name, the
 * target of a service by the target's. */
START_TEST(names_of_many_addresses)
{
	struct nameserver dns;
	struct nameserver_target to = { "one.test", 0, 1, 1 };
	struct tls_echo s;

	tls_chain_begin(&c);
	nameserver_start(&dns);
	serve(&s, named_cert("one.test"), NULL);
	to.port = s.backend.at.port;
	nameserver_set(&dns, "one.test", "127.0.0.1", NULL);
	nameserver_set_service(&dns, "_web._tcp.test", &to, 1);
	tls_chain_up(&c, text("%s;resolver %s", trusting(), dns.text),
	    text("one.test*:%d", to.port), NULL);
	served();
	heard_name(&s, "one.test");
	tls_chain_down(&c);
	tls_chain_up(&c, text("%s;resolver %s", trusting(), dns.text),
	    "_web._tcp.test", NULL);
	served();
	tls_chain_down(&c);
	tls_echo_stop(&s);
	nameserver_stop(&dns);
	tls_chain_end(&c);
}
END_TEST

START_TEST(names)
{
	struct tls_echo s;
	int port;

	tls_chain_begin(&c);
	serve(&s, named_cert("localhost"), NULL);
	port = s.backend.at.port;
	/* the host as given */
	tls_chain_up(&c, trusting(), text("localhost:%d", port), NULL);
	served();
	heard_name(&s, "localhost");
	/* the address is not in the certificate */
	tls_chain_tell(&c, text("server 0 address 127.0.0.1 port %d", port));
	not_served();
	heard_name(&s, "");
	/* another name than the host's */
	tls_chain_tell(&c, "ssl_upstream_name localhost");
	served();
	heard_name(&s, "localhost");
	tls_chain_tell(&c, "ssl_upstream_name localhost.");
	served();
	heard_name(&s, "localhost");
	tls_chain_tell(&c, "ssl_upstream_name a.test");
	not_served();
	heard_name(&s, "a.test");
	tls_chain_down(&c);
	tls_echo_stop(&s);

	/* an address that is, and is never said (RFC 6066, 3) */
	serve(&s, c.site, NULL);
	tls_chain_up(&c, trusting(), s.backend.at.text, NULL);
	served();
	heard_name(&s, "");
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* The zone of an address is in no certificate, and is not sent as a name. */
START_TEST(address_with_a_zone)
{
	struct tls_echo_options o = { .kind = ENDPOINT_TCP6 };
	struct tls_echo s;

	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6 here");
	tls_chain_begin(&c);
	serve(&s,
	    tls_chain_cert(&c, "six.pem",
		(struct cert_wish){ .name = "a.test,IP:::1" }),
	    &o);
	tls_chain_up(&c, trusting(), s.backend.at.text, NULL);
	served();
	if (*tls_chain_ask(&c,
		text("server 0 address ::1%%lo port %d", s.backend.at.port)) ==
	    '\0') {
		served();
		heard_name(&s, "");
	}
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

START_TEST(unix_servers)
{
	struct tls_echo_options o = { .kind = ENDPOINT_UNIX };
	struct tls_echo s;

	tls_chain_begin(&c);
	serve(&s, c.site, &o);
	pen_expect_failure("no host name to verify", "-f", "-O", "ssl_upstream",
	    "-O", text("ssl_upstream_ca %s", c.ca_file), c.front.text,
	    s.backend.at.text, NULL);
	tls_chain_up(&c, text("%s;ssl_upstream_name a.test", trusting()),
	    s.backend.at.text, NULL);
	served();
	heard_name(&s, "a.test");
	tls_chain_tell(&c, "ssl_upstream_name b.test");
	not_served();
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* Without a file, those OpenSSL trusts. */
START_TEST(authorities_of_the_system)
{
	struct tls_echo s;

	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	ck_assert_int_eq(setenv("SSL_CERT_FILE", c.ca_file, 1), 0);
	tls_chain_up(&c, "ssl_upstream", s.backend.at.text, NULL);
	served();
	tls_chain_down(&c);
	tls_echo_stop(&s);
	serve(&s, foreign_cert(), NULL);
	tls_chain_up(&c, "ssl_upstream", s.backend.at.text, NULL);
	not_served();
	tls_chain_down(&c);
	unsetenv("SSL_CERT_FILE");
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* Without a reload; what is not whole is not taken. Those of the setting, or of
 * the system. */
START_TEST(changed_authorities_are_read)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *ca = cert_new(&other);
	const char *first, *file;
	struct tls_echo s;

	NEEDS_ONE_WORKER("each worker has its own time to read a file again");
	tls_chain_begin(&c);
	first = contents(c.ca_file);
	file = cert_write(ca, "changing.pem");
	cert_free(ca);
	serve(&s, c.site, NULL);
	ck_assert_int_eq(symlink(file, scratch("bundle")), 0);
	ck_assert_int_eq(setenv("SSL_CERT_FILE", scratch("bundle"), 1), 0);
	ck_assert_int_eq(setenv("SSL_CERT_DIR", scratch("none"), 1), 0);
	tls_chain_up(&c,
	    text("blacklist 0;ssl_watch 0.05;ssl_upstream;%s",
		_i == 0 ? text("ssl_upstream_ca %s", file) : ""),
	    s.backend.at.text, NULL);
	not_served();
	write_file(file, first);
	WAIT_FOR(child_has_said(
		     &c.pen.child, "certificates replaced side=server"),
	    10000);
	served();
	write_file(file, "");
	WAIT_FOR(child_has_said(&c.pen.child, "certificates not replaced"),
	    10000);
	served();
	tls_chain_down(&c);
	unsetenv("SSL_CERT_FILE");
	unsetenv("SSL_CERT_DIR");
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* Later, the system's directory does not stand in for its bundle. */
START_TEST(bundle_that_becomes_empty)
{
	struct cert_wish other = { .name = "authority", .is_ca = true };
	struct cert *ca = cert_new(&other);
	const char *file = cert_write(ca, "changing.pem");
	struct tls_echo s;

	NEEDS_ONE_WORKER("each worker has its own time to read a file again");
	cert_free(ca);
	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	ck_assert_int_eq(mkdir(scratch("dir"), 0700), 0);
	write_file(scratch("dir/ca.pem"), contents(c.ca_file));
	ck_assert_int_eq(setenv("SSL_CERT_FILE", file, 1), 0);
	ck_assert_int_eq(setenv("SSL_CERT_DIR", scratch("dir"), 1), 0);
	tls_chain_up(&c, "blacklist 0;ssl_watch 0.05;ssl_upstream",
	    s.backend.at.text, NULL);
	not_served();
	write_file(file, "");
	WAIT_FOR(child_has_said(&c.pen.child, "certificates not replaced"),
	    10000);
	not_served();
	/* silence would look like success */
	ck_assert_int_eq(kill(c.pen.child.pid, SIGHUP), 0);
	WAIT_FOR(
	    count_in(child_err(&c.pen.child), "certificates not replaced") == 2,
	    10000);
	tls_chain_down(&c);
	unsetenv("SSL_CERT_FILE");
	unsetenv("SSL_CERT_DIR");
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* ---- our own certificate ---- */

START_TEST(certificate_for_servers)
{
	struct tls_echo_options o = { .client_ca = NULL };
	struct cert_wish us = { .name = "balancer", .for_client = true };
	const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	const char *cert, *key;
	struct cert *ours;
	struct tls_echo s;
	int i;

	tls_chain_begin(&c);
	us.issuer = c.ca;
	ours = cert_new(&us);
	cert = cert_write(ours, "ours.pem");
	key = cert_write_key(ours, "ours.key");
	cert_free(ours);
	o.client_ca = c.ca_file;
	for (i = 0; i < 2; i++) {
		o.min = o.max = versions[i];
		serve(&s, c.site, &o);
		tls_chain_up(&c,
		    text("%s;ssl_upstream_cert %s;ssl_upstream_key %s",
			trusting(), cert, key),
		    s.backend.at.text, NULL);
		served();
		ck_assert_str_eq(look(&s).client, "CN=balancer");
		tls_chain_tell(&c, "no ssl_upstream_cert; no ssl_upstream_key");
		not_served();
		WAIT_FOR(look(&s).failed == 1, 5000);
		tls_chain_down(&c);
		tls_echo_stop(&s);
	}
	tls_chain_end(&c);
}
END_TEST

/* It is the server's, not that of a certificate which is not to be verified. */
START_TEST(reason_of_a_refusal)
{
	struct tls_echo_options o = { .max = TLS1_2_VERSION };
	const char *answer;
	struct tls_echo s;

#ifndef HAVE_JANSSON
	SKIP("built without Jansson");
#endif
	tls_chain_begin(&c);
	o.client_ca = c.ca_file;
	serve(&s, foreign_cert(), &o);
	tls_chain_up(&c, "ssl_upstream;no ssl_upstream_verify",
	    s.backend.at.text, NULL);
	not_served();
	answer = tls_chain_ask(&c, "servers json");
	ck_assert_msg(strstr(answer, "handshake failure"), "%s", answer);
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* A client talks what its server does not: that is nobody else's misfortune. */
START_TEST(protocol_of_one_client)
{
	const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_echo_options o = { .alpn = "http/1.1" };
	struct tls_wish h2 = { .alpn = "h2" }, http = { .alpn = "http/1.1" };
	struct tls_echo s;
	struct tls_peer *p;
	char byte;
	int i;

	tls_chain_begin(&c);
	for (i = 0; i < 2; i++) {
		o.min = o.max = versions[i];
		serve(&s, c.site, &o);
		tls_chain_up(&c,
		    text("blacklist 60;ssl_upstream;ssl_upstream_ca %s;"
			 "ssl_alpn h2,http/1.1;ssl_cert %s",
			c.ca_file, c.site),
		    s.backend.at.text, NULL);
		p = tls_chain_opens(&c, &h2);
		ck_assert_int_lt(tls_peer_read(p, &byte, 1), 0);
		tls_peer_close(p);
		tls_chain_counts(&c, "closed_no_server", 1);
		p = tls_chain_opens(&c, &http);
		tls_peer_expect_echo(p, "hello");
		tls_peer_close(p);
		ck_assert(!child_has_said(&c.pen.child, "server blacklisted"));
		tls_chain_down(&c);
		tls_echo_stop(&s);
	}
	tls_chain_end(&c);
}
END_TEST

/* ---- lost requests ---- */

static bool
loses(struct tls_echo *s, SSL *ssl)
{
	char bytes[256];

	(void)s;
	(void)SSL_read(ssl, bytes, sizeof(bytes));
	return false;
}

/* TLS on both sides; a server goes without a word. */
START_TEST(lost_request_goes_elsewhere)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	struct tls_echo_options bad = { .talk = loses };
	struct tls_wish any = { .sni = "a.test" };
	struct tls_echo s[2];
	struct tls_peer *p;

	tls_chain_begin(&c);
	serve(&s[0], c.site, &bad);
	serve(&s[1], c.site, NULL);
	tls_chain_up(&c, text("%s;ssl_cert %s", trusting(), c.site),
	    s[0].backend.at.text, s[1].backend.at.text, NULL);
	p = tls_chain_opens(&c, &any);
	tls_peer_expect_echo(p, get);
	ck_assert_int_eq(tls_chain_count(&c, "requests_retried"), 1);
	ck_assert_uint_eq(look(&s[0]).handshakes, 1);
	tls_peer_expect_echo(p, "more");
	tls_peer_close(p);
	tls_chain_down(&c);
	tls_echo_stop(&s[0]);
	tls_echo_stop(&s[1]);
	tls_chain_end(&c);
}
END_TEST

/* ---- sessions, spares, mixtures ---- */

START_TEST(sessions_are_resumed)
{
	const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_echo_options o = { .min = 0 };
	struct tls_echo s;
	int i;

	tls_chain_begin(&c);
	for (i = 0; i < 2; i++) {
		o.min = o.max = versions[i];
		serve(&s, c.site, &o);
		tls_chain_up(&c, trusting(), s.backend.at.text, NULL);
		served();
		ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 0);
		served();
		served();
		ck_assert_int_eq(tls_chain_count(&c, "tls_up_handshakes"), 3);
		ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 2);
		ck_assert_uint_eq(look(&s).resumed, 2);
		/* not by another name, which would have to be verified */
		tls_chain_tell(&c, "ssl_upstream_name b.test");
		not_served();
		ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 2);
		tls_chain_tell(
		    &c, "no ssl_upstream_name; no ssl_upstream_resume");
		served();
		served();
		ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 2);
		tls_chain_down(&c);
		tls_echo_stop(&s);
	}
	tls_chain_end(&c);
}
END_TEST

/* A session stands for a certificate that was valid when it began. With TLS 1.3
 * each resumption brings another one: there would be no end. */
START_TEST(no_session_outlives_its_certificate)
{
	const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct cert_wish w = { .name = "a.test,IP:127.0.0.1",
		.seconds = 2 + (int)(wait_scaled(400) / 1000) };
	struct tls_echo_options o = { .min = 0 };
	struct tls_echo s[2];
	const char *file;
	time_t over;
	int i;

	NEEDS_ONE_WORKER("each worker keeps sessions of its own");
	tls_chain_begin(&c);
	over = time(NULL) + w.seconds;
	file = tls_chain_cert(&c, "short.pem", w);
	for (i = 0; i < 2; i++) {
		o.min = o.max = versions[i];
		serve(&s[i], file, &o);
	}
	tls_chain_up(&c, text("%s;roundrobin;retry 0", trusting()),
	    s[0].backend.at.text, s[1].backend.at.text, NULL);
	for (i = 0; i < 6; i++)
		served();
	ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 4);
	WAIT_FOR(time(NULL) > over + 1, 10000);
	not_served();
	ck_assert_int_eq(tls_chain_count(&c, "tls_up_resumed"), 4);
	tls_chain_down(&c);
	ck_assert(child_has_said(&c.pen.child, "certificate has expired"));
	for (i = 0; i < 2; i++)
		tls_echo_stop(&s[i]);
	tls_chain_end(&c);
}
END_TEST

/* As pen itself does for its clients: a ticket with each answer. */
static bool
echo_with_tickets(struct tls_echo *s, SSL *ssl)
{
	char buf[1024];
	size_t n, written;

	(void)s;
	while (SSL_read_ex(ssl, buf, sizeof(buf), &n) == 1)
		if (SSL_new_session_ticket(ssl) != 1 ||
		    SSL_write_ex(ssl, buf, n, &written) != 1)
			return false;
	return (SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

static void
become(struct tls_echo *s, const char *cert, const char *context)
{
	ck_assert_int_eq(SSL_CTX_set_session_id_context(s->ctx,
			     (const unsigned char *)context, 4),
	    1);
	ck_assert_int_eq(
	    SSL_CTX_use_certificate_chain_file(s->ctx, cert), 1);
	ck_assert_int_eq(
	    SSL_CTX_use_PrivateKey_file(s->ctx, cert, SSL_FILETYPE_PEM), 1);
}

/* A connection that resumed a session of the old certificate gets a ticket when
 * another connection has one of the new certificate already: it still stands
 * for the old one. */
START_TEST(late_ticket_stands_for_the_old_certificate)
{
	struct cert_wish w = { .name = "a.test,IP:127.0.0.1",
		.seconds = 3 + (int)(wait_scaled(400) / 1000) };
	struct tls_echo_options o = { .min = TLS1_3_VERSION,
		.talk = echo_with_tickets };
	struct tls_echo s;
	const char *file;
	time_t over;
	int fd;

	NEEDS_ONE_WORKER("each worker keeps sessions of its own");
	tls_chain_begin(&c);
	over = time(NULL) + w.seconds;
	file = tls_chain_cert(&c, "short.pem", w);
	serve(&s, file, &o);
	SSL_CTX_set_num_tickets(s.ctx, 0);
	tls_chain_up(&c, trusting(), s.backend.at.text, NULL);
	served();
	fd = endpoint_connect(&c.front);
	WAIT_FOR(look(&s).resumed == 1, 5000);
	become(&s, c.site, "new ");
	served();
	ck_assert_uint_eq(look(&s).resumed, 1);
	become(&s, c.site, "test");
	endpoint_expect_echo(fd, "late");
	close(fd);
	WAIT_FOR(time(NULL) > over + 1, 10000);
	served();
	ck_assert_uint_eq(look(&s).handshakes, 4);
	ck_assert_uint_eq(look(&s).resumed, 1);
	served();
	ck_assert_uint_eq(look(&s).resumed, 2);
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

START_TEST(plain_and_tls_side_by_side)
{
	struct backend plain;
	struct tls_echo s;
	int i;

	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	backend_start(&plain, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c, text("ssl_upstream_ca %s", c.ca_file),
	    s.backend.at.text, plain.at.text, NULL);
	tls_chain_tell(&c, "server 0 tls on");
	for (i = 0; i < 4; i++)
		served();
	ck_assert_uint_eq(look(&s).handshakes, 2);
	ck_assert_int_eq(plain.accepted, 2);
	tls_chain_tell(
	    &c, "ssl_upstream; server 0 tls default; server 1 tls off");
	for (i = 0; i < 4; i++)
		served();
	ck_assert_uint_eq(look(&s).handshakes, 4);
	ck_assert_int_eq(plain.accepted, 4);
	ck_assert_int_eq(tls_chain_count(&c, "retries"), 0);
	tls_chain_down(&c);
	backend_stop(&plain);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* By this setting alone, for a server that is there already. */
START_TEST(switched_on_while_it_runs)
{
	struct backend plain;
	struct tls_echo s;

	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	tls_chain_up(
	    &c, text("ssl_upstream_ca %s", c.ca_file), s.backend.at.text, NULL);
	tls_chain_tell(&c, "ssl_upstream");
	served();
	ck_assert_uint_eq(look(&s).handshakes, 1);
	tls_chain_down(&c);
	tls_echo_stop(&s);

	backend_start(&plain, ENDPOINT_UNIX, backend_echo, NULL);
	tls_chain_up(
	    &c, text("ssl_upstream_ca %s", c.ca_file), plain.at.text, NULL);
	served();
	ck_assert_ptr_nonnull(strstr(tls_chain_ask(&c, "ssl_upstream"),
	    "has no host name to verify: set ssl_upstream_name"));
	tls_chain_down(&c);
	backend_stop(&plain);
	tls_chain_end(&c);
}
END_TEST

/* Spare connections are plain until a client needs one. */
START_TEST(spares)
{
	struct tls_echo s;
	int i;

	NEEDS_ONE_WORKER("each worker has its part of idlers, rounded up");
	tls_chain_begin(&c);
	serve(&s, c.site, NULL);
	tls_chain_up(
	    &c, text("%s;idlers 3", trusting()), s.backend.at.text, NULL);
	WAIT_FOR(s.backend.accepted == 3, 5000);
	for (i = 1; i <= 5; i++) {
		served();
		WAIT_FOR(s.backend.accepted == 3 + i, 5000);
	}
	ck_assert_uint_eq(look(&s).handshakes, 5);
	ck_assert_int_eq(tls_chain_count(&c, "retries"), 0);
	tls_chain_down(&c);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* Those of a server that must not be trusted help nobody, and come to an
 * end. */
START_TEST(spares_of_a_bad_server)
{
	struct tls_echo s, good;

	tls_chain_begin(&c);
	serve(&s, foreign_cert(), NULL);
	serve(&good, c.site, NULL);
	tls_chain_up(&c, text("%s;idlers 8;blacklist 60", trusting()),
	    s.backend.at.text, NULL);
	WAIT_FOR(s.backend.accepted == 8, 5000);
	not_served();
	tls_chain_counts(&c, "closed_no_server", 1);
	ck_assert_int_le(s.backend.accepted, 30);
	tls_chain_down(&c);
	tls_chain_up(&c, text("%s;idlers 8;blacklist 60", trusting()),
	    s.backend.at.text, good.backend.at.text, NULL);
	served();
	tls_chain_down(&c);
	tls_echo_stop(&good);
	tls_echo_stop(&s);
	tls_chain_end(&c);
}
END_TEST

/* nginx closes without close_notify when its client has ended: nobody cut
 * anything off. */
START_TEST(server_that_answers_an_end_by_closing)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	static struct nginx web;
	char got[4096];
	size_t n = 0;
	ssize_t k;
	int fd;

	NEED_PROGRAM("nginx");
	tls_chain_begin(&c);
	nginx_up_with(&web, "all is well", "ssl",
	    text("ssl_certificate %s; ssl_certificate_key %s;", c.site,
		c.site));
	tls_chain_up(&c, trusting(), web.at.text, NULL);
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, get, strlen(get));
	do {
		k = recv(fd, got + n, sizeof(got) - 1 - n, 0);
		ck_assert_int_gt(k, 0);
		n += (size_t)k;
		got[n] = '\0';
	} while (strstr(got, "all is well") == NULL);
	shutdown(fd, SHUT_WR);
	endpoint_expect_end(fd);
	close(fd);
	tls_chain_counts(&c, "closed_done", 1);
	tls_chain_counts(&c, "closed_truncated", 0);
	tls_chain_down(&c);
	tls_chain_end(&c);
	nginx_down(&web);
}
END_TEST

SUITE(test_tls_upstream)
{
	Suite *s = suite_create("tls_upstream");

	SUITE_ADD(s, server_that_answers_an_end_by_closing, 30);

	SUITE_ADD(s, bad_servers_are_passed_over, 30);
	SUITE_ADD(s, nobody_is_to_be_trusted, 30);
	SUITE_ADD(s, restarted_server_is_tried, 30);
	SUITE_ADD(s, names_of_many_addresses, 60);
	SUITE_ADD(s, names, 30);
	SUITE_ADD(s, address_with_a_zone, 30);
	SUITE_ADD(s, unix_servers, 30);
	SUITE_ADD(s, authorities_of_the_system, 30);
	SUITE_ADD_LOOP(s, changed_authorities_are_read, 30, 2);
	SUITE_ADD(s, certificate_for_servers, 30);
	SUITE_ADD(s, bundle_that_becomes_empty, 30);
	SUITE_ADD(s, reason_of_a_refusal, 30);
	SUITE_ADD(s, protocol_of_one_client, 20);
	SUITE_ADD(s, sessions_are_resumed, 30);
	SUITE_ADD(s, no_session_outlives_its_certificate, 30);
	SUITE_ADD(s, late_ticket_stands_for_the_old_certificate, 30);
	SUITE_ADD(s, plain_and_tls_side_by_side, 30);
	SUITE_ADD(s, switched_on_while_it_runs, 20);
	SUITE_ADD(s, spares, 30);
	SUITE_ADD(s, spares_of_a_bad_server, 30);
	SUITE_ADD(s, lost_request_goes_elsewhere, 20);
	return s;
}
