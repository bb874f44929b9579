/* test_config_merge.c: what `write` makes of a file: comments and order stay,
 * and reading it gives what was in force. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"
#include "control/file/config_file.h"
#include "control/file/config_merge.h"
#include "control/socket/request.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static char answer[65536];

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

/* As a start with `options`, each a command, and the file. */
static void
start(const char *const *options, const char *path)
{
	struct reply r;
	struct call c = { .reply = &r, .option = "option -O" };

	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	c.pen = pen;
	c.draft = c.plan = pen->given;
	c.service = pen->service;
	ck_assert_int_eq(text_set(&pen->given->process->file, path), 0);
	reply_init(&r);
	for (; options != NULL && *options != NULL; options++)
		ck_assert_msg(command_run_line(&c, *options, &e) == 0, "%s: %s",
		    *options, e.text);
	reply_fini(&r);
	ck_assert_msg(apply_given(pen, &e) == 0, "%s", e.text);
}

/* Starts with the file, runs the commands, writes. Reading the file again gives
 * the same: by a reload, a start, and a start without options. */
static const char *
written(const char *const *options, const char *file, const char *commands)
{
	const char *path = scratch("pen.conf"), *before, *new;

	write_file(path, file);
	start(options, path);
	takes(commands);
	before = ask_printed(pen);
	takes("write; diff");
	new = contents(path);
	ck_assert_msg(
	    strchr(answer, '+') == NULL && strchr(answer, '-') == NULL,
	    "%s\n%s", answer, new);
	if (strcmp(new, file) != 0)
		ck_assert_str_eq(contents(text("%s~", path)), file);
	takes("write");
	ck_assert_str_eq(contents(path), new);
	pen_free(pen);
	start(options, path);
	ck_assert_msg(strcmp(ask_printed(pen), before) == 0, "%s%s\n%s", before,
	    ask_printed(pen), new);
	pen_free(pen);
	start(NULL, path);
	ck_assert_msg(strcmp(ask_printed(pen), before) == 0, "%s%s\n%s", before,
	    ask_printed(pen), new);
	pen_free(pen);
	return new;
}

static const char shop[] = "# the balancer of the shop\n"
			   "\n"
			   "listen 127.0.0.1:8080\t# public\n"
			   "  timeout 4; blacklist 9   # both are short\n"
			   "idle_timeout 60\n"
			   "# servers\n"
			   "server 0 address 10.0.0.1 # left; old\n"
			   "server 1 \\\n"
			   "\taddress 10.0.0.2 \\\n"
			   "\tmax 5\n"
			   "\n"
			   "# offices\n"
			   "acl 1 permit 10.0.0.0/8   # Berlin\n"
			   "acl 1 permit 192.0.2.0 255.255.255.0 # Rome\n"
			   "acl 1 deny 0.0.0.0/0\n"
			   "client_acl 1\n"
			   "# the end";

START_TEST(nothing_changes)
{
	const char *path = scratch("pen.conf");

	ck_assert_str_eq(written(NULL, shop, "mode"), shop);
	ck_assert_int_ne(access(text("%s~", path), F_OK), 0);
	ck_assert_str_eq(written(NULL, shop, "timeout 5; timeout 4"), shop);
}
END_TEST

START_TEST(lines_are_replaced)
{
	const char *new = written(NULL, shop,
	    "timeout 7; server 1 weight 3; idle_timeout 0; peek; "
	    "server add 10.0.0.9:90");

	ck_assert_str_eq(new,
	    "# the balancer of the shop\n"
	    "\n"
	    "listen 127.0.0.1:8080\t# public\n"
	    "  timeout 7; blacklist 9   # both are short\n"
	    "# servers\n"
	    "server 0 address 10.0.0.1 # left; old\n"
	    "server 1 address 10.0.0.2 port 8080 max 5 weight 3\n"
	    "\n"
	    "# offices\n"
	    "acl 1 permit 10.0.0.0/8   # Berlin\n"
	    "acl 1 permit 192.0.2.0 255.255.255.0 # Rome\n"
	    "acl 1 deny 0.0.0.0/0\n"
	    "client_acl 1\n"
	    "server 2 address 10.0.0.9 port 90\n"
	    "peek\n"
	    "# the end");
}
END_TEST

/* An entry of an access list stays where it is, with its comment. */
START_TEST(entries_of_lists)
{
	const char *new = written(NULL, shop,
	    "no acl 1; acl 1 permit 10.0.0.0/8; acl 1 permit ::1; "
	    "acl 1 deny 0.0.0.0/0; acl 2 permit 10.9.9.9; server 0 remove");

	ck_assert_str_eq(new,
	    "# the balancer of the shop\n"
	    "\n"
	    "listen 127.0.0.1:8080\t# public\n"
	    "  timeout 4; blacklist 9   # both are short\n"
	    "idle_timeout 60\n"
	    "# servers\n"
	    "server 1 \\\n"
	    "\taddress 10.0.0.2 \\\n"
	    "\tmax 5\n"
	    "\n"
	    "# offices\n"
	    "acl 1 permit 10.0.0.0/8   # Berlin\n"
	    "acl 1 permit ::1/128 # Rome\n"
	    "acl 1 deny 0.0.0.0/0\n"
	    "client_acl 1\n"
	    "acl 2 permit 10.9.9.9 255.255.255.255\n"
	    "# the end");
	new = written(NULL, shop,
	    "no acl 1; acl 1 permit ::1; acl 1 permit 10.0.0.0/8; "
	    "acl 1 permit 192.0.2.0/24; acl 1 deny 0.0.0.0/0");
	ck_assert_ptr_nonnull(
	    strstr(new, "# offices\nacl 1 permit ::1/128\nacl 1 permit 10."));
	new = written(NULL, shop,
	    "no acl 1; acl 1 permit 10.0.0.0/8; acl 1 deny 0.0.0.0/0");
	ck_assert_ptr_nonnull(strstr(new, "# Berlin\nacl 1 deny 0.0.0.0/0\n"));
}
END_TEST

