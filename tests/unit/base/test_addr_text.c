/* test_addr_text.c: the texts are those of inet_ntop(3). */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr_text.h"
#include "support/suite.h"

static void
same(int family, const uint8_t *ip)
{
	char wanted[INET6_ADDRSTRLEN], got[INET6_ADDRSTRLEN];
	struct addr_text a = { .is_ip6 = family == AF_INET6, .ip = ip };

	addr_text_host(got, &a);
	ck_assert_ptr_nonnull(inet_ntop(family, ip, wanted, sizeof(wanted)));
	ck_assert_str_eq(got, wanted);
}

START_TEST(ip4)
{
	int i;

	same(AF_INET, (const uint8_t[4]){ 0 });
	same(AF_INET, (const uint8_t[4]){ 255, 255, 255, 255 });
	for (i = 0; i < 256; i++)
		same(AF_INET,
		    (const uint8_t[4]){
			10, (uint8_t)i, 0, (uint8_t)(255 - i) });
}
END_TEST

/* Each set of zero groups, with groups of one to four digits. */
START_TEST(ip6)
{
	static const uint8_t top[] = { 0, 0, 0x0a, 0xab, 0xff };
	static const uint8_t low[] = { 1, 0xc0, 0x0d, 0xcd, 0xff };
	unsigned zeros, i, kind;
	uint8_t ip[16];

	for (zeros = 0; zeros < 256; zeros++)
		for (kind = 0; kind < 5; kind++) {
			memset(ip, 0, sizeof(ip));
			for (i = 0; i < 8; i++)
				if ((zeros >> i & 1) == 0) {
					ip[2 * i] = top[(kind + i) % 5];
					ip[2 * i + 1] = low[(kind + i) % 5];
				}
			same(AF_INET6, ip);
		}
}
END_TEST

START_TEST(ip4_in_ip6)
{
	uint8_t ip[16] = { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 };

	same(AF_INET6, ip);
	ip[10] = ip[11] = 0;
	same(AF_INET6, ip);
	ip[12] = ip[13] = 0;
	same(AF_INET6, ip);
}
END_TEST

SUITE(test_addr_text)
{
	Suite *s = suite_create("addr_text");

	SUITE_ADD(s, ip4, 10);
	SUITE_ADD(s, ip6, 10);
	SUITE_ADD(s, ip4_in_ip6, 10);
	return s;
}
