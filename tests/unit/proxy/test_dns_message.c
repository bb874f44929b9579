/* test_dns_message.c: what counts as a query and as its answer. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "proxy/wire/dns_message.h"
#include "support/suite.h"

/* id 0x1234, recursion desired, one question: a.test A IN */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
enum { QUERY = sizeof(query) - 1 };

static char message[512];

static size_t
end_of(const char *bytes, size_t n)
{
	memcpy(message, bytes, n);
	return dns_query_end(message, n);
}

START_TEST(queries)
{
	size_t n;

	ck_assert_uint_eq(end_of(query, QUERY), QUERY);
	ck_assert_uint_eq(dns_id(message), 0x1234);
	dns_set_id(message, 0xfedc);
	ck_assert_uint_eq(dns_id(message), 0xfedc);
	ck_assert_int_eq(memcmp(message + 2, query + 2, QUERY - 2), 0);
	/* what follows (EDNS) is not looked at */
	memcpy(message, query, QUERY);
	memset(message + QUERY, 7, 11);
	ck_assert_uint_eq(dns_query_end(message, QUERY + 11), QUERY);
	/* cut anywhere it is none */
	for (n = 0; n < QUERY; n++)
		ck_assert_uint_eq(end_of(query, n), 0);
	/* an answer is none, nor are two questions, nor a pointer */
	memcpy(message, query, QUERY);
	message[2] |= (char)0x80;
	ck_assert_uint_eq(dns_query_end(message, QUERY), 0);
	memcpy(message, query, QUERY);
	message[5] = 2;
	ck_assert_uint_eq(dns_query_end(message, QUERY), 0);
	memcpy(message, query, QUERY);
	message[12] = (char)0xc0;
	ck_assert_uint_eq(dns_query_end(message, QUERY), 0);
}
END_TEST

START_TEST(answers)
{
	memcpy(message, query, QUERY);
	ck_assert(!dns_answers(message, QUERY, query, QUERY));
	message[2] |= (char)0x80;
	ck_assert(dns_answers(message, QUERY, query, QUERY));
	ck_assert(dns_answers(message, QUERY + 100, query, QUERY));
	/* the name in another case, but no other name */
	message[13] = 'A';
	ck_assert(dns_answers(message, QUERY, query, QUERY));
	message[13] = 'b';
	ck_assert(!dns_answers(message, QUERY, query, QUERY));
	message[13] = 'a';
	message[QUERY - 3] = 2; /* another type */
	ck_assert(!dns_answers(message, QUERY, query, QUERY));
	message[QUERY - 3] = 1;
	ck_assert(!dns_answers(message, QUERY - 1, query, QUERY));
}
END_TEST

/* Without the question come errors that say nothing about its name, and no
 * others: anybody could have made NXDOMAIN up for any name. */
START_TEST(answers_without_question)
{
	int code;

	memcpy(message, query, QUERY);
	message[2] |= (char)0x80;
	message[5] = 0;
	for (code = 0; code < 16; code++) {
		message[3] = (char)code;
		ck_assert_int_eq(dns_answers(message, DNS_HEADER, query, QUERY),
		    code == DNS_FORMERR || code == DNS_SERVFAIL ||
			code == DNS_NOTIMP || code == DNS_REFUSED);
		ck_assert(!dns_answers(message, DNS_HEADER - 1, query, QUERY));
	}
	message[3] = DNS_NXDOMAIN;
	ck_assert(!dns_answers(message, QUERY, query, QUERY));
	message[5] = 1;
	ck_assert(dns_answers(message, QUERY, query, QUERY));
}
END_TEST

/* An UPDATE, a NOTIFY: servers may leave out what the question is; what has
 * another opcode is not theirs. */
