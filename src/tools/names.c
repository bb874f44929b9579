/* names.c: the names of commands. */
#include "config.h"

#include <string.h>

#include "tools/names.h"

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_-";
enum { TEXT_MAX = 1 << 20 }; /* a help text is some kilobytes */

void
names_init(struct names *k)
{
	buffer_init(&k->text);
	k->asked = false;
}

void
names_fini(struct names *k)
{
	buffer_fini(&k->text);
}

static int
names_collect(void *arg, bool error, const char *bytes, size_t n)
{
	struct names *k = arg;

	if (error || buffer_length(&k->text) + n > TEXT_MAX)
		return -1;
	return buffer_append(&k->text, bytes, n);
}

void
names_query(struct names *k, const struct target *t)
{
	static const char line[] = "help";
	struct error e;

	if (k->asked)
		return;
	k->asked = true;
	/* The final NUL lets a line be looked at as a string. */
	if (ask(t, line, sizeof(line) - 1, names_collect, k, &e) !=
		ASK_ANSWERED ||
	    buffer_append(&k->text, "", 1) < 0)
		buffer_fini(&k->text);
}

const char *
names_next(const struct names *k, const char *last, const char *prefix,
    size_t n, size_t *length)
{
	const char *line;

	if (buffer_length(&k->text) == 0)
		return NULL;
	line = last != NULL ? strchr(last, '\n') : buffer_bytes(&k->text);
	for (; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		*length = strspn(line, name_bytes);
		if (*length > 0 && *length >= n &&
		    strchr(" \t\r\n", line[*length]) != NULL &&
		    strncmp(line, prefix, n) == 0)
			return line;
	}
	return NULL;
}
