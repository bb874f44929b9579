/* top_sums.c: see top_sums.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "tools/top_sums.h"

static void
add_words(struct top_sums *s, const struct words *w)
{
	const char *role = top_value_of(w, "role");

	if (*role == '\0')
		return;
	s->directors++;
	s->active += strcmp(role, "active") == 0;
	s->frames += strtod(top_value_of(w, "frame_rate"), NULL);
	s->bytes += strtod(top_value_of(w, "byte_rate"), NULL);
}

void
top_sums_add(struct top_sums *s, const char *line)
{
	char *copy = strdup(line), *rest;
	struct words w;

	if (copy != NULL && words_split(&w, copy, &rest) == 0)
		add_words(s, &w);
	free(copy);
}

const char *
top_sums_text(char text[TOP_LINE], const struct top_sums *s)
{
	char role[64] = "active", frames[16], bytes[16];

	*text = '\0';
	if (s->directors == 0)
		return text;
	if (s->active == 0)
		strcpy(role, "standby");
	else if (s->active < s->directors)
		snprintf(role, sizeof(role), "%u of %u directors active",
		    s->active, s->directors);
	top_format_amount(frames, sizeof(frames), s->frames);
	top_format_amount(bytes, sizeof(bytes), s->bytes);
	if (s->active == 0)
		snprintf(text, TOP_LINE, ", %s", role);
	else
		snprintf(text, TOP_LINE, ", %s, %s frames/s, %sB/s", role,
		    frames, bytes);
	return text;
}
