/* test_plan_difference.c: what a plan has otherwise, in numbers. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/words.h"
#include "control/report/plan_difference.h"
#include "support/suite.h"

static struct plan *before, *after;

static void
begin(void)
{
	before = plan_new();
	ck_assert_ptr_nonnull(before);
}

static void
copy(void)
{
	after = plan_copy(before);
	ck_assert_ptr_nonnull(after);
}

static void
end(void)
{
	plan_free(before);
	plan_free(after);
}

static struct plan *
service(struct plan *p, const char *name)
{
	struct plan *one = plan_service_edit(p, name);

	ck_assert_ptr_nonnull(one);
	return one;
}

static struct server_plan *
server(struct plan *service, unsigned number, const char *host)
{
	struct server_plan *s = plan_edit(service, server_slot(number));

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(text_set(&s->host, host), 0);
	return s;
}

static void
expect(struct plan_difference wanted)
{
	struct plan_difference d = plan_difference(before, after);

	ck_assert_uint_eq(d.settings, wanted.settings);
	ck_assert_uint_eq(d.servers_added, wanted.servers_added);
	ck_assert_uint_eq(d.servers_removed, wanted.servers_removed);
	ck_assert_uint_eq(d.servers_changed, wanted.servers_changed);
	ck_assert_uint_eq(d.services_added, wanted.services_added);
	ck_assert_uint_eq(d.services_removed, wanted.services_removed);
}

START_TEST(nothing)
{
	begin();
	server(service(before, "web"), 0, "10.0.0.1");
	copy();
	service(after, "web");
	expect((struct plan_difference){ .settings = 0 });
	end();
}
END_TEST

START_TEST(settings)
{
	struct process_plan *own;

	begin();
	service(before, "web");
	copy();
	own = plan_edit_process(after);
	ck_assert_ptr_nonnull(own);
	plan_edit_config(after)->frontend.http.on = true;
	own->log_lines = 1;
	plan_edit_config(service(after, "web"))->frontend.http.on = true;
	expect((struct plan_difference){ .settings = 3 });
	end();
}
END_TEST

START_TEST(servers)
{
	begin();
	server(before, 0, "10.0.0.1");
	server(before, 1, "10.0.0.2");
	server(before, 2, "name");
	copy();
	server(after, 0, "10.0.0.1")->set.weight = 7;
	server(after, 1, NULL);
	ck_assert_int_eq(
	    text_set(&server(after, 2, "name")->address, "::1"), 0);
	server(after, 4, "10.0.0.4");
	server(after, 5, "name")->parent = 3;
	expect((struct plan_difference){
	    .servers_added = 1, .servers_removed = 1, .servers_changed = 1 });
	end();
}
END_TEST

START_TEST(services)
{
	begin();
	server(service(before, "web"), 0, "10.0.0.1");
	service(before, "mail");
	copy();
	ck_assert_int_eq(plan_service_remove(after, "web"), 0);
	server(service(after, "shop"), 0, "10.0.0.2");
	server(service(after, "shop"), 1, "10.0.0.3");
	expect((struct plan_difference){ .servers_added = 2,
	    .servers_removed = 1,
	    .services_added = 1,
	    .services_removed = 1 });
	end();
}
END_TEST

SUITE(test_plan_difference)
{
	Suite *s = suite_create("plan_difference");

	SUITE_ADD(s, nothing, 10);
	SUITE_ADD(s, settings, 10);
	SUITE_ADD(s, servers, 10);
	SUITE_ADD(s, services, 10);
	return s;
}
