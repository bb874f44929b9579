/* error.c: formats the one line. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

int
error_set(struct error *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	return -1;
}
