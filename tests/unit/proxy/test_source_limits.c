/* test_source_limits.c: the table of sources: who is beyond a limit, what is
 * forgotten and what is not, against a model. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/source_limits.h"
#include "support/suite.h"

static struct limit_options options;
static struct source_limits limits;

static struct peer
at(const char *text)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, text, 1000), 0);
	peer_from_addr(&p, &a);
	return p;
}

static struct peer
number(unsigned n)
{
	struct peer p = at("10.0.0.0");
	uint32_t ip = htonl(0x0a000000 + n);

	memcpy(p.ip + 12, &ip, sizeof(ip));
	return p;
}

static void
begin(uint64_t conns, uint64_t count, uint64_t period_ms)
{
	options = (struct limit_options){
		.conns = conns,
		.rate = { count, period_ms },
		.prefix4 = 32,
		.prefix6 = 64,
		.sources_max = 100,
	};
	source_limits_init(&limits, &options);
}

static struct source *
get(const char *text)
{
	struct peer who = at(text);

	return source_limits_get(&limits, &who);
}

static struct source *
find(const char *text)
{
	struct peer who = at(text);

	return source_limits_find(&limits, &who);
}

static enum limit_verdict
come(struct source *s, uint64_t now)
{
	enum limit_verdict v = source_arrive(&limits, s, true, now);

	if (v == LIMIT_WITHIN)
		source_add_connection(&limits, s);
	return v;
}

static void
is_text(const char *client, const char *expected)
{
	char text[SOURCE_TEXT_MAX];

	ck_assert_str_eq(source_format(get(client), text), expected);
}

START_TEST(connections)
{
	struct source *a, *b;
	int i;

	begin(3, 0, 0);
	a = get("192.0.2.1");
	b = get("192.0.2.2");
	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(a, get("192.0.2.1"));
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	ck_assert_int_eq(source_check(&limits, a, 1000), LIMIT_CONNS);
	ck_assert_int_eq(come(a, 1000), LIMIT_CONNS);
	ck_assert_int_eq(come(b, 1000), LIMIT_WITHIN);
	ck_assert_uint_eq(a->conns, 3);
	ck_assert_uint_eq(a->passed, 3);
	ck_assert_uint_eq(a->limited, 1);
	source_remove_connection(&limits, a);
	ck_assert_int_eq(source_check(&limits, a, 1000), LIMIT_WITHIN);
	ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	/* a reload that lowers it, and one that raises it */
	options.conns = 2;
	source_remove_connection(&limits, a);
	ck_assert_int_eq(come(a, 1000), LIMIT_CONNS);
	options.conns = 4;
	ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	source_limits_fini(&limits);
}
END_TEST

START_TEST(rates)
{
	struct source *a, *b;

	begin(0, 2, 1000);
	a = get("192.0.2.1");
	b = get("2001:db8::1");
	ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	ck_assert_int_eq(source_check(&limits, a, 1000), LIMIT_RATE);
	ck_assert_int_eq(come(a, 1000), LIMIT_RATE);
	ck_assert_int_eq(come(b, 1000), LIMIT_WITHIN);
	ck_assert_int_eq(source_try_again(&limits, a, 1400), LIMIT_RATE);
	ck_assert_int_eq(source_try_again(&limits, a, 1500), LIMIT_WITHIN);
	ck_assert_uint_eq(a->limited, 1);
	ck_assert_uint_eq(a->passed, 3);
	/* datagrams are not connections */
	options.conns = 1;
	ck_assert_int_eq(source_arrive(&limits, a, false, 9000), LIMIT_WITHIN);
	ck_assert_int_eq(source_arrive(&limits, a, false, 9000), LIMIT_WITHIN);
	ck_assert_int_eq(source_arrive(&limits, a, false, 9400), LIMIT_RATE);
	source_limits_fini(&limits);
}
END_TEST

