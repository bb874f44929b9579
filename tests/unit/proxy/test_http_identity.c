/* test_http_identity.c: the field that identifies a request: whose value is
 * taken, and which lines go. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "proxy/http/http_identity.h"
#include "support/suite.h"

START_TEST(names)
{
	static const char *const wrong[] = { "", "a b", "a:", "\xc3\xa4",
		"Host", "content-length", "Content_Length", "Transfer-Encoding",
		"Connection", "X-Forwarded-For", "x_forwarded_proto",
		"Forwarded", "Cookie", "TE", "Trailer", "Keep-Alive", "Upgrade",
		"Expect", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddd" };
	size_t i;

	ck_assert(http_identity_name_is_valid("X-Request-ID"));
	ck_assert(http_identity_name_is_valid("traceparent"));
	ck_assert(http_identity_name_is_valid(
	    "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(
		    !http_identity_name_is_valid(wrong[i]), "%s", wrong[i]);
}
END_TEST

#define HEAD "GET / HTTP/1.1\r\nHost: a\r\n"
#define LONG_64 \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *fields;
	const char *kept; /* from a trusted client; NULL: another one is made */
	bool drops;
} cases[] = {
	{ "", NULL, false },
	{ "X-Request-I: a\r\n", NULL, false },
	{ "X-Request-ID: a-1\r\n", "a-1", true },
	{ "x-request-id:\ta-1 \r\n", "a-1", true },
	{ "X-Request-ID: " LONG_64 LONG_64 "\r\n", LONG_64 LONG_64, true },
	/* what is none */
	{ "X-Request-ID: " LONG_64 LONG_64 "0\r\n", NULL, true },
	{ "X-Request-ID:\r\n", NULL, true },
	{ "X-Request-ID: a b\r\n", NULL, true },
	{ "X-Request-ID: a\"b\r\n", NULL, true },
	{ "X-Request-ID: a\\b\r\n", NULL, true },
	{ "X-Request-ID: \xc3\xa4\r\n", NULL, true },
	{ "X-Request-ID: a\r\nX-Request-ID: a\r\n", NULL, true },
	/* the same to a server that reads variables of CGI */
	{ "X_Request_ID: a\r\n", NULL, true },
	{ "X-Request-ID: a\r\nX_Request-ID: b\r\n", NULL, true },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static struct http_text
section_of(const char *fields)
{
	const char *all = text(HEAD "%s\r\n", fields);

	return (struct http_text){ all, strlen(all) };
}

START_TEST(values)
{
	struct http_identities all = { .high = 0xab, .next = 0xfe };
	struct http_identity id = { .all = &all };
	const char *kept = cases[_i].kept;
	char line[HTTP_IDENTITY_LINE];

	http_identities_set(&all, "X-Request-ID");
	http_identity_find(&id, section_of(cases[_i].fields));
	ck_assert(!id.kept);
	ck_assert_int_eq(id.drops, cases[_i].drops);
	ck_assert_uint_eq(http_identity_line(&id, line), 48);
	ck_assert_mem_eq(
	    line, "X-Request-ID: 00000000000000ab00000000000000fe\r\n", 48);

	id.trusted = true;
	http_identity_find(&id, section_of(cases[_i].fields));
	ck_assert_int_eq(id.kept, kept != NULL);
	ck_assert_int_eq(id.drops, cases[_i].drops && kept == NULL);
	if (kept != NULL) {
		ck_assert_uint_eq(http_identity_line(&id, line), 0);
		ck_assert_uint_eq(id.length, strlen(kept));
		ck_assert_mem_eq(id.text, kept, id.length);
		return;
	}
	ck_assert_uint_eq(http_identity_line(&id, line), 48);
	ck_assert_mem_eq(
	    line, "X-Request-ID: 00000000000000ab00000000000000ff\r\n", 48);
}
END_TEST

START_TEST(longest_line)
{
	struct http_identities all = { .high = UINT64_MAX, .next = UINT64_MAX };
	struct http_identity id = { .all = &all };
	char name[HTTP_IDENTITY_NAME], line[HTTP_IDENTITY_LINE];

	memset(name, 'N', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	http_identities_set(&all, name);
	http_identity_find(&id, section_of(""));
	ck_assert_uint_eq(
	    http_identity_line(&id, line), HTTP_IDENTITY_LINE - 1);
}
END_TEST

/* Connections that began before it was switched off. */
START_TEST(off)
{
	struct http_identities all = { .high = 1 };
	struct http_identity id = { .all = &all, .trusted = true };
	char line[HTTP_IDENTITY_LINE];

	http_identities_set(&all, "a");
	http_identity_find(&id, section_of("a: b\r\n"));
	ck_assert_uint_eq(id.length, 1);
	http_identities_set(&all, "");
	http_identity_find(&id, section_of("a: b\r\n"));
	ck_assert_uint_eq(id.length, 0);
	ck_assert(!id.drops);
	ck_assert_uint_eq(http_identity_line(&id, line), 0);
	ck_assert(!http_identity_is_in(&id, section_of("a: b\r\n")));
}
END_TEST

SUITE(test_http_identity)
{
	Suite *s = suite_create("http_identity");

	SUITE_ADD(s, names, 10);
	SUITE_ADD_LOOP(s, values, 10, CASES);
	SUITE_ADD(s, longest_line, 10);
	SUITE_ADD(s, off, 10);
	return s;
}
