/* test_cert_store.c: certificates by the names of their files. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "net/cert_store.h"
#include "support/certdir.h"
#include "support/suite.h"
#include "support/wait.h"

static struct error e;
static struct cert_store *store;
static struct certdir dir;

static void
put(const char *file, const char *name)
{
	certdir_put(&dir, file, name);
}

static const char *
in_dir(const char *file)
{
	return certdir_file(&dir, file);
}

static void
begin(void)
{
	certdir_make(&dir, "d");
}

static void
opens(void)
{
	store = cert_store_new(dir.path, &e);
	ck_assert_msg(store != NULL, "%s", e.text);
}

static void
end(void)
{
	cert_store_drop(store);
	store = NULL;
	certdir_forget(&dir);
}

/* A client that asks for `name` gets the certificate of `whose`. */
static void
gets(const char *name, const char *whose)
{
	struct certificate *c = cert_store_find(store, name);

	ck_assert_msg(c != NULL, "nothing for \"%s\"", name);
	ck_assert_str_eq(c->name, whose);
	certificate_drop(c);
}

static void
gets_none(const char *name)
{
	struct certificate *c = cert_store_find(store, name);

	ck_assert_msg(
	    c == NULL, "\"%s\" got \"%s\"", name, c != NULL ? c->name : "");
}

static void
look(void)
{
	bool more = cert_store_look(store, 1000);

	while (more)
		more = cert_store_look(store, 0);
}

/* From here on stderr is this file. */
static const char *
catch_stderr(void)
{
	const char *path = scratch("stderr");

	log_level = LOG_LEVEL_INFO;
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	return path;
}

static unsigned
lines(const char *path)
{
	const char *s = contents(path);
	unsigned n = 0;

	while ((s = strchr(s, '\n')) != NULL) {
		s++;
		n++;
	}
	return n;
}

/* ---- names ---- */

START_TEST(names)
{
	begin();
	put("a.test.pem", "a.test");
	put("*.b.test.pem", "star.b.test");
	put("_.c.test.pem", "star.c.test");
	put("x.b.test.pem", "x.b.test");
	put("single.pem", "single");
	opens();
	ck_assert_uint_eq(cert_store_count(store), 5);
	gets("a.test", "a.test");
	gets("A.tEsT", "a.test");
	gets("a.test.", "a.test");
	gets("single", "single");
	/* exactly one label for the star, and the better match wins */
	gets("y.b.test", "star.b.test");
	gets("Y.B.Test.", "star.b.test");
	gets("x.b.test", "x.b.test");
	gets("z.c.test", "star.c.test");
	gets("-.c.test", "star.c.test");
	gets_none("b.test");
	gets_none("c.test");
	gets_none("y.x.b.test");
	gets_none("x.a.test");
	gets_none(".b.test");
	gets_none("other.test");
	gets_none("a.test..");
	gets_none(".a.test");
	gets_none("a.test.pem");
	end();
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

	begin();
	put("a.test.pem", "a.test");
	put("../evil.pem", "evil");
	ck_assert_int_eq(mkdir(in_dir("sub"), 0755), 0);
	put("sub/a.test.pem", "sub.test");
	opens();
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		gets_none(none[i]);
	gets_none(text("%s/a.test", dir.path));
	memset(longest, 'a', sizeof(longest));
	for (i = 250; i < sizeof(longest); i++) {
		longest[i] = '\0';
		gets_none(longest);
		longest[i] = 'a';
	}
	for (i = 1; i < sizeof(longest); i += 2)
		longest[i] = '.';
	longest[sizeof(longest) - 1] = '\0';
	gets_none(longest);
	gets("a.test", "a.test");
	end();
}
END_TEST