/* What the command line says, and is not so any more, is said in the file. */
START_TEST(options_are_answered)
{
	static const char *const options[] = { "roundrobin", "timeout 9",
		"server 1 address 10.0.0.7 max 4 tls off", "acl 3 permit ::1",
		"server 4 address 10.0.0.8 port 1", NULL };
	const char *new = written(options, shop,
	    "no roundrobin; server 4 remove; no acl 3; timeout 3; "
	    "server 1 tls default");

	ck_assert_ptr_nonnull(strstr(new, "\nno roundrobin\n"));
	ck_assert_ptr_nonnull(strstr(new, "\nserver 4 remove\n"));
	ck_assert_ptr_nonnull(strstr(new, "\nno acl 3\n"));
	ck_assert_ptr_nonnull(
	    strstr(new, "  timeout 3; blacklist 9   # both are short\n"));
	new = written(options, shop, "mode");
	ck_assert_ptr_nonnull(strstr(new, "\nroundrobin\n"));
	ck_assert_ptr_nonnull(strstr(new, "\nserver 4 address 10.0.0.8"));
}
END_TEST

/* An included file is not changed: what overrides it follows, once. */
START_TEST(included_files)
{
	const char *more = scratch("more"), *new, *file;

	write_file(more,
	    "timeout 8\nserver 0 address 10.0.0.5 weight 2\n"
	    "acl 4 permit 10.0.0.0/8\n");
	file = text("%s\nserver add 10.0.0.3\ninclude %s # rest\n", shop, more);
	new = written(
	    NULL, file, "timeout 9; server 0 weight 6; acl 4 deny ::/0");
	ck_assert_str_eq(new,
	    text("%sserver 0 remove; server 0 address 10.0.0.5 port 8080 "
		 "weight 6\nno acl 4\nacl 4 permit 10.0.0.0 255.0.0.0\n"
		 "acl 4 deny ::/0\ntimeout 9\n",
		file));
	ck_assert_str_eq(contents(more),
	    "timeout 8\nserver 0 address 10.0.0.5 weight 2\n"
	    "acl 4 permit 10.0.0.0/8\n");
	/* and once more */
	new = written(NULL, new, "timeout 5; server 0 drain");
	ck_assert_str_eq(strstr(new, "# rest\n"),
	    "# rest\n"
	    "server 0 remove; server 0 address 10.0.0.5 port 8080 weight 6 "
	    "drain\n"
	    "no acl 4\nacl 4 permit 10.0.0.0 255.0.0.0\nacl 4 deny ::/0\n"
	    "timeout 5\n");
}
END_TEST

/* Numbers of servers that are given by their order. */
START_TEST(servers_that_are_added)
{
	const char *file = "listen 127.0.0.1:8080\n"
			   "server add 10.0.0.1 # a\n"
			   "server add 10.0.0.2 # b\n"
			   "server 10.0.0.2 max 7\n";

	ck_assert_str_eq(written(NULL, file, "server 0 remove"),
	    "listen 127.0.0.1:8080\n"
	    "server 1 address 10.0.0.2 port 8080 max 7 # b\n");
	ck_assert_str_eq(written(NULL, text("%sserver all weight 2\n", file),
			     "server 0 remove; server 1 prio 3"),
	    "listen 127.0.0.1:8080\n"
	    "server all weight 2\n"
	    "server 1 remove; server 1 address 10.0.0.2 port 8080 max 7 "
	    "weight 2 prio 3\n");
}
END_TEST

START_TEST(a_new_file)
{
	const char *path = scratch("pen.conf"), *new = scratch("new");

	write_file(path, shop);
	start(NULL, path);
	takes(text(
	    "balance leastconn; write %s; write all %s", new, scratch("all")));
	ck_assert_str_eq(contents(new),
	    "# choosing\n"
	    "balance leastconn\n"
	    "blacklist 9\n"
	    "\n# servers\n"
	    "server 0 address 10.0.0.1 port 8080\n"
	    "server 1 address 10.0.0.2 port 8080 max 5\n"
	    "acl 1 permit 10.0.0.0 255.0.0.0\n"
	    "acl 1 permit 192.0.2.0 255.255.255.0\n"
	    "acl 1 deny 0.0.0.0 0.0.0.0\n"
	    "client_acl 1\n"
	    "\n# connections\n"
	    "timeout 4\n"
	    "idle_timeout 60\n"
	    "listen 127.0.0.1:8080\n");
	ck_assert_str_eq(contents(scratch("all")), ask_printed(pen));
	pen_free(pen);
	start(NULL, scratch("all"));
	takes(text("write %s", scratch("all")));
	takes(text("write all %s", path));
	ck_assert_ptr_nonnull(strstr(contents(path), "\nserver 1 \\\n"));
	ck_assert_ptr_nonnull(strstr(contents(path), "\nno roundrobin\n"));
	pen_free(pen);
}
END_TEST

/* What each file, begun with these options, becomes by the commands. */
#define TWO                                  \
	"listen 127.0.0.1:8080\n"            \
	"server 0 address 10.0.0.1 # left\n" \
	"server 1 address 10.0.0.2 max 5 # right\n"
#define SHOP_BEGINS           \
	"\n# the shop\n"      \
	"service shop # it\n" \
	"listen 127.0.0.1:8081\n"
#define SHOP_ENDS "server 0 address 10.0.1.1 # s\n"
#define SHOP	  SHOP_BEGINS SHOP_ENDS "timeout 7 # seven\n"
#define MAIL                      \
	"\nservice mail\n"        \
	"listen 127.0.0.1:8082\n" \
	"server 0 address 10.0.2.1\n"
#define DEFAULTS              \
	"\n# of all\n"        \
	"defaults # begins\n" \
	"timeout 7 # seven\n" \
	"http # on\n"
#define ROUTES(a, b) TWO a " # A\n" b " # B\nroute default 0\n"

