/* test_options.c: the command line, made from the rows of the table. */
#include "config.h"

#include <check.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "control/registry.h"
#include "control/value/choices.h"
#include "control/language/command.h"
#include "control/language/options.h"
#include "pool/balance.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static struct error e;
static const char *said; /* on stderr, by the last one */

/* Parses a command line, without the program's name. */
static enum options_result
parse(const char *words)
{
	char *argv[64] = { (char *)(uintptr_t) "pen" }, *rest = NULL;
	const char *path = scratch("said");
	enum options_result result;
	char *line;
	int argc = 1, kept = dup(2);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	pen_free(pen);
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	/* getopt keeps pointers into it */
	line = (char *)(uintptr_t)text("%s", words);
	for (argv[argc] = strtok_r(line, " ", &rest); argv[argc] != NULL;
	     argv[argc] = strtok_r(NULL, " ", &rest))
		argc++;
	ck_assert_int_eq(dup2(fd, 2), 2);
	e.text[0] = '\0';
	result = options_parse(pen, argc, argv, &e);
	if (result == OPTIONS_RUN && apply_given(pen, &e) < 0)
		result = OPTIONS_BAD;
	ck_assert_int_eq(dup2(kept, 2), 2);
	close(kept);
	close(fd);
	said = contents(path);
	return result;
}

static void
takes(const char *words)
{
	ck_assert_msg(parse(words) == OPTIONS_RUN, "pen %s: %s", words, e.text);
	ck_assert_str_eq(e.text, "");
}

static void
refuses(const char *words, const char *why)
{
	ck_assert_msg(parse(words) == OPTIONS_BAD, "pen %s: taken", words);
	ck_assert_msg(strstr(e.text, why) != NULL, "pen %s: %s", words, e.text);
}

static void
end(void)
{
	pen_free(pen);
	pen = NULL;
}

static bool
works(const struct command *row)
{
	return row->kind != KIND_OBSOLETE;
}

/* The documented letters are all there, and each means one row. */
START_TEST(every_letter)
{
	const char *letters = "abBcCdeEFGAfhHjKlLmpPqrRstTuUwWxXZDnQSi";
	const struct command *row;
	const char *c;

	for (c = letters; *c != '\0'; c++) {
		int rows = 0;

		COMMAND_EACH (command_groups, row)
			rows += row->letter == *c;
		ck_assert_msg(rows == 1, "-%c: %d rows", *c, rows);
	}
	COMMAND_EACH (command_groups, row)
		ck_assert_msg(
		    row->letter == '\0' || strchr(letters, row->letter) != NULL,
		    "-%c is not documented", row->letter);
}
END_TEST

START_TEST(tunnels)
{
	takes("--dsr-if eth0 --dsr-forward tunnel 10.0.0.10:0 10.0.0.3");
	takes("--dsr-if eth0 --dsr-gateway 10.0.0.1 10.0.0.10:0 10.0.0.3");
	takes("--dsr-if eth0 --dsr-gateway 02:00:00:00:00:01 --dsr-ip 10.0.0.2"
	      " --dsr-forward tunnel 10.0.0.10:0 10.0.0.3");
	refuses("--dsr-if eth0 --dsr-gateway far 10.0.0.10:0 10.0.0.3",
	    "\"far\" is not an address of a router");
	refuses("--dsr-if eth0 --dsr-gateway ff:ff:ff:ff:ff:ff 10.0.0.10:0 "
		"10.0.0.3",
	    "is not an address of a router");
	refuses("--dsr-if eth0 --dsr-gateway :: 10.0.0.10:0 10.0.0.3",
	    "is not an address of a router");
	refuses("--dsr-if eth0 --dsr-gateway 10.0.0.1 --dsr-forward tunnel"
		" 10.0.0.10:0 10.0.0.3",
	    "needs an IPv4 dsr_ip");
	refuses("--dsr-if eth0 --dsr-gateway 10.0.0.1 --dsr-forward tunnel"
		" --dsr-ip 10.0.0.2 10.0.0.10:0 [fd00::3]",
	    "needs an IPv6 dsr_ip");
	refuses("--dsr-forward bus 80 10.0.0.3", "expects mac|tunnel");
	end();
}
END_TEST

