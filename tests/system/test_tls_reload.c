/* test_tls_reload.c: when files are read again, what is said of them, and which
 * may be read at all. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/certdir.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/tlspeer.h"
#include "support/wait.h"
#include "support/web_fixture.h"

static struct certdir dir;
static struct backend server;
static struct endpoint front, ctl;
static struct pen pen;
static const char *ordinary;

/* Certificates "one" for all and "a1" for a.test. */
static void
begin(void)
{
	certdir_make(&dir, "d");
	certdir_put(&dir, "a.test.pem", "a1");
	certdir_put(&dir, "../ordinary.pem", "one");
	ordinary = scratch("ordinary.pem");
	backend_start(&server, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static const char *
sni_path(void)
{
	return text("ssl_sni_path %s", dir.path);
}

static void
up(const char *more)
{
	pen_up(&pen, &front, "-r", "-C", ctl.text, "-E", ordinary, "-O",
	    sni_path(), "-O", more, front.text, server.at.text, NULL);
}

static void
end(void)
{
	pen_down(&pen);
	backend_stop(&server);
	certdir_forget(&dir);
}

static bool
serves(const char *name, const char *whose)
{
	struct tls_wish w = { .sni = name };
	struct tls_peer *p = tls_peer_open(endpoint_connect(&front), &w);
	char subject[64];
	bool same;

	ck_assert_msg(p != NULL, "%s", tls_peer_error());
	snprintf(subject, sizeof(subject), "CN=%s", whose);
	same = strcmp(tls_peer_subject(p), subject) == 0;
	tls_peer_close(p);
	return same;
}

/* How often it has said that. */
static int
said(const char *what)
{
	return count_in(child_err(&pen.child), what);
}

/* ---- when ---- */

static void
look_again(int by_signal)
{
	if (by_signal)
		ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	else
		ck_assert_str_eq(endpoint_ask(&ctl, "reload\n"), "");
}

/* Without a watch nothing is read until asked for: by HUP, or by reload. */
START_TEST(when_told)
{
	int i;

	begin();
	up("ssl_watch 0");
	ck_assert(serves("a.test", "a1"));
	certdir_put(&dir, "a.test.pem", "a2");
	certdir_put(&dir, "b.test.pem", "b1");
	certdir_put(&dir, "../ordinary.pem", "two");
	for (i = 0; i < 20; i++) {
		ck_assert(serves("a.test", "a1"));
		ck_assert(serves("b.test", "one"));
		ck_assert(serves("x.test", "one"));
	}
	look_again(_i);
	WAIT_FOR(serves("a.test", "a2"), 10000);
	ck_assert(serves("b.test", "b1"));
	ck_assert(serves("x.test", "two"));
	certdir_remove(&dir, "b.test.pem");
	ck_assert(serves("b.test", "b1"));
	look_again(_i);
	WAIT_FOR(serves("b.test", "two"), 10000);
	/* a watch may be set, and ended, while it runs */
	endpoint_ask(&ctl, "ssl_watch 0.01\n");
	certdir_put(&dir, "a.test.pem", "a3");
	certdir_put(&dir, "../ordinary.pem", "three");
	WAIT_FOR(serves("a.test", "a3"), 10000);
	WAIT_FOR(serves("x.test", "three"), 10000);
	end();
}
END_TEST

/* ---- broken files ---- */

/* As programs do it that are careful: pen never meets a part of it. */
static void
put_in_place(const char *path)
{
	ck_assert_msg(
	    rename(dir.new, path) == 0, "%s: %s", path, strerror(errno));
}

static void
put_nonsense(const char *path)
{
	write_file(dir.new, "nonsense\n");
	put_in_place(path);
}

/* The old ones stay in force; said once, however often it looks. A file that is
 * named is read again when it is told to, and reported a second later. */
START_TEST(broken)
{
	enum { TOLD = 5 };
	int i;

	begin();
	up("ssl_watch 0.01");
	ck_assert(serves("a.test", "a1"));
	put_nonsense(certdir_file(&dir, "a.test.pem"));
	put_nonsense(ordinary);
	put_nonsense(certdir_file(&dir, "new.test.pem"));
	WAIT_FOR(said("not replaced") == 2 && said("not loaded") == 1, 10000);
	for (i = 0; i < TOLD; i++) {
		look_again(i % 2);
		ck_assert(serves("a.test", "a1"));
		ck_assert(serves("x.test", "one"));
		ck_assert(serves("new.test", "one"));
	}
	certdir_put(&dir, "other.test.pem", "other");
	WAIT_FOR(serves("other.test", "other"), 10000);
	ck_assert_int_eq(said("not loaded"), 1);
	ck_assert_int_eq(said("name=a.test"), 1);
	ck_assert_int_ge(said(ordinary), 1);
	ck_assert_int_le(said(ordinary), 1 + TOLD);
	/* mended */
	certdir_put(&dir, "a.test.pem", "a2");
	certdir_put(&dir, "../ordinary.pem", "two");
	cert_write_all(dir.first, dir.new);
	put_in_place(certdir_file(&dir, "new.test.pem"));
	WAIT_FOR(serves("a.test", "a2"), 10000);
	WAIT_FOR(serves("x.test", "two"), 10000);
	WAIT_FOR(serves("new.test", "first.test"), 10000);
	ck_assert_int_le(said("not replaced"), 2 + TOLD);
	ck_assert_int_eq(said("not loaded"), 1);
	end();
}
END_TEST

static void
append(const char *path, const char *what, size_t n)
{
	FILE *f = fopen(path, "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(what, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* Writes the three files in their places, in halves between which pen looks at
 * them; returns how long that took. */
static long long
write_in_halves(const char *const file[3], const char *all, bool by_signal)
{
	long long began = wait_now_ms(), looked;
	size_t half = strlen(all) / 2;
	int i;

	for (i = 0; i < 3; i++) {
		write_file(file[i], "");
		append(file[i], all, half);
	}
	if (by_signal)
		look_again(1);
	looked = wait_now_ms();
	while (wait_now_ms() < looked + 50)
		ck_assert(!serves("a.test", "whole"));
	for (i = 0; i < 3; i++)
		append(file[i], all + half, strlen(all) - half);
	return wait_now_ms() - began;
}

static int
complaints(void)
{
	return said("not replaced") + said("not loaded");
}

/* As cp does it. Found by the watch, or, after HUP, by the look at what had not
 * settled; nobody is told of halves. A machine that takes longer for it than
 * files have to settle tries again. */
START_TEST(written_in_place)
{
	int before, tries = 0;
	const char *file[3], *all;
	long long ms;

	begin();
	all = contents(cert_write_all(dir.first, scratch("whole.pem")));
	file[0] = certdir_file(&dir, "a.test.pem");
	file[1] = certdir_file(&dir, "new.test.pem");
	file[2] = ordinary;
	up(_i == 0 ? "ssl_watch 0.01" : "ssl_watch 0");
	ck_assert(serves("a.test", "a1"));
	do {
		ck_assert_int_lt(tries++, 20);
		certdir_put(&dir, "a.test.pem", "a1");
		certdir_put(&dir, "../ordinary.pem", "one");
		look_again(1);
		WAIT_FOR(serves("a.test", "a1"), 10000);
		WAIT_FOR(serves("x.test", "one"), 10000);
		before = complaints();
		ms = write_in_halves(file, all, _i == 1);
	} while (ms > 900);
	WAIT_FOR(serves("a.test", "first.test"), 10000);
	WAIT_FOR(serves("new.test", "first.test"), 10000);
	WAIT_FOR(serves("x.test", "first.test"), 10000);
	ck_assert_int_eq(complaints(), before);
	end();
}
END_TEST

/* Gone is as broken, but by name: that name has none then. */
START_TEST(gone)
{
	begin();
	up("ssl_watch 0.01");
	ck_assert(serves("a.test", "a1"));
	certdir_remove(&dir, "a.test.pem");
	certdir_remove(&dir, "../ordinary.pem");
	WAIT_FOR(serves("a.test", "one"), 10000);
	WAIT_FOR(said("not replaced") == 1, 10000);
	ck_assert(serves("x.test", "one"));
	/* silence would look like success */
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(said("not replaced") == 2, 10000);
	certdir_put(&dir, "../ordinary.pem", "two");
	WAIT_FOR(serves("x.test", "two"), 10000);
	end();
}
END_TEST

/* ---- another root, another user ---- */

/* Readable for everybody, unless it has a key to hide. */
static void
put_for(const char *file, const char *whose, mode_t mode)
{
	struct cert *c = certdir_cert(&dir, whose);

	cert_write_all(c, dir.new);
	cert_free(c);
	ck_assert_int_eq(chmod(dir.new, mode), 0);
	ck_assert_int_eq(rename(dir.new, certdir_file(&dir, file)), 0);
}

/* Directories are open since before; whether a file may be read is for the
 * system to say. */
START_TEST(chroot_and_user)
{
	const char *jail = scratch("jail"), *root;

	if (geteuid() != 0 || getpwnam("nobody") == NULL)
		SKIP("needs root and the user nobody");
	begin();
	ck_assert_int_eq(mkdir(jail, 0755), 0);
	pen_without_leak_checker();
	pen_up(&pen, &front, "-r", "-j", jail, "-u", "nobody", "-E", ordinary,
	    "-O", sni_path(), "-O", "ssl_watch 0.01", front.text,
	    server.at.text, NULL);
	ck_assert(serves("a.test", "a1"));
	ck_assert(serves("x.test", "one"));
	root = child_link(pen.child.pid, "root");
	ck_assert(*root == '\0' || strcmp(root, jail) == 0);
	/* which would else be noticed when a new one comes */
	WAIT_FOR(said(text("certificates cannot be replaced file=%s "
			   "error=\"Permission denied\"",
		     ordinary)) == 1,
	    10000);
	put_for("a.test.pem", "a2", 0644);
	put_for("b.test.pem", "b1", 0644);
	put_for("../ordinary.pem", "two", 0644);
	WAIT_FOR(serves("a.test", "a2"), 10000);
	WAIT_FOR(serves("b.test", "b1"), 10000);
	WAIT_FOR(serves("x.test", "two"), 10000);
	ck_assert_int_eq(said("not replaced"), 0);
	put_for("a.test.pem", "a3", 0600);
	put_for("../ordinary.pem", "three", 0600);
	WAIT_FOR(said("Permission denied") == 3, 10000);
	ck_assert(serves("a.test", "a2"));
	ck_assert(serves("x.test", "two"));
	/* what it may read from now on is taken */
	ck_assert_int_eq(chmod(certdir_file(&dir, "a.test.pem"), 0644), 0);
	ck_assert_int_eq(chmod(ordinary, 0644), 0);
	WAIT_FOR(serves("a.test", "a3"), 10000);
	WAIT_FOR(serves("x.test", "three"), 10000);
	certdir_remove(&dir, "b.test.pem");
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(serves("b.test", "three"), 10000);
	end();
}
END_TEST

/* ---- certificates that end ---- */

static void
put_until(const char *file, const char *whose, int days)
{
	struct cert_wish w = {
		.name = whose, .key_of = dir.first, .days = days
	};
	struct cert *c = cert_new(&w);

	cert_write_all(c, certdir_file(&dir, file));
	cert_free(c);
}

/* Whole days; a second after it was made it has one less. */
static void
warns(const char *line, const char *file, int days)
{
	char now[256], later[256];

	snprintf(now, sizeof(now), "%s file=%s days=%d\n", line, file, days);
	snprintf(
	    later, sizeof(later), "%s file=%s days=%d\n", line, file, days - 1);
	ck_assert_int_eq(said(now) + said(later), 1);
}

START_TEST(warned)
{
	begin();
	put_until("../ordinary.pem", "soon.test", 5);
	put_until("late.test.pem", "late.test", 20);
	put_until("soon2.test.pem", "soon2.test", 13);
	put_until("ended.test.pem", "ended.test", -3);
	up("ssl_warn 14");
	WAIT_FOR(said("certificate expires name=") == 2, 10000);
	WAIT_FOR(said("certificate has expired name=") == 1, 10000);
	warns("certificate expires name=soon.test", ordinary, 5);
	warns("certificate expires name=soon2.test", dir.path, 13);
	ck_assert_int_eq(said(text("certificate has expired name=ended.test "
				   "file=%s",
			     dir.path)),
	    1);
	/* served all the same */
	ck_assert(serves("ended.test", "ended.test"));
	ck_assert(serves("x.test", "soon.test"));
	/* a new one that is an old one */
	put_until("../ordinary.pem", "gone.test", -1);
	ck_assert_int_eq(kill(pen.child.pid, SIGHUP), 0);
	WAIT_FOR(said("certificate has expired name=gone.test") >= 1, 10000);
	/* the others not again before tomorrow */
	ck_assert_int_eq(said("certificate expires name=soon2.test"), 1);
	ck_assert_int_eq(said("certificate has expired name=ended.test"), 1);
	end();
}
END_TEST

START_TEST(not_warned)
{
	begin();
	put_until("../ordinary.pem", "soon.test", 5);
	put_until("ended.test.pem", "ended.test", -3);
	up("ssl_warn 0");
	ck_assert(serves("x.test", "soon.test"));
	ck_assert_int_eq(said("certificate"), 0);
	end();
}
END_TEST

START_TEST(in_metrics)
{
	struct endpoint web;
	const char *got;

	begin();
	endpoint_new(&web, ENDPOINT_TCP4);
	up(text("web %s", web.text));
	WAIT_FOR(endpoint_is_listening(&web), 10000);
	got = strstr(web_fixture_get_from(&web, "/metrics", ""),
	    "\npen_certificate_expiry_seconds{");
	ck_assert_ptr_nonnull(got);
	ck_assert_msg(strstr(got,
			  text("side=\"client\",name=\"one\",file=\"%s\"} ",
			      ordinary)) != NULL,
	    "%.500s", got);
	end();
}
END_TEST

/* A path that is too long for a label is cut between two characters. */
START_TEST(long_path_in_metrics)
{
	const char *path = scratch(strlen(scratch("")) % 2 == 0 ? "x" : "xy");
	struct endpoint web;
	struct cert *c;
	const char *got;
	int i;

	for (i = 0; i < 80; i++)
		path = text("%s\xc3\xbc", path);
	begin();
	c = certdir_cert(&dir, "one");
	cert_write_all(c, path);
	cert_free(c);
	endpoint_new(&web, ENDPOINT_TCP4);
	ordinary = path;
	up(text("web %s", web.text));
	WAIT_FOR(endpoint_is_listening(&web), 10000);
	got = web_fixture_get_from(&web, "/metrics", "");
	ck_assert_ptr_nonnull(strstr(got, "name=\"one\",file=\""));
	ck_assert_ptr_null(strstr(got, "\xc3\""));
	end();
}
END_TEST

SUITE(test_tls_reload)
{
	Suite *s = suite_create("tls_reload");
	TCase *c = tcase_create("when_told");

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, when_told, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, in_metrics, 20);
	SUITE_ADD(s, long_path_in_metrics, 20);
	SUITE_ADD(s, broken, 30);
	c = tcase_create("written_in_place");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, written_in_place, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD(s, gone, 30);
	SUITE_ADD(s, chroot_and_user, 30);
	SUITE_ADD(s, warned, 30);
	SUITE_ADD(s, not_warned, 30);
	return s;
}
