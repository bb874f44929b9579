/* test_cert_changes.c: files of certificates that are broken, come, change and
 * go. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/watched_file.h"
#include "tls/cert_store.h"
#include "support/store_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static struct certificate *
found(const char *name)
{
	struct certificate *c = cert_store_find(store, name, true);

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

	store_begin();
	said = stderr_to_file();
	other = cert_new(&(struct cert_wish){ .name = "other.test" });
	store_put("*.test.pem", "star.test");
	write_file(store_file("empty.test.pem"), "");
	write_file(store_file("words.test.pem"), "no certificate\n");
	cert_write_key(store_dir.first, store_file("key.test.pem"));
	cert_write(store_dir.first, store_file("nokey.test.crt"));
	cert_write(store_dir.first, store_file("differ.test.crt"));
	cert_write_key(other, store_file("differ.test.key"));
	ck_assert_int_eq(mkdir(store_file("dir.test.pem"), 0755), 0);
	ck_assert_int_eq(symlink("nowhere", store_file("link.test.pem")), 0);
	store_opens();
	for (i = 0; i < 3; i++)
		store_look();
	ck_assert_uint_eq(store_count(), 1);
	store_gives("empty.test", "star.test");
	store_gives("differ.test", "star.test");
	store_gives("dir.test", "star.test");
	ck_assert_uint_eq(file_lines(said), 7);
	ck_assert(file_has(said, "not loaded"));
	ck_assert(file_has(said, "key does not match the certificate"));
	ck_assert(!file_has(said, "not replaced"));
	/* mended in its place, which the directory does not tell */
	cert_write_all(other, store_file("empty.test.pem"));
	store_look();
	store_gives("empty.test", "other.test");
	cert_write_key(store_dir.first, store_file("differ.test.key"));
	store_look();
	store_gives("differ.test", "first.test");
	ck_assert_uint_eq(store_count(), 3);
	ck_assert_uint_eq(file_lines(said), 7);
	cert_free(other);
	store_end();
}
END_TEST

START_TEST(not_replaced)
{
	const char *said;
	struct cert *other;
	int i;

	store_begin();
	said = stderr_to_file();
	store_put("a.test.pem", "a.test");
	certdir_put_parts(&store_dir, "b.test");
	store_opens();
	write_file(store_file("a.test.pem"), "broken\n");
	for (i = 0; i < 3; i++)
		store_look();
	store_gives("a.test", "a.test");
	ck_assert_uint_eq(file_lines(said), 1);
	ck_assert(file_has(said, "not replaced"));
	store_put("a.test.pem", "a2.test");
	store_look();
	store_gives("a.test", "a2.test");
	/* one after the other: in between they differ */
	other = cert_new(&(struct cert_wish){ .name = "b2.test" });
	cert_write(other, store_file("b.test.crt"));
	store_look();
	store_gives("b.test", "b.test");
	ck_assert_uint_eq(file_lines(said), 2);
	cert_write_key(other, store_file("b.test.key"));
	store_look();
	store_gives("b.test", "b2.test");
	certdir_remove(&store_dir, "b.test.key");
	store_look();
	store_gives("b.test", "b2.test");
	ck_assert_uint_eq(file_lines(said), 3);
	cert_free(other);
	store_end();
}
END_TEST

/* Looks once, at the changes and at what settles; how long until the next. */
static unsigned
looks(void)
{
	return cert_store_refresh(store, 1000, store_now);
}

/* A file that is written in its place, as cp does it, is seen half written:
 * nothing is said unless it stays so. */
START_TEST(half_written)
{
	static const char *const file[] = { "new.test.pem", "old.test.pem" };
	struct cert *whole = cert_new(&(struct cert_wish){ .name = "whole" });
	const char *all, *said;
	int i;

	store_begin();
	said = stderr_to_file();
	store_put("old.test.pem", "old.test");
	store_opens();
	all = contents(cert_write_all(whole, "whole.pem"));
	for (i = 0; i < 2; i++)
		write_file(store_file(file[i]), "");
	ck_assert_uint_eq(looks(), FILE_SETTLE_MS);
	store_now += FILE_SETTLE_MS - 1;
	ck_assert_uint_eq(looks(), 1);
	/* it grows: what was there counts no more */
	for (i = 0; i < 2; i++)
		write_file(store_file(file[i]), text("%.300s", all));
	store_now += 1;
	ck_assert_uint_eq(looks(), FILE_SETTLE_MS);
	store_gives("old.test", "old.test");
	store_gives_none("new.test");
	for (i = 0; i < 2; i++)
		write_file(store_file(file[i]), all);
	store_now += FILE_SETTLE_MS; /* seen by the look at what settles */
	ck_assert_uint_eq(cert_store_refresh(store, 0, store_now), 0);
	store_gives("old.test", "whole");
	store_gives("new.test", "whole");
	ck_assert_str_eq(contents(said), "");
	cert_free(whole);
	store_end();
}
END_TEST

