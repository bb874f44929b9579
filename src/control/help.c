/* help.c: prints the table for people. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_OPENSSL
#include <openssl/crypto.h>
#endif

#include "control/command.h"
#include "control/help.h"
#include "net/loop.h"

enum { COLUMN = 30, WIDTH = 79 };

/* The help text behind the name, broken at blanks to fit the terminal. */
static void
print_wrapped(const char *text, int at)
{
	while (*text != '\0') {
		size_t n = strlen(text), room = WIDTH - COLUMN;

		if (n > room)
			for (n = room; n > 0 && text[n] != ' '; n--)
				;
		printf("%*s%.*s\n", COLUMN - at, "", (int)n, text);
		text += n;
		text += *text == ' ';
		at = 0;
	}
}

static void
print_option(const struct command *row)
{
	char left[80];
	const char *args =
	    row->args != NULL && !(row->flags & ROW_COUNT) ? row->args : "";
	int n;

	n = snprintf(left, sizeof(left), "  %c%c%c --%s %.*s",
	    row->letter != '\0' ? '-' : ' ',
	    row->letter != '\0' ? row->letter : ' ',
	    row->letter != '\0' ? ',' : ' ', row->option,
	    (int)strcspn(args + (args[0] == '['), "]"),
	    args + (args[0] == '['));
	printf("%s", left);
	if (n > COLUMN - 1) {
		printf("\n");
		n = 0;
	}
	print_wrapped(row->help, n);
}

static bool
is_there(const struct command *row)
{
	return row->kind != KIND_LATER && row->kind != KIND_TLS;
}

void
help_print(void)
{
	const struct command *row;
	int n;

	printf("usage: pen [options] [address:]port|/path|@name[,...] server "
	       "...\n"
	       "       server = host[:port[:soft[:hard[:weight[:prio]]]]] | "
	       "[v6]:port... | /path\n\n"
	       "Balances TCP and Unix stream connections over the servers.\n\n"
	       "options:\n");
	for (row = command_table; row->name != NULL; row++)
		if (row->option != NULL && is_there(row))
			print_option(row);
	n = printf("  -O, -o, --command COMMAND");
	print_wrapped("any of the commands below", n);
	n = printf("      --help");
	print_wrapped("this text", n);
	n = printf("      --version");
	print_wrapped("version, libraries, features", n);
	printf("\ncommands:\n");
	for (row = command_table; row->name != NULL; row++) {
		if (row->flags & ROW_OPTION || !is_there(row))
			continue;
		n = printf("  %s%s%s", row->name, row->args != NULL ? " " : "",
		    row->args != NULL ? row->args : "");
		if (n > COLUMN - 1) {
			printf("\n");
			n = 0;
		}
		print_wrapped(row->help, n);
	}
}

void
help_print_version(void)
{
	printf(
	    "pen %s\nlibevent %s\n", PACKAGE_VERSION, loop_library_version());
#ifdef HAVE_OPENSSL
	printf("%s\n", OpenSSL_version(OPENSSL_VERSION));
#endif
	printf("features:"
#ifdef HAVE_SYS_EPOLL_H
	       " epoll"
#endif
#ifdef HAVE_SPLICE
	       " splice"
#endif
#ifdef HAVE_ACCEPT4
	       " accept4"
#endif
	       "\n");
}
