/* config_environment.c: see config_environment.h. */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/file/config_environment.h"

enum { NAME_MAX_LENGTH = 200 };

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* How far a line is copied. */
struct copying {
	const char *at;
	struct buffer *out;
	char quote; /* that it is in; '\0': none */
	bool word;  /* it is in a word */
	bool value; /* that is not the first one of its command */
	bool failed;
};

static void
copy(struct copying *c, const char *bytes, size_t n)
{
	c->failed = c->failed || buffer_append(c->out, bytes, n) < 0;
}

static void
copy_next(struct copying *c, size_t n)
{
	copy(c, c->at, n);
	c->at += n;
}

/* Nothing in it ends the word. */
static void
copy_value(struct copying *c, const char *value, size_t n)
{
	if (c->quote == '\0')
		copy(c, "\"", 1);
	for (; n > 0; n--, value++) {
		if (*value == '"' || *value == '\\')
			copy(c, "\\", 1);
		copy(c, value, 1);
	}
	if (c->quote == '\0')
		copy(c, "\"", 1);
}

/* Handles the text after "-" in ${NAME-TEXT}, the default of a variable. It is
 * a part of its word: without quotes it has no blanks. */
static int
copy_default(
    struct copying *c, const char *name, const char *text, struct error *e)
{
	size_t n = strcspn(text, c->quote == '\0' ? "}$\"'\\; \t\r" : "}$\"\\");

	if (text[n] != '}')
		return error_set(e,
		    "\"${%s-\" has no \"}\" before the end of its word (the "
		    "text must not have blanks outside of quotes, quotes, "
		    "backslashes, or \"$\")",
		    name);
	if (getenv(name) == NULL)
		copy_value(c, text, n);
	c->at = text + n + 1;
	return 0;
}

/* The variable at c->at. */
static int
copy_variable(struct copying *c, struct error *e)
{
	const char *name = c->at + 2, *value, *end;
	size_t n = strspn(name, name_bytes);
	char text[NAME_MAX_LENGTH + 1];

	end = name + n;
	if (n == 0 || n > NAME_MAX_LENGTH || isdigit((unsigned char)*name) ||
	    (*end != '}' && *end != '-'))
		return error_set(e,
		    "\"%.*s\": expected ${NAME} or ${NAME-DEFAULT}, NAME of "
		    "letters, digits and \"_\"; in single quotes \"${\" is "
		    "itself",
		    (int)(n > 100 ? 100 : n + 2 + (*end != '\0')), c->at);
	memcpy(text, name, n);
	text[n] = '\0';
	value = getenv(text);
	if (value != NULL && strchr(value, '\n') != NULL)
		return error_set(e,
		    "${%s}: the environment variable has several lines", text);
	if (value != NULL)
		copy_value(c, value, strlen(value));
	if (*end == '-')
		return copy_default(c, text, end + 1, e);
	c->at = end + 1;
	return value != NULL
	    ? 0
	    : error_set(e,
		  "${%s}: the environment variable is not set "
		  "(${%s-TEXT} has a default; in single quotes \"${\" is "
		  "itself)",
		  text, text);
}

/* A byte of a word that is no variable; words_split() has the same rules. */
static void
copy_byte(struct copying *c)
{
	char byte = *c->at;

	if (c->quote == '\0' && (byte == '"' || byte == '\''))
		c->quote = byte;
	else if (byte == c->quote)
		c->quote = '\0';
	else if (c->quote == '"' && byte == '\\' &&
	    (c->at[1] == '"' || c->at[1] == '\\'))
		copy_next(c, 1);
	copy_next(c, 1);
}

/* Between words. */
static void
copy_gap(struct copying *c)
{
	c->value = *c->at != ';' && (c->value || c->word);
	c->word = false;
	copy_next(c, 1);
}

int
config_environment_put(const char *line, struct buffer *out, struct error *e)
{
	struct copying c = { .at = line, .out = out };

	while (*c.at != '\0') {
		if (c.quote == '\0' && strchr("; \t\r\n", *c.at) != NULL) {
			copy_gap(&c);
			continue;
		}
		if (!c.word && *c.at == '#')
			copy_next(&c, strlen(c.at));
		c.word = true;
		if (c.value && c.quote != '\'' && strncmp(c.at, "${", 2) == 0) {
			if (copy_variable(&c, e) < 0)
				return -1;
		} else if (*c.at != '\0') {
			copy_byte(&c);
		}
	}
	copy(&c, "", 1);
	return c.failed ? error_set(e, "out of memory") : 0;
}
