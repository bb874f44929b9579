/* test_tls_settings.c: what is spoken, and with which certificate; changed
 * while it runs. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tlschain.h"
#include "support/wait.h"

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

/* What was agreed on with a client; the answers live until the test ends. */
static const char *
cipher_with(const struct tls_wish *w)
{
	struct tls_peer *p = tls_chain_opens(&c, w);
	const char *cipher;

	tls_peer_expect_echo(p, "hello");
	cipher = text("%s", tls_peer_cipher(p));
	tls_peer_close(p);
	return cipher;
}

static const char *
subject_with(const struct tls_wish *w)
{
	struct tls_peer *p = tls_chain_opens(&c, w);
	const char *subject;

	tls_peer_expect_echo(p, "hello");
	subject = text("%s", tls_peer_subject(p));
	tls_peer_close(p);
	return subject;
}

static const struct tls_wish any;

/* ---- on and off while it runs ---- */

START_TEST(tls_comes_and_goes)
{
	struct tls_peer *p;
	int plain, fd;

	tls_chain_begin(&c);
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	tls_chain_up(&c, "", server.at.text, NULL);
	plain = endpoint_connect(&c.front);
	endpoint_expect_echo(plain, "hello");
	tls_chain_tell(&c, text("ssl_cert %s", c.site));
	tls_chain_talks(&c, &any);
	p = tls_chain_opens(&c, &any);
	tls_peer_expect_echo(p, "hello");
	fd = endpoint_connect(&c.front);
	endpoint_send(fd, "GET / HTTP/1.0\r\n\r\n", 18);
	shutdown(fd, SHUT_WR);
	while (recv(fd, &(char){ 0 }, 1, 0) > 0)
		;
	close(fd);
	tls_chain_counts(&c, "closed_tls_failed", 1);
	/* no cipher: OpenSSL would call it (NONE) */
	WAIT_FOR(child_has_said(&c.pen.child, "reason=tls_failed"), 5000);
	ck_assert_ptr_null(strstr(child_err(&c.pen.child), "(NONE)"));
	endpoint_expect_echo(plain, "still plain");
	tls_chain_tell(&c, "no ssl_cert");
	fd = endpoint_connect(&c.front);
	endpoint_expect_echo(fd, "plain again");
	close(fd);
	tls_peer_expect_echo(p, "still TLS");
	ck_assert(tls_peer_half_close(p));
	tls_peer_expect_end(p);
	tls_peer_close(p);
	close(plain);
	down();
}
END_TEST

/* What is wrong changes nothing. */
START_TEST(bad_settings_change_nothing)
{
	struct tls_wish w = { .ca = NULL, .verify = "a.test" };

	up("");
	w.ca = c.ca_file;
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_ask(&c, text("ssl_cert %s", c.ca_file)), "error"));
	ck_assert_ptr_nonnull(strstr(
	    tls_chain_ask(&c, "ssl_cert /nowhere/x.pem"), "No such file"));
	ck_assert_ptr_nonnull(
	    strstr(tls_chain_ask(&c, "ssl_ciphers nonsense"), "error"));
	tls_chain_talks(&c, &w);
	ck_assert_str_eq(tls_chain_ask(&c, "ssl_cert"), text("%s\n", c.site));
	down();
}
END_TEST

/* ---- versions and ciphers ---- */

START_TEST(versions)
{
	struct tls_wish old = { .max = TLS1_2_VERSION };
	struct tls_wish new = { .min = TLS1_3_VERSION };
	struct tls_wish ancient = { .min = TLS1_1_VERSION,
		.max = TLS1_1_VERSION,
		.ciphers = "ALL:@SECLEVEL=0" };

	up("");
	tls_chain_talks(&c, &old);
	tls_chain_talks(&c, &new);
	refused(&ancient, "protocol version");
	tls_chain_tell(&c, "ssl_min tls1.3");
	refused(&old, "protocol version");
	tls_chain_talks(&c, &new);
	tls_chain_tell(&c, "ssl_min tls1.2; ssl_option no_tlsv1.3");
	tls_chain_talks(&c, &old);
	refused(&new, "protocol version");
	tls_chain_tell(&c, "no ssl_option no_tlsv1.3");
	tls_chain_talks(&c, &new);
	down();
}
END_TEST

