/* test_dsr_fragments.c: fragments follow the first one. */
#include "config.h"

#include "dsr/flows/dsr_fragments.h"
#include "unit/dsr/flow_fixture.h"

enum { FRAGMENTS = 8 };

static struct dsr_fragments table;

static void
open_table(void)
{
	now = START;
	ck_assert_int_eq(dsr_fragments_init(&table, FRAGMENTS), 0);
}

static struct dsr_fragment_key
fragment(unsigned family, uint32_t from, uint8_t protocol, uint32_t id)
{
	struct peer a = peer(family, from, 99), b = peer(family, 1, 80);
	struct dsr_fragment_key k;

	dsr_fragment_key_make(&k, &a, &b, protocol, id);
	return k;
}

/* The server of its later fragments, or -1. */
static int
later(const struct dsr_fragment_key *k)
{
	uint32_t server;

	return dsr_fragments_find(&table, k, now, &server) ? (int)server : -1;
}

START_TEST(fragments)
{
	struct dsr_fragment_key k = fragment(AF_INET, 5, IPPROTO_UDP, 77),
				other[] = { fragment(
						AF_INET, 5, IPPROTO_UDP, 78),
					fragment(AF_INET, 6, IPPROTO_UDP, 77),
					fragment(AF_INET, 5, IPPROTO_TCP, 77),
					fragment(
					    AF_INET6, 5, IPPROTO_UDP, 77) },
				six = fragment(AF_INET6, 5, IPPROTO_UDP, 9),
				same =
				    fragment(AF_INET6, 5, IPPROTO_DSTOPTS, 9);
	int i;

	open_table();
	ck_assert_int_eq(later(&k), -1);
	dsr_fragments_add(&table, &k, 4, now);
	ck_assert_int_eq(later(&k), 4);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(later(&other[i]), -1);
	dsr_fragments_add(&table, &six, 6, now);
	ck_assert_int_eq(later(&same), 6);
	/* the sender has begun to count anew */
	now += 20000;
	dsr_fragments_add(&table, &k, 3, now);
	ck_assert_int_eq(later(&k), 3);
	now += DSR_FRAGMENT_MS - 1;
	ck_assert_int_eq(later(&k), 3);
	ck_assert_int_eq(later(&six), -1);
	now++;
	ck_assert_int_eq(later(&k), -1);
	dsr_fragments_fini(&table);
}
END_TEST

START_TEST(fragments_are_bounded)
{
	struct dsr_fragment_key k;
	uint32_t i;

	open_table();
	for (i = 0; i < 1000; i++) {
		k = fragment(AF_INET, i, IPPROTO_UDP, i);
		dsr_fragments_add(&table, &k, i % 3, now);
	}
	ck_assert_uint_eq(table.table.count, FRAGMENTS);
	for (i = 1000 - FRAGMENTS - 1; i < 1000; i++) {
		k = fragment(AF_INET, i, IPPROTO_UDP, i);
		ck_assert_int_eq(
		    later(&k), i < 1000 - FRAGMENTS ? -1 : (int)(i % 3));
	}
	/* the same packet again and again has one entry at a time */
	for (i = 0; i < 100; i++)
		dsr_fragments_add(&table, &k, i % 3, now);
	ck_assert_uint_eq(table.table.count, 1);
	dsr_fragments_fini(&table);
}
END_TEST

SUITE(test_dsr_fragments)
{
	Suite *s = suite_create("dsr_fragments");

	SUITE_ADD(s, fragments, 10);
	SUITE_ADD(s, fragments_are_bounded, 10);
	return s;
}