START_TEST(answers_of_other_opcodes)
{
	char update[QUERY];
	int opcode;

	for (opcode = 1; opcode < 16; opcode++) {
		memcpy(update, query, QUERY);
		update[2] = (char)(opcode << 3);
		ck_assert(!dns_is_query(update));
		memcpy(message, update, QUERY);
		message[2] |= (char)0x80;
		message[3] = (char)_i;
		ck_assert(dns_answers(message, QUERY, update, QUERY));
		message[5] = 0;
		ck_assert(dns_answers(message, DNS_HEADER, update, QUERY));
		ck_assert(!dns_answers(message, DNS_HEADER - 1, update, QUERY));
		message[2] ^= 8;
		ck_assert_int_eq(
		    dns_answers(message, DNS_HEADER, update, QUERY),
		    _i == DNS_FORMERR || _i == DNS_SERVFAIL ||
			_i == DNS_NOTIMP || _i == DNS_REFUSED);
		message[2] = 0;
		ck_assert(!dns_answers(message, DNS_HEADER, update, QUERY));
	}
	ck_assert(dns_is_query(query));
}
END_TEST

/* OPT of 512 bytes with DO, version 0, and an option of 2 bytes. */
static const char opt[] = "\x00\x00\x29\x02\x00\x00\x00\x80\x00\x00\x06"
			  "\x00\x0a\x00\x02zz";
enum { OPT = sizeof(opt) - 1, BARE = 11 };

/* A query with EDNS gets an answer with EDNS, wherever the record is among the
 * others; CD and DO are as they were. */
START_TEST(failures_with_opt)
{
	static const char other[] = "\x01z\xc0\x0c\x00\x10\x00\x01"
				    "\x00\x00\x00\x00\x00\x03"
				    "abc";
	enum { OTHER = sizeof(other) - 1, OTHERS = 3 };
	size_t n = QUERY;
	int i;

	memcpy(message, query, QUERY);
	message[3] = _i > 1 ? 0x10 : 0;
	for (i = 0; i < _i && i < OTHERS; i++, n += OTHER) {
		memcpy(message + n, other, OTHER);
		message[7 + 2 * i]++;
	}
	memcpy(message + n, opt, OPT);
	message[n + 7] = (char)(_i % 2 == 0 ? 0x80 : 0);
	message[11]++;
	n += OPT;
	ck_assert_uint_eq(dns_fail(message, n, QUERY), QUERY + BARE);
	ck_assert(dns_answers(message, QUERY + BARE, query, QUERY));
	ck_assert_int_eq(message[3], (char)(_i > 1 ? 0x92 : 0x82));
	ck_assert_int_eq(memcmp(message + 4, "\0\1\0\0\0\0\0\1", 8), 0);
	ck_assert_int_eq(memcmp(message + QUERY, opt, 3), 0);
	ck_assert_int_eq(message[QUERY + 7], (char)(_i % 2 == 0 ? 0x80 : 0));
	ck_assert_int_eq(message[QUERY + 9] | message[QUERY + 10], 0);
	ck_assert_int_eq(memcmp(message + 12, query + 12, QUERY - 12), 0);
}
END_TEST

/* A record that is cut is none. */
START_TEST(failures_with_opt_that_is_cut)
{
	size_t n;

	for (n = QUERY; n <= QUERY + OPT; n++) {
		char *m = malloc(n);

		memcpy(m, query, QUERY);
		memcpy(m + QUERY, opt, n - QUERY);
		m[11] = 1;
		ck_assert_uint_eq(dns_fail(m, n, QUERY),
		    n < QUERY + BARE ? QUERY : QUERY + BARE);
		free(m);
	}
}
END_TEST

START_TEST(failures)
{
	memcpy(message, query, QUERY);
	message[11] = 1; /* a record that is not there */
	ck_assert_uint_eq(dns_fail(message, QUERY, QUERY), QUERY);
	ck_assert(dns_answers(message, QUERY, query, QUERY));
	ck_assert_int_eq(message[3] & 0x0f, DNS_SERVFAIL);
	ck_assert_int_eq(message[2] & 1, 1); /* recursion was desired */
	ck_assert_int_eq(message[11], 0);
}
END_TEST

