/* error.c: formats the one line. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/words.h"

int
error_set(struct error *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	text_show(e->text, sizeof(e->text));
	return -1;
}

int
error_of(struct error *e, const char *fmt, ...)
{
	const struct error phrase = *e;
	va_list args;
	size_t n;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", phrase.text);
	text_show(e->text, sizeof(e->text));
	return -1;
}
