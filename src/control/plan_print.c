/* plan_print.c: a plan as the commands that make it. */
#include "config.h"

#include <string.h>

#include "control/command.h"
#include "control/plan.h"
#include "control/reply.h"
#include "control/setting.h"

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

/* "NAME WORD", or "no NAME" without a word. */
static void
print_text(struct buffer *text, const char *name, const char *word)
{
	reply_add(text, "%s%s", word == NULL ? "no " : "", name);
	if (word != NULL) {
		(void)buffer_append(text, " ", 1);
		plan_print_word(text, word);
	}
	(void)buffer_append(text, "\n", 1);
}

static void
print_address(struct buffer *text, const char *name, const struct addr *a)
{
	char host[ADDR_TEXT_MAX];

	if (a->len > 0)
		addr_format_host(a, host);
	print_text(text, name, a->len > 0 ? host : NULL);
}

static void
print_dsr_ips(const struct dsr_settings *s, struct buffer *text)
{
	int i;

	print_text(text, "dsr_ip", NULL);
	for (i = 0; i < 2; i++)
		if (s->ip[i].len > 0)
			print_address(text, "dsr_ip", &s->ip[i]);
}

static void
print_check(const struct check_settings *s, struct buffer *text)
{
	if (s->kind == CHECK_NONE)
		reply_add(text, "no check\n");
	else if (s->port == 0)
		reply_add(text, "check %s\n", check_kind_name(s->kind));
	else
		reply_add(
		    text, "check %s %u\n", check_kind_name(s->kind), s->port);
}

void
plan_print_settings(const struct plan *p, struct buffer *text)
{
	const struct config *c = &p->config;
	const struct frontend_options *f = &c->frontend;
	const struct command *row;
	char value[SETTING_TEXT_MAX];

	for (row = command_table; row->name != NULL; row++) {
		if (row->flags & ROW_OPTION)
			continue;
		if (row->kind == KIND_FLAG)
			reply_add(text, "%s%s\n",
			    setting_flag(p, row) ? "" : "no ", row->name);
		else if (setting_is_number(row))
			reply_add(text, "%s %s\n", row->name,
			    setting_text(p, row, value));
		else if (row->kind == KIND_TEXT)
			print_text(text, row->name, setting_string(p, row));
	}
	if (c->method != NULL)
		reply_add(text, "%s\n", c->method);
	reply_add(text, "balance default\n");
	if (c->mode.balance != NULL)
		reply_add(text, "balance %s\n", c->mode.balance);
	if (c->mode.sticky_set)
		reply_add(text, "%ssticky\n", c->mode.sticky ? "" : "no ");
	reply_add(text, "tcp_fastclose %s\n",
	    f->fastclose_up	    ? (f->fastclose_down ? "both" : "up")
		: f->fastclose_down ? "down"
				    : "off");
	reply_add(text, "udp_proxy %s\n", mode_udp_proxy_name(f->udp_proxy));
	reply_add(text, "debug %llu\n", (unsigned long long)c->debug);
	print_address(text, "source", &f->source);
	print_dsr_ips(&c->dsr, text);
	reply_add(text, "dsr_forward %s\n", c->dsr.tunnel ? "tunnel" : "mac");
	if (c->dsr.tarpit_acl < 0)
		print_text(text, "tarpit_acl", NULL);
	else
		reply_add(text, "tarpit_acl %d\n", c->dsr.tarpit_acl);
	print_check(&c->checks, text);
}

static void
print_pairs(const struct tls_settings *s, struct buffer *text)
{
	unsigned i;

	reply_add(text, "no ssl_cert\n");
	for (i = 0; i < s->pairs; i++) {
		print_text(text, "ssl_cert", s->pair[i].cert);
		if (s->pair[i].key != NULL)
			print_text(text, "ssl_key", s->pair[i].key);
	}
}

static void
print_tls(const struct tls_settings *s, struct buffer *text)
{
	unsigned bit;

	if (!command_is_there(command_find("ssl_cert")))
		return;
	print_pairs(s, text);
	reply_add(text, "ssl_min %s\n", tls_min_name(s->min));
	for (bit = 1; bit <= TLS_SERVER_PREFERENCE; bit *= 2)
		reply_add(text, "%sssl_option %s\n",
		    s->options & bit ? "" : "no ", tls_option_name(bit));
}

static void
print_listeners(const struct plan *p, struct buffer *text)
{
	const struct control_plan *k;
	unsigned i;

	if (p->listen_text != NULL)
		print_text(text, "listen", p->listen_text);
	if (p->control_count > 0)
		reply_add(text, "no control\n");
	for (i = 0; i < p->control_count; i++) {
		k = &p->controls[i];
		reply_add(text, "control_level %s %s\ncontrol_mode %04o\n",
		    access_name(k->level), access_name(k->others),
		    (unsigned)k->mode);
		print_text(text, "control", k->text);
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
			    acl_format_entry(&l->entries[k], entry));
	}
}

/* What follows the number or name of a server: all of it but the address. */
static void
print_server_words(const struct server_plan *s, struct buffer *text)
{
	static const char *const admin[] = { "up", "drain", "down" };

	if (s->port != 0)
		reply_add(text, " port %u", s->port);
	reply_add(text, " max %llu hard %llu blacklist %llu",
	    (unsigned long long)s->soft, (unsigned long long)s->hard,
	    (unsigned long long)s->blacklist_ms / 1000);
	if (s->blacklist_ms % 1000 != 0)
		reply_add(text, ".%03llu",
		    (unsigned long long)s->blacklist_ms % 1000);
	reply_add(text, " weight %u prio %d", s->weight, s->prio);
	if (s->acl >= 0)
		reply_add(text, " acl %d", s->acl);
	if (s->tls != SERVER_TLS_AS_SET)
		reply_add(text, " tls %s", server_tls_name(s->tls));
	if (s->forward != SERVER_FORWARD_AS_SET)
		reply_add(text, " forward %s", server_forward_name(s->forward));
	if (s->admin_set)
		reply_add(text, " %s", admin[s->admin]);
	(void)buffer_append(text, "\n", 1);
}

static void
print_reserve(
    const struct server_plan *s, const char *name, struct buffer *text)
{
	char at[SPEC_TEXT_MAX];

	print_text(
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
	print_tls(&p->config.tls, text);
	print_listeners(p, text);
	print_acls(p, text);
	print_servers(p, text);
}
