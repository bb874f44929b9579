/* test_command.c: the command language and its table. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "control/language/command.h"
#include "control/pen.h"
#include "control/plan/table.h"
#include "control/registry.h"
#include "pool/balance.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static char answer[4096];

static void
begin(void)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(
	    spec_parse_listen(&pen->plan->listen, "8080", RESOLVE_NAMES, &e),
	    0);
}

static int
run(const char *line)
{
	return ask_pen(pen, line, answer, sizeof(answer), &e);
}

static void
says(const char *line, const char *wanted)
{
	ck_assert_msg(run(line) == 0, "%s: %s", line, e.text);
	ck_assert_str_eq(answer, wanted);
}

static void
fails(const char *line, const char *why)
{
	ck_assert_msg(run(line) == -1, "%s: accepted", line);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", line, e.text);
}

START_TEST(table_is_sound)
{
	char first[ROW_OPTION_MAX], second[ROW_OPTION_MAX];
	const struct command *r, *o;
	unsigned i = 0;

	COMMAND_EACH (command_groups, r) {
		ck_assert_uint_eq(command_index(command_groups, r), i++);
		if (r->kind < KIND_CHANGE) /* the plan has it, too */
			ck_assert_msg(
			    r->flags & ROW_OPTION || table_find(r->name) == r,
			    "%s", r->name);
		ck_assert_ptr_nonnull(r->help);
		ck_assert_msg(r->kind < KIND_CHANGE || r->kind > KIND_ACTION ||
			r->run != NULL,
		    "%s", r->name);
		ck_assert_msg(
		    r->letter == '\0' || row_option(r, first) != NULL, "%s",
		    r->name);
		for (o = command_next(command_groups, r); o != NULL;
		     o = command_next(command_groups, o)) {
			/* --check is no command, and check no option */
			if (((r->flags ^ o->flags) & ROW_OPTION) == 0)
				ck_assert_str_ne(r->name, o->name);
			ck_assert_msg(
			    r->letter == '\0' || r->letter != o->letter,
			    "%s and %s: -%c", r->name, o->name, r->letter);
			ck_assert(row_option(r, first) == NULL ||
			    row_option(o, second) == NULL ||
			    strcmp(row_option(r, first),
				row_option(o, second)) != 0);
		}
	}
}
END_TEST

/* The row with nothing that follows from its name, kind and choices. */
static struct command
bare(const struct command *row)
{
	struct command copy = *row;

	copy.option = copy.args = NULL;
	copy.max = 0;
	return copy;
}

static bool
is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* No row writes what follows from the rest of it. */
START_TEST(nothing_is_written_twice)
{
	char option[ROW_OPTION_MAX], args[COMMAND_TEXT_MAX];
	const struct command *r;
	struct command c;

	TABLE_EACH (r) {
		c = bare(r);
		ck_assert_msg(!is_same(row_option(&c, option), r->option), "%s",
		    r->name);
		ck_assert_msg(
		    !is_same(row_args(&c, args), r->args), "%s", r->name);
		ck_assert_msg(
		    r->max == 0 || r->max != row_max(&c), "%s", r->name);
	}
}
END_TEST

static void
follows(const char *name, const char *option, const char *args, uint64_t max)
{
	char got[COMMAND_TEXT_MAX];
	const struct command *row = table_find(name);

	ck_assert_ptr_nonnull(row);
	ck_assert_str_eq(row_option(row, got), option);
	ck_assert_str_eq(row_args(row, got), args);
	ck_assert_uint_eq(row_max(row), max);
}

START_TEST(what_follows)
{
	char text[ROW_OPTION_MAX];

	follows("dns_timeout", "dns-timeout", "[SEC]", LONG_MS);
	follows("client_conns", "client-conns", "[N]", 1 << 30);
	follows("dns_max", "dns-max", "[N]", 1 << 24);
	follows("rate_up", "rate-up", "[SIZE]", UINT64_C(1) << 40);
	follows("sndbuf", "sndbuf", "[SIZE]", 1 << 30);
	follows("failback", "failback", "[never|idle|now]", 0);
	follows("dsr_forward", "dsr-forward", "mac|tunnel", 0);
	follows("ssl_key", "key", "[FILE]", 0);
	ck_assert_ptr_null(row_option(table_find("prio"), text));
	ck_assert(!row_has_args(table_find("prio")));
}
END_TEST

/* A command is of the process or of a service; of both is what these do. */
START_TEST(each_command_is_of_something)
{
	static const char both[] =
	    " defaults include listen service show status ";
	const struct command *r;
	bool of_both;

	COMMAND_EACH (command_groups, r) {
		if (r->kind < KIND_CHANGE || r->kind > KIND_ACTION)
			continue;
		of_both = strstr(both, text(" %s ", r->name)) != NULL;
		ck_assert_msg(
		    (r->scope != SCOPE_PROCESS) + !row_is_of_service(r) ==
			(of_both ? 2 : 1),
		    "%s", r->name);
	}
}
END_TEST

