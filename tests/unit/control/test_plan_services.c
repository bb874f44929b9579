/* test_plan_services.c: the services of a plan: plans share those that neither
 * has changed, and all have the settings of the process. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/plan/plan.h"
#include "support/acladd.h"
#include "support/suite.h"

static struct plan *
edit(struct plan *p, const char *name)
{
	struct plan *one = plan_service_edit(p, name);

	ck_assert_ptr_nonnull(one);
	ck_assert_str_eq(plan_service_name(one), name);
	return one;
}

/* Servers of the process's plan, of a copy and so on must not mix. */
static void
set_port(struct plan *service, unsigned port)
{
	ck_assert_ptr_nonnull(plan_edit(service, SLOTS_SPECIAL));
	plan_edit(service, SLOTS_SPECIAL)->port = (uint16_t)port;
}

static unsigned
port_of(const struct plan *service)
{
	return plan_server(service, 0)->port;
}

START_TEST(names)
{
	static const char *const right[] = { "a", "Web", "web-2.b_c", "default",
		"adds", "a23456789012345678901234567890b" };
	static const char *const wrong[] = { "", "1st", "-a", ".a", "a b",
		"a/b", "a\n", "\xc3\xa4", "add", "json",
		"a234567890123456789012345678901b" };
	size_t i;

	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		ck_assert_msg(plan_service_is_name(right[i]), "%s", right[i]);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!plan_service_is_name(wrong[i]), "%s", wrong[i]);
}
END_TEST

START_TEST(first_is_the_plan)
{
	struct plan *p = plan_new();
	struct error e;

	ck_assert_ptr_eq(plan_service_at(p, 0), p);
	ck_assert_ptr_null(plan_service_at(p, 1));
	ck_assert_str_eq(plan_service_name(p), "default");
	ck_assert_ptr_eq(plan_service(p, "default"), p);
	ck_assert_ptr_eq(plan_service_edit(p, "default"), p);
	ck_assert_uint_eq(p->service_count, 0);
	ck_assert_int_eq(plan_service_remove(p, "default"), -1);
	ck_assert_int_eq(errno, ENOENT);
	error_set(&e, "why");
	ck_assert_int_eq(plan_service_blame(p, &e), -1);
	ck_assert_str_eq(e.text, "why");
	plan_free(p);
}
END_TEST

START_TEST(added_and_removed)
{
	struct plan *p = plan_new(), *web = edit(p, "web");
	struct error e;

	ck_assert_ptr_eq(edit(p, "web"), web);
	ck_assert_ptr_eq(plan_service_at(p, 1), web);
	edit(p, "mail");
	edit(p, "db");
	ck_assert_str_eq(plan_service_name(plan_service_at(p, 3)), "db");
	ck_assert_int_eq(plan_service_remove(p, "mail"), 0);
	ck_assert_ptr_null(plan_service(p, "mail"));
	ck_assert_ptr_eq(plan_service(p, "web"), web);
	ck_assert_str_eq(plan_service_name(plan_service_at(p, 2)), "db");
	ck_assert_ptr_null(plan_service_at(p, 3));
	ck_assert_int_eq(plan_service_remove(p, "mail"), -1);
	ck_assert_int_eq(errno, ENOENT);
	error_set(&e, "why");
	ck_assert_int_eq(plan_service_blame(web, &e), -1);
	ck_assert_str_eq(e.text, "service web: why");
	plan_free(p);
}
END_TEST

START_TEST(shared_until_edited)
{
	struct plan *p = plan_new(), *copy;
	const struct plan *web, *mail;

	set_port(edit(p, "web"), 1);
	set_port(edit(p, "mail"), 2);
	web = plan_service(p, "web");
	mail = plan_service(p, "mail");
	copy = plan_copy(p);
	ck_assert_ptr_nonnull(copy);
	ck_assert_ptr_eq(plan_service(copy, "web"), web);
	ck_assert_ptr_eq(plan_service(copy, "mail"), mail);
	set_port(edit(copy, "web"), 3);
	ck_assert_ptr_ne(plan_service(copy, "web"), web);
	ck_assert_ptr_eq(plan_service(copy, "mail"), mail);
	ck_assert_uint_eq(port_of(plan_service(p, "web")), 1);
	ck_assert_uint_eq(port_of(plan_service(copy, "web")), 3);
	/* which is the copy's alone now, and so is that of the first */
	ck_assert_ptr_eq(edit(copy, "web"), plan_service(copy, "web"));
	ck_assert_ptr_eq(edit(p, "web"), web);
	ck_assert_int_eq(plan_service_remove(copy, "mail"), 0);
	ck_assert_uint_eq(port_of(plan_service(p, "mail")), 2);
	plan_free(p);
	ck_assert_uint_eq(port_of(plan_service(copy, "web")), 3);
	plan_free(copy);
}
END_TEST

