/* test_plan.c: drafts, files and what they leave alone. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"
#include "control/file/config_file.h"
#include "control/socket/request.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static char answer[65536];

/* A context with what `file` says in force, as after a start. */
static void
begin(const char *file)
{
	const char *path = scratch("pen.conf");

	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	write_file(path, file);
	ck_assert_int_eq(text_set(&pen->given->process->file, path), 0);
	ck_assert_int_eq(spec_parse_listen(&pen->given->listen,
			     "127.0.0.1:8080", RESOLVE_NAMES, &e),
	    0);
	ck_assert_msg(apply_given(pen, &e) == 0, "%s", e.text);
}

static int
run(const char *line)
{
	return ask_pen(pen, line, answer, sizeof(answer), &e);
}

static void
takes(const char *line)
{
	ck_assert_msg(run(line) == 0, "%s: %s", line, e.text);
}

static const char two[] = "server 0 address 10.0.0.1 port 80\n"
			  "server 1 address 10.0.0.2 port 81 max 5\n";

START_TEST(written_is_a_fixed_point)
{
	static const char *const changes[] = { "server 5 address /run/a\\ b",
		"server 2 address \"/run/a b;c'd\\\"e\\\\f#g\"",
		"server 3 address 2001:db8::1 port 443 weight 3 prio -0",
		"server 3 address 2001:db8::1 port 443 weight 3 prio 7",
		"server 4 address @name acl 3 blacklist 1.5 drain",
		"server 6 address 10.0.0.6 weight 9", "emergency [::1]:25:1",
		"abuse 10.0.0.7:26:2:3:4:5",
		"acl 1 permit 10.0.0.0 255.0.255.0", "acl 1 deny ::/0",
		"acl 9 permit 192.0.2.1", "client_acl 1", "balance p2c",
		"no sticky", "hash", "tcp_fastclose up", "source ::1",
		"log \"/var/log/it's; here.log\"", "web_stats '#page'",
		"idle_timeout 1.25", "buffer 4m", "debug 1", "no splice",
		"control_acl 4", "keepalive", "conn_max 17", "tracking 9" };
	const char *before, *path = scratch("written");
	unsigned i;

	begin(two);
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		(void)run(changes[i]);
	before = ask_printed(pen);
	ck_assert_ptr_nonnull(
	    strstr(before, "address \"/run/a b;c'd\\\"e\\\\f#g\""));
	ck_assert_ptr_nonnull(
	    strstr(before, "server 6 address 10.0.0.6 port 8080 max 0"));
	ck_assert_ptr_nonnull(strstr(before, "emergency [::1]:25:1:0:0:0\n"));
	ck_assert_ptr_nonnull(strstr(before, "abuse 10.0.0.7:26:2:3:4:5\n"));
	takes(text("write all %s", path));
	ck_assert_str_eq(contents(path), before);
	/* read into one that is different in every way */
	takes("server all remove; no log; no source; balance default; no hash");
	takes(
	    "server 7 address 10.9.9.9 port 1; idle_timeout 3; acl 2 deny ::1");
	ck_assert_str_ne(ask_printed(pen), before);
	takes(text("include %s", path));
	ck_assert_str_eq(ask_printed(pen), before);
	takes("servers");
	ck_assert_ptr_nonnull(strstr(answer, "3 addr 2001:db8::1 port 443"));
	ck_assert_ptr_null(strstr(answer, "10.9.9.9"));
	pen_free(pen);
	/* and into an empty one, as at a start */
	begin(before);
	ck_assert_str_eq(ask_printed(pen), before);
	pen_free(pen);
}
END_TEST

/* One of the two outside the list may be a path, which takes no numbers. */
START_TEST(reserve_at_a_path)
{
	begin(two);
	takes("abuse /run/abuse");
	ck_assert_ptr_nonnull(strstr(ask_printed(pen), "\nabuse /run/abuse\n"));
	takes("abuse 10.0.0.7:26");
	ck_assert_ptr_nonnull(strstr(ask_printed(pen),
	    "\nabuse 10.0.0.7:26\n"));
	pen_free(pen);
}
END_TEST

