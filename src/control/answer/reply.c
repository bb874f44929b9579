/* reply.c: text for the caller. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "control/answer/reply.h"

void
reply_init(struct reply *r)
{
	*r = (struct reply){ .json = false };
	buffer_init(&r->out);
}

void
reply_fini(struct reply *r)
{
	buffer_fini(&r->out);
	free(r->kept);
	r->kept = NULL;
}

/* Each piece into an empty buffer: a full one would get none. */
void
reply_finish(struct reply *r, struct service *svc)
{
	struct buffer all = r->out;

	buffer_init(&r->out);
	while (r->more != NULL) {
		if (!r->more(r, svc))
			r->more = NULL;
		if (buffer_length(&r->out) > 0)
			(void)buffer_append(&all, buffer_bytes(&r->out),
			    buffer_length(&r->out));
		buffer_cut(&r->out, 0);
	}
	buffer_fini(&r->out);
	r->out = all;
}

void
reply_add(struct buffer *out, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	if (n > 0)
		(void)buffer_append(out, text, (size_t)n);
}

void
reply_line(struct buffer *out, const char *line)
{
	(void)buffer_append(out, line, strlen(line));
	(void)buffer_append(out, "\n", 1);
}

void
reply_command(struct buffer *out, const char *name, const char *word)
{
	reply_add(out, "%s%s", word == NULL ? "no " : "", name);
	if (word != NULL) {
		(void)buffer_append(out, " ", 1);
		words_append(out, word);
	}
	(void)buffer_append(out, "\n", 1);
}
