/* test_sni_flood.c: names that nobody knows, asked for in TLS, are not kept. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlshello.h"

static struct tls_hello hello;
static struct endpoint front;

/* `n` clients, each with a name of its own, none with one that is known. */
static void
flood(long from, long n)
{
	char name[32];
	long i;

	for (i = from; i < from + n; i++) {
		snprintf(name, sizeof(name), "u%09ld.test", i);
		tls_hello_ask(&hello, name);
		if (tls_hello_say(&hello, &front) != TLS_HELLO_ANSWERED)
			ck_abort_msg("%s was not answered", name);
	}
}

START_TEST(sni_flood)
{
	long n = suite_amount(2000, 500), before, after;
	struct certdir dir;
	struct backend b;
	struct pen pen;

	certdir_make(&dir, "d");
	certdir_put(&dir, "a.test.pem", "a.test");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-E", certdir_file(&dir, "a.test.pem"), "-O",
	    text("ssl_sni_path %s", dir.path), front.text, b.at.text, NULL);
	tls_hello_make(&hello, "u000000000.test");
	flood(0, n);
	before = pen_rss_kb(&pen);
	flood(n, n);
	after = pen_rss_kb(&pen);
	printf("%ld names: %ld kB before, %ld kB after\n", n, before, after);
	/* a name kept would take a hundred bytes, a context ten kB */
	if (pen_is_plain())
		ck_assert_int_le(
		    after, before + (pen_workers() > 1 ? 1024 : 256));
	pen_down(&pen);
	backend_stop(&b);
	certdir_forget(&dir);
}
END_TEST

SUITE(test_sni_flood)
{
	Suite *s = suite_create("sni_flood");

	SUITE_ADD(s, sni_flood, 60);
	return s;
}
