/* test_apply.c: a draft comes into force as a whole, or not at all. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/apply/apply.h"
#include "control/apply/services.h"
#include "control/file/config_file.h"
#include "control/language/command.h"
#include "net/loop/loop_private.h"
#include "pool/balance.h"
#include "support/ask.h"
#include "support/child.h"
#include "support/mmdb.h"
#include "support/suite.h"
#include "support/wait.h"

enum { MANY = SERVERS_MAX };

static struct pen *pen;
static struct error e;

static int
run(const char *line)
{
	char answer[4096];

	return ask_pen(pen, line, answer, sizeof(answer), &e);
}

static void
takes(const char *line)
{
	ck_assert_msg(run(line) == 0, "%s: %s", line, e.text);
}

static void
begin(const char *listening)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(spec_parse_listen(&pen->plan->listen, listening,
			     RESOLVE_NAMES, &e),
	    0);
	ck_assert_int_eq(pen->phase, PHASE_PLANNING);
	takes("server 0 address 10.0.0.1 port 80 weight 2");
	ck_assert_ptr_null(pen->service->frontend);
}

/* The listeners fail, which are nearly the last: all before them cancel. */
START_TEST(a_refused_change_cancels)
{
	const struct server *s;
	const char *log = scratch("log"), *file = scratch("file");

	begin(scratch("s"));
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	ck_assert_int_eq(pen->phase, PHASE_SERVING);
	s = pool_server(pen->service->pool, 0);
	write_file(file,
	    text("idle_timeout 7\nbalance prio\nlog %s\n"
		 "server 0 weight 3\nacl 1 deny 10.0.0.0/8\n"
		 "listen %s/there/is/no/such\n",
		log, file));
	ck_assert_int_eq(run(text("include %s", file)), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "/there/is/no/such"));
	ck_assert_uint_ne(
	    frontend_options(pen->service->frontend)->idle_timeout_ms, 7000);
	ck_assert_str_ne(
	    pool_options(pen->service->pool)->balance->name, "prio");
	ck_assert_ptr_null(pen->log);
	ck_assert_uint_eq(s->set.weight, 2);
	ck_assert_uint_eq(pool_acl(pen->service->pool, 1)->count, 0);
	ck_assert_int_eq(access(scratch("s"), F_OK), 0);
	write_file(file,
	    text("idle_timeout 7\nbalance prio\nlog %s\n"
		 "server 0 weight 3\nlisten %s\n",
		log, scratch("t")));
	takes(text("include %s", file));
	ck_assert_uint_eq(
	    frontend_options(pen->service->frontend)->idle_timeout_ms, 7000);
	ck_assert_str_eq(
	    pool_options(pen->service->pool)->balance->name, "prio");
	ck_assert_ptr_nonnull(pen->log);
	ck_assert_uint_eq(s->set.weight, 3);
	ck_assert_int_eq(access(scratch("s"), F_OK), -1);
	ck_assert_int_eq(access(scratch("t"), F_OK), 0);
	pen_free(pen);
}
END_TEST

/* A start is an apply: what it opened before it failed is closed again. */
START_TEST(a_failed_start_leaves_nothing_open)
{
	begin(text("%s/there/is/no/such", scratch("s")));
	takes(text("log %s", scratch("log")));
	ck_assert_int_eq(pen_start(pen, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "/there/is/no/such"));
	ck_assert_int_eq(pen->phase, PHASE_STARTING);
	ck_assert_ptr_null(pen->service->frontend);
	ck_assert_ptr_null(pen->log);
	ck_assert_ptr_null(pen->control);
	pen_free(pen);
}
END_TEST

/* The loop gets its setting, at the start as later. */
START_TEST(the_loop_spins)
{
	begin(scratch("s"));
	takes("spin auto");
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	ck_assert(pen->loop->spin.on);
	takes("spin off");
	ck_assert(!pen->loop->spin.on);
	pen_free(pen);
}
END_TEST

/* ---- reloads of many services ---- */

enum { SERVICES = 1000 };

static unsigned commits;

static void
count_commit(struct apply *a)
{
	(void)a;
	commits++;
}

/* A server of number `changed` has another weight than those of the others. */
static void
write_services(const char *file, int changed)
{
	struct buffer all;
	int i, k;

	buffer_init(&all);
	for (i = 0; i < SERVICES; i++) {
		reply_add(&all, "service s%d\nlisten %s\ncheck connect\n", i,
		    scratch(text("s%d", i)));
		for (k = 0; k < 3; k++)
			reply_add(&all,
			    "server %d address 10.0.0.%d port 80 weight %d\n",
			    k, k + 1, 1 + (i == changed && k == 1));
	}
	ck_assert_int_eq(buffer_append(&all, "", 1), 0);
	write_file(file, buffer_bytes(&all));
	buffer_fini(&all);
}

/* That of the first service, which the file itself is, is applied, and that of
 * the one that says something else. */
