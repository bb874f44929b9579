/* table_hooks.c: what follows from settings, and what they answer besides their
 * value. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/answer/fields.h"
#include "control/plan/check_plan.h"
#include "control/plan/origin.h"
#include "control/plan/table.h"
#include "pool/balance.h"
#include "proxy/check/check_spec.h"

/* ---- algorithms ---- */

const char *
balance_name(unsigned i)
{
	return balance_table[i] != NULL ? balance_table[i]->name : NULL;
}

/* The algorithm that ipvsadm(8) calls by this word. */
const char *
balance_alias(const char *word)
{
	static const char *const names[][2] = {
		{ "rr", "roundrobin" },
		{ "lc", "leastconn" },
		{ "wlc", "wleastconn" },
		{ "sh", "hash" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i][0]) == 0)
			return names[i][1];
	return word;
}

/* "balance default" leaves the memory of clients to the modes as well. */
int
after_balance(struct call *c, void *base, struct error *e)
{
	struct config *config = base;

	(void)c, (void)e;
	if (config->mode.balance == NULL)
		config->mode.sticky = TRISTATE_UNSET;
	return 0;
}

void
emit_balance(struct fields *f, const char *key, const struct plan *p)
{
	fields_text(f, key, p->config->pool.balance->name);
}

void
emit_sticky(struct fields *f, const char *key, const struct plan *p)
{
	fields_flag(f, key, p->config->pool.sticky);
}

/* ---- servers ---- */

/* Refuses a Unix socket as a server to callers that are not local: it could be
 * the control socket of this process. */
int
may_be_server(const struct call *c, const char *host, struct error *e)
{
	return addr_is_unix_text(host) ? call_needs_local(c, e) : 0;
}

int
after_config(struct call *c, void *base, struct error *e)
{
	struct process_plan *process = base;

	(void)c;
	if (strcmp(process->file, "-") != 0 ||
	    text_set(&process->file, PLAN_STDIN) == 0)
		return 0;
	return error_set(e, "out of memory");
}

/* The file of a Unix socket is made where its name leads. */
int
after_web(struct call *c, void *base, struct error *e)
{
	const char *at = ((const struct process_plan *)base)->web;

	return at != NULL && addr_is_unix_text(at) ? call_needs_local(c, e) : 0;
}

/* Refuses a check that runs a program to callers that are not local: it would
 * run as the user of this process. */
static int
may_check(const struct call *c, const char *text, struct error *e)
{
	struct error why;
	struct check_spec *s =
	    text != NULL ? check_spec_read(text, &why) : NULL;
	bool runs = s != NULL && check_spec_program(s) != NULL;

	check_spec_drop(s);
	return runs && call_needs_local(c, e) < 0
	    ? error_of(e, "exec")
	    : 0;
}

/* The port of the first listening address, where none was given. */
int
after_address(struct call *c, void *base, struct error *e)
{
	struct server_plan *s = base;
	char what[32];

	if (may_be_server(c, s->host, e) < 0)
		return -1;
	snprintf(what, sizeof(what), "server %.20s", c->words->word[0]);
	origin_warn_twice(c, s->origin, what);
	if (text_set(&s->origin, c->origin) < 0 ||
	    text_set(&s->address, NULL) < 0)
		return error_set(e, "out of memory");
	if (addr_is_unix_text(s->host)) {
		s->port = 0;
		s->same_port = false;
	} else if (server_plan_lacks_port(s)) {
		s->port = check_plan_first_port(c->plan);
	}
	return 0;
}

/* As in classic Pen, this command on a control socket also takes the server out
 * of rotation at once. In a file it is for later. */
int
after_blacklist(struct call *c, void *base, struct error *e)
{
	struct server_plan *s = base;

	(void)e;
	s->out_now = c->origin == NULL;
	return 0;
}

int
after_check(struct call *c, void *base, struct error *e)
{
	const struct config *config = base;

	return may_check(c, config->checks.text, e);
}

