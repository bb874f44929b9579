/* test_first.c: names of hosts, what is read of which bytes, what is kept. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/first.h"
#include "support/suite.h"

static const char *
name(const char *text)
{
	static char to[FIRST_NAME];

	return first_set_name(to, text, strlen(text)) ? to : NULL;
}

START_TEST(names)
{
	char longest[FIRST_NAME + 1];

	ck_assert_str_eq(name("A.Example"), "a.example");
	ck_assert_str_eq(name("a.example."), "a.example");
	ck_assert_str_eq(name("_dmarc.x-1"), "_dmarc.x-1");
	ck_assert_str_eq(name("[::1]"), "[::1]");
	ck_assert_ptr_null(name(""));
	ck_assert_ptr_null(name("."));
	ck_assert_ptr_null(name(".a"));
	ck_assert_ptr_null(name("a.."));
	ck_assert_ptr_null(name("a..b"));
	ck_assert_ptr_null(name("*.a"));
	ck_assert_ptr_null(name("a:1"));
	ck_assert_ptr_null(name("[]"));
	ck_assert_ptr_null(name("[::g]"));
	ck_assert_ptr_null(name("\xc3\xa4"));
	memset(longest, 'a', sizeof(longest));
	longest[FIRST_NAME] = '\0';
	ck_assert_ptr_null(name(longest));
	longest[FIRST_NAME - 1] = '\0';
	ck_assert_str_eq(name(longest), longest);
}
END_TEST

/* Without a wish for names a protocol is enough. */
START_TEST(no_more_than_is_wanted)
{
	static const struct first_wants nothing, all = { true, true };
	static const char hello[] = "\x16\x03\x01\x02\x00\x01";
	static const char get[] = "GET / HTTP/1.1\r\n";
	struct first f;

	ck_assert_int_eq(first_read(hello, 6, &nothing, &f), FIRST_KNOWN);
	ck_assert_int_eq(f.protocol, FIRST_TLS);
	ck_assert_int_eq(first_read(hello, 6, &all, &f), FIRST_MORE);
	ck_assert_int_eq(first_read(get, 16, &nothing, &f), FIRST_KNOWN);
	ck_assert_int_eq(f.protocol, FIRST_HTTP);
	ck_assert_int_eq(first_read(get, 16, &all, &f), FIRST_MORE);
	ck_assert_int_eq(first_read("SSH-", 4, &all, &f), FIRST_KNOWN);
	ck_assert_int_eq(first_read("", 0, &all, &f), FIRST_MORE);
}
END_TEST

START_TEST(packed)
{
	struct first f = { .protocol = FIRST_TLS, .alpn_length = 3 }, g;
	struct first_packed *p;

	memcpy(f.alpn, "\x02h2", 3);
	strcpy(f.sni, "a.example");
	strcpy(f.host, "b");
	memset(&g, 'x', sizeof(g));
	p = first_pack(&f);
	ck_assert_ptr_nonnull(p);
	first_unpack(p, &g);
	free(p);
	ck_assert_int_eq(g.protocol, FIRST_TLS);
	ck_assert_str_eq(g.sni, "a.example");
	ck_assert_str_eq(g.host, "b");
	ck_assert_uint_eq(g.alpn_length, 3);
	ck_assert_mem_eq(g.alpn, "\x02h2", 3);
}
END_TEST

SUITE(test_first)
{
	Suite *s = suite_create("first");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, no_more_than_is_wanted, 10);
	SUITE_ADD(s, packed, 10);
	return s;
}
