/* test_acl_file.c: entries of access lists that stand in files. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>

#include "pool/acl/acl_private.h"
#include "support/acladd.h"
#include "support/suite.h"

static struct error e;
static struct acl_file_facts facts;

static void
add_file(struct acl *l, const char *name, enum acl_verb verb,
    const struct acl *like)
{
	ck_assert_msg(
	    acl_add_file(l, scratch(name), verb, like, &facts, &e) == 0, "%s",
	    e.text);
}

static bool
permits(const struct acl *l, const char *ip)
{
	struct addr a;
	struct peer p;

	ck_assert_int_eq(addr_parse_ip(&a, ip, 1), 0);
	peer_from_addr(&p, &a);
	return acl_permits(l, &p);
}

START_TEST(lines)
{
	struct acl l = { .shared = NULL };
	char text[ACL_TEXT_MAX];

	write_file(scratch("f"),
	    "# comment\n\n10.0.0.0/8\r\n  deny\t11.0.0.9/8 ; host bits\n"
	    "permit 12.0.0.0 255.0.255.0\nuid 7\nunix#\n::/0");
	add_file(&l, "f", ACL_DENY, NULL);
	ck_assert_uint_eq(facts.entries, 6);
	ck_assert_uint_eq(facts.cut, 1);
	ck_assert_uint_eq(facts.first_cut, 4);
	ck_assert_str_eq(
	    acl_format_entry(acl_at(&l, 0), text), "deny 10.0.0.0 255.0.0.0");
	ck_assert_str_eq(acl_format_entry(acl_at(&l, 2), text),
	    "permit 12.0.0.0 255.0.255.0");
	ck_assert_str_eq(acl_format_entry(acl_at(&l, 3), text), "deny uid 7");
	ck_assert_uint_eq(acl_at(&l, 5)->line, 8);
	ck_assert_str_eq(acl_file_of(&l, 5), scratch("f"));
	ck_assert(l.has_unix && l.asks_owner);
	acl_fini(&l);
}
END_TEST

static void
refuses(const char *what, const char *why)
{
	struct acl l = { .shared = NULL };

	write_file(scratch("f"), what);
	ck_assert_int_eq(
	    acl_add_file(&l, scratch("f"), ACL_PERMIT, NULL, &facts, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s", e.text);
	acl_fini(&l);
}

START_TEST(lines_that_are_wrong)
{
	char line[400];

	refuses("10.0.0.1\npermit\n",
	    "f:2: missing address after permit or deny");
	refuses("10.0.0.1 10.0.0.2 10.0.0.3\n", "f:1: more than one entry");
	refuses("allow 10.0.0.1\n", "f:1: \"allow\" is not an address");
	refuses("\n\n10.0.0.1/33\n", "f:3: ");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	refuses(line, "f:1: is too long");
}
END_TEST

/* A comment may be of any length. */
/* As some editors begin a file; in the middle it is no address. */
START_TEST(byte_order_mark)
{
	struct acl l = { .shared = NULL };

	write_file(scratch("f"), "\xef\xbb\xbf" "10.0.0.0/8\n11.0.0.0/8\n");
	add_file(&l, "f", ACL_PERMIT, NULL);
	ck_assert_uint_eq(facts.entries, 2);
	ck_assert(permits(&l, "10.1.1.1"));
	acl_fini(&l);
	write_file(scratch("f"), "\xef\xbb\xbf");
	add_file(&l, "f", ACL_PERMIT, NULL);
	ck_assert_uint_eq(facts.entries, 0);
	acl_fini(&l);
	refuses("10.0.0.1\n\xef\xbb\xbf" "10.0.0.2\n", "f:2: ");
}
END_TEST

START_TEST(long_comments)
{
	struct acl l = { .shared = NULL };
	char line[4000];

	memset(line, 'x', sizeof(line) - 1);
	memcpy(line, "10.0.0.1 #", 10);
	line[sizeof(line) - 1] = '\0';
	write_file(scratch("f"), line);
	add_file(&l, "f", ACL_PERMIT, NULL);
	ck_assert_uint_eq(l.count, 1);
	acl_fini(&l);
}
END_TEST