/* One that is held stays when its plan is gone. */
START_TEST(held_beyond_the_plan)
{
	struct plan *p = plan_new(), *web;

	set_port(edit(p, "web"), 7);
	web = plan_hold(edit(p, "web"));
	set_port(edit(p, "web"), 8);
	ck_assert_uint_eq(port_of(plan_service(p, "web")), 8);
	plan_free(p);
	ck_assert_uint_eq(port_of(web), 7);
	plan_drop(web);
	plan_drop(NULL);
}
END_TEST

/* The plan of the process is not that of the services: copies share it until
 * one of them changes it. */
START_TEST(process_is_beside_the_services)
{
	struct plan *p = plan_new(), *copy;
	struct process_plan *own;

	p->process->debug = 2;
	p->process->log = strdup("/tmp/log");
	ck_assert_int_eq(
	    acl_add(&p->process->acls.numbered[3], true, "10.0.0.1", NULL), 0);
	ck_assert_ptr_null(edit(p, "web")->process);
	copy = plan_copy(p);
	ck_assert_ptr_eq(copy->process, p->process);
	own = plan_edit_process(copy);
	ck_assert_ptr_ne(own, p->process);
	ck_assert_ptr_eq(plan_edit_process(copy), own);
	ck_assert_str_eq(own->log, "/tmp/log");
	ck_assert_ptr_ne(own->log, p->process->log);
	own->debug = 3;
	ck_assert_uint_eq(p->process->debug, 2);
	ck_assert_ptr_eq(plan_service(copy, "web"), plan_service(p, "web"));
	plan_share_process(copy, p);
	ck_assert_ptr_eq(copy->process, own);
	own->debug = 2;
	ck_assert_uint_eq(process_plan_changed(p->process, own), 0);
	own->drain_ms++;
	ck_assert_uint_eq(process_plan_changed(p->process, own),
	    CHANGED_DRAIN | CHANGED_PROCESS);
	own->drain_ms--;
	ck_assert_int_eq(
	    acl_add(&own->acls.numbered[3], true, "10.0.0.9", NULL), 0);
	plan_share_process(copy, p);
	ck_assert_ptr_eq(copy->process, own);
	ck_assert_uint_eq(p->process->acls.numbered[3].count, 1);
	acl_fini(&own->acls.numbered[3]);
	acl_copy(&own->acls.numbered[3], &p->process->acls.numbered[3]);
	plan_share_process(copy, p);
	ck_assert_ptr_eq(copy->process, p->process);
	plan_free(copy);
	ck_assert_uint_eq(p->process->debug, 2);
	plan_free(p);
}
END_TEST

/* Also if strings of both are others in memory; a change makes them two. */
START_TEST(equal_settings_are_one)
{
	struct plan *p = plan_new(), *a = edit(p, "a"), *b = edit(p, "b");

	ck_assert_ptr_ne(a->config, b->config);
	ck_assert(plan_share_config(b, a));
	ck_assert_ptr_eq(a->config, b->config);
	ck_assert(plan_share_config(b, a));
	plan_edit_config(b)->frontend.backlog++;
	ck_assert_ptr_ne(a->config, b->config);
	ck_assert(!plan_share_config(b, a));
	plan_edit_config(b)->frontend.backlog--;
	ck_assert_int_eq(
	    text_set(&plan_edit_config(b)->log_format, "jsonl"), 0);
	ck_assert(!plan_share_config(b, a));
	ck_assert_str_eq(a->config->log_format, "logfmt");
	plan_free(p);
}
END_TEST

START_TEST(there_is_a_limit)
{
	struct plan *p = plan_new();
	char name[16];
	int i;

	for (i = 0; i < SERVICES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ck_assert_ptr_nonnull(plan_service_edit(p, name));
	}
	ck_assert_ptr_null(plan_service_edit(p, "more"));
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_ptr_nonnull(plan_service_edit(p, "s9"));
	ck_assert_int_eq(plan_service_remove(p, "s8"), 0);
	ck_assert_ptr_nonnull(plan_service_edit(p, "more"));
	plan_free(p);
}
END_TEST

SUITE(test_plan_services)
{
	Suite *s = suite_create("plan_services");

	SUITE_ADD(s, names, 10);
	SUITE_ADD(s, first_is_the_plan, 10);
	SUITE_ADD(s, added_and_removed, 10);
	SUITE_ADD(s, shared_until_edited, 10);
	SUITE_ADD(s, held_beyond_the_plan, 10);
	SUITE_ADD(s, process_is_beside_the_services, 10);
	SUITE_ADD(s, equal_settings_are_one, 10);
	SUITE_ADD(s, there_is_a_limit, 30);
	return s;
}
