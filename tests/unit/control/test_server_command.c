/* test_server_command.c: editing servers, reserves and access lists. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "control/value/choices.h"
#include "control/language/command.h"
#include "control/pen.h"
#include "control/plan/server_setting.h"
#include "control/plan/table.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;

static void
begin(const char *listening)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(
	    spec_parse_listen(&pen->plan->listen, listening, RESOLVE_NAMES, &e),
	    0);
}

static int
run(const char *line)
{
	char answer[1024];

	return ask_pen(pen, line, answer, sizeof(answer), &e);
}

static void
takes(const char *line)
{
	ck_assert_msg(run(line) == 0, "%s: %s", line, e.text);
}

static void
refuses(const char *line, const char *why)
{
	ck_assert_msg(run(line) == -1, "%s: taken", line);
	ck_assert_str_eq(e.text, why);
}

static const char *
at(unsigned index)
{
	static char name[ADDR_TEXT_MAX];

	return addr_format(
	    &pool_server(pen->service->pool, index)->addrs.addr[0], name);
}

START_TEST(addresses_and_ports)
{
	begin("8080");
	takes("server 0 address 10.0.0.1");
	ck_assert_str_eq(at(0), "10.0.0.1:8080");
	takes("server 0 port smtp");
	ck_assert_str_eq(at(0), "10.0.0.1:25");
	/* the port stays when the address changes, in whichever order */
	takes("server 0 address ::1");
	ck_assert_str_eq(at(0), "[::1]:25");
	takes("server 0 port 81 address 10.0.0.2");
	ck_assert_str_eq(at(0), "10.0.0.2:81");
	takes("server 0 address 10.0.0.3 port 82");
	ck_assert_str_eq(at(0), "10.0.0.3:82");
	takes("server 0 address /run/x");
	ck_assert_str_eq(at(0), "/run/x");
	takes("server 0 address @x");
	ck_assert_str_eq(at(0), "@x");
	takes("server 0");
	ck_assert_str_eq(at(0), "@x");
	pen_free(pen);
	/* a socket has no port to lend */
	begin("/run/pen");
	refuses("server 0 address 10.0.0.1",
	    "server \"10.0.0.1\": no port");
	takes("server 0 address /run/x");
	takes("server 1 address 10.0.0.1 port 1");
	ck_assert_str_eq(at(1), "10.0.0.1:1");
	pen_free(pen);
}
END_TEST

/* What the command line takes, the command takes. */
START_TEST(numbers)
{
	const struct server *s;

	begin("8080");
	takes("server 0 address 10.0.0.1 max 4294967295 hard 4294967295 "
	      "weight 65535 prio 2147483647 acl 9 blacklist 0.5");
	s = pool_server(pen->service->pool, 0);
	ck_assert_uint_eq(s->set.soft, 4294967295u);
	ck_assert_uint_eq(s->set.hard, 4294967295u);
	ck_assert_uint_eq(s->set.weight, 65535);
	ck_assert_int_eq(s->set.prio, 2147483647);
	ck_assert_int_eq(s->set.acl, 9);
	ck_assert_uint_eq(s->set.blacklist_ms, 500);
	refuses("server 0 max 4294967296",
	    "server: \"4294967296\" is not a number from 0 to 4294967295");
	refuses("server 0 hard -1",
	    "server: \"-1\" is not a number from 0 to 4294967295");
	refuses("server 0 weight 65536",
	    "server: \"65536\" is not a number from 0 to 65535");
	refuses("server 0 prio 2147483648",
	    "server: \"2147483648\" is not a number from 0 to 2147483647");
	refuses(
	    "server 0 acl 10", "server: \"10\" is not a number from 0 to 9");
	refuses("server 0 port 65536", "server: port out of range 1..65535");
	refuses("server 0 blacklist x",
	    "server: \"x\" is not a valid duration (5, 0.5, 200ms, 5m, 2h)");
	ck_assert_uint_eq(s->set.weight, 65535);
	ck_assert_uint_eq(s->set.blacklist_ms, 500);
	pen_free(pen);
}
END_TEST

/* The misspelt word is named, not its value. */
START_TEST(misspelt_words)
{
	static const char *const lines[] = { "server 0 adress 10.0.0.1",
		"server 0 weigth 5", "server 0 weight 5 adress x" };
	unsigned i;

	begin("8080");
	takes("server 0 address 10.0.0.1");
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(run(lines[i]), -1);
		ck_assert_msg(strstr(e.text,
				  i == 1 ? "\"weigth\": expected acl, address"
					 : "\"adress\": expected acl, address"),
		    "%s: %s", lines[i], e.text);
	}
	/* all of a line or nothing */
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->set.weight, 0);
	pen_free(pen);
}
END_TEST

