/* test_change.c: what a leader has found of names is what its workers read. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/pen.h"
#include "control/workers/change.h"
#include "support/suite.h"

static struct pen *pen;
static struct names names;
static struct buffer bytes;

/* A name with an address, and a service whose second target is not known. */
static void
find(void)
{
	struct query *q = names_import(&names, "a.test");
	struct resolved *r = &q->result;

	ck_assert_int_eq(resolved_add_host(r, NULL), 0);
	r->host[0].failed = RESOLVE_IPV6;
	r->count = 1;
	ck_assert_int_eq(addr_parse_ip(&r->addr[0], "10.0.0.1", 80), 0);
	q = names_import(&names, "_http._tcp.b.test");
	r = &q->result;
	ck_assert_int_eq(resolved_add_host(r, "one.test"), 0);
	ck_assert_int_eq(resolved_add_host(r, "two.test"), 1);
	r->host[0].failed = 0;
	q->failed = q->partly = true;
	error_set(&q->error, "two.test: no answer");
	names.ttl_ms = 5000;
	names.past = 7;
}

static void
begin(void)
{
	static struct apply_all a;

	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	names_init(&names);
	find();
	a.pen = pen;
	a.names = &names;
	a.draft = pen->plan;
	pen->who = "by uid=7";
	process_role_begin_change(pen, "server 0 up", 11, "web");
	ck_assert_int_eq(
	    buffer_append(&pen->role.change.files, "p\0text", 7), 0);
	buffer_init(&bytes);
	ck_assert_int_eq(change_write(&a, 7, &bytes), 0);
}

static void
end(void)
{
	process_role_end_change(pen);
	buffer_fini(&bytes);
	names_fini(&names);
	pen_free(pen);
}

/* Reads `n` bytes of it. */
static int
change_read(size_t n, struct change_bytes *c, struct names *to)
{
	names_init(to);
	return change_begin(c, buffer_bytes(&bytes), n) < 0
	    ? -1
	    : change_read_names(c, pen, to);
}

START_TEST(as_it_was_written)
{
	struct change_bytes c;
	struct names to;
	const struct query *q;

	begin();
	ck_assert_int_eq(change_read(buffer_length(&bytes), &c, &to), 0);
	ck_assert_uint_eq(c.left, 0);
	ck_assert_str_eq(c.head.service, "web");
	ck_assert_uint_eq(c.head.line, 11);
	ck_assert_int_eq(memcmp(c.line, "server 0 up", 11), 0);
	ck_assert_str_eq(c.head.who, "by uid=7");
	ck_assert_uint_eq(c.head.number, 7);
	ck_assert_uint_eq(c.head.files, 7);
	ck_assert_int_eq(memcmp(c.files, "p\0text", 7), 0);
	ck_assert_uint_eq(c.head.states, 0);
	ck_assert_uint_eq(c.head.keys, 0);
	ck_assert_uint_eq(to.ttl_ms, 5000);
	ck_assert_uint_eq(to.past, 7);
	q = &names_find(&to, "a.test")->query;
	ck_assert(!q->failed);
	ck_assert_uint_eq(q->result.count, 1);
	ck_assert(addr_equal(&q->result.addr[0],
	    &names_find(&names, "a.test")->query.result.addr[0]));
	ck_assert_uint_eq(q->result.hosts, 1);
	ck_assert_ptr_null(q->result.host[0].name);
	ck_assert_uint_eq(q->result.host[0].failed, RESOLVE_IPV6);
	q = &names_find(&to, "_http._tcp.b.test")->query;
	ck_assert(q->failed && q->partly);
	ck_assert_str_eq(q->error.text, "two.test: no answer");
	ck_assert_uint_eq(q->result.hosts, 2);
	ck_assert_str_eq(q->result.host[0].name, "one.test");
	ck_assert_uint_eq(q->result.host[0].failed, 0);
	ck_assert_str_eq(q->result.host[1].name, "two.test");
	ck_assert_uint_eq(
	    q->result.host[1].failed, RESOLVE_IPV4 | RESOLVE_IPV6);
	names_fini(&to);
	end();
}
END_TEST

/* None that is cut is taken for a whole one. */
START_TEST(cut_anywhere)
{
	struct change_bytes c;
	struct names to;
	size_t n;

	begin();
	for (n = 0; n < buffer_length(&bytes); n++) {
		ck_assert_int_eq(change_read(n, &c, &to), -1);
		names_fini(&to);
	}
	end();
}
END_TEST

static struct buffer one;
static struct error e;

static int
take(const char *path)
{
	buffer_cut(&one, 0);
	return process_role_next_file(pen, path, &one, &e);
}

/* Files are those of the leader, in its order; a worker that would read others
 * has none. */
START_TEST(files_of_the_leader)
{
	struct buffer *files;

	begin();
	buffer_init(&one);
	files = &pen->role.change.files;
	buffer_cut(files, 0);
	ck_assert_int_eq(buffer_append(&one, "one", 4), 0);
	ck_assert_int_eq(process_role_add_file(pen, "a", &one, &e), 0);
	ck_assert_uint_eq(buffer_length(files), 0); /* it leads none */
	pen->role.workers = (void *)&one;
	ck_assert_int_eq(process_role_add_file(pen, "a", &one, &e), 0);
	ck_assert_int_eq(process_role_add_file(pen, "b", &one, &e), 0);
	pen->role.workers = NULL;
	ck_assert_int_lt(take("b"), 0);
	ck_assert_str_eq(
	    e.text, "\"b\": the files are not those of the leader");
	ck_assert_int_eq(take("a"), 0);
	ck_assert_str_eq(buffer_bytes(&one), "one");
	ck_assert_int_eq(take("b"), 0);
	ck_assert_str_eq(buffer_bytes(&one), "one");
	ck_assert_int_lt(take("c"), 0);
	buffer_fini(&one);
	end();
}
END_TEST

SUITE(test_change)
{
	Suite *s = suite_create("change");

	SUITE_ADD(s, as_it_was_written, 10);
	SUITE_ADD(s, cut_anywhere, 10);
	SUITE_ADD(s, files_of_the_leader, 10);
	return s;
}
