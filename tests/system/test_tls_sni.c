/* test_tls_sni.c: a certificate for each name that clients ask for. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlshello.h"
#include "support/tlspeer.h"
#include "support/wait.h"

/* RFC 6066, 3 */
enum { UNRECOGNIZED_NAME = 112 };

static struct certdir dir;
static struct backend server;
static struct endpoint front, ctl;
static struct pen pen;

static void
begin(void)
{
	certdir_make(&dir, "d");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static const char *
sni_path(void)
{
	return text("ssl_sni_path %s", dir.path);
}

/* A certificate for those who ask for no name of the directory. */
static const char *
ordinary(void)
{
	return cert_write_all(dir.first, "first.pem");
}

/* pen with the directory, `more` and `cert` (NULL: without). */
static void
up(const char *cert, const char *more)
{
	if (cert != NULL)
		pen_up(&pen, &front, "-r", "-C", ctl.text, "-E", cert, "-O",
		    sni_path(), "-O", more, front.text, server.at.text, NULL);
	else
		pen_up(&pen, &front, "-r", "-C", ctl.text, "-O", sni_path(),
		    "-O", more, front.text, server.at.text, NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&server);
	certdir_forget(&dir);
}

static struct tls_peer *
opens(const struct tls_wish *w)
{
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), w);

	ck_assert_msg(p != NULL, "%s: %s", w->sni != NULL ? w->sni : "-",
	    tls_peer_error());
	return p;
}

static void
gets(const char *name, const char *whose)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_wish w = { .sni = name };
	struct tls_peer *p;
	int i;

	for (i = 0; i < 2; i++) {
		w.min = w.max = versions[i];
		p = opens(&w);
		ck_assert_str_eq(tls_peer_subject(p), text("CN=%s", whose));
		tls_peer_expect_echo(p, "hello");
		tls_peer_close(p);
	}
}

static void
refused(const char *name)
{
	struct tls_wish w = { .sni = name, .max = TLS1_2_VERSION };
	int i;

	for (i = 0; i < 2; i++) {
		ck_assert_ptr_null(tls_peer_open(endpoint_connect(&front), &w));
		ck_assert_msg(
		    strstr(tls_peer_error(), "unrecognized name") != NULL, "%s",
		    tls_peer_error());
		w.max = 0;
	}
}

static void
put_some(void)
{
	certdir_put(&dir, "a.test.pem", "a.test");
	certdir_put_parts(&dir, "parts.test");
	certdir_put(&dir, "*.b.test.pem", "star.b.test");
	certdir_put(&dir, "_.c.test.pem", "low.c.test");
	certdir_put(&dir, "x.b.test.pem", "x.b.test");
}

static void
gets_some(void)
{
	gets("a.test", "a.test");
	gets("parts.test", "parts.test");
	gets("A.Test.", "a.test");
	gets("y.b.test", "star.b.test");
	gets("x.b.test", "x.b.test");
	gets("y.c.test", "low.c.test");
}

START_TEST(by_name)
{
	const char *said;
	char longest[256];

	NEEDS_ONE_WORKER("each worker counts the uses of certificates");
	begin();
	put_some();
	up(ordinary(), "no ssl_strict_sni");
	gets_some();
	gets(NULL, "first.test");
	gets("first.test", "first.test");
	gets("unknown.test", "first.test");
	gets("y.x.b.test", "first.test");
	gets("b.test", "first.test");
	gets("../d/a.test", "first.test");
	memset(longest, 'a', 255);
	longest[255] = '\0';
	gets(longest, "first.test");
	/* of each handshake with a name, both versions of TLS */
	said = strstr(endpoint_ask(&ctl, "certs\n"), "\na.test ");
	ck_assert_ptr_nonnull(said);
	said = strstr(said, " used ");
	ck_assert_ptr_nonnull(said);
	ck_assert_msg(strncmp(said, " used 4\n", 8) == 0, "%.20s", said);
	end();
}
END_TEST

START_TEST(strict)
{
	struct tls_hello h;

	begin();
	put_some();
	up(ordinary(), "ssl_strict_sni");
	gets_some();
	refused("unknown.test");
	refused("first.test");
	refused(NULL);
	refused("../d/a.test");
	tls_hello_make(&h, "unknown.test");
	ck_assert_int_eq(tls_hello_say(&h, &front), UNRECOGNIZED_NAME);
	gets("a.test", "a.test");
	/* while it runs */
	endpoint_ask(&ctl, "no ssl_strict_sni\n");
	gets("unknown.test", "first.test");
	gets(NULL, "first.test");
	gets("a.test", "a.test");
	ck_assert_int_eq(tls_hello_say(&h, &front), TLS_HELLO_ANSWERED);
	end();
}
END_TEST

START_TEST(no_default)
{
	begin();
	put_some();
	up(NULL, "no ssl_strict_sni");
	gets_some();
	refused("unknown.test");
	refused(NULL);
	/* even an empty directory is enough to begin with */
	endpoint_ask(&ctl, text("ssl_sni_path %s\n", scratch("")));
	refused("a.test");
	endpoint_ask(&ctl, text("%s\n", sni_path()));
	gets_some();
	end();
}
END_TEST

/* ---- stapled responses ---- */

