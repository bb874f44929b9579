/* test_tls_many.c: many names: those that have a certificate, and those that
 * have none. What a client asks for costs no memory. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlshello.h"
#include "support/tlspeer.h"
#include "support/wait.h"

enum { UNRECOGNIZED_NAME = 112 };

static struct certdir dir;
static struct backend server;
static struct endpoint front;
static struct pen pen;

static void
begin(void)
{
	certdir_make(&dir, "d");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
}

static void
up(const char *more)
{
	pen_up(&pen, &front, "-r", "-E", cert_write_all(dir.first, "first.pem"),
	    "-O", text("ssl_sni_path %s", dir.path), "-O", more, front.text,
	    server.at.text, NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&server);
	certdir_forget(&dir);
}

/* How many there are to be: all of them only when asked for. */
static long
amount(long full, long heavy, long light)
{
	return suite_is_full() ? full : suite_amount(heavy, light);
}

/* Why it did not get its certificate, or NULL. */
static const char *
asks(const char *name)
{
	struct tls_wish w = { .sni = name };
	struct tls_peer *p;
	const char *why = NULL;
	int fd = endpoint_try_connect(&front);

	if (fd < 0)
		return "no connection";
	p = tls_peer_open(fd, &w);
	if (p == NULL)
		return tls_peer_error();
	if (strncmp(tls_peer_subject(p), "CN=", 3) != 0 ||
	    strcmp(tls_peer_subject(p) + 3, name) != 0)
		why = "another's certificate";
	tls_peer_close(p);
	return why;
}

/* More than pen keeps ready, unless the load is to be light. */
START_TEST(known)
{
	long i, n = amount(10000, 1200, 300), began, before;
	char name[32], file[40];
	unsigned x = 1;
	const char *why;

	begin();
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "n%ld.test", i);
		snprintf(file, sizeof(file), "%s.pem", name);
		certdir_put(&dir, file, name);
	}
	began = wait_now_ms();
	up("ssl_strict_sni");
	/* it reads them all before it serves */
	WAIT_FOR(asks("n0.test") == NULL, 120000);
	before = pen_rss_kb(&pen);
	printf("%ld certificates: %ld ms to read, %ld kB resident, ", n,
	    (long)wait_now_ms() - began, before);
	for (i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		snprintf(name, sizeof(name), "n%ld.test", (long)(x >> 8) % n);
		why = asks(name);
		if (why != NULL)
			ck_abort_msg("%s: %s", name, why);
	}
	printf(
	    "%ld kB after as many handshakes\n", pen_rss_kb(&pen));
	end();
}
END_TEST

/* It listens before it has read them. Told then to look again, and to stop, it
 * does so when it is ready. */
START_TEST(signals_while_it_reads)
{
	char file[40];
	int i;

	begin();
	for (i = 0; i < 300; i++) {
		snprintf(file, sizeof(file), "n%d.test.pem", i);
		certdir_put(&dir, file, "n.test");
	}
	up("ssl_strict_sni");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	end();
}
END_TEST

/* How many clients were served, one after another, until this name was there;
 * the longest that one of them had to wait. */
static int
served_until(const char *last, long long *longest)
{
	long long end = wait_now_ms() + wait_scaled(60000), ms;
	bool is_there = false;
	int i;

	*longest = 0;
	for (i = 0; !is_there; i++) {
		ms = wait_now_ms();
		if (i % 2 == 0)
			ck_assert_ptr_null(asks("a.test"));
		else
			is_there = asks(last) == NULL;
		ms = wait_now_ms() - ms;
		*longest = ms > *longest ? ms : *longest;
		ck_assert_int_lt(wait_now_ms(), end);
	}
	return i;
}

/* Puts `n` new ones there at once. Returns how many clients were served while
 * pen read them. */
static int
served_beside(int round, long n)
{
	char name[32], file[40];
	long long ms;
	int served;
	long i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "n%ld.r%d.test", i, round);
		snprintf(file, sizeof(file), "%s.pem", name);
		certdir_put(&dir, file, name);
	}
	ck_assert_ptr_null(asks("a.test"));
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	served = served_until(name, &ms);
	/* the order of a directory is its own */
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "n%ld.r%d.test", i, round);
		WAIT_FOR(asks(name) == NULL, 60000);
	}
	printf("%ld new certificates: %d clients served meanwhile, one waited "
	       "%lld ms\n", n, served, ms);
	return served;
}

/* Many files put there at once hold up nobody: it would be one or two, were
 * they all read at once. On a busy machine pen may be much faster than the
 * clients, now and then. */
START_TEST(put_at_once)
{
	long n = suite_amount(500, 200);
	int round = 0;

	begin();
	certdir_put(&dir, "a.test.pem", "a.test");
	up("ssl_watch 0");
	while (served_beside(round, n) < 4 && pen_is_plain())
		ck_assert_int_lt(++round, 10);
	end();
}
END_TEST

/* `n` different names, from the one numbered `from`. */
static void
say(struct tls_hello *h, long from, long n, int expected)
{
	char name[32];
	long i;
	int got;

	for (i = from; i < from + n; i++) {
		snprintf(name, sizeof(name), "u%09ld.test", i);
		tls_hello_ask(h, name);
		got = tls_hello_say(h, &front);
		if (got != expected)
			ck_abort_msg("%s: %d", name, got);
	}
}

/* Answered with the certificate of all, or with an alert. */
START_TEST(unknown)
{
	static const char *const setting[] = { "no ssl_strict_sni",
		"ssl_strict_sni" };
	long n = amount(1000000, 8000, 500), warm = n < 5000 ? n : 5000;
	int expected = _i == 0 ? TLS_HELLO_ANSWERED : UNRECOGNIZED_NAME;
	struct tls_hello h;
	long before, after;

	begin();
	certdir_put(&dir, "a.test.pem", "a.test");
	up(setting[_i]);
	tls_hello_make(&h, "u000000000.test");
	say(&h, n, warm, expected);
	before = pen_rss_kb(&pen);
	say(&h, 0, n, expected);
	after = pen_rss_kb(&pen);
	printf("%ld unknown names, %s: %ld kB before, %ld kB after\n", n,
	    setting[_i], before, after);
	if (pen_is_plain())
		ck_assert_int_le(
		    after, before + (pen_workers() > 1 ? 1024 : 256));
	ck_assert_ptr_null(asks("a.test"));
	end();
}
END_TEST

SUITE(test_tls_many)
{
	int seconds = suite_is_full() ? 3600 : 100;
	Suite *s = suite_create("tls_many");
	TCase *c = tcase_create("unknown");

	SUITE_ADD(s, known, seconds > 300 ? seconds : 300);
	SUITE_ADD(s, signals_while_it_reads, 30);
	SUITE_ADD(s, put_at_once, 100);
	tcase_set_timeout(c, seconds);
	tcase_add_loop_test(c, unknown, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
