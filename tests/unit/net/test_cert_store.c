/* test_cert_store.c: certificates by the names of their files. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "tls/cert_store.h"
#include "support/store_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static struct error e;

/* ---- names ---- */

START_TEST(names)
{
	store_begin();
	store_put("a.test.pem", "a.test");
	store_put("*.b.test.pem", "star.b.test");
	store_put("_.c.test.pem", "star.c.test");
	store_put("x.b.test.pem", "x.b.test");
	store_put("single.pem", "single");
	store_opens();
	ck_assert_uint_eq(store_count(), 5);
	store_gives("a.test", "a.test");
	store_gives("A.tEsT", "a.test");
	store_gives("a.test.", "a.test");
	store_gives("single", "single");
	/* exactly one label for the star, and the better match wins */
	store_gives("y.b.test", "star.b.test");
	store_gives("Y.B.Test.", "star.b.test");
	store_gives("x.b.test", "x.b.test");
	store_gives("z.c.test", "star.c.test");
	store_gives("-.c.test", "star.c.test");
	store_gives_none("b.test");
	store_gives_none("c.test");
	store_gives_none("y.x.b.test");
	store_gives_none("x.a.test");
	store_gives_none(".b.test");
	store_gives_none("other.test");
	store_gives_none("a.test..");
	store_gives_none(".a.test");
	store_gives_none("a.test.pem");
	store_end();
}
END_TEST

/* What a client sends is looked up, and never part of a path. */
START_TEST(names_that_are_none)
{
	static const char *const none[] = { "", ".", "..", "...", "/",
		"../d/a.test", "./a.test", "d/a.test", "..%2fevil", "../evil",
		"sub/a.test", "sub", "a.test/", "a.test ", " a.test", "*", "*.",
		"_", "_.", ".*", "\xff\xff", "a\ntest", "%s%n" };
	char longest[600];
	size_t i;

	store_begin();
	store_put("a.test.pem", "a.test");
	store_put("../evil.pem", "evil");
	ck_assert_int_eq(mkdir(store_file("sub"), 0755), 0);
	store_put("sub/a.test.pem", "sub.test");
	store_opens();
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		store_gives_none(none[i]);
	store_gives_none(text("%s/a.test", store_dir.path));
	memset(longest, 'a', sizeof(longest));
	for (i = 250; i < sizeof(longest); i++) {
		longest[i] = '\0';
		store_gives_none(longest);
		longest[i] = 'a';
	}
	for (i = 1; i < sizeof(longest); i += 2)
		longest[i] = '.';
	longest[sizeof(longest) - 1] = '\0';
	store_gives_none(longest);
	store_gives("a.test", "a.test");
	store_end();
}
END_TEST

/* As long as a file's name may be. */
START_TEST(longest_name)
{
	char name[256] = "", file[300];
	size_t i;

	store_begin();
	for (i = 0; i < 251; i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	snprintf(file, sizeof(file), "%s.pem", name);
	store_put(file, "long.test");
	store_opens();
	store_gives(name, "long.test");
	name[250] = '\0';
	store_gives_none(name);
	store_end();
}
END_TEST

/* What is no certificate's file is not read. */
START_TEST(other_files)
{
	const char *said;

	store_begin();
	said = stderr_to_file();
	store_put("a.test.pem", "a.test");
	store_put(".hidden.test.pem", "hidden.test");
	store_put("b.test.PEM", "b.test");
	store_put("c.test.pem.old", "c.test");
	store_put("pem", "pem");
	store_put(".pem", "nothing");
	store_put(".crt", "nothing");
	write_file(store_file("README"), "words\n");
	write_file(store_file("d.test.key"), "no key\n");
	store_opens();
	ck_assert_uint_eq(store_count(), 1);
	store_gives("a.test", "a.test");
	ck_assert_str_eq(contents(said), "");
	/* the name of a file is in lower case */
	store_put("Upper.test.pem", "upper.test");
	store_look();
	store_look();
	store_gives_none("upper.test");
	ck_assert_uint_eq(file_lines(said), 1);
	ck_assert(file_has(said, "name=upper.test"));
	ck_assert(file_has(said, "lower case"));
	store_end();
}
END_TEST

/* What no client requests, as it sends xn--mnchen-3ya.test. */
START_TEST(names_of_no_client)
{
	static const char *const odd[] = { "m\xc3\xbcnchen.test", "a b.test",
		"c.test." };
	const char *said;
	size_t i;

	store_begin();
	said = stderr_to_file();
	store_put("xn--mnchen-3ya.test.pem", "xn--mnchen-3ya.test");
	store_put("_.d.test.pem", "*.d.test");
	store_opens();
	ck_assert_str_eq(contents(said), "");
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		store_put(text("%s.pem", odd[i]), "d.test");
		store_look();
		store_look();
		ck_assert_uint_eq(file_lines(said), i + 1);
		ck_assert(file_has(said, text("name=%s ", odd[i])));
	}
	ck_assert(file_has(said, "clients request names in ASCII"));
	store_end();
}
END_TEST

