/* test_failback.c: when clients return to the server that they were moved away
 * from. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "pool/explain.h"
#include "pool/sticky/sticky.h"
#include "support/pooladmin.h"
#include "support/suite.h"

enum { SERVERS = 3, NONE = -1 };

static struct pool *pool;
static uint64_t now;
static struct peer who;

static void
set_failback(enum failback f)
{
	struct pool_options o = *pool_options(pool);

	o.failback = f;
	ck_assert_int_eq(pool_set_options(pool, &o), 0);
}

static void
begin(enum failback f)
{
	struct server_spec spec;
	struct addr at;
	char name[32];
	unsigned i;

	now = 1000;
	pool = pool_new();
	ck_assert_ptr_nonnull(pool);
	for (i = 0; i < SERVERS; i++) {
		server_spec_init(&spec);
		snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
		spec.name = name;
		spec.addrs.count = 1;
		ck_assert_int_eq(
		    addr_parse_ip(&spec.addrs.addr[0], name, 80), 0);
		ck_assert_ptr_nonnull(
		    pool_set_slot(pool, server_slot(i), &spec));
	}
	ck_assert_int_eq(addr_parse_ip(&at, "192.0.2.1", 1024), 0);
	peer_from_addr(&who, &at);
	set_failback(f);
}

/* The client connects. */
static int
connects(struct attempts *a)
{
	struct server *s;

	*a = (struct attempts){ .count = 0 };
	s = pool_choose(pool, &who, a, now);
	if (s == NULL)
		return NONE;
	pool_opened(pool, s, &who, a, now);
	return (int)s->number;
}

static void
ends(int server, struct attempts *a, uint64_t bytes)
{
	pool_closed(
	    pool, pool_server(pool, (unsigned)server), &who, a, bytes, bytes);
}

/* Connects, is served, ends. Returns by whom. */
static int
visits(void)
{
	struct attempts a;
	int s = connects(&a);

	ck_assert_int_ne(s, NONE);
	ends(s, &a, 10);
	return s;
}

static void
admin(int server, enum server_admin a)
{
	pool_set_admin(pool, pool_server(pool, (unsigned)server), a);
}

/* It is moved away from its server, `home`; returns where to. */
static int
is_moved(int home)
{
	int away;

	admin(home, SERVER_DISABLED);
	away = visits();
	ck_assert_int_ne(away, home);
	return away;
}

START_TEST(never)
{
	int home, away;

	begin(FAILBACK_NEVER);
	home = visits();
	away = is_moved(home);
	admin(home, SERVER_ENABLED);
	ck_assert_int_eq(visits(), away);
	pool_free(pool);
}
END_TEST

START_TEST(at_once)
{
	struct explanation x;
	struct attempts a;
	int home, away;

	begin(FAILBACK_NOW);
	home = visits();
	away = is_moved(home);
	ck_assert_int_eq(visits(), away);
	ck_assert_int_eq(connects(&a), away);
	admin(home, SERVER_ENABLED);
	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_int_eq(x.decision.rule, RULE_FAILBACK);
	ck_assert_int_eq((int)x.decision.server->number, home);
	ck_assert_int_eq(visits(), home);
	ends(away, &a, 1);
	/* it is at home now */
	pool_explain(pool, &who, &(struct attempts){ .count = 0 }, now, &x);
	ck_assert_int_eq(x.decision.rule, RULE_STICKY);
	ck_assert_int_eq(visits(), home);
	pool_free(pool);
}
END_TEST

START_TEST(when_it_has_no_connection)
{
	struct attempts a, b;
	int home, away;

	begin(FAILBACK_IDLE);
	home = visits();
	away = is_moved(home);
	ck_assert_int_eq(connects(&a), away);
	admin(home, SERVER_ENABLED);
	ck_assert_int_eq(connects(&b), away);
	ends(away, &a, 1);
	ck_assert_int_eq(visits(), away);
	ends(away, &b, 1);
	ck_assert_int_eq(visits(), home);
	pool_free(pool);
}
END_TEST

/* The first home counts, however often it is moved on. A server that drains, or
 * is full, is none to return to. */
START_TEST(home_is_the_first_one)
{
	int home, away;

	begin(FAILBACK_NOW);
	home = visits();
	away = is_moved(home);
	is_moved(away);
	admin(away, SERVER_ENABLED);
	admin(home, SERVER_DRAINING);
	ck_assert_int_ne(visits(), home);
	admin(home, SERVER_ENABLED);
	pool_server(pool, (unsigned)home)->connections = 5;
	pool_server(pool, (unsigned)home)->set.soft = 5;
	pool_set_admin(
	    pool, pool_server(pool, (unsigned)home), SERVER_ENABLED);
	ck_assert_int_ne(visits(), home);
	pool_server(pool, (unsigned)home)->set.soft = 0;
	admin(home, SERVER_ENABLED);
	ck_assert_int_eq(visits(), home);
	pool_free(pool);
}
END_TEST

/* A connect that failed makes no home. */
START_TEST(who_was_never_served_need_not_return)
{
	struct attempts a;
	int first, second;

	begin(FAILBACK_NOW);
	first = connects(&a);
	ends(first, &a, 0);
	second = is_moved(first);
	admin(first, SERVER_ENABLED);
	ck_assert_int_eq(visits(), second);
	pool_free(pool);
}
END_TEST

/* Set while clients are there, and lifted again. */
START_TEST(set_anew)
{
	int home, away;

	begin(FAILBACK_NEVER);
	home = visits();
	set_failback(FAILBACK_NOW);
	away = is_moved(home);
	set_failback(FAILBACK_NEVER);
	admin(home, SERVER_ENABLED);
	ck_assert_int_eq(visits(), away);
	set_failback(FAILBACK_NOW);
	ck_assert_int_eq(visits(), away);
	pool_free(pool);
}
END_TEST

/* A peer's later report says where it is now, and not from where it came. */
START_TEST(not_to_before_a_report)
{
	struct sticky_client c = { .family = AF_INET };
	int home, away;

	begin(FAILBACK_NOW);
	home = visits();
	away = is_moved(home);
	memcpy(c.ip, who.ip, sizeof(c.ip));
	c.server = (unsigned)(0 + 1 + 2 - home - away); /* the third one */
	c.seen = now + 1;
	ck_assert(sticky_learn(pool_sticky(pool), &c));
	admin(home, SERVER_ENABLED);
	ck_assert_int_eq(visits(), (int)c.server);
	pool_free(pool);
}
END_TEST

SUITE(test_failback)
{
	Suite *s = suite_create("failback");

	SUITE_ADD(s, never, 10);
	SUITE_ADD(s, at_once, 10);
	SUITE_ADD(s, when_it_has_no_connection, 10);
	SUITE_ADD(s, home_is_the_first_one, 10);
	SUITE_ADD(s, who_was_never_served_need_not_return, 10);
	SUITE_ADD(s, set_anew, 10);
	SUITE_ADD(s, not_to_before_a_report, 10);
	return s;
}
