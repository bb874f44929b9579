/* test_checks_tls.c: health checks over TLS: a certificate that clients would
 * not get through with takes the server out. */
#include "config.h"

#include <string.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

static struct tls_chain c;
static struct tls_echo s[2];

static bool
says(const char *what)
{
	return strstr(tls_chain_ask(&c, "checks"), what) != NULL;
}

#define BECOMES(what) WAIT_FOR(says(what), 10000)

/* Pen in front of both, with fast checks; then these commands. */
static void
up(const char *commands)
{
	tls_chain_up(&c,
	    text("ssl_upstream_ca %s;check_interval 50ms;check_fall 1;"
		 "check_rise 1;%s",
		c.ca_file, commands),
	    s[0].backend.at.text, s[1].backend.at.text, NULL);
}

/* Two servers; the second has that certificate. */
static void
begin(const char *second, const char *commands)
{
	tls_echo_start(&s[0], c.site, c.site, NULL);
	tls_echo_start(&s[1], second, second, NULL);
	up(commands);
}

static void
end(void)
{
	tls_chain_down(&c);
	tls_echo_stop(&s[0]);
	tls_echo_stop(&s[1]);
	tls_chain_end(&c);
}

/* The server notes a name only when the handshake is over. */
static bool
has_heard(struct tls_echo *x, const char *name)
{
	struct tls_seen seen;

	tls_echo_look(x, &seen);
	return strcmp(seen.sni, name) == 0;
}

/* Traffic to the servers is plain, but their certificates are good or not. */
START_TEST(wrong_certificate_takes_a_server_out)
{
	tls_chain_begin(&c);
	begin(tls_chain_cert(
		  &c, "other.pem", (struct cert_wish){ .name = "other.test" }),
	    "check tls");
	BECOMES("0 check tls state up result ok");
	BECOMES("1 check tls state down result failed");
	ck_assert(says("TLS: "));
	tls_chain_tell(&c, "server 1 check tls name other.test");
	BECOMES("1 check tls state up result ok");
	WAIT_FOR(has_heard(&s[1], "other.test"), 5000);
	tls_chain_tell(&c, "server 1 check tls name another.test");
	BECOMES("1 check tls state down result failed");
	tls_chain_tell(&c, "server 1 check tls noverify");
	BECOMES("1 check tls state up result ok");
	end();
}
END_TEST

/* A session that is resumed would hide it. */
START_TEST(old_certificate_takes_a_server_out)
{
	struct tls_seen seen;

	tls_chain_begin(&c);
	begin(tls_chain_cert(&c, "old.pem",
		  (struct cert_wish){
		      .name = "a.test,IP:127.0.0.1", .days = -1 }),
	    "check tls noverify");
	BECOMES("1 check tls state up result ok");
	tls_chain_tell(&c, "check tls verify");
	BECOMES("1 check tls state down result failed");
	ck_assert(says("expired"));
	BECOMES("0 check tls state up result ok");
	tls_echo_look(&s[0], &seen);
	ck_assert_uint_eq(seen.resumed, 0);
	ck_assert_ptr_nonnull(strstr(
	    tls_chain_ask(&c, "no ssl_upstream_verify; check tls verify"),
	    "ssl_upstream_verify is off"));
	/* a path is in no certificate */
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_ask(&c, text("server 2 address %s", scratch("s"))),
		"check tls has no host name to verify: add name HOST"));
	tls_chain_tell(&c, text("server 2 address %s check off", scratch("s")));
	tls_chain_tell(&c, "server 2 check tls name a.test");
	ck_assert_ptr_nonnull(strstr(
	    tls_chain_ask(&c, "server 2 check https /"), "no host name"));
	tls_chain_tell(&c, "ssl_upstream_name a.test; server 2 check https /");
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_ask(&c, "no ssl_upstream_name"), "no host name"));
	end();
}
END_TEST

static bool
answers(struct tls_echo *x, SSL *ssl)
{
	static const char well[] = "HTTP/1.1 200 OK\r\n\r\nwell";
	char request[1000];

	(void)x;
	if (SSL_read(ssl, request, sizeof(request)) <= 0)
		return false;
	(void)SSL_write(ssl, well, sizeof(well) - 1);
	(void)SSL_shutdown(ssl);
	return true;
}

START_TEST(questions_go_over_tls)
{
	struct tls_echo_options o = { .talk = answers };

	tls_chain_begin(&c);
	tls_echo_start(&s[0], c.site, c.site, &o);
	tls_echo_start(&s[1], c.site, c.site, NULL);
	up("");
	tls_chain_tell(&c, "server 0 check https / body well");
	BECOMES("0 check https state up result ok");
	tls_chain_tell(&c, "server 1 check send abc expect bc tls");
	BECOMES("1 check send state up result ok");
	tls_chain_tell(&c, "server 0 check https / body bad");
	BECOMES("0 check https state down result failed");
	tls_chain_tell(&c, "server 0 check http /");
	BECOMES("0 check http state down result failed");
	end();
}
END_TEST

/* With TLS 1.3 its alert comes after the handshake. */
START_TEST(server_that_misses_a_certificate)
{
	struct tls_echo_options o = { 0 };

	tls_chain_begin(&c);
	o.client_ca = c.ca_file;
	tls_echo_start(&s[0], c.site, c.site, &o);
	tls_echo_start(&s[1], c.site, c.site, NULL);
	up("check https /");
	BECOMES("0 check https state down result failed");
	ck_assert(says("TLS: tlsv13 alert certificate required"));
	end();
}
END_TEST

SUITE(test_checks_tls)
{
	Suite *suite = suite_create("checks_tls");

	SUITE_ADD(suite, wrong_certificate_takes_a_server_out, 20);
	SUITE_ADD(suite, old_certificate_takes_a_server_out, 20);
	SUITE_ADD(suite, questions_go_over_tls, 20);
	SUITE_ADD(suite, server_that_misses_a_certificate, 20);
	return suite;
}