/* As long as a file's name may be. */
START_TEST(longest_name)
{
	char name[256] = "", file[300];
	size_t i;

	begin();
	for (i = 0; i < 251; i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	snprintf(file, sizeof(file), "%s.pem", name);
	put(file, "long.test");
	opens();
	gets(name, "long.test");
	name[250] = '\0';
	gets_none(name);
	end();
}
END_TEST

/* What is no certificate's file is not read. */
START_TEST(other_files)
{
	const char *said;

	begin();
	said = catch_stderr();
	put("a.test.pem", "a.test");
	put(".hidden.test.pem", "hidden.test");
	put("b.test.PEM", "b.test");
	put("c.test.pem.old", "c.test");
	put("pem", "pem");
	put(".pem", "nothing");
	put(".crt", "nothing");
	write_file(in_dir("README"), "words\n");
	write_file(in_dir("d.test.key"), "no key\n");
	opens();
	ck_assert_uint_eq(cert_store_count(store), 1);
	gets("a.test", "a.test");
	ck_assert_str_eq(contents(said), "");
	/* the name of a file has small letters */
	put("Upper.test.pem", "upper.test");
	look();
	look();
	gets_none("upper.test");
	ck_assert_uint_eq(lines(said), 1);
	ck_assert(file_has(said, "name=upper.test"));
	ck_assert(file_has(said, "small letters"));
	end();
}
END_TEST

/* ---- parts ---- */

static struct certificate *
found(const char *name)
{
	struct certificate *c = cert_store_find(store, name);

	ck_assert_msg(c != NULL, "nothing for \"%s\"", name);
	return c;
}

START_TEST(parts)
{
	struct cert *root, *between, *leaf;
	struct certificate *c;

	begin();
	root = cert_new(&(struct cert_wish){ .name = "root", .is_ca = true });
	between = cert_new(&(struct cert_wish){
	    .name = "between", .is_ca = true, .issuer = root });
	leaf = cert_new(
	    &(struct cert_wish){ .name = "a.test", .issuer = between });
	cert_write(leaf, in_dir("a.test.crt"));
	cert_write_key(leaf, in_dir("a.test.key"));
	cert_write(between, in_dir("a.test.ca"));
	cert_write_ocsp(leaf, in_dir("a.test.ocsp"));
	cert_write_all(leaf, in_dir("all.test.pem"));
	cert_write_all(leaf, in_dir("_.w.test.crt"));
	cert_write_ocsp(leaf, in_dir("_.w.test.ocsp"));
	opens();
	c = found("a.test");
	ck_assert_int_eq(sk_X509_num(c->chain), 1);
	ck_assert_int_eq(
	    X509_cmp(sk_X509_value(c->chain, 0), cert_x509(between)), 0);
	ck_assert_int_eq(X509_cmp(c->leaf, cert_x509(leaf)), 0);
	ck_assert_str_eq(
	    text("%.*s", (int)c->ocsp_length, (const char *)c->ocsp),
	    contents(in_dir("a.test.ocsp")));
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
	certdir_remove(&dir, "a.test.ocsp");
	write_file(in_dir("all.test.ocsp"), "response");
	look();
	c = found("a.test");
	ck_assert_uint_eq(c->ocsp_length, 0);
	certificate_drop(c);
	c = found("all.test");
	ck_assert_uint_eq(c->ocsp_length, 8);
	certificate_drop(c);
	cert_free(leaf);
	cert_free(between);
	cert_free(root);
	end();
}
END_TEST

/* .pem goes before .crt, a key apart before one in the same file. */
START_TEST(which_file)
{
	begin();
	certdir_put_parts(&dir, "a.test");
	opens();
	gets("a.test", "a.test");
	put("a.test.pem", "pem.test");
	look();
	gets("a.test", "pem.test");
	certdir_remove(&dir, "a.test.pem");
	look();
	gets("a.test", "a.test");
	certdir_remove(&dir, "a.test.crt");
	look();
	gets_none("a.test");
	ck_assert_uint_eq(cert_store_count(store), 0);
	put("*.b.test.pem", "star");
	put("_.b.test.pem", "low");
	look();
	gets("x.b.test", "star");
	certdir_remove(&dir, "*.b.test.pem");
	look();
	gets("x.b.test", "low");
	end();
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
	ck_assert_uint_eq(n, cert_store_count(store));
	return n;
}

START_TEST(walks)
{
	struct cert_store_info info;
	char all[256];
	unsigned at = 0, other = 0;

	begin();
	catch_stderr();
	opens();
	write_file(in_dir("a.test.pem"), "broken");
	look();
	ck_assert_uint_eq(walk(all, sizeof(all)), 0);
	put("b.test.pem", "b.test");
	look();
	ck_assert_uint_eq(walk(all, sizeof(all)), 1);
	put("*.c.test.pem", "c.test");
	look();
	put("d.test.pem", "d.test");
	look();
	walk(all, sizeof(all));
	ck_assert_str_eq(all, "b.test *.c.test d.test ");
	put("a.test.pem", "a.test");
	look();
	walk(all, sizeof(all));
	ck_assert_str_eq(all, "a.test b.test *.c.test d.test ");
	/* two at a time, and one that leaves in between */
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert(cert_store_next(store, &other, &info));
	ck_assert_str_eq(info.name, "a.test");
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "*.c.test");
	certdir_remove(&dir, "d.test.pem");
	look();
	ck_assert(!cert_store_next(store, &at, &info));
	put("e.test.pem", "e.test");
	look();
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "e.test");
	ck_assert(!cert_store_next(store, &at, &info));
	end();
}
END_TEST

/* The end of an empty one is not the end for ever. */
START_TEST(walks_from_nothing)
{
	struct cert_store_info info;
	unsigned at = 0;

	begin();
	opens();
	ck_assert(!cert_store_next(store, &at, &info));
	put("a.test.pem", "a.test");
	look();
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_str_eq(info.name, "a.test");
	end();
}
END_TEST

START_TEST(counts_use)
{
	struct cert_store_info info;
	unsigned at = 0;

	begin();
	put("a.test.pem", "a.test");
	opens();
	gets("a.test", "a.test");
	gets("A.TEST.", "a.test");
	gets_none("b.test");
	put("a.test.pem", "a2.test");
	look();
	gets("a.test", "a2.test");
	ck_assert(cert_store_next(store, &at, &info));
	ck_assert_uint_eq(info.used, 3);
	end();
}
END_TEST

/* ---- life ---- */

START_TEST(directories)
{
	begin();
	store = NULL;
	ck_assert_ptr_null(cert_store_new(scratch("none"), &e));
	ck_assert_str_eq(e.text, "No such file or directory");
	write_file(scratch("file"), "");
	ck_assert_ptr_null(cert_store_new(scratch("file"), &e));
	ck_assert_str_eq(e.text, "Not a directory");
	opens();
	ck_assert_str_eq(cert_store_path(store), dir.path);
	ck_assert_ptr_eq(cert_store_hold(store), store);
	cert_store_drop(store);
	gets_none("a.test");
	look();
	ck_assert_ptr_null(cert_store_hold(NULL));
	cert_store_drop(NULL);
	end();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cert_store");

	SUITE_ADD(s, names, 30);
	SUITE_ADD(s, names_that_are_none, 30);
	SUITE_ADD(s, longest_name, 30);
	SUITE_ADD(s, other_files, 30);
	SUITE_ADD(s, parts, 30);
	SUITE_ADD(s, which_file, 30);
	SUITE_ADD(s, walks, 30);
	SUITE_ADD(s, walks_from_nothing, 30);
	SUITE_ADD(s, counts_use, 30);
	SUITE_ADD(s, directories, 30);
	return suite_main(s);
}