static const struct {
	const char *file, *commands, *written;
	const char *options[4];
} cases[] = {
	/* said twice: the last one counts, the first one is kept */
	{ TWO "timeout 4 # one\nblacklist 3\ntimeout 9 # two\n", "timeout 7",
	    TWO "timeout 7 # one\nblacklist 3\n", { NULL } },
	{ TWO "timeout 4 # one\nblacklist 3\ntimeout 9 # two\n", "timeout 3",
	    TWO "blacklist 3\n", { NULL } },
	{ TWO "timeout 4 # one\ntimeout 9 # two\n", "mode",
	    TWO "timeout 4 # one\ntimeout 9 # two\n", { NULL } },
	{ TWO "roundrobin # on\nno roundrobin # off\n", "roundrobin",
	    TWO "roundrobin # on\n", { NULL } },
	{ TWO "server 0 max 4 # more\n", "server 0 weight 3",
	    "listen 127.0.0.1:8080\n"
	    "server 0 address 10.0.0.1 port 8080 max 4 weight 3 # left\n"
	    "server 1 address 10.0.0.2 max 5 # right\n",
	    { NULL } },
	{ TWO "server 10.0.0.1 max 4 # more\n", "server 0 weight 3",
	    "listen 127.0.0.1:8080\n"
	    "server 0 address 10.0.0.1 port 8080 max 4 weight 3 # left\n"
	    "server 1 address 10.0.0.2 max 5 # right\n",
	    { NULL } },
	{ TWO "timeout 3 # the default\n", "timeout 5; timeout 3",
	    TWO "timeout 3 # the default\n", { NULL } },
	/* words and lines */
	{ TWO "web_stats '/tmp/a;b' # here\n", "web_stats \"/tmp/x y;#\"",
	    TWO "web_stats \"/tmp/x y;#\" # here\n", { NULL } },
	{ TWO "web_stats '/tmp/a;b' # here\n", "no web_stats", TWO, { NULL } },
	{ TWO "# both\ntimeout 4; blacklist 5 # are short\n# next\n",
	    "timeout 3; blacklist 30", TWO "# both\n# next\n", { NULL } },
	{ TWO "\ttimeout \\\n  4;blacklist \\\n\t7 # c \\\n more of it\n",
	    "timeout 5",
	    TWO "\ttimeout 5;blacklist \\\n\t7 # c \\\n more of it\n",
	    { NULL } },
	{ TWO "timeout 4; blacklist 5; queue 6 ;idle_timeout 7\r\n",
	    "timeout 3; queue 0; idle_timeout 8",
	    TWO "blacklist 5 ;idle_timeout 8\r\n", { NULL } },
	{ TWO "timeout 4 # no end", "blacklist 5",
	    TWO "timeout 4 # no end\nblacklist 5\n", { NULL } },
	{ TWO "# no end", "timeout 9", TWO "timeout 9\n# no end", { NULL } },
	/* the ends of its lines */
	{ "listen 127.0.0.1:8080\r\nserver 0 address 10.0.0.1 # s\r\n",
	    "timeout 5; server 0 max 4; acl 1 permit ::1",
	    "listen 127.0.0.1:8080\r\n"
	    "server 0 address 10.0.0.1 port 8080 max 4 # s\r\n"
	    "acl 1 permit ::1/128\r\ntimeout 5\r\n",
	    { NULL } },
	{ "\xef\xbb\xbflisten 127.0.0.1:8080 # l\nserver 0 address 10.0.0.1",
	    "timeout 5; listen 127.0.0.1:8081",
	    "\xef\xbb\xbflisten 127.0.0.1:8081 # l\n"
	    "server 0 address 10.0.0.1 port 8080\ntimeout 5\n",
	    { NULL } },
	/* lists, whose order counts */
	{ ROUTES("route sni a.test 0", "route sni b.test 1"),
	    "no route; route sni b.test 1; route sni a.test 0; route default 0",
	    ROUTES("route sni b.test 1", "route sni a.test 0"), { NULL } },
	{ TWO "route sni a.test,b.test 0 # AB\nroute default 0\n",
	    "route sni b.test 1",
	    TWO "route sni a.test 0 # AB\nroute sni b.test 1\n"
		"route default 0\n",
	    { NULL } },
	{ TWO "route sni a.test,b.test 0 # AB\nroute default 0\n", "no route",
	    TWO, { NULL } },
	{ TWO "no acl 1\nacl 1 permit 10.0.0.0/8 # all\nclient_acl 1\n",
	    "acl 1 deny 10.1.0.0/16",
	    TWO "no acl 1\nacl 1 permit 10.0.0.0/8 # all\n"
		"acl 1 deny 10.1.0.0 255.255.0.0\nclient_acl 1\n",
	    { NULL } },
	{ TWO "acl o permit 10.0.0.0/8 # all\nclient_acl o\n", "no acl o",
	    TWO "no acl o # all\nclient_acl o\n", { NULL } },
	{ TWO "acl 1 permit ::1 # a\nacl 1 permit ::2 # b\n"
	      "acl 1 permit ::3 # c\n",
	    "no acl 1; acl 1 permit ::1; acl 1 permit ::8; acl 1 permit ::9; "
	    "acl 1 permit ::3",
	    TWO "acl 1 permit ::1 # a\nacl 1 permit ::8/128 # b\n"
		"acl 1 permit ::9/128\nacl 1 permit ::3 # c\n",
	    { NULL } },
	/* what another line depends on */
	{ TWO "emergency 10.0.0.5\n", "listen 127.0.0.1:9090",
	    "listen 127.0.0.1:9090\n"
	    "server 0 address 10.0.0.1 port 8080 # left\n"
	    "server 1 address 10.0.0.2 port 8080 max 5 # right\n"
	    "emergency 10.0.0.5:8080\n",
	    { NULL } },
	{ TWO "server all weight 3 # w\n", "server 1 max 9",
	    TWO "server all weight 3 # w\nserver 1 remove; "
		"server 1 address 10.0.0.2 port 8080 max 9 weight 3\n",
	    { NULL } },
	/* the command line */
	{ "", "timeout 5",
	    "# servers\nserver 0 address 10.0.0.1 port 8080\n"
	    "\n# connections\ntimeout 5\nlisten 127.0.0.1:8080\n",
	    { "listen 127.0.0.1:8080", "server add 10.0.0.1" } },
	{ "", "server 0 weight 4; server 1 max 0; server 1 weight 3",
	    "# servers\nserver 0 address 10.0.0.1 port 8080 max 5 weight 4\n"
	    "server 1 remove; server 1 address 10.0.0.2 port 8080 weight 3\n"
	    "\n# connections\nlisten 127.0.0.1:8080\n",
	    { "listen 127.0.0.1:8080", "server add 10.0.0.1:8080:5",
		"server add 10.0.0.2:8080:5" } },
	{ TWO, "no source", TWO "no source\n", { "source 127.0.0.1" } },
	{ TWO "timeout 6\n", "balance p2c",
	    TWO "timeout 6\nbalance default\nbalance p2c\n",
	    { "balance leastconn" } },
	{ TWO "timeout 5 # f\nacl 3 permit ::3 # t\n",
	    "timeout 8; acl 3 deny ::2",
	    TWO "timeout 8 # f\n"
		"no acl 3 # t\nacl 3 permit ::1/128\nacl 3 permit ::3/128\n"
		"acl 3 deny ::2/128\n",
	    { "timeout 9", "acl 3 permit ::1" } },
	/* sections */
	{ TWO SHOP MAIL, "timeout 5; timeout 3; service mail timeout 3",
	    TWO SHOP MAIL, { NULL } },
	{ TWO SHOP MAIL, "service shop server 0 weight 3",
	    TWO SHOP_BEGINS "server 0 address 10.0.1.1 port 8081 weight 3 # s\n"
			    "timeout 7 # seven\n" MAIL,
	    { NULL } },
	{ TWO SHOP "server add 10.0.1.2\nserver add 10.0.1.3\n", "timeout 5",
	    TWO "timeout 5\n" SHOP "server add 10.0.1.2\nserver add 10.0.1.3\n",
	    { NULL } },
	{ TWO SHOP MAIL, "service shop timeout 3",
	    TWO SHOP_BEGINS SHOP_ENDS MAIL, { NULL } },
	{ TWO SHOP MAIL, "service shop timeout 5; service mail roundrobin",
	    TWO SHOP_BEGINS SHOP_ENDS "timeout 5 # seven\n" MAIL "roundrobin\n",
	    { NULL } },
	{ TWO SHOP MAIL "# ends\n", "blacklist 5; web_stats /tmp/x",
	    TWO "blacklist 5\nweb_stats /tmp/x\n" SHOP MAIL "# ends\n",
	    { NULL } },
	{ SHOP MAIL,
	    "service default timeout 5; service shop server add 10.0.1.2",
	    SHOP "server 1 address 10.0.1.2 port 8081\n" MAIL
		 "\nservice default\ntimeout 5\n",
	    { NULL } },
	{ TWO MAIL SHOP "service mail\ntimeout 8\nservice default\nhash\n",
	    "no hash; blacklist 5; service mail timeout 9; "
	    "service mail roundrobin; service shop timeout 9",
	    TWO MAIL SHOP_BEGINS SHOP_ENDS
	    "timeout 9 # seven\nservice mail\ntimeout 9\nroundrobin\n"
	    "service default\nblacklist 5\n",
	    { NULL } },
	{ TWO "timeout 4",
	    "service add dns; service dns dns; "
	    "service dns listen 127.0.0.1:53; "
	    "service dns server add 10.0.3.1; service add cache;"
	    "service cache listen 127.0.0.1:81;"
	    "service cache server add 10.0.4.1",
	    TWO "timeout 4\n\nservice dns\nserver 0 address 10.0.3.1 port 53\n"
		"dns\nlisten 127.0.0.1:53\n\n"
		"service cache\nserver 0 address 10.0.4.1 port 81\n"
		"listen 127.0.0.1:81\n",
	    { NULL } },
	{ TWO SHOP "include /dev/null\n" MAIL, "service shop remove; hash",
	    TWO "hash\n\n# the shop\n" MAIL, { NULL } },
	{ TWO SHOP MAIL, "service mail remove; service shop hash",
	    TWO SHOP "hash\n\n", { NULL } },
	{ TWO SHOP MAIL,
	    "service mail remove; service add mail; "
	    "service mail listen 127.0.0.1:8084; "
	    "service mail server add 10.0.2.1",
	    TWO SHOP "\nservice mail\n"
		     "listen 127.0.0.1:8084\n"
		     "server 0 address 10.0.2.1 port 8084\n",
	    { NULL } },
	/* what services begin with stays; another value is their own */
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS MAIL,
	    "service shop timeout 3; service mail timeout 9",
	    TWO DEFAULTS SHOP_BEGINS SHOP_ENDS "timeout 3\n" MAIL "timeout 9\n",
	    { NULL } },
	{ TWO DEFAULTS SHOP MAIL,
	    "service shop no http; service shop timeout 8; timeout 8",
	    TWO "timeout 8\n" DEFAULTS SHOP_BEGINS SHOP_ENDS
		"timeout 8 # seven\nno http\n" MAIL,
	    { NULL } },
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS "timeout 9 # nine\n",
	    "service shop timeout 7; service shop timeout 3",
	    TWO DEFAULTS SHOP_BEGINS SHOP_ENDS "timeout 3 # nine\n", { NULL } },
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS "\ndefaults\nqueue 4 # q\n" MAIL,
	    "service mail queue 0; service shop timeout 5; "
	    "service mail timeout 3",
	    TWO DEFAULTS SHOP_BEGINS SHOP_ENDS
	    "timeout 5\n\ndefaults\nqueue 4 # q\n" MAIL "queue 0\n",
	    { NULL } },
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS MAIL, "service shop remove",
	    TWO DEFAULTS "\n# the shop\n" MAIL, { NULL } },
	/* one that is added begins without */
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS,
	    "service add cache; service cache listen 127.0.0.1:81; "
	    "service cache server add 10.0.4.1",
	    TWO DEFAULTS SHOP_BEGINS SHOP_ENDS
	    "\nservice cache\nserver 0 address 10.0.4.1 port 81\n"
	    "timeout 3\nlisten 127.0.0.1:81\nno http\n",
	    { NULL } },
	{ TWO DEFAULTS SHOP_BEGINS SHOP_ENDS,
	    "service add cache; service cache listen 127.0.0.1:81; "
	    "service cache http; service cache server add 10.0.4.1",
	    TWO DEFAULTS SHOP_BEGINS SHOP_ENDS
	    "\nservice cache\nserver 0 address 10.0.4.1 port 81\n"
	    "timeout 3\nlisten 127.0.0.1:81\nhttp\n",
	    { NULL } },
	/* variables, with PEN_T=5 */
	{ TWO "timeout ${PEN_T} # t\nblacklist ${PEN_B-4} # b\n", "hash",
	    TWO "timeout ${PEN_T} # t\nblacklist ${PEN_B-4} # b\nhash\n",
	    { NULL } },
	{ TWO "timeout ${PEN_T} # t\nblacklist \"${PEN_B-4}\"; hash\n",
	    "timeout 6", TWO "timeout 6 # t\nblacklist \"${PEN_B-4}\"; hash\n",
	    { NULL } },
	{ TWO "web_stats '/tmp/${x}' # w\n",
	    "web_stats /tmp/${y}; on_state \"/x'${z}\"",
	    TWO "web_stats '/tmp/${y}' # w\non_state \"/x'\"'$'\"{z}\"\n",
	    { NULL } },
	{ TWO, "service shop remove; service mail timeout 4",
	    TWO "service shop remove\n\n"
		"service mail\nserver 0 address 10.0.2.1 port 8082\n"
		"timeout 4\nlisten 127.0.0.1:8082\n",
	    { "service shop; listen 127.0.0.1:8081; server add 10.0.1.1",
		"service mail; listen 127.0.0.1:8082; server add 10.0.2.1" } },
};