START_TEST(prefixes)
{
	struct peer local = { .family = AF_UNIX };

	begin(1, 0, 0);
	is_text("192.0.2.77", "192.0.2.77");
	is_text("2001:db8:0:1:2::3", "2001:db8:0:1::/64");
	ck_assert_ptr_ne(get("192.0.2.77"), get("192.0.2.78"));
	ck_assert_ptr_eq(get("2001:db8:0:1::1"), get("2001:db8:0:1::2"));
	ck_assert_ptr_ne(get("2001:db8:0:1::1"), get("2001:db8:0:2::1"));
	options.prefix4 = 24;
	options.prefix6 = 56;
	is_text("192.0.2.77", "192.0.2.0/24");
	is_text("2001:db8:0:1ff::3", "2001:db8:0:100::/56");
	ck_assert_ptr_eq(get("192.0.2.77"), get("192.0.2.78"));
	ck_assert_ptr_ne(get("192.0.2.77"), get("192.0.3.77"));
	ck_assert_ptr_eq(get("2001:db8:0:100::1"), get("2001:db8:0:1ff::1"));
	/* through an IPv6 listener it is the same */
	ck_assert_ptr_eq(get("192.0.2.77"), get("::ffff:192.0.2.1"));
	options.prefix4 = 0;
	is_text("192.0.2.77", "0.0.0.0/0");
	ck_assert_ptr_null(source_limits_get(&limits, &local));
	source_limits_fini(&limits);
}
END_TEST

/* However many come, the table stays as small as it may be, and who has
 * connections or waits is not forgotten. */
START_TEST(bounded)
{
	struct list link = LIST_INIT(link);
	struct source *a, *b;
	unsigned i;

	begin(1, 0, 0);
	a = get("192.0.2.1");
	ck_assert_int_eq(come(a, 1000), LIMIT_WITHIN);
	b = get("192.0.2.2");
	source_wait(&limits, b, &link);
	for (i = 0; i < 100000; i++) {
		struct peer who = number(i);

		ck_assert_ptr_nonnull(source_limits_get(&limits, &who));
	}
	ck_assert_uint_eq(limits.table.count, 100);
	ck_assert_uint_le(limits.slab_count, 1);
	ck_assert_ptr_eq(find("192.0.2.1"), a);
	ck_assert_ptr_eq(find("192.0.2.2"), b);
	ck_assert_ptr_eq(list_first(&b->waiting), &link);
	source_wait_over(&limits, b, &link);
	source_remove_connection(&limits, a);
	/* the oldest goes first */
	for (i = 0; i < 98; i++)
		get(i % 2 ? "10.9.9.1" : "10.9.9.2");
	ck_assert_ptr_nonnull(find("192.0.2.1"));
	for (i = 0; i < 100; i++) {
		struct peer who = number(i);

		source_limits_get(&limits, &who);
	}
	ck_assert_ptr_null(find("192.0.2.1"));
	/* it becomes smaller as others come */
	options.sources_max = 10;
	for (i = 200; i < 300; i++) {
		struct peer who = number(i);

		ck_assert_ptr_nonnull(source_limits_get(&limits, &who));
	}
	ck_assert_uint_eq(limits.table.count, 10);
	source_limits_fini(&limits);
}
END_TEST

/* All entries are in use: who comes then is not limited, and gets one as soon
 * as another is not. */
START_TEST(all_in_use)
{
	unsigned i;

	begin(1, 0, 0);
	for (i = 0; i < 100; i++) {
		struct peer who = number(i);

		ck_assert_int_eq(
		    come(source_limits_get(&limits, &who), 1000), LIMIT_WITHIN);
	}
	ck_assert_ptr_null(get("192.0.2.1"));
	source_remove_connection(&limits, find("10.0.0.50"));
	ck_assert_ptr_nonnull(get("192.0.2.1"));
	ck_assert_ptr_null(find("10.0.0.50"));
	source_limits_fini(&limits);
}
END_TEST

/* Who waits keeps its entry; it is the next one's when the wait is over. */
START_TEST(waiting_stay)
{
	struct list links[100];
	unsigned i;

	begin(1, 0, 0);
	for (i = 0; i < 100; i++) {
		struct peer who = number(i);

		source_wait(
		    &limits, source_limits_get(&limits, &who), &links[i]);
	}
	ck_assert_ptr_null(get("192.0.2.1"));
	source_wait_over(&limits, find("10.0.0.50"), &links[50]);
	ck_assert_ptr_nonnull(get("192.0.2.1"));
	ck_assert_ptr_null(find("10.0.0.50"));
	source_limits_fini(&limits);
}
END_TEST

