/* plan_print.c: a plan as the commands that make it. */
#include "config.h"

#include <string.h>

#include "control/command.h"
#include "control/plan.h"
#include "control/reply.h"
#include "control/setting.h"
#include "control/special.h"

void
plan_print_word(struct buffer *text, const char *word)
{
	bool quote = word[0] == '\0' || word[0] == '#' ||
	    strpbrk(word, " \t\r\n\"'\\;") != NULL;

	if (!quote) {
		(void)buffer_append(text, word, strlen(word));
		return;
	}
	(void)buffer_append(text, "\"", 1);
	for (; *word != '\0'; word++) {
		if (*word == '"' || *word == '\\')
			(void)buffer_append(text, "\\", 1);
		(void)buffer_append(text, word, 1);
	}
	(void)buffer_append(text, "\"", 1);
}

void
plan_print_text(struct buffer *text, const char *name, const char *word)
{
	reply_add(text, "%s%s", word == NULL ? "no " : "", name);
	if (word != NULL) {
		(void)buffer_append(text, " ", 1);
		plan_print_word(text, word);
	}
	(void)buffer_append(text, "\n", 1);
}

void
plan_print_settings(const struct plan *p, struct buffer *text)
{
	const struct special *special;
	const struct command *row;
	char value[SETTING_TEXT_MAX];
	unsigned i;

	COMMAND_EACH(row) {
		if (row->flags & ROW_OPTION || !command_is_there(row))
			continue;
		if (row->kind == KIND_FLAG)
			reply_add(text, "%s%s\n",
			    setting_flag(p, row) ? "" : "no ", row->name);
		else if (setting_is_number(row))
			reply_add(text, "%s %s\n", row->name,
			    setting_text(p, row, value));
		else if (row->kind == KIND_TEXT)
			plan_print_text(
			    text, row->name, setting_string(p, row));
	}
	for (i = 0; (special = special_at(i)) != NULL; i++)
		special->print(p, text);
}

static void
print_listeners(const struct plan *p, struct buffer *text)
{
	const struct control_plan *k;
	unsigned i;

	if (p->listen_text != NULL)
		plan_print_text(text, "listen", p->listen_text);
	if (p->control_count > 0)
		reply_add(text, "no control\n");
	for (i = 0; i < p->control_count; i++) {
		k = &p->controls[i];
		reply_add(text, "control_level %s %s\ncontrol_mode %04o\n",
		    access_name(k->level), access_name(k->others),
		    (unsigned)k->mode);
		plan_print_text(text, "control", k->text);
	}
}

static void
print_acls(const struct plan *p, struct buffer *text)
{
	char entry[ACL_TEXT_MAX];
	size_t k;
	int i;

	for (i = 0; i < ACL_LISTS; i++) {
		const struct acl *l = &p->acls[i];

		reply_add(text, "no acl %d\n", i);
		for (k = 0; k < l->count; k++)
			reply_add(text, "acl %d %s\n", i,
			    acl_format_entry(acl_at(l, k), entry));
	}
}

/* What follows the number or name of a server: all of it but the address. */
static void
print_server_words(const struct server_plan *s, struct buffer *text)
{
	static const char *const admin[] = { "up", "drain", "down" };

	if (s->port != 0 || s->same_port)
		reply_add(text, " port %u", s->port);
	reply_add(text, " max %llu hard %llu blacklist %llu",
	    (unsigned long long)s->set.soft, (unsigned long long)s->set.hard,
	    (unsigned long long)s->set.blacklist_ms / 1000);
	if (s->set.blacklist_ms % 1000 != 0)
		reply_add(text, ".%03llu",
		    (unsigned long long)s->set.blacklist_ms % 1000);
	reply_add(text, " weight %u prio %d", s->set.weight, s->set.prio);
	if (s->set.acl >= 0)
		reply_add(text, " acl %d", s->set.acl);
	if (s->set.tls != SERVER_TLS_AS_SET)
		reply_add(text, " tls %s", server_tls_name(s->set.tls));
	if (s->set.forward != SERVER_FORWARD_AS_SET)
		reply_add(text, " forward %s", server_forward_name(s->set.forward));
	if (s->admin >= 0)
		reply_add(text, " %s", admin[s->admin]);
	(void)buffer_append(text, "\n", 1);
}

static void
print_reserve(
    const struct server_plan *s, const char *name, struct buffer *text)
{
	char at[SPEC_TEXT_MAX];

	plan_print_text(
	    text, name, s->host != NULL ? spec_format_limits(s, at) : NULL);
}

static void
print_servers(const struct plan *p, struct buffer *text)
{
	const struct server_plan *s;
	struct server_plan empty;
	unsigned i;

	server_plan_init(&empty);
	reply_add(text, "server all remove\n");
	for (i = 0; i < p->count; i++) {
		s = &p->servers[i];
		if (server_plan_equal(s, &empty))
			continue;
		reply_add(text, "server %u", i);
		if (s->host != NULL) {
			(void)buffer_append(text, " address ", 9);
			plan_print_word(text, s->host);
		}
		print_server_words(s, text);
	}
	print_reserve(&p->emergency, "emergency", text);
	print_reserve(&p->abuse, "abuse", text);
}

void
plan_print(const struct plan *p, struct buffer *text)
{
	plan_print_settings(p, text);
	print_listeners(p, text);
	print_acls(p, text);
	print_servers(p, text);
}
