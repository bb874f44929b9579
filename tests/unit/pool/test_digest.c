/* test_digest.c: servers by a number that stays theirs, and clients that ask
 * for one. */
#include "config.h"

#include <check.h>
#include <stdio.h>

#include "pool/pool.h"
#include "pool/server/server_set.h"
#include "support/suite.h"

enum { SERVERS = 300, NOW = 1000 };

static struct server *
put(struct pool *p, unsigned number, const char *name, const char *host)
{
	struct server_spec spec;
	struct server *s;

	server_spec_init(&spec);
	spec.name = (char[64]){ "" };
	snprintf(spec.name, 64, "%s", name);
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], host, 80), 0);
	s = pool_set_slot(p, server_slot(number), &spec);
	ck_assert_ptr_nonnull(s);
	return s;
}

static const char *
host(unsigned i)
{
	static char text[32];

	snprintf(text, sizeof(text), "10.0.%u.%u", i / 256, i % 256);
	return text;
}

/* Two pools with the same servers, in other orders. */
START_TEST(the_same_in_each_order)
{
	struct pool *one = pool_new(), *two = pool_new();
	struct server *s, *t;
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		(void)put(one, i, host(i), host(i));
	for (i = 0; i < SERVERS; i++)
		(void)put(two, SERVERS - 1 - i, host(i), host(i));
	for (i = 0; i < SERVERS; i++) {
		s = pool_server(one, i);
		t = pool_server(two, SERVERS - 1 - i);
		ck_assert_uint_ne(s->digest, 0);
		ck_assert_uint_eq(s->digest, t->digest);
		ck_assert_ptr_eq(pool_by_digest(one, s->digest), s);
		ck_assert_ptr_eq(pool_by_digest(two, s->digest), t);
	}
	pool_free(one);
	pool_free(two);
}
END_TEST

START_TEST(servers_change)
{
	struct pool *p = pool_new();
	struct server *s = put(p, 0, "web", "10.0.0.1"), *other;
	uint64_t was = s->digest;

	ck_assert_uint_eq(put(p, 0, "web", "10.0.0.1")->digest, was);
	ck_assert_ptr_eq(pool_by_digest(p, was), s);
	ck_assert_uint_ne(put(p, 0, "web", "10.0.0.2")->digest, was);
	ck_assert_ptr_null(pool_by_digest(p, was));
	ck_assert_uint_ne(put(p, 0, "www", "10.0.0.1")->digest, was);
	ck_assert_ptr_null(pool_by_digest(p, was));
	other = put(p, 1, "web", "10.0.0.1");
	ck_assert_ptr_eq(pool_by_digest(p, was), other);
	(void)put(p, 2, "web", "10.0.0.1");
	pool_remove_server(p, other);
	ck_assert_uint_eq(other->digest, 0);
	ck_assert_ptr_eq(pool_by_digest(p, was), pool_server(p, 2));
	pool_remove_server(p, pool_server(p, 2));
	ck_assert_ptr_null(pool_by_digest(p, was));
	ck_assert_ptr_null(pool_by_digest(p, 0));
	pool_free(p);
}
END_TEST

static unsigned
chosen(struct pool *p, struct attempts *a)
{
	struct peer who;
	struct server *s;
	struct addr at;

	ck_assert_int_eq(addr_parse_ip(&at, "192.0.2.1", 1), 0);
	peer_from_addr(&who, &at);
	s = pool_choose(p, &who, a, NOW);
	return s != NULL ? s->number : 99;
}

static unsigned
wanted(struct pool *p, unsigned number)
{
	struct attempts a = { .count = 0 };

	attempts_want(&a, pool_server(p, number));
	return a.wanted;
}

/* The client's wish counts once, and only where it may be. */
START_TEST(a_wanted_server)
{
	struct pool *p = pool_new();
	unsigned slot = server_slot(1);
	struct server_set set;
	struct attempts a;
	unsigned i;

	for (i = 0; i < 4; i++)
		(void)put(p, i, host(i), host(i));
	a = (struct attempts){ .wanted = wanted(p, 3) };
	ck_assert_uint_eq(chosen(p, &a), 3);
	ck_assert_uint_ne(chosen(p, &a), 3);
	ck_assert_int_eq(server_set_init(&set, &slot, 1), 0);
	a = (struct attempts){ .wanted = wanted(p, 3), .allowed = &set };
	ck_assert_uint_eq(chosen(p, &a), 1);
	server_set_fini(&set);
	(void)pool_failed(p, pool_server(p, 3), "x", NOW);
	a = (struct attempts){ .wanted = wanted(p, 3) };
	ck_assert_uint_ne(chosen(p, &a), 3);
	pool_remove_server(p, pool_server(p, 2));
	a = (struct attempts){ .wanted = wanted(p, 2) };
	ck_assert_uint_lt(chosen(p, &a), 2);
	pool_free(p);
}
END_TEST

SUITE(test_digest)
{
	Suite *s = suite_create("digest");

	SUITE_ADD(s, the_same_in_each_order, 20);
	SUITE_ADD(s, servers_change, 20);
	SUITE_ADD(s, a_wanted_server, 20);
	return s;
}