/* Before, in and behind the file, as if all stood in one list. */
START_TEST(order_is_kept)
{
	struct acl l = { .shared = NULL }, copy;
	struct acl_item item = { .next = 0 };

	write_file(scratch("f"), "deny 10.0.0.1\n10.0.0.0/24\n");
	ck_assert_int_eq(acl_add(&l, true, "10.0.0.1", NULL), 0);
	add_file(&l, "f", ACL_AS_WRITTEN, NULL);
	ck_assert(!permits(&l, "10.1.0.1"));
	ck_assert_int_eq(acl_add(&l, false, "10.0.0.0/8", NULL), 0);
	ck_assert(permits(&l, "10.0.0.1"));
	ck_assert(permits(&l, "10.0.0.2"));
	ck_assert(!permits(&l, "10.0.1.2"));
	ck_assert(permits(&l, "11.0.1.2"));
	acl_copy(&copy, &l);
	ck_assert(acl_equal(&l, &copy));
	ck_assert_int_eq(acl_add(&copy, false, "1.0.0.0/8", NULL), 0);
	ck_assert(!acl_equal(&l, &copy));
	ck_assert(acl_next(&l, &item) && item.entry != NULL);
	ck_assert(acl_next(&l, &item) && item.entry == NULL);
	ck_assert_str_eq(item.path, scratch("f"));
	ck_assert_uint_eq(item.entries, 2);
	ck_assert(acl_next(&l, &item) && item.entry != NULL);
	ck_assert(!acl_next(&l, &item));
	acl_fini(&l);
	acl_fini(&copy);
}
END_TEST

/* Nobody is let in because a list of who may was emptied. */
START_TEST(files_without_entries)
{
	struct acl l = { .shared = NULL };

	write_file(scratch("f"), "# none\n");
	add_file(&l, "f", ACL_PERMIT, NULL);
	ck_assert(!acl_is_empty(&l));
	ck_assert(!permits(&l, "10.0.0.1"));
	add_file(&l, "f", ACL_DENY, NULL);
	ck_assert(permits(&l, "10.0.0.1"));
	add_file(&l, "f", ACL_AS_WRITTEN, NULL);
	ck_assert(!permits(&l, "10.0.0.1"));
	ck_assert_uint_eq(l.spans, 3);
	acl_fini(&l);
}
END_TEST

/* What is built anew and the same costs nothing: it is what was there. */
START_TEST(unchanged_files_are_shared)
{
	struct acl old = { .shared = NULL }, new = old, other = old;
	struct acl_entry entry;

	write_file(scratch("f"), "10.0.0.1\nunix\n");
	ck_assert_int_eq(
	    acl_entry_parse(&entry, true, "10.1.0.0/16", NULL, &e), 0);
	acl_add_entry(&old, &entry, NULL);
	add_file(&old, "f", ACL_PERMIT, NULL);
	/* as if it had been read long after it was written */
	file_id_read(
	    &old.shared->spans[0].id, AT_FDCWD, scratch("f"));
	acl_add_entry(&old, &entry, NULL);
	acl_add_entry(&new, &entry, &old);
	ck_assert_ptr_eq(new.shared, old.shared);
	add_file(&new, "f", ACL_PERMIT, &old);
	ck_assert(facts.unchanged && new.has_unix);
	ck_assert_uint_eq(new.count, 3);
	ck_assert(!acl_equal(&new, &old));
	acl_add_entry(&new, &entry, &old);
	ck_assert(acl_equal(&new, &old));
	ck_assert_ptr_eq(new.shared, old.shared);
	add_file(&other, "f", ACL_DENY, &old);
	ck_assert(!facts.unchanged);
	acl_fini(&new);
	write_file(scratch("f"), "10.0.0.1\n");
	acl_add_entry(&new, &entry, &old);
	add_file(&new, "f", ACL_PERMIT, &old);
	ck_assert(!facts.unchanged);
	ck_assert_uint_eq(new.count, 2);
	acl_fini(&old);
	acl_fini(&new);
	acl_fini(&other);
}
END_TEST

static uint64_t
digest_of(const char *text)
{
	struct acl l = { .shared = NULL };
	uint64_t digest;

	ck_assert_uint_eq(acl_digest(&l), 0);
	write_file(scratch("f"), text);
	add_file(&l, "f", ACL_PERMIT, NULL);
	digest = acl_digest(&l);
	acl_fini(&l);
	return digest;
}

/* Two processes that have read the same have the same digest, whenever they
 * have. */
START_TEST(other_lines_are_seen)
{
	uint64_t one = digest_of("10.0.0.1\n10.0.0.2\n");

	ck_assert_uint_ne(one, 0);
	ck_assert_uint_eq(digest_of("10.0.0.1\n10.0.0.2\n"), one);
	ck_assert_uint_ne(digest_of("10.0.0.2\n10.0.0.1\n"), one);
	ck_assert_uint_ne(digest_of("10.0.0.1\n10.0.0.3\n"), one);
	ck_assert_uint_ne(digest_of("10.0.0.1\n"), one);
	ck_assert_uint_ne(digest_of(""), one);
}
END_TEST

SUITE(test_acl_file)
{
	Suite *s = suite_create("acl_file");

	SUITE_ADD(s, lines, 10);
	SUITE_ADD(s, lines_that_are_wrong, 10);
	SUITE_ADD(s, byte_order_mark, 10);
	SUITE_ADD(s, long_comments, 10);
	SUITE_ADD(s, order_is_kept, 10);
	SUITE_ADD(s, files_without_entries, 10);
	SUITE_ADD(s, unchanged_files_are_shared, 10);
	SUITE_ADD(s, other_lines_are_seen, 10);
	return s;
}