int
after_server_check(struct call *c, void *base, struct error *e)
{
	const struct server_plan *s = base;

	return may_check(c, s->check, e);
}

int
after_program(struct call *c, void *base, struct error *e)
{
	const struct process_plan *process = base;

	(void)c;
	if (process->on_state == NULL || process->on_state[0] == '/')
		return 0;
	return error_set(
	    e, "\"%.200s\": expects an absolute path", process->on_state);
}

int
after_resolver(struct call *c, void *base, struct error *e)
{
	const struct process_plan *process = base;
	struct addr at;

	(void)c;
	if (process->resolver == NULL ||
	    spec_parse_ip(&at, process->resolver, 0) == 0)
		return 0;
	return error_set(e, "\"%.100s\" is not an IP address, or IP:PORT",
	    process->resolver);
}

int
after_check_address(struct call *c, void *base, struct error *e)
{
	struct server_plan *s = base;
	struct addr a;

	(void)c;
	if (strcmp(s->check_address, "default") == 0)
		return text_set(&s->check_address, NULL);
	if (addr_parse_ip(&a, s->check_address, 0) == 0)
		return 0;
	return error_set(e, "check_address \"%.100s\" is not an IP address",
	    s->check_address);
}

/* ---- names of this host ---- */

/* Host has no more than that, see http_words.h. */
int
after_web_host(struct call *c, void *base, struct error *e)
{
	const struct process_plan *wanted = base;
	const char *list = wanted->web_host, *at = list;
	size_t n;

	(void)c;
	for (; at != NULL; at = at[n] == ',' ? at + n + 1 : NULL) {
		n = strspn(at,
		    "abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
		if (n == 0 || (at[n] != ',' && at[n] != '\0'))
			return error_set(e,
			    "\"%.200s\" is not a list of host names, such as "
			    "pen.example.com,status.example.com",
			    list);
	}
	return 0;
}

/* ---- how many connections there may be ---- */

/* Keeps conn_max unlimited when a smaller number than the descriptors allow is
 * set at run time, where it can only grow; see ROW_GROWS. */
int
after_conn_max(struct call *c, void *base, struct error *e)
{
	struct config *wanted = base;

	(void)e;
	if (c->grows != NULL && c->grows->config->conn_max == 0 &&
	    wanted->conn_max < c->grows->config->frontend.sessions_max)
		wanted->conn_max = 0;
	return 0;
}

/* The number that was set; without one, what descriptors allow. */
static uint64_t
conn_max_of(const struct plan *p)
{
	return p->config->conn_max > 0 ? p->config->conn_max
				      : p->config->frontend.sessions_max;
}

void
emit_conn_max(struct fields *f, const char *key, const struct plan *p)
{
	fields_number(f, key, conn_max_of(p));
}

int
run_conn_max(struct call *c, struct error *e)
{
	struct fields f;

	(void)e;
	fields_begin(&f, c->reply, FIELDS_SILENT);
	emit_conn_max(&f, "conn_max", c->plan);
	fields_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out, "%llu\n",
		    (unsigned long long)conn_max_of(c->plan));
	return 0;
}

/* ---- connections opened in advance ---- */

int
run_idlers(struct call *c, struct error *e)
{
	/* of a draft, what is in force is not settled yet */
	uint64_t want = c->plan == c->grows
	    ? c->plan->config->frontend.preopened
	    : c->plan->config->idlers;
	uint64_t have = c->preopened != NULL ? c->preopened(c->service) : 0;
	struct fields f;

	(void)e;
	fields_begin(&f, c->reply, FIELDS_SILENT);
	fields_number(&f, "open", have);
	fields_number(&f, "target", want);
	fields_end(&f);
	if (!c->reply->json)
		reply_add(&c->reply->out, "Idlers: %llu/%llu\n",
		    (unsigned long long)have, (unsigned long long)want);
	return 0;
}
