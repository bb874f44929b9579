/* help.c: prints the table for people. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "control/language/command.h"
#include "control/answer/fields.h"
#include "control/answer/reply.h"
#include "control/language/help.h"
#include "control/life/sandbox_calls.h"
#include "control/plan/table.h"
#include "dsr/inspect/inspect.h"
#include "net/loop/loop.h"
#include "net/resolve/resolver.h"
#include "pool/acl/countries.h"

enum { COLUMN = 30, WIDTH = 79 };

/* The help text after the name, which ends at column `at`, broken at
 * blanks. */
static void
add_wrapped(struct buffer *out, const char *text, size_t at)
{
	if (at > COLUMN - 2) { /* two blanks tell them apart */
		(void)buffer_append(out, "\n", 1);
		at = 0;
	}
	while (*text != '\0') {
		size_t n = strlen(text), room = WIDTH - COLUMN;

		if (n > room)
			for (n = room; n > 0 && text[n] != ' '; n--)
				;
		reply_add(
		    out, "%*s%.*s\n", (int)(COLUMN - at), "", (int)n, text);
		text += n;
		text += *text == ' ';
		at = 0;
	}
}

static void
help_add_line(struct buffer *out, const char *left, const char *text)
{
	(void)buffer_append(out, left, strlen(left));
	add_wrapped(out, text, strlen(left));
}

/* An option has one argument, and has it always: the first, without
 * brackets. */
static void
add_option(struct buffer *out, const struct command *row)
{
	char left[160], help[COMMAND_TEXT_MAX];
	char name[ROW_OPTION_MAX], text[COMMAND_TEXT_MAX];
	const char *option = row_option(row, name);
	const char *args = row_takes_argument(row) ? row_args(row, text) : "";
	size_t n = strcspn(args, " ");

	if (option == NULL)
		return;
	if (args[0] == '[') {
		args++;
		n -= args[n - 2] == ']' ? 2 : 1;
	}
	snprintf(left, sizeof(left), "  %c%c%c --%s %.*s",
	    row->letter != '\0' ? '-' : ' ',
	    row->letter != '\0' ? row->letter : ' ',
	    row->letter != '\0' ? ',' : ' ', option, (int)n, args);
	help_add_line(out, left, command_help(row, help));
}

void
help_add_command(struct buffer *out, const struct command *row)
{
	char left[COMMAND_TEXT_MAX + 80], help[COMMAND_TEXT_MAX];
	char text[COMMAND_TEXT_MAX];
	const char *args = command_args(row, text);

	snprintf(left, sizeof(left), "%s%s%s", row->name,
	    args != NULL ? " " : "", args != NULL ? args : "");
	help_add_line(out, left, command_help(row, help));
}

static void
help_add_part(struct buffer *out, const struct command *row)
{
	for (; row->name != NULL; row++) {
		if (row->flags & ROW_OPTION)
			continue;
		(void)buffer_append(out, "  ", 2);
		help_add_command(out, row);
	}
}

static void
add_group(struct buffer *out, const struct command_group *g)
{
	size_t before = buffer_length(out), title;
	unsigned i;

	reply_add(out, " %s:\n", g->title);
	title = buffer_length(out);
	for (i = 0; g->part[i] != NULL; i++)
		help_add_part(out, g->part[i]);
	if (buffer_length(out) == title) /* options alone */
		buffer_cut(out, before);
}

static const char usage[] =
    "usage: pen [options] [address:]port|/path|@name[,...] server ...\n"
    "       server = host[:port[:soft[:hard[:weight[:prio]]]]] | "
    "[v6]:port... | /path\n\n"
    "Distributes connections and datagrams among servers.\n\n";

/* What most need: a screen of it. */
static const char *const common[] = { "round-robin", "hash", "weight", "sticky",
	"emergency", "check-servers", "udp", "dns", "cert", "upstream-tls",
	"proxy-protocol", "http", "client-acl", "client-conns", "foreground",
	"control", "config", "check", "session-log", "web", "user" };

static const struct command *
row_of_option(const struct command_group *all, const char *option)
{
	const struct command *row;
	char text[ROW_OPTION_MAX];
	const char *name;

	COMMAND_EACH (all, row) {
		name = row_option(row, text);
		if (name != NULL && strcmp(name, option) == 0)
			break;
	}
	return row;
}