static void
staples(const char *name, const char *file)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	struct tls_wish w = { .sni = name, .ocsp = true };
	const unsigned char *got;
	struct tls_peer *p;
	char want[4096];
	size_t n;
	FILE *f;
	int i;

	for (i = 0; i < 2; i++) {
		w.min = w.max = versions[i];
		p = opens(&w);
		got = tls_peer_ocsp(p, &n);
		if (file == NULL)
			ck_assert_ptr_null(got);
		else {
			ck_assert_ptr_nonnull(got);
			f = fopen(file, "r");
			ck_assert_ptr_nonnull(f);
			ck_assert_uint_eq(
			    fread(want, 1, sizeof(want), f), n);
			ck_assert_int_eq(memcmp(got, want, n), 0);
			fclose(f);
		}
		tls_peer_expect_echo(p, "hello");
		tls_peer_close(p);
	}
}

/* A certificate in the directory, and a response for it. */
static const char *
put_stapled(const char *name, int days)
{
	struct cert *x = cert_new(&(struct cert_wish){
	    .name = name, .key_of = dir.first, .days = days });
	const char *path = certdir_file(&dir, text("%s.ocsp", name));

	cert_write_all(x, certdir_file(&dir, text("%s.pem", name)));
	cert_write_ocsp(x, path);
	cert_free(x);
	return path;
}

START_TEST(stapled)
{
	const char *a, *all = scratch("ordinary.ocsp");
	struct tls_wish w = { .sni = "a.test" };
	struct tls_peer *p;
	size_t n;

	NEEDS_ONE_WORKER("each worker has its own time to read a file again");
	begin();
	put_some();
	a = put_stapled("a.test", 30);
	cert_write_ocsp(dir.first, all);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-E", ordinary(), "-O",
	    sni_path(), "-O", text("ssl_ocsp_response %s", all), "-O",
	    "ssl_watch 0.01", front.text, server.at.text, NULL);
	staples("a.test", a);
	staples("unknown.test", all);
	staples(NULL, all);
	staples("x.b.test", NULL);
	staples("y.b.test", NULL);
	/* nobody gets one who has not asked */
	p = opens(&w);
	ck_assert_ptr_null(tls_peer_ocsp(p, &n));
	tls_peer_close(p);
	/* of the file, and when it changes */
	cert_write_ocsp(dir.first, all);
	WAIT_FOR(child_has_said(&pen.child, "certificates replaced"), 10000);
	staples("unknown.test", all);
	staples("a.test", a);
	put_stapled("*.b.test", 30);
	a = put_stapled("a.test", 30);
	endpoint_ask(&ctl, "reload\n");
	staples("a.test", a);
	staples("y.b.test", certdir_file(&dir, "*.b.test.ocsp"));
	staples("x.b.test", NULL);
	end();
}
END_TEST

static bool
has_response(const char *name)
{
	struct tls_wish w = { .sni = name, .ocsp = true };
	struct tls_peer *p = opens(&w);
	bool has;
	size_t n;

	has = tls_peer_ocsp(p, &n) != NULL;
	tls_peer_close(p);
	return has;
}

/* Clients would refuse it then. pen may be too slow to read it before. */
START_TEST(response_that_expires)
{
	enum { LEFT_S = 2 };
	struct cert *x;

	begin();
	x = cert_new(
	    &(struct cert_wish){ .name = "a.test", .key_of = dir.first });
	cert_write_all(x, certdir_file(&dir, "a.test.pem"));
	cert_write_short_ocsp(x, certdir_file(&dir, "a.test.ocsp"), LEFT_S);
	cert_write_short_ocsp(dir.first, scratch("short.ocsp"), LEFT_S);
	cert_free(x);
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-E", ordinary(), "-O",
	    sni_path(), "-O",
	    text("ssl_ocsp_response %s", scratch("short.ocsp")), front.text,
	    server.at.text, NULL);
	WAIT_FOR(!has_response("a.test"), 10000);
	WAIT_FOR(!has_response(NULL), 10000);
	end();
}
END_TEST

static void
says(const char *what)
{
	const char *said = child_err(&pen.child);

	ck_assert_msg(strstr(said, what) != NULL, "%s", said);
}

/* What clients would refuse is said, and they get none. */
START_TEST(bad_responses_are_not_stapled)
{
	const char *all = scratch("ordinary.ocsp");

	begin();
	put_stapled("a.test", 30);
	write_file(certdir_file(&dir, "a.test.ocsp"), "hello\n");
	put_stapled("old.test", -1);
	put_stapled("other.test", 30);
	ck_assert_int_eq(
	    rename(certdir_file(&dir, "other.test.ocsp"), all), 0);
	up(ordinary(), text("ssl_ocsp_response %s", all));
	says("name=a.test error=\"no OCSP response in DER\"");
	says("name=old.test error=\"an OCSP response that has expired\"");
	says(text("not stapled file=%s error=\"an OCSP response for another ",
	    all));
	staples("a.test", NULL);
	staples("old.test", NULL);
	staples("unknown.test", NULL);
	end();
}
END_TEST

SUITE(test_tls_sni)
{
	Suite *s = suite_create("tls_sni");

	SUITE_ADD(s, by_name, 30);
	SUITE_ADD(s, strict, 30);
	SUITE_ADD(s, no_default, 30);
	SUITE_ADD(s, stapled, 30);
	SUITE_ADD(s, response_that_expires, 30);
	SUITE_ADD(s, bad_responses_are_not_stapled, 30);
	return s;
}