/* Whatever the level, who is on TCP names no file. */
START_TEST(files_are_not_named_on_tcp)
{
	struct caller caller = { .access = ACCESS_ADMIN, .remote = true };
	struct words w = { .count = 1, .word = { (char[]){ "/tmp/x" } } };
	struct call c = { .words = &w, .caller = &caller };
	char text[COMMAND_TEXT_MAX];
	const char *args;
	struct reply reply;
	int n = 0;

	begin();
	reply_init(&reply);
	c.pen = pen;
	c.service = pen->service;
	c.draft = c.plan = pen->plan;
	c.reply = &reply;
	COMMAND_EACH (command_groups, c.row) {
		args = row_args(c.row, text);
		if (c.row->flags & ROW_OPTION || args == NULL ||
		    (strstr(args, "FILE") == NULL &&
			strstr(args, "DIR") == NULL &&
			strstr(args, "PROGRAM") == NULL))
			continue;
		ck_assert_msg(command_run(&c, &e) < 0 &&
			strncmp(e.text, "not on TCP", 10) == 0,
		    "%s: %s", c.row->name, e.text);
		n++;
	}
	ck_assert_int_gt(n, 6);
	reply_fini(&reply);
	pen_free(pen);
}
END_TEST

START_TEST(settings)
{
	begin();
	says("blacklist", "30\n");
	says("blacklist 5", "5\n");
	says("blacklist 0.25", "0.250\n");
	ck_assert_uint_eq(pool_options(pen->service->pool)->blacklist_ms, 250);
	says("idle_timeout", "Idle timeout: 0 seconds\n");
	says("timeout 7", "7\n");
	says("tracking", "0\n");
	says("buffer 4m", "4194304\n");
	says("client_acl 9", "9\n");
	says("hash_prefix6 64", "64\n");
	says("conn_max 1000", "1000\n");
	says("keepalive", "");
	ck_assert(pen->plan->config->frontend.keepalive);
	says("no keepalive", "");
	ck_assert(!pen->plan->config->frontend.keepalive);
	fails("blacklist x",
	    "\"x\" is not a valid duration (5, 0.5, 200ms, 5m, 2h)");
	fails("timeout 99999999999", "out of range");
	fails("timeout 0", "0 out of range 0.001..31622400");
	fails("client_acl 10", "\"10\" is not a number from 0 to 9");
	fails("buffer lots", "\"lots\" is not a valid size");
	fails("blacklist 1 2", "one argument");
	fails("keepalive on", "takes no argument, got \"on\"");
	fails("no blacklist", "there is no \"no blacklist\"");
	says("timeout", "7\n");
	pen_free(pen);
}
END_TEST

START_TEST(words_and_typos)
{
	begin();
	says("", "");
	says("  # a comment", "");
	says("blacklist 4 # seconds", "4\n");
	fails("blaklist", "did you mean blacklist?");
	fails("no stuborn", "did you mean stubborn?");
	fails("frobnicate", "unknown command \"frobnicate\"");
	fails("\"server", "quote");
	fails("foreground", "unknown command");
	says("block", "");
	says("no delayed_forward", "");
	pen_free(pen);
}
END_TEST

static void
expect_balance(const char *name, bool sticky)
{
	ck_assert_str_eq(pool_options(pen->service->pool)->balance->name, name);
	ck_assert_int_eq(pool_options(pen->service->pool)->sticky, sticky);
}

/* prio before weight before hash before round robin; memory by default only. */
START_TEST(modes)
{
	begin();
	expect_balance("roundrobin", true);
	says("mode", "no hash no roundrobin no stubborn no weight no prio\n");
	says("roundrobin", "");
	expect_balance("roundrobin", false);
	says("hash", "");
	expect_balance("hash", false);
	ck_assert(pool_options(pen->service->pool)->hash_port);
	says("weight", "");
	expect_balance("wleastconn", false);
	says("prio", "");
	expect_balance("prio", false);
	says("stubborn", "");
	ck_assert(pool_options(pen->service->pool)->stubborn);
	says("mode", "hash roundrobin stubborn weight prio\n");
	says("balance leastconn", "");
	expect_balance("leastconn", false);
	says("sticky", "");
	expect_balance("leastconn", true);
	says("no sticky", "");
	expect_balance("leastconn", false);
	fails("balance pigeon", "unknown algorithm \"pigeon\"");
	fails("balance", "expects NAME");
	pen_free(pen);
}
END_TEST