START_TEST(the_table_grows)
{
	unsigned i;

	begin("8080");
	takes("server 30 address 10.0.0.30");
	ck_assert_uint_eq(pool_count(pen->service->pool), 31);
	for (i = 0; i < 30; i++)
		ck_assert(!pool_server(pen->service->pool, i)->present);
	takes("server 7 address 10.0.0.7");
	ck_assert_uint_eq(pool_count(pen->service->pool), 31);
	ck_assert(pool_server(pen->service->pool, 7)->present);
	refuses("server 4096 address 10.0.0.1",
	    "server: \"4096\" is not a number from 0 to 4095: a service has "
	    "at most 4096 servers");
	takes("server 4095 address 10.0.0.1");
	refuses("no server 7", "no server: there is no \"no server\"");
	pen_free(pen);
}
END_TEST

/* As words, a value that no new server has. */
static const char *
other(const struct command *row)
{
	if (row->flags & ROW_BARE)
		return row->choices[1].word;
	if (row->kind == KIND_CHECK)
		return "check off";
	return text("%s %s", row->name,
	    row->choices != NULL	 ? row->choices[1].word
		: row->kind == KIND_HOST || row->kind == KIND_TEXT
		? "10.0.0.2"
		: "7");
}

/* Each makes another server of it, is copied, and reads back as it is
 * printed. */
START_TEST(every_setting_of_a_server)
{
	const struct command *row;
	const struct server_plan *a, *b;
	struct plan *copy;
	struct buffer out;

	for (row = rows_server; row->name != NULL; row++) {
		begin("8080");
		takes("server 0 address 10.0.0.1; server 1 address 10.0.0.1");
		takes(text("server 1 %s", other(row)));
		a = plan_server(pen->plan, 0);
		b = plan_server(pen->plan, 1);
		ck_assert_msg(!server_plan_equal(a, b), "%s", row->name);
		copy = plan_copy(pen->plan);
		ck_assert_ptr_eq(plan_server(copy, 1), b);
		ck_assert(server_plan_equal(
		    plan_edit(copy, server_slot(1)), b));
		ck_assert_ptr_ne(plan_server(copy, 1), b);
		plan_free(copy);
		buffer_init(&out);
		server_setting_print(b, &out);
		server_setting_print_check(b, &out);
		ck_assert_int_eq(buffer_append(&out, "", 1), 0);
		takes(text("server 0%s", buffer_bytes(&out)));
		buffer_fini(&out);
		ck_assert_msg(server_plan_equal(plan_server(pen->plan, 0),
				  plan_server(pen->plan, 1)),
		    "%s", row->name);
		pen_free(pen);
	}
}
END_TEST

START_TEST(reserves)
{
	begin("8080");
	takes("emergency 10.0.0.9:1:2:3:4:5");
	ck_assert_uint_eq(
	    pool_slot(pen->service->pool, SLOT_EMERGENCY)->set.soft, 2);
	ck_assert(!pool_slot(pen->service->pool, SLOT_ABUSE)->present);
	takes("abuse @name");
	ck_assert(pool_slot(pen->service->pool, SLOT_ABUSE)->present);
	takes("emergency 10.0.0.8");
	ck_assert_uint_eq(
	    pool_slot(pen->service->pool, SLOT_EMERGENCY)->set.soft, 0);
	refuses("abuse a b", "abuse: expects [HOST:PORT]");
	refuses("emergency 10.0.0.1:70000",
	    "emergency: server \"10.0.0.1:70000\": port out of range "
	    "1..65535");
	ck_assert_str_eq(
	    pool_slot(pen->service->pool, SLOT_EMERGENCY)->name, "10.0.0.8");
	pen_free(pen);
}
END_TEST

static const char *
source(unsigned i)
{
	static char name[PEER_TEXT_MAX];

	const struct sources *s = &pen->plan->config->frontend.source;

	ck_assert_uint_lt(i, s->count);
	return peer_format_host(&s->at[i], name);
}

START_TEST(sources)
{

	begin("8080");
	takes("source 127.0.0.2");
	ck_assert_str_eq(source(0), "127.0.0.2");
	refuses("source", "source: expects IP [IP ...]");
	refuses("source x", "source: \"x\" is not an IP address");
	refuses("source 127.0.0.2:80",
	    "source: \"127.0.0.2:80\" is not an IP address");
	ck_assert_str_eq(source(0), "127.0.0.2");
	takes("source ::1");
	ck_assert_str_eq(source(0), "::1");
	/* several, of both families */
	takes("source 127.0.0.2 ::1,127.0.0.3");
	ck_assert_uint_eq(pen->plan->config->frontend.source.count, 3);
	ck_assert_str_eq(source(0), "127.0.0.2");
	ck_assert_str_eq(source(1), "::1");
	ck_assert_str_eq(source(2), "127.0.0.3");
	refuses("source 127.0.0.2,", "source: \"\" is not an IP address");
	refuses("source 127.0.0.2 127.0.0.2",
	    "source: \"127.0.0.2\" is given twice");
	refuses("source 10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,"
		"10.0.0.7,10.0.0.8,10.0.0.9,10.0.0.10,10.0.0.11,10.0.0.12,"
		"10.0.0.13,10.0.0.14,10.0.0.15,10.0.0.16,10.0.0.17",
	    "source: more than 16 addresses");
	ck_assert_uint_eq(pen->plan->config->frontend.source.count, 3);
	takes("no source");
	ck_assert_uint_eq(pen->plan->config->frontend.source.count, 0);
	pen_free(pen);
}
END_TEST

