/* test_path_mtu.c: what routers say about a path. */
#include "config.h"

#include <check.h>
#include <sys/socket.h>

#include "dsr/forward/path_mtu.h"
#include "support/suite.h"

enum { LINK = 1500, NOW = 5000000 };

START_TEST(lowered)
{
	struct path_mtu p = { .mtu = 0 };

	ck_assert_uint_eq(path_mtu_get(&p, LINK, NOW), LINK);
	ck_assert(!path_mtu_lower(&p, AF_INET, LINK, LINK, NOW));
	ck_assert(!path_mtu_lower(&p, AF_INET, 9000, LINK, NOW));
	ck_assert(path_mtu_lower(&p, AF_INET, 1400, LINK, NOW));
	ck_assert_uint_eq(path_mtu_get(&p, LINK, NOW), 1400);
	/* never more by a router's word */
	ck_assert(!path_mtu_lower(&p, AF_INET, 1450, LINK, NOW));
	ck_assert(!path_mtu_lower(&p, AF_INET, 1400, LINK, NOW));
	ck_assert(path_mtu_lower(&p, AF_INET, 1300, LINK, NOW));
	ck_assert_uint_eq(path_mtu_get(&p, LINK, NOW), 1300);
	/* the link itself may be narrower */
	ck_assert_uint_eq(path_mtu_get(&p, 1200, NOW), 1200);
}
END_TEST

START_TEST(aged)
{
	struct path_mtu p = { .mtu = 0 };
	uint64_t end = NOW + PATH_MTU_S * UINT64_C(1000);

	ck_assert(path_mtu_lower(&p, AF_INET, 1400, LINK, NOW));
	ck_assert_uint_eq(path_mtu_get(&p, LINK, end - 1), 1400);
	ck_assert_uint_eq(path_mtu_get(&p, LINK, end), LINK);
	ck_assert(path_mtu_lower(&p, AF_INET, 1450, LINK, end));
	ck_assert_uint_eq(path_mtu_get(&p, LINK, end), 1450);
}
END_TEST

START_TEST(least)
{
	struct path_mtu p = { .mtu = 0 }, q = { .mtu = 0 };

	ck_assert(path_mtu_lower(&p, AF_INET, 1, LINK, NOW));
	ck_assert_uint_eq(path_mtu_get(&p, LINK, NOW), 576);
	ck_assert(!path_mtu_lower(&p, AF_INET, 88, LINK, NOW));
	ck_assert(path_mtu_lower(&q, AF_INET6, 600, LINK, NOW));
	ck_assert_uint_eq(path_mtu_get(&q, LINK, NOW), 1280);
	ck_assert(!path_mtu_lower(&q, AF_INET6, 600, LINK, NOW));
}
END_TEST

SUITE(test_path_mtu)
{
	Suite *s = suite_create("path_mtu");

	SUITE_ADD(s, lowered, 10);
	SUITE_ADD(s, aged, 10);
	SUITE_ADD(s, least, 10);
	return s;
}
