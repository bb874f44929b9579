/* finding.c: see finding.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/finding.h"
#include "base/log.h"

static struct finding_value *
find_value(struct finding_writer *w, const char *name, size_t length)
{
	unsigned i;

	for (i = 0; i < w->values; i++)
		if (strncmp(w->value[i].name, name, length) == 0 &&
		    w->value[i].name[length] == '\0')
			return &w->value[i];
	return NULL;
}

void
finding_set(struct finding_writer *w, const char *name, const char *fmt, ...)
{
	struct finding_value *v = find_value(w, name, strlen(name));
	va_list args;

	if (v == NULL)
		v = &w->value[w->values++];
	v->name = name;
	va_start(args, fmt);
	vsnprintf(v->text, sizeof(v->text), fmt, args);
	va_end(args);
}

static void
finding_expand(
    struct finding_writer *w, char *out, size_t room, const char *text)
{
	const struct finding_value *v;
	size_t n = 0, length;

	while (text != NULL && *text != '\0' && n + 1 < room) {
		length = *text == '{' ? strcspn(text + 1, "}") : 0;
		v = length > 0 ? find_value(w, text + 1, length) : NULL;
		if (v != NULL) {
			n += (size_t)snprintf(out + n, room - n, "%s", v->text);
			text += length + 2;
		} else {
			out[n++] = *text++;
		}
	}
	out[n < room ? n : room - 1] = '\0';
}

void
finding_write(struct finding_writer *w, const struct finding_row *row)
{
	struct finding f = { .level = row->level, .at_start = row->at_start };

	finding_expand(w, f.what, sizeof(f.what), row->says);
	finding_expand(w, f.fix, sizeof(f.fix), row->fix);
	w->report(w->arg, &f);
}

void
finding_print(void *arg, const struct finding *f)
{
	static const char *const levels[] = { "note", "warning", "error" };
	static const enum log_level of[] = { LOG_LEVEL_INFO, LOG_LEVEL_WARN,
		LOG_LEVEL_ERROR };
	bool *wrong = arg;

	fprintf(stderr, "%s%s: %s%s%s\n", log_prefix(of[f->level]),
	    levels[f->level], f->what, f->fix[0] != '\0' ? "; fix: " : "",
	    f->fix);
	*wrong = *wrong || f->level == FINDING_ERROR;
}

void
finding_log(void *arg, const struct finding *f)
{
	(void)arg;
	if (f->at_start && f->fix[0] != '\0')
		log_warn("%s fix=\"%s\"", f->what, f->fix);
	else if (f->at_start)
		log_warn("%s", f->what);
}
