/* test_no_memory.c: of what a command or a report allocates each piece is
 * missing once, in turn: it fails, says so, and leaks nothing. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/socket/acl_loads.h"
#include "control/pen.h"
#include "control/socket/request.h"
#include "control/value/plan_acls.h"
#include "pool/balance.h"
#include "pool/sticky/sticky.h"
#include "dsr/director/director.h"
#include "proxy/check/check_spec.h"
#include "support/ask.h"
#include "support/suite.h"

/* ---- memory ---- */

static unsigned left; /* until one fails; 0: none does */
static bool failed;

static bool
fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

/* __real_X is the system's X, and __wrap_X is called instead of it. */
#define WRAP(type, name, params, args)                         \
	type __real_##name params;                             \
	type __wrap_##name params;                             \
	type __wrap_##name params                              \
	{                                                      \
		return fails() ? NULL : __real_##name args;    \
	}
WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *m, size_t n), (m, n))
WRAP(char *, strdup, (const char *s), (s))

/* Carries it out again and again, until nothing failed. Returns how often
 * something did. */
static unsigned
each_fails(void (*act)(void))
{
	unsigned n = 0;

	do {
		failed = false;
		left = ++n;
		act();
		left = 0;
	} while (failed);
	return n - 1;
}

/* ---- what fails ---- */

static struct error e;
static struct pen *pen;

/* It has failed, or not; and this is its message. */
static void
expect(bool done)
{
	left = 0;
	ck_assert(done != failed);
	if (failed)
		ck_assert_ptr_nonnull(strstr(e.text, "memory"));
	e.text[0] = '\0';
}

static void
begin_line(void)
{
	struct request q;
	int rc;

	request_init(&q, pen, NULL, NULL);
	rc = request_begin(&q, "reload");
	e = q.error;
	expect(rc == 0);
	ck_assert(q.failed == failed);
	request_fini(&q);
}

/* Without its line a request has failed: a reload that SIGHUP asked for is not
 * taken for one that is done. */
START_TEST(line_of_a_request)
{
	pen = pen_new();
	ck_assert_uint_gt(each_fails(begin_line), 0);
	pen_free(pen);
}
END_TEST

static const char *check_text;

static void
read_check(void)
{
	struct check_spec *s = check_spec_read(check_text, &e);

	expect(s != NULL);
	check_spec_drop(s);
}

START_TEST(checks)
{
	static const char *const texts[] = { "connect",
		"http /x status 200,300-399 body a host a.test",
		"send a expect b", "exec /bin/true {address} x",
		"dns www.test mx", "udp 00ff expect 00.." };
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		check_text = texts[i];
		ck_assert_uint_gt(each_fails(read_check), 0);
	}
}
END_TEST

static void
name_list(void)
{
	struct plan_acls l;
	bool done;

	plan_acls_init(&l);
	done = plan_acls_edit(&l, "edge", &e) != NULL;
	expect(done);
	ck_assert_uint_eq(l.count, done);
	plan_acls_fini(&l);
}

static struct loop *loop;
static const char *file;

static void
load_list(void)
{
	struct acl_file_facts facts;
	struct acl_loads l;
	struct acl list;
	bool done;

	acl_init(&list);
	acl_loads_init(&l, NULL);
	l.loop = loop;
	done = acl_loads_add(&l, &list, file, ACL_PERMIT, NULL, &facts, &e) ==
	    ACL_LOAD_WAITS;
	expect(done);
	ck_assert_int_eq(acl_loads_wait(&l), done);
	acl_loads_clear(&l);
	acl_fini(&list);
}

START_TEST(access_lists)
{
	enum { LONG = 200 * 1024 };
	char *lines = calloc(1, LONG);

	ck_assert_uint_ge(each_fails(name_list), 2);
	loop = loop_new(NULL, &e);
	memset(lines, '\n', LONG - 1);
	file = scratch("acl");
	write_file(file, lines);
	ck_assert_uint_ge(each_fails(load_list), 2);
	loop_free(loop);
	free(lines);
}
END_TEST

static struct pool *pool;

static void
set_options(void)
{
	struct pool_options before = *pool_options(pool), o = before;
	bool done;

	o.balance = balance_find(
	    strcmp(before.balance->name, "wrr") == 0 ? "prio" : "wrr");
	o.clients_max = 2 * before.clients_max;
	done = pool_set_options(pool, &o) == 0;
	error_set(&e, "out of memory");
	expect(done);
	ck_assert_ptr_eq(
	    pool_options(pool)->balance, (done ? &o : &before)->balance);
	ck_assert_ptr_nonnull(pool_sticky(pool));
}

/* Those before stay in force. */
START_TEST(options_of_a_pool)
{
	struct peer who = { .family = AF_INET };
	sticky_hint hint = 0;

	pool = pool_new();
	ck_assert_uint_ge(each_fails(set_options), 2);
	/* and with clients that are remembered */
	ck_assert_int_eq(
	    sticky_remember(pool_sticky(pool), &who, &hint, 0, true, 1), 0);
	ck_assert_uint_ge(each_fails(set_options), 2);
	ck_assert_uint_eq(sticky_count(pool_sticky(pool)), 1);
	pool_free(pool);
}
END_TEST

/* There is no such interface: what was made before that is freed. */
static void
open_director(void)
{
	const struct director_options o = {
		.interface = "pen-none", .flows = 1, .user = geteuid()
	};
	struct peer vip = { .family = AF_INET,
		.ip = { [10] = 0xff, 0xff, 192, 0, 2, 1 } };
	const struct director *d = director_new(loop, pool, &o, &vip, 1, &e);

	left = 0;
	ck_assert_ptr_null(d);
	if (failed)
		ck_assert_ptr_nonnull(strstr(e.text, "memory"));
}

START_TEST(directors)
{
	loop = loop_new(NULL, &e);
	pool = pool_new();
	ck_assert_uint_ge(each_fails(open_director), 5);
	pool_free(pool);
	loop_free(loop);
}
END_TEST

SUITE(test_no_memory)
{
	Suite *s = suite_create("no_memory");

	SUITE_ADD(s, line_of_a_request, 20);
	SUITE_ADD(s, checks, 20);
	SUITE_ADD(s, access_lists, 20);
	SUITE_ADD(s, options_of_a_pool, 20);
	SUITE_ADD(s, directors, 20);
	return s;
}