START_TEST(a_reload_touches_what_has_changed)
{
	const char *file = scratch("pen.conf");
	struct participant all[64];
	const struct service *s7;
	struct plan *draft;
	unsigned n = 0;

	pen = pen_new();
	pen->given->process->file = strdup(file);
	write_services(file, -1);
	draft = config_draft(pen, false, &e);
	ck_assert_msg(draft != NULL, "%s", e.text);
	ck_assert_int_eq(apply_plan_now(pen, draft, &e), 0);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	/* all but those that the others listen and check with; the first one
	 * serves nobody, and needs none */
	ck_assert_uint_eq(service_find(pen, "s9")->descriptors,
	    pen->descriptors - (SERVICES - 1) * 6);
	for (; pen->participants[n].name != NULL; n++)
		all[n] = pen->participants[n];
	all[n++] = (struct participant){ .name = "count",
		.since = PHASE_SERVING,
		.service = { .on = CHANGED_ALL, .commit = count_commit } };
	all[n] = (struct participant){ .name = NULL };
	pen->participants = all;
	takes("reload");
	ck_assert_uint_eq(commits, 1);
	write_services(file, 7);
	takes("reload");
	ck_assert_uint_eq(commits, 3);
	s7 = service_find(pen, "s7");
	ck_assert_uint_eq(pool_server(s7->pool, 1)->set.weight, 2);
	pen_free(pen);
}
END_TEST

#ifdef HAVE_MAXMINDDB
static void
write_database(const char *path, unsigned made)
{
	struct mmdb *m = mmdb_new(MMDB_NESTED);

	mmdb_add(m, "10.0.0.0/8", "NO");
	mmdb_write(m, scratch("new"), made);
	ck_assert_int_eq(rename(scratch("new"), path), 0);
}

/* At once, not when it looks at the file again. */
START_TEST(a_reload_reads_a_database)
{
	const char *file = scratch("pen.conf"), *database = scratch("mmdb");
	const struct countries *known;

	write_database(database, 1);
	write_file(file, text("listen %s\ngeoip %s\n", scratch("s"), database));
	pen = pen_new();
	pen->given->process->file = strdup(file);
	ck_assert_msg(apply_given(pen, &e) == 0, "%s", e.text);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	known = pool_countries(pen->service->pool);
	ck_assert_uint_eq(countries_made(known), 1);
	write_database(database, 2);
	takes("reload");
	ck_assert_uint_eq(countries_made(known), 2);
	pen_free(pen);
}
END_TEST
#endif

/* A draft has the servers of its plan until it edits one. */
START_TEST(a_draft_shares_servers)
{
	unsigned slot, alone = 0;
	struct plan *draft;

	begin("8080");
	ck_assert_ptr_nonnull(plan_edit(pen->plan, server_slot(MANY - 1)));
	draft = plan_copy(pen->plan);
	ck_assert_uint_ge(plan_next_change(pen->plan, draft, 0),
	    plan_slots(pen->plan));
	plan_edit(draft, server_slot(MANY / 2))->set.weight = 5;
	for (slot = 0; slot < plan_slots(draft); slot++)
		alone += plan_slot(draft, slot) != plan_slot(pen->plan, slot);
	ck_assert_uint_eq(alone, 1);
	slot = plan_next_change(pen->plan, draft, 0);
	ck_assert_uint_eq(slot, server_slot(MANY / 2));
	ck_assert_uint_ge(plan_next_change(pen->plan, draft, slot + 1),
	    plan_slots(draft));
	ck_assert_uint_eq(plan_changed(pen->plan, draft),
	    CHANGED_WEIGHT | CHANGED_SERVER);
	plan_edit(draft, SLOT_ABUSE)->set.soft = 5;
	ck_assert_uint_eq(plan_changed(pen->plan, draft),
	    CHANGED_LIMITS | CHANGED_WEIGHT | CHANGED_SERVER);
	ck_assert_uint_eq(plan_slot(pen->plan, SLOT_ABUSE)->set.soft, 0);
	plan_free(draft);
	pen_free(pen);
}
END_TEST

/* Whether each list is in force under a number that no other one has. */
static bool
all_lists_are_there(void)
{
	const struct plan_acls *l = &pen->plan->process->acls;
	const struct named_acl *n;

	for (n = l->named; n != plan_acls_end(l); n++)
		if (!acl_equal(
			pool_acl(pen->service->pool, (unsigned)n->number),
			&n->list))
			return false;
	return true;
}

static void
write_lists(const char *file, char letter, int count)
{
	const char *all = text("listen %s\n", scratch("s"));
	int i;

	for (i = 0; i < count; i++)
		all =
		    text("%sacl %c%d permit 10.0.%d.0/24\n", all, letter, i, i);
	write_file(file, all);
}

/* There are numbers for 246 lists: those of lists that are gone are free. */
START_TEST(lists_get_other_names)
{
	const char *file = scratch("pen.conf");

	write_lists(file, 'a', 150);
	pen = pen_new();
	pen->given->process->file = strdup(file);
	ck_assert_msg(apply_given(pen, &e) == 0, "%s", e.text);
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	ck_assert(all_lists_are_there());
	write_lists(file, 'b', 150);
	takes("reload");
	ck_assert_uint_eq(pen->plan->process->acls.count, 150);
	ck_assert(all_lists_are_there());
	pen_free(pen);
}
END_TEST

SUITE(test_apply)
{
	Suite *s = suite_create("apply");

	SUITE_ADD(s, a_refused_change_cancels, 10);
	SUITE_ADD(s, a_failed_start_leaves_nothing_open, 10);
	SUITE_ADD(s, the_loop_spins, 10);
	SUITE_ADD(s, a_reload_touches_what_has_changed, 20);
#ifdef HAVE_MAXMINDDB
	SUITE_ADD(s, a_reload_reads_a_database, 20);
#endif
	SUITE_ADD(s, a_draft_shares_servers, 10);
	SUITE_ADD(s, lists_get_other_names, 20);
	return s;
}