/* ---- parts ---- */

static struct certificate *
found(const char *name)
{
	struct certificate *c = cert_store_find(store, name, true);

	ck_assert_msg(c != NULL, "nothing for \"%s\"", name);
	return c;
}

START_TEST(parts)
{
	struct cert *root, *between, *leaf;
	struct certificate *c;

	store_begin();
	root = cert_new(&(struct cert_wish){ .name = "root", .is_ca = true });
	between = cert_new(&(struct cert_wish){
	    .name = "between", .is_ca = true, .issuer = root });
	leaf = cert_new(
	    &(struct cert_wish){ .name = "a.test", .issuer = between });
	cert_write(leaf, store_file("a.test.crt"));
	cert_write_key(leaf, store_file("a.test.key"));
	cert_write(between, store_file("a.test.ca"));
	cert_write_ocsp(leaf, store_file("a.test.ocsp"));
	cert_write_all(leaf, store_file("all.test.pem"));
	cert_write_all(leaf, store_file("_.w.test.crt"));
	cert_write_ocsp(leaf, store_file("_.w.test.ocsp"));
	store_opens();
	c = found("a.test");
	ck_assert_int_eq(sk_X509_num(c->chain), 1);
	ck_assert_int_eq(
	    X509_cmp(sk_X509_value(c->chain, 0), cert_x509(between)), 0);
	ck_assert_int_eq(X509_cmp(c->leaf, cert_x509(leaf)), 0);
	ck_assert_str_eq(
	    text("%.*s", (int)c->ocsp_length, (const char *)c->ocsp),
	    contents(store_file("a.test.ocsp")));
	certificate_drop(c);
	c = found("all.test");
	ck_assert_int_eq(sk_X509_num(c->chain), 1);
	ck_assert_uint_eq(c->ocsp_length, 0);
	certificate_drop(c);
	c = found("x.w.test");
	ck_assert_int_eq(sk_X509_num(c->chain), 1);
	ck_assert_uint_gt(c->ocsp_length, 0);
	certificate_drop(c);
	/* the response alone comes, changes and goes */
	certdir_remove(&store_dir, "a.test.ocsp");
	cert_write_ocsp(leaf, store_file("all.test.ocsp"));
	store_look();
	c = found("a.test");
	ck_assert_uint_eq(c->ocsp_length, 0);
	certificate_drop(c);
	c = found("all.test");
	ck_assert_uint_gt(c->ocsp_length, 0);
	certificate_drop(c);
	cert_free(leaf);
	cert_free(between);
	cert_free(root);
	store_end();
}
END_TEST

/* A response is stapled up to its end. One that is over is not kept. */
START_TEST(response_ends)
{
	const time_t hour = 3600, before = time(NULL);
	struct certificate *c;
	const char *said;

	store_begin();
	said = stderr_to_file();
	cert_write_all(store_dir.first, store_file("a.test.pem"));
	cert_write_short_ocsp(
	    store_dir.first, store_file("a.test.ocsp"), (long)hour);
	cert_write_all(store_dir.first, store_file("b.test.pem"));
	cert_write_short_ocsp(store_dir.first, store_file("b.test.ocsp"), -10);
	store_opens();
	store_look();
	c = found("a.test");
	ck_assert_int_ge(c->ocsp_ends, before + hour);
	ck_assert_int_le(c->ocsp_ends, time(NULL) + hour);
	ck_assert(!cert_ocsp_is_over(c->ocsp_ends, c->ocsp_ends));
	ck_assert(cert_ocsp_is_over(c->ocsp_ends, c->ocsp_ends + 1));
	ck_assert(!cert_ocsp_is_over(0, c->ocsp_ends));
	certificate_drop(c);
	c = found("b.test");
	ck_assert_uint_eq(c->ocsp_length, 0);
	certificate_drop(c);
	ck_assert_uint_eq(file_lines(said), 1);
	ck_assert(file_has(
	    said, "name=b.test error=\"an OCSP response that has expired\""));
	store_end();
}
END_TEST