/* Port 0 is the one that the client came to, where there is one. */
START_TEST(clients_port)
{
	begin("8080");
	takes("server 0 address 10.0.0.1 port 0; server add [fd00::1]:0");
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 0)->addrs.addr[0]), 0);
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 1)->addrs.addr[0]), 0);
	/* it stays with another address, and goes with a port */
	takes("server 0 address 10.0.0.2");
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 0)->addrs.addr[0]), 0);
	takes("server 0 port 25");
	takes("server 0 address 10.0.0.3");
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 0)->addrs.addr[0]), 25);
	refuses("listen 8080,/tmp/none/socket",
	    "listen: server \"fd00::1\": port 0 means the port that clients "
	    "use, and /tmp/none/socket has none");
	pen_free(pen);
}
END_TEST

START_TEST(access_lists)
{
	begin("8080");
	takes("acl 0 permit 10.0.0.0/8");
	takes("acl 0 permit 10.0.0.0 255.255.0.0");
	takes("acl 0 deny 10.0.0.1");
	takes("acl 9 deny ::/0");
	ck_assert_uint_eq(pool_acl(pen->service->pool, 0)->count, 3);
	ck_assert_uint_eq(pool_acl(pen->service->pool, 9)->count, 1);
	refuses("acl 0 permit",
	    "acl: expects LIST permit|deny {ADDRESS[/LEN] [MASK] | unix | "
	    "uid USER | gid GROUP | country CC | file PATH}");
	refuses("acl 0 permit 10.0.0.1 255.0.0.0 x",
	    "acl: expects LIST permit|deny {ADDRESS[/LEN] [MASK] | unix | "
	    "uid USER | gid GROUP | country CC | file PATH}");
	refuses("acl 10 permit 10.0.0.1",
	    "acl: \"10\" is not a number from 0 to 9");
	refuses("acl 0 let 10.0.0.1", "acl: \"let\": expected permit or deny");
	refuses("acl 0 deny ::/129",
	    "acl: \"::/129\": the prefix is longer than 128 bits");
	refuses("acl 0 deny 10.0.0.1/x",
	    "acl: \"10.0.0.1/x\" is not an address with an optional /LEN or "
	    "mask, nor unix, uid, gid or country");
	refuses("no acl", "no acl: expects N");
	refuses("no acl 0 1", "no acl: expects N");
	refuses("no acl 10", "no acl: \"10\" is not a number from 0 to 9");
	ck_assert_uint_eq(pool_acl(pen->service->pool, 0)->count, 3);
	takes("no acl 0");
	ck_assert_uint_eq(pool_acl(pen->service->pool, 0)->count, 0);
	takes("no acl 0");
	pen_free(pen);
}
END_TEST

/* "remove" may end a value: only as a word of its own it removes the server. */
START_TEST(a_value_that_ends_with_remove)
{
	begin("8080");
	takes("server 0 address 10.0.0.1");
	takes("server 1 address 10.0.0.2");
	takes("server 0 check exec /bin/true remove");
	ck_assert_str_eq(at(0), "10.0.0.1:8080");
	takes("server all check exec /bin/true remove");
	ck_assert_str_eq(at(0), "10.0.0.1:8080");
	ck_assert_str_eq(at(1), "10.0.0.2:8080");
	takes("server 1 remove");
	ck_assert(!pool_server(pen->service->pool, 1)->present);
	ck_assert(pool_server(pen->service->pool, 0)->present);
	pen_free(pen);
}
END_TEST

SUITE(test_server_command)
{
	Suite *s = suite_create("server_command");

	SUITE_ADD(s, addresses_and_ports, 10);
	SUITE_ADD(s, numbers, 10);
	SUITE_ADD(s, misspelt_words, 10);
	SUITE_ADD(s, the_table_grows, 10);
	SUITE_ADD(s, every_setting_of_a_server, 20);
	SUITE_ADD(s, reserves, 10);
	SUITE_ADD(s, sources, 10);
	SUITE_ADD(s, clients_port, 10);
	SUITE_ADD(s, access_lists, 10);
	SUITE_ADD(s, a_value_that_ends_with_remove, 10);
	return s;
}