/* Whatever is refused, nothing of it has happened. */
START_TEST(refused_changes_nothing)
{
	static const char *const lines[] = { "server 0 weight 5 weight x",
		"server 1 address no-such-host.invalid weight 3",
		"server add 10.0.0.3:99999", "server all weight x",
		"acl 1 permit 1.2.3.4 5.6.7.8 9", "blacklist 5 6",
		"emergency 10.0.0.9:1:x", "balance x", "include /no/such/file",
		"timeout x; blacklist 7", "tcp_fastclose x", "log a b" };
	const char *before;
	unsigned i;

	begin(two);
	before = ask_printed(pen);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_msg(run(lines[i]) == -1, "%s: taken", lines[i]);
		ck_assert_msg(
		    strcmp(ask_printed(pen), before) == 0, "%s: changed",
		    lines[i]);
	}
	ck_assert_uint_eq(pool_server(pen->service->pool, 0)->set.weight, 0);
	ck_assert(!pool_slot(pen->service->pool, SLOT_EMERGENCY)->present);
	pen_free(pen);
}
END_TEST

static void
refuses(const char *line, const char *why)
{
	const char *before = ask_printed(pen);

	ck_assert_msg(run(line) == -1, "%s: taken", line);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", line, e.text);
	ck_assert_str_eq(ask_printed(pen), before);
}

/* A check of direct return has no sense without it, nor without an own address
 * of each family that clients use. */
START_TEST(check_has_needs)
{
	const char *written;

	begin(two);
	refuses("check dsr 80", "dsr_if is not set");
	takes("dsr_if none0; listen 10.0.0.9:0");
	refuses("check dsr 80", "needs a dsr_ip of IPv4");
	takes("dsr_ip fd00::2");
	refuses("check dsr 80", "needs a dsr_ip of IPv4");
	takes("dsr_ip 10.0.0.2");
	refuses("check dsr", "needs a port to probe");
	takes("check dsr 80");
	refuses("no dsr_ip", "needs a dsr_ip of IPv4");
	refuses("dsr_ip 10.0.0.9", "it must be another address");
	refuses("udp", "probes by TCP");
	refuses("no dsr_if", "");
	takes("listen 10.0.0.9:80,[fd00::9]:443; check dsr");
	refuses("listen 10.0.0.9:80,[fd00::9]:0", "needs a port to probe");
	refuses("no dsr_ip", "needs a dsr_ip of");
	takes("check dsr 8080; check_rise 7; check_interval 0.25");
	ck_assert_ptr_nonnull(strstr(ask_printed(pen), "\ncheck dsr 8080\n"));
	written = ask_printed(pen);
	takes("no check; no dsr_ip");
	ck_assert_ptr_nonnull(strstr(ask_printed(pen), "\nno check\n"));
	write_file(scratch("checked"), written);
	takes(text("include %s", scratch("checked")));
	ck_assert_str_eq(ask_printed(pen), written);
	pen_free(pen);
}
END_TEST

static void
file_fails(const char *file, const char *wanted)
{
	const char *before = ask_printed(pen),
		   *path = pen->given->process->file;

	write_file(path, file);
	ck_assert_msg(run("reload") == -1, "taken: %s", file);
	ck_assert_msg(
	    strstr(e.text, text("reload: %s%s", path, wanted)) != NULL,
	    "%s: %s", file, e.text);
	ck_assert_str_eq(ask_printed(pen), before);
	write_file(path, two);
}

START_TEST(wrong_lines_have_places)
{
	begin(two);
	file_fails("frobnicate\n", ":1: unknown command");
	file_fails("timeout 4\n\n# x\nserver 0 weight x", ":4: server: \"x\"");
	file_fails("timeout \\\n 4\ntimeout \\\n x\n", ":3: timeout: \"x\"");
	file_fails("timeout 4; blacklist x\n", ":1: blacklist: \"x\"");
	file_fails("log 'a\n", ":1: missing closing quote");
	file_fails(text("%sserver 3 address no-such-host.invalid\n", two),
	    ":3: server \"no-such-host.invalid\"");
	file_fails(
	    "reload\n", ":1: reload: not allowed in a configuration file");
	file_fails("diff\n", ":1: diff: not allowed in a configuration file");
	file_fails(
	    text("include %s\n", pen->given->process->file), ":1: include");
	ck_assert_int_eq(run("reload"), 0);
	/* nobody to serve with */
	write_file(pen->given->process->file, "timeout 4\n");
	ck_assert_int_eq(run("reload"), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "no server"));
	pen_free(pen);
}
END_TEST

