/* test_cert_changes.c: files of certificates that are broken, come, change and go. */
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

static struct certificate *
found(const char *name)
{
	struct certificate *c = cert_store_find(store, name);

	ck_assert_msg(c != NULL, "nothing for \"%s\"", name);
	return c;
}

/* ---- broken files ---- */

/* Logged once each; a name of no use is as one that is not there. */
START_TEST(left_out)
{
	struct cert *other;
	const char *said;
	int i;

	begin();
	said = catch_stderr();
	other = cert_new(&(struct cert_wish){ .name = "other.test" });
	put("*.test.pem", "star.test");
	write_file(in_dir("empty.test.pem"), "");
	write_file(in_dir("words.test.pem"), "no certificate\n");
	cert_write_key(dir.first, in_dir("key.test.pem"));
	cert_write(dir.first, in_dir("nokey.test.crt"));
	cert_write(dir.first, in_dir("differ.test.crt"));
	cert_write_key(other, in_dir("differ.test.key"));
	ck_assert_int_eq(mkdir(in_dir("dir.test.pem"), 0755), 0);
	ck_assert_int_eq(symlink("nowhere", in_dir("link.test.pem")), 0);
	opens();
	for (i = 0; i < 3; i++)
		look();
	ck_assert_uint_eq(cert_store_count(store), 1);
	gets("empty.test", "star.test");
	gets("differ.test", "star.test");
	gets("dir.test", "star.test");
	ck_assert_uint_eq(lines(said), 7);
	ck_assert(file_has(said, "left out"));
	ck_assert(file_has(said, "key and certificate differ"));
	ck_assert(!file_has(said, "not replaced"));
	/* mended in its place, which the directory does not tell */
	cert_write_all(other, in_dir("empty.test.pem"));
	look();
	gets("empty.test", "other.test");
	cert_write_key(dir.first, in_dir("differ.test.key"));
	look();
	gets("differ.test", "first.test");
	ck_assert_uint_eq(cert_store_count(store), 3);
	ck_assert_uint_eq(lines(said), 7);
	cert_free(other);
	end();
}
END_TEST

START_TEST(not_replaced)
{
	const char *said;
	struct cert *other;
	int i;

	begin();
	said = catch_stderr();
	put("a.test.pem", "a.test");
	certdir_put_parts(&dir, "b.test");
	opens();
	write_file(in_dir("a.test.pem"), "broken\n");
	for (i = 0; i < 3; i++)
		look();
	gets("a.test", "a.test");
	ck_assert_uint_eq(lines(said), 1);
	ck_assert(file_has(said, "not replaced"));
	put("a.test.pem", "a2.test");
	look();
	gets("a.test", "a2.test");
	/* one after the other: in between they differ */
	other = cert_new(&(struct cert_wish){ .name = "b2.test" });
	cert_write(other, in_dir("b.test.crt"));
	look();
	gets("b.test", "b.test");
	ck_assert_uint_eq(lines(said), 2);
	cert_write_key(other, in_dir("b.test.key"));
	look();
	gets("b.test", "b2.test");
	certdir_remove(&dir, "b.test.key");
	look();
	gets("b.test", "b2.test");
	ck_assert_uint_eq(lines(said), 3);
	cert_free(other);
	end();
}
END_TEST

/* ---- come and go ---- */

START_TEST(come_and_go)
{
	struct certificate *kept;

	begin();
	put("a.test.pem", "a.test");
	opens();
	gets_none("b.test");
	kept = found("a.test");
	put("b.test.pem", "b.test");
	put("a.test.pem", "a2.test");
	look();
	gets("b.test", "b.test");
	gets("a.test", "a2.test");
	certdir_remove(&dir, "a.test.pem");
	look();
	gets_none("a.test");
	ck_assert_uint_eq(cert_store_count(store), 1);
	/* whoever has it keeps it */
	ck_assert_str_eq(kept->name, "a.test");
	certificate_drop(kept);
	put("*.b.test.pem", "star");
	look();
	gets("x.b.test", "star");
	end();
}
END_TEST

/* Changes of a directory in one tick of its file system's clock leave the same
 * time; none is missed. */
START_TEST(change_in_a_row)
{
	char from[256], to[256], name[32];
	int i, n = (int)suite_amount(300, 30);
	struct certificate *c;

	begin();
	put("0.test.pem", "a.test");
	opens();
	snprintf(from, sizeof(from), "%s", in_dir("0.test.pem"));
	for (i = 1; i < n; i++) {
		snprintf(name, sizeof(name), "%d.test", i);
		snprintf(
		    to, sizeof(to), "%s/%s.pem", cert_store_path(store), name);
		ck_assert_int_eq(rename(from, to), 0);
		(void)cert_store_look(store, 1);
		c = cert_store_find(store, name);
		ck_assert_msg(c != NULL, "%s was missed", name);
		certificate_drop(c);
		memcpy(from, to, sizeof(from));
	}
	ck_assert_uint_eq(cert_store_count(store), 1);
	end();
}
END_TEST