/* .pem goes before .crt, a key apart before one in the same file. */
START_TEST(which_file)
{
	store_begin();
	certdir_put_parts(&store_dir, "a.test");
	store_opens();
	store_gives("a.test", "a.test");
	store_put("a.test.pem", "pem.test");
	store_look();
	store_gives("a.test", "pem.test");
	certdir_remove(&store_dir, "a.test.pem");
	store_look();
	store_gives("a.test", "a.test");
	certdir_remove(&store_dir, "a.test.crt");
	store_look();
	store_gives_none("a.test");
	ck_assert_uint_eq(store_count(), 0);
	store_put("*.b.test.pem", "star");
	store_put("_.b.test.pem", "low");
	store_look();
	store_gives("x.b.test", "star");
	certdir_remove(&store_dir, "*.b.test.pem");
	store_look();
	store_gives("x.b.test", "low");
	store_end();
}
END_TEST

/* ---- the walk ---- */

static unsigned
walk(char *all, size_t size)
{
	struct cert_store_info info;
	unsigned at = 0, n = 0, had = 0;
	size_t k = 0;

	*all = '\0';
	while (cert_store_next(store, &at, &info)) {
		ck_assert_uint_eq(at, ++had);
		k += (size_t)snprintf(all + k, size - k, "%s ", info.name);
		ck_assert_uint_lt(k, size);
		ck_assert_int_gt(info.ends, time(NULL));
		n++;
	}
	ck_assert_uint_eq(at, n);
	return n;
}

START_TEST(walks)
{
	struct cert_store_info info;
	char all[256];
	unsigned at = 0, other = 0;

	store_begin();
	stderr_to_file();
	store_opens();
	write_file(store_file("a.test.pem"), "broken");
	store_look();
	ck_assert_uint_eq(walk(all, sizeof(all)), 0);
	store_put("b.test.pem", "b.test");
	store_look();
	ck_assert_uint_eq(walk(all, sizeof(all)), 1);
	store_put("*.c.test.pem", "c.test");
	store_look();
	store_put("d.test.pem", "d.test");
	store_look();
	walk(all, sizeof(all));
	ck_assert_str_eq(all, "b.test *.c.test d.test ");
	store_put("a.test.pem", "a.test");
	store_look();
	walk(all, sizeof(all));
	ck_assert_str_eq(all, "a.test b.test *.c.test d.test ");
	/* two at a time, and one that leaves in between */
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert(cert_store_next(store, &other, &info));
	ck_assert_str_eq(info.name, "a.test");
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "*.c.test");
	certdir_remove(&store_dir, "d.test.pem");
	store_look();
	ck_assert(!cert_store_next(store, &at, &info));
	store_put("e.test.pem", "e.test");
	store_look();
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "e.test");
	ck_assert(!cert_store_next(store, &at, &info));
	store_end();
}
END_TEST

/* The end of an empty one is not the end for ever. */
START_TEST(walks_from_nothing)
{
	struct cert_store_info info;
	unsigned at = 0;

	store_begin();
	store_opens();
	ck_assert(!cert_store_next(store, &at, &info));
	store_put("a.test.pem", "a.test");
	store_look();
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "a.test");
	store_end();
}
END_TEST

START_TEST(counts_use)
{
	struct cert_store_info info;
	unsigned at = 0;

	store_begin();
	store_put("a.test.pem", "a.test");
	store_opens();
	store_gives("a.test", "a.test");
	store_gives("A.TEST.", "a.test");
	store_gives_none("b.test");
	store_put("a.test.pem", "a2.test");
	store_look();
	store_gives("a.test", "a2.test");
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_uint_eq(info.used, 3);
	store_end();
}
END_TEST

/* ---- life ---- */

START_TEST(directories)
{
	store_begin();
	store = NULL;
	ck_assert_ptr_null(cert_store_new(scratch("none"), &e));
	ck_assert_str_eq(e.text, "No such file or directory");
	write_file(scratch("file"), "");
	ck_assert_ptr_null(cert_store_new(scratch("file"), &e));
	ck_assert_str_eq(e.text, "Not a directory");
	store_opens();
	ck_assert_str_eq(cert_store_path(store), store_dir.path);
	ck_assert_ptr_eq(cert_store_hold(store), store);
	cert_store_drop(store);
	store_gives_none("a.test");
	store_look();
	ck_assert_ptr_null(cert_store_hold(NULL));
	cert_store_drop(NULL);
	store_end();
}
END_TEST

SUITE(test_cert_store)
{
	Suite *s = suite_create("cert_store");

	SUITE_ADD(s, names, 30);
	SUITE_ADD(s, names_that_are_none, 30);
	SUITE_ADD(s, longest_name, 30);
	SUITE_ADD(s, other_files, 30);
	SUITE_ADD(s, names_of_no_client, 30);
	SUITE_ADD(s, parts, 30);
	SUITE_ADD(s, response_ends, 30);
	SUITE_ADD(s, which_file, 30);
	SUITE_ADD(s, walks, 30);
	SUITE_ADD(s, walks_from_nothing, 30);
	SUITE_ADD(s, counts_use, 30);
	SUITE_ADD(s, directories, 30);
	return s;
}