/* Made-up senders do not displace who has had an answer. */
START_TEST(proven_stay)
{
	unsigned i;

	begin(0, 1, RATE_LIMIT_PERIOD);
	source_touch(&limits, get("192.0.2.1"), true);
	ck_assert_int_eq(come(find("192.0.2.1"), 1000), LIMIT_WITHIN);
	source_remove_connection(&limits, find("192.0.2.1"));
	for (i = 0; i < 1000; i++) {
		struct peer who = number(i);

		source_limits_get(&limits, &who);
	}
	ck_assert_ptr_nonnull(find("192.0.2.1"));
	ck_assert_int_eq(come(get("192.0.2.1"), 2000), LIMIT_RATE);
	for (i = 0; i < 1000; i++) {
		struct peer who = number(i);

		source_touch(&limits, source_limits_get(&limits, &who), true);
	}
	ck_assert_ptr_null(find("192.0.2.1"));
	source_limits_fini(&limits);
}
END_TEST

/* The first `n`, found in portions. */
static struct source_walk *
walk(enum source_order by, unsigned n)
{
	struct source_walk *w = source_walk_new(by, n);

	ck_assert_ptr_nonnull(w);
	while (source_walk_on(&limits, w, 7, 1000))
		;
	return w;
}

START_TEST(top)
{
	struct source_walk *w;
	unsigned i, j;

	begin(0, 0, 0);
	for (i = 0; i < 90; i++) {
		struct peer who = number(i * 7 % 90);
		struct source *s = source_limits_get(&limits, &who);

		for (j = 0; j < i * 7 % 90 / 2; j++)
			ck_assert_int_eq(come(s, 1000), LIMIT_WITHIN);
		s->limited = 90 - i * 7 % 90;
	}
	w = walk(SOURCES_BY_CONNS, 20);
	ck_assert_uint_eq(w->count, 20);
	for (i = 0; i < 20; i++)
		ck_assert_uint_eq(w->top[i]->conns, 44 - i / 2);
	/* of two with as many, the one that was limited more */
	ck_assert_uint_gt(w->top[0]->limited, w->top[1]->limited);
	free(w);
	w = walk(SOURCES_BY_LIMITED, 20);
	for (i = 0; i < w->count; i++)
		ck_assert_uint_eq(w->top[i]->limited, 90 - i);
	free(w);
	w = walk(SOURCES_BY_RATE, 1);
	ck_assert_uint_eq(w->count, 1);
	ck_assert_uint_eq(w->top[0]->conns, 44);
	free(w);
	w = walk(SOURCES_BY_CONNS, 1000);
	ck_assert_uint_eq(w->count, 90);
	free(w);
	source_limits_fini(&limits);
}
END_TEST

/* ---- against a model ---- */

enum { CLIENTS = 300, STEPS = 200000 };

struct model {
	unsigned conns;
};

/* 300 clients, a table of 100: who has connections has as many as in the
 * model, and is beyond the limit exactly then. */
START_TEST(as_the_model)
{
	static struct model model[CLIENTS];
	unsigned i, in_use = 0;

	begin(4, 0, 0);
	memset(model, 0, sizeof(model));
	srandom(7);
	for (i = 0; i < STEPS; i++) {
		unsigned c = (unsigned)random() % CLIENTS;
		struct peer who = number(c);
		struct source *s;

		if (random() % 2 == 0 && model[c].conns > 0) {
			s = source_limits_find(&limits, &who);
			ck_assert_uint_eq(s->conns, model[c].conns);
			source_remove_connection(&limits, s);
			if (--model[c].conns == 0)
				in_use--;
			continue;
		}
		s = source_limits_get(&limits, &who);
		if (s == NULL) {
			ck_assert_uint_eq(in_use, 100);
			continue;
		}
		ck_assert_uint_eq(s->conns, model[c].conns);
		if (come(s, i) == LIMIT_WITHIN)
			in_use += model[c].conns++ == 0;
		else
			ck_assert_uint_eq(model[c].conns, 4);
	}
	ck_assert_uint_le(limits.table.count, 100);
	source_limits_fini(&limits);
}
END_TEST

SUITE(test_source_limits)
{
	Suite *s = suite_create("source_limits");

	SUITE_ADD(s, connections, 10);
	SUITE_ADD(s, rates, 10);
	SUITE_ADD(s, prefixes, 10);
	SUITE_ADD(s, bounded, 10);
	SUITE_ADD(s, waiting_stay, 10);
	SUITE_ADD(s, all_in_use, 10);
	SUITE_ADD(s, proven_stay, 10);
	SUITE_ADD(s, top, 10);
	SUITE_ADD(s, as_the_model, 30);
	return s;
}
