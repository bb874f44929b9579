/* test_acl.c: first match decides, else the opposite of the last entry. */
#include "config.h"

#include <check.h>
#include <errno.h>

#include "pool/acl.h"
#include "support/suite.h"

static struct acl list;

static bool
permits(const char *ip)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, ip, 1), 0);
	peer_from_addr(&p, &a);
	return acl_permits(&list, &p);
}

static void
add(bool permit, const char *address, const char *mask)
{
	ck_assert_int_eq(acl_add(&list, permit, address, mask), 0);
}

static void
refuse(const char *address, const char *mask)
{
	size_t count = list.count;

	ck_assert_int_eq(acl_add(&list, true, address, mask), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(list.count, count);
}

START_TEST(order_decides)
{
	acl_init(&list);
	ck_assert(permits("10.0.0.1"));
	add(false, "10.0.0.1", NULL);
	ck_assert(!permits("10.0.0.1"));
	ck_assert(permits("10.0.0.2"));
	ck_assert(permits("::1"));
	add(true, "10.0.0.0/8", NULL);
	ck_assert(!permits("10.0.0.1"));
	ck_assert(permits("10.255.0.1"));
	ck_assert(!permits("11.0.0.1"));
	ck_assert(!permits("::1"));
	acl_clear(&list);
	ck_assert(permits("10.0.0.1"));
	acl_fini(&list);
}
END_TEST

START_TEST(masks_and_prefixes)
{
	acl_init(&list);
	add(true, "192.0.2.77", "255.255.255.0");
	add(true, "2001:db8::/33", NULL);
	add(true, "198.51.100.0/31", NULL);
	ck_assert(permits("192.0.2.1"));
	ck_assert(permits("::ffff:192.0.2.9"));
	ck_assert(!permits("192.0.3.1"));
	ck_assert(permits("2001:db8:7fff::1"));
	ck_assert(!permits("2001:db8:8000::1"));
	ck_assert(permits("198.51.100.1"));
	ck_assert(!permits("198.51.100.2"));
	add(true, "0.0.0.0/0", NULL);
	ck_assert(permits("203.0.113.1"));
	ck_assert(!permits("2001:db9::1"));
	add(true, "::/0", NULL);
	ck_assert(permits("2001:db9::1"));
	acl_fini(&list);
}
END_TEST

START_TEST(bad_entries)
{
	acl_init(&list);
	refuse("", NULL);
	refuse("host", NULL);
	refuse("10.0.0.1/33", NULL);
	refuse("10.0.0.1/", NULL);
	refuse("10.0.0.1/-1", NULL);
	refuse("::1/129", NULL);
	refuse("::1", "255.0.0.0");
	refuse("10.0.0.1", "255.0.0");
	acl_fini(&list);
}
END_TEST

/* Clients on Unix sockets match no entry. */
START_TEST(unix_clients)
{
	struct peer p = { .family = AF_UNIX };

	acl_init(&list);
	add(true, "0.0.0.0/0", NULL);
	add(true, "::/0", NULL);
	ck_assert(!acl_permits(&list, &p));
	add(false, "10.0.0.1", NULL);
	ck_assert(acl_permits(&list, &p));
	acl_fini(&list);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("acl");

	SUITE_ADD(s, order_decides, 10);
	SUITE_ADD(s, masks_and_prefixes, 10);
	SUITE_ADD(s, bad_entries, 10);
	SUITE_ADD(s, unix_clients, 10);
	return suite_main(s);
}