/* Writes the names of all groups but the last. */
static const char *
group_names(const char *before, const struct command_group *all,
    char text[COMMAND_TEXT_MAX])
{
	size_t n =
	    (size_t)snprintf(text, COMMAND_TEXT_MAX, "%s", before);
	const struct command_group *g;

	for (g = all; g->part[0] != rows_obsolete; g++)
		n += (size_t)snprintf(text + n, COMMAND_TEXT_MAX - n, "%s%s",
		    g > all ? ", " : "", g->key);
	return text;
}

static void
add_short_help(struct buffer *out, const struct command_group *all)
{
	const struct command *row;
	char groups[COMMAND_TEXT_MAX];
	size_t i;

	reply_add(out, "%s", usage);
	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if ((row = row_of_option(all, common[i])) != NULL)
			add_option(out, row);
	help_add_line(out, "  -O, -o, --command COMMAND", "any command");
	help_add_line(out, "      --version", "version, libraries, features");
	help_add_line(
	    out, "      --help GROUP", group_names("", all, groups));
	help_add_line(out, "      --help all", "all options and commands");
}

static void
add_own_options(struct buffer *out, const struct command_group *all)
{
	char groups[COMMAND_TEXT_MAX];

	help_add_line(
	    out, "  -O, -o, --command COMMAND", "any of the commands below");
	help_add_line(out, "      --help [GROUP|all]",
	    group_names("common options, one group, or everything; GROUP: ",
		all, groups));
	help_add_line(out, "      --version", "version, libraries, features");
}

static void
add_full_help(struct buffer *out, const struct command_group *all)
{
	const struct command_group *g;
	const struct command *row;

	reply_add(out, "%soptions:\n", usage);
	COMMAND_EACH (all, row)
		add_option(out, row);
	add_own_options(out, all);
	reply_add(out, "\ncommands:\n");
	for (g = all; g->key != NULL; g++)
		add_group(out, g);
}

static void
add_group_help(struct buffer *out, const struct command_group *g)
{
	const struct command *row;
	unsigned i;

	reply_add(out, "options:\n");
	for (i = 0; g->part[i] != NULL; i++)
		for (row = g->part[i]; row->name != NULL; row++)
			add_option(out, row);
	reply_add(out, "\ncommands:\n");
	add_group(out, g);
}

static int
add_help(struct buffer *out, const struct command_group *all,
    const char *group)
{
	const struct command_group *g;

	if (group == NULL) {
		add_short_help(out, all);
		return 0;
	}
	if (strcmp(group, "all") == 0) {
		add_full_help(out, all);
		return 0;
	}
	for (g = all; g->key != NULL; g++)
		if (strcmp(g->key, group) == 0) {
			add_group_help(out, g);
			return 0;
		}
	return -1;
}

int
help_print(const struct command_group *all, const char *group)
{
	struct buffer out;
	int rc;

	buffer_init(&out);
	rc = add_help(&out, all, group);
	fwrite(buffer_bytes(&out), 1, buffer_length(&out), stdout);
	buffer_fini(&out);
	return rc;
}

/* Prints the version of a library, unless pen was built without it. */
static void
print_library(const char *name, const char *version)
{
	if (version[0] != '\0')
		printf("%s %s\n", name, version);
}

void
help_print_version(void)
{
	char seccomp[SANDBOX_VERSION_MAX];

	printf("pen %s\n", PACKAGE_VERSION);
	print_library("libevent", loop_library_version());
	printf("%s\n", OpenSSL_version(OPENSSL_VERSION));
	print_library("c-ares", resolver_library_version());
	print_library("Jansson", fields_library_version());
	print_library("libmaxminddb", countries_library_version());
	sandbox_calls_library_version(seccomp);
	print_library("libseccomp", seccomp);
	inspect_each_library(print_library);
	printf("features: workers"
#ifdef HAVE_SYS_EPOLL_H
	       " epoll"
#endif
#ifdef HAVE_SPLICE
	       " splice"
#endif
#ifdef HAVE_ACCEPT4
	       " accept4"
#endif
#ifdef HAVE_JANSSON
	       " json"
#endif
#ifdef HAVE_LINK_PACKET
	       " packet"
#endif
#ifdef HAVE_XDP
	       " xdp"
#endif
#ifdef HAVE_LINK_PCAP
	       " pcap"
#endif
#ifdef HAVE_MAXMINDDB
	       " geoip"
#endif
#ifdef HAVE_SECCOMP
	       " sandbox"
#endif
	       "\n");
}