/* What stays half written is said once; what goes meanwhile is not. */
START_TEST(stays_half_written)
{
	const char *said;
	int i;

	store_begin();
	said = stderr_to_file();
	store_put("a.test.pem", "a.test");
	store_opens();
	write_file(store_file("a.test.pem"), "half");
	write_file(store_file("b.test.pem"), "half");
	write_file(store_file("c.test.pem"), "half");
	ck_assert_uint_eq(looks(), FILE_SETTLE_MS);
	certdir_remove(&store_dir, "c.test.pem");
	ck_assert_str_eq(contents(said), "");
	store_now += FILE_SETTLE_MS;
	ck_assert_uint_eq(cert_store_refresh(store, 0, store_now), 0);
	ck_assert_uint_eq(file_lines(said), 2);
	ck_assert(file_has(said, "not replaced"));
	ck_assert(file_has(said, "not loaded"));
	for (i = 0; i < 3; i++) {
		store_now += FILE_SETTLE_MS;
		ck_assert_uint_eq(looks(), 0);
	}
	ck_assert_uint_eq(file_lines(said), 2);
	ck_assert(!file_has(said, "c.test"));
	store_end();
}
END_TEST

/* ---- come and go ---- */

START_TEST(come_and_go)
{
	struct certificate *kept;

	store_begin();
	store_put("a.test.pem", "a.test");
	store_opens();
	store_gives_none("b.test");
	kept = found("a.test");
	store_put("b.test.pem", "b.test");
	store_put("a.test.pem", "a2.test");
	store_look();
	store_gives("b.test", "b.test");
	store_gives("a.test", "a2.test");
	certdir_remove(&store_dir, "a.test.pem");
	store_look();
	store_gives_none("a.test");
	ck_assert_uint_eq(store_count(), 1);
	/* whoever has it keeps it */
	ck_assert_str_eq(kept->name, "a.test");
	certificate_drop(kept);
	store_put("*.b.test.pem", "star");
	store_look();
	store_gives("x.b.test", "star");
	store_end();
}
END_TEST

/* Changes of a directory in one tick of its file system's clock leave the same
 * time; none is missed. */
START_TEST(change_in_a_row)
{
	char from[256], to[256], name[32];
	int i, n = (int)suite_amount(300, 30);
	struct certificate *c;

	store_begin();
	store_put("0.test.pem", "a.test");
	store_opens();
	snprintf(from, sizeof(from), "%s", store_file("0.test.pem"));
	for (i = 1; i < n; i++) {
		snprintf(name, sizeof(name), "%d.test", i);
		snprintf(
		    to, sizeof(to), "%s/%s.pem", cert_store_path(store), name);
		ck_assert_int_eq(rename(from, to), 0);
		(void)cert_store_refresh(store, 1, store_now);
		c = cert_store_find(store, name, true);
		ck_assert_msg(c != NULL, "%s was missed", name);
		certificate_drop(c);
		memcpy(from, to, sizeof(from));
	}
	ck_assert_uint_eq(store_count(), 1);
	store_end();
}
END_TEST

/* Each look fails while no descriptor is left. */
START_TEST(not_listed)
{
	struct rlimit old, none;
	const char *said;
	unsigned i;

	store_begin();
	said = stderr_to_file();
	store_put("a.test.pem", "a.test");
	store_opens();
	store_look();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	for (i = 1; i <= 2; i++) {
		store_put(text("%u.test.pem", i), "new.test");
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
		store_look();
		store_look();
		store_look();
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
		ck_assert_uint_eq(file_lines(said), i);
		ck_assert(file_has(said, "certificates not read path="));
		store_gives("a.test", "a.test");
		store_look();
		store_gives(text("%u.test", i), "new.test");
	}
	ck_assert_uint_eq(file_lines(said), 2);
	store_end();
}
END_TEST

/* Only so many are looked at each time, in turn. */
START_TEST(in_turn)
{
	static const char *const name[] = { "a.test", "b.test", "c.test" };
	struct cert *c;
	unsigned i, n, changed;

	store_begin();
	for (i = 0; i < 3; i++)
		store_put(text("%s.pem", name[i]), name[i]);
	store_opens();
	store_look();
	c = certdir_cert(&store_dir, "new.test");
	for (i = 0; i < 3; i++)
		cert_write_all(c, store_file(text("%s.pem", name[i])));
	cert_free(c);
	for (n = 1; n <= 3; n++) {
		ck_assert_uint_eq(cert_store_refresh(store, 1, store_now), 0);
		for (changed = i = 0; i < 3; i++) {
			struct certificate *x = found(name[i]);

			changed += strcmp(x->name, "new.test") == 0;
			certificate_drop(x);
		}
		ck_assert_uint_eq(changed, n);
	}
	store_end();
}
END_TEST