/* Addresses that no other machine has. */
START_TEST(no_gateways)
{
	static const char *const none[] = { "224.0.0.1", "255.255.255.255",
		"127.0.0.1", "::1", "ff02::2", "10.0.0.2", "10.0.0.10" };
	unsigned i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		refuses(text("--dsr-if eth0 --dsr-ip 10.0.0.2 --dsr-gateway %s"
			     " 10.0.0.10:0 10.0.0.3",
			    none[i]),
		    "is not an address of a router");
	takes("--dsr-if eth0 --dsr-ip 10.0.0.2 --dsr-gateway fe80::1"
	      " 10.0.0.10:0 10.0.0.3");
	end();
}
END_TEST

static const char *
sample(const struct command *row)
{
	char text[COMMAND_TEXT_MAX];
	const char *args = row_args(row, text);

	if (!row_takes_argument(row))
		return "";
	if (strstr(args, "HOST") != NULL)
		return "10.0.0.9:80";
	if (strstr(args, "FILE") != NULL)
		return "/dev/null";
	if (strstr(args, "off|") != NULL)
		return "off";
	if (strstr(args, "LEVEL") != NULL)
		return "read";
	if (strstr(args, "tls1.3") != NULL)
		return "tls1.3";
	if (strcmp(args, "PROTO") == 0)
		return "ssl23";
	if (strcmp(args, "OPTION") == 0)
		return "no_tlsv1.3";
	if (strcmp(args, "mac|tunnel") == 0)
		return "tunnel";
	if (strncmp(args, "IP", 2) == 0 ||
	    strncmp(args, "[IP", 3) == 0)
		return "10.0.0.9";
	if (strstr(args, "PROGRAM") != NULL)
		return "/bin/sh";
	if (row->kind == KIND_NAME)
		return row->names(1);
	if (row->kind == KIND_CHOICE)
		return row->choices->word;
	if (row->kind == KIND_FORWARDED)
		return "replace";
	if (row->kind == KIND_CHECK)
		return "connect";
	if (strcmp(row->name, "log_format") == 0 ||
	    strcmp(row->name, "request_format") == 0)
		return "json";
	return "3";
}

/* What is for TLS with clients needs a certificate, and those whom clients'
 * certificates are checked with. */
static const char *
needed(const struct command *row)
{
	if (strcmp(row->name, "accept_proxy") == 0)
		return "-O acl\t3\tpermit\t10.0.0.2 "; /* one word here */
	if (!works(row) || strncmp(row->name, "ssl_", 4) != 0 ||
	    strncmp(row->name, "ssl_upstream", 12) == 0)
		return "";
	if (strcmp(row->name, "ssl_strict_sni") == 0)
		return "-E /dev/null --sni-path . ";
	return "-E /dev/null -G /dev/null ";
}

static void
try_row(const struct command *row, const char *option)
{
	const char *before = needed(row);
	/* direct return wants the address that clients use */
	const char *where =
	    strcmp(row->name, "dsr_if") == 0 ? "10.0.0.9:0" : "8080";
	const char *command =
	    text("%s%s %s %s 10.0.0.1", before, option, sample(row), where);

	if (works(row)) {
		takes(command);
		if (strcmp(row->name, "debug") == 0)
			ck_assert_ptr_nonnull(strstr(said, ": server set "));
		else
			ck_assert_str_eq(said, "");
		log_level = LOG_LEVEL_INFO;
	} else if (row->kind == KIND_OBSOLETE) {
		takes(command);
		ck_assert_str_eq(said,
		    text("pen: option %s is obsolete and ignored\n",
			row->letter != '\0' ? text("-%c", row->letter)
					    : option));
	} else {
		refuses(command, "");
		ck_assert_msg(strstr(e.text, "built without TLS") != NULL,
		    "%s: %s", option, e.text);
		ck_assert_msg(
		    strncmp(e.text, "option -", 8) == 0, "%s", e.text);
	}
}

/* Each option alone, by letter and by name: it works, or says why not; and
 * without its argument it says so. */
START_TEST(every_row)
{
	const struct command *row;
	char buffer[ROW_OPTION_MAX];
	const char *option;

	COMMAND_EACH (command_groups, row) {
		option = row_option(row, buffer);
		if (option == NULL)
			continue;
		try_row(row, text("--%s", option));
		if (row->letter != '\0')
			try_row(row, text("-%c", row->letter));
		if (sample(row)[0] == '\0')
			continue;
		refuses(text("--%s", option),
		    text("option --%s: needs an argument", option));
		if (row->letter != '\0')
			refuses(text("-%c", row->letter),
			    text("option -%c: needs an argument", row->letter));
	}
	end();
}
END_TEST