/* Lines joined by a backslash, without a blank between them. */
START_TEST(lines_are_joined)
{
	begin("time\\\nout 4\nserver 0 address 10.0.0.1 \\\nport 80\\\n");
	takes("timeout");
	ck_assert_str_eq(answer, "4\n");
	takes("servers");
	ck_assert_ptr_nonnull(strstr(answer, "10.0.0.1 port 80 "));
	pen_free(pen);
}
END_TEST

/* Servers that stay are the same ones, whatever line they are in. */
START_TEST(reload_knows_servers)
{
	struct server *a, *b, *c;

	begin("server add 10.0.0.1:80\nserver add 10.0.0.2:80\n"
	      "server add 10.0.0.3:80\n");
	a = pool_server(pen->service->pool, 0);
	b = pool_server(pen->service->pool, 1);
	c = pool_server(pen->service->pool, 2);
	a->connections = 3;
	b->counters->sent = 77;
	c->counters->connects = 5;
	takes("server 2 drain");
	write_file(pen->given->process->file,
	    "server add 10.0.0.3:80\nserver add 10.0.0.4:80\n"
	    "server add 10.0.0.2:80:9\n");
	takes("reload");
	ck_assert(!a->present);
	ck_assert_uint_eq(a->connections, 3);
	ck_assert(b->present);
	ck_assert_uint_eq(b->counters->sent, 77);
	ck_assert_uint_eq(b->set.soft, 9);
	ck_assert_uint_eq(c->counters->connects, 5);
	ck_assert_int_eq(c->admin, SERVER_DRAINING);
	/* the new one did not take the place of one with connections */
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 3)->addrs.addr[0]), 80);
	ck_assert(pool_server(pen->service->pool, 3)->present);
	a->connections = 0;
	pen_free(pen);
}
END_TEST

/* What was drained stays so until it is said otherwise: a file that says
 * nothing does not, so it is a difference, and can be saved. */
/* A command costs what it changes: settings are not copied for a server. */
START_TEST(settings_are_shared)
{
	const struct config *before;
	struct plan *draft;

	begin(two);
	before = pen->plan->config;
	takes("server 0 drain");
	ck_assert_ptr_eq(pen->plan->config, before);
	draft = plan_copy(pen->plan);
	ck_assert_ptr_nonnull(draft);
	ck_assert_ptr_eq(draft->config, before);
	ck_assert_int_eq(
	    text_set(&plan_edit_config(draft)->checks.text, "connect"), 0);
	ck_assert_ptr_ne(draft->config, before);
	ck_assert_ptr_null(pen->plan->config->checks.text);
	plan_free(draft);
	takes("blacklist 77");
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 77000);
	/* what follows from settings of the process */
	takes("drain_timeout 9");
	ck_assert_uint_eq(pen->plan->config->frontend.end.drain_ms, 9000);
	pen_free(pen);
}
END_TEST

START_TEST(drained_until_up)
{
	const struct server *s;

	begin(two);
	s = pool_server(pen->service->pool, 1);
	takes("server 1 drain; reload; reload");
	ck_assert_int_eq(s->admin, SERVER_DRAINING);
	takes("diff");
	ck_assert_ptr_nonnull(strstr(answer, "+server 1 "));
	ck_assert_ptr_nonnull(strstr(answer, " prio 0 drain\n"));
	takes("write; diff");
	ck_assert_str_eq(answer, "");
	takes("server 1 up; write; reload");
	ck_assert_int_eq(s->admin, SERVER_ENABLED);
	ck_assert_ptr_nonnull(strstr(ask_printed(pen), " prio 0 up\n"));
	/* at another address it is another one */
	write_file(pen->given->process->file, two);
	takes("reload; server 1 down; server 1 port 82");
	ck_assert_int_eq(s->admin, SERVER_DISABLED);
	takes("reload");
	ck_assert_int_eq(s->admin, SERVER_ENABLED);
	takes("diff");
	ck_assert_str_eq(answer, "");
	pen_free(pen);
}
END_TEST