#define GCM128 "ECDHE-ECDSA-AES128-GCM-SHA256"
#define GCM256 "ECDHE-ECDSA-AES256-GCM-SHA384"

START_TEST(ciphers)
{
	struct tls_wish w = { .max = TLS1_2_VERSION };

	up("ssl_ciphers " GCM128 ":" GCM256);
	w.ciphers = GCM256 ":" GCM128;
	ck_assert_str_eq(cipher_with(&w), GCM128);
	tls_chain_tell(&c, "no ssl_option cipher_server_preference");
	ck_assert_str_eq(cipher_with(&w), GCM256);
	tls_chain_tell(&c, "ssl_option cipher_server_preference");
	tls_chain_tell(&c, "ssl_ciphers " GCM256);
	ck_assert_str_eq(cipher_with(&w), GCM256);
	w.ciphers = GCM128;
	refused(&w, "handshake failure");
	/* by default nothing without forward secrecy or authentication */
	tls_chain_tell(&c, "no ssl_ciphers");
	ck_assert_str_eq(cipher_with(&w), GCM128);
	w.ciphers = "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256";
	refused(&w, "handshake failure");

	w = (struct tls_wish){ .min = TLS1_3_VERSION };
	tls_chain_tell(&c, "ssl_ciphersuites TLS_CHACHA20_POLY1305_SHA256");
	ck_assert_str_eq(cipher_with(&w), "TLS_CHACHA20_POLY1305_SHA256");
	w.ciphers = "TLS_AES_128_GCM_SHA256";
	refused(&w, "handshake failure");
	tls_chain_tell(&c, "no ssl_ciphersuites");
	ck_assert_str_eq(cipher_with(&w), "TLS_AES_128_GCM_SHA256");
	down();
}
END_TEST

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static long
group_with(const struct tls_wish *w)
{
	struct tls_peer *p = tls_chain_opens(&c, w);
	long group = SSL_get_negotiated_group(tls_peer_ssl(p));

	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
	return group;
}

START_TEST(groups)
{
	up("");
	ck_assert_int_eq(group_with(&any), NID_X25519);
	/* the client has not guessed it: it is asked again */
	tls_chain_tell(&c, "ssl_groups P-384");
	ck_assert_int_eq(group_with(&any), NID_secp384r1);
	down();
}
END_TEST
#endif

/* ---- who may come in ---- */

static void
denied_at_once(void)
{
	int fd = endpoint_connect(&c.front);

	endpoint_expect_reset(fd);
	close(fd);
}

START_TEST(denied_before_the_handshake)
{
	struct tls_peer *p;

	up("acl 1 deny 127.0.0.0/8;client_acl 1");
	denied_at_once();
	tls_chain_counts(&c, "closed_denied", 1);
	/* it is the abuse server's, which talks to whom it knows */
	tls_chain_tell(&c, text("abuse %s", server.at.text));
	p = tls_chain_opens(&c, &any);
	tls_peer_expect_echo(p, "hello");
	tls_peer_close(p);
	tls_chain_tell(&c, "no abuse");
	denied_at_once();
	tls_chain_counts(&c, "tls_handshakes", 1);
	down();
}
END_TEST

/* ---- two certificates side by side ---- */

static void
each_gets_its_own(void)
{
	struct tls_wish w = { .max = TLS1_2_VERSION };

	w.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
	ck_assert_str_eq(subject_with(&w), "CN=rsa.test");
	w.ciphers = GCM128;
	ck_assert_str_eq(subject_with(&w), "CN=ecdsa.test");
	w = (struct tls_wish){ .min = TLS1_3_VERSION };
	w.sigalgs = "RSA-PSS+SHA256";
	ck_assert_str_eq(subject_with(&w), "CN=rsa.test");
	w.sigalgs = "ECDSA+SHA256";
	ck_assert_str_eq(subject_with(&w), "CN=ecdsa.test");
}