/* Only so many are looked at each time, in turn. */
START_TEST(in_turn)
{
	static const char *const name[] = { "a.test", "b.test", "c.test" };
	struct cert *c;
	unsigned i, n, changed;

	begin();
	for (i = 0; i < 3; i++)
		put(text("%s.pem", name[i]), name[i]);
	opens();
	look();
	c = certdir_cert(&dir, "new.test");
	for (i = 0; i < 3; i++)
		cert_write_all(c, in_dir(text("%s.pem", name[i])));
	cert_free(c);
	for (n = 1; n <= 3; n++) {
		ck_assert(!cert_store_look(store, 1));
		for (changed = i = 0; i < 3; i++) {
			struct certificate *x = found(name[i]);

			changed += strcmp(x->name, "new.test") == 0;
			certificate_drop(x);
		}
		ck_assert_uint_eq(changed, n);
	}
	end();
}
END_TEST

/* A directory that is put in the place of the old one, as a whole. */
START_TEST(another_directory)
{
	const char *old = scratch("old"), *new = scratch("new");
	const char *link = scratch("link");

	begin();
	put("a.test.pem", "a.test");
	put("b.test.pem", "b.test");
	opens();
	ck_assert_int_eq(mkdir(new, 0755), 0);
	certdir_put(&dir, "../new/a.test.pem", "a2.test");
	certdir_put(&dir, "../new/c.test.pem", "c.test");
	ck_assert_int_eq(rename(dir.path, old), 0);
	look();
	gets("a.test", "a.test");
	ck_assert_int_eq(symlink("new", dir.path), 0);
	cert_store_look(store, 1);
	look();
	gets("a.test", "a2.test");
	gets("c.test", "c.test");
	gets_none("b.test");
	ck_assert_int_eq(symlink("old", link), 0);
	ck_assert_int_eq(rename(link, dir.path), 0);
	look();
	gets("a.test", "a.test");
	gets("b.test", "b.test");
	gets_none("c.test");
	end();
}
END_TEST

static unsigned
readable(const char *const name[], unsigned n)
{
	struct certificate *c;
	unsigned i, found_n = 0;

	for (i = 0; i < n; i++) {
		c = cert_store_find(store, name[i]);
		found_n += c != NULL;
		certificate_drop(c);
	}
	return found_n;
}

/* Of many that come or change at once a few are read each time. */
START_TEST(a_few_at_a_time)
{
	enum { MANY = 35 };
	const char *name[MANY];
	unsigned i, n, had = 0, calls = 0;
	bool more;

	begin();
	opens();
	for (i = 0; i < MANY; i++) {
		name[i] = text("%u.test", i);
		certdir_put(&dir, text("%u.test.pem", i), name[i]);
	}
	for (more = cert_store_look(store, 1000); more;
	     more = cert_store_look(store, 0)) {
		n = readable(name, MANY);
		ck_assert_uint_gt(n, had);
		ck_assert_uint_le(n, had + 10);
		ck_assert_uint_eq(cert_store_count(store), n);
		had = n;
		calls++;
	}
	ck_assert_uint_ge(calls, 3);
	ck_assert_uint_eq(readable(name, MANY), MANY);
	/* and while some wait, others change and go */
	for (i = 0; i < MANY; i++)
		certdir_put(&dir, text("%u.test.pem", i), "changed");
	put("new.test.pem", "new.test");
	ck_assert(cert_store_look(store, 1000));
	for (i = 0; i < MANY; i += 2)
		certdir_remove(&dir, text("%u.test.pem", i));
	put("newer.test.pem", "newer.test");
	look();
	ck_assert_uint_eq(cert_store_count(store), MANY / 2 + 2);
	for (i = 1; i < MANY; i += 2)
		gets(name[i], "changed");
	gets("newer.test", "newer.test");
	/* closed with some unread */
	for (i = 0; i < MANY; i += 2)
		put(text("%u.test.pem", i), "again");
	ck_assert(cert_store_look(store, 1));
	end();
}
END_TEST

/* More than are kept ready: the rest is made again when asked for. */
START_TEST(many)
{
	int i, n = (int)suite_amount(1100, 50), round;
	struct certificate *x;
	char name[32], file[40];

	begin();
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%d.test", i);
		snprintf(file, sizeof(file), "%s.pem", name);
		put(file, name);
	}
	opens();
	ck_assert_uint_eq(cert_store_count(store), (unsigned)n);
	for (round = 0; round < 2; round++)
		for (i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%d.test", i);
			x = cert_store_find(store, name);
			if (x == NULL || strcmp(x->name, name) != 0)
				ck_abort_msg("%s", name);
			certificate_drop(x);
		}
	end();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("cert_changes");

	SUITE_ADD(s, left_out, 30);
	SUITE_ADD(s, not_replaced, 30);
	SUITE_ADD(s, come_and_go, 30);
	SUITE_ADD(s, change_in_a_row, 60);
	SUITE_ADD(s, in_turn, 30);
	SUITE_ADD(s, another_directory, 30);
	SUITE_ADD(s, a_few_at_a_time, 30);
	SUITE_ADD(s, many, 60);
	return suite_main(s);
}