START_TEST(diff_and_run_time_changes)
{
	begin(two);
	takes("diff");
	ck_assert_str_eq(answer, "");
	takes("timeout 9; server 1 remove");
	takes("diff");
	ck_assert_str_eq(answer,
	    "-timeout 3\n"
	    "-server 1 address 10.0.0.2 port 81 max 5 hard 0 blacklist 0 "
	    "weight 0 prio 0\n"
	    "+timeout 9\n");
	takes("reload");
	takes("diff");
	ck_assert_str_eq(answer, "");
	takes("timeout");
	ck_assert_str_eq(answer, "3\n");
	pen_free(pen);
}
END_TEST

/* Of an access list the first entry that fits counts: their order is told, and
 * what is there twice; and which control socket a level belongs to. */
START_TEST(diff_and_order)
{
	begin(text("%sacl 1 deny 10.0.0.1\nacl 1 permit 0.0.0.0/0\n"
		   "acl 2 permit ::1\n"
		   "control_level admin; control /run/a\n"
		   "control_level read; control /run/b\n",
	    two));
	takes("diff");
	ck_assert_str_eq(answer, "");
	takes("no acl 1; acl 1 permit 0.0.0.0/0; acl 1 deny 10.0.0.1");
	takes("diff");
	ck_assert_str_eq(answer,
	    "-acl 1 deny 10.0.0.1 255.255.255.255\n"
	    "-acl 1 permit 0.0.0.0 0.0.0.0\n"
	    "+acl 1 permit 0.0.0.0 0.0.0.0\n"
	    "+acl 1 deny 10.0.0.1 255.255.255.255\n");
	takes("reload; acl 2 permit ::1");
	takes("diff");
	ck_assert_str_eq(answer,
	    "-acl 2 permit ::1/128\n"
	    "+acl 2 permit ::1/128\n+acl 2 permit ::1/128\n");
	takes("reload; no control; control_level look; control /run/a;"
	      "control_level admin; control /run/b");
	takes("diff");
	ck_assert_ptr_nonnull(strstr(answer,
	    "-control_level admin read\n-control_mode 0600\n"
	    "-control /run/a\n"));
	ck_assert_ptr_nonnull(strstr(answer,
	    "+control_level admin read\n+control_mode 0600\n"
	    "+control /run/b\n"));
	pen_free(pen);
}
END_TEST

/* ---- access ---- */

static int
run_as(enum access level, const char *line)
{
	struct caller who = { .access = level };
	enum request_result result;
	struct request q;
	int rc;

	request_init(&q, pen, &who, NULL);
	ck_assert_int_eq(request_begin(&q, line), 0);
	while ((result = request_run(&q)) == REQUEST_FULL)
		buffer_fini(&q.reply.out); /* a long answer comes in pieces */
	ck_assert_int_eq(result, REQUEST_DONE);
	rc = q.failed ? -1 : 0;
	e = q.error;
	request_fini(&q);
	return rc;
}

START_TEST(levels)
{
	static const char *const look[] = { "servers", "blacklist", "mode",
		"show settings", "log", "help", "quit", "emergency", "debug",
		"listen", "control" };
	static const char *const operate[] = { "server 0 drain",
		"acl 1 permit ::1", "no acl 1", "reload", "no emergency" };
	static const char *const admin[] = { "blacklist 5", "log x", "no log",
		"keepalive", "write x", "include x", "exit", "debug 1",
		"listen 1", "roundrobin", "conn_max 5", "tcp_fastclose off" };
	size_t i;

	begin(two);
	for (i = 0; i < sizeof(look) / sizeof(look[0]); i++)
		ck_assert_msg(run_as(ACCESS_LOOK, look[i]) == 0, "%s: %s",
		    look[i], e.text);
	for (i = 0; i < sizeof(operate) / sizeof(operate[0]); i++) {
		ck_assert_int_eq(run_as(ACCESS_LOOK, operate[i]), -1);
		ck_assert_msg(run_as(ACCESS_OPERATE, operate[i]) == 0, "%s: %s",
		    operate[i], e.text);
	}
	for (i = 0; i < sizeof(admin) / sizeof(admin[0]); i++) {
		ck_assert_int_eq(run_as(ACCESS_OPERATE, admin[i]), -1);
		ck_assert_ptr_nonnull(
		    strstr(e.text, "needs the level admin, yours is operate"));
	}
	ck_assert_int_eq(run_as(ACCESS_ADMIN, "blacklist 5"), 0);
	pen_free(pen);
}
END_TEST

/* One server of many has a trait, or none has; those of its check are found
 * without the others. */