START_TEST(hard_cases)
{
	ck_assert_int_eq(setenv("PEN_T", "5", 1), 0);
	ck_assert_str_eq(
	    written(cases[_i].options, cases[_i].file, cases[_i].commands),
	    cases[_i].written);
}
END_TEST

/* What an included section says is overridden in one at the end. */
START_TEST(included_sections)
{
	const char *more = scratch("more"), *new;

	write_file(more, SHOP);
	new = written(NULL, text("%sinclude %s\n" MAIL, TWO, more),
	    "timeout 6; service shop timeout 9; service mail timeout 5; "
	    "service shop server 0 max 4");
	ck_assert_ptr_nonnull(strstr(new,
	    "\nservice mail\nlisten 127.0.0.1:8082\n"
	    "server 0 address 10.0.2.1\ntimeout 5\n\nservice shop\n"
	    "server 0 remove; server 0 address 10.0.1.1 port 8081 max 4\n"
	    "timeout 9\n"));
	new = written(NULL, new, "service shop remove; service mail hash");
	ck_assert_ptr_nonnull(strstr(new,
	    "\nserver 0 address 10.0.2.1\ntimeout 5\nhash\n\n"
	    "service shop remove\n"));
	ck_assert_str_eq(contents(more), SHOP);
}
END_TEST