/* Whether a value other than the default is for TLS with clients alone. */
static bool
is_for_clients(const struct command *row)
{
	static const char *const others[] = { "ssl_cert", "ssl_sni_path",
		"ssl_protocol", "ssl_tickets", "ssl_watch", "ssl_warn" };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(row->name, others[i]) == 0)
			return false;
	char text[ROW_OPTION_MAX];

	return row_option(row, text) != NULL &&
	    strncmp(needed(row), "-E", 2) == 0;
}

/* None of them is taken and ignored. */
START_TEST(tls_without_certificate)
{
	const struct command *row;
	char option[ROW_OPTION_MAX];
	int rows = 0;

	COMMAND_EACH (command_groups, row) {
		if (!is_for_clients(row))
			continue;
		rows++;
		refuses(text("--%s %s 8080 10.0.0.1", row_option(row, option),
			    sample(row)),
		    "needs ssl_cert (-E)");
	}
	ck_assert_int_gt(rows, 10);
	end();
}
END_TEST

START_TEST(values_arrive)
{
	takes("-b 5 -t 7 -T 9 -c 1000 -x 200 -m 3 -q 17 -f -u nobody -j /tmp "
	      "-p /run/x 127.0.0.1:8080 10.0.0.1 10.0.0.2:81:1:2:3:4");
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 5000);
	ck_assert_uint_eq(pen->plan->config->frontend.connect_timeout_ms, 7000);
	ck_assert_uint_eq(pen->plan->config->pool.tracking_ms, 9000);
	ck_assert_uint_eq(pen->plan->config->pool.clients_max, 1000);
	ck_assert_uint_eq(pen->plan->config->frontend.sessions_max, 200);
	ck_assert_uint_eq(pen->plan->config->frontend.accept_max, 3);
	ck_assert_int_eq(pen->plan->config->frontend.backlog, 17);
	ck_assert(pen->plan->process->run.foreground);
	ck_assert_str_eq(pen->plan->process->run.user, "nobody");
	ck_assert_str_eq(pen->plan->process->run.directory, "/tmp");
	ck_assert_str_eq(pen->plan->process->run.pid_file, "/run/x");
	ck_assert_uint_eq(pen->plan->listen.count, 1);
	ck_assert_uint_eq(pool_count(pen->service->pool), 2);
	ck_assert_uint_eq(
	    addr_port(&pool_server(pen->service->pool, 0)->addrs.addr[0]),
	    8080);
	ck_assert_int_eq(pool_server(pen->service->pool, 1)->set.prio, 4);
	end();
}
END_TEST

START_TEST(ways_to_write_them)
{
	takes("-rsb5 8080 10.0.0.1");
	ck_assert(pen->plan->config->mode.roundrobin &&
	    pen->plan->config->mode.stubborn);
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 5000);
	takes("--blacklist=6 --balance leastconn --sticky 8080 10.0.0.1");
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 6000);
	ck_assert_str_eq(
	    pool_options(pen->service->pool)->balance->name, "leastconn");
	ck_assert(pool_options(pen->service->pool)->sticky);
	takes("-b 1 -b 2 8080 10.0.0.1");
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 2000);
	takes("-- 8080 10.0.0.1");
	/* options may follow the addresses, up to "--" */
	takes("8080 -b 3 10.0.0.1 -r");
	ck_assert_uint_eq(pen->plan->config->pool.blacklist_ms, 3000);
	ck_assert(pen->plan->config->mode.roundrobin);
	refuses("8080 10.0.0.1 -- -r", "server \"-r\"");
	takes("-ddd 8080 10.0.0.1");
	ck_assert_uint_eq(pen->plan->process->debug, 3);
	ck_assert_uint_eq(pen->plan->config->frontend.dump, 1);
	takes("-d -a -d 8080 10.0.0.1");
	ck_assert_uint_eq(pen->plan->config->frontend.dump, 2);
	refuses("-dddddddddd 8080 10.0.0.1", "option -d: ");
	log_level = LOG_LEVEL_INFO;
	end();
}
END_TEST

