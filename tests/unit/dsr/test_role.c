/* test_role.c: since when a director has its role, and who claims a VIP. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <string.h>

#include "dsr/director/role.h"
#include "support/suite.h"

static const struct who_has claim = {
	.sender = { .family = AF_INET, .ip = { [15] = 10 } },
	.mac = { { 2, 0, 0, 0, 0, 9 } },
};

START_TEST(begins_with_one)
{
	struct role r = { .since = 0 };

	role_set(&r, false, 7);
	ck_assert_str_eq(role_name(&r), "active");
	ck_assert_uint_eq(r.since, 7);
	ck_assert_uint_eq(r.claimed_at, 0);
}
END_TEST

/* A command that changes nothing is no beginning. */
START_TEST(lasts_since_it_changed)
{
	struct role r = { .since = 0 };

	role_set(&r, true, 5);
	role_set(&r, true, 6);
	ck_assert_str_eq(role_name(&r), "standby");
	ck_assert_uint_eq(r.since, 5);
	role_set(&r, false, 9);
	ck_assert_uint_eq(r.since, 9);
	role_set(&r, true, 12);
	ck_assert_uint_eq(r.since, 12);
}
END_TEST

START_TEST(keeps_the_last_claim)
{
	struct role r = { .since = 0 };

	role_set(&r, true, 5);
	role_claim(&r, &claim, 8);
	ck_assert_uint_eq(r.claimed_at, 8);
	ck_assert(mac_equal(&r.claimant, &claim.mac));
	ck_assert(who_has_same_ip(&r.claimed, &claim.sender));
}
END_TEST

/* The other one had the VIP until then. */
START_TEST(a_takeover_ends_the_claim)
{
	struct role r = { .since = 0 };

	role_set(&r, true, 5);
	role_claim(&r, &claim, 8);
	role_set(&r, true, 9);
	ck_assert_uint_eq(r.claimed_at, 8);
	role_set(&r, false, 10);
	ck_assert_uint_eq(r.claimed_at, 0);
	role_claim(&r, &claim, 11);
	role_set(&r, true, 12);
	ck_assert_uint_eq(r.claimed_at, 11);
}
END_TEST

SUITE(test_role)
{
	Suite *s = suite_create("role");

	SUITE_ADD(s, begins_with_one, 5);
	SUITE_ADD(s, lasts_since_it_changed, 5);
	SUITE_ADD(s, keeps_the_last_claim, 5);
	SUITE_ADD(s, a_takeover_ends_the_claim, 5);
	return s;
}