/* In the order of their names, each from its own beginning on. */
START_TEST(included_by_a_pattern)
{
	const char *path = scratch("pen.conf"), *dir = scratch("services");
	const char *printed;

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	write_file(text("%s/20.conf", dir), MAIL);
	write_file(text("%s/10.conf", dir), "timeout 8\n" SHOP);
	write_file(text("%s/30.conf", dir), "blacklist 8\n");
	write_file(text("%s/x", dir), "no such command\n");
	write_file(path,
	    text("%sinclude %s/*.conf\nhash\ninclude %s/none*\n"
		 "include %s/none/*.conf\n",
		TWO, dir, dir, dir));
	start(NULL, path);
	takes("timeout; blacklist; service shop timeout");
	ck_assert_str_eq(answer, "8\n8\n7\n");
	printed = ask_printed(pen);
	ck_assert_ptr_nonnull(strstr(printed, "\nservice mail\n"));
	takes("write");
	ck_assert_int_eq(unlink(text("%s/20.conf", dir)), 0);
	takes("diff");
	ck_assert_ptr_nonnull(strstr(answer, "+service add mail\n"));
	takes("reload");
	ck_assert_ptr_null(strstr(ask_printed(pen), "\nservice mail\n"));
	ck_assert_int_eq(run(text("include %s/20.conf", dir)), -1);
	write_file(text("%s/[2]", dir), "timeout 5\n");
	takes(text("include %s/[2]", dir));
	takes("timeout");
	ck_assert_str_eq(answer, "5\n");
	pen_free(pen);
}
END_TEST

/* A list that only another service refers to stays when it is empty. */
START_TEST(an_empty_list_of_a_section)
{
	const char *path = scratch("pen.conf"), *before;

	write_file(path,
	    TWO "acl office permit ::1\nacl other permit ::1\n" SHOP
		"client_acl office\nserver 0 acl other\n");
	start(NULL, path);
	takes("no acl office; no acl other; timeout 5; write");
	before = ask_printed(pen);
	ck_assert_ptr_nonnull(strstr(before, "\nno acl office\n"));
	pen_free(pen);
	start(NULL, path);
	ck_assert_str_eq(ask_printed(pen), before);
	takes("service shop client_acl 0; timeout 6");
	ck_assert_ptr_null(strstr(ask_printed(pen), "acl office\n"));
	pen_free(pen);
}
END_TEST

START_TEST(differences_of_services)
{
	const char *path = scratch("pen.conf");

	write_file(path, TWO SHOP MAIL);
	start(NULL, path);
	takes("diff");
	ck_assert_str_eq(answer, "");
	takes("service shop timeout 3; service mail timeout 5; "
	      "service shop server 0 remove; service add dns; "
	      "service dns listen 127.0.0.1:53");
	takes("diff");
	ck_assert_str_eq(answer,
	    "-service shop timeout 7\n"
	    "-service shop server 0 address 10.0.1.1 port 8081 max 0 hard 0 "
	    "blacklist 0 weight 0 prio 0\n"
	    "-service mail timeout 3\n"
	    "+service shop timeout 3\n"
	    "+service mail timeout 5\n"
	    "+service add dns\n"
	    "+service dns listen 127.0.0.1:53\n");
	pen_free(pen);
}
END_TEST

/* What is printed gives the same services, in their order. */
START_TEST(services_are_printed)
{
	const char *path = scratch("pen.conf"), *all = scratch("all"), *before;

	write_file(path,
	    TWO SHOP "route sni a.test 0\nroute default 0\n"
		     "emergency 10.0.1.9\nclient_acl office\n" MAIL
		     "service default\nacl office permit ::1\n");
	start(NULL, path);
	before = ask_printed(pen);
	ck_assert_int_eq(count_in(before, "\nservice "), 2);
	ck_assert_int_eq(count_in(before, "\nlisten "), 3);
	ck_assert_int_eq(count_in(before, "\nacl "), 1);
	ck_assert_int_eq(count_in(before, "\nno web_stats\n"), 1);
	takes(text("write all %s; write %s", all, scratch("brief")));
	ck_assert_str_eq(contents(all), before);
	pen_free(pen);
	start(NULL, all);
	ck_assert_str_eq(ask_printed(pen), before);
	takes(text("write all %s", path));
	pen_free(pen);
	start(NULL, path);
	ck_assert_str_eq(ask_printed(pen), before);
	pen_free(pen);
	start(NULL, scratch("brief"));
	ck_assert_str_eq(ask_printed(pen), before);
	pen_free(pen);
}
END_TEST

