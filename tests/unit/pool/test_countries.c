/* test_countries.c: the country of an address, from databases made here. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>

#include "pool/acl/acl.h"
#include "pool/acl/countries.h"
#include "pool/pool.h"
#include "support/acladd.h"
#include "support/mmdb.h"
#include "support/suite.h"

static struct error e;

#ifdef HAVE_MAXMINDDB

static struct peer
peer(const char *ip)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, ip, 7), 0);
	peer_from_addr(&p, &a);
	return p;
}

static const char *
country(struct countries *c, const char *ip)
{
	struct peer who = peer(ip);
	int n = countries_of(c, &who);

	return n < 0 ? "" : text("%c%c", 'A' + n / 26, 'A' + n % 26);
}

static struct countries *
open_new(enum mmdb_shape shape)
{
	struct mmdb *m = mmdb_new(shape);
	struct countries *c = countries_new();

	mmdb_add(m, "10.0.0.0/8", "SE");
	mmdb_add(m, "10.1.0.0/16", "NO");
	mmdb_add(m, "10.1.2.3/32", "");
	mmdb_add(m, "2001:db8::/32", "ZZ");
	mmdb_write(m, scratch("c.mmdb"), 1234567890);
	ck_assert_msg(countries_open(c, scratch("c.mmdb"), &e) == 0, "%s",
	    e.text);
	return c;
}

START_TEST(addresses_of_both_families)
{
	struct countries *c = open_new((enum mmdb_shape)_i);
	struct peer unix_client = { .family = AF_UNIX };

	ck_assert_str_eq(country(c, "10.0.0.1"), "SE");
	ck_assert_str_eq(country(c, "10.1.0.1"), "NO");
	ck_assert_str_eq(country(c, "::ffff:10.1.0.1"), "NO");
	ck_assert_str_eq(country(c, "10.1.2.3"), "");
	ck_assert_str_eq(country(c, "11.0.0.1"), "");
	ck_assert_str_eq(country(c, "2001:db8::7"), "ZZ");
	ck_assert_str_eq(country(c, "2001:db9::7"), "");
	ck_assert_int_eq(countries_of(c, &unix_client), -1);
	ck_assert_uint_eq(countries_made(c), 1234567890);
	countries_free(c);
}
END_TEST

/* The last address is remembered, and no other one is taken for it. */
START_TEST(many_entries_and_one_address)
{
	struct countries *c = open_new(MMDB_NESTED);
	struct acl list = { .countries = c };
	struct acl_entry entry;
	struct peer who;
	unsigned i;

	for (i = 0; i < 26; i++) {
		ck_assert_int_eq(acl_entry_parse(&entry, false, "country",
				     text("S%c", 'A' + i), &e),
		    0);
		ck_assert_int_eq(acl_add_entry(&list, &entry, NULL), 0);
	}
	list.countries = c;
	who = peer("10.0.0.1");
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(acl_find(&list, &who), 'E' - 'A');
	who = peer("10.1.0.1");
	ck_assert_uint_eq(acl_find(&list, &who), 26);
	acl_fini(&list);
	countries_free(c);
}
END_TEST

START_TEST(entries_before_that_of_a_country)
{
	struct countries *c = open_new(MMDB_NESTED);
	struct acl list = { .countries = c };
	struct acl_entry entry;
	struct peer who = peer("10.0.0.1");

	ck_assert_int_eq(acl_add(&list, true, "10.0.0.0/8", NULL), 0);
	ck_assert_int_eq(
	    acl_entry_parse(&entry, true, "country", "se", &e), 0);
	ck_assert_int_eq(acl_add_entry(&list, &entry, NULL), 0);
	ck_assert_uint_eq(acl_find(&list, &who), 0);
	list.countries = NULL;
	who = peer("9.0.0.1");
	ck_assert(!acl_permits(&list, &who));
	acl_fini(&list);
	countries_free(c);
}
END_TEST

START_TEST(what_is_no_database)
{
	struct countries *c = open_new(MMDB_NESTED);

	write_file(scratch("bad"), "no database");
	ck_assert_int_eq(countries_open(c, scratch("bad"), &e), -1);
	ck_assert_int_eq(countries_open(c, scratch("nowhere"), &e), -1);
	ck_assert_str_eq(e.text, "No such file or directory");
	/* without a writer, which open() would wait for */
	ck_assert_int_eq(mkfifo(scratch("pipe"), 0600), 0);
	ck_assert_int_eq(countries_open(c, scratch("pipe"), &e), -1);
	ck_assert_str_eq(e.text, "is a pipe");
	ck_assert_str_eq(country(c, "10.0.0.1"), "SE");
	ck_assert_int_eq(countries_open(c, NULL, &e), 0);
	ck_assert_str_eq(country(c, "10.0.0.1"), "");
	ck_assert_uint_eq(countries_made(c), 0);
	countries_free(c);
}
END_TEST

START_TEST(one_takes_anothers)
{
	struct countries *c = countries_new(), *d = open_new(MMDB_FLAT);

	ck_assert_str_eq(country(c, "10.0.0.1"), "");
	countries_take(c, d);
	ck_assert_str_eq(country(c, "10.0.0.1"), "SE");
	ck_assert_str_eq(country(d, "10.0.0.1"), "");
	countries_free(d);
	countries_free(c);
}
END_TEST

/* The clients of a service that leaves are still from somewhere. */
START_TEST(kept_lists_have_countries)
{
	struct countries *c = open_new(MMDB_NESTED);
	struct pool *first = pool_new(), *other = pool_new();
	struct peer who = peer("10.0.0.1");
	struct acl_entry entry;
	struct acl list;

	acl_init(&list);
	ck_assert_int_eq(
	    acl_entry_parse(&entry, false, "country", "SE", &e), 0);
	ck_assert_int_eq(acl_add_entry(&list, &entry, NULL), 0);
	pool_share_lists(other, first);
	pool_set_acl(first, 1, &list);
	countries_take(pool_countries(first), c);
	ck_assert(!acl_permits(pool_acl(other, 1), &who));
	ck_assert_int_eq(pool_freeze_lists(other), 0);
	ck_assert(!acl_permits(pool_acl(other, 1), &who));
	pool_free(other);
	pool_free(first);
	acl_fini(&list);
	countries_free(c);
}
END_TEST

#else

START_TEST(not_built_in)
{
	struct countries *c = countries_new();
	struct acl_entry entry;

	ck_assert_int_eq(countries_open(c, "/x", &e), -1);
	ck_assert_str_eq(e.text, "built without libmaxminddb");
	ck_assert_int_eq(countries_open(c, NULL, &e), 0);
	ck_assert_int_eq(
	    acl_entry_parse(&entry, true, "country", "SE", &e), -1);
	ck_assert_str_eq(e.text, "country: built without libmaxminddb");
	countries_free(c);
}
END_TEST

#endif

SUITE(test_countries)
{
	Suite *s = suite_create("countries");

#ifdef HAVE_MAXMINDDB
	TCase *shapes = tcase_create("addresses_of_both_families");

	tcase_add_loop_test(shapes, addresses_of_both_families, 0, 3);
	suite_add_tcase(s, shapes);
	SUITE_ADD(s, many_entries_and_one_address, 10);
	SUITE_ADD(s, entries_before_that_of_a_country, 10);
	SUITE_ADD(s, what_is_no_database, 10);
	SUITE_ADD(s, one_takes_anothers, 10);
	SUITE_ADD(s, kept_lists_have_countries, 10);
#else
	SUITE_ADD(s, not_built_in, 10);
#endif
	return s;
}
