/* test_tls_programs.c: TLS spoken with the programs people use, towards clients
 * and towards servers. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct identity id;
static struct nginx web;
static struct endpoint front, ctl;
static struct pen pen;

/* Nothing of the user's is to change what it does. */
#define CURL "curl", "-qsS", "--noproxy", "*", "--cacert", id.ca

static const char *
url(const char *path)
{
	return text("https://localhost:%d/%s", front.port, path);
}

static void
endpoints(void)
{
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

/* pen in front of nginx, which sees no TLS. */
static void
web_up(void)
{
	identity_new(&id, "localhost,IP:127.0.0.1");
	endpoints();
	nginx_up(&web, "hello");
	pen_up(&pen, &front, "-C", ctl.text, "-r", "-E", id.ec, "-E", id.rsa,
	    front.text, web.at.text, NULL);
}

static void
web_down(void)
{
	pen_down(&pen);
	nginx_down(&web);
}

/* pen's own word; it listens there a moment after `front`. */
static const char *
ask(const char *line)
{
	WAIT_FOR(endpoint_is_listening(&ctl), 10000);
	return endpoint_ask(&ctl, text("%s\n", line));
}

static long
counter(const char *name)
{
	return report_number(ask("statistics"), text("\n%s ", name));
}

static void
expect_failure(int status, const char *says, const char *const argv[])
{
	struct child c;

	child_start(&c, argv);
	ck_assert_msg(child_wait(&c, 20000) == status, "%s: exit %d: %s",
	    argv[0], c.status, child_err(&c));
	ck_assert_msg(child_has_said(&c, says), "%s", child_err(&c));
}

static void
write_pattern(const char *path, long bytes)
{
	static char buf[1 << 16];
	FILE *f = fopen(path, "w");
	long at;

	ck_assert_ptr_nonnull(f);
	for (at = 0; at < bytes; at += (long)sizeof(buf)) {
		pattern_fill(5, (uint64_t)at, buf, sizeof(buf));
		ck_assert_uint_eq(fwrite(buf, 1, sizeof(buf), f), sizeof(buf));
	}
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(curl_talks_every_version)
{
	static const char *const rows[][2] = {
		{ "--tls-max", "1.2" },
		{ "--tlsv1.3", "--http1.1" },
		{ "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256" },
		{ "--ciphers", "ECDHE-ECDSA-CHACHA20-POLY1305" },
	};
	size_t i;

	NEED_PROGRAM("curl");
	NEED_PROGRAM("nginx");
	web_up();
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		ck_assert_str_eq(
		    run_program(20000, CURL, "-w", " %{http_version}",
			rows[i][0], rows[i][1],
			i < 2 ? "--http1.1" : "--tls-max",
			i < 2 ? "--http1.1" : "1.2", url(""), NULL),
		    "hello 1.1");
	ck_assert_int_eq(counter("tls_handshakes"), (long)i);
	/* who does not trust our authority, or asks too old a version */
	expect_failure(60, "certificate",
	    (const char *[]){
		"curl", "-qsS", "--noproxy", "*", url(""), NULL });
	expect_failure(35, "",
	    (const char *[]){ CURL, "--tls-max", "1.1", "--ciphers",
		"DEFAULT:@SECLEVEL=0", url(""), NULL });
	web_down();
}
END_TEST

START_TEST(curl_moves_big_files)
{
	const char *sent = scratch("sent"), *got = scratch("got");

	NEED_PROGRAM("curl");
	NEED_PROGRAM("nginx");
	web_up();
	write_pattern(sent, suite_amount(64, 4) << 20);
	(void)run_program(
	    100000, CURL, "-f", "-T", sent, url("files/big"), NULL);
	(void)run_program(
	    100000, CURL, "-f", "-o", got, url("files/big"), NULL);
	(void)run_program(20000, "cmp", sent, got, NULL);
	web_down();
}
END_TEST

/* nghttpd has no TLS in the first round, its own in the second. */
static void
http2_up(struct child *server, bool secure, const char *root)
{
	struct endpoint at;
	const char *plain[] = { child_find("nghttpd"), "-a", "127.0.0.1", "-d",
		root, "--no-tls", NULL, NULL };
	const char *tls[] = { child_find("nghttpd"), "-a", "127.0.0.1", "-d",
		root, NULL, id.rsa, id.rsa, NULL };

	identity_new(&id, "localhost,IP:127.0.0.1");
	endpoints();
	endpoint_new(&at, ENDPOINT_TCP4);
	plain[6] = tls[5] = text("%d", at.port);
	tls[6] = tls[7] = id.rsa;
	ck_assert_int_eq(mkdir(root, 0755), 0);
	write_file(text("%s/page", root), "two");
	write_pattern(text("%s/big", root), 4 << 20);
	child_start(server, secure ? tls : plain);
	WAIT_FOR(child_has_ended(server) || endpoint_is_listening(&at), 10000);
	ck_assert_msg(server->running, "nghttpd: %s", child_err(server));
	pen_up(&pen, &front, "-C", ctl.text, "-r", "-E", id.ec, "--alpn",
	    "h2,http/1.1", "--upstream-ca", id.ca, "-O",
	    secure ? "ssl_upstream" : "no ssl_upstream", front.text, at.text,
	    NULL);
}

START_TEST(http2_passes)
{
	const char *root = scratch("root"), *got = scratch("got"), *out;
	long n = suite_amount(4000, 500);
	struct child server;

	NEED_PROGRAM("nghttpd");
	NEED_PROGRAM("nghttp");
	NEED_PROGRAM("h2load");
	NEED_PROGRAM("curl");
	http2_up(&server, _i == 1, root);
	ck_assert_str_eq(run_program(20000, CURL, "--http2", "-w",
			     " %{http_version}", url("page"), NULL),
	    "two 2");
	(void)run_program(
	    20000, CURL, "--http2", "-f", "-o", got, url("big"), NULL);
	(void)run_program(10000, "cmp", text("%s/big", root), got, NULL);
	/* it refuses a server that does not choose h2 */
	ck_assert_str_eq(
	    run_program(20000, "nghttp", "-m", "3", url("page"), NULL),
	    "twotwotwo");
	out = run_program(100000, "h2load", "-n", text("%ld", n), "-c", "10",
	    "-m", "10", url("page"), NULL);
	ck_assert_int_eq(report_number(out, "done, "), n);
	ck_assert_int_eq(report_number(out, "succeeded, "), 0);
	ck_assert_int_eq(report_number(out, "failed, "), 0);
	ck_assert_int_eq(report_number(out, "errored, "), 0);
	ck_assert_ptr_nonnull(strstr(out, "Application protocol: h2"));
	ck_assert_int_eq(counter("tls_handshakes"), 13);
	ck_assert_int_eq(counter("closed_tls_failed"), 0);
	pen_down(&pen);
	child_stop(&server, SIGTERM);
}
END_TEST

/* It goes on until the server has said all, so tickets have come by then. */
static const char *
s_client(const char *options)
{
	return run_program(20000, "sh", "-c",
	    text("printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client"
		 " -connect %s -CAfile %s -verify_return_error -ign_eof %s",
		front.text, id.ca, options),
	    NULL);
}

START_TEST(s_client_resumes)
{
	static const char *const versions[] = { "-tls1_2", "-tls1_3" };
	const char *session = scratch("session"), *out, *v = versions[_i % 2];
	const char *new = _i % 2 == 0 ? "New, TLSv1.2" : "New, TLSv1.3";
	const char *again = _i % 2 == 0 ? "Reused, TLSv1.2" : "Reused, TLSv1.3";

	NEED_PROGRAM("openssl");
	NEED_PROGRAM("nginx");
	web_up();
	if (_i >= 2) { /* pen remembers, not the client */
		ck_assert_str_eq(ask("no ssl_tickets"), "");
		ck_assert_str_eq(ask("ssl_session_cache 10"), "10\n");
	}
	out = s_client(text("%s -sess_out %s", v, session));
	ck_assert_msg(strstr(out, new) != NULL, "%s", out);
	out = s_client(text("%s -sess_in %s", v, session));
	ck_assert_msg(strstr(out, again) != NULL, "%s", out);
	ck_assert_ptr_nonnull(strstr(out, "hello"));
	ck_assert_int_eq(counter("tls_handshakes"), 2);
	ck_assert_int_eq(counter("tls_resumed"), 1);
	out = s_client(v);
	ck_assert_msg(strstr(out, new) != NULL, "%s", out);
	web_down();
}
END_TEST

START_TEST(s_client_chooses_names_and_protocols)
{
	const char *dir = scratch("names"), *out;
	struct identity other;

	NEED_PROGRAM("openssl");
	NEED_PROGRAM("nginx");
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	identity_new(&other, "other.test");
	web_up();
	ck_assert_int_eq(rename(other.rsa, text("%s/other.test.pem", dir)), 0);
	ck_assert_str_eq(ask(text("ssl_sni_path %s", dir)), "");
	ck_assert_str_eq(ask("ssl_alpn h2,http/1.1"), "");
	out = s_client("-servername localhost -verify_hostname localhost"
		       " -alpn http/1.1,h2");
	ck_assert_ptr_nonnull(strstr(out, "ALPN protocol: h2"));
	out = s_client("-noservername -verify_ip 127.0.0.1 -alpn http/1.1");
	ck_assert_ptr_nonnull(strstr(out, "ALPN protocol: http/1.1"));
	id = other;
	out = s_client("-servername other.test -verify_hostname other.test");
	ck_assert_ptr_nonnull(strstr(out, "Verified peername: other.test"));
	ck_assert_ptr_nonnull(strstr(out, "No ALPN negotiated"));
	web_down();
}
END_TEST

START_TEST(gnutls_believes_and_resumes)
{
	const char *priority = _i == 0 ? "NORMAL:-VERS-ALL:+VERS-TLS1.2"
				       : "NORMAL:-VERS-ALL:+VERS-TLS1.3";
	const char *out;

	NEED_PROGRAM("gnutls-cli");
	NEED_PROGRAM("nginx");
	web_up();
	out = run_program(20000, "sh", "-c",
	    text("printf 'GET / HTTP/1.0\\r\\n\\r\\n' | gnutls-cli %s "
		 "--x509cafile %s --priority %s -p %d localhost",
		_i == 0 ? "-r" : "", id.ca, priority, front.port),
	    NULL);
	ck_assert_msg(
	    strstr(out, "The certificate is trusted") != NULL, "%s", out);
	/* Tickets of TLS 1.3 go with the first bytes for the client, and this
	 * one connects again before it has sent its request. */
	ck_assert_msg((strstr(out, "*** This is a resumed session") != NULL) ==
		(_i == 0), "%s", out);
	ck_assert_ptr_nonnull(strstr(out, _i == 0 ? "TLS1.2" : "TLS1.3"));
	ck_assert_ptr_nonnull(strstr(out, "hello"));
	ck_assert_int_eq(counter("tls_resumed"), _i == 0);
	web_down();
}
END_TEST

/* nginx has TLS of its own; `ca` is whom pen trusts with it. */
static void
tls_config_web_up(const char *ca, bool tls_config_front)
{
	const char *argv[] = { "-f", "-C", ctl.text, "--upstream-tls",
		"--upstream-ca", ca, "--upstream-name", "localhost", "-r",
		front.text, web.at.text, NULL, NULL, NULL, NULL };

	if (tls_config_front) {
		argv[9] = "-E";
		argv[10] = id.ec;
		argv[11] = front.text;
		argv[12] = web.at.text;
	}
	pen_up_words(&pen, &front, argv);
}

static void
expect_page(const char *at)
{
	ck_assert_str_eq(run_program(20000, CURL, at, NULL), "hello");
	ck_assert_str_eq(
	    run_program(20000, CURL, "--tlsv1.3", at, NULL), "hello");
}

START_TEST(nginx_as_a_secure_server)
{
	struct identity stranger;
	const char *plain;
	int fd;

	NEED_PROGRAM("curl");
	NEED_PROGRAM("nginx");
	identity_new(&id, "localhost");
	identity_new(&stranger, "localhost");
	endpoints();
	nginx_up_with(&web, "hello", "ssl",
	    text("ssl_certificate %s; ssl_certificate_key %s;"
		 " ssl_protocols %s;",
		id.rsa, id.rsa, _i == 0 ? "TLSv1.2" : "TLSv1.3"));
	plain = text("http://%s/", front.text);
	tls_config_web_up(id.ca, false);
	expect_page(plain);
	pen_down(&pen);
	tls_config_web_up(id.ca, true);
	expect_page(url(""));
	pen_down(&pen);
	/* one that cannot prove who it is */
	tls_config_web_up(stranger.ca, false);
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	WAIT_FOR(child_has_said(&pen.child, "certificate"), 5000);
	pen_down(&pen);
	nginx_down(&web);
}
END_TEST

/* _i: TLS in front, and behind. */
START_TEST(load_without_a_failure)
{
	const char *wrk, *ab, *n = text("%ld", suite_amount(1000, 200));
	const char *at;
	bool keep;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("wrk");
	NEED_PROGRAM("ab");
	if (_i == 0) {
		web_up();
	} else {
		identity_new(&id, "localhost,IP:127.0.0.1");
		endpoints();
		nginx_up_with(&web, "hello", "ssl",
		    text("ssl_certificate %s; ssl_certificate_key %s;", id.ec,
			id.ec));
		tls_config_web_up(id.ca, true);
	}
	at = text("https://%s/", front.text);
	for (keep = false;; keep = true) {
		ab = run_program(200000, "ab", "-q", "-n", n, "-c", "20",
		    keep ? "-k" : "-r", at, NULL);
		ck_assert_int_eq(
		    report_number(ab, "Complete requests:"), atol(n));
		ck_assert_int_eq(report_number(ab, "Failed requests:"), 0);
		ck_assert_ptr_null(strstr(ab, "Non-2xx"));
		printf("ab%s: %ld requests a second\n", keep ? " -k" : "",
		    report_number(ab, "Requests per second:"));
		if (keep)
			break;
		/* ab connects more often than it asks, and leaves in the middle
		 * of those handshakes when it is done. */
		ck_assert_int_le(counter("closed_tls_failed"),
		    counter("accepted") - atol(n));
	}
	wrk = run_program(60000, "wrk", "-t", "1", "-c", "20", "-d", "1s",
	    "--timeout", "20s", at, NULL);
	ck_assert_msg(strstr(wrk, "Socket errors") == NULL, "%s", wrk);
	ck_assert_msg(strstr(wrk, "Non-2xx") == NULL, "%s", wrk);
	ck_assert_int_gt(report_number(wrk, "Requests/sec:"), 0);
	printf("wrk: %ld requests a second\n",
	    report_number(wrk, "Requests/sec:"));
	web_down();
}
END_TEST

static void
add(Suite *s, const char *name, const TTest *test, int rounds)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, test, 0, rounds);
	suite_add_tcase(s, c);
}

SUITE(test_tls_programs)
{
	Suite *s = suite_create("tls_programs");

	SUITE_ADD(s, curl_talks_every_version, 60);
	SUITE_ADD(s, curl_moves_big_files, 120);
	add(s, "http2", http2_passes, 2);
	add(s, "s_client", s_client_resumes, 4);
	SUITE_ADD(s, s_client_chooses_names_and_protocols, 60);
	add(s, "gnutls", gnutls_believes_and_resumes, 2);
	add(s, "nginx", nginx_as_a_secure_server, 2);
	add(s, "load", load_without_a_failure, 2);
	return s;
}