START_TEST(server_edits)
{
	begin();
	says("server 1 address 10.0.0.2", "");
	says("server 0 address 10.0.0.1 port 81 max 5 hard 6 weight 7 prio 8 "
	     "acl 3 blacklist 2",
	    "");
	says("servers",
	    "0 addr 10.0.0.1 port 81 conn 0 max 5 hard 6 weight 7 prio 8 sx 0 "
	    "rx 0\n"
	    "1 addr 10.0.0.2 port 8080 conn 0 max 0 hard 0 weight 0 prio 0 "
	    "sx 0 rx 0\n");
	says("server 0 weight 1", "");
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->set.weight, 1);
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->set.soft, 5);
	ck_assert_uint_eq(
	    pool_server(pen->service->pool, 0)->set.blacklist_ms, 2000);
	ck_assert_int_eq(pool_server(pen->service->pool, 0)->set.acl, 3);
	fails("server", "expects SERVER");
	fails("server x", "there is no server \"x\"");
	fails("server 0 weight", "\"weight\" needs a value");
	fails("server 0 weight x", "\"x\" is not a number");
	fails("server 0 colour 1", "\"colour\": expected acl");
	fails("server 0 address no-such-host.invalid", "no-such-host");
	fails("server 99999999 weight 1", "not a number from 0 to ");
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->set.weight, 1);
	says("server 4 address ./x", "");
	ck_assert_uint_eq(pool_count(pen->service->pool), 5);
	ck_assert(!pool_server(pen->service->pool, 3)->present);
	pen_free(pen);
}
END_TEST

/* What is typed by habit, of other programs: what to type here. */
START_TEST(habits)
{
	begin();
	fails("stats", "(did you mean statistics?)");
	fails("drain 0", "(did you mean server N drain?)");
	fails("help drain", "(did you mean server N drain?)");
	fails("maint 0", "(did you mean server N maint?)");
	fails("disable server web/web1", "(did you mean server N maint?)");
	fails("enable server web/web1", "(did you mean server N up?)");
	fails("set server web/web1", "(did you mean server N weight W?)");
	fails("bind 80", "(did you mean listen?)");
	fails("backend web", "(did you mean service?)");
	fails("service web {", "a section has no braces");
	fails("}", "a section has no braces");
	fails("server 0 address 10.0.0.1,10.0.0.2", "without commas");
	pen_free(pen);
}
END_TEST

START_TEST(access_and_reserves)
{
	begin();
	says("acl 2 permit 10.0.0.0 255.0.0.0", "");
	says("acl 2 deny 2001:db8::/32", "");
	ck_assert_uint_eq(pool_acl(pen->service->pool, 2)->count, 2);
	says("no acl 2", "");
	ck_assert_uint_eq(pool_acl(pen->service->pool, 2)->count, 0);
	fails("no acl", "expects N");
	fails("acl", "expects");
	fails("acl 10 permit 1.2.3.4", "not a number from 0 to 9");
	fails("acl 1 allow 1.2.3.4", "expected permit or deny");
	fails("acl 1 permit 1.2.3.4/33", "longer than 32 bits");
	fails("acl 1 permit ::1 255.0.0.0", "not an address");
	says("emergency 10.0.0.9", "");
	ck_assert_uint_eq(
	    addr_port(
		&pool_slot(pen->service->pool, SLOT_EMERGENCY)->addrs.addr[0]),
	    8080);
	fails("abuse [::1", "missing ]");
	fails("source", "expects IP");
	fails("source host", "not an IP address");
	says("tcp_fastclose up", "");
	ck_assert_int_eq(pen->plan->config->frontend.fastclose, FASTCLOSE_UP);
	fails("tcp_fastclose sideways", "expects up|down|both|off");
	says("debug 1", "1\n");
	ck_assert_int_eq(log_level, LOG_LEVEL_DEBUG);
	says("debug 0", "0\n");
	pen_free(pen);
}
END_TEST

SUITE(test_command)
{
	Suite *s = suite_create("command");

	SUITE_ADD(s, nothing_is_written_twice, 10);
	SUITE_ADD(s, what_follows, 10);
	SUITE_ADD(s, table_is_sound, 10);
	SUITE_ADD(s, each_command_is_of_something, 10);
	SUITE_ADD(s, files_are_not_named_on_tcp, 10);
	SUITE_ADD(s, settings, 10);
	SUITE_ADD(s, words_and_typos, 10);
	SUITE_ADD(s, modes, 10);
	SUITE_ADD(s, server_edits, 30);
	SUITE_ADD(s, habits, 10);
	SUITE_ADD(s, access_and_reserves, 10);
	return s;
}