/* An editor changed the file meanwhile: what is in force is what counts. */
START_TEST(edited_meanwhile)
{
	const char *path = scratch("pen.conf");

	write_file(path, TWO "timeout 4 # t\n");
	start(NULL, path);
	write_file(
	    path, TWO "timeout 6 # t\nhash # new\nserver 5 address ::5\n");
	takes("blacklist 4; write");
	ck_assert_str_eq(contents(path), TWO "timeout 4 # t\nblacklist 4\n");
	ck_assert_int_eq(unlink(path), 0);
	takes("write");
	ck_assert_ptr_nonnull(strstr(contents(path), "\ntimeout 4\n"));
	pen_free(pen);
}
END_TEST

/* A link stays one. */
START_TEST(symbolic_links)
{
	const char *path = scratch("pen.conf"), *real = scratch("real");
	struct stat st;

	write_file(real, TWO "timeout 4 # t\n");
	ck_assert_int_eq(symlink(real, path), 0);
	start(NULL, path);
	takes("timeout 5; write");
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_str_eq(contents(real), TWO "timeout 5 # t\n");
	ck_assert_str_eq(contents(text("%s~", real)), TWO "timeout 4 # t\n");
	pen_free(pen);
}
END_TEST

static void
refuses(const char *line, const char *why)
{
	ck_assert_msg(run(line) == -1, "%s: taken", line);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", line, e.text);
}

/* What is no configuration is not written over. */
START_TEST(other_files_are_left_alone)
{
	const char *path = scratch("pen.conf"), *letter = scratch("letter");

	write_file(path, shop);
	start(NULL, path);
	write_file(letter, "timeout 4\nDear Sir,\n");
	refuses(text("write %s", letter),
	    text("not written: %s:2: unknown command", letter));
	refuses(text("write all %s", letter), "not written");
	ck_assert_str_eq(contents(letter), "timeout 4\nDear Sir,\n");
	write_file(letter, "timeout x\n");
	refuses(text("write %s", letter), ":1: timeout: \"x\"");
	refuses("write a b", "expects");
	refuses("write all a b", "expects");
	refuses(text("write %s/x", letter), "Not a directory");
	takes("service add shop");
	refuses("write", "not written: service shop: no listening address");
	takes("service shop listen 127.0.0.1:1");
	refuses("write all", "not written: service shop: no server");
	pen_free(pen);
}
END_TEST