START_TEST(rsa_and_ecdsa)
{
	struct cert_wish rsa = { .name = "rsa.test", .rsa = true };
	struct cert_wish ecdsa = { .name = "ecdsa.test" };
	const char *cert[2], *key[2], *all;
	struct cert *x;
	int i;

	tls_chain_begin(&c);
	for (i = 0; i < 2; i++) {
		struct cert_wish *w = i == 0 ? &rsa : &ecdsa;

		w->issuer = c.ca;
		x = cert_new(w);
		cert[i] = cert_write(x, text("%d.pem", i));
		key[i] = cert_write_key(x, text("%d.key", i));
		all = cert_write_all(x, text("%d-all.pem", i));
		cert_free(x);
	}
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	for (i = 0; i < 2; i++) { /* in either order */
		pen_up(&c.pen, &c.front, "-r", "-C", c.ctl.text, "-E", cert[i],
		    "-K", key[i], "-E", cert[!i], "-K", key[!i], c.front.text,
		    server.at.text, NULL);
		each_gets_its_own();
		tls_chain_down(&c);
	}
	/* one after the other, while it runs; keys in the same files */
	tls_chain_up(&c, text("ssl_cert %s", scratch("0-all.pem")),
	    server.at.text, NULL);
	ck_assert_str_eq(subject_with(&any), "CN=rsa.test");
	tls_chain_tell(&c, text("ssl_cert %s", all));
	each_gets_its_own();
	down();
}
END_TEST

/* ---- keys ---- */

/* As of a file fullchain.pem alone; and a key that is cut. */
START_TEST(a_key_is_missing)
{
	struct cert_wish wish = { .name = "a.test,IP:127.0.0.1" };
	struct cert *site = cert_new(&wish);
	const char *cert = cert_write(site, "alone.crt");
	const char *key = scratch("cut.key");

	endpoint_new(&c.front, ENDPOINT_TCP4);
	pen_expect_failure(
	    text("option -E: \"%s\": no private key in it, nor in a file of a "
		 "key\n",
		cert),
	    "-E", cert, c.front.text, "127.0.0.1:9", NULL);
	pen_expect_failure("no private key in the file of the key\n", "-E",
	    cert, "-K", cert, c.front.text, "127.0.0.1:9", NULL);
	/* one is there, if not all of it */
	write_file(key, "-----BEGIN PRIVATE KEY-----\nMIIE\n");
	pen_expect_failure("no usable private key: ", "-E", cert, "-K", key,
	    c.front.text, "127.0.0.1:9", NULL);
	cert_free(site);
}
END_TEST

START_TEST(a_chain_is_the_wrong_way_round)
{
	struct cert_wish wish = { .name = "a.test" };
	struct cert *site;
	const char *file = scratch("round.pem"), *first, *second, *key;

	tls_chain_begin(&c);
	wish.issuer = c.ca;
	site = cert_new(&wish);
	first = text("%s", contents(c.ca_file));
	second = contents(cert_write(site, "site.crt"));
	key = cert_write_key(site, "site.key");
	write_file(file, text("%s%s", first, second));
	pen_expect_failure("key does not match the certificate: it is the "
			   "key of a later certificate in the chain, which "
			   "must come first\n",
	    "-E", file, "-K", key, c.front.text, "127.0.0.1:9", NULL);
	cert_free(site);
	tls_chain_end(&c);
}
END_TEST

/* ---- keys with passwords ---- */

START_TEST(encrypted_keys)
{
	struct cert_wish wish = { .name = "a.test,IP:127.0.0.1" };
	struct cert *site;
	const char *cert, *key, *words;

	tls_chain_begin(&c);
	wish.issuer = c.ca;
	site = cert_new(&wish);
	cert = cert_write(site, "site.crt");
	key = cert_write_encrypted_key(site, "site.key", "open sesame");
	words = scratch("words");
	write_file(words, "wrong\nopen sesame\r\nneither");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	pen_expect_failure("no usable private key: it is encrypted, see "
			   "ssl_password\n",
	    "-E", cert, "-K", key, c.front.text, server.at.text, NULL);
	tls_chain_up(&c,
	    text("ssl_password %s;ssl_cert %s %s", words, cert, key),
	    server.at.text, NULL);
	tls_chain_talks(&c, &any);
	/* a new password for a new key: both files have changed */
	(void)cert_write_encrypted_key(site, "site.key", "neither");
	tls_chain_tell(&c, "reload");
	tls_chain_talks(&c, &any);
	write_file(words, "wrong");
	ck_assert_ptr_nonnull(strstr(
	    tls_chain_ask(&c, text("ssl_cert %s %s", cert, scratch("no"))),
	    "error: "));
	tls_chain_talks(&c, &any);
	pen_expect_failure("no usable private key: no password of "
			   "ssl_password decrypts it: ",
	    "-E", cert, "-K", key, "--key-password", words, c.front.text,
	    server.at.text, NULL);
	cert_free(site);
	down();
}
END_TEST

