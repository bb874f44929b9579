/* plan_print.c: a plan as the commands that make it. */
#include "config.h"

#include <string.h>

#include "base/words.h"
#include "control/plan/plan.h"
#include "control/answer/reply.h"
#include "control/plan/server_setting.h"
#include "control/plan/setting.h"
#include "control/value/value.h"

/* Prints a control socket, after its levels and mode where these differ from
 * those of the one before it; `before` NULL: always. */
static void
print_control(const struct control_plan *k, const struct control_plan *before,
    struct buffer *text)
{
	if (before == NULL || k->level != before->level ||
	    k->others != before->others)
		reply_add(text, "control_level %s %s\n", access_name(k->level),
		    access_name(k->others));
	if (before == NULL || k->mode != before->mode)
		reply_add(text, "control_mode %04o\n", (unsigned)k->mode);
	reply_command(text, "control", k->text);
}

static void
print_controls(const struct process_plan *p, bool brief, struct buffer *text)
{
	static const struct control_plan first = CONTROL_PLAN_NEW;
	const struct control_plan *before = brief ? &first : NULL;
	unsigned i;

	if (p->control_count > 0)
		reply_add(text, "no control\n");
	for (i = 0; i < p->control_count; i++) {
		print_control(&p->controls[i], before, text);
		before = brief ? &p->controls[i] : NULL;
	}
}

static void
print_acl(const char *list, const struct acl *l, struct buffer *text)
{
	struct acl_item item = { .next = 0 };

	while (acl_next(l, &item)) {
		reply_add(text, "acl %s ", list);
		acl_print_item(&item, text);
	}
}

static void
print_acls(const struct plan_acls *all, struct buffer *text)
{
	char list[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	for (i = 0; (l = plan_acls_at(all, i, list)) != NULL; i++) {
		reply_add(text, "no acl %s\n", list);
		print_acl(list, l, text);
	}
}

/* Nothing of one that is not there, unless `all` is set. */
static void
print_special(const struct server_plan *s, const char *name, bool all,
    struct buffer *text)
{
	char at[SPEC_TEXT_MAX];

	if (all || s->host != NULL)
		reply_command(text, name,
		    s->host != NULL ? spec_format_limits(s, at) : NULL);
}

static void
print_specials(const struct plan *p, bool all, struct buffer *text)
{
	print_special(plan_slot(p, SLOT_EMERGENCY), "emergency", all, text);
	print_special(plan_slot(p, SLOT_ABUSE), "abuse", all, text);
}

/* Some words have spaces inside. */
static unsigned
words_at_most(const struct buffer *text, size_t from)
{
	unsigned words = 1;

	for (; from < buffer_length(text); from++)
		words += buffer_bytes(text)[from] == ' ';
	return words;
}

/* A check takes all words that follow: one of many has a line of its own. */
static void
print_check(const struct server_plan *s, unsigned number, size_t line,
    struct buffer *text)
{
	size_t at = buffer_length(text);

	server_setting_print_check(s, text);
	if (buffer_length(text) == at ||
	    words_at_most(text, line) <= WORDS_MAX)
		return;
	buffer_cut(text, at);
	reply_add(text, "\nserver %u", number);
	server_setting_print_check(s, text);
}

static void
print_servers(const struct plan *p, bool brief, struct buffer *text)
{
	const struct server_plan *s;
	static const struct server_plan empty = SERVER_PLAN_NONE;
	size_t line;
	unsigned i;

	for (i = 0; (s = plan_server(p, i)) != NULL; i++) {
		if (server_plan_equal(s, &empty) || s->parent != 0)
			continue;
		line = buffer_length(text);
		reply_add(text, "server %u", i);
		if (brief)
			server_setting_print_short(s, text);
		else
			server_setting_print(s, text);
		print_check(s, i, line, text);
		(void)buffer_append(text, "\n", 1);
	}
}

static void
print_routes(const struct plan *p, struct buffer *text)
{
	const struct route_plan *r;
	unsigned i;

	reply_add(text, "no route\n");
	for (i = 0; (r = route_plans_at(p->routes, i)) != NULL; i++) {
		route_plan_print(r, text);
		(void)buffer_append(text, "\n", 1);
	}
}

static void
print_first(const struct plan *p, bool brief, struct buffer *text)
{
	setting_print_all(p, p, text);
	if (p->listen_text != NULL)
		reply_command(text, "listen", p->listen_text);
	print_controls(p->process, brief, text);
	print_acls(&p->process->acls, text);
	reply_add(text, "server all remove\n");
	print_servers(p, brief, text);
	print_specials(p, true, text);
	print_routes(p, text);
}

/* ---- the other services ---- */

/* Prints the service's own settings that differ from those of `plain`; NULL:
 * all. */
static void
print_own_settings(
    const struct plan *p, const struct plan *plain, struct buffer *text)
{
	const struct command *row;

	SETTING_EACH (row)
		if (row->scope == SCOPE_SERVICE &&
		    (plain == NULL || !setting_equal(p, plain, row)))
			value_print(row, p->config, text);
}

static void
print_service(const struct plan *p, const struct plan *plain, bool brief,
    struct buffer *text)
{
	reply_add(text, "service %s\n", p->name);
	print_own_settings(p, plain, text);
	if (p->listen_text != NULL)
		reply_command(text, "listen", p->listen_text);
	if (plain == NULL)
		reply_add(text, "server all remove\n");
	print_servers(p, brief, text);
	print_specials(p, plain == NULL, text);
	if (plain == NULL || route_plans_at(p->routes, 0) != NULL)
		print_routes(p, text);
}

/* Prints the other services, without the defaults of new services, unless `all`
 * is set. */
static void
print_services(const struct plan *p, bool all, bool brief, struct buffer *text)
{
	struct plan *plain =
	    all || p->service_count == 0 ? NULL : plan_new_service(NULL);
	const struct plan *one;
	unsigned i;

	for (i = 1; (one = plan_service_at(p, i)) != NULL; i++)
		print_service(one, plain, brief, text);
	plan_free(plain);
}

void
plan_print(const struct plan *p, struct buffer *text)
{
	print_first(p, false, text);
	print_services(p, true, false, text);
}

void
plan_print_set(const struct plan *p, struct buffer *text)
{
	print_first(p, false, text);
	print_services(p, false, false, text);
}

void
plan_print_brief(const struct plan *p, struct buffer *text)
{
	print_first(p, true, text);
	print_services(p, false, true, text);
}