/* Each port of a list, not the first one alone. */
START_TEST(control_ports_are_local)
{
	const struct listen_list *at;
	char text[ADDR_TEXT_MAX];
	unsigned i;

	takes("-u nobody -C 8081,8082+http-alt 8080 10.0.0.1");
	at = &pen->plan->process->controls[0].at;
	ck_assert_uint_eq(at->count, 3);
	for (i = 0; i < at->count; i++)
		ck_assert_str_eq(
		    addr_format_host(&at->entry[i].at, text), "127.0.0.1");
	end();
}
END_TEST

/* -O and -o are any command, -e may count on the listening port. */
START_TEST(commands)
{
	takes("-O roundrobin -o stubborn --command=weight 8080 10.0.0.1");
	ck_assert(pen->plan->config->mode.roundrobin &&
	    pen->plan->config->mode.stubborn && pen->plan->config->mode.weight);
	takes("-e 10.0.0.9 -B 10.0.0.8 8080 10.0.0.1");
	ck_assert_uint_eq(
	    addr_port(
		&pool_slot(pen->service->pool, SLOT_EMERGENCY)->addrs.addr[0]),
	    8080);
	ck_assert_uint_eq(
	    addr_port(
		&pool_slot(pen->service->pool, SLOT_ABUSE)->addrs.addr[0]),
	    8080);
	takes("-O # 8080 10.0.0.1");
	refuses("-O frobnicate 8080 10.0.0.1", "unknown command");
	refuses("-O mode=1 8080 10.0.0.1", "unknown command \"mode=1\"");
	end();
}
END_TEST

/* What cannot work is refused before anything is opened. */
START_TEST(direct_return)
{
	takes("--dsr-if eth0 --dsr-ip 10.0.0.2 10.0.0.9:0 10.0.0.3");
	refuses("--dsr-if eth0 10.0.0.9:0 /tmp/socket",
	    "\"/tmp/socket\": direct server return");
	refuses("--dsr-if eth0 -e /tmp/socket 10.0.0.9:0 10.0.0.3",
	    "\"/tmp/socket\": direct server return");
	refuses("--dsr-if eth0 --dsr-ip 10.0.0.9 10.0.0.9:0 10.0.0.3",
	    "dsr_ip is a listening address");
	refuses("--dsr-if eth0 --dsr-ip fd00::9 10.0.0.9:0,[fd00::9]:0 fd00::3",
	    "dsr_ip is a listening address");
	refuses("--dsr-if eth0 :80 10.0.0.3", "the address that clients use");
	refuses("10.0.0.9:0 10.0.0.3", "port out of range");
	takes("10.0.0.9:80 /tmp/socket");
	end();
}
END_TEST

START_TEST(what_is_wrong)
{
	refuses("", "no listening address (usage: pen");
	refuses("8080", "no server (usage: pen");
	takes("-C /tmp/pen-none.ctl 8080");
	takes("--dummy 8080");
	refuses("-y 8080 10.0.0.1", "option -y: unknown");
	refuses("-ry 8080 10.0.0.1", "option -y: unknown");
	refuses("--no-such 8080 10.0.0.1", "option --no-such: unknown");
	refuses("--hash=3 8080 10.0.0.1",
	    "option --hash: takes no argument, got \"3\"");
	refuses(
	    "-b x 8080 10.0.0.1", "option -b: \"x\" is not a valid duration");
	refuses("-m 0 8080 10.0.0.1", "option -m: 0 out of range 1..");
	refuses("-t 0 8080 10.0.0.1", "option -t: 0 out of range 0.001..");
	refuses("--buffer x 8080 10.0.0.1", "option --buffer: \"x\" is no");
	refuses("99999 10.0.0.1", "listening address \"99999\": port out of");
	refuses("8080 10.0.0.1:99999", "server \"10.0.0.1:99999\": port out");
	refuses("-O", "option -O: needs an argument");
	end();
}
END_TEST

SUITE(test_options)
{
	Suite *s = suite_create("options");

	SUITE_ADD(s, every_letter, 10);
	SUITE_ADD(s, tunnels, 10);
	SUITE_ADD(s, no_gateways, 10);
	SUITE_ADD(s, every_row, 60);
	SUITE_ADD(s, tls_without_certificate, 10);
	SUITE_ADD(s, values_arrive, 10);
	SUITE_ADD(s, control_ports_are_local, 10);
	SUITE_ADD(s, ways_to_write_them, 10);
	SUITE_ADD(s, commands, 10);
	SUITE_ADD(s, direct_return, 10);
	SUITE_ADD(s, what_is_wrong, 10);
	return s;
}