/* ---- certificates that are of no use ---- */

static void
check_says(
    const char *what, const char *option, const char *file, const char *other)
{
	struct endpoint front;
	const char *argv[] = { getenv("PEN"), "--check", front.text,
		"127.0.0.1:9", option, file, other != NULL ? option : NULL,
		other, NULL };
	struct child child;

	endpoint_new(&front, ENDPOINT_TCP4);
	child_start(&child, argv);
	ck_assert_int_eq(child_wait(&child, 10000), 0);
	if (what == NULL)
		ck_assert_str_eq(child_err(&child), "");
	else
		ck_assert_msg(strstr(child_err(&child), what) != NULL,
		    "wanted \"%s\", got \"%s\"", what, child_err(&child));
}

static const char *
some_certificate(const char *name, int days, bool rsa)
{
	struct cert_wish wish = { .name = name, .days = days, .rsa = rsa };
	struct cert *one = cert_new(&wish);
	const char *file = cert_write_all(one, text("%s.pem", name));

	cert_free(one);
	return file;
}

/* --check has the warnings of a start. */
START_TEST(useless_certificates)
{
	const char *good = some_certificate("good", 30, false);
	const char *old = some_certificate("old", -1, false);
	const char *soon = some_certificate("soon", 5, false);
	const char *rsa = some_certificate("rsa", 30, true);
	const char *empty = scratch("empty");

	ck_assert_int_eq(mkdir(empty, 0700), 0);
	check_says(NULL, "-E", good, NULL);
	check_says("certificate has expired name=old file=", "-E", old, NULL);
	check_says("certificate expires name=soon file=", "-E", soon, NULL);
	check_says("no certificate, all clients are refused path=",
	    "--sni-path", empty, NULL);
	/* one of each kind of key */
	check_says(NULL, "-E", good, rsa);
	check_says(
	    text("certificate not used name=good file=%s error=\"a later "
		 "ssl_cert has a key of the same kind, see ssl_sni_path\"\n",
		good),
	    "-E", good, soon);
}
END_TEST

/* ---- names that are refused ---- */

START_TEST(refused_names)
{
	static const char *const bad[] = { "old.test", "OLD.test",
		"x.gone.test", "x.y.gone.test", "old.test.", "x.gone.test.",
		"dot.test" };
	static const char *const good[] = { "a.test", "gone.test",
		"very-old.test", "old.test.a", "xgone.test" };
	struct tls_wish w = { .sni = NULL };
	size_t i;

	up("ssl_refuse_names \"old.test, *.gone.test,dot.test.\"");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w.sni = bad[i];
		refused(&w, "unrecognized name");
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		w.sni = good[i];
		tls_chain_talks(&c, &w);
	}
	tls_chain_talks(&c, &any);
	tls_chain_tell(&c, "no ssl_refuse_names");
	w.sni = "old.test";
	tls_chain_talks(&c, &w);
	down();
}
END_TEST

SUITE(test_tls_settings)
{
	Suite *s = suite_create("tls_settings");

	SUITE_ADD(s, tls_comes_and_goes, 20);
	SUITE_ADD(s, bad_settings_change_nothing, 20);
	SUITE_ADD(s, versions, 20);
	SUITE_ADD(s, ciphers, 30);
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	SUITE_ADD(s, groups, 20);
#endif
	SUITE_ADD(s, denied_before_the_handshake, 20);
	SUITE_ADD(s, rsa_and_ecdsa, 30);
	SUITE_ADD(s, a_key_is_missing, 20);
	SUITE_ADD(s, a_chain_is_the_wrong_way_round, 20);
	SUITE_ADD(s, encrypted_keys, 30);
	SUITE_ADD(s, useless_certificates, 30);
	SUITE_ADD(s, refused_names, 30);
	return s;
}