START_TEST(traits_follow_each_change)
{
	static const struct {
		const char *line;
		unsigned traits;
	} steps[] = {
		{ "server 150 check connect", TRAIT_CHECKED },
		{ "server 150 check http /", TRAIT_CHECKED },
		{ "server 150 check tls noverify",
		    TRAIT_CHECKED | TRAIT_CHECK_TLS },
		{ "server 20 check send a expect b tls",
		    TRAIT_CHECKED | TRAIT_CHECK_TLS | TRAIT_CHECK_VERIFY },
		{ "server 20 check https /",
		    TRAIT_CHECKED | TRAIT_CHECK_TLS | TRAIT_CHECK_VERIFY },
		{ "server 20 check off", TRAIT_CHECKED | TRAIT_CHECK_TLS },
		{ "server 150 check send a expect tls", TRAIT_CHECKED },
		{ "server 150 check off", 0 },
		{ "server 199 tls on", TRAIT_TLS },
		{ "server 0 address /run/a", TRAIT_TLS | TRAIT_PATH },
		{ "server 199 remove", TRAIT_PATH },
		{ "server 0 address 10.9.9.9", 0 },
	};
	unsigned i, trait;

	begin(two);
	for (i = 0; i < 200; i++)
		takes(text("server %u address 10.1.0.%u port 80", i, i));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		takes(steps[i].line);
		for (trait = 1; trait <= TRAIT_PATH; trait *= 2)
			ck_assert_msg(plan_any_server(pen->plan, trait) ==
				((steps[i].traits & trait) != 0),
			    "%s: %u", steps[i].line, trait);
	}
	pen_free(pen);
}
END_TEST

/* Written, the listening address comes first: read again, the plan is the same.
 */
START_TEST(a_port_that_comes_later)
{
	begin(two);
	takes("dsr_if none0; listen 10.0.0.9:0; server 2 address 10.0.0.3");
	ck_assert_ptr_nonnull(
	    strstr(ask_printed(pen), "server 2 address 10.0.0.3 max"));
	takes("listen 10.0.0.9:82");
	ck_assert_ptr_nonnull(
	    strstr(ask_printed(pen), "server 2 address 10.0.0.3 port 82 max"));
	ck_assert_ptr_nonnull(
	    strstr(ask_printed(pen), "server 0 address 10.0.0.1 port 80 max"));
	write_file(scratch("later"),
	    "no dsr_if\nserver 3 address 10.0.0.4\nlisten 127.0.0.1:83\n");
	takes(text("listen 10.0.0.9:0; include %s", scratch("later")));
	ck_assert_ptr_nonnull(
	    strstr(ask_printed(pen), "server 3 address 10.0.0.4 port 83 max"));
	pen_free(pen);
}
END_TEST

/* With its other settings, they would be more than a line can have. */
START_TEST(a_check_of_many_words)
{
	const char *before, *path = scratch("written");
	char line[512] = "server 1 check exec /bin/true";
	unsigned i;

	begin(two);
	for (i = 0; i < 59; i++)
		strcat(line, " x");
	takes(line);
	before = ask_printed(pen);
	takes(text("write all %s", path));
	takes("server 1 check default");
	takes(text("include %s", path));
	ck_assert_str_eq(ask_printed(pen), before);
	pen_free(pen);
}
END_TEST

SUITE(test_plan)
{
	Suite *s = suite_create("plan");

	SUITE_ADD(s, written_is_a_fixed_point, 20);
	SUITE_ADD(s, reserve_at_a_path, 10);
	SUITE_ADD(s, refused_changes_nothing, 60);
	SUITE_ADD(s, check_has_needs, 10);
	SUITE_ADD(s, wrong_lines_have_places, 30);
	SUITE_ADD(s, lines_are_joined, 10);
	SUITE_ADD(s, reload_knows_servers, 10);
	SUITE_ADD(s, settings_are_shared, 10);
	SUITE_ADD(s, drained_until_up, 10);
	SUITE_ADD(s, diff_and_run_time_changes, 10);
	SUITE_ADD(s, diff_and_order, 10);
	SUITE_ADD(s, a_port_that_comes_later, 10);
	SUITE_ADD(s, a_check_of_many_words, 10);
	SUITE_ADD(s, levels, 20);
	SUITE_ADD(s, traits_follow_each_change, 20);
	return s;
}
