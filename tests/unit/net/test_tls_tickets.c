/* test_tls_tickets.c: keys of tickets: each for an hour, then two to read. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "tls/tls_tickets.h"
#include "support/suite.h"

enum { HOUR_MS = 3600 * 1000, NAME = 16 };

struct keys {
	unsigned char bytes[TICKETS_BYTES];
	size_t n;
};

static struct tls_tickets *
tickets(void)
{
	struct tls_tickets *t = tls_tickets_new();

	ck_assert_ptr_nonnull(t);
	return t;
}

static struct keys
keys_of(struct tls_tickets *t)
{
	struct keys k;

	k.n = tls_tickets_export(t, k.bytes);
	return k;
}

static unsigned
count(const struct keys *k)
{
	ck_assert_uint_gt(k->n, 8);
	return (unsigned)(k->n - 8) / TICKET_KEY_BYTES;
}

/* The number of a key, the newest being 0; -1: it is gone. */
static int
find(const struct keys *k, const unsigned char name[NAME])
{
	unsigned i;

	for (i = 0; i < count(k); i++)
		if (memcmp(&k->bytes[8 + i * TICKET_KEY_BYTES], name, NAME) ==
		    0)
			return (int)i;
	return -1;
}

/* A ticket made at the end of its key's hour is valid for two more. */
START_TEST(keys_are_replaced)
{
	struct tls_tickets *t = tickets();
	struct keys k = keys_of(t);
	unsigned char first[NAME];
	int hours;

	ck_assert_uint_eq(count(&k), 1);
	memcpy(first, &k.bytes[8], NAME);
	t->renewed_ms -= HOUR_MS - 60 * 1000;
	k = keys_of(t);
	ck_assert_int_eq(find(&k, first), 0);
	t->renewed_ms -= 60 * 1000;
	for (hours = 1; hours <= 3; hours++) {
		k = keys_of(t);
		ck_assert_int_eq(find(&k, first), hours);
		t->renewed_ms -= HOUR_MS;
	}
	k = keys_of(t);
	ck_assert_int_eq(find(&k, first), -1);
	tls_tickets_drop(t);
}
END_TEST

/* Processes of one secret make the same keys, however seldom they are used. */
START_TEST(processes_agree)
{
	struct tls_tickets *a = tickets(), *b = tickets();
	struct keys of_a, of_b;

	ck_assert_uint_eq(tls_tickets_share(a, b), sizeof(*a));
	a->renewed_ms -= HOUR_MS;
	(void)keys_of(a);
	a->renewed_ms -= HOUR_MS;
	b->renewed_ms -= 2 * HOUR_MS;
	of_a = keys_of(a);
	of_b = keys_of(b);
	ck_assert_uint_eq(of_a.n, of_b.n);
	ck_assert_mem_eq(of_a.bytes + 8, of_b.bytes + 8, of_a.n - 8);
	tls_tickets_drop(a);
	tls_tickets_drop(b);
}
END_TEST

/* The next process has them for the rest of their time. */
START_TEST(age_is_handed_over)
{
	struct tls_tickets *a = tickets(), *b = tickets();
	struct keys k;

	a->renewed_ms -= HOUR_MS / 2;
	k = keys_of(a);
	ck_assert(tls_tickets_import(b, k.bytes, k.n));
	ck_assert_uint_le(b->renewed_ms, clock_monotonic_ms() - HOUR_MS / 2);
	ck_assert_uint_gt(b->renewed_ms + HOUR_MS, clock_monotonic_ms());
	ck_assert(!tls_tickets_import(b, k.bytes, k.n - 1));
	ck_assert(!tls_tickets_import(b, k.bytes, 8));
	tls_tickets_drop(a);
	tls_tickets_drop(b);
}
END_TEST

/* Those of a file stay, and are not handed over: the next process reads it. */
START_TEST(keys_of_a_file_stay)
{
	struct tls_tickets *t = tickets(), *other = tickets();
	unsigned char bytes[TICKET_KEY_BYTES + 1] = "from the file..";
	struct keys k = keys_of(other);
	struct buffer text;
	struct error e;

	buffer_init(&text);
	ck_assert_int_eq(buffer_append(&text, bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(tls_tickets_read(t, &text, &e), -1);
	buffer_cut(&text, TICKET_KEY_BYTES);
	ck_assert_int_eq(tls_tickets_read(t, &text, &e), 0);
	t->renewed_ms -= 5 * HOUR_MS;
	ck_assert_uint_eq(keys_of(t).n, 0);
	ck_assert(!tls_tickets_import(t, k.bytes, k.n));
	ck_assert_uint_eq(tls_tickets_share(t, other), 0);
	tls_tickets_join(t, other, sizeof(*other));
	ck_assert_uint_eq(t->count, 1);
	ck_assert_mem_eq(t->key[0].name, bytes, NAME);
	buffer_fini(&text);
	tls_tickets_drop(t);
	tls_tickets_drop(other);
}
END_TEST

SUITE(test_tls_tickets)
{
	Suite *s = suite_create("tls_tickets");

	SUITE_ADD(s, keys_are_replaced, 10);
	SUITE_ADD(s, processes_agree, 10);
	SUITE_ADD(s, age_is_handed_over, 10);
	SUITE_ADD(s, keys_of_a_file_stay, 10);
	return s;
}