/* Mode and, for root, owner stay: of the file, and of what is kept. */
START_TEST(owner_and_mode)
{
	const char *path = scratch("pen.conf"), *old = text("%s~", path);
	struct stat st;

	write_file(path, shop);
	ck_assert_int_eq(chmod(path, 0640), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, 12, 34), 0);
	start(NULL, path);
	takes("timeout 9; write");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert(geteuid() != 0 || (st.st_uid == 12 && st.st_gid == 34));
	ck_assert_int_eq(stat(old, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert(geteuid() != 0 || (st.st_uid == 12 && st.st_gid == 34));
	ck_assert_str_eq(contents(old), shop);
	pen_free(pen);
}
END_TEST

/* ---- whatever it is ---- */

static unsigned seed, seed_of_file;

static unsigned
below(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

/* A command that is right, whatever is in force. */
static const char *
some_command(void)
{
	static const char *const plain[] = { "roundrobin", "no roundrobin",
		"hash", "no hash", "weight", "no weight", "stubborn",
		"keepalive", "no keepalive", "tcp_nodelay", "no tcp_nodelay",
		"balance p2c", "balance leastconn", "balance default", "sticky",
		"tcp_fastclose up", "tcp_fastclose off", "source 127.0.0.1",
		"no source", "client_acl 1", "client_acl shop",
		"web_stats '/tmp/a;b #c'", "no web_stats", "debug 0", "peek",
		"no peek", "ascii", "abort_on_error", "proxy_protocol 2",
		"emergency 10.0.0.99:9", "no emergency", "abuse 10.0.0.98:9",
		"no abuse", "no acl 1", "no acl shop", "no route",
		"route default 0", "route sni a.test 0,1",
		"route protocol ssh 1", "route sni b.test 10.0.0.1",
		"server all prio 4", "check connect", "no check", "http",
		"no http", "http_status", "slow_start 2.5" };
	static const char *const verbs[] = { "weight", "max", "hard", "prio",
		"blacklist", "slow_start", "check_port" };
	static const char *const numbers[] = { "timeout", "blacklist",
		"idle_timeout", "tracking", "clients_max", "pending_max",
		"check_rise", "queue", "half_timeout", "client_conns" };

	switch (below(8)) {
	case 0:
		return text("server %u address 10.0.0.%u port %u", below(5),
		    below(4) + 1, below(3) + 80);
	case 1:
		return text(
		    "server %u %s %u", below(3), verbs[below(7)], below(20));
	case 2:
		return text(
		    "server add 10.0.0.%u:%u", below(9) + 1, below(99) + 1);
	case 3:
		return text("acl %s %s 10.%u.0.0/16", below(2) ? "1" : "shop",
		    below(2) ? "permit" : "deny", below(5));
	case 4:
	case 5:
		return text("%s %u", numbers[below(10)], below(60) + 1);
	default:
		return plain[below(sizeof(plain) / sizeof(plain[0]))];
	}
}

/* Whether the file is one, behind three servers. */
static bool
is_right(const char *path, const char *file)
{
	bool right;

	write_file(path, file);
	pen = pen_new();
	ck_assert_int_eq(text_set(&pen->given->process->file, path), 0);
	right = apply_given(pen, &e) == 0;
	pen_free(pen);
	return right;
}

/* Its beginning, or more of it. */
static const char *
some_section(void)
{
	unsigned i = below(6);

	return i >= 4 ? "defaults # of what follows\n"
	    : i == 3  ? "service default\n"
		      : text("service %c\nlisten 127.0.0.1:808%u\n"
			      "server 0 address 10.0.%u.1 # of it\n",
			    "zba"[i], i, i);
}

static const char *
some_change(bool sections)
{
	unsigned i = below(4);

	if (!sections || below(2) == 0)
		return some_command();
	if (below(5) > 0)
		return text("service %c %s", "zbac"[i], some_command());
	return i < 3 ? text("service %c remove", "zba"[i])
		     : "service add c; service c listen 127.0.0.1:90; "
		       "service c server add 10.1.0.1";
}

static const char *
some_file(const char *path, bool sections)
{
	const char *file = "# begins\nlisten 127.0.0.1:8080\n"
			   "server 0 address 10.0.0.1\n"
			   "server 1 address 10.0.0.2; server 2 address "
			   "10.0.0.3 # two\n";
	unsigned i, n = below(20);
	const char *longer;

	for (i = 0; i < n; i++) {
		longer = text(below(4) == 0 ? "%s%s%s; " : "%s%s%s\n", file,
		    below(4) == 0 ? "\n# a comment; or two\n  " : "",
		    sections && below(3) == 0 ? some_section()
					      : some_command());
		if (below(5) == 0)
			longer = text("%s blacklist \\\n 7 # seven\n", longer);
		if (is_right(path, text("%s\n", longer)))
			file = longer;
	}
	return text("%s# ends\n", file);
}

/* Each line that is only a comment, and each empty one, is still there, in its
 * order. */
static void
comments_stay(const char *old, const char *new)
{
	const char *end;
	size_t n;

	for (; *old != '\0'; old = *end != '\0' ? end + 1 : end) {
		n = strcspn(old, "\n");
		end = old + n;
		if (old[0] != '#')
			continue;
		while (strncmp(new, old, n) != 0 || new[n] != '\n') {
			new += strcspn(new, "\n");
			ck_assert_msg(*new != '\0', "lost: %.*s", (int)n, old);
			new ++;
		}
		new += n + 1;
	}
}

static void
changes_any_file(bool sections)
{
	const char *path = scratch("any"), *file, *commands = "pid";
	const char *options[4] = { "timeout 6",
		"server 1 address 10.0.0.2 max 9", NULL, NULL };
	const char *const *with;
	unsigned i, n;

	options[2] = below(2) == 0 ? "roundrobin" : "acl 1 permit 10.3.0.0/16";
	file = some_file(path, sections);
	n = below(12);
	write_file(path, file);
	with = below(2) == 0 ? options : NULL;
	start(with, path);
	for (i = 0; i < n; i++) {
		const char *one = some_change(sections);

		if (run(one) == 0)
			commands = text("%s; %s", commands, one);
	}
	pen_free(pen);
	comments_stay(file, written(with, file, commands));
}

START_TEST(any_change_of_any_file)
{
	seed = (unsigned)_i + 1;
	changes_any_file(false);
}
END_TEST

START_TEST(any_change_of_any_section)
{
	seed = (unsigned)_i + 1;
	changes_any_file(true);
}
END_TEST

/* ---- no other line changes ---- */

/* The lines of a file, each with its end, and what they set:
 * " shop timeout, shop queue,". */
enum { FILE_LINES = 100, CHANGES = 5 };
static const char *lines[FILE_LINES], *sets[FILE_LINES];
static unsigned line_count;
static const char *line_end;

static void
add_line(const char *line, const char *what)
{
	ck_assert_uint_lt(line_count, FILE_LINES);
	lines[line_count] = text("%s%s", line, line_end);
	sets[line_count++] = what;
}

/* A command, and what it sets. */
static const char *
some_setting(const char **name)
{
	static const char *const numbers[] = { "timeout", "blacklist",
		"idle_timeout", "queue", "half_timeout", "check_rise",
		"client_conns", "tracking" };
	static const char *const flags[] = { "roundrobin", "hash", "keepalive",
		"stubborn", "weight" };

	switch (below(4)) {
	case 0:
		*name = flags[below(5)];
		return text("%s%s", below(2) ? "no " : "", *name);
	case 1:
		*name = text("server %u", below(3));
		return text("%s %s %u", *name, below(2) ? "weight" : "max",
		    below(9) + 1);
	default:
		*name = numbers[below(8)];
		return text("%s %u", *name, below(60) + 1);
	}
}

/* Continued, or two in a line, or neither; with a comment or none. */
static void
add_setting(const char *service)
{
	const char *name, *line = some_setting(&name);
	const char *what = text(" %s %s,", service, name);
	const char *blank = strrchr(line, ' ');

	if (below(4) == 0 && blank != NULL) {
		line = text("%.*s \\\n\t%s", (int)(blank - line), line, blank);
	} else if (below(4) == 0) {
		line = text("  %s; %s", line, some_setting(&name));
		what = text("%s %s %s,", what, service, name);
	}
	add_line(
	    below(2) ? line : text("%s # of %u; it", line, line_count), what);
}

/* What the services after it begin with. */
static void
add_defaults(void)
{
	static const char *const all[] = { "timeout", "blacklist", "queue",
		"idle_timeout", "check_rise" };
	unsigned i;

	add_line("defaults # of all", "");
	for (i = below(4); i > 0; i--)
		add_line(text("%s %u # d", all[below(5)], below(60) + 1), "");
	if (below(2))
		add_line(below(2) ? "hash" : "roundrobin; keepalive", "");
}

static void
add_section(const char *service, unsigned number, const char *more)
{
	unsigned i;

	if (number > 0 && below(2))
		add_defaults();
	if (number > 0)
		add_line(text("service %s # it", service), "");
	add_line(text("listen 127.0.0.1:80%02u", number), "");
	for (i = 0; i < 3; i++)
		add_line(i == 1 ? text("server add 10.0.%u.1 # added", number)
				: text("server %u address 10.0.%u.%u # s", i,
				      number, i),
		    text(" %s server %u,", service, i));
	for (i = below(8); i > 0; i--) {
		if (below(3) == 0)
			add_line(below(2) ? "" : text("# comment %u", i), "");
		add_setting(service);
	}
	if (below(3) == 0)
		add_line(text("include %s # more", more), "");
	for (i = below(3); i > 0; i--)
		add_setting(service);
}

/* Whether a line has a name of " shop timeout, shop queue,". */
static bool
has_name(const char *line, size_t n, const char *names)
{
	const char *copy = text("%.*s", (int)n, line), *name, *end;

	for (; *names != '\0'; names = end + 1) {
		name = strchr(names + 1, ' ') + 1;
		end = strchr(names, ',');
		if (strstr(copy, text("%.*s", (int)(end - name), name)) != NULL)
			return true;
	}
	return false;
}

/* Of a line that sets what was changed, and is the same; 0: it is none. */
static size_t
length_of_changed(const char *new, const bool *stays)
{
	unsigned i;

	for (i = 0; i < line_count; i++)
		if (!stays[i] && strncmp(new, lines[i], strlen(lines[i])) == 0)
			return strlen(lines[i]);
	return 0;
}

/* Lines that set nothing of what was changed are still there, in their order;
 * what else is there sets that, or what is in the same lines. */
static void
other_lines_stay(const char *const *changed, unsigned changes, const char *new)
{
	const char *names = "";
	bool stays[FILE_LINES + 1];
	unsigned i, k;
	size_t n;

	for (k = 0; k < changes; k++)
		names = text("%s%s", names, changed[k]);
	for (i = 0; i < line_count; i++) {
		stays[i] = true;
		for (k = 0; k < changes; k++)
			stays[i] =
			    stays[i] && strstr(sets[i], changed[k]) == NULL;
		names = stays[i] ? names : text("%s%s", names, sets[i]);
	}
	stays[line_count] = true;
	lines[line_count] = "";
	for (i = 0; i <= line_count; i++) {
		if (!stays[i])
			continue;
		for (; i < line_count
			 ? strncmp(new, lines[i], strlen(lines[i])) != 0
			 : *new != '\0';
		     new += n) {
			n = length_of_changed(new, stays);
			if (n > 0)
				continue;
			n = strcspn(new, "\n");
			ck_assert_msg(new[n] == '\n' &&
				(n <= 1 || strncmp(new, "service ", 8) == 0 ||
				    has_name(new, n, names)),
			    "seed %u: lost \"%s\" before \"%s\"", seed_of_file,
			    lines[i], new);
			n++;
		}
		new += strlen(lines[i]);
	}
}

static unsigned
make_file(const char *path)
{
	static const char *const all[] = { "default", "shop", "mail" };
	unsigned i, n = below(4);
	const char *more = scratch("more"), *name, *file = "";

	n = n > 2 ? 0 : n;
	line_end = below(3) == 0 ? "\r\n" : "\n";
	line_count = 0;
	write_file(
	    more, text("%s\n%s\n", some_setting(&name), some_setting(&name)));
	add_line("# begins", "");
	for (i = 0; i <= n; i++)
		add_section(all[i], i, more);
	add_line("# ends", "");
	for (i = 0; i < line_count; i++)
		file = text("%s%s", file, lines[i]);
	write_file(path, file);
	return n;
}

/* As `write` does, but without waiting for the disk. */
static const char *
merged(const char *path)
{
	struct buffer old = { .data = NULL }, new = { .data = NULL };
	const char *file = contents(path), *text_of_new;

	ck_assert_int_eq(buffer_append(&old, file, strlen(file)), 0);
	ck_assert_msg(config_merge(pen, path, &old, false, &new, &e) == 0,
	    "seed %u: %s\n%s", seed_of_file, e.text, file);
	ck_assert_int_eq(buffer_append(&new, "", 1), 0);
	text_of_new = text("%s", buffer_bytes(&new));
	write_file(path, text_of_new);
	buffer_fini(&old);
	buffer_fini(&new);
	return text_of_new;
}

static void
changes_no_other_line(void)
{
	static const char *const all[] = { "default", "shop", "mail" };
	const char *path = scratch("pen.conf"), *changed[CHANGES];
	const char *before, *new, *name, *line, *service;
	unsigned services = make_file(path), changes = below(CHANGES) + 1, i;

	start(NULL, path);
	for (i = 0; i < changes; i++) {
		service = all[below(services + 1)];
		line = some_setting(&name);
		if (below(10) == 0)
			line = text("%s remove", name = "server 2");
		changed[i] = text(" %s %s,", service, name);
		/* a server that is gone has no weight */
		(void)run(text("service %s %s", service, line));
	}
	before = ask_printed(pen);
	new = merged(path);
	takes("diff");
	ck_assert_msg(
	    answer[0] == '\0', "seed %u: %s\n%s", seed_of_file, answer, new);
	pen_free(pen);
	other_lines_stay(changed, changes, new);
	start(NULL, path);
	ck_assert_msg(strcmp(ask_printed(pen), before) == 0,
	    "seed %u: %s%s\n%s", seed_of_file, before, ask_printed(pen), new);
	pen_free(pen);
}

/* 500 files, or 100 with light loads; PEN_WRITE_SEED begins with another
 * one. */
START_TEST(no_other_line_changes)
{
	const char *given = getenv("PEN_WRITE_SEED");
	unsigned i;

	for (i = 0; i < 10; i++) {
		seed_of_file = (unsigned)_i * 10 + i +
		    (given != NULL ? (unsigned)strtoul(given, NULL, 10) : 1);
		seed = seed_of_file;
		changes_no_other_line();
	}
}
END_TEST

/* Names of listening addresses are looked up by a start only. */
START_TEST(a_section_listens_at_a_name)
{
	const char *path = scratch("pen.conf");
	enum phase before;

	write_file(path, TWO "service shop\nlisten localhost:8081\n" SHOP_ENDS);
	start(NULL, path);
	takes("service shop timeout 9");
	before = pen->phase;
	pen->phase = PHASE_SERVING;
	takes("write");
	pen->phase = before;
	ck_assert_str_eq(contents(path),
	    TWO "service shop\nlisten localhost:8081\n" SHOP_ENDS
		"timeout 9\n");
	pen_free(pen);
}
END_TEST

SUITE(test_config_merge)
{
	Suite *s = suite_create("config_merge");
	int any = suite_rounds((int)suite_amount(600, 50));
	int other = suite_rounds((int)suite_amount(200, 10));

	SUITE_ADD(s, nothing_changes, 10);
	SUITE_ADD(s, lines_are_replaced, 10);
	SUITE_ADD(s, entries_of_lists, 10);
	SUITE_ADD(s, options_are_answered, 10);
	SUITE_ADD(s, included_files, 10);
	SUITE_ADD(s, servers_that_are_added, 10);
	SUITE_ADD(s, a_new_file, 10);
	SUITE_ADD_LOOP(
	    s, hard_cases, 10, (int)(sizeof(cases) / sizeof(cases[0])));
	SUITE_ADD(s, included_sections, 10);
	SUITE_ADD(s, included_by_a_pattern, 10);
	SUITE_ADD(s, an_empty_list_of_a_section, 10);
	SUITE_ADD(s, differences_of_services, 10);
	SUITE_ADD(s, services_are_printed, 10);
	SUITE_ADD(s, edited_meanwhile, 10);
	SUITE_ADD(s, symbolic_links, 10);
	SUITE_ADD(s, other_files_are_left_alone, 10);
	SUITE_ADD(s, owner_and_mode, 10);
	SUITE_ADD_LOOP(s, any_change_of_any_file, 20, any);
	SUITE_ADD_LOOP(s, any_change_of_any_section, 20, any);
	SUITE_ADD_LOOP(s, no_other_line_changes, 20, other);
	SUITE_ADD(s, a_section_listens_at_a_name, 10);
	return s;
}