static size_t
query_for(const char *name)
{
	char m[DNS_QUERY_MAX];
	size_t n = dns_make_query(m, 7, name, 1);

	if (n > 0) {
		ck_assert_uint_eq(dns_query_end(m, n), n);
		ck_assert_uint_eq(dns_id(m), 7);
	}
	return n;
}

START_TEST(own_queries)
{
	char m[DNS_QUERY_MAX], name[300] = "";
	int i;

	ck_assert_uint_eq(dns_make_query(m, 0x1234, "a.test", 1), QUERY);
	ck_assert_int_eq(memcmp(m, query, QUERY), 0);
	ck_assert_uint_eq(dns_make_query(m, 0x1234, "a.test.", 1), QUERY);
	ck_assert_int_eq(memcmp(m, query, QUERY), 0);
	ck_assert_uint_eq(query_for("."), DNS_HEADER + 5);
	ck_assert_uint_eq(query_for(""), 0);
	ck_assert_uint_eq(query_for(".."), 0);
	ck_assert_uint_eq(query_for(".a"), 0);
	ck_assert_uint_eq(query_for("a..b"), 0);
	ck_assert_uint_eq(query_for("a.."), 0);
	/* labels of 63 bytes, and a name of 255 in all */
	for (i = 0; i < 3; i++)
		strcat(name, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee"
			     "effffffffff123.");
	strcat(name, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee"
		     "effffffffff1");
	ck_assert_uint_eq(query_for(name), DNS_QUERY_MAX);
	strcat(name, "2");
	ck_assert_uint_eq(query_for(name), 0);
	ck_assert_uint_eq(query_for(name + 1), DNS_QUERY_MAX);
	ck_assert_uint_eq(
	    query_for("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeee"
		      "effffffffff1234"),
	    0);
}
END_TEST

START_TEST(words)
{
	ck_assert_str_eq(dns_code_name(DNS_NOERROR), "NOERROR");
	ck_assert_str_eq(dns_code_name(DNS_REFUSED), "REFUSED");
	ck_assert_str_eq(dns_code_name(15), "RCODE 15");
	ck_assert_uint_eq(dns_type("A"), 1);
	ck_assert_uint_eq(dns_type("aaaa"), 28);
	ck_assert_uint_eq(dns_type("TYPE257"), 257);
	ck_assert_uint_eq(dns_type("type65535"), 65535);
	ck_assert_uint_eq(dns_type("TYPE65536"), 0);
	ck_assert_uint_eq(dns_type("TYPE"), 0);
	ck_assert_uint_eq(dns_type("B"), 0);
	ck_assert_uint_eq(dns_type(""), 0);
}
END_TEST

/* No message leads anywhere outside itself; sanitizers watch. */
START_TEST(rubbish)
{
	uint64_t seed = 1;
	int i, k;

	for (i = 0; i < 20000; i++) {
		size_t n;
		char *copy;

		memcpy(message, query, QUERY);
		for (k = 0; k < 3; k++) {
			seed = hash_mix(seed + 1);
			message[seed % QUERY] = (char)(seed >> 32);
		}
		n = (seed >> 8) % (QUERY + 1);
		copy = malloc(n + 1);
		memcpy(copy, message, n);
		k = (int)dns_query_end(copy, n);
		if (k > (int)n)
			ck_abort_msg("beyond the end");
		(void)dns_answers(copy, n, query, QUERY);
		free(copy);
	}
}
END_TEST

SUITE(test_dns_message)
{
	Suite *s = suite_create("dns_message");

	SUITE_ADD(s, queries, 10);
	SUITE_ADD(s, answers, 10);
	SUITE_ADD(s, answers_without_question, 10);
	SUITE_ADD_LOOP(s, answers_of_other_opcodes, 10, 16);
	SUITE_ADD(s, failures, 10);
	SUITE_ADD_LOOP(s, failures_with_opt, 10, 4);
	SUITE_ADD(s, failures_with_opt_that_is_cut, 10);
	SUITE_ADD(s, own_queries, 10);
	SUITE_ADD(s, words, 10);
	SUITE_ADD(s, rubbish, 30);
	return s;
}