/* A directory that is put in the place of the old one, as a whole. */
START_TEST(another_directory)
{
	const char *old = scratch("old"), *new = scratch("new");
	const char *link = scratch("link");

	store_begin();
	store_put("a.test.pem", "a.test");
	store_put("b.test.pem", "b.test");
	store_opens();
	ck_assert_int_eq(mkdir(new, 0755), 0);
	certdir_put(&store_dir, "../new/a.test.pem", "a2.test");
	certdir_put(&store_dir, "../new/c.test.pem", "c.test");
	ck_assert_int_eq(rename(store_dir.path, old), 0);
	store_look();
	store_gives("a.test", "a.test");
	ck_assert_int_eq(symlink("new", store_dir.path), 0);
	(void)cert_store_refresh(store, 1, store_now);
	store_look();
	store_gives("a.test", "a2.test");
	store_gives("c.test", "c.test");
	store_gives_none("b.test");
	ck_assert_int_eq(symlink("old", link), 0);
	ck_assert_int_eq(rename(link, store_dir.path), 0);
	store_look();
	store_gives("a.test", "a.test");
	store_gives("b.test", "b.test");
	store_gives_none("c.test");
	store_end();
}
END_TEST

static unsigned
readable(const char *const name[], unsigned n)
{
	struct certificate *c;
	unsigned i, found_n = 0;

	for (i = 0; i < n; i++) {
		c = cert_store_find(store, name[i], true);
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
	unsigned more;

	store_begin();
	store_opens();
	for (i = 0; i < MANY; i++) {
		name[i] = text("%u.test", i);
		certdir_put(&store_dir, text("%u.test.pem", i), name[i]);
	}
	for (more = cert_store_refresh(store, 1000, store_now); more > 0;
	     more = cert_store_refresh(store, 0, store_now)) {
		n = readable(name, MANY);
		ck_assert_uint_gt(n, had);
		ck_assert_uint_le(n, had + 10);
		ck_assert_uint_eq(store_count(), n);
		had = n;
		calls++;
	}
	ck_assert_uint_ge(calls, 3);
	ck_assert_uint_eq(readable(name, MANY), MANY);
	/* and while some wait, others change and go */
	for (i = 0; i < MANY; i++)
		certdir_put(&store_dir, text("%u.test.pem", i), "changed");
	store_put("new.test.pem", "new.test");
	ck_assert_uint_gt(cert_store_refresh(store, 1000, store_now), 0);
	for (i = 0; i < MANY; i += 2)
		certdir_remove(&store_dir, text("%u.test.pem", i));
	store_put("newer.test.pem", "newer.test");
	store_look();
	ck_assert_uint_eq(store_count(), MANY / 2 + 2);
	for (i = 1; i < MANY; i += 2)
		store_gives(name[i], "changed");
	store_gives("newer.test", "newer.test");
	/* closed with some unread */
	for (i = 0; i < MANY; i += 2)
		store_put(text("%u.test.pem", i), "again");
	ck_assert_uint_gt(cert_store_refresh(store, 1, store_now), 0);
	store_end();
}
END_TEST

/* More than are kept ready: the rest is made again when asked for. */
START_TEST(many)
{
	int i, n = (int)suite_amount(1100, 50), round;
	struct certificate *x;
	char name[32], file[40];

	store_begin();
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%d.test", i);
		snprintf(file, sizeof(file), "%s.pem", name);
		store_put(file, name);
	}
	store_opens();
	ck_assert_uint_eq(store_count(), (unsigned)n);
	for (round = 0; round < 2; round++)
		for (i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%d.test", i);
			x = cert_store_find(store, name, true);
			if (x == NULL || strcmp(x->name, name) != 0)
				ck_abort_msg("%s", name);
			certificate_drop(x);
		}
	store_end();
}
END_TEST

SUITE(test_cert_changes)
{
	Suite *s = suite_create("cert_changes");

	SUITE_ADD(s, left_out, 30);
	SUITE_ADD(s, not_replaced, 30);
	SUITE_ADD(s, half_written, 30);
	SUITE_ADD(s, stays_half_written, 30);
	SUITE_ADD(s, come_and_go, 30);
	SUITE_ADD(s, change_in_a_row, 60);
	SUITE_ADD(s, not_listed, 30);
	SUITE_ADD(s, in_turn, 30);
	SUITE_ADD(s, another_directory, 30);
	SUITE_ADD(s, a_few_at_a_time, 30);
	SUITE_ADD(s, many, 60);
	return s;
}
